// Multipliers of all rows of a tree with cut joints, and what they exert: what the bodies' accelerations ask for beyond
// applied forces is carried from the tips to the base.
#pragma once

#include <Eigen/Core>
#include <array>
#include <cstdint>
#include <vector>

#include "closing/row_loads.hpp"
#include "model/system.hpp"
#include "trees/joint_coordinates.hpp"

namespace bellcrank {

class TreeReactions {
  public:
    // other_rows: of the model, those whose multipliers are set before they are spread over the tree.
    TreeReactions(const Model& model, const AngleBranches& branches, Contacts& contacts,
                  const std::vector<JointMap>& joints, const std::vector<int>& other_rows);

    RowLoads& loads() { return loads_; }
    const RowLoads& loads() const { return loads_; }

    // Takes up M u̇ − f at poses, twists and accelerations (records), with all multipliers zero.
    void take_motion(double t, const double* poses, const double* twists, const double* rates);
    // C̈ of all rows at what take_motion() was given.
    const std::vector<double>& second_derivatives();
    // From multipliers of the other rows to those of the tree's joints.
    void spread_over_tree() { spread_over_tree(force_.data(), loads_.multipliers); }
    // The same for forces on the bodies, records, which are used up; the multipliers of the tree's joints were zero.
    void spread_over_tree(double* force, std::vector<double>& multipliers) const;
    // The transpose of that from forces on: of seeds of the tree's multipliers the gradient by forces, records.
    void gather_over_tree(const std::vector<double>& seeds, double* by_force) const;
    // Whether a row's multiplier is found on the way over the tree.
    bool is_of_tree(int row) const { return of_tree_[row] != 0; }
    // J v of the other rows for velocities of the bodies, records.
    void rates(const double* velocities, std::vector<double>& out) const;
    // From multipliers of the other rows that exert nothing together with some of the tree's joints to those of these.
    void complete_null(std::vector<double>& multipliers);
    // Those that the bodies ask for by accelerations, records, beside multipliers of the other rows.
    void answer(const double* rates, std::vector<double>& multipliers);
    // Instead of all this: the multipliers of least norm of these rows that exert what is left beside those set; of
    // the rows `pushing` none is negative.
    void spread_least_norm(std::vector<int> rows, const std::vector<int>& pushing = {});
    // The same for forces on the bodies, records, which are used up, beside the multipliers of other rows; and the
    // transpose from forces on, of seeds of multipliers that the forces determine.
    void spread_over_rows(const std::vector<int>& rows, double* force, std::vector<double>& multipliers) const;
    void gather_over_rows(const std::vector<int>& rows, const std::vector<double>& seeds, double* by_force) const;
    // Of reactions at the poses that take_motion() was given.
    void wrenches(const std::vector<Observation::Reaction>& which, std::vector<ReactionWrench>& out) const {
        loads_.wrenches(which, poses_, out);
    }
    // |J M^(−1/2)|² of the rows at poses.
    std::vector<double> row_sizes(double t, const double* poses);

  private:
    void apply(double sign, const std::vector<double>& lambda, double* records) const;
    void row_on(int row, int body, double* out) const;
    Eigen::MatrixXd weighted(const std::vector<int>& rows) const;  // D⁻¹ J, by components of û
    Eigen::VectorXd scaled(const double* force) const;             // by these components
    void spread(double* records, std::vector<double>& lambda) const;
    const double* inverse_of(size_t joint) const;

    const Model& model_;
    const AngleBranches& branches_;
    Contacts& contacts_;
    const std::vector<JointMap>& joints_;
    ConstraintRows rows_;  // stored in the order of the model
    std::vector<int> block_of_row_;
    std::vector<int> other_blocks_;  // those with rows that are none of the tree's
    std::vector<std::uint8_t> of_tree_;
    double time_ = 0.0;
    const double *poses_ = nullptr, *twists_ = nullptr, *rates_ = nullptr;
    std::vector<double> force_, exerted_;  // records
    std::vector<double> second_;           // per row
    // By joint, where Jacobians are: the pseudoinverse of its rows against its child, (rows, 6); what is known of it.
    enum class Inverse : std::uint8_t { unknown, known, dependent };
    mutable std::vector<std::array<double, 36>> inverses_;
    mutable std::vector<Inverse> inverse_known_;
    RowLoads loads_;
};

}  // namespace bellcrank
