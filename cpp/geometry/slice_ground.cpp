// Slices of tyres on terrain and meshes.
#include <cmath>

#include "geometry/height_field.hpp"
#include "geometry/mesh.hpp"
#include "geometry/slice_distance.hpp"

namespace bellcrank {

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

// From the cell below the middle on, as far as what was found is away.
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

// Of a closed mesh: no less than the depth of the middle where it is inside, else 0. Towards the hub, where it is least
// far out of what a wheel stands on; aside of that, as rays within a plane of symmetry meet edges.
double SliceDistance::depth_in(const Mesh& mesh, const SliceFrame& frame) const {
    if (!overlap(Bounds{frame.middle, frame.middle}, mesh.bounds)) return 0.0;
    const Vec3 along = unit(frame.direction({-1.0, 0.0213, 0.0137}), frame.axle);
    RayHit front{2.0 * norm(mesh.bounds.hi - mesh.bounds.lo), {0.0, 0.0, 0.0}, 0};
    mesh.ray({frame.middle, along, front.distance}, front);
    RayHit back{front.distance, {0.0, 0.0, 0.0}, 0};
    if (!mesh.ray({frame.middle + front.distance * along, -along, back.distance}, back)) return 0.0;
    return kBeyond * length(frame.seen_direction((front.distance - back.distance) * along));
}

// Of an open mesh: what is behind a face is inside if the way from the hub enters the mesh as well, and as deep as the
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
