// By how much joint accelerations are off where joins lose digits (digits.cpp): counted in energies of accelerations
// Σ aᵀ I a, by Gauss's principle. The error of the force on a joint is a force by itself, at which all that it reaches
// moves. On its way down the energy of that motion is divided and not increased, whatever arms, masses and units it
// meets, while the components of forces and moments mix: what is little of a force on a long link may be many times the
// moment on a short one. A joint with admittance D (acceleration by effort) that moves with energy E² accelerates by
// D^½ E.
//
// Loads have a size ĉ as well: b, h, g are off by (Φ̂ ĉ)^½, (V̂ ĉ)^½, (Ŵ ĉ)^½. With `left`, `right` and `own` the shares
// of the parts in Φ̂, which are 1 at most, and at the joint in M̂,
//   a join       ĉ = left ĉᴬ + right ĉᴮ + own (γᵀ M̂ γ + Qᵀ D Q)
//   a rake       ĉ + gᵀ Φ̂1 g + Qᵀ D Q, or ĉ + Rᵀ V̂_S R + Qᵀ D Q
//   a body       left ĉ + max force² / V̂ + bᵀ V̂ b.
#include <algorithm>
#include <cmath>
#include <limits>

#include "adaptive/ends.hpp"

namespace bellcrank {

namespace {

constexpr double kTotal = 64.0 * std::numeric_limits<double>::epsilon();  // of squares that a total adds up

double root_of(double square) { return square <= 0.0 ? 0.0 : std::sqrt(square); }

}  // namespace

// Σ_k v_k² size_k
double RootedAssembly::squares(const double* v, const double* size) {
    double sum = 0.0;
    for (int k = 0; k < 6; ++k)
        if (v[k] != 0.0) sum += v[k] * v[k] * size[k];
    return sum;
}

void RootedAssembly::measure_loads(int number) {
    static const Digits none{};
    const AssemblyNode& node = tree().nodes[number];
    Digits& out = digits_[number];
    const Digits &left = node.left < 0 ? none : digits_[node.left],
                 &right = node.right < 0 ? none : digits_[node.right];
    out.total.loads = left.total.loads + right.total.loads;
    if (node.kind == NodeKind::sum) {
        out.size.loads = out.left * left.size.loads + out.right * right.size.loads;
        return;
    }
    if (node.kind == NodeKind::body) {
        const BodyState& body = bodies_[node.link];
        double applied = 0.0;
        for (int k = 0; k < 6; ++k) applied = std::max(applied, body.force[k] * body.force[k] / out.size.own[k]);
        out.size.loads = out.left * left.size.loads + applied;
        if (tree().nodes[node.parent].kind == NodeKind::rake) return;
        out.size.loads += squares(body.b, out.size.own);
        out.total.loads += squares(body.b, left.total.first);
        return;
    }
    const Link& link = linkage_->links[node.link];
    const double *Q = effort_.data() + link.freedom, *R = r_.data() + link.freedom;
    double own = 0.0, rates = 0.0;
    for (int s = 0; s < link.motion.freedoms(); ++s) {
        if (Q[s] != 0.0) own += Q[s] * Q[s] * out.admittance;
        if (!link.floats) rates += R[s] * R[s];
    }
    if (node.kind == NodeKind::join) {
        const double* gamma = joins_[node.slot].gamma;
        own += squares(gamma, out.size.own);
        out.total.loads += squares(gamma, out.total.own);
        out.at_joint = out.joint_left * left.size.loads + out.joint_right * right.size.loads + own;
        out.size.loads = out.left * left.size.loads + out.right * right.size.loads + out.own * own;
    } else {
        if (tree().nodes[node.left].kind == NodeKind::join) {
            double g[6];
            put(g, force_into(frames_.place(node.link), six(laws_[node.slot].g)));
            own += squares(g, left.size.first);
            out.total.loads += squares(g, left.total.first);
        } else {
            const int law = tree().nodes[node.left].left;
            for (int s = 0; s < link.motion.freedoms(); ++s) {
                double column[6];
                put(column, R[s] * joint_column(node.link, s));
                own += squares(column, left.size.first);
                if (law >= 0) out.total.loads += squares(column, digits_[law].total.first);
            }
        }
        out.at_joint = out.size.loads = left.size.loads + own;
    }
    if (out.source > 0.0) out.total.loads += out.source * out.at_joint;
    out.total.loads += kTotal * rates;
}

double RootedAssembly::force_error(int number, const double* input) const {
    const AssemblyNode& node = tree().nodes[number];
    const Digits& of = digits_[number];
    double size = of.at_joint;
    // What the carrier of a body that hangs on nothing does cancels.
    if (node.kind != NodeKind::rake || !linkage_->links[node.link].floats) size += squares(input, of.size.first);
    if (node.kind == NodeKind::join && !node.ends) size += squares(input + 6, of.size.second);
    return of.loss * root_of(size);
}

double RootedAssembly::joint_error(int node, double given, double own) const {
    const Digits& of = digits_[node];
    const double error = given * root_of(of.through) + own * root_of(of.admittance);
    return error >= 0.0 ? error : std::numeric_limits<double>::infinity();
}

double RootedAssembly::total_error(int number, const double* input, double given) const {
    const AssemblyNode& node = tree().nodes[number];
    const Digits& of = digits_[number];
    double square = of.total.loads + squares(input, of.total.first);
    if (node.kind == NodeKind::join && !node.ends) square += squares(input + 6, of.total.second);
    return root_of(square) + given * root_of(of.response);
}

}  // namespace bellcrank
