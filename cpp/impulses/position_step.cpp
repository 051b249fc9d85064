// Positions of a step by impulses: back onto the rows, and out of what was penetrated.
#include <algorithm>
#include <cmath>

#include "impulses/impulse_step.hpp"
#include "spatial/body_state.hpp"

namespace bellcrank {

namespace {

constexpr double kPenetration = 1e-8;  // that is left, in sizes (ContactSet)
constexpr double kRows = 1e-11;        // error of a row that is met, in lengths of the space, or rad
constexpr double kResidual = 1e-6;     // of displacements; the next correction has what they leave
constexpr int kCorrections = 12;

}  // namespace

// Contacts by displacements as small as they can be, those of a problem of the same kind without friction; rows, which
// these follow to first order, by the formulation. What leaves a contact, or bounces there, is not moved.
bool ImpulseStep::correct_positions(double t, double h, const double* u, double* x) {
    for (int i = 0; i < kCorrections; ++i) {
        space_.place(t, x);
        bool met = true;
        if (!(row_error() <= kRows)) {
            met = space_.close(t, x);
            space_.place(t, x);
        }
        points_ = contacts_.near(space_.poses(), way_);
        if (!met || !penetrates(space_.twists(u), h)) return met;
        positions_.begin();
        for (const FoundContact& found : close_) positions_.add(point_at(found));
        positions_.finish(true);
        int row = 0;
        for (const ImpulsePiece& piece : positions_.pieces())
            for (int r = 0; r < piece.size; ++r, ++row)
                positions_.q[row] = piece.holds_positions() ? space_.error(row) : 0.0;
        for (const FoundContact& found : close_) positions_.q[row++] = found.point.gap;
        factorizations_ += positions_.solve(kResidual).factorizations;
        std::fill(xi_.begin(), xi_.end(), 0.0);
        positions_.jacobian().add_response(positions_.impulses.data(), xi_.data());
        space_.displace(xi_.data(), x);
    }
    const bool met = space_.close(t, x);
    space_.place(t, x);
    points_ = contacts_.near(space_.poses(), way_);
    return met;
}

// Whether points are penetrated that bodies do not leave by themselves; close_ has all others that are near.
bool ImpulseStep::penetrates(const double* twists, double h) {
    bool any = false;
    close_.clear();
    for (const FoundContact& found : points_) {
        if (found.point.gap > kNearGap * found.size) continue;
        if (found.point.gap <= 0.0) {
            const double fast = bouncing_speed(h, rest_speed_of(found));
            const double speed = dot(contacts_.velocity_between(found, space_.poses(), twists), found.point.normal);
            if (speed > fast || (speed < -fast && model_.contacts.groups[found.group].law.restitution > 0.0)) continue;
        }
        close_.push_back(found);
        any = any || found.point.gap < -kPenetration * found.size;
    }
    return any;
}

// The largest error of rows that hold positions, in lengths of the space, or rad.
double ImpulseStep::row_error() const {
    double worst = 0.0;
    int row = 0;
    for (const ImpulsePiece& piece : positions_.pieces())
        for (int r = 0; r < piece.size; ++r, ++row) {
            if (!piece.holds_positions()) continue;
            const double C = space_.error(row);
            worst = std::isfinite(C) ? std::max(worst, (piece.unilateral ? -C : std::abs(C)) / space_.unit(row))
                                     : Bounds::kInfinity;
        }
    return worst;
}

}  // namespace bellcrank
