// Sums of branches, bodies that carry them, and what a node answers at what it is given from above.
#include <algorithm>
#include <cmath>

#include "adaptive/ends.hpp"

namespace bellcrank {

template <bool kTotals>
void RootedAssembly::add_laws(const AssemblyNode& node, bool matrices) {
    const int a = tree().nodes[node.left].slot, b = tree().nodes[node.right].slot;
    LawState& out = laws_[node.slot];
    if (matrices) {
        out.w = laws_[a].w;
        add(out.w, laws_[b].w);
    }
    put(out.g, six(laws_[a].g) + six(laws_[b].g));
    if constexpr (kTotals) {
        LawForm& totals = totals_.laws[node.slot];
        if (matrices) {
            totals.psi = totals_.laws[a].psi;
            add(totals.psi, totals_.laws[b].psi);
        }
        put(totals.p, six(totals_.laws[a].p) + six(totals_.laws[b].p));
        totals.eta = totals_.laws[a].eta + totals_.laws[b].eta;
    }
}
template void RootedAssembly::add_laws<true>(const AssemblyNode&, bool);
template void RootedAssembly::add_laws<false>(const AssemblyNode&, bool);

// V = I + Σ W, h = force − Σ g; in a join Φ = V⁻¹, b = Φ h, and the total in forces.
template <bool kTotals>
void RootedAssembly::body(const AssemblyNode& node, bool matrices) {
    BodyState& out = bodies_[node.link];
    const bool alone = tree().nodes[node.parent].kind == NodeKind::rake;
    const int law = node.left < 0 ? -1 : tree().nodes[node.left].slot;
    if (matrices && law >= 0) {
        out.phi = linkage_->links[node.link].inertia;
        add(out.phi, laws_[law].w);
        if (!alone) invert(out.phi);
    }
    Six h = six(out.force);
    if (law >= 0) h = h - six(laws_[law].g);
    if (alone) return put(out.b, h);
    const Six b = out.phi * h;
    put(out.b, b);
    if (!kTotals || law < 0) return;
    LawForm& totals = totals_.bodies[node.slot];
    if (matrices) pass_through(totals_.laws[law].psi, out.phi, totals.psi);
    pass_body_loads(totals_.laws[law], out.phi, b, totals);
}
template void RootedAssembly::body<true>(const AssemblyNode&, bool);
template void RootedAssembly::body<false>(const AssemblyNode&, bool);

RootedAssembly::Terms RootedAssembly::joint_acceleration(int number, const double* input, double* rate,
                                                         double* behind) const {
    const AssemblyNode& node = tree().nodes[number];
    const Link& link = linkage_->links[node.link];
    const int d = link.motion.freedoms();
    const double *G1 = g1_.data() + 6 * link.freedom, *G2 = g2_.data() + 6 * link.freedom,
                 *R = r_.data() + link.freedom, *terms = terms_.data() + link.freedom;
    const Six a = six(input);
    Terms size{0.0, 0.0};
    for (int i = 0; i < d; ++i) {
        const Six g = six(G1 + 6 * i);
        rate[i] = R[i] - dot(g, a);
        size.own += terms[i];
        size.of_input += size_of_dot(g, a);
    }
    if (node.kind == NodeKind::rake) {
        const Place& place = frames_.place(node.link);
        if (tree().nodes[node.left].kind == NodeKind::body && link.floats)
            std::copy_n(R, 6, behind);  // what the carrier does cancels
        else if (tree().nodes[node.left].kind == NodeKind::body)
            put(behind, motion_into(place, a) + joint_motion(node.link, rate));
        else
            put(behind, force_into(place, laws_[node.slot].w * a + six(laws_[node.slot].g)));
        return size;
    }
    const JoinState& s = joins_[node.slot];
    Six f = s.x1 * a + six(s.gamma);
    if (!node.ends) {
        const Six f2 = six(input + 6);
        f = f - s.x2 * f2;
        for (int i = 0; i < d; ++i) {
            const Six g = six(G2 + 6 * i);
            rate[i] += dot(g, f2);
            size.of_input += size_of_dot(g, f2);
        }
    }
    put(behind, f);
    return size;
}

void RootedAssembly::total(int number, const double* input, double* value, double* size) const {
    const AssemblyNode& node = tree().nodes[number];
    const auto part = [&](const Matrix6& psi, const double* p, const double* in) {
        const Six v = six(in), q = six(p);
        *value += dot(v, psi * v + q);
        double s = 0.0;
        for (int i = 0; i < 6; ++i) s += in[i] * in[i] * psi.m[7 * i] + std::abs(in[i] * p[i]);
        *size += s;
    };
    if (node.kind != NodeKind::join) {
        const LawForm& t = totals_.laws[node.slot];
        *value = *size = t.eta;
        return part(t.psi, t.p, input);
    }
    const StretchForm& t = totals_.joins[node.slot];
    *value = *size = t.eta;
    part(t.psi1, t.p1, input);
    if (node.ends) return;
    part(t.psi2, t.p2, input + 6);
    *value += 2.0 * dot(six(input + 6), t.psi21 * six(input));
}

}  // namespace bellcrank
