#include "geometry/bvh.hpp"

#include <cmath>

namespace bellcrank {

// 1 / d, and which of the bounds along each axis is entered.
struct Bvh::Inverse {
    double by[3], o[3];
    bool down[3];

    explicit Inverse(const LocalRay& ray)
        : by{1.0 / ray.d.x, 1.0 / ray.d.y, 1.0 / ray.d.z}, o{ray.o.x, ray.o.y, ray.o.z} {
        for (int k = 0; k < 3; ++k) down[k] = by[k] < 0.0;
    }

    // Where a ray enters the four bounds of a node; infinite where it misses, or enters beyond the limit. Not a number,
    // where it lies in the plane of a side, changes nothing.
    Four entries(const Node& node, double limit) const {
        Four first{0.0, 0.0, 0.0, 0.0}, last{limit, limit, limit, limit};
        for (int k = 0; k < 3; ++k) {
            const Four in = (wide(down[k] ? node.hi[k] : node.lo[k]) - o[k]) * by[k];
            const Four out = (wide(down[k] ? node.lo[k] : node.hi[k]) - o[k]) * by[k];
            first = in > first ? in : first;
            last = out < last ? out : last;
        }
        const double inf = Bounds::kInfinity;
        return first <= last ? first : Four{inf, inf, inf, inf};
    }
};

// T. Möller, B. Trumbore, Fast, minimum storage ray-triangle intersection (1997), from outside only or from both sides.
// In one place, so that all rays round alike.
template <bool both_sides>
[[gnu::noinline]] void Bvh::enter_leaf(const Leaf& leaf, const LocalRay& ray, Best& best) {
    const Four abx = load(leaf.ab[0]), aby = load(leaf.ab[1]), abz = load(leaf.ab[2]);
    const Four acx = load(leaf.ac[0]), acy = load(leaf.ac[1]), acz = load(leaf.ac[2]);
    const Vec3& d = ray.d;
    const Four hx = d.y * acz - d.z * acy, hy = d.z * acx - d.x * acz, hz = d.x * acy - d.y * acx;
    Four det = abx * hx + aby * hy + abz * hz;
    const Four sx = ray.o.x - load(leaf.a[0]), sy = ray.o.y - load(leaf.a[1]), sz = ray.o.z - load(leaf.a[2]);
    const Four qx = sy * abz - sz * aby, qy = sz * abx - sx * abz, qz = sx * aby - sy * abx;
    Four u = sx * hx + sy * hy + sz * hz, v = d.x * qx + d.y * qy + d.z * qz;
    Four t = acx * qx + acy * qy + acz * qz;  // times det
    if constexpr (both_sides) {
        const Mask back = det < 0.0;
        u = back ? -u : u, v = back ? -v : v, t = back ? -t : t, det = back ? -det : det;
    }
    const Four slack = -1e-14 * det;
    const Mask enters = (det > 0.0) & (u >= slack) & (v >= slack) & (u + v <= det - slack) & (t >= 0.0);
    if (!(enters[0] | enters[1] | enters[2] | enters[3])) return;
    for (int i = 0; i < kWide; ++i) {
        if (!enters[i]) continue;
        const double at = t[i] / det[i];
        if (at < best.distance || (at == best.distance && best.triangle >= 0 && leaf.triangle[i] < best.triangle))
            best = {at, leaf.triangle[i]};
    }
}

template <bool both_sides>
int Bvh::nearest(const LocalRay& ray, double& distance) const {
    if (nodes_.empty()) return -1;
    const Inverse inverse(ray);
    struct Waiting {
        double entry;
        int node;
    } stack[kDepth];
    int top = 0;
    // What is missed is entered at infinity.
    Best best{std::min(distance, std::numeric_limits<double>::max()), -1};
    stack[top++] = {0.0, 0};
    while (top > 0) {
        const Waiting next = stack[--top];
        if (next.entry > best.distance) continue;
        if (next.node < 0) {
            enter_leaf<both_sides>(leaves_[-1 - next.node], ray, best);
            continue;
        }
        const Node& node = nodes_[next.node];
        const Four entry = inverse.entries(node, best.distance);
        const int bottom = top;
        for (int side = 0; side < kWide; ++side) {
            if (!(entry[side] < Bounds::kInfinity)) continue;
            int place = top++;  // the nearest on top
            for (; place > bottom && stack[place - 1].entry < entry[side]; --place) stack[place] = stack[place - 1];
            stack[place] = {entry[side], node.child[side]};
        }
    }
    if (best.triangle >= 0) distance = best.distance;
    return best.triangle;
}

bool Bvh::inside(const Vec3& point) const {
    double out = Bounds::kInfinity, in = Bounds::kInfinity;
    const Vec3 along{0.48, 0.6, 0.64};  // across no axis and no diagonal
    meet({point, along, out}, out);
    const int entered = enter({point, along, in}, in);
    return out < Bounds::kInfinity && (entered < 0 || out < in);
}

template int Bvh::nearest<false>(const LocalRay&, double&) const;
template int Bvh::nearest<true>(const LocalRay&, double&) const;

}  // namespace bellcrank
