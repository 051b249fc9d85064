#include "geometry/tyre.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <stdexcept>
#include <string>

#include "geometry/height_field.hpp"

namespace bellcrank {

namespace {

// Terrain has no bottom: what is below it is near.
bool is_near(const Shape& shape, const Vec3& p, double distance) {
    const Bounds& b = shape.bounds;
    return p.x - distance <= b.hi.x && p.x + distance >= b.lo.x && p.y - distance <= b.hi.y &&
           p.y + distance >= b.lo.y && p.z - distance <= b.hi.z &&
           (p.z + distance >= b.lo.z || shape.kind == ShapeKind::height_field);
}

// No ground within the bounds is above this; infinite where that is not found at once.
double highest(const Shape& shape, const Bounds& near) {
    if (shape.kind != ShapeKind::height_field) return Bounds::kInfinity;
    const double top = static_cast<const HeightField&>(shape).highest(near);
    return top > -Bounds::kInfinity ? top : Bounds::kInfinity;  // beside the terrain
}

}  // namespace

SharedShape make_tyre(double radius, double width, double height, int slices, double rim) {
    if (!(width > 0.0 && width < radius && std::isfinite(radius)))
        throw std::invalid_argument("tyre: its width must be positive and less than its radius, got " +
                                    std::to_string(width) + " and " + std::to_string(radius) + "; give them in m");
    if (slices < 8) throw std::invalid_argument("tyre: at least 8 slices are needed, got " + std::to_string(slices));
    if (!(height > 0.0 && height <= width))
        throw std::invalid_argument("tyre: its height must be positive and at most its width, got " +
                                    std::to_string(height) + " and " + std::to_string(width) + "; give them in m");
    if (!(rim >= 0.0 && rim <= height))
        throw std::invalid_argument("tyre: the rim must be within the height, got " + std::to_string(rim));
    auto tyre = std::make_shared<Tyre>();
    tyre->tread = {radius - 0.5 * width, 0.5 * width};
    const double round = std::min(height - rim, 0.5 * width);
    tyre->rim = {radius - rim - round, round};
    tyre->step = 2.0 * std::numbers::pi / slices;
    for (int i = 0; i < slices; ++i) tyre->radials.push_back({std::cos(i * tyre->step), std::sin(i * tyre->step), 0.0});
    const Vec3 size{radius, radius, 0.5 * width};
    tyre->half = size;
    tyre->bounds = {-size, size};
    tyre->reach_out = radius;
    return tyre;
}

void TreadScan::begin(const Tyre& tyre, const Pose& wheel, double reach) {
    tyre_ = &tyre, wheel_ = wheel, reach_ = reach;
    slices_.resize(2 * tyre.radials.size());
    is_near_.assign(tyre.radials.size(), 0);
    near_.clear();
    lost_ = false;
}

void TreadScan::mark_near(int i) {
    if (is_near_[i]) return;
    is_near_[i] = 1;
    near_.push_back(i);
    for (int ring = 0; ring < 2; ++ring) slice(ring, i) = {reach_, {0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}, -1};
}

SliceFrame TreadScan::frame_of(const Pose& wheel, int ring, int i) const {
    const Vec3 outwards = wheel.direction(tyre_->radials[i]), axle = wheel.direction({0.0, 0.0, 1.0});
    const double radius = ring_of(ring).radius;
    return {wheel.p + radius * outwards, outwards, axle, cross(outwards, axle), radius, ring_of(ring).section};
}

bool TreadScan::meet(const Shape& shape, const Pose& pose, int which) {
    const Pose wheel = seen_from(pose, wheel_);
    const Tyre::Ring &tread = tyre_->tread, &rim = tyre_->rim;
    const double far = std::max(tread.section, tread.radius - rim.radius + rim.section) + reach_;
    bool pressed = false;
    for (int i = 0; i < slices(); ++i) {
        const Vec3 middle = wheel.p + tread.radius * wheel.direction(tyre_->radials[i]);
        if (!is_near(shape, middle, far)) continue;
        const double top = highest(shape, Bounds{middle, middle}.grown(far));
        if (middle.z - far > top) continue;
        mark_near(i);
        for (int ring = 0; ring < 2; ++ring) {
            const SliceFrame frame = frame_of(wheel, ring, i);
            if (frame.middle.z - ring_of(ring).section - reach_ > top) continue;
            pressed = press(shape, frame, which, ring, i) || pressed;
        }
    }
    return pressed;
}

bool TreadScan::press(const Shape& shape, const SliceFrame& frame, int which, int ring, int i) {
    const double round = ring_of(ring).section;
    Slice& known = slice(ring, i);
    SliceHit hit;
    if (!distance_.find(shape, frame, std::max(known.gap, 0.0) + round, hit)) return false;
    const double gap = hit.distance - round;
    lost_ = lost_ || hit.lost;
    if (gap < known.gap) known = {gap, hit.point, hit.gradient, which};
    return gap < 0.0;
}

// Force acts along the gradient of the distance. Friction acts across a unit vector whose product with the gradient is
// one: that in the plane of the slice, unless the gradient's part there is shorter than a unit.
ContactPoint TreadScan::point_of(int ring, int i) {
    const Slice& at = slice(ring, i);
    const SliceFrame frame = frame_of(wheel_, ring, i);
    const Vec3& g = at.gradient;
    const double across = std::hypot(g.x, g.y), size = std::max(norm(g), 1.0);
    const double angle = std::max(0.0, std::atan2(std::abs(g.z), across) - std::acos(1.0 / size));
    const double part = across > 0.0 ? std::cos(angle) / across : 0.0;
    Vec3 n{part * g.x, part * g.y, std::copysign(std::sin(angle), g.z)};
    n = unit(n, {-1.0, 0.0, 0.0});
    const auto number = static_cast<std::uint32_t>(i);
    return {frame.middle + frame.direction(at.point), frame.direction(n), at.gap,
            feature_pair(0, ring == 0 ? vertex_feature(number) : edge_feature(number)), frame.direction(g - n)};
}

void tyre_on(const Shape& other, const Pose& pose, const Shape& tyre, const Pose& wheel, double reach,
             ContactManifold& out) {
    if (!out.tread) out.tread = std::make_shared<TreadScan>();
    out.tread->begin(static_cast<const Tyre&>(tyre), wheel, reach);
    out.tread->meet(other, pose, 0);
    if (out.tread->lost()) out.uncertainty = Bounds::kInfinity;
    out.tread->finish([&](int, ContactPoint point) {
        point.normal = -point.normal, point.tilt = -point.tilt;  // from the tyre, the second shape, to the first one
        out.points.push_back(point);
    });
}

}  // namespace bellcrank
