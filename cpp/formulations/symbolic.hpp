// The symbolic Lagrangian (B. Guenter and S.-H. Lee, Symbolic Lagrangian Multibody Dynamics): equations of motion in
// joint coordinates, derived once per model and run as straight-line programs (docs/theory/symbolic.md).
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "derivation/equations.hpp"
#include "formulations/symbolic/closure.hpp"
#include "programs/compiled_program.hpp"
#include "trees/joint_system.hpp"

namespace bellcrank {

struct SymbolicOptions : JointSystemOptions {
    std::shared_ptr<const symbolic::ParametricNumbers> numbers;  // which numbers follow parameters; null for none
};

class Symbolic final : public JointSystem {
  public:
    // Throws std::invalid_argument with all reasons if the model cannot be taken.
    Symbolic(std::shared_ptr<const Model> model, const SymbolicOptions& options);
    ~Symbolic() override;

    bool passes_poles() const final { return false; }  // branches are part of the derived programs

    const symbolic::Equations& equations() const { return *equations_; }
    symbolic::Equations& equations() { return *equations_; }  // for forms that users get
    // A generated form by name, derived and lowered when first asked for: "accelerations" or "system", "closure",
    // "bodies", "body_rates", "inverse", "mass_matrix", "linearization", "linearized_rows", "parameters"; and of
    // "residuals", "rows" and "bodies" what changes "along" directions, "along parameters", and the "gradient" and
    // "gradient by parameters": "rows along".
    // Inputs: Equations::inputs(), then further ones of the form, then what a prologue makes of the parameters.
    CompiledProgram& program(const std::string& name);
    OperationCount operations(const std::string& name);

    void inputs_changed() override;
    std::vector<int> dropped_rows() override;
    void from_records(double t, const double* poses, const double* twists, bool continued, double* x,
                      double* u) override;
    void body_accelerations(double t, const double* x, const double* u, const double* udot, double* records) override;
    void close_directions(double t, const double* x, const double* u, const Directions& directions, double* dx,
                          double* du, double* left) override;
    void close_adjoint(double t, const double* x, const double* u, const double* of_dx, const double* of_du,
                       const std::vector<NumberPlace>& further, Gradient& out, ModelGradient& by_numbers) override;
    void tangent(double t, const double* x, const double* u, const double* udot, const Directions& directions,
                 double* out, double* multipliers) override;
    void adjoint(double t, const double* x, const double* u, const double* udot, const double* of_rates,
                 const double* of_multipliers, const std::vector<NumberPlace>& further, Gradient& out,
                 ModelGradient& by_numbers) override;
    void body_directions(double t, const double* x, const double* u, const double* udot, const Directions& directions,
                         const double* rates, double* dx, double* du, double* dudot) override;
    // Efforts along the speeds that accelerations need; M, row by row; b of M u̇ = b.
    void inverse_dynamics(double t, const double* x, const double* u, const double* udot, double* efforts);
    void mass_matrix(double t, const double* x, const double* u, double* M, double* b);
    // ∂u̇/∂ξ, ∂u̇/∂u, ∂u̇/∂effort side by side: (tangent_size(), 3 tangent_size()), row by row. rows: ∂C̈ by ξ and u at
    // fixed u̇, of the closing rows, (rows, 2 tangent_size()).
    void linearize(double t, const double* x, const double* u, double* out, double* rows);
    // ∂Ċ/∂ξ and ∂Ċ/∂u of the closing rows side by side: (rows, 2 tangent_size()); ∂ξ̇/∂ξ at fixed u; row by row.
    void linearize_rows(double t, const double* x, const double* u, double* rows, double* chart);
    // ∂u̇/∂(parameters of SymbolicOptions::numbers) at fixed x and u: (tangent_size(), parameters), row by row. rows: of
    // the closing rows ∂C̈ at fixed u̇, then ∂C, then ∂Ċ, (rows, parameters) each.
    void parameter_derivatives(double t, const double* x, const double* u, double* out, double* rows);

  private:
    Symbolic(std::shared_ptr<const Model> model, const SymbolicOptions& options,
             std::unique_ptr<symbolic::Equations> equations);

    struct Runner;  // a program with its workspace and outputs
    Runner& runner(const std::string& name);
    const double* run(const std::string& name, double t, const double* x, const double* u,
                      const double* udot = nullptr);
    // Fills the inputs of every form; where its further ones follow.
    double* fill(Runner& runner, double t, const double* x, const double* u, const double* udot) const;
    class Differential;
    Differential& differential();
    std::vector<double> factored_at(double t, const double* x, const double* u);

    void follow_derived_angles(double t, const double* x) override;
    void place_bodies(double t, const double* x, const double* u, double* poses, double* twists) override;
    void factor_at(double t, const double* x, const double* u) override;
    void factor() override;
    void find_errors(double t, const double* x) override;
    void find_row_rates(double t, const double* x, const double* u) override;
    bool is_dropped(size_t row) const override { return closure_.is_dropped(static_cast<int>(row)); }
    void accelerate_held(double t, const double* x, const double* u, double* udot) override;
    double multiplier(size_t row) const override { return closure_.lambda[static_cast<Eigen::Index>(row)]; }
    const double* step() override;
    void solve_multipliers(double t, const double* x, const double* u, const double* udot) override;
    // Those of rows that exert what bodies lack, where equations between coordinates are solved by themselves.
    bool is_coupled() const { return !equations_->mechanism.couplings.found.empty(); }
    std::vector<int> exerting_rows() const;
    // The multipliers of closing rows and rotors.
    void load_known_multipliers(double t, const double* x, const double* u, const double* udot);
    // Makes closure_ that of a configuration, with factors.
    void stand_at(double t, const double* x, const double* u);

    void find_contact_forces(double t, const double* x, const double* u);
    void leave_out_rows();
    void copy_rows(const double* from, int width, double* out) const;
    // Of closing rows, 1 or −1: by which multipliers turn between quaternions along the tree and those of records.
    const std::vector<double>& turns_of_components(double t, const double* x, const double* u);
    // Rows that hold because other equations between coordinates do.
    const std::vector<int>& redundant() const { return equations_->mechanism.couplings.redundant; }

    std::unique_ptr<symbolic::Equations> equations_;
    std::map<std::string, std::unique_ptr<Runner>> runners_;
    symbolic::ClosureSolver closure_;
    Eigen::VectorXd still_, rate_;  // right sides
    std::vector<double> lambda_, turns_;
    std::vector<double> stands_at_;                   // t and x that closure_ is factored at; empty: it is not known
    std::vector<std::uint8_t> stands_with_;           // closing rows left out there
    std::shared_ptr<Differential> differential_;      // of those who differentiate
    std::vector<double> exerted_, contact_wrenches_;  // on bodies, as by applied_forces(); inputs of the programs
};

}  // namespace bellcrank
