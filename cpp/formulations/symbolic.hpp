// The symbolic Lagrangian (B. Guenter and S.-H. Lee, Symbolic Lagrangian Multibody Dynamics): equations of motion in
// joint coordinates, derived once per model and run as straight-line programs (docs/theory/symbolic.md).
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "formulations/symbolic/closure.hpp"
#include "formulations/symbolic/equations.hpp"
#include "model/constraint_rows.hpp"
#include "model/forces.hpp"
#include "model/state.hpp"
#include "model/system.hpp"
#include "programs/compiled_program.hpp"

namespace bellcrank {

struct SymbolicOptions {
    double rank_tolerance = 1e-10;      // pivot against its own diagonal entry below which a closing row is redundant
    double position_tolerance = 1e-13;  // largest |C| of closing rows after projection [m, or half radians]
    double stage_pivot = 1e-2;          // smallest relative pivot below which the stages of a step are projected too
    double doubt = 10.0;                // angle between rows, in corrections, that tells nothing
    int max_corrections = 25;
    std::shared_ptr<const symbolic::ParametricNumbers> numbers;  // which numbers follow parameters; null for none
};

// A configuration holds the coordinates of the tree's joints, a ball's as a unit quaternion; a velocity their speeds, a
// ball's as the angular velocity in its link's axes. The chart about a configuration turns a ball by a rotation vector.
class Symbolic final : public System {
  public:
    // Throws std::invalid_argument with all reasons if the model cannot be taken.
    Symbolic(std::shared_ptr<const Model> model, const SymbolicOptions& options);
    ~Symbolic() override;

    int configuration_size() const override { return equations_.coordinates(); }
    int tangent_size() const override { return equations_.speeds(); }
    void accelerate(double t, const double* x, const double* u, double* udot) override;
    void retract(const double* x0, const double* xi, double* out) const override;
    void chart_rate(const double* xi, const double* u, double* rate) const override;
    void chart_velocity(const double* xi, const double* rate, double* u) const override;
    void chart_acceleration(const double* xi, const double* rate, const double* udot, double* out) const override;
    void project_stage(double t, double* x, double* u) override;
    bool project(double t, double* x, double* u) override;
    bool turns(int component) const override;
    void break_times(double from, double to, std::vector<double>& out) const override;
    void commit(double t, const double* x, const double* u) override;
    double longest_step(const double* x, const double* u, double h) override;
    int observation_size(const Observation& what) const override;
    void observe(double t, const double* x, const double* u, const Observation& what, double* out) override;
    int worst_row() const override { return worst_row_; }
    int first_non_finite_body(const double* x, const double* u) const override;
    const Statistics& statistics() const override { return statistics_; }

    const Model& model() const { return *model_; }
    const symbolic::Equations& equations() const { return equations_; }
    // A generated form by name, derived and lowered when first asked for: "accelerations" or "system", "closure",
    // "bodies", "body_rates", "inverse", "mass_matrix", "literal", "literal_accelerations", "linearization",
    // "parameters". Inputs: Equations::inputs(), then what a prologue makes of the parameters.
    CompiledProgram& program(const std::string& name);
    OperationCount operations(const std::string& name);

    // Between body records (spatial/body_state.hpp, the ground's included) and joint coordinates.
    void from_records(double t, const double* poses, const double* twists, bool continued, double* x, double* u);
    // Every angle to its branch nearest to the value given for its coordinate.
    void set_angles(double* x, const double* values);
    void to_records(double t, const double* x, const double* u, double* poses, double* twists);
    void body_accelerations(double t, const double* x, const double* u, const double* udot, double* records);

    // After accelerate(): all rows' multipliers, of least norm where rows are redundant; and reactions.
    void multipliers(double t, const double* x, const double* u, const double* udot, double* out);
    struct ReactionWrench {
        double wrench[6];
        bool unique[2];
    };
    void reactions(double t, const double* x, const double* u, const double* udot,
                   const std::vector<Observation::Reaction>& which, std::vector<ReactionWrench>& out);
    std::vector<int> dropped_rows() const;
    void violation(double t, const double* x, const double* u, double* position, double* velocity);
    // Values and rates of all coordinates of the model.
    void coordinates(double t, const double* x, const double* u, double* value, double* rate);
    Energy energy_at(double t, const double* x, const double* u);
    // Efforts along the speeds that accelerations need; M, row by row; b of M u̇ = b.
    void inverse_dynamics(double t, const double* x, const double* u, const double* udot, double* efforts);
    void mass_matrix(double t, const double* x, const double* u, double* M, double* b);
    // ∂u̇/∂ξ, ∂u̇/∂u, ∂u̇/∂effort side by side: (tangent_size(), 3 tangent_size()), row by row.
    void linearize(double t, const double* x, const double* u, double* out);
    // ∂u̇/∂(parameters of SymbolicOptions::numbers) at fixed x and u: (tangent_size(), parameters), row by row.
    void parameter_derivatives(double t, const double* x, const double* u, double* out);
    const AngleBranches& branches() const { return branches_; }

  private:
    struct Runner;  // a program with its workspace and outputs
    Runner& runner(const std::string& name);
    const double* run(const std::string& name, double t, const double* x, const double* u,
                      const double* udot = nullptr);
    void load_system(double t, const double* x, const double* u);
    double load_closure(double t, const double* x);
    void factor();
    double correct_positions(double t, double* x);
    const Eigen::VectorXd& position_step();
    double tolerance() const;
    void correct_velocities(double* u);
    std::vector<double> factored_at(double t, const double* x, const double* u);
    void follow_angles(const double* x);
    void measure_rows(double t, const double* poses);
    Quat nearest_sign(int body, const Quat& q);
    void residual_forces(double t, const double* x, const double* u, const double* udot);
    void solve_multipliers(double t, const double* x, const double* u, const double* udot);
    void spread_over_tree();
    void spread_least_norm();
    void take_known_forces();
    void wrench_of(const Observation::Reaction& reaction, const std::vector<double>& lambda, double* wrench) const;

    std::shared_ptr<const Model> model_;
    SymbolicOptions options_;
    symbolic::Equations equations_;
    AngleBranches branches_;
    std::map<std::string, std::unique_ptr<Runner>> runners_;
    symbolic::ClosureSolver closure_;
    Eigen::VectorXd still_, rate_;  // right sides
    Statistics statistics_;
    int worst_row_ = -1;
    double trusted_pivot_ = 0.0;  // relative pivot below which rows are dropped just now
    double followed_at_ = 0.0;
    bool has_other_angles_ = false;  // angles of the model that are no coordinates of the tree

    std::vector<double> speeds_, step_, lambda_;
    ConstraintRows rows_;                                   // all rows in terms of bodies, for reactions
    std::vector<double> poses_, twists_, rates_, force_;    // records
    std::vector<Quat> last_rotation_;                       // of each body
    std::vector<double> row_lambda_;                        // per storage row
    std::vector<std::vector<double>> null_rows_;            // multipliers that exert nothing
    std::vector<int> turn_coordinates_;                     // per coordinate: the model's angle that it is, or −1
    std::vector<std::pair<int, int>> formula_coordinates_;  // of joints given by formulas: ours, the model's
    std::vector<int> quaternions_, ball_speeds_;            // first coordinates and speeds of balls
};

}  // namespace bellcrank
