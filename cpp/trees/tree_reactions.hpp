// Multipliers of all rows of a tree with cut joints, and what they exert: what the bodies' accelerations ask for beyond
// applied forces is carried from the tips to the base.
#pragma once

#include <memory>
#include <vector>

#include "linalg/load_sharing.hpp"
#include "model/constraint_rows.hpp"
#include "model/system.hpp"
#include "trees/joint_coordinates.hpp"

namespace bellcrank {

class TreeReactions {
  public:
    // other_rows: of the model, those whose multipliers are told before they are spread over the tree.
    TreeReactions(const Model& model, const AngleBranches& branches, Contacts& contacts,
                  const std::vector<JointMap>& joints, const std::vector<int>& other_rows);

    // Takes up M u̇ − f at poses, twists and accelerations (records), with all multipliers zero.
    void take_motion(double t, const double* poses, const double* twists, const double* rates);
    // Per row of the model.
    std::vector<double> lambda;
    // C̈ of all rows at what take_motion() was given.
    const std::vector<double>& second_derivatives();
    // From `lambda` of the other rows to those of the tree's joints.
    void spread_over_tree();
    // Adds multipliers of the other rows that exert nothing together with some of the tree's joints; after that, the
    // multipliers of least norm of force and moment.
    void add_null(std::vector<double> multipliers);
    void minimise_norm();
    // Instead of all this: the multipliers of least norm of these rows that exert what is left beside those told; of
    // the rows `pushing` none is negative.
    void spread_least_norm(std::vector<int> rows, const std::vector<int>& pushing = {});

    // On body 2 of the pair about marker 2's origin, world axes; the ground feels the opposite of what the others feel.
    void wrench_of(const Observation::Reaction& reaction, double* wrench) { wrench_of(reaction, lambda, wrench); }
    void wrenches(const std::vector<Observation::Reaction>& which, std::vector<ReactionWrench>& out);
    // Whether the equations of motion determine a row's multiplier; a reaction's moment and force.
    bool determines(int row) const;
    void judge(const Observation::Reaction& reaction, bool* unique);

    // |J M^(−1/2)|² of the rows at poses.
    std::vector<double> row_sizes(double t, const double* poses);

    // M^(1/2) of a body in one of the six directions of a twist.
    double root_of_mass(int body, int component) const { return root_mass_[6 * static_cast<size_t>(body) + component]; }

  private:
    const BlockLayout& layout(int block) const { return rows_.blocks()[layout_of_[block]]; }
    void apply(const std::vector<int>& blocks, double sign, const std::vector<double>& lambda, double* records) const;
    void row_on(int row, int body, double* out) const;
    bool spread_by_bodies(const std::vector<int>& rows);
    void push(const std::vector<int>& rows);
    void spread(double* records, std::vector<double>& lambda) const;
    void wrench_of(const Observation::Reaction& reaction, const std::vector<double>& lambda, double* wrench);

    const Model& model_;
    const AngleBranches& branches_;
    Contacts& contacts_;
    const std::vector<JointMap>& joints_;
    ConstraintRows rows_;
    std::vector<int> layout_of_;     // model block → layout index
    std::vector<int> block_of_row_;  // of the model
    std::vector<int> other_blocks_;  // those with rows that are none of the tree's
    std::vector<double> root_mass_;  // M^(1/2), six per body
    std::vector<double> weight_;     // per model row: force or moment per unit of its multiplier
    double time_ = 0.0;
    const double *poses_ = nullptr, *twists_ = nullptr, *rates_ = nullptr;
    std::vector<double> force_, exerted_;  // records
    std::vector<double> second_;           // per model row
    // Multipliers that exert nothing, orthonormal in force and moment; of many rows without stops, some at random.
    std::vector<std::vector<double>> nulls_;
    std::unique_ptr<LoadSharing> sharing_;
    std::vector<int> touched_;
};

}  // namespace bellcrank
