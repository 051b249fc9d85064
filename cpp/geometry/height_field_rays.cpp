// Rays against terrain.
#include <cmath>

#include "geometry/height_field.hpp"

namespace bellcrank {

namespace {

int cell_at(double x, int count) { return static_cast<int>(std::clamp(x, 0.0, count - 1.0)); }

// A ray in units of the grid, o + t d with 0 ≤ t ≤ end.
struct GridRay {
    double ox, oy, oz, dx, dy, dz, start, end;
    double x(double t) const { return ox + t * dx; }
    double y(double t) const { return oy + t * dy; }

    // Of the range of t, what lies between two planes; false where nothing is left.
    bool clip(double from, double speed, double lo, double hi) {
        if (speed == 0.0) return from >= lo && from <= hi;
        const double a = (lo - from) / speed, b = (hi - from) / speed;
        start = std::max(start, std::min(a, b)), end = std::min(end, std::max(a, b));
        return start <= end;
    }
};

// The planes of both triangles of a cell, each within its half.
bool enter_cell(const HeightField& field, const GridRay& ray, int i, int j, const double* z, RayHit& hit) {
    const double x = ray.ox - i, y = ray.oy - j, slack = 1e-12;
    bool found = false;
    for (int half = 0; half < 2; ++half) {
        const double a = half ? z[field.columns + 1] - z[field.columns] : z[1] - z[0];
        const double b = half ? z[field.columns] - z[0] : z[field.columns + 1] - z[1];
        const double sinks = a * ray.dx + b * ray.dy - ray.dz, above = ray.oz - z[0] - a * x - b * y;
        if (!(sinks > 0.0 && above >= 0.0 && above < sinks * hit.distance)) continue;
        const double t = above / sinks, u = x + t * ray.dx, v = y + t * ray.dy;
        const bool inside = half ? u >= -slack && v <= 1.0 + slack && v >= u - slack
                                 : v >= -slack && u <= 1.0 + slack && v <= u + slack;
        if (!inside || !(t < hit.distance)) continue;
        hit = {t, {a, b, 0.0}, face_feature(field.facets[2 * (j * (field.columns - 1) + i) + half])};
        found = true;
    }
    if (found) hit.normal = field.slope_normal(hit.normal.x, hit.normal.y);
    return found;
}

}  // namespace

// Cell by cell along the ray (J. Amanatides, A. Woo, A fast voxel traversal algorithm for ray tracing, 1987).
bool HeightField::ray(const LocalRay& local, RayHit& hit) const {
    const double wide = columns - 1, deep = rows - 1;
    GridRay ray{(local.o.x - x0) * per_x,
                (local.o.y - y0) * per_y,
                local.o.z,
                local.d.x * per_x,
                local.d.y * per_y,
                local.d.z,
                0.0,
                hit.distance};
    const double end_x = ray.x(ray.end), end_y = ray.y(ray.end), end_z = ray.oz + ray.end * ray.dz;
    if (ray.oz > bounds.hi.z && end_z > bounds.hi.z) return false;
    // Short rays lie within the grid; what is infinite, or not a number, does not.
    const bool within = ray.ox >= 0.0 && ray.ox <= wide && ray.oy >= 0.0 && ray.oy <= deep && end_x >= 0.0 &&
                        end_x <= wide && end_y >= 0.0 && end_y <= deep;
    const double margin = 1e-9 * (bounds.hi.z - bounds.lo.z + dx + dy) + 1e-12 * std::abs(ray.oz);
    if (!within && !(ray.clip(ray.ox, ray.dx, 0.0, wide) && ray.clip(ray.oy, ray.dy, 0.0, deep) &&
                     ray.clip(ray.oz, ray.dz, bounds.lo.z - margin, bounds.hi.z + margin)))
        return false;
    int i = cell_at(ray.x(ray.start), columns - 1), j = cell_at(ray.y(ray.start), rows - 1);
    const int last_i = cell_at(ray.x(ray.end), columns - 1), last_j = cell_at(ray.y(ray.end), rows - 1);
    const int step_i = ray.dx > 0.0 ? 1 : -1, step_j = ray.dy > 0.0 ? 1 : -1;
    const bool crosses = i != last_i || j != last_j;
    const double per_dx = crosses ? 1.0 / ray.dx : 0.0, per_dy = crosses ? 1.0 / ray.dy : 0.0;
    for (double t = ray.start;;) {
        const bool last = i == last_i && j == last_j;
        double next_x = Bounds::kInfinity, next_y = Bounds::kInfinity;
        if (!last && ray.dx != 0.0) next_x = (i + (step_i > 0) - ray.ox) * per_dx;
        if (!last && ray.dy != 0.0) next_y = (j + (step_j > 0) - ray.oy) * per_dy;
        const double leave = std::min({next_x, next_y, ray.end});
        const double* z = heights.data() + j * columns + i;
        const double top = std::max(std::max(z[0], z[1]), std::max(z[columns], z[columns + 1]));
        if (ray.oz + ray.dz * (ray.dz < 0.0 ? leave : t) <= top && enter_cell(*this, ray, i, j, z, hit)) return true;
        if (!(leave < ray.end)) return false;
        t = leave;
        if (next_x <= next_y)
            i += step_i;
        else
            j += step_j;
        if (i < 0 || j < 0 || i >= columns - 1 || j >= rows - 1) return false;
    }
}

double HeightField::highest(const Bounds& b) const {
    if (b.hi.x < x0 || b.hi.y < y0 || b.lo.x > x0 + dx * (columns - 1) || b.lo.y > y0 + dy * (rows - 1))
        return -Bounds::kInfinity;
    const int i0 = cell_at((b.lo.x - x0) * per_x, columns - 1), i1 = cell_at((b.hi.x - x0) * per_x, columns - 1);
    const int j0 = cell_at((b.lo.y - y0) * per_y, rows - 1), j1 = cell_at((b.hi.y - y0) * per_y, rows - 1);
    constexpr int kMost = 64;  // to look at more costs more than it saves
    if ((i1 - i0 + 2) * (j1 - j0 + 2) > kMost) return bounds.hi.z;
    double top = -Bounds::kInfinity;
    for (int j = j0; j <= j1 + 1; ++j)
        for (int i = i0; i <= i1 + 1; ++i) top = std::max(top, heights[j * columns + i]);
    return top;
}

}  // namespace bellcrank
