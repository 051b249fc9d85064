#include "geometry/tyre.hpp"

#include <array>
#include <cmath>
#include <numbers>
#include <stdexcept>
#include <string>

#include "geometry/rays.hpp"

namespace bellcrank {

namespace {

constexpr int kMostRays = 65;
constexpr double kFan = 0.25 * std::numbers::pi;  // rays on either side; by the inscribed angle half of the tread's

// Where between its rays a slice is deepest.
struct Peak {
    double angle, gap;
};

// By a parabola through the least gap and its neighbours. On a plane these are no farther behind than `most`; what lies
// behind an edge does not count.
Peak peak_of(const Tyre& tyre, const std::array<double, kMostRays>& gaps) {
    const auto end = gaps.begin() + static_cast<std::ptrdiff_t>(tyre.rays.size());
    const auto least = std::min_element(gaps.begin(), end);
    const Tyre::Ray& ray = tyre.rays[static_cast<std::size_t>(least - gaps.begin())];
    if (least == gaps.begin() || least + 1 == end) return {ray.angle, *least};
    const double most = 2.25 * tyre.section * tyre.spacing * tyre.spacing;
    const double before = std::min(*(least - 1) - *least, most), after = std::min(*(least + 1) - *least, most);
    if (!(before + after > 0.0)) return {ray.angle, *least};
    const double offset = 0.5 * (before - after) / (before + after);
    return {ray.angle + offset * tyre.spacing, *least - 0.25 * (before - after) * offset};
}

bool is_near(const Bounds& bounds, const Vec3& p, double distance) {
    return p.x - distance <= bounds.hi.x && p.x + distance >= bounds.lo.x && p.y - distance <= bounds.hi.y &&
           p.y + distance >= bounds.lo.y && p.z - distance <= bounds.hi.z && p.z + distance >= bounds.lo.z;
}

}  // namespace

SharedShape make_tyre(double radius, double width, int slices, int rays) {
    if (!(width > 0.0 && width < radius && std::isfinite(radius)))
        throw std::invalid_argument("tyre: its width must be positive and less than its radius, got " +
                                    std::to_string(width) + " and " + std::to_string(radius) + "; give them in m");
    if (slices < 8 || rays < 3 || rays > kMostRays || rays % 2 == 0)
        throw std::invalid_argument("tyre: at least 8 slices of 3 to 65 rays, an odd number, are needed, got " +
                                    std::to_string(slices) + " of " + std::to_string(rays));
    auto tyre = std::make_shared<Tyre>();
    tyre->rim = radius - width;
    tyre->section = width;
    tyre->spacing = 2.0 * kFan / (rays - 1);
    for (int i = 0; i < slices; ++i) {
        const double angle = 2.0 * std::numbers::pi * i / slices;
        tyre->radials.push_back({std::cos(angle), std::sin(angle), 0.0});
    }
    for (int i = 0; i < rays; ++i) {
        const double angle = (i - rays / 2) * tyre->spacing;
        tyre->rays.push_back({angle, std::sin(angle), std::cos(angle), width * std::cos(angle)});
    }
    const Vec3 size{radius, radius, 0.5 * width};
    tyre->half = size;
    tyre->bounds = {-size, size};
    tyre->reach_out = radius;
    return tyre;
}

void tyre_on(const Shape& other, const Pose& pose, const Shape& shape, const Pose& tyre_pose, double reach,
             ContactManifold& out) {
    const auto& tyre = static_cast<const Tyre&>(shape);
    const Pose wheel = seen_from(pose, tyre_pose);
    const Vec3 axis = wheel.direction({0.0, 0.0, 1.0});
    const double radius = tyre.half.x;
    const auto middle = tyre.rays.size() / 2;
    std::array<double, kMostRays> gaps;
    RayHit hit;
    for (std::size_t i = 0; i < tyre.radials.size(); ++i) {
        const Vec3 outwards = wheel.direction(tyre.radials[i]), start = wheel.p + tyre.rim * outwards;
        if (!is_near(other.bounds, start + 0.5 * tyre.section * outwards, 0.5 * tyre.section + reach)) continue;
        const auto slice = vertex_feature(static_cast<std::uint32_t>(i));
        // From the hub: what has come through the rim counts as deeper still.
        const bool met = cast_local_ray(other, wheel.p, outwards, radius + reach, hit);
        if (met && hit.distance <= tyre.rim) {
            out.add(pose, wheel.p + hit.distance * outwards, outwards, hit.distance - radius, 0, slice);
            continue;
        }
        gaps[middle] = met ? hit.distance - radius : reach;
        for (std::size_t k = 0; k < tyre.rays.size(); ++k) {
            if (k == middle) continue;
            const Tyre::Ray& ray = tyre.rays[k];
            const Vec3 along = ray.aside * axis + ray.outwards * outwards;
            gaps[k] = cast_local_ray(other, start, along, ray.length + reach, hit) ? hit.distance - ray.length : reach;
        }
        const Peak peak = peak_of(tyre, gaps);
        if (peak.gap >= reach) continue;
        const double aside = std::sin(peak.angle), cosine = std::cos(peak.angle);
        const Vec3 along = aside * axis + cosine * outwards;
        out.add(pose, start + (tyre.section * cosine + peak.gap) * along, along, peak.gap, 0, slice);
    }
}

}  // namespace bellcrank
