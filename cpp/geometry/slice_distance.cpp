// Slices of tyres on terrain and meshes.
#include "geometry/slice_distance.hpp"

#include <cmath>

#include "geometry/height_field.hpp"
#include "geometry/hull.hpp"
#include "geometry/mesh.hpp"
#include "geometry/point_distance.hpp"

namespace bellcrank {

namespace {

constexpr double kSteep = SliceDistance::kSlope;
constexpr double kOnPlane = 1e-12;  // of a distance around the wheel, by that within the slice

double length_across(const Vec3& v) { return std::sqrt(v.x * v.x + v.y * v.y); }

// What the distance of a plane with this normal grows by where the middle moves along it: the dual of the norm.
double dual(const Vec3& n) { return std::max(length_across(n), std::abs(n.z) / kSteep); }

// Where the double cone meets a plane first, n · p = offset.
Vec3 met(const Vec3& n, double offset) {
    const double square = n.x * n.x + n.y * n.y;
    if (kSteep * std::sqrt(square) < std::abs(n.z)) return {0.0, 0.0, offset / n.z};
    return {offset * n.x / square, offset * n.y / square, 0.0};
}

// The s in [from, to] where √(|a + s u|²) + slope s is least; across the wheel alone.
double least_along(const Vec3& a, const Vec3& u, double slope, double from, double to) {
    const double A = u.x * u.x + u.y * u.y, B = a.x * u.x + a.y * u.y;
    if (!(slope * slope < A)) return slope > 0.0 ? from : to;
    const double aside = std::abs(a.x * u.y - a.y * u.x) / A;  // from the line, in parts of |u|
    return std::clamp(-B / A - slope * aside / std::sqrt(A - slope * slope), from, to);
}

}  // namespace

void SliceDistance::plane(const Vec3& n, double offset) {
    const double by = dual(n), distance = -offset / by;
    if (distance < best_.distance) best_ = {distance, met(n, offset), (1.0 / by) * n};
}

// Within a convex solid: a face that is nearer than those before, as the solid's greatest depth is less.
void SliceDistance::within_faces(double height, const Vec3& n) {
    const double by = dual(n), distance = height / by;
    if (distance > best_.distance) best_ = {distance, met(n, -height), (1.0 / by) * n};
}

void SliceDistance::take_edge(const Vec3& p, const Vec3& along, bool inner, double distance) {
    const double across = length_across(p);
    Vec3 gradient{0.0, 0.0, 0.0};
    if (across > 0.0) gradient = {-p.x / across, -p.y / across, 0.0};
    if (std::abs(p.z) > kOnPlane * across)
        gradient.z = p.z > 0.0 ? -kSteep : kSteep;
    else if (inner && along.z != 0.0)  // nothing changes along the edge
        gradient.z = std::clamp(-(gradient.x * along.x + gradient.y * along.y) / along.z, -kSteep, kSteep);
    best_ = {distance, p, gradient};
}

// Which end is nearest, 2: a point between; -1: none is nearer than what was found.
int SliceDistance::edge(const Vec3& a, const Vec3& b) {
    const Vec3 u = b - a;
    const double rises = kSteep * std::abs(u.z), cut = u.z != 0.0 ? -a.z / u.z : -1.0;
    double s;
    if (cut > 0.0 && cut < 1.0) {
        const double x = a.x + cut * u.x, y = a.y + cut * u.y, across = std::sqrt(x * x + y * y);
        const double rate = across > 0.0 ? (x * u.x + y * u.y) / across : 0.0;
        s = std::abs(rate) <= rises ? cut
            : rate > 0.0            ? least_along(a, u, -rises, 0.0, cut)
                                    : least_along(a, u, rises, cut, 1.0);
    } else {
        s = least_along(a, u, (a.z + 0.5 * u.z > 0.0) == (u.z > 0.0) ? rises : -rises, 0.0, 1.0);
    }
    Vec3 p = a + s * u;
    if (s == cut) p.z = 0.0;
    const double distance = length(p);
    if (!(distance < best_.distance)) return -1;
    const bool inner = s > 0.0 && s < 1.0;
    take_edge(p, u, inner, distance);
    return inner ? 2 : s > 0.0;
}

bool SliceDistance::triangle(const std::array<Vec3, 3>& v, const Vec3& n) {
    const double offset = dot(n, v[0]), by = dual(n), distance = std::abs(offset) / by;
    if (!(distance < best_.distance)) return false;
    const Vec3 p = met(n, offset);
    bool inside = true;
    for (int e = 0; e < 3 && inside; ++e) {
        const Vec3 &from = v[e], &to = v[e == 2 ? 0 : e + 1];
        inside = dot(cross(to - from, p - from), n) >= 0.0;
    }
    if (inside) {
        best_ = {distance, p, ((offset > 0.0 ? -1.0 : 1.0) / by) * n};
        feature_ = -1;
        return true;
    }
    bool found = false;
    for (int e = 0; e < 3; ++e) {
        const int next = e == 2 ? 0 : e + 1;
        const int end = edge(v[e], v[next]);
        if (end < 0) continue;
        feature_ = end == 0 ? 3 + e : end == 1 ? 3 + next : e;
        found = true;
    }
    return found;
}

void SliceDistance::turn_inside_out() {
    best_.distance = -best_.distance;
    best_.gradient = -best_.gradient;
}

void SliceDistance::box(const Vec3& half, const SliceFrame& frame) {
    const Vec3& c = frame.middle;
    const bool inside = std::abs(c.x) <= half.x && std::abs(c.y) <= half.y && std::abs(c.z) <= half.z;
    if (inside) best_.distance = -Bounds::kInfinity;
    for (int f = 0; f < 6; ++f) {
        const int axis = f / 2, one = (axis + 1) % 3, two = (axis + 2) % 3;
        Vec3 n{0.0, 0.0, 0.0}, at = n, u = n, v = n;
        component(n, axis) = f % 2 ? 1.0 : -1.0;
        component(at, axis) = component(n, axis) * component(half, axis);
        const double height = dot(n, c - at);
        const Vec3 normal = frame.seen_direction(n);
        if (inside) within_faces(height, normal);
        if (inside || height <= 0.0) continue;
        component(u, one) = component(half, one), component(v, two) = component(half, two);
        if (f % 2 == 0) std::swap(u, v);
        const Vec3 corner[4] = {frame.seen(at - u - v), frame.seen(at + u - v), frame.seen(at + u + v),
                                frame.seen(at - u + v)};
        triangle({corner[0], corner[1], corner[2]}, normal);
        triangle({corner[0], corner[2], corner[3]}, normal);
    }
}

void SliceDistance::hull(const Shape& shape, const SliceFrame& frame) {
    const Hull& hull = static_cast<const Hull&>(shape);
    bool inside = true;
    for (const Hull::Face& face : hull.faces) inside = inside && dot(face.normal, frame.middle) <= face.offset;
    if (inside) best_.distance = -Bounds::kInfinity;
    for (const Hull::Face& face : hull.faces) {
        const double height = dot(face.normal, frame.middle) - face.offset;
        const Vec3 normal = frame.seen_direction(face.normal);
        if (inside) within_faces(height, normal);
        if (inside || height <= 0.0) continue;
        const auto corner = [&](int i) { return frame.seen(hull.vertices[hull.corners[face.first + i]]); };
        for (int i = 2; i < face.count; ++i) triangle({corner(0), corner(i - 1), corner(i)}, normal);
    }
}

// A curved solid sees balls instead of double cones: their distance is that of the middle.
void SliceDistance::solid(const Shape& shape, const SliceFrame& frame) {
    const PointDistance found = point_distance(shape, frame.middle);
    if (!(found.distance < best_.distance)) return;
    const Vec3 normal = frame.seen_direction(found.normal);
    best_ = {found.distance, -found.distance * normal, normal};
}

bool SliceDistance::find(const Shape& shape, const SliceFrame& frame, double limit, SliceHit& hit) {
    best_.distance = limit, best_.lost = false;
    switch (shape.kind) {
        case ShapeKind::plane:
            plane(frame.seen_direction({0.0, 0.0, 1.0}), -frame.middle.z);
            break;
        case ShapeKind::box:
            box(shape.half, frame);
            break;
        case ShapeKind::hull:
            hull(shape, frame);
            break;
        case ShapeKind::height_field:
            if (!field(static_cast<const HeightField&>(shape), frame)) return false;
            break;
        case ShapeKind::mesh:
            if (!mesh(static_cast<const Mesh&>(shape), frame)) return false;
            break;
        default:
            solid(shape, frame);
    }
    if (!(best_.distance < limit) && !best_.lost) return false;
    hit = best_;
    return true;
}

namespace {

constexpr double kWithin = 0.05;      // of the way from a triangle's nearest place to its middle
constexpr double kBeyond = 1.000001;  // of a distance: what is there counts as nearer

double beside(double x, double lo, double hi) { return std::max({lo - x, x - hi, 0.0}); }

// A cell of the grid; the nearest one for a place beside it.
int nearest_cell(double x, int count) { return static_cast<int>(std::clamp(x, 0.0, count - 2.0)); }

}  // namespace

// Both triangles, unless all of the cell is farther away than what was found. The norm is never less than a length.
void SliceDistance::cell(const HeightField& f, const SliceFrame& frame, int i, int j) {
    const Vec3& c = frame.middle;
    const double* z = f.heights.data() + j * f.columns + i;
    const double low = std::min({z[0], z[1], z[f.columns], z[f.columns + 1]});
    const double high = std::max({z[0], z[1], z[f.columns], z[f.columns + 1]});
    const double dx = beside(c.x, f.x0 + f.dx * i, f.x0 + f.dx * (i + 1));
    const double dy = beside(c.y, f.y0 + f.dy * j, f.y0 + f.dy * (j + 1)), dz = beside(c.z, low, high);
    if (!(dx * dx + dy * dy + dz * dz < best_.distance * best_.distance)) return;
    const double x0 = f.x0 + f.dx * i, x1 = f.x0 + f.dx * (i + 1), y0 = f.y0 + f.dy * j, y1 = f.y0 + f.dy * (j + 1);
    const double z00 = z[0], z10 = z[1], z01 = z[f.columns], z11 = z[f.columns + 1];
    const Vec3 one = frame.seen({x0, y0, z00}), far = frame.seen({x1, y1, z11});
    triangle({one, frame.seen({x1, y0, z10}), far}, frame.seen_direction(f.slope_normal(z10 - z00, z11 - z10)));
    triangle({one, far, frame.seen({x0, y1, z01})}, frame.seen_direction(f.slope_normal(z11 - z01, z01 - z00)));
}

// The terrain is a solid without a bottom: it ends at walls.
void SliceDistance::walls(const HeightField& f, const SliceFrame& frame, int i, int j) {
    const int at = j * f.columns + i;
    const auto wall = [&](int from, int to, const Vec3& normal) {
        const Vec3 a = f.vertex(from), b = f.vertex(to);
        const double down = std::max(a.z, b.z) - std::min({a.z, b.z, frame.middle.z - best_.distance});
        const Vec3 below{0.0, 0.0, down}, n = frame.seen_direction(normal);
        const Vec3 one = frame.seen(a), two = frame.seen(b), under = frame.seen(b - below);
        triangle({one, two, under}, n);
        triangle({one, under, frame.seen(a - below)}, n);
    };
    if (j == 0) wall(at + 1, at, {0.0, -1.0, 0.0});
    if (j == f.rows - 2) wall(at + f.columns, at + f.columns + 1, {0.0, 1.0, 0.0});
    if (i == 0) wall(at, at + f.columns, {-1.0, 0.0, 0.0});
    if (i == f.columns - 2) wall(at + f.columns + 1, at + 1, {1.0, 0.0, 0.0});
}

// Those that are as many cells away as that, along one axis or both.
void SliceDistance::cells_around(const HeightField& f, const SliceFrame& frame, int i, int j, int ring) {
    const int i0 = std::max(i - ring, 0), i1 = std::min(i + ring, f.columns - 2);
    for (int b = std::max(j - ring, 0); b <= std::min(j + ring, f.rows - 2); ++b) {
        const int stride = std::abs(b - j) == ring ? 1 : 2 * ring;
        for (int a = stride == 1 ? i0 : i - ring; a <= i1; a += stride) {
            if (a < 0) continue;
            cell(f, frame, a, b);
            if (a == 0 || b == 0 || a == f.columns - 2 || b == f.rows - 2) walls(f, frame, a, b);
        }
    }
}

// Looks at cells from the one below the middle on, as far as what was found is away.
bool SliceDistance::field(const HeightField& f, const SliceFrame& frame) {
    const Vec3& c = frame.middle;
    const double limit = best_.distance, x = (c.x - f.x0) * f.per_x, y = (c.y - f.y0) * f.per_y;
    const bool above = x >= 0.0 && y >= 0.0 && x <= f.columns - 1 && y <= f.rows - 1;
    const int i = nearest_cell(x, f.columns), j = nearest_cell(y, f.rows);
    const bool inside = above && c.z < f.height_at(c, i, j);
    if (inside) {  // by no more than what is above
        const Vec3 up = frame.seen_direction({0.0, 0.0, 1.0});
        best_.distance = 1e-12 + kBeyond * (f.height_at(c, i, j) - c.z) * length(up);
    }
    const double least = std::min(f.dx, f.dy);
    const int most = std::max(std::max(i, f.columns - 2 - i), std::max(j, f.rows - 2 - j));
    // All that is left is below the highest place around, and as far aside as the rings are.
    const double above_all = inside ? 0.0 : std::max(0.0, c.z - f.highest(Bounds{c, c}.grown(best_.distance)));
    for (int ring = 0; ring <= most; ++ring) {
        const double aside = std::max(ring - 1, 0) * least;
        if (ring > 0 && !(aside * aside + above_all * above_all < best_.distance * best_.distance)) break;
        cells_around(f, frame, i, j, ring);
    }
    if (inside) turn_inside_out();
    return inside || best_.distance < limit;
}

// Between an edge's triangles, or around a vertex, the middle is on one side of what it sees first: of the surface, or
// of faces of this vertex, on the way to a place within the triangle. Rays meet faces from outside only.
bool SliceDistance::sees_a_back(const Mesh& mesh, const SurfaceTriangle& t, const SliceFrame& frame) const {
    const Vec3 nearest = frame.middle + frame.direction(best_.point);
    const Vec3 way = nearest + kWithin * ((1.0 / 3.0) * (t.p[0] + t.p[1] + t.p[2]) - nearest) - frame.middle;
    const double length = norm(way);
    if (!(length > 0.0)) return false;
    const Vec3 along = (1.0 / length) * way;
    RayHit front{kBeyond * length, {0.0, 0.0, 0.0}, 0};
    if (!mesh.ray({frame.middle, along, front.distance}, front)) return true;
    RayHit back{front.distance, {0.0, 0.0, 0.0}, 0};
    return mesh.ray({frame.middle + front.distance * along, -along, back.distance}, back);
}

bool SliceDistance::is_behind(const Mesh& mesh, const SurfaceTriangle& t, const SliceFrame& frame) const {
    if (feature_ >= 3) return sees_a_back(mesh, t, frame);
    if (feature_ >= 0 && t.kind[feature_] == EdgeKind::concave) return true;
    if (feature_ >= 0 && t.kind[feature_] == EdgeKind::convex) return false;
    return dot(frame.seen_direction(t.normal), best_.point) > 0.0;
}

bool SliceDistance::is_at_end(const Mesh& mesh, const SurfaceTriangle& t) const {
    if (feature_ >= 3) return mesh.open[t.vertex[feature_ - 3]];
    return feature_ >= 0 && t.kind[feature_] == EdgeKind::open;
}

// The depth in a closed mesh is no less than that of the middle where it is inside, else 0. Towards the hub, where it
// is least far out of what a wheel stands on; aside of that, as rays within a plane of symmetry meet edges.
double SliceDistance::depth_in(const Mesh& mesh, const SliceFrame& frame) const {
    if (!overlap(Bounds{frame.middle, frame.middle}, mesh.bounds)) return 0.0;
    const Vec3 along = unit(frame.direction({-1.0, 0.0213, 0.0137}), frame.axle);
    RayHit front{2.0 * norm(mesh.bounds.hi - mesh.bounds.lo), {0.0, 0.0, 0.0}, 0};
    mesh.ray({frame.middle, along, front.distance}, front);
    RayHit back{front.distance, {0.0, 0.0, 0.0}, 0};
    if (!mesh.ray({frame.middle + front.distance * along, -along, back.distance}, back)) return 0.0;
    return kBeyond * length(frame.seen_direction((front.distance - back.distance) * along));
}

// An open mesh holds what is behind a face if the way from the hub enters the mesh as well, and as deep as the
// section at most. Otherwise depths would jump where this way comes past the end of the mesh: they are lost.
bool SliceDistance::mesh(const Mesh& mesh, const SliceFrame& frame) {
    const double limit = best_.distance;
    RayHit entry{frame.radius, {0.0, 0.0, 0.0}, 0};
    const bool entered =
        !mesh.closed && mesh.ray({frame.middle - frame.radius * frame.outwards, frame.outwards, frame.radius}, entry);
    const double depth = mesh.closed ? depth_in(mesh, frame) : kBeyond * (frame.radius - entry.distance);
    best_.distance = std::max(limit, depth);
    mesh.near(Bounds{frame.middle, frame.middle}.grown(best_.distance), scratch_, scratch_.found);
    SurfaceTriangle t;
    int nearest = -1, feature = -1;
    for (const int i : scratch_.found) {
        mesh.triangle(i, t);
        if (!triangle({frame.seen(t.p[0]), frame.seen(t.p[1]), frame.seen(t.p[2])}, frame.seen_direction(t.normal)))
            continue;
        nearest = i, feature = feature_;
    }
    if (nearest < 0) return false;
    mesh.triangle(nearest, t), feature_ = feature;
    const bool behind = is_behind(mesh, t, frame), at_end = is_at_end(mesh, t);
    const bool inside = behind && (mesh.closed || entered);
    best_.lost = !mesh.closed && behind && (at_end ? entered : entered == (best_.distance >= frame.section));
    if (inside) turn_inside_out();
    return best_.lost || best_.distance < limit;
}

}  // namespace bellcrank
