// What multipliers of a model's rows exert, and how redundant rows share a load.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "closing/limit_share.hpp"
#include "model/constraint_rows.hpp"
#include "model/ports.hpp"

namespace bellcrank {

// How redundant rows share what they exert is open. What is reported is of least norm, reactions and efforts together:
// among multipliers that exert the same on every body, those with the least ‖D λ‖, D the moment or force per unit of a
// multiplier. All that is per row is in the order of their storage, and Jacobians are those that the rows have.
class RowLoads {
  public:
    RowLoads(const Model& model, const ConstraintRows& rows);
    ~RowLoads();

    std::vector<double> multipliers;
    // Multipliers that exert nothing: a basis, orthonormal in force and moment once it was shared by; of many redundant
    // rows some at random, the largest force or moment of each being one.
    std::vector<std::vector<double>> nothing;
    // The poses that the rows' Jacobians have.
    const double* poses = nullptr;

    void clear();
    // One more that exerts nothing, zero to begin with, in room that clear() kept.
    std::vector<double>& add_nothing();
    // Starts from multipliers that exert what is to be exerted, and any basis of what exerts nothing. Rows in
    // `pushing`, which are stops, are not to pull.
    void share_by_basis(const std::vector<int>& pushing);
    // Adds multipliers that exert something else, in their share of least norm by the basis that was shared by; uses
    // them up.
    void add_share(std::vector<double>& change);
    // Where some row that bears a limited load would exceed it, another share that none exceeds, or all the least;
    // whether there is one. among: multipliers that exert nothing.
    bool share_within_limits(std::span<const BearingRow> rows, const std::vector<std::vector<double>>& among);
    // Of what exerts nothing all that changes some of these rows, in storage, and is of least norm beside that.
    const std::vector<std::vector<double>>& nothing_but_preload(std::span<const int> rows);
    // Without a basis, over the bodies: multipliers of the rows that take part, from records of what they exert
    // together, scaled by M^(−1/2). False, with nothing shared, where digits are short.
    bool share_by_bodies(std::span<const std::uint8_t> takes_part, std::span<const double> load);

    int storage_row(int model_row) const { return rows_.storage_row(model_row); }
    double multiplier(int model_row) const { return multipliers[rows_.storage_row(model_row)]; }
    // Whether the equations of motion determine a row's multiplier.
    bool determines(int model_row) const;
    // On body 2 of each pair about marker 2's origin, world axes, with the bodies at poses; the ground feels the
    // opposite of what the others feel.
    void wrenches(const std::vector<Observation::Reaction>& which, const double* poses,
                  std::vector<ReactionWrench>& out) const;
    // What forms of such a wrench are of multipliers: `forms` covectors, each on the moment and the force, become as
    // many numbers for each row of the reaction's blocks, row after row.
    void pull_back(const Observation::Reaction& reaction, const double* poses, int forms, const double* covectors,
                   double* by_rows) const;
    // These rows, in storage.
    void list_rows(const Observation::Reaction& reaction, std::vector<int>& out) const;

    // D per row.
    const std::vector<double>& weight() const { return weight_; }

  private:
    class Sharing;
    // Moment, force.
    void wrench_of(const Observation::Reaction& reaction, const double* poses, const std::vector<double>& lambda,
                   double* wrench) const;

    const Model& model_;
    const ConstraintRows& rows_;
    std::vector<std::vector<double>> spare_, without_preload_;
    std::vector<double> spans_, z_;
    LimitShare limits_;
    std::vector<int> layout_of_;  // model block → layout index, −1: it is not among the rows
    std::vector<double> weight_;
    std::unique_ptr<Sharing> sharing_;  // where many rows are redundant
};

}  // namespace bellcrank
