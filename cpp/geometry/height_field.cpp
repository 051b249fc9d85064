// Rays against terrain.
#include "geometry/height_field.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <string>

#include "geometry/surface.hpp"

namespace bellcrank {

void HeightField::vertices_of(int triangle, int out[3]) const {
    const int cell = triangle / 2, i = cell % (columns - 1), j = cell / (columns - 1), v = j * columns + i;
    out[0] = v;
    out[1] = triangle % 2 ? v + columns + 1 : v + 1;
    out[2] = triangle % 2 ? v + columns : v + columns + 1;
}

int HeightField::across(int triangle, int edge) const {
    const int wide = columns - 1, cell = triangle / 2, i = cell % wide, j = cell / wide;
    if (triangle % 2 == 0) {
        if (edge == 0) return j > 0 ? 2 * (cell - wide) + 1 : -1;
        if (edge == 1) return i + 1 < wide ? 2 * (cell + 1) + 1 : -1;
        return triangle + 1;
    }
    if (edge == 0) return triangle - 1;
    if (edge == 1) return j + 2 < rows ? 2 * (cell + wide) : -1;
    return i > 0 ? 2 * (cell - 1) : -1;
}

// (−∂z/∂x, −∂z/∂y, 1): along both sides of a triangle the height changes by one difference.
Vec3 HeightField::normal_of(int triangle) const {
    int v[3];
    vertices_of(triangle, v);
    const double* z = heights.data();
    const double along_x = triangle % 2 ? z[v[1]] - z[v[2]] : z[v[1]] - z[v[0]];
    const double along_y = triangle % 2 ? z[v[2]] - z[v[0]] : z[v[2]] - z[v[1]];
    return slope_normal(along_x, along_y);
}

void HeightField::triangle(int i, SurfaceTriangle& out) const {
    vertices_of(i, out.vertex);
    for (int k = 0; k < 3; ++k) out.p[k] = vertex(out.vertex[k]);
    out.normal = normal_of(i);
    out.facet = facets[i];
    const int lower = i % 2 == 0;
    // Three edges start at each vertex: along x, along y and across the cell.
    const int v = out.vertex[0];
    if (lower)
        out.edge[0] = 3 * v, out.edge[1] = 3 * (v + 1) + 1, out.edge[2] = 3 * v + 2;
    else
        out.edge[0] = 3 * v + 2, out.edge[1] = 3 * (v + columns), out.edge[2] = 3 * v + 1;
    for (int e = 0; e < 3; ++e) {
        out.corner[e] = corners[out.vertex[e]];
        const int other = across(i, e);
        out.beyond[e] = other < 0 ? out.normal : normal_of(other);
        if (other < 0)
            out.kind[e] = EdgeKind::open;
        else if (facets[other] == out.facet)
            out.kind[e] = EdgeKind::flat;
        else
            out.kind[e] = dot(cross(out.normal, out.beyond[e]), out.p[e == 2 ? 0 : e + 1] - out.p[e]) < 0.0
                              ? EdgeKind::concave
                              : EdgeKind::convex;
    }
}

double HeightField::height_at(const Vec3& place, int i, int j) const {
    const double x = (place.x - x0) * per_x - i, y = (place.y - y0) * per_y - j;
    const double* z = heights.data() + j * columns + i;
    return x >= y ? z[0] + x * (z[1] - z[0]) + y * (z[columns + 1] - z[1])
                  : z[0] + y * (z[columns] - z[0]) + x * (z[columns + 1] - z[columns]);
}

void HeightField::near(const Bounds& b, ContactManifold&, std::vector<int>& found) const {
    found.clear();
    auto cell = [](double x, int count) { return static_cast<int>(std::clamp(std::floor(x), 0.0, count - 1.0)); };
    if (b.hi.x < x0 || b.hi.y < y0 || b.lo.x > x0 + dx * (columns - 1) || b.lo.y > y0 + dy * (rows - 1)) return;
    const int i0 = cell((b.lo.x - x0) / dx, columns - 1), i1 = cell((b.hi.x - x0) / dx, columns - 1);
    const int j0 = cell((b.lo.y - y0) / dy, rows - 1), j1 = cell((b.hi.y - y0) / dy, rows - 1);
    for (int j = j0; j <= j1; ++j)
        for (int i = i0; i <= i1; ++i) {
            const double* z = heights.data() + j * columns + i;
            if (std::max({z[0], z[1], z[columns], z[columns + 1]}) < b.lo.z) continue;
            const int t = 2 * (j * (columns - 1) + i);
            found.push_back(t);
            found.push_back(t + 1);
        }
}

namespace {

// Steps to the neighbours of a vertex, counterclockwise.
constexpr int kSpokes[6][2] = {{1, 0}, {1, 1}, {0, 1}, {-1, 0}, {-1, -1}, {0, -1}};

}  // namespace

void HeightField::spokes(int v, std::vector<Vec3>& out) const {
    out.clear();
    const int i = v % columns, j = v / columns;
    for (const auto& [di, dj] : kSpokes)
        if (i + di >= 0 && i + di < columns && j + dj >= 0 && j + dj < rows)
            out.push_back({di * dx, dj * dy, heights[v + di + dj * columns] - heights[v]});
}

// A ridge goes on beyond an end where the next vertex in line lies above the edge's own line.
Ridge HeightField::ridge(int i, int e) const {
    SurfaceTriangle t;
    triangle(i, t);
    const auto [v, w] = std::minmax(t.vertex[e], t.vertex[e == 2 ? 0 : e + 1]);
    Ridge out{edge_feature(t.edge[e]), vertex(v), vertex(w), {{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}}};
    const int di = w % columns - v % columns, dj = w / columns - v / columns;
    for (int end = 0; end < 2; ++end) {
        const int corner = end ? w : v, sign = end ? 1 : -1, i1 = corner % columns + sign * di,
                  j1 = corner / columns + sign * dj;
        if (i1 < 0 || i1 >= columns || j1 < 0 || j1 >= rows) continue;
        const int beyond = i1 + j1 * columns;
        if (!(heights[beyond] - heights[corner] > heights[corner] - heights[end ? v : w])) continue;
        const Vec3 along = unit(vertex(beyond) - vertex(corner), {0.0, 0.0, 0.0});
        out.into[end] = unit(Vec3{0.0, 0.0, 1.0} - along.z * along, {0.0, 0.0, 1.0});
    }
    return out;
}

Vec3 HeightField::vertex_normal(int v) const {
    const int i = v % columns, j = v / columns, wide = columns - 1;
    Vec3 sum{0.0, 0.0, 0.0};
    for (int dj = -1; dj <= 0; ++dj)
        for (int di = -1; di <= 0; ++di) {
            if (i + di < 0 || i + di >= wide || j + dj < 0 || j + dj >= rows - 1) continue;
            const int t = 2 * ((j + dj) * wide + i + di);
            if (di == dj || di == 0) sum += normal_of(t);
            if (di == dj || dj == 0) sum += normal_of(t + 1);
        }
    return unit(sum, {0.0, 0.0, 1.0});
}

// Triangles and edges are numbered beside three kinds of features.
constexpr int kMostVertices = (1 << 28) / 3;

SharedShape make_height_field(int columns, int rows, double x0, double y0, double dx, double dy,
                              std::vector<double> heights) {
    std::string faults;
    if (columns < 2 || rows < 2) faults += " at least two rows and columns are needed;";
    if (columns > 0 && rows > kMostVertices / columns)
        faults += " at most " + std::to_string(kMostVertices) + " heights are possible;";
    char text[160];
    if (!(dx >= kLeastSize && dy >= kLeastSize && std::isfinite(dx + dy)))
        std::snprintf(text, sizeof text, " steps must be positive and finite, got %g and %g;", dx, dy), faults += text;
    double far = std::max(std::abs(x0) + columns * std::abs(dx), std::abs(y0) + rows * std::abs(dy));
    for (std::size_t i = 0; i < heights.size(); ++i)
        if (std::isfinite(heights[i]))
            far = std::max(far, std::abs(heights[i]));
        else if (faults.size() < 200)
            faults += " the height in row " + std::to_string(i / std::max(columns, 1)) + ", column " +
                      std::to_string(i % std::max(columns, 1)) + " is not finite;";
    if (!(far <= kLargestSize)) {
        std::snprintf(text, sizeof text, " it reaches %g m from the origin, of %g m allowed;", far, kLargestSize);
        faults += text;
    }
    if (heights.size() != static_cast<std::size_t>(columns) * static_cast<std::size_t>(rows))
        faults += " " + std::to_string(columns) + " x " + std::to_string(rows) + " heights are needed, got " +
                  std::to_string(heights.size()) + ";";
    if (!faults.empty()) throw std::invalid_argument("height field:" + faults + " give heights of all rows in m");
    auto field = std::make_shared<HeightField>();
    field->columns = columns, field->rows = rows;
    field->x0 = x0, field->y0 = y0, field->dx = dx, field->dy = dy;
    field->per_x = 1.0 / dx, field->per_y = 1.0 / dy;
    field->heights = std::move(heights);
    for (int v = 0; v < columns * rows; ++v) field->bounds.add(field->vertex(v));
    field->reach_out = Bounds::kInfinity;
    const int n = 2 * (columns - 1) * (rows - 1);
    field->facets.resize(n);
    std::iota(field->facets.begin(), field->facets.end(), 0);
    auto root = [&](int i) {
        while (field->facets[i] != i) i = field->facets[i] = field->facets[field->facets[i]];
        return i;
    };
    for (int i = 0; i < n; ++i)
        for (int e = 0; e < 3; ++e)
            if (const int other = field->across(i, e); other > i) {
                const Vec3 off = field->normal_of(i) - field->normal_of(other);
                if (dot(off, off) < 1e-24) field->facets[root(i)] = root(other);
            }
    for (int i = 0; i < n; ++i) field->facets[i] = root(i);
    // A vertex within one facet is no corner; the others are, those of straight ridges too: their cones decide.
    field->corners.assign(columns * rows, 0);
    for (int i = 0; i < n; ++i) {
        SurfaceTriangle t;
        field->triangle(i, t);
        for (int e = 0; e < 3; ++e)
            if (t.kind[e] != EdgeKind::flat) field->corners[t.vertex[e]] = field->corners[t.vertex[(e + 1) % 3]] = 1;
    }
    return field;
}

namespace {

int cell_at(double x, int count) { return static_cast<int>(std::clamp(x, 0.0, count - 1.0)); }

// A ray in units of the grid, o + t d with 0 ≤ t ≤ end.
struct GridRay {
    double ox, oy, oz, dx, dy, dz, start, end;
    double x(double t) const { return ox + t * dx; }
    double y(double t) const { return oy + t * dy; }

    // Cuts the range of t to what lies between two planes; false where nothing is left.
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
