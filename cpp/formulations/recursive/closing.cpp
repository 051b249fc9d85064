// Where loops close: the factors of H = WᵀW from W by reflections, so that no angle between rows is squared.
#include <algorithm>
#include <cmath>

#include "formulations/recursive/recursion.hpp"

namespace bellcrank::recursive {

namespace {

// Of a row's entry to what it would be for free bodies, at a regular configuration.
constexpr double kLeastSize = 1e-3;

// x ← (±|x|, 0, ...), leaving v with x − 2 v vᵀ x / vᵀv in v; returns 2 / vᵀv (A. Householder).
double make_reflector(double* x, int n, double* v) {
    double square = 0.0;
    for (int i = 0; i < n; ++i) square += x[i] * x[i];
    const double length = std::sqrt(square);
    if (length == 0.0) return 0.0;
    std::copy_n(x, n, v);
    std::fill_n(x, n, 0.0);
    x[0] = v[0] > 0.0 ? -length : length;
    v[0] -= x[0];
    return 1.0 / (length * std::abs(v[0]));
}

void apply_reflector(const double* v, double factor, int n, double* x) {
    double along = 0.0;
    for (int i = 0; i < n; ++i) along += v[i] * x[i];
    along *= factor;
    for (int i = 0; i < n; ++i) x[i] -= along * v[i];
}

}  // namespace

void Recursion::forget_sizes() { std::fill(largest_.begin(), largest_.end(), 0.0); }

// Rows of W as they are at the parent: nothing in the columns that it knows from elsewhere.
void Recursion::pass_roots(int i) {
    Node &node = nodes_[i], &above = nodes_[parent_node(i)];
    if (node.used > 2 * node.open) compress(i);
    for (int c = 0; c < above.open + above.closed; ++c)
        std::fill_n(roots_.data() + above.roots + above.height * c + above.used, node.used, 0.0);
    for (int s = 0; s < node.open; ++s) {
        const int column = slot_above_[node.slot + s] - above.slot;
        std::copy_n(roots_.data() + node.roots + node.height * s, node.used,
                    roots_.data() + above.roots + above.height * column + above.used);
    }
    above.used += node.used;
}

// Replaces the open columns of W by their triangular factor, which has the same products.
void Recursion::compress(int i) {
    Node& node = nodes_[i];
    double* W = roots_.data() + node.roots;
    for (int s = 0; s < node.open; ++s) {
        const int n = node.used - s;
        const double factor = make_reflector(W + node.height * s + s, n, reflector_.data());
        for (int c = s + 1; c < node.open; ++c) apply_reflector(reflector_.data(), factor, n, W + node.height * c + s);
    }
    node.used = node.open;
}

// A compliance is a row of W of its own. In coordinates of joints a row may vanish where a loop is singular, instead
// of coming to depend on others: its pivot is therefore taken by the size that it has elsewhere.
void Recursion::scale_rows(int n, const double* compliance, const double* natural, double tolerance) {
    Node& node = nodes_[n];
    double* W = roots_.data() + node.roots;
    for (int i = 0; i < node.closed; ++i) {
        const int row = slot_row_[node.slot + node.open + i];
        if (compliance[row] > 0.0) {
            for (int c = 0; c < node.open + node.closed; ++c) W[node.height * c + node.used] = 0.0;
            W[node.height * (node.open + i) + node.used++] = std::sqrt(compliance[row]);
        }
        const double whole = natural[row] > 0.0 ? natural[row] : 1.0;
        largest_[row] = std::max({largest_[row], size_[row] / whole, kLeastSize});
        // A row that says nothing in these coordinates has a gradient of rounding alone.
        scale_[row] = size_[row] > tolerance * tolerance * natural[row] ? 1.0 / std::sqrt(whole * largest_[row]) : 0.0;
    }
}

// Eliminates the multipliers of the rows that are complete here:  λ = K (γ − g + Pᵀ a − H λ_open), K the inverse of
// their block of H plus compliance, on the pivots that it has. Of W = Q R it takes R, and of the open columns the part
// along Q; what is left of these stays W.
void Recursion::close_rows(int n, const double* compliance, const double* natural, double tolerance) {
    Node& node = nodes_[n];
    const int m = node.closed, first = node.slot + node.open;
    double *W = roots_.data() + node.roots, *R = factor_.data() + node.factor, *half = half_.data() + node.half;
    int* order = order_.data() + first;
    scale_rows(n, compliance, natural, tolerance);
    std::fill_n(R, m * m, 0.0);
    for (int i = 0; i < m; ++i) order[i] = i;
    int rank = 0;
    for (; rank < m; ++rank) {
        int best = -1;
        double most = tolerance, largest = 0.0;
        for (int i = rank; i < m; ++i) {
            const double *w = W + node.height * (node.open + order[i]), scale = scale_[slot_row_[first + order[i]]];
            double left = 0.0;
            for (int k = rank; k < node.used; ++k) left += w[k] * w[k];
            left *= scale * scale;
            largest = std::max(largest, left);
            if (left > most) best = i, most = left;
        }
        if (best < 0) {
            largest_dropped_ = std::max(largest_dropped_, largest);
            break;
        }
        std::swap(order[rank], order[best]);
        smallest_ = std::min(smallest_, most);
        reflect(n, rank, order[rank]);
        for (int i = rank; i < m; ++i)
            R[m * order[i] + rank] =
                scale_[slot_row_[first + order[i]]] * W[node.height * (node.open + order[i]) + rank];
        for (int s = 0; s < node.open; ++s) half[node.open * rank + s] = W[node.height * s + rank];
    }
    kept_[n] = rank;
    for (int i = rank; i < m; ++i) dropped_[slot_row_[first + order[i]]] = 1;
    node.used -= rank;
    for (int s = 0; s < node.open; ++s) {
        double* w = W + node.height * s;
        std::copy(w + rank, w + rank + node.used, w);
    }
    if (n < static_cast<int>(tree_.links.size())) substitute_closed(n);
}

// Turns W so that of a closed column nothing is left below `step`.
void Recursion::reflect(int n, int step, int column) {
    const Node& node = nodes_[n];
    double* W = roots_.data() + node.roots;
    const int rows = node.used - step, *order = order_.data() + node.slot + node.open;
    const double factor = make_reflector(W + node.height * (node.open + column) + step, rows, reflector_.data());
    for (int s = 0; s < node.open; ++s) apply_reflector(reflector_.data(), factor, rows, W + node.height * s + step);
    for (int i = step + 1; i < node.closed; ++i)
        apply_reflector(reflector_.data(), factor, rows, W + node.height * (node.open + order[i]) + step);
}

// I += P K Pᵀ, and P of the open rows loses what goes through K: with the rows of R⁻ᵀ P.
void Recursion::substitute_closed(int n) {
    const Node& node = nodes_[n];
    const int m = node.closed, first = node.slot + node.open;
    const double *R = factor_.data() + node.factor, *half = half_.data() + node.half;
    const int* order = order_.data() + first;
    for (int i = 0; i < kept_[n]; ++i) {
        const int pivot = order[i];
        Load& P = half_columns_[first + i] = scale_[slot_row_[first + pivot]] * columns_[first + pivot];
        for (int j = 0; j < i; ++j) P += -R[m * pivot + j] * half_columns_[first + j];
        P = (1.0 / R[m * pivot + i]) * P;
        inertia_[n].add_dyad(1.0, P, P);
        for (int s = 0; s < node.open; ++s) columns_[node.slot + s] += -half[node.open * i + s] * P;
    }
}

// y = R⁻ᵀ (γ − g), which acts as a load and on the open rows.
void Recursion::close_up(int n, const double* targets) {
    const Node& node = nodes_[n];
    const int m = node.closed, first = node.slot + node.open;
    const double *R = factor_.data() + node.factor, *half = half_.data() + node.half;
    const int* order = order_.data() + first;
    for (int i = 0; i < kept_[n]; ++i) {
        const int row = slot_row_[first + order[i]];
        double y = scale_[row] * (targets[row] - g_[first + order[i]]);
        for (int j = 0; j < i; ++j) y -= R[m * order[i] + j] * y_[first + j];
        y_[first + i] = y /= R[m * order[i] + i];
        for (int s = 0; s < node.open; ++s) g_[node.slot + s] += y * half[node.open * i + s];
        if (n < static_cast<int>(tree_.links.size())) p_[n] += y * half_columns_[first + i];
    }
}

// λ = R⁻¹ (y + (R⁻ᵀ P)ᵀ a − QᵀW λ_open)
void Recursion::close_down(int n, const Twist& a, double* lambda) const {
    const Node& node = nodes_[n];
    const int m = node.closed, first = node.slot + node.open, rank = kept_[n];
    const double *R = factor_.data() + node.factor, *half = half_.data() + node.half;
    const int* order = order_.data() + first;
    const bool moves = n < static_cast<int>(tree_.links.size());
    for (int i = 0; i < m; ++i) lambda[slot_row_[first + i]] = 0.0;
    for (int i = rank - 1; i >= 0; --i) {
        double v = y_[first + i];
        if (moves) v += dot(a, half_columns_[first + i]);
        for (int s = 0; s < node.open; ++s) v -= half[node.open * i + s] * lambda[slot_row_[node.slot + s]];
        for (int j = i + 1; j < rank; ++j) v -= R[m * order[j] + i] * lambda[slot_row_[first + order[j]]];
        lambda[slot_row_[first + order[i]]] = v / R[m * order[i] + i];
    }
    for (int i = 0; i < rank; ++i) lambda[slot_row_[first + order[i]]] *= scale_[slot_row_[first + order[i]]];
}

}  // namespace bellcrank::recursive
