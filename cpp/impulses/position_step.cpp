// Positions of a step by impulses: back onto the rows, and out of what was penetrated.
#include <algorithm>
#include <cmath>

#include "impulses/impulse_step.hpp"
#include "spatial/body_state.hpp"

namespace bellcrank {

namespace {

constexpr double kNear = 1e-3;         // gaps that count [m]
constexpr double kPenetration = 1e-9;  // that is left [m]
constexpr double kRows = 1e-11;        // error of a row that is met [m or rad]
constexpr double kResidual = 1e-6;     // of displacements; the next correction has what they leave
constexpr int kCorrections = 12;

bool holds_positions(const ImpulseProblem::Piece& piece) { return !piece.of_velocity && piece.compliance == 0.0; }

}  // namespace

// Contacts by displacements as small as they can be, those of a problem of the same kind without friction; rows, which
// these follow to first order, by the formulation. What leaves a contact, or bounces there, is not moved.
bool ImpulseStep::correct_positions(double t, double h, const double* u, double* x) {
    for (int i = 0; i < kCorrections; ++i) {
        rows_.evaluate_jacobians(t, x);
        bool met = true;
        if (!(row_error() <= kRows)) {
            met = close_rows_(t, x);
            rows_.evaluate_jacobians(t, x);
        }
        points_ = contacts_.near(x, reach_);
        if (!met || !penetrates(x, u, h)) return met;
        friction_.assign(close_.size(), 0.0);
        positions_.lay_out(close_, friction_);
        positions_.evaluate(x, true);
        int row = 0;
        for (const ImpulseProblem::Piece& piece : positions_.pieces())
            for (int r = 0; r < piece.size; ++r)
                positions_.q[row++] = holds_positions(piece) ? rows_.C[piece.row + r] : 0.0;
        for (const FoundContact& found : close_) positions_.q[row++] = found.point.gap;
        factorizations_ += positions_.solve(kResidual).factorizations;
        positions_.to_bodies(positions_.impulses.data(), bodies_.data());
        std::fill(xi_.begin(), xi_.end(), 0.0);
        add_scaled(1.0, bodies_.data(), xi_.data());
        manifold_.retract(x, xi_.data(), x);
    }
    const bool met = close_rows_(t, x);
    rows_.evaluate_jacobians(t, x);
    points_ = contacts_.near(x, reach_);
    return met;
}

// Whether points are penetrated that bodies do not leave by themselves; close_ has all others that are near.
bool ImpulseStep::penetrates(const double* x, const double* u, double h) {
    const double fast = bouncing_speed(h);
    bool any = false;
    close_.clear();
    for (const FoundContact& found : points_) {
        if (found.point.gap > kNear) continue;
        if (found.point.gap <= 0.0) {
            const double speed = dot(contacts_.velocity_between(found, x, u), found.point.normal);
            if (speed > fast || (speed < -fast && model_.contacts.groups[found.group].law.restitution > 0.0)) continue;
        }
        close_.push_back(found);
        any = any || found.point.gap < -kPenetration;
    }
    return any;
}

// The largest error of rows that hold positions.
double ImpulseStep::row_error() const {
    double worst = 0.0;
    for (const ImpulseProblem::Piece& piece : positions_.pieces())
        for (int r = 0; r < piece.size && holds_positions(piece); ++r) {
            const double C = rows_.C[piece.row + r];
            worst = std::isfinite(C) ? std::max(worst, piece.unilateral ? -C : std::abs(C)) : Bounds::kInfinity;
        }
    return worst;
}

}  // namespace bellcrank
