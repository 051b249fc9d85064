// The iterations of the augmented rule, the same at all levels. They end where positions have moved so far that other
// matrices are needed.
#pragma once

#include <algorithm>

#include "formulations/dca.hpp"

namespace bellcrank {

// A change that no longer falls by this is rounding, up to so many tolerances, or that of a row which so nearly depends
// on others that the penalty does not lead it: neither goes on. What falls on is known to do so from there.
inline constexpr double kIdle = 0.5, kMostRounding = 1e3;

template <class Residual, class Apply>
bool Dca::iterate(Level level, const Residual& residual, const Apply& apply) {
    double before = 0.0;
    int i = 0;
    bool settled = false;
    bool idle = false;
    while (i < options_.max_iterations && !settled && !idle && moved_ <= most_moved_) {
        residual();
        assembly_.solve(rhs_.data());
        const double change = apply();
        // What the next one would change, if each changes the same part of what the last one did.
        const double next = i > 0 ? change * std::min(change / before, 1.0) : change;
        idle = i > 0 && change > kIdle * before;
        settled = change < kMostRounding && (idle || !(next > 1.0));
        before = change;
        ++i;
    }
    ++iterations_[level][std::min(i, kMostCounted - 1)];
    return settled;
}

}  // namespace bellcrank
