// Boxes along the axes.
#pragma once

#include <algorithm>
#include <limits>

#include "geometry/pose.hpp"

namespace bellcrank {

struct Bounds {
    static constexpr double kInfinity = std::numeric_limits<double>::infinity();
    Vec3 lo{kInfinity, kInfinity, kInfinity}, hi{-kInfinity, -kInfinity, -kInfinity};

    void add(const Vec3& p) {
        lo = {std::min(lo.x, p.x), std::min(lo.y, p.y), std::min(lo.z, p.z)};
        hi = {std::max(hi.x, p.x), std::max(hi.y, p.y), std::max(hi.z, p.z)};
    }
    void add(const Bounds& other) {
        lo = {std::min(lo.x, other.lo.x), std::min(lo.y, other.lo.y), std::min(lo.z, other.lo.z)};
        hi = {std::max(hi.x, other.hi.x), std::max(hi.y, other.hi.y), std::max(hi.z, other.hi.z)};
    }
    Bounds grown(double by) const { return {lo - Vec3{by, by, by}, hi + Vec3{by, by, by}}; }
    Vec3 centre() const { return 0.5 * (lo + hi); }
};

inline bool overlap(const Bounds& a, const Bounds& b) {
    return a.lo.x <= b.hi.x && b.lo.x <= a.hi.x && a.lo.y <= b.hi.y && b.lo.y <= a.hi.y && a.lo.z <= b.hi.z &&
           b.lo.z <= a.hi.z;
}

}  // namespace bellcrank
