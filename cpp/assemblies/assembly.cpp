#include "assemblies/assembly.hpp"

#include <algorithm>
#include <chrono>

#include "assemblies/front.hpp"
#include "spatial/body_state.hpp"

namespace bellcrank {

namespace {

// A pivot is never less than the softness of its row, whatever rounding makes of it; that of a hub never above −1.
constexpr double kHubPivot = -1.0;

}  // namespace

// LEAF: Ĵ Ĵᵀ of the bodies, and what ties rows to hubs.
void Assembly::leaf(const Node& n, const double* J, const Rule& rule, double* front, double* components) {
    const auto takes_part = [&](int row) { return rule.enabled.empty() || rule.enabled[row]; };
    for (int g = n.gram_begin; g < n.gram_end;) {
        int end = g;
        while (end < n.gram_end && grams_[end].body == grams_[g].body) ++end;
        std::fill_n(components, 6 * n.stride, 0.0);
        for (int i = g; i < end; ++i)
            for (int r = 0; r < grams_[i].rows.rows; ++r) {
                if (!takes_part(grams_[i].row + r)) continue;
                double row[6];
                grams_[i].rows.read(J, r, row);
                if (!rule.metric.empty())
                    for (int k = 0; k < 6; ++k) row[k] *= rule.metric[kTwist * grams_[i].body + kComponent[k]];
                for (int k = 0; k < 6; ++k) components[k * n.stride + grams_[i].to + r] = row[k];
            }
        for (; g < end; ++g)
            front::add_squares(front, grams_[g].to, grams_[g].to + grams_[g].rows.rows, components, n.stride);
    }
    for (int i = n.coupling_begin; i < n.coupling_end; ++i) {
        const Coupling& c = couplings_[i];
        for (int r = 0; r < c.rows.rows; ++r) {
            if (!takes_part(c.row + r)) continue;
            double row[6];
            c.rows.read(J, r, row);
            for (int k = 0; k < 6; ++k)
                front[std::min(c.to + r, c.hub + k) * n.stride + std::max(c.to + r, c.hub + k)] += row[k];
        }
    }
    for (int i = n.hub_begin; i < n.hub_end; ++i)
        for (int k = 0; k < 6; ++k) front[(hub_places_[i] + k) * (n.stride + 1)] -= 1.0;
}

// JOIN: the children's matrices added, and what is joined here eliminated.
void Assembly::join(const Node& n, const Rule& rule, std::span<const double> squares, double* front) {
    for (int i = n.child_begin; i < n.child_end; ++i) {
        const Child& child = children_[i];
        const Node& below = nodes_[child.node];
        const double* matrix = matrices_.data() + below.matrix;
        const int stride = front::padded(ends(below));
        for (int a = child.piece_begin; a < child.piece_end; ++a)
            for (int b = a; b < child.piece_end; ++b)
                front::add_block(front, n.stride, pieces_[a].to, pieces_[b].to, matrix, stride, pieces_[a].from,
                                 pieces_[b].from, pieces_[a].size, pieces_[b].size);
    }
    for (int p = 0; p < n.joined; ++p) {
        const int unknown = unknowns_[n.unknown_begin + p];
        double& pivot = front[p * (n.stride + 1)];
        if (unknown >= rows_) {
            pivot = std::min(pivot, kHubPivot);
            inverse_[unknown] = 1.0 / pivot;
        } else if (!rule.enabled.empty() && !rule.enabled[unknown]) {
            pivot = 1.0;
            pivot_[unknown] = inverse_[unknown] = 0.0;
            continue;
        } else {
            const double softness = rule.softness[unknown], left = pivot;
            const bool none = !rule.least.empty() && left <= rule.least[unknown];
            pivot = std::max(left, 0.0) + softness;
            pivot_[unknown] = squares[unknown] > 0.0 ? left / squares[unknown] : 0.0;
            inverse_[unknown] = none || pivot == 0.0 ? 0.0 : 1.0 / pivot;
            if (none) continue;
        }
        front::eliminate(front, p, inverse_[unknown], n.size, n.stride);
    }
}

// The joined rows go to the factors, the ends' matrix to its stack.
void Assembly::keep(const Node& n, double* front) {
    std::copy_n(front, n.joined * n.stride, factors_.data() + n.factor);
    const int stride = front::padded(ends(n));
    double* matrix = matrices_.data() + n.matrix;
    for (int r = 0; r < ends(n); ++r)
        std::copy_n(front + (n.joined + r) * n.stride + n.joined + r, ends(n) - r, matrix + r * stride + r);
}

void Assembly::factor_node(const Node& n, const double* J, const Rule& rule, std::span<const double> squares,
                           Task& task) {
    double* front = task.front.data();
    std::fill_n(front, n.size * n.stride, 0.0);
    leaf(n, J, rule, front, task.row.data());
    join(n, rule, squares, front);
    keep(n, front);
}

// The residual of what is joined, and what children pass on of theirs, eliminated.
void Assembly::go_up(const Node& n, const double* r, double* y) {
    const int* unknown = unknowns_.data() + n.unknown_begin;
    const double* factor = factors_.data() + n.factor;
    std::fill_n(y, n.stride, 0.0);
    for (int p = 0; p < n.joined; ++p) y[p] = unknown[p] < rows_ ? r[unknown[p]] : 0.0;
    for (int i = n.child_begin; i < n.child_end; ++i) {
        const double* from = vectors_.data() + nodes_[children_[i].node].vector;
        for (int a = children_[i].piece_begin; a < children_[i].piece_end; ++a)
            for (int k = 0; k < pieces_[a].size; ++k) y[pieces_[a].to + k] += from[pieces_[a].from + k];
    }
    for (int p = 0; p < n.joined; ++p) {
        const double value = inverse_[unknown[p]] * y[p];
        value_[unknown[p]] = value;
        front::add_scaled(y, -value, factor + p * n.stride, front::first_column(p + 1), n.stride);
    }
    std::copy_n(y + n.joined, ends(n), vectors_.data() + n.vector);
}

// SPLIT: multipliers of what is joined from those at the ends.
void Assembly::go_down(const Node& n, double* y) {
    const int* unknown = unknowns_.data() + n.unknown_begin;
    const double* factor = factors_.data() + n.factor;
    std::fill_n(y, n.stride, 0.0);
    for (int k = n.joined; k < n.size; ++k) y[k] = value_[unknown[k]];
    for (int p = n.joined; p-- > 0;) {
        const double* row = factor + p * n.stride;
        y[p] = value_[unknown[p]] - inverse_[unknown[p]] * front::product(row, y, front::first_column(p + 1), n.stride);
        value_[unknown[p]] = y[p];
    }
}

template <class Visit>
void Assembly::each_task(const Visit& visit) {
    const int count = static_cast<int>(tasks_.size());
    if (pool_ != nullptr) return pool_->run(count, [&](int t) { visit(tasks_[t]); });
    for (int t = 0; t < count; ++t) visit(tasks_[t]);
}

void Assembly::factor(const double* J, const Rule& rule, std::span<const double> squares) {
    each_task([&](Task& task) {
        for (int i = task.begin; i < task.end; ++i) factor_node(nodes_[i], J, rule, squares, task);
    });
    for (const int i : above_) factor_node(nodes_[i], J, rule, squares, top_);
}

void Assembly::solve(double* r) {
    each_task([&](Task& task) {
        for (int i = task.begin; i < task.end; ++i) go_up(nodes_[i], r, task.row.data());
    });
    for (const int i : above_) go_up(nodes_[i], r, top_.row.data());
    for (auto i = above_.rbegin(); i != above_.rend(); ++i) go_down(nodes_[*i], top_.row.data());
    each_task([&](Task& task) {
        for (int i = task.end; i-- > task.begin;) go_down(nodes_[i], task.row.data());
    });
    std::copy_n(value_.begin(), rows_, r);
}

Assembly::Times Assembly::measure(const double* J, const Rule& rule, std::span<const double> squares, double* r) {
    using Clock = std::chrono::steady_clock;
    Times times;
    for (auto* v : {&times.factor, &times.up, &times.down}) v->assign(nodes_.size(), 0.0);
    std::vector<Task*> of(nodes_.size(), &top_);
    for (Task& task : tasks_) std::fill(of.begin() + task.begin, of.begin() + task.end, &task);
    auto last = Clock::now();
    const auto passed = [&] {
        const auto now = Clock::now();
        const double seconds = std::chrono::duration<double>(now - last).count();
        last = now;
        return seconds;
    };
    for (size_t i = 0; i < nodes_.size(); ++i) {
        factor_node(nodes_[i], J, rule, squares, *of[i]);
        times.factor[i] = passed();
    }
    for (size_t i = 0; i < nodes_.size(); ++i) {
        go_up(nodes_[i], r, of[i]->row.data());
        times.up[i] = passed();
    }
    for (size_t i = nodes_.size(); i-- > 0;) {
        go_down(nodes_[i], of[i]->row.data());
        times.down[i] = passed();
    }
    std::copy_n(value_.begin(), rows_, r);
    return times;
}

}  // namespace bellcrank
