// How deep two cores overlap: the polytope inside A − B grows towards the face nearest to the origin.
#include "geometry/gjk.hpp"

#include <array>
#include <cmath>

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

namespace {

struct Facet {
    int v[3];
    int across[3];  // the facet beyond the edge from v[i] to v[i + 1]
    Vec3 n;
    bool alive;
};

// Fixed room: a query allocates nothing. Where it is used up, the nearest face so far is the answer.
class Polytope {
  public:
    static constexpr int kPoints = 260, kFacets = 1024;

    void forget() { best_beyond_ = Bounds::kInfinity; }
    // The nearest face so far is an answer that may be off by as much as the shape reaches beyond it.
    bool has_answer(double tolerance, Separation& out) const {
        out.uncertainty = best_beyond_ <= tolerance * scale_ ? 0.0 : best_beyond_;
        return best_beyond_ < Bounds::kInfinity;
    }

    bool start(const CorePair& pair, Simplex& s) {
        count_ = facets_used_ = 0;
        scale_ = 0.0;
        if (!fill(pair, s)) return false;
        for (int i = 0; i < 4; ++i) points_[i] = s.points[i];
        count_ = 4;
        if (volume(0, 1, 2, 3) > 0.0) std::swap(points_[1], points_[2]);
        static constexpr int v[4][3] = {{0, 1, 2}, {0, 3, 1}, {0, 2, 3}, {1, 3, 2}};
        static constexpr int across[4][3] = {{1, 3, 2}, {2, 3, 0}, {0, 3, 1}, {1, 2, 0}};
        for (int f = 0; f < 4; ++f) add(v[f][0], v[f][1], v[f][2], across[f][0], across[f][1], across[f][2]);
        return true;
    }

    bool grow(const CorePair& pair, double tolerance, Separation& out) {
        for (;;) {
            const int best = nearest();
            if (best < 0) return false;
            const Facet face = facets_[best];
            const DifferencePoint p = pair.support(face.n);
            const double beyond = dot(face.n, p.w) - distance_[best];
            const bool ends = beyond <= tolerance * scale_;
            if (beyond < best_beyond_) best_beyond_ = beyond, report(face, distance_[best], out);
            if (!ends && is_corner(face, p.w)) {  // its plane is spoilt by rounding
                distance_[best] = Bounds::kInfinity;
                continue;
            }
            if (ends) return true;
            if (count_ == kPoints || facets_used_ + 64 > kFacets) return best_beyond_ <= 1e-6 * scale_;
            if (!attach(best, p)) return false;
        }
    }

  private:
    std::array<DifferencePoint, kPoints> points_;
    std::array<Facet, kFacets> facets_;
    alignas(32) std::array<double, kFacets> distance_;  // of the facets from the origin; infinite where none counts
    std::array<int, kFacets> stack_, seen_;
    int count_ = 0, facets_used_ = 0;
    double scale_ = 0.0, best_beyond_ = Bounds::kInfinity;  // of all starts: how far the answer may be off

    double volume(int a, int b, int c, int d) const {
        const Vec3 o = points_[a].w;
        return dot(cross(points_[b].w - o, points_[c].w - o), points_[d].w - o);
    }

    bool is_corner(const Facet& f, const Vec3& w) const {
        for (int v : f.v) {
            const Vec3 d = points_[v].w - w;
            if (dot(d, d) <= 1e-28 * scale_ * scale_) return true;
        }
        return false;
    }

    // The simplex becomes a tetrahedron: farthest points along and across what there is.
    bool fill(const CorePair& pair, Simplex& s) {
        for (int i = 0; i < 3; ++i) {
            Vec3 axis{0.0, 0.0, 0.0};
            component(axis, i) = 1.0;
            scale_ = std::max(scale_, norm(pair.support(axis).w - pair.support(-axis).w));
        }
        const double least = 1e-9 * scale_;
        auto try_point = [&](const Vec3& d) {
            const DifferencePoint p = pair.support(d);
            s.points[s.count] = p;
            if (span(s, s.count) <= least) return false;
            ++s.count;
            return true;
        };
        while (s.count > 1 && span(s, s.count - 1) <= least) --s.count;
        if (s.count == 1)
            for (int i = 0; i < 6 && s.count == 1; ++i) {
                Vec3 axis{0.0, 0.0, 0.0};
                component(axis, i / 2) = i % 2 ? 1.0 : -1.0;
                try_point(axis);
            }
        if (s.count == 2) {
            const Vec3 u = unit(s.points[1].w - s.points[0].w, {1.0, 0.0, 0.0}), e = across(u), f = cross(u, e);
            for (int i = 0; i < 6 && s.count == 2; ++i) {
                const double angle = i * M_PI / 3.0;
                try_point(std::cos(angle) * e + std::sin(angle) * f);
            }
        }
        if (s.count == 3) {
            const Vec3 n = cross(s.points[1].w - s.points[0].w, s.points[2].w - s.points[0].w);
            const double above = dot(n, s.points[0].w);
            const double first = above > 0.0 ? -1.0 : 1.0;  // towards the origin first
            if (!try_point(first * n)) try_point(-first * n);
        }
        return s.count == 4;
    }

    // How far point k of a simplex is from the span of those before it.
    static double span(const Simplex& s, int k) {
        const Vec3 d = s.points[k].w - s.points[0].w;
        if (k == 1) return norm(d);
        const Vec3 u = unit(s.points[1].w - s.points[0].w, {1.0, 0.0, 0.0});
        if (k == 2) return norm(d - dot(d, u) * u);
        const Vec3 n = unit(cross(u, s.points[2].w - s.points[0].w), {0.0, 0.0, 0.0});
        return std::abs(dot(n, d));
    }

    // A facet so thin that rounding turns its normal is kept for its neighbours, and never the nearest.
    void add(int a, int b, int c, int ab, int bc, int ca) {
        const Vec3 u = points_[b].w - points_[a].w, v = points_[c].w - points_[a].w, n = cross(u, v);
        const double length = norm(n), longest = std::sqrt(std::max(dot(u, u), dot(v, v)));
        const int f = facets_used_++;
        facets_[f] = {{a, b, c}, {ab, bc, ca}, {0.0, 0.0, 0.0}, true};
        distance_[f] = Bounds::kInfinity;
        if (!(length > 1e-10 * scale_ * longest)) return;
        facets_[f].n = (1.0 / length) * n;
        distance_[f] = dot(facets_[f].n, points_[a].w);
    }

    // Four at a time: this is looked for as often as the polytope grows.
    int nearest() {
        using Four = double __attribute__((vector_size(32)));
        const double inf = Bounds::kInfinity;
        for (int f = facets_used_; f % 4 != 0; ++f) distance_[f] = inf;
        Four least{inf, inf, inf, inf}, at = least, here{0.0, 1.0, 2.0, 3.0};
        for (int f = 0; f < facets_used_; f += 4, here += 4.0) {
            Four d;
            __builtin_memcpy(&d, &distance_[f], sizeof d);
            at = d < least ? here : at;
            least = d < least ? d : least;
        }
        int best = -1;
        for (int k = 0; k < 4; ++k)
            if (least[k] < (best < 0 ? inf : distance_[best])) best = static_cast<int>(at[k]);
        return best;
    }

    // Facets that see the new point give way to a fan from it over their rim. False where rounding spoils the fan.
    bool attach(int first, const DifferencePoint& p) {
        const double margin = 1e-15 * scale_;
        int top = 0, visible = 0;
        stack_[top++] = first;
        remove(first);
        while (top > 0) {
            const int f = stack_[--top];
            seen_[visible++] = f;
            for (int next : facets_[f].across)
                if (facets_[next].alive && dot(facets_[next].n, p.w) - distance_[next] > margin) {
                    remove(next);
                    stack_[top++] = next;
                }
        }
        const int apex = count_, begin = facets_used_;
        points_[count_++] = p;
        for (int i = 0; i < visible; ++i)
            for (int e = 0; e < 3; ++e) {
                const Facet& f = facets_[seen_[i]];
                const int beyond = f.across[e], a = f.v[e], b = f.v[(e + 1) % 3];
                if (!facets_[beyond].alive || beyond >= begin) continue;
                if (facets_used_ == kFacets) return false;
                add(a, b, apex, beyond, -1, -1);
                for (int& back : facets_[beyond].across)
                    if (back == seen_[i] && shares(facets_[beyond], &back - facets_[beyond].across, b, a))
                        back = facets_used_ - 1;
            }
        for (int f = begin; f < facets_used_; ++f)
            for (int g = begin; g < facets_used_; ++g)
                if (facets_[g].v[0] == facets_[f].v[1]) facets_[f].across[1] = g, facets_[g].across[2] = f;
        return facets_used_ - begin >= 3;
    }
    void remove(int f) {
        facets_[f].alive = false;
        distance_[f] = Bounds::kInfinity;
    }
    static bool shares(const Facet& f, std::ptrdiff_t e, int from, int to) {
        return f.v[e] == from && f.v[(e + 1) % 3] == to;
    }

    void report(const Facet& f, double distance, Separation& out) const {
        const DifferencePoint &a = points_[f.v[0]], &b = points_[f.v[1]], &c = points_[f.v[2]];
        const Vec3 p = distance * f.n, area = cross(b.w - a.w, c.w - a.w);
        const double whole = dot(area, area);
        const double wb = dot(cross(p - a.w, c.w - a.w), area) / whole;
        const double wc = dot(cross(b.w - a.w, p - a.w), area) / whole, wa = 1.0 - wb - wc;
        out.a = wa * a.a + (wb * b.a + wc * c.a);
        out.b = wa * a.b + (wb * b.b + wc * c.b);
        out.normal = -f.n;
        out.gap = -distance;
    }
};

}  // namespace

bool expand(const CorePair& pair, Simplex& simplex, double tolerance, Separation& out) {
    thread_local Polytope room;
    room.forget();
    if (room.start(pair, simplex) && room.grow(pair, tolerance, out)) return room.has_answer(tolerance, out);
    // A start that is almost flat may spoil the polytope; others need not hold the origin, towards which they grow.
    static constexpr Vec3 starts[] = {{0.36, 0.48, 0.8}, {-0.48, 0.64, -0.6}, {0.6, -0.64, 0.48}, {-0.8, -0.36, 0.48}};
    for (const Vec3& d : starts) {
        simplex.points[0] = pair.support(d);
        simplex.count = 1;
        if (room.start(pair, simplex) && room.grow(pair, tolerance, out)) break;
    }
    return room.has_answer(tolerance, out);
}

}  // namespace bellcrank
