// Lathrop's constraint propagation in joint coordinates and local frames (P. Schröder, The Virtual Erector Set,
// chapters 5.5 to 5.8): linear in the number of bodies for trees, for loops what the degrees of freedom cost that they
// share (docs/theory/recursive.md).
#pragma once

#include <memory>
#include <vector>

#include "formulations/recursive/links.hpp"
#include "formulations/recursive/recursion.hpp"
#include "impulses/impulse_step.hpp"
#include "model/constraint_rows.hpp"
#include "trees/joint_system.hpp"

namespace bellcrank {

namespace recursive {
class TreePass;
}

class Recursive final : public JointSystem {
  public:
    // Throws std::invalid_argument with all reasons if the model cannot be taken.
    Recursive(std::shared_ptr<const Model> model, const JointSystemOptions& options);
    ~Recursive() override;

    // u̇ at many states, one after another in x, u and udot; as many side by side as a vector holds where the tree needs
    // no more than its passes.
    void accelerate_batch(double t, int states, const double* x, const double* u, double* udot);

    const recursive::LinkTree& tree() const { return tree_; }
    // How many multipliers are open at each link.
    std::vector<int> open_rows() const;
    std::vector<int> dropped_rows() override;

    void from_records(double t, const double* poses, const double* twists, bool continued, double* x,
                      double* u) override;
    void body_accelerations(double t, const double* x, const double* u, const double* udot, double* records) override;
    void inputs_changed() override;
    void close_directions(double t, const double* x, const double* u, const Directions& directions, double* dx,
                          double* du, double* left) override;
    void tangent(double t, const double* x, const double* u, const double* udot, const Directions& directions,
                 double* out, double* multipliers) override;
    void body_directions(double t, const double* x, const double* u, const double* udot, const Directions& directions,
                         const double* rates, double* dx, double* du, double* dudot) override;
    void close_adjoint(double t, const double* x, const double* u, const double* of_dx, const double* of_du,
                       const std::vector<NumberPlace>& further, Gradient& out, ModelGradient& by_numbers) override;
    void adjoint(double t, const double* x, const double* u, const double* udot, const double* of_rates,
                 const double* of_multipliers, const std::vector<NumberPlace>& further, Gradient& out,
                 ModelGradient& by_numbers) override;
    void measure_tangent(double t, const double* x, const double* u, const double* udot, const Directions& directions,
                         const double* dudot, Measured& out) override;
    void measure_adjoint(double t, const double* x, const double* u, const double* udot, const Measured& of,
                         const std::vector<NumberPlace>& further, Gradient& out, ModelGradient& by_numbers) override;
    void impact_tangent(double t, const double* x, const double* u, const double* u1, const Directions& directions,
                        double* du1) override;
    void impact_adjoint(double t, const double* x, const double* u, const double* u1, const double* of_after,
                        const std::vector<NumberPlace>& further, Gradient& out, ModelGradient& by_numbers) override;
    ImpulseOutcome step_by_impulses(double t, double h, const double* x, const double* u, double tolerance, double* x1,
                                    double* u1) override;
    ImpulseOutcome strike(double t, const double* x, const std::vector<Blow>& blows,
                          const std::vector<StruckPoint>& points, double tolerance, double* u,
                          std::vector<Vec3>& told) override;

  private:
    // Entries of a closing row's Jacobian: side of a block that is not the ground, row in the block → end of the
    // recursion.
    struct Entry {
        int side, row_in_block, end, row;
    };
    Recursive(std::shared_ptr<const Model> model, const JointSystemOptions& options, recursive::LinkTree tree);
    void list_entries();
    std::vector<recursive::RowEnd> row_ends() const;
    class Space;         // of steps by impulses
    class Differential;  // of those who differentiate
    Differential& differential();
    void note_for_derivatives(double t, const double* x, const double* u);
    ImpulseStep& impulses();
    void move_to(const double* x, const double* u);
    FunctionValue driven(const recursive::Drive& drive, double t) const;
    void lead_positions(double t, double* x) const;
    void load_forces(double t, const double* x, const double* u);
    void load_jacobians(double t);
    Load load_of(const Entry& e, double& size) const;
    void load_targets(double t);
    void row_rates();

    void place_bodies(double t, const double* x, const double* u, double* poses, double* twists) override;
    double set_driven(double t, double* x, double* u) override;
    void spread_jumps(double t, const double* x, double* u);
    void evaluate_rows(double t, const double* x, const double* u) override;
    void add_violation_of_drives(double t, const double* x, const double* u, double* position,
                                 double* velocity) override;
    void factor_at(double t, const double* x, const double* u) override;
    void factor() override;
    void find_errors(double t, const double* x) override;
    void find_row_rates(double t, const double* x, const double* u) override;
    bool is_dropped(size_t row) const override { return recursion_.dropped()[row] != 0; }
    void accelerate_held(double t, const double* x, const double* u, double* udot) override;
    double multiplier(size_t closing_row) const override { return lambda_[closing_row]; }
    const double* step() override;
    void solve_multipliers(double t, const double* x, const double* u, const double* udot) override;
    bool respond(const std::vector<double>& efforts, double* udot, std::vector<double>& multipliers,
                 double* rates) override;
    void load_known_multipliers(double t, const double* x, const double* u, const double* udot);
    void find_null_rows();

    recursive::LinkTree tree_;
    recursive::TreeState state_;
    ConstraintRows closing_;  // the blocks of closing rows
    recursive::Recursion recursion_;
    // Whether accelerations are those of the pass, and their derivatives with them.
    bool passes() const { return pass_ != nullptr && is_open() && !model_->has_friction; }
    std::unique_ptr<recursive::TreePass> pass_;  // where nothing needs more

    int read(const Entry& e, double row[6]) const;
    std::vector<Entry> entries_;
    std::vector<BlockSide> sides_;  // of the blocks of closing rows
    std::vector<int> storage_;      // of each closing row
    std::vector<double> compliance_, natural_, targets_, lambda_, more_lambda_, given_, step_;
    std::vector<Load> loads_;
    std::vector<Twist> link_accelerations_;
    std::vector<double> force_;  // records
    recursive::JointEfforts joint_efforts_;
    std::vector<double> efforts_;  // along speeds
    FreeMotion free_motion_;
    bool stands_ = false;  // whether links and factors are those of derivatives
    std::shared_ptr<Differential> differential_;
    std::unique_ptr<ImpulseStep> impulse_step_;  // of methods that step by impulses, and of those who strike
};

}  // namespace bellcrank
