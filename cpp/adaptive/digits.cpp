// What inversions lose. Rounding is relative to what is inverted and taken away, and stays in what is left of it.
// Beside every inverse inertia Φ there is thus the size of what its errors are relative to, a diagonal Φ̂ ≥ Φ, likewise
// V̂ ≥ V of a body with its branches and Ŵ ≥ W of a branch; errors are carried on to first order:
//   a join       M̂ = Φ̂1ᴮ + X² Φ̂2ᴬ,   Φ̂1 = Φ̂1ᴬ + X1²ᵀ M̂,   Φ̂2 = Φ̂2ᴮ + X2²ᵀ M̂
//   a rake       Ŵ = W + W²ᵀ Φ̂1, or V̂ + U²ᵀ V̂_S of a body by itself, in the frame of the carrier
//   a body       V̂ = I + Σ Ŵ,   Φ̂ = Φ + Φ²ᵀ V̂,
// squares by entries. Forces that pass a join lose Σ W M̂, accelerations of a rake Σ D V̂_S, by their own size.
#include <algorithm>
#include <cmath>
#include <limits>

#include "adaptive/ends.hpp"

namespace bellcrank {

namespace {

constexpr double kLoss = 64.0 * std::numeric_limits<double>::epsilon();
constexpr double kFirstOrder = 1e-6;  // up to which losses of several joins only add up
constexpr int kUpdates = 20;          // of all nodes, on the average, between one measurement and the next

// += Σ_j A_ji² size_j
void add_squares(const Matrix6& A, const double* size, double* out) {
    for (int i = 0; i < 6; ++i)
        for (int j = 0; j < 6; ++j) out[i] += A(j, i) * A(j, i) * size[j];
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
    const size_t count = tree().nodes.size();
    loss_.resize(count);
    loss_within_.resize(count);
    sizes_.resize(count);
    for (size_t i = 0; i < count; ++i) {
        const AssemblyNode& node = tree().nodes[i];
        Sizes& out = sizes_[i];
        out = {};
        const Sizes &left = node.left < 0 ? out : sizes_[node.left], &right = node.right < 0 ? out : sizes_[node.right];
        double loss = 0.0;
        if (node.kind == NodeKind::sum)
            for (int k = 0; k < 6; ++k) out.first[k] = left.first[k] + right.first[k];
        else if (node.kind == NodeKind::body)
            size_of_body(node, node.left < 0 ? nullptr : left.first, out.first, out.second);
        else if (node.kind == NodeKind::rake)
            loss = size_of_rake(node, left.first, out.first);
        else
            loss = size_of_join(node, left.first, left.second, right.first, right.second, out.first, out.second);
        loss *= kLoss;
        loss_[i] = loss < 1.0 ? loss + loss * loss / kFirstOrder : std::numeric_limits<double>::infinity();
        loss_within_[i] = loss_[i];
        for (const int part : {node.left, node.right})
            if (part >= 0) loss_within_[i] = std::max(loss_within_[i], loss_within_[part]);
    }
}

void RootedAssembly::size_of_body(const AssemblyNode& node, const double* branches, double* first,
                                  double* second) const {
    const BodyState& body = bodies_[node.link];
    double V[6];
    for (int k = 0; k < 6; ++k)
        V[k] = linkage_->links[node.link].inertia(k, k) + (branches == nullptr ? 0.0 : branches[k]);
    std::copy_n(V, 6, first);
    if (tree().nodes[node.parent].kind == NodeKind::rake) return;
    for (int k = 0; k < 6; ++k) first[k] = body.phi(k, k);
    if (branches != nullptr) add_squares(body.phi, V, first);
    std::copy_n(first, 6, second);
}

double RootedAssembly::size_of_rake(const AssemblyNode& node, const double* below, double* out) const {
    const AssemblyNode& branch = tree().nodes[node.left];
    const Link& link = linkage_->links[node.link];
    const int d = link.motion.freedoms();
    const double* U = u_.data() + 6 * link.freedom;
    double size[6] = {}, loss = 0.0;
    if (branch.kind == NodeKind::join) {
        Matrix6 M = joins_[branch.slot].phi1;
        invert(M);
        for (int k = 0; k < 6; ++k) {
            size[k] = M(k, k);
            loss += M(k, k) * below[k];
        }
        add_squares(M, below, size);
    } else {
        const double* N = d_.data() + squares_[node.link];
        for (int s = 0; s < d; ++s) {
            double column[6], along = 0.0, inverse = 0.0;
            put(column, joint_column(node.link, s));
            for (int k = 0; k < 6; ++k) along += column[k] * column[k] * below[k];
            for (int r = s; r < d; ++r) inverse += N[d * s + r] * N[d * s + r];
            loss += inverse * along;
            for (int k = 0; k < 6; ++k) size[k] += U[6 * s + k] * U[6 * s + k] * along;
        }
        for (int k = 0; k < 6; ++k) size[k] += below[k];
    }
    add_squares(motion_transform(frames_.place(node.link)), size, out);
    return loss;
}

double RootedAssembly::size_of_join(const AssemblyNode& node, const double* left_first, const double* left_second,
                                    const double* right_first, const double* right_second, double* first,
                                    double* second) const {
    const Ends A = ends(node.left), B = ends(node.right);
    const JoinState& state = joins_[node.slot];
    const Matrix6 X = motion_transform(frames_.place(node.link)), XT = transpose(X);
    double size[6], loss = 0.0;
    std::copy_n(right_first, 6, size);
    add_squares(XT, left_second, size);
    Matrix6 T, M;
    product(X, *A.phi2, T);
    sum_product(*B.phi1, T, XT, M);
    invert(M);
    for (int k = 0; k < 6; ++k) loss += M(k, k) * size[k];
    std::copy_n(left_first, 6, first);
    add_squares(state.x1, size, first);
    if (node.ends) return loss;
    std::copy_n(right_second, 6, second);
    add_squares(state.x2, size, second);
    return loss;
}

}  // namespace bellcrank
