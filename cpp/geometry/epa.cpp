// How deep two cores overlap: the polytope inside A − B grows towards the face nearest to the origin.
#include <array>
#include <cmath>

#include "geometry/gjk.hpp"

namespace bellcrank {

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
