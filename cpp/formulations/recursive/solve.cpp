// The recursion with what factor() made: loads up, accelerations and multipliers down.
#include <algorithm>

#include "formulations/recursive/recursion.hpp"

namespace bellcrank::recursive {

void Recursion::solve(const TreeState& k, const Input& in, double* udot, double* lambda) {
    up(k, in);
    down(k, in, udot, lambda);
}

void Recursion::up(const TreeState& k, const Input& in) {
    const int n = static_cast<int>(tree_.links.size());
    for (int i = 0; i < n; ++i) p_[i] = -1.0 * in.loads[i];
    std::fill(g_.begin(), g_.end(), 0.0);
    for (int i = n - 1; i >= 0; --i) {
        const Link& link = tree_.links[i];
        const Node& node = nodes_[i];
        if (node.closed > 0) close_up(i, in.targets);
        Twist a = in.bias == nullptr ? kRest : in.bias[i];  // at rest of the parent, without multipliers
        along_joint(k, i, in, p_[i], a);
        for (int c = 0; c < link.speeds; ++c) a += z_[link.u + c] * k.S[link.u + c];
        for (int s = node.slot; s < node.slot + node.open; ++s) g_[slot_above_[s]] += g_[s] - dot(a, columns_[s]);
        if (link.parent < 0) continue;
        Load p = inertia_[i] * a;
        p += p_[i];
        p_[link.parent] += outward(k.rotation[i], k.shift[i], p);
    }
    if (nodes_[n].closed > 0) close_up(n, in.targets);
}

// z: what the joint's speeds change by where the link would accelerate at a without them and asks for I a + p.
void Recursion::along_joint(const TreeState& k, int i, const Input& in, const Load& p, const Twist& a) {
    const Link& link = tree_.links[i];
    double* z = z_.data() + link.u;
    if (link.given >= 0) {
        z[0] = in.given == nullptr ? 0.0 : in.given[link.given];
        return;
    }
    Load asked = inertia_[i] * a;
    asked += p;
    double u[6];
    for (int c = 0; c < link.speeds; ++c)
        u[c] = (in.efforts == nullptr ? 0.0 : in.efforts[link.u + c]) - dot(k.S[link.u + c], asked);
    const double* white = whitening_.data() + nodes_[i].effort;
    for (int c = 0; c < link.speeds; ++c) z[c] = 0.0;
    for (int c = 0; c < link.speeds; ++c) {
        double along = 0.0;
        for (int d = 0; d <= c; ++d) along += white[link.speeds * c + d] * u[d];
        for (int d = 0; d <= c; ++d) z[d] += white[link.speeds * c + d] * along;
    }
}

void Recursion::down(const TreeState& k, const Input& in, double* udot, double* lambda) {
    const int n = static_cast<int>(tree_.links.size());
    if (nodes_[n].closed > 0) close_down(n, kRest, lambda);
    for (int i = 0; i < n; ++i) {
        const Link& link = tree_.links[i];
        const Node& node = nodes_[i];
        Twist a = in.bias == nullptr ? kRest : in.bias[i];
        if (link.parent >= 0) a += inward(k.rotation[i], k.shift[i], a_[link.parent]);
        Load p = p_[i];
        for (int s = node.slot; s < node.slot + node.open; ++s) p += lambda[slot_row_[s]] * columns_[s];
        along_joint(k, i, in, p, a);
        for (int c = 0; c < link.speeds; ++c) {
            udot[link.u + c] = z_[link.u + c];
            a += z_[link.u + c] * k.S[link.u + c];
        }
        a_[i] = a;
        if (node.closed > 0) close_down(i, a, lambda);
    }
}

void Recursion::accelerations(const TreeState& k, const Twist* bias, const double* udot,
                              std::vector<Twist>& out) const {
    for (size_t i = 0; i < tree_.links.size(); ++i) {
        const Link& link = tree_.links[i];
        Twist a = bias == nullptr ? kRest : bias[i];
        if (link.parent >= 0) a += inward(k.rotation[i], k.shift[i], out[link.parent]);
        for (int c = 0; c < link.speeds; ++c) a += udot[link.u + c] * k.S[link.u + c];
        out[i] = a;
    }
}

}  // namespace bellcrank::recursive
