// Lathrop's constraint propagation in joint coordinates and local frames (P. Schröder, The Virtual Erector Set,
// chapters 5.5 to 5.8): linear in the number of bodies for trees, for loops what the degrees of freedom cost that they
// share (docs/theory/recursive.md).
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "formulations/recursive/recursion.hpp"
#include "formulations/recursive/tree_pass.hpp"
#include "model/constraint_rows.hpp"
#include "model/forces.hpp"
#include "model/state.hpp"
#include "model/system.hpp"

namespace bellcrank {

struct RecursiveOptions {
    double rank_tolerance = 1e-10;      // pivot against its own entry below which a closing row is redundant
    double position_tolerance = 1e-13;  // largest |C| of closing rows after projection [m, or half radians]
    double stage_pivot = 1e-2;          // smallest relative pivot below which the stages of a step are projected too
    double doubt = 10.0;                // angle between rows, in corrections, that tells nothing
    int max_corrections = 25;
};

// A configuration holds the coordinates of the tree's joints, a ball's as a unit quaternion; a velocity their speeds, a
// ball's as the angular velocity in its link's axes. The chart about a configuration turns a ball by a rotation vector.
class Recursive final : public System {
  public:
    // Throws std::invalid_argument with all reasons if the model cannot be taken.
    Recursive(std::shared_ptr<const Model> model, const RecursiveOptions& options);

    int configuration_size() const override { return tree_.coordinates; }
    int tangent_size() const override { return tree_.speeds; }
    void accelerate(double t, const double* x, const double* u, double* udot) override;
    void retract(const double* x0, const double* xi, double* out) const override;
    void chart_rate(const double* xi, const double* u, double* rate) const override;
    void chart_velocity(const double* xi, const double* rate, double* u) const override;
    void chart_acceleration(const double* xi, const double* rate, const double* udot, double* out) const override;
    void project_stage(double t, double* x, double* u) override;
    bool project(double t, double* x, double* u) override;
    void commit(double t, const double* x, const double* u) override;
    double longest_step(const double* x, const double* u, double h) override;
    int observation_size(const Observation& what) const override;
    void observe(double t, const double* x, const double* u, const Observation& what, double* out) override;
    int worst_row() const override { return worst_row_; }
    int first_non_finite_body(const double* x, const double* u) const override;
    const Statistics& statistics() const override { return statistics_; }

    // u̇ at many states, one after another in x, u and udot; as many side by side as a vector holds where the tree needs
    // no more than its passes.
    void accelerate_batch(double t, int states, const double* x, const double* u, double* udot);

    const Model& model() const { return *model_; }
    const recursive::LinkTree& tree() const { return tree_; }
    const AngleBranches& branches() const { return branches_; }
    // How many multipliers are open at each link.
    std::vector<int> open_rows() const;

    // Between body records (spatial/body_state.hpp, the ground's included) and joint coordinates.
    void from_records(double t, const double* poses, const double* twists, bool continued, double* x, double* u);
    void to_records(double t, const double* x, const double* u, double* poses, double* twists);
    // Every angle to its branch nearest to the value given for its coordinate.
    void set_angles(double* x, const double* values);
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
    // Largest |C| and |Ċ| over closing rows and driven coordinates.
    void violation(double t, const double* x, const double* u, double* position, double* velocity);
    void coordinates(double t, const double* x, const double* u, double* value, double* rate);
    Energy energy_at(double t, const double* x, const double* u);

  private:
    static RowOrder closing_order(const Model& model, const recursive::LinkTree& tree);
    std::vector<recursive::RowEnd> row_ends() const;
    // M^(1/2) of a body in one of the six directions of a twist.
    double root_of_mass(int body, int component) const { return root_mass_[6 * static_cast<size_t>(body) + component]; }
    bool is_open() const { return tree_.closing_rows.empty(); }
    void go(double t, const double* x, const double* u);
    void load_jacobians(double t);
    void load_targets(double t);
    void factor();
    double largest_error();
    double correct_positions(double t, double* x);
    void position_step(double* xi);
    void row_rates();
    void correct_velocities(double t, const double* x, double* u);
    void set_driven(double t, double* x, double* u) const;
    void follow_angles(const double* x);
    Quat nearest_sign(int body, const Quat& q);
    void apply_rows(const int* blocks, size_t count, double sign, const double* lambda, double* records) const;
    void row_on(int row, int body, double* out) const;
    void solve_multipliers(double t, const double* x, const double* u, const double* udot);
    void spread_over_tree(double* records, double* lambda) const;
    void find_null_rows();
    void minimise_norm();
    void wrench_of(const Observation::Reaction& reaction, const double* lambda, double* wrench);

    std::shared_ptr<const Model> model_;
    RecursiveOptions options_;
    recursive::LinkTree tree_;
    recursive::Kinematics kinematics_;
    AngleBranches branches_;
    ConstraintRows closing_;  // the blocks of closing rows
    ConstraintRows rows_;     // all rows, for reactions
    recursive::Recursion recursion_;
    std::unique_ptr<recursive::TreePass> pass_;  // where nothing needs more
    Statistics statistics_;
    int worst_row_ = -1;
    double trusted_pivot_ = 0.0;  // relative pivot below which rows are dropped just now
    double followed_at_ = 0.0;
    bool has_other_angles_ = false;  // the model follows coordinates that are none of the tree

    // Entries of a closing row's Jacobian: side of a block, row in the block → end of the recursion.
    struct Entry {
        int side, row_in_block, end, row;
    };
    std::vector<Entry> entries_;
    std::vector<BlockSide> sides_;  // of the blocks of closing rows
    std::vector<int> storage_;      // of each closing row
    std::vector<double> compliance_, natural_, targets_, errors_, lambda_, given_, step_;
    std::vector<recursive::Load> loads_;
    std::vector<recursive::Twist> link_accelerations_;
    std::vector<double> poses_, twists_, rates_, force_;  // records
    std::vector<Quat> last_rotation_;                     // of each body
    std::vector<double> row_lambda_;                      // per model row
    std::vector<std::vector<double>> null_rows_;          // multipliers that exert nothing
    std::vector<double> weight_;                          // per model row: force or moment per unit of its multiplier
    std::vector<int> turns_;                              // per coordinate: the model's angle that it is, or −1
    std::vector<int> balls_, ball_speeds_;                // first coordinates and speeds of quaternions
    std::vector<std::pair<int, int>> formula_coordinates_;
    std::vector<double> root_mass_;  // M^(1/2), six per body
    std::vector<int> layout_of_;     // model block → layout index
    std::vector<int> block_of_row_;
    std::vector<int> free_blocks_;  // those with rows that are none of the tree's
    std::vector<int> touched_;
    std::vector<double> udot_, observed_;
    std::vector<Lane, AlignedAllocator<Lane>> batch_;
};

}  // namespace bellcrank
