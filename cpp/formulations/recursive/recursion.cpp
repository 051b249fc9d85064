#include "formulations/recursive/recursion.hpp"

#include <algorithm>
#include <cmath>

namespace bellcrank::recursive {

namespace {

constexpr Twist kRest{{0, 0, 0}, {0, 0, 0}};
constexpr Load kNothing{{0, 0, 0}, {0, 0, 0}};

Articulated rigid(const Link& link) {
    const Vec3& h = link.moment;
    Articulated I;
    std::copy(link.second.begin(), link.second.end(), I.A.m);
    I.B = {{0, -h.z, h.y, h.z, 0, -h.x, -h.y, h.x, 0}};
    I.C = {{link.mass, link.mass, link.mass, 0, 0, 0}};
    return I;
}

// Symmetric positive definite, in place, by Gauss and Jordan without pivoting.
void invert(double* D, int d) {
    for (int c = 0; c < d; ++c) {
        const double pivot = 1.0 / D[d * c + c];
        for (int j = 0; j < d; ++j)
            if (j != c) D[d * c + j] *= pivot;
        for (int i = 0; i < d; ++i) {
            if (i == c) continue;
            const double m = D[d * i + c];
            for (int j = 0; j < d; ++j)
                if (j != c) D[d * i + j] -= m * D[d * c + j];
            D[d * i + c] = -m * pivot;
        }
        D[d * c + c] = pivot;
    }
}

}  // namespace

Recursion::Recursion(const LinkTree& tree, int rows, std::vector<RowEnd> ends)
    : tree_(tree), rows_(rows), ends_(std::move(ends)), nodes_(tree.links.size() + 1) {
    std::stable_sort(ends_.begin(), ends_.end(), [](const RowEnd& a, const RowEnd& b) { return a.link < b.link; });
    build_slots();
    const size_t n = tree.links.size();
    int matrix = 0, effort = 0, factor = 0, largest = 0, half = 0;
    for (size_t i = 0; i <= n; ++i) {
        Node& node = nodes_[i];
        const int size = node.open + node.closed;
        node.matrix = matrix;
        matrix += size * size;
        node.effort = effort;
        if (i < n) effort += tree.links[i].speeds * tree.links[i].speeds;
        factor_at_.push_back(factor);
        factor += node.closed * node.closed;
        largest = std::max(largest, size);
        half = std::max(half, node.open * node.closed);
    }
    H_.assign(matrix, 0.0);
    inverse_.assign(effort, 0.0);
    factor_.assign(factor, 0.0);
    kept_.assign(n + 1, 0);
    order_.assign(slot_row_.size(), 0);
    columns_.assign(slot_row_.size(), kNothing);
    g_.assign(slot_row_.size(), 0.0);
    inertia_.resize(n);
    p_.assign(n, kNothing);
    a_.assign(n, kRest);
    U_.assign(tree.speeds, kNothing);
    z_.assign(tree.speeds, 0.0);
    scale_.assign(rows, 0.0);
    size_.assign(rows, 0.0);
    dropped_.assign(rows, 0);
    closed_.assign(largest, 0.0);
    solved_.assign(largest, 0.0);
    half_columns_.assign(largest, kNothing);
    half_.assign(half, 0.0);
}

int Recursion::parent_node(int link) const {
    const int parent = tree_.links[link].parent;
    return parent < 0 ? static_cast<int>(tree_.links.size()) : parent;
}

// A row is open at every link between one of its ends and the link where all of them meet.
void Recursion::build_slots() {
    const int ground = static_cast<int>(tree_.links.size());
    std::vector<std::vector<int>> links(rows_);
    for (const RowEnd& end : ends_) links[end.row].push_back(end.link);
    std::vector<std::vector<int>> open(ground + 1), closed(ground + 1);
    std::vector<int> seen(ground + 1, -1);
    for (int r = 0; r < rows_; ++r) {
        // Numbers are preorder, so that the largest of the links reached cannot lie above the others.
        std::vector<int> front = links[r];
        std::sort(front.begin(), front.end());
        front.erase(std::unique(front.begin(), front.end()), front.end());
        if (front.empty()) front.push_back(ground);
        while (front.size() > 1 || front.back() < 0) {
            if (front.back() < 0) {
                front.back() = ground;
                break;
            }
            const int link = front.back();
            front.pop_back();
            open[link].push_back(r);
            const int above = tree_.links[link].parent;
            const auto at = std::lower_bound(front.begin(), front.end(), above);
            if (at == front.end() || *at != above) front.insert(at, above);
        }
        closed[front.back()].push_back(r);
    }
    for (int i = 0; i <= ground; ++i) {
        Node& node = nodes_[i];
        node.slot = static_cast<int>(slot_row_.size());
        node.open = static_cast<int>(open[i].size());
        node.closed = static_cast<int>(closed[i].size());
        for (const auto* list : {&open[i], &closed[i]}) slot_row_.insert(slot_row_.end(), list->begin(), list->end());
    }
    // Rows ascend among the open ones of a node and among its closed ones.
    const auto slot_at = [&](const Node& node, int row) {
        const auto begin = slot_row_.begin() + node.slot, middle = begin + node.open, end = middle + node.closed;
        auto found = std::lower_bound(begin, middle, row);
        if (found == middle || *found != row) found = std::lower_bound(middle, end, row);
        return static_cast<int>(found - slot_row_.begin());
    };
    slot_above_.assign(slot_row_.size(), -1);
    for (int i = 0; i < ground; ++i)
        for (int s = nodes_[i].slot; s < nodes_[i].slot + nodes_[i].open; ++s)
            slot_above_[s] = slot_at(nodes_[parent_node(i)], slot_row_[s]);
    for (const RowEnd& end : ends_) end_slot_.push_back(end.link < 0 ? -1 : slot_at(nodes_[end.link], end.row));
}

void Recursion::factor(const Kinematics& k, const double* compliance, const double* natural, double tolerance) {
    const int n = static_cast<int>(tree_.links.size());
    for (int i = 0; i < n; ++i) inertia_[i] = rigid(tree_.links[i]);
    std::fill(columns_.begin(), columns_.end(), kNothing);
    std::fill(H_.begin(), H_.end(), 0.0);
    std::copy_n(compliance, rows_, size_.begin());
    std::fill(dropped_.begin(), dropped_.end(), 0);
    smallest_ = 1.0;
    for (size_t e = 0; e < ends_.size(); ++e)
        if (end_slot_[e] >= 0) columns_[end_slot_[e]] += -1.0 * ends_[e].load;
    for (int i = n - 1; i >= 0; --i) {
        const Node& node = nodes_[i];
        if (node.closed > 0) close_rows(i, compliance, natural, tolerance);
        reduce(k, i);
    }
    if (nodes_[n].closed > 0) close_rows(n, compliance, natural, tolerance);
}

// What the link asks of its joint once its acceleration along the joint has been eliminated, in the parent's frame.
void Recursion::reduce(const Kinematics& k, int i) {
    const Link& link = tree_.links[i];
    const Node& node = nodes_[i];
    Articulated I = inertia_[i];
    if (link.given < 0) {
        for (int a = 0; a < link.speeds; ++a) U_[link.u + a] = inertia_[i] * k.S[link.u + a];
        double* D = inverse_.data() + node.effort;
        for (int a = 0; a < link.speeds; ++a)
            for (int b = 0; b < link.speeds; ++b) D[link.speeds * a + b] = dot(k.S[link.u + a], U_[link.u + b]);
        D[0] += link.rotor;
        invert(inverse_.data() + node.effort, link.speeds);
        for (int a = 0; a < link.speeds; ++a)
            for (int b = 0; b < link.speeds; ++b) I.add_dyad(-D[link.speeds * a + b], U_[link.u + a], U_[link.u + b]);
    }
    if (node.open > 0) pass_columns(k, i);
    if (link.parent < 0) return;
    I = {rotated(k.rotation[i], I.A), rotated(k.rotation[i], I.B), rotated(k.rotation[i], I.C)};
    shift(k.shift[i], I);
    inertia_[link.parent] += I;
}

void Recursion::pass_columns(const Kinematics& k, int i) {
    const Link& link = tree_.links[i];
    const Node &node = nodes_[i], &above = nodes_[parent_node(i)];
    const int size = node.open + node.closed, size_above = above.open + above.closed,
              d = link.given < 0 ? link.speeds : 0;
    double* H = H_.data() + node.matrix;
    const double* D = inverse_.data() + node.effort;
    for (int s = 0; s < node.open; ++s) {
        double along[6], weight[6];
        for (int a = 0; a < d; ++a) along[a] = dot(k.S[link.u + a], columns_[node.slot + s]);
        for (int a = 0; a < d; ++a) {
            weight[a] = 0.0;
            for (int b = 0; b < d; ++b) weight[a] += D[d * a + b] * along[b];
        }
        for (int t = 0; t <= s; ++t) {
            double sum = 0.0;
            for (int a = 0; a < d; ++a) sum += weight[a] * dot(k.S[link.u + a], columns_[node.slot + t]);
            H[size * s + t] += sum;
            if (t < s) H[size * t + s] += sum;
            if (t == s) size_[slot_row_[node.slot + s]] += sum;
        }
        Load P = columns_[node.slot + s];
        for (int a = 0; a < d; ++a) P += -weight[a] * U_[link.u + a];
        if (link.parent >= 0) columns_[slot_above_[node.slot + s]] += outward(k.rotation[i], k.shift[i], P);
    }
    for (int s = 0; s < node.open; ++s)
        for (int t = 0; t < node.open; ++t) {
            const int row = slot_above_[node.slot + s] - above.slot, column = slot_above_[node.slot + t] - above.slot;
            H_[above.matrix + size_above * row + column] += H[size * s + t];
        }
}

// Eliminates the multipliers of the rows that are complete here:  λ = K (γ − g + Pᵀ a − H λ_open), K the inverse of
// their block of H plus compliance, on the pivots that it has.
void Recursion::close_rows(int n, const double* compliance, const double* natural, double tolerance) {
    const Node& node = nodes_[n];
    const int size = node.open + node.closed, m = node.closed, first = node.slot + node.open;
    double *H = H_.data() + node.matrix, *L = factor_.data() + factor_at_[n];
    int* order = order_.data() + first;
    for (int i = 0; i < m; ++i) {
        const int row = slot_row_[first + i];
        H[size * (node.open + i) + node.open + i] += compliance[row];
        // A row that says nothing in these coordinates has a gradient of rounding alone.
        scale_[row] = size_[row] > tolerance * tolerance * natural[row] ? 1.0 / std::sqrt(size_[row]) : 0.0;
        order[i] = i;
    }
    std::fill_n(L, m * m, 0.0);
    double* left = closed_.data();
    const auto entry = [&](int i, int j) {
        return scale_[slot_row_[first + i]] * H[size * (node.open + i) + node.open + j] * scale_[slot_row_[first + j]];
    };
    for (int i = 0; i < m; ++i) left[i] = entry(i, i);
    int rank = 0;
    for (; rank < m; ++rank) {
        int best = rank;
        for (int i = rank + 1; i < m; ++i)
            if (left[order[i]] > left[order[best]]) best = i;
        if (!(left[order[best]] > tolerance)) break;
        std::swap(order[rank], order[best]);
        const int pivot = order[rank];
        smallest_ = std::min(smallest_, left[pivot]);
        const double root = std::sqrt(left[pivot]);
        L[m * pivot + rank] = root;
        for (int i = rank + 1; i < m; ++i) {
            double sum = entry(order[i], pivot);
            for (int j = 0; j < rank; ++j) sum -= L[m * order[i] + j] * L[m * pivot + j];
            L[m * order[i] + rank] = sum / root;
            left[order[i]] -= sum * sum / (root * root);
        }
    }
    kept_[n] = rank;
    for (int i = rank; i < m; ++i) dropped_[slot_row_[first + order[i]]] = 1;
    if (n < static_cast<int>(tree_.links.size())) substitute_closed(n);
}

// I += P K Pᵀ, and P, H of the open rows lose what goes through K. With the rows of L⁻¹ P and L⁻¹ H:
void Recursion::substitute_closed(int n) {
    const Node& node = nodes_[n];
    const int size = node.open + node.closed, m = node.closed, first = node.slot + node.open;
    double *H = H_.data() + node.matrix, *half = half_.data();
    const double* L = factor_.data() + factor_at_[n];
    const int* order = order_.data() + first;
    for (int i = 0; i < kept_[n]; ++i) {
        const int pivot = order[i];
        const double scale = scale_[slot_row_[first + pivot]], inverse = 1.0 / L[m * pivot + i];
        Load& P = half_columns_[i] = scale * columns_[first + pivot];
        for (int j = 0; j < i; ++j) P += -L[m * pivot + j] * half_columns_[j];
        P = inverse * P;
        inertia_[n].add_dyad(1.0, P, P);
        double* h = half + node.open * i;
        for (int s = 0; s < node.open; ++s) {
            double sum = scale * H[size * (node.open + pivot) + s];
            for (int j = 0; j < i; ++j) sum -= L[m * pivot + j] * half[node.open * j + s];
            h[s] = sum * inverse;
            columns_[node.slot + s] += -h[s] * P;
        }
        for (int s = 0; s < node.open; ++s)
            for (int t = 0; t < node.open; ++t) H[size * s + t] -= h[s] * h[t];
    }
}

// out = K rhs, both over the closed rows of a node.
void Recursion::solve_closed(int n, const double* rhs, double* out) const {
    const Node& node = nodes_[n];
    const int m = node.closed, first = node.slot + node.open, rank = kept_[n];
    const double* L = factor_.data() + factor_at_[n];
    const int* order = order_.data() + first;
    for (int i = rank; i < m; ++i) out[order[i]] = 0.0;
    for (int i = 0; i < rank; ++i) {
        double sum = scale_[slot_row_[first + order[i]]] * rhs[order[i]];
        for (int j = 0; j < i; ++j) sum -= L[m * order[i] + j] * out[order[j]];
        out[order[i]] = sum / L[m * order[i] + i];
    }
    for (int i = rank - 1; i >= 0; --i) {
        double sum = out[order[i]];
        for (int j = i + 1; j < rank; ++j) sum -= L[m * order[j] + i] * out[order[j]];
        out[order[i]] = sum / L[m * order[i] + i];
    }
    for (int i = 0; i < rank; ++i) out[order[i]] *= scale_[slot_row_[first + order[i]]];
}

}  // namespace bellcrank::recursive
