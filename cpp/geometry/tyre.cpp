#include "geometry/tyre.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <stdexcept>
#include <string>

#include "geometry/height_field.hpp"
#include "geometry/hull.hpp"
#include "geometry/point_distance.hpp"
#include "geometry/rays.hpp"

namespace bellcrank {

namespace {

constexpr int kMostRays = 65;
constexpr double kFan = 0.3 * std::numbers::pi;  // rays on either side: by the inscribed angle, 108° of the section
constexpr double kSame = 1e-6;                   // of the section: points in one plane
constexpr double kSteepest = 0.3;                // the same, of ground that a section sinks into
constexpr double kLevel = 1e-3;                  // of a normal, in the plane of a slice: less has no direction there

bool is_near(const Bounds& bounds, const Vec3& p, double distance) {
    return p.x - distance <= bounds.hi.x && p.x + distance >= bounds.lo.x && p.y - distance <= bounds.hi.y &&
           p.y + distance >= bounds.lo.y && p.z - distance <= bounds.hi.z && p.z + distance >= bounds.lo.z;
}

// No ground within the bounds is above this; infinite where that is not found at once.
double highest(const Shape& shape, const Bounds& near) {
    if (shape.kind != ShapeKind::height_field) return Bounds::kInfinity;
    const double top = static_cast<const HeightField&>(shape).highest(near);
    return top > -Bounds::kInfinity ? top : Bounds::kInfinity;  // beside the terrain
}

// From the surface of a solid, negative inside, with the normal there; all in its axes. Not for meshes and height
// fields.
double distance_from(const Shape& shape, const Vec3& p, Vec3& normal) {
    if (shape.kind != ShapeKind::hull) {
        const PointDistance found = point_distance(shape, p);
        normal = found.normal;
        return found.distance;
    }
    double most = -Bounds::kInfinity;
    for (const Hull::Face& face : static_cast<const Hull&>(shape).faces)
        if (const double off = dot(face.normal, p) - face.offset; off > most) most = off, normal = face.normal;
    return most;
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
    tyre->step = 2.0 * std::numbers::pi / slices;
    for (int i = 0; i < slices; ++i) tyre->radials.push_back({std::cos(i * tyre->step), std::sin(i * tyre->step), 0.0});
    for (int i = 0; i < rays; ++i) {
        const double angle = kFan * (2.0 * i / (rays - 1) - 1.0);
        tyre->rays.push_back({std::cos(angle), std::sin(angle), width * std::cos(angle)});
    }
    tyre->rays[static_cast<std::size_t>(rays / 2)] = {1.0, 0.0, width};
    const Vec3 size{radius, radius, 0.5 * width};
    tyre->half = size;
    tyre->bounds = {-size, size};
    tyre->reach_out = radius;
    return tyre;
}

void TreadScan::begin(const Tyre& tyre, const Pose& wheel, double reach) {
    tyre_ = &tyre, wheel_ = wheel, reach_ = reach;
    axis_ = wheel.direction({0.0, 0.0, 1.0});
    slices_.resize(tyre.radials.size());
    hits_.resize(tyre.radials.size() * tyre.rays.size());
    for (Slice& slice : slices_) slice.is_near = false;
    near_.clear();
}

TreadScan::Flat TreadScan::in_slice(const Vec3& v, int i) const {
    return {dot(v, wheel_.direction(tyre_->radials[i])), dot(v, axis_)};
}

bool TreadScan::meet(const Shape& shape, const Pose& pose, int which) {
    pressed_ = false;
    const Pose wheel = seen_from(pose, wheel_);
    const double half = 0.5 * tyre_->section;
    for (int i = 0; i < static_cast<int>(slices_.size()); ++i) {
        const Vec3 middle = wheel.point((tyre_->rim + half) * tyre_->radials[i]);
        if (!is_near(shape.bounds, middle, half + reach_)) continue;
        const double top = highest(shape, Bounds{middle, middle}.grown(half + reach_));
        if (middle.z - half - reach_ > top) continue;
        if (!slices_[i].is_near) {
            slices_[i] = {true, reach_, {0.0, 0.0}, {0.0, 0.0}, -1};
            for (std::size_t k = 0; k < tyre_->rays.size(); ++k) hits_of(i)[k].distance = Bounds::kInfinity;
            near_.push_back(i);
        }
        meet_slice(shape, pose, wheel, top, which, i);
    }
    return pressed_;
}

// `wheel`: in the shape's axes; top: of the ground around the slice.
void TreadScan::meet_slice(const Shape& shape, const Pose& pose, const Pose& wheel, double top, int which, int i) {
    const Vec3 outwards = wheel.direction(tyre_->radials[i]), start = wheel.p + tyre_->rim * outwards;
    const Vec3 axis = wheel.direction({0.0, 0.0, 1.0});
    if (!is_surface(shape.kind) && surrounds(shape, pose, wheel, which, i)) return;
    RayHit hit;
    bool met = false;
    for (std::size_t k = 0; k < tyre_->rays.size(); ++k) {
        const Tyre::Ray& ray = tyre_->rays[k];
        Hit& first = hits_of(i)[k];
        const Vec3 direction = ray.outwards * outwards + ray.aside * axis;
        const double length = ray.length + reach_;
        if (std::min(start.z, start.z + length * direction.z) > top) continue;
        if (!cast_local_ray(shape, start, direction, length, hit)) continue;
        pressed_ = pressed_ || hit.distance < ray.length;
        if (hit.distance < first.distance) first = {hit.distance, pose.direction(hit.normal), which};
        met = true;
    }
    if (is_surface(shape.kind) && !met) surrounds(shape, pose, wheel, which, i);
}

// Where the point of the rim is within a solid, the section is pressed flat, and its middle tells how deep it is.
bool TreadScan::surrounds(const Shape& shape, const Pose& pose, const Pose& wheel, int which, int i) {
    const Vec3 outwards = wheel.direction(tyre_->radials[i]), start = wheel.p + tyre_->rim * outwards;
    const Vec3 middle = start + 0.5 * tyre_->section * outwards;
    Vec3 normal;
    if (!is_surface(shape.kind)) {
        if (!(distance_from(shape, start, normal) < 0.0)) return false;
        const double distance = distance_from(shape, middle, normal);
        sink(slices_[i], pose.direction(normal), distance, which, i);
        return true;
    }
    // A surface between hub and rim that is not left again.
    RayHit into, out_of;
    if (!cast_local_ray(shape, wheel.p, outwards, tyre_->rim, into)) return false;
    if (cast_local_ray(shape, start, -outwards, 0.999 * (tyre_->rim - into.distance), out_of)) return false;
    const Vec3 entry = wheel.p + into.distance * outwards;
    if (!(dot(into.normal, start - entry) < 0.0)) return false;
    sink(slices_[i], pose.direction(into.normal), dot(into.normal, middle - entry), which, i);
    return true;
}

void TreadScan::sink(Slice& slice, const Vec3& normal, double distance, int which, int i) {
    const double half = 0.5 * tyre_->section;
    Flat n = in_slice(normal, i);
    const double size = std::hypot(n.x, n.y);
    n = size > kLevel ? Flat{n.x / size, n.y / size} : Flat{-1.0, 0.0};
    distance /= std::max(size, kSteepest);  // in the plane of the slice
    const double gap = distance - half;
    if (!(gap < slice.gap)) return;
    pressed_ = true;
    slice.gap = gap, slice.normal = n, slice.shape = which;
    slice.place = {half - distance * n.x, -distance * n.y};
}

// In the order of slices; the gap of one that is not near is the reach.
void TreadScan::find_slices() {
    std::sort(near_.begin(), near_.end());
    for (const int i : near_)
        if (slices_[i].shape < 0) find_deepest(slices_[i], i);
}

// Where a ray meets the ground, from the middle of the section.
TreadScan::Flat TreadScan::met_by(const Hit* hits, int ray) const {
    const Tyre::Ray& r = tyre_->rays[ray];
    return {hits[ray].distance * r.outwards - 0.5 * tyre_->section, hits[ray].distance * r.aside};
}

// How far the plane that a ray meets goes on towards another one: as far as that, if it meets the same plane, else half
// the way.
double TreadScan::room(const Hit* hits, int ray, int other, const Flat& normal) const {
    if (other < 0 || other >= static_cast<int>(tyre_->rays.size())) return tyre_->section;
    const Tyre::Ray &one = tyre_->rays[ray], &two = tyre_->rays[other];
    const double height = hits[ray].distance * (normal.x * one.outwards + normal.y * one.aside);
    const double along = height / (normal.x * two.outwards + normal.y * two.aside);
    if (!(along > 0.0 && along < 10.0 * tyre_->section)) return tyre_->section;
    const double way = std::hypot(along * two.outwards - hits[ray].distance * one.outwards,
                                  along * two.aside - hits[ray].distance * one.aside);
    return std::abs(hits[other].distance - along) < kSame * tyre_->section ? way : 0.5 * way;
}

// The point of the ground that is nearest to the middle of the section: that of the nearest ray, moved along the plane
// that it meets. On a plane it is exact, whatever the rays; an edge is where the rays say, to half their distance.
void TreadScan::find_deepest(Slice& slice, int i) {
    const double half = 0.5 * tyre_->section;
    const Hit* hits = hits_of(i);
    int best = -1;
    double least = Bounds::kInfinity;
    for (int k = 0; k < static_cast<int>(tyre_->rays.size()); ++k) {
        if (hits[k].distance == Bounds::kInfinity) continue;
        const Flat met = met_by(hits, k);
        if (const double square = met.x * met.x + met.y * met.y; square < least) least = square, best = k;
    }
    if (best < 0) return;
    const Tyre::Ray& ray = tyre_->rays[best];
    const Flat met = met_by(hits, best);
    Flat n = in_slice(hits[best].normal, i);
    const double size = std::hypot(n.x, n.y);
    n = size > kLevel ? Flat{n.x / size, n.y / size} : Flat{-ray.outwards, -ray.aside};
    const double turn = n.x * ray.outwards + n.y * ray.aside > 0.0 ? 1.0 : -1.0;
    const Flat along{-turn * n.y, turn * n.x};  // towards rays of larger angles
    const double wanted = -(met.x * along.x + met.y * along.y);
    const double moved = std::clamp(wanted, -room(hits, best, best - 1, n), room(hits, best, best + 1, n));
    const Flat off{-met.x - moved * along.x, -met.y - moved * along.y};
    const double height = off.x * n.x + off.y * n.y, away = std::hypot(off.x, off.y);
    const bool at_edge = moved != wanted && height > 0.0;
    slice.place = {half - off.x, -off.y};
    slice.gap = (at_edge ? away : height) - half;
    slice.normal = at_edge ? Flat{off.x / away, off.y / away} : n;
    slice.shape = hits[best].shape;
}

double TreadScan::depth_beside(int i) const {
    const int count = static_cast<int>(slices_.size());
    const Slice& slice = slices_[(i + count) % count];
    return slice.is_near ? -std::min(slice.gap, reach_) : -reach_;
}

// With the depth δ of all slices, of which the energy of the tyre is a function, the force of one is the gradient for a
// displacement of the hub: within its plane along the normal, and across it by how δ changes from slice to slice. The
// sum of the latter moments about the axle vanishes for forces in proportion to the depth, wherever rays are.
ContactPoint TreadScan::point_of(int i) const {
    const Slice& slice = slices_[i];
    const Vec3 outwards = wheel_.direction(tyre_->radials[i]), around = cross(axis_, outwards);
    const double radius = tyre_->rim + slice.place.x;
    const double slope = (depth_beside(i + 1) - depth_beside(i - 1)) / (2.0 * tyre_->step * radius);
    return {wheel_.p + radius * outwards + slice.place.y * axis_, slice.normal.x * outwards + slice.normal.y * axis_,
            slice.gap, feature_pair(0, vertex_feature(static_cast<std::uint32_t>(i))), -slope * around};
}

void tyre_on(const Shape& other, const Pose& pose, const Shape& tyre, const Pose& wheel, double reach,
             ContactManifold& out) {
    if (!out.tread) out.tread = std::make_shared<TreadScan>();
    out.tread->begin(static_cast<const Tyre&>(tyre), wheel, reach);
    out.tread->meet(other, pose, 0);
    out.tread->finish([&](int, int, ContactPoint point) {
        point.normal = -point.normal, point.tilt = -point.tilt;  // from the tyre, the second shape, to the first one
        out.points.push_back(point);
    });
}

}  // namespace bellcrank
