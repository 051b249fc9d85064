#include "geometry/gjk.hpp"

namespace bellcrank {

namespace {

// Points of a simplex by number, and the weights of their convex combination that is nearest to the origin. The cases
// are C. Ericson's, Real-time collision detection (2005), 5.1.
struct Nearest {
    int count;
    int index[3];
    double weight[3];
};

void keep(Simplex& s, const Nearest& nearest) {
    DifferencePoint kept[3];
    for (int i = 0; i < nearest.count; ++i) kept[i] = s.points[nearest.index[i]];
    for (int i = 0; i < nearest.count; ++i) s.points[i] = kept[i], s.weights[i] = nearest.weight[i];
    s.count = nearest.count;
}

Vec3 combined(const Simplex& s, const Nearest& nearest) {
    Vec3 v{0.0, 0.0, 0.0};
    for (int i = 0; i < nearest.count; ++i) v += nearest.weight[i] * s.points[nearest.index[i]].w;
    return v;
}

Vec3 combined(const Simplex& s) {
    Vec3 v{0.0, 0.0, 0.0};
    for (int i = 0; i < s.count; ++i) v += s.weights[i] * s.points[i].w;
    return v;
}

Nearest nearest_of_segment(const Simplex& s) {
    const Vec3 a = s.points[0].w, ab = s.points[1].w - a;
    const double t = -dot(a, ab), length = dot(ab, ab);
    if (t <= 0.0) return {1, {0}, {1.0}};
    if (t >= length) return {1, {1}, {1.0}};
    return {2, {0, 1}, {1.0 - t / length, t / length}};
}

Nearest nearest_of_triangle(const Simplex& s, int i, int j, int k) {
    const Vec3 &a = s.points[i].w, &b = s.points[j].w, &c = s.points[k].w, ab = b - a, ac = c - a;
    const double d1 = -dot(ab, a), d2 = -dot(ac, a), d3 = -dot(ab, b), d4 = -dot(ac, b), d5 = -dot(ab, c),
                 d6 = -dot(ac, c);
    if (d1 <= 0.0 && d2 <= 0.0) return {1, {i}, {1.0}};
    if (d3 >= 0.0 && d4 <= d3) return {1, {j}, {1.0}};
    if (d6 >= 0.0 && d5 <= d6) return {1, {k}, {1.0}};
    const Vec3 n = cross(ab, ac);
    const double vc = dot(n, cross(a, b)), va = dot(n, cross(b, c)), vb = dot(n, cross(c, a));
    if (vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0) {
        const double t = d1 / (d1 - d3);
        return {2, {i, j}, {1.0 - t, t}};
    }
    if (vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0) {
        const double t = d2 / (d2 - d6);
        return {2, {i, k}, {1.0 - t, t}};
    }
    if (va <= 0.0 && d4 - d3 >= 0.0 && d5 - d6 >= 0.0) {
        const double t = (d4 - d3) / ((d4 - d3) + (d5 - d6));
        return {2, {j, k}, {1.0 - t, t}};
    }
    const double sum = va + vb + vc;
    if (!(sum > 0.0)) return {1, {i}, {1.0}};
    return {3, {i, j, k}, {va / sum, vb / sum, vc / sum}};
}

// Leaves four points where they hold the origin, which they cannot where a plane separates: rounding in flat simplices
// may say otherwise.
Vec3 nearest_of_tetrahedron(Simplex& s, bool separated) {
    static constexpr int faces[4][4] = {{0, 1, 2, 3}, {0, 2, 3, 1}, {0, 3, 1, 2}, {1, 3, 2, 0}};
    Nearest best{0, {}, {}};
    Vec3 nearest{0.0, 0.0, 0.0};
    double least = Bounds::kInfinity;
    for (const auto& f : faces) {
        const Vec3& a = s.points[f[0]].w;
        const Vec3 n = cross(s.points[f[1]].w - a, s.points[f[2]].w - a);
        const double other = dot(n, s.points[f[3]].w - a), origin = -dot(n, a);
        if (!separated && other != 0.0 && (other > 0.0) == (origin > 0.0)) continue;
        const Nearest face = nearest_of_triangle(s, f[0], f[1], f[2]);
        const Vec3 v = combined(s, face);
        if (dot(v, v) < least) least = dot(v, v), best = face, nearest = v;
    }
    if (best.count > 0) keep(s, best);
    return nearest;
}

Vec3 nearest_point(Simplex& s, bool separated = false) {
    if (s.count == 4) return nearest_of_tetrahedron(s, separated);
    if (s.count == 1) s.weights[0] = 1.0;
    if (s.count == 2) keep(s, nearest_of_segment(s));
    if (s.count == 3) keep(s, nearest_of_triangle(s, 0, 1, 2));
    return combined(s);
}

bool is_polyhedral(ShapeKind kind) {
    return kind == ShapeKind::box || kind == ShapeKind::hull || kind == ShapeKind::sphere ||
           kind == ShapeKind::capsule || kind == ShapeKind::mesh;
}
bool is_curved(ShapeKind kind) {
    return kind == ShapeKind::ellipsoid || kind == ShapeKind::cylinder || kind == ShapeKind::cone;
}

void finish(const Simplex& s, const Vec3& v, bool polyhedral, Separation& out) {
    out.a = out.b = {0.0, 0.0, 0.0};
    for (int i = 0; i < s.count; ++i) {
        out.a += s.weights[i] * s.points[i].a;
        out.b += s.weights[i] * s.points[i].b;
    }
    out.gap = norm(v);
    out.normal = (1.0 / out.gap) * v;
    if (s.count != 3 || !polyhedral) return;
    // Near contact the difference of the nearest points has few digits; the plane of the simplex has all.
    const Vec3 n = cross(s.points[1].w - s.points[0].w, s.points[2].w - s.points[0].w);
    const double length = norm(n);
    if (!(length > 0.0)) return;
    const Vec3 plane = (dot(n, v) > 0.0 ? 1.0 / length : -1.0 / length) * n;
    if (dot(plane, out.normal) < 0.9) return;
    out.normal = plane;
    out.gap = dot(plane, s.points[0].w);
}

// The gap as a function of the normal, g(n) = n · w(n) with w the point of A − B farthest along −n, is largest where w
// is parallel to n. On smooth surfaces Newton's method gets there; a step that does not bring w closer to n is not
// taken.
bool polish(const CorePair& pair, Separation& out) {
    Vec3 n = out.normal;
    DifferencePoint s = pair.support(-n);
    auto aside = [](const Vec3& w, const Vec3& along) { return w - dot(w, along) * along; };
    Vec3 w_t = aside(s.w, n);
    double miss = dot(w_t, w_t);
    for (int step = 0; step < 6 && miss > 0.0; ++step) {
        const Vec3 e1 = across(n), e2 = cross(n, e1);
        const double h = 1e-5, gap = dot(n, s.w);
        auto change = [&](const Vec3& e) {
            const Vec3 forward = pair.support(-(n + h * e)).w, back = pair.support(-(n - h * e)).w;
            return (0.5 / h) * (forward - back);
        };
        const Vec3 d1 = change(e1), d2 = change(e2);
        const double a = dot(d1, e1) - gap, b = 0.5 * (dot(d1, e2) + dot(d2, e1)), c = dot(d2, e2) - gap;
        const double det = a * c - b * b, r1 = dot(w_t, e1), r2 = dot(w_t, e2);
        if (!(std::abs(det) > 0.0)) break;
        const double x = -(c * r1 - b * r2) / det, y = -(a * r2 - b * r1) / det;
        if (!(x * x + y * y < 0.01)) break;
        const Vec3 next = unit(n + x * e1 + y * e2, n);
        const DifferencePoint reached = pair.support(-next);
        const Vec3 rest = aside(reached.w, next);
        if (!(dot(rest, rest) < miss)) break;
        n = next, s = reached, w_t = rest, miss = dot(rest, rest);
    }
    const double scale = dot(s.a, s.a) + dot(s.b, s.b);
    if (!(miss <= 1e-18 * scale)) return false;
    out = {n, dot(n, s.w), s.a, s.b};
    return true;
}

// Whether v, where rounding has ended the search, separates nothing: shapes whose faces lie in one plane can touch so.
bool is_rounding(const CorePair& pair, const Vec3& v, double largest) {
    const double square = dot(v, v);
    return square < 1e-18 * largest && dot(v, pair.support(-v).w) < 0.5 * square;
}

bool penetration(const CorePair& pair, const Simplex& simplex, Separation& out) {
    const bool curved = is_curved(pair.A.kind) || is_curved(pair.B.kind);
    Simplex copy = simplex;
    if (pair.A.kind == ShapeKind::ellipsoid || pair.B.kind == ShapeKind::ellipsoid) {
        if (expand(pair, copy, 1e-6, out) && polish(pair, out)) return true;
        copy = simplex;
    }
    return expand(pair, copy, curved ? 1e-10 : 1e-14, out);
}

}  // namespace

bool separation(const CorePair& pair, double reach, const Vec3& guess, Separation& out) {
    const bool polyhedral = is_polyhedral(pair.A.kind) && is_polyhedral(pair.B.kind);
    const bool curved = is_curved(pair.A.kind) || is_curved(pair.B.kind);
    Simplex s;
    s.points[0] = pair.support(-guess);
    s.count = 1;
    Vec3 v = nearest_point(s);
    double square = dot(v, v), largest = square;
    Simplex last = s;
    for (int step = 0; step < 200; ++step) {
        if (square <= 1e-26 * largest || square == 0.0) return penetration(pair, s, out);
        const DifferencePoint p = pair.support(-v);
        largest = std::max(largest, dot(p.w, p.w));
        const double bound = dot(v, p.w);  // the plane through p across v separates by bound/|v|
        if (bound > 0.0 && bound * bound > reach * reach * square) return false;
        // Curved surfaces: once in a while Newton's method finishes. A plane that separates by as much as the points
        // across it are apart is the answer; overlaps have other planes of which that is true.
        if (curved && (step == 3 || step == 7 || step == 15 || step == 31)) {
            out.normal = (1.0 / std::sqrt(square)) * v;
            if (polish(pair, out) && out.gap > 1e-9 * std::sqrt(largest)) return out.gap < reach;
        }
        bool repeated = square - bound <= 1e-15 * square;
        for (int i = 0; i < s.count; ++i) repeated = repeated || dot(s.points[i].w - p.w, s.points[i].w - p.w) == 0.0;
        if (repeated) break;
        last = s;
        s.points[s.count++] = p;
        v = nearest_point(s, bound > 1e-12 * std::sqrt(square * largest));
        if (s.count == 4) return penetration(pair, s, out);
        const double next = dot(v, v);
        if (next >= square) {  // rounding: no nearer
            s = last;
            v = combined(s);
            break;
        }
        square = next;
    }
    if (square <= 1e-26 * largest || is_rounding(pair, v, largest)) return penetration(pair, s, out);
    finish(s, v, polyhedral, out);
    if (curved) polish(pair, out);
    return out.gap < reach;
}

}  // namespace bellcrank
