// Where bodies must go to satisfy the constraints: least squares by Levenberg and Marquardt on the sparse blocks of the
// bodies, restarts where it is caught in a local minimum, continuation where a branch is to be kept.
#pragma once

#include <cstdint>
#include <memory>
#include <random>
#include <span>
#include <vector>

#include "linalg/normal_matrix.hpp"
#include "model/constraint_rows.hpp"
#include "spatial/fields.hpp"

namespace bellcrank {

struct RootOptions {
    double tolerance = 1e-12;   // largest |C| that is as good as none [m, or half radians]
    double met = 1e-10;         // largest |C| that counts as met
    double accepted = 1e-8;     // with which no restart looks elsewhere: rows may contradict each other by rounding
    double largest_turn = 0.5;  // of any body in one step [rad]
    int steps = 200;            // of one descent
    int restarts = 40;
    int continuations = 400;  // steps of a continuation
};

// Finds, for fixed time, poses with C = 0, and of these the one nearest to where the bodies were: least in
//   D² = Σ over bodies of ∫ |displacement of the particle|² dm.
// Rows of inertances take no part, stops only where they are violated, and conditions of velocities only in rates.
class RootFinder {
  public:
    // pinned: bodies that keep their poses.
    RootFinder(std::shared_ptr<const Model> model, std::span<const int> pinned, const RootOptions& options);

    // Starts from poses x (spatial/body_state.hpp) at time t.
    void place(double t, const double* x);
    // Descends from where the bodies are, and from perturbed placements if that ends in a local minimum; then goes to
    // the nearest solution. True if the constraints are met.
    bool find();
    // Goes from a configuration that satisfies the constraints along them to the one nearest to the poses x0.
    void approach(const std::vector<double>& x0);
    // Goes from errors that constants shifted by `C now` hide back to the constants as they are. False, and the bodies
    // where they were, if a step of this way cannot be gone without a jump.
    bool lead();

    const std::vector<double>& poses() const { return x_; }
    double largest_error() const { return largest(error_); }
    // Errors by model row; zero for rows that take no part.
    std::vector<double> errors() const;
    // J u + Ct, by model row, of the velocities u nearest to the given ones that leave least of it.
    std::vector<double> least_rates(const double* u);
    // C + J ξ, by model row, of a displacement ξ that leaves least of it: where that is not zero, rows contradict each
    // other.
    std::vector<double> least_errors();
    // What it did so far.
    struct Counts {
        int steps = 0, factorizations = 0, restarts = 0;
        BELLCRANK_FIELDS(Counts, (steps), (factorizations), (restarts))
    };
    const Counts& counts() const { return counts_; }

  private:
    void weigh_rows();
    void find_parts();
    void evaluate();
    void evaluate_values(const double* x);
    void take_errors();
    void follow_angles();
    void move_by(double factor, const double* step, double largest_turn, double* x) const;
    double largest(const std::vector<double>& error) const;
    double merit(const std::vector<double>& error) const;
    void gradient();
    bool descend(int steps);
    // Newton's steps of nearly least norm, whatever they do to the errors on the way.
    bool correct(int steps, double damping, double largest_turn);
    void solve_step(double damping);
    bool step_down(double& damping, double& growth, double& value);
    void perturb(double size, const std::vector<double>& best, const std::vector<double>& value);
    void keep_better_parts(std::vector<double>& best, std::vector<double>& value);
    std::vector<double> part_values() const;
    std::vector<double> least(const double* u, const std::vector<double>& constant);
    double pull_towards(const std::vector<double>& start, double* pull) const;

    std::shared_ptr<const Model> model_;
    RootOptions options_;
    std::vector<std::uint8_t> movable_;
    AngleBranches branches_;
    ConstraintRows rows_;
    NormalMatrix normal_;
    Counts counts_;
    std::mt19937_64 random_;

    double time_ = 0.0;
    std::vector<double> x_, trial_;                        // poses
    std::vector<double> gradient_, step_, shift_, floor_;  // kTwist records; floor_: of the damping, relative
    std::vector<double> length_;                           // of bodies [m]
    std::vector<int> part_;                                // of bodies: which are connected by rows, −1 for the ground
    int parts_ = 0;
    double met_value_ = 0.0;                          // merit of a part, below which its constraints are met
    std::vector<int> row_part_;                       // per storage row
    std::vector<std::uint8_t> takes_part_, stop_;     // per storage row
    std::vector<std::uint8_t> of_velocity_;           // per storage row: says nothing of positions
    std::vector<double> unit_, error_, trial_error_;  // per storage row; unit_: m per unit of C, squared
    std::vector<double> offset_, weight_, product_;
};

}  // namespace bellcrank
