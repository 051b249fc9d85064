// What inversions lose. Rounding is relative to what is inverted and taken away, and stays in what is left of it.
// Beside every inverse inertia Φ there is thus the size of what its errors are relative to, a diagonal Φ̂ ≥ Φ, likewise
// V̂ ≥ V of a body with its branches and Ŵ ≥ W of a branch; errors are carried on to first order:
//   a join       M̂ = Φ̂1ᴮ + X² Φ̂2ᴬ,   Φ̂1 = Φ̂1ᴬ + X1²ᵀ M̂,   Φ̂2 = Φ̂2ᴮ + X2²ᵀ M̂
//   a rake       Ŵ = W + W²ᵀ Φ̂1, or V̂ + U²ᵀ V̂_S of a body by itself, in the frame of the carrier
//   a body       V̂ = I + Σ Ŵ,   Φ̂ = Φ + Φ²ᵀ V̂,
// squares by entries. The matrix of a joint loses Σ M⁻¹ M̂ (Σ D V̂_S of a body by itself), and by so much of
// K = (fᵀ Φ̂ f + ĉ)^½ its force is off, as the root of the energy Σ aᵀ I a of what it moves (lost_energies.cpp).
//
// Errors of totals are such forms as well: Ψ̂ passes as Φ̂ does, and each joint adds (loss)² · response · Φ̂, which is
// what the error of its force makes of the joints below, and the rounding of its own G².
#include <algorithm>
#include <cmath>
#include <limits>

#include "adaptive/ends.hpp"

namespace bellcrank {

namespace {

constexpr double kLoss = 64.0 * std::numeric_limits<double>::epsilon();
constexpr double kNoDigit = 1e30;     // lost where nothing is left
constexpr double kFirstOrder = 1e-2;  // up to which losses of several joins only add up
constexpr int kUpdates = 20;          // of all nodes, on the average, between one measurement and the next

// += Σ_j A_ji² size_j
void add_squares(const Matrix6& A, const double* size, double* out) {
    for (int i = 0; i < 6; ++i)
        for (int j = 0; j < 6; ++j) out[i] += A(j, i) * A(j, i) * size[j];
}
// The largest of part_i / whole_i.
double largest_share(const double* part, const double* whole) {
    double share = 0.0;
    for (int k = 0; k < 6; ++k)
        if (part[k] > 0.0) share = std::max(share, part[k] / whole[k]);
    return share;
}

}  // namespace

void RootedAssembly::judge_digits() {
    if (tree().shape != TreeShape::balanced) return;
    rounding_ = linkage_->rounding(reach_);
    if (is_even()) return;
    since_measured_ += updated_;
    if (since_measured_ > kUpdates * static_cast<long>(tree().nodes.size())) measure_losses();
}

void RootedAssembly::measure_losses() {
    since_measured_ = 0;
    digits_.assign(tree().nodes.size(), {});
    for (size_t i = 0; i < digits_.size(); ++i) {
        const AssemblyNode& node = tree().nodes[i];
        Digits& out = digits_[i];
        switch (node.kind) {
            case NodeKind::body:
                measure_body(node, out);
                break;
            case NodeKind::join:
                measure_join(node, out);
                break;
            case NodeKind::rake:
                measure_rake(node, out);
                break;
            case NodeKind::sum: {
                const Digits &a = digits_[node.left], &b = digits_[node.right];
                for (int k = 0; k < 6; ++k) {
                    out.size.first[k] = a.size.first[k] + b.size.first[k];
                    out.total.first[k] = a.total.first[k] + b.total.first[k];
                }
                out.left = largest_share(a.size.first, out.size.first);
                out.right = largest_share(b.size.first, out.size.first);
            }
        }
        measure_loads(static_cast<int>(i));
    }
}

// By the loss of its own and of bodies that are computed with it, of a joint between parts with these responses.
void RootedAssembly::judge_joint(const AssemblyNode& node, double loss, double below, Digits& out) const {
    loss *= kLoss;
    out.loss = loss < 1.0 ? loss + loss * loss / kFirstOrder : kNoDigit;
    for (const int part : {node.left, node.right})
        if (part >= 0 && tree().nodes[part].kind == NodeKind::body) out.loss += kLoss * digits_[part].loss;
    const Link& link = linkage_->links[node.link];
    const int d = link.motion.freedoms();
    const double *D = d_.data() + squares_[node.link], *G1 = g1_.data() + 6 * link.freedom,
                 *G2 = g2_.data() + 6 * link.freedom;
    const bool alone = node.kind == NodeKind::rake && tree().nodes[node.left].kind == NodeKind::body;
    out.loss = std::min(out.loss, kNoDigit);
    out.admittance = 0.0;
    for (int s = 0; s < d; ++s)
        if (alone)
            for (int r = s; r < d; ++r) out.admittance += D[d * s + r] * D[d * s + r];
        else
            out.admittance += D[d * s + s];
    const double own = link.floats ? 0.0 : out.admittance, response = own + below;
    out.through = own;
    out.response = response;
    out.source = response > 0.0 ? out.loss * out.loss * response : 0.0;
    for (int k = 0; k < 6; ++k) {
        if (out.source > 0.0) out.total.first[k] += out.source * out.size.first[k];
        if (out.source > 0.0) out.total.second[k] += out.source * out.size.second[k];
        for (int s = 0; s < d && !link.floats; ++s) {
            out.total.first[k] += kLoss * G1[6 * s + k] * G1[6 * s + k];
            if (node.kind == NodeKind::join && !node.ends) out.total.second[k] += kLoss * G2[6 * s + k] * G2[6 * s + k];
        }
    }
}

void RootedAssembly::measure_body(const AssemblyNode& node, Digits& out) {
    const BodyState& body = bodies_[node.link];
    const Digits* law = node.left < 0 ? nullptr : &digits_[node.left];
    Sizes& size = out.size;
    for (int k = 0; k < 6; ++k)
        size.own[k] = linkage_->links[node.link].inertia(k, k) + (law ? law->size.first[k] : 0.0);
    std::copy_n(size.own, 6, size.first);
    if (law) out.left = largest_share(law->size.first, size.own);
    Matrix6 phi = body.phi;
    if (tree().nodes[node.parent].kind == NodeKind::rake) {
        if (law) invert(phi);
    } else {
        for (int k = 0; k < 6; ++k) {
            size.first[k] = phi(k, k);
            out.loss += phi(k, k) * size.own[k];
        }
        add_squares(phi, size.own, size.first);
        std::copy_n(size.first, 6, size.second);
        if (law) add_squares(phi, law->total.first, out.total.first);
        std::copy_n(out.total.first, 6, out.total.second);
    }
    if (law) out.response = respond_to(phi, node.left);
}

// What laws and their joints do where the body that carries them has the inverse inertia Φ.
double RootedAssembly::respond_to(const Matrix6& phi, int law) {
    const AssemblyNode& node = tree().nodes[law];
    Digits& of = digits_[law];
    if (node.kind == NodeKind::sum)
        of.response = respond_to(phi, node.left) + respond_to(phi, node.right);
    else {
        const Link& link = linkage_->links[node.link];
        of.through = 0.0;
        for (int s = 0; s < link.motion.freedoms(); ++s) {
            const Six g = six(g1_.data() + 6 * (link.freedom + s));
            of.through += dot(g, phi * g);
        }
        of.response = of.through;
        if (with_totals_) {
            of.response = 0.0;
            for (int j = 0; j < 6; ++j) of.response += dot(totals_.laws[node.slot].psi.column(j), phi.column(j));
        }
    }
    return of.response;
}

void RootedAssembly::measure_rake(const AssemblyNode& node, Digits& out) {
    const AssemblyNode& branch = tree().nodes[node.left];
    const Digits& below = digits_[node.left];
    const Link& link = linkage_->links[node.link];
    const int d = link.motion.freedoms();
    const double* U = u_.data() + 6 * link.freedom;
    const Matrix6 X = motion_transform(frames_.place(node.link));
    double size[6] = {}, loss = 0.0;
    if (branch.kind == NodeKind::join) {
        Matrix6 M = joins_[branch.slot].phi1, WX;
        invert(M);
        for (int k = 0; k < 6; ++k) {
            size[k] = M(k, k);
            loss += M(k, k) * below.size.first[k];
        }
        add_squares(M, below.size.first, size);
        // Forces behind the joint at an acceleration of the carrier.
        for (int j = 0; j < 6; ++j)
            WX.set_column(j, force_into(frames_.place(node.link), laws_[node.slot].w.column(j)));
        add_squares(WX, below.total.first, out.total.first);
    } else {
        const double* N = d_.data() + squares_[node.link];
        for (int s = 0; s < d; ++s) {
            double column[6], inverse = 0.0;
            put(column, joint_column(node.link, s));
            const double along = squares(column, below.size.first);
            for (int r = s; r < d; ++r) inverse += N[d * s + r] * N[d * s + r];
            loss += inverse * along;
            for (int k = 0; k < 6; ++k) size[k] += U[6 * s + k] * U[6 * s + k] * along;
        }
        for (int k = 0; k < 6; ++k) size[k] += below.size.first[k];
        if (branch.left >= 0) {
            const double* G = g1_.data() + 6 * link.freedom;
            Matrix6 EX;
            for (int j = 0; j < 6; ++j) {
                double rate[6];
                for (int i = 0; i < d; ++i) rate[i] = -G[6 * i + j];
                EX.set_column(j, X.column(j) + joint_motion(node.link, rate));
            }
            add_squares(EX, digits_[branch.left].total.first, out.total.first);
        }
    }
    add_squares(X, size, out.size.first);
    judge_joint(node, loss, below.response, out);
    out.through = out.response = 0.0;  // where the ground carries it; else the body that does says more
}

void RootedAssembly::measure_join(const AssemblyNode& node, Digits& out) {
    const Ends A = ends(node.left), B = ends(node.right);
    const Digits &left = digits_[node.left], &right = digits_[node.right];
    const JoinState& state = joins_[node.slot];
    const Matrix6 X = motion_transform(frames_.place(node.link)), XT = transpose(X);
    Sizes& size = out.size;
    double before[6] = {}, part[6];
    add_squares(XT, left.size.second, before);
    for (int k = 0; k < 6; ++k) size.own[k] = right.size.first[k] + before[k];
    out.joint_left = largest_share(before, size.own);
    out.joint_right = largest_share(right.size.first, size.own);
    Matrix6 T, M;
    product(X, *A.phi2, T);
    sum_product(*B.phi1, T, XT, M);
    invert(M);
    double loss = 0.0;
    for (int k = 0; k < 6; ++k) loss += M(k, k) * size.own[k];
    // Of the sizes at an end: what comes from the left, from the right, and from the joint.
    const auto at_end = [&](const Matrix6& passed, const double* own, bool is_left, double* whole) {
        std::copy_n(own, 6, whole);
        add_squares(passed, size.own, whole);
        std::fill_n(part, 6, 0.0);
        add_squares(passed, size.own, part);
        out.own = std::max(out.own, largest_share(part, whole));
        std::fill_n(part, 6, 0.0);
        if (is_left) std::copy_n(own, 6, part);
        add_squares(passed, before, part);
        out.left = std::max(out.left, largest_share(part, whole));
        std::fill_n(part, 6, 0.0);
        if (!is_left) std::copy_n(own, 6, part);
        add_squares(passed, right.size.first, part);
        out.right = std::max(out.right, largest_share(part, whole));
    };
    at_end(state.x1, left.size.first, true, size.first);
    Sizes& total = out.total;
    std::copy_n(right.total.first, 6, total.own);
    add_squares(XT, left.total.second, total.own);
    std::copy_n(left.total.first, 6, total.first);
    add_squares(state.x1, total.own, total.first);
    if (!node.ends) {
        at_end(state.x2, right.size.second, false, size.second);
        std::copy_n(right.total.second, 6, total.second);
        add_squares(state.x2, total.own, total.second);
    }
    judge_joint(node, loss, std::max(left.response, right.response), out);
}

}  // namespace bellcrank
