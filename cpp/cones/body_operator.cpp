#include "cones/body_operator.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "cones/small_blocks.hpp"

namespace bellcrank {

namespace {

constexpr int kWidth = BodyConeOperator::kRow;

// H += Aᵀ T over `rows` rows of A and T.
template <int rows>
void add_outer(const double* A, const double* T, double* H) {
    WideRow t[rows];
    for (int r = 0; r < rows; ++r) t[r] = WideRow(T + r * kWidth);
    for (int i = 0; i < 6; ++i) {
        WideRow h(H + i * kWidth);
        for (int r = 0; r < rows; ++r) h.add(A[r * kWidth + i], t[r]);
        h.store(H + i * kWidth);
    }
}

void add_outer_of(int rows, const double* A, const double* T, double* H) {
    static constexpr void (*kernels[])(const double*, const double*, double*) = {
        add_outer<1>, add_outer<2>, add_outer<3>, add_outer<4>, add_outer<5>, add_outer<6>};
    kernels[rows - 1](A, T, H);
}

// T = K A, K (rows, rows).
void stiffen(int rows, const double* K, const double* A, double* T) {
    for (int r = 0; r < rows; ++r) {
        WideRow t;
        for (int c = 0; c < rows; ++c) t.add(K[r * rows + c], WideRow(A + c * kWidth));
        t.store(T + r * kWidth);
    }
}

}  // namespace

bool BodyConeOperator::same_pattern(const ConeLayout& layout, int bodies, std::span<const Side> sides) const {
    if (bodies != bodies_ || layout.blocks().size() != blocks_.size()) return false;
    for (size_t b = 0; b < blocks_.size(); ++b)
        if (layout.blocks()[b].size != blocks_[b].size) return false;
    return std::equal(sides.begin(), sides.end(), pattern_.begin(), pattern_.end());
}

bool BodyConeOperator::set_pattern(const ConeLayout& layout, int bodies, std::span<const Side> sides) {
    if (same_pattern(layout, bodies, sides)) return false;
    const int count = static_cast<int>(layout.blocks().size());
    for (size_t s = 0; s < sides.size(); ++s) {
        const Side& side = sides[s];
        const std::string who = "side " + std::to_string(s);
        if (side.block < 0 || side.block >= count || (s > 0 && side.block < sides[s - 1].block))
            throw std::invalid_argument(who + ": blocks must ascend from 0 to " + std::to_string(count - 1) + ", got " +
                                        std::to_string(side.block));
        if (side.body < 0 || side.body >= bodies)
            throw std::invalid_argument(who + ": bodies are 0 to " + std::to_string(bodies - 1) + ", got " +
                                        std::to_string(side.body));
        for (size_t t = s; t-- > 0 && sides[t].block == side.block;)
            if (sides[t].body == side.body)
                throw std::invalid_argument(who + ": body " + std::to_string(side.body) + " is there twice in block " +
                                            std::to_string(side.block));
    }
    rows_ = layout.rows();
    bodies_ = bodies;
    pattern_.assign(sides.begin(), sides.end());
    blocks_.clear();
    for (const ConeBlock& b : layout.blocks()) blocks_.push_back({b.row, b.size, 0, 0, b.values});
    stiffness_.assign(layout.values(), 0.0);
    inverse_.assign(layout.values(), 0.0);
    analyse();
    return true;
}

void BodyConeOperator::analyse() {
    couplings_.clear();
    sides_.clear();
    targets_.clear();
    int jacobian = 0, next = 0;
    for (size_t b = 0; b < blocks_.size(); ++b) {
        Rows& block = blocks_[b];
        block.begin = next;
        for (; next < static_cast<int>(pattern_.size()) && pattern_[next].block == static_cast<int>(b); ++next) {
            for (int t = block.begin; t < next; ++t) couplings_.emplace_back(pattern_[t].body, pattern_[next].body);
            sides_.push_back({pattern_[next].body, jacobian, 0});
            jacobian += kRow * block.size;
        }
        block.end = next;
    }
    for (auto& [a, b] : couplings_)
        if (a > b) std::swap(a, b);
    std::sort(couplings_.begin(), couplings_.end());
    couplings_.erase(std::unique(couplings_.begin(), couplings_.end()), couplings_.end());
    if (bodies_ != ldu_.nodes() || couplings_ != analysed_) {
        ldu_.analyse(bodies_, couplings_);
        analysed_ = couplings_;
    }
    for (const Rows& block : blocks_)
        for (int s = block.begin; s < block.end; ++s) {
            sides_[s].target = static_cast<int>(targets_.size());
            for (int t = block.begin; t < block.end; ++t)
                targets_.push_back(ldu_.block(sides_[s].body, sides_[t].body));
        }
    jacobians_.assign(jacobian, 0.0);
    velocities_.assign(6 * static_cast<size_t>(bodies_) + 2, 0.0);
    compliance_.assign(rows_, 0.0);
    work_.assign(rows_, 0.0);
    impulses_.assign(rows_, 0.0);
}

// Rows are eight wide, the last two numbers zero: those of the next body count for nothing.
void BodyConeOperator::push(const double* x) {
    std::fill(velocities_.begin(), velocities_.end(), 0.0);
    for (const Rows& b : blocks_) push_block(b, x + b.row);
}

void BodyConeOperator::push_block(const Rows& b, const double* x) {
    for (int s = b.begin; s < b.end; ++s) {
        const double* J = &jacobians_[sides_[s].jacobian];
        double* v = &velocities_[6 * sides_[s].body];
        WideRow sum(v);
        for (int r = 0; r < b.size; ++r) sum.add(x[r], WideRow(J + r * kRow));
        sum.store(v);
    }
}

void BodyConeOperator::pull(double f, double* y) const {
    for (const Rows& b : blocks_) pull_block(b, f, y + b.row);
}

void BodyConeOperator::pull_block(const Rows& b, double f, double* y) const {
    for (int s = b.begin; s < b.end; ++s) {
        const double* J = &jacobians_[sides_[s].jacobian];
        const WideRow v(&velocities_[6 * sides_[s].body]);
        for (int r = 0; r < b.size; ++r) y[r] += f * dot(WideRow(J + r * kRow), v);
    }
}

void BodyConeOperator::to_rows(const double* bodies, double* rows) {
    std::copy_n(bodies, 6 * static_cast<size_t>(bodies_), velocities_.begin());
    std::fill_n(rows, rows_, 0.0);
    pull(1.0, rows);
}

void BodyConeOperator::to_bodies(const double* impulses, double* bodies) {
    push(impulses);
    std::copy_n(velocities_.begin(), 6 * static_cast<size_t>(bodies_), bodies);
}

void BodyConeOperator::multiply(const double* x, double* y) {
    push(x);
    for (int r = 0; r < rows_; ++r) y[r] = compliance_[r] * x[r];
    pull(1.0, y);
}

void BodyConeOperator::diagonal(double* d) const {
    std::copy_n(compliance_.data(), rows_, d);
    for (const Rows& b : blocks_)
        for (int s = b.begin; s < b.end; ++s)
            for (int r = 0; r < b.size; ++r) {
                const double* J = &jacobians_[sides_[s].jacobian + r * kRow];
                for (int j = 0; j < 6; ++j) d[b.row + r] += J[j] * J[j];
            }
}

bool BodyConeOperator::factor(const ConeLayout&, const double* B, const double* D) {
    ldu_.reset();
    double* values = ldu_.values();
    for (const Rows& b : blocks_) {
        const int n = b.size;
        double A[36], X[72], T[6 * kRow];
        for (int r = 0; r < n; ++r)
            for (int c = 0; c < n; ++c) {
                A[r * n + c] = D[b.values + r * n + c] + B[b.values + r * n + c] * compliance_[b.row + c];
                X[2 * r * n + c] = B[b.values + r * n + c];
                X[(2 * r + 1) * n + c] = r == c ? 1.0 : 0.0;
            }
        if (!solve_small(n, A, X, 2 * n)) return false;
        double *K = &stiffness_[b.values], *inverse = &inverse_[b.values];
        for (int r = 0; r < n; ++r) {
            std::copy_n(X + 2 * r * n, n, K + r * n);
            std::copy_n(X + (2 * r + 1) * n, n, inverse + r * n);
        }
        if (std::all_of(K, K + n * n, [](double k) { return k == 0.0; })) continue;
        for (int t = b.begin; t < b.end; ++t) {
            stiffen(n, K, &jacobians_[sides_[t].jacobian], T);
            for (int s = b.begin; s < b.end; ++s)
                add_outer_of(n, &jacobians_[sides_[s].jacobian], T, values + targets_[sides_[s].target + t - b.begin]);
        }
    }
    return ldu_.factor();
}

void BodyConeOperator::solve(double* b) {
    std::fill(work_.begin(), work_.end(), 0.0);
    for (const Rows& k : blocks_) add_product(k.size, 1.0, &inverse_[k.values], b + k.row, &work_[k.row]);
    push(work_.data());
    ldu_.solve(velocities_.data());
    std::fill(impulses_.begin(), impulses_.end(), 0.0);
    pull(1.0, impulses_.data());
    std::copy(work_.begin(), work_.end(), b);
    for (const Rows& k : blocks_) add_product(k.size, -1.0, &stiffness_[k.values], &impulses_[k.row], b + k.row);
}

void BodyConeOperator::begin_sweeps(const ConeLayout&, const double* x) {
    push(x);
    std::copy_n(x, rows_, impulses_.data());
}

void BodyConeOperator::product_of(const ConeBlock& block, double* y) {
    const Rows& b = blocks_[block.number];
    for (int r = 0; r < b.size; ++r) y[r] = compliance_[b.row + r] * impulses_[b.row + r];
    pull_block(b, 1.0, y);
}

void BodyConeOperator::change(const ConeBlock& block, const double* dx) {
    const Rows& b = blocks_[block.number];
    for (int r = 0; r < b.size; ++r) impulses_[b.row + r] += dx[r];
    push_block(b, dx);
}

}  // namespace bellcrank
