#include "cones/regularized.hpp"

#include <algorithm>
#include <cmath>

#include "cones/small_blocks.hpp"

namespace bellcrank {

void RegularizedSystem::resize(const ConeLayout& layout) {
    for (auto* values : {&B, &D, &R}) values->assign(layout.values(), 0.0);
    shifted_.resize(layout.values());
    for (auto* rows : {&b_, &product_, &residual_}) rows->resize(layout.rows());
}

bool RegularizedSystem::factor(const ConeProblem& problem) {
    for (size_t i = 0; i < D.size(); ++i) shifted_[i] = D[i] + R[i];
    return problem.S->factor(*problem.layout, B.data(), shifted_.data());
}

void RegularizedSystem::solve(const ConeProblem& problem, double* x, int corrections, double enough) {
    const int rows = problem.layout->rows();
    std::copy_n(x, rows, b_.data());
    double before = 0.0;
    for (int r = 0; r < rows; ++r) before = std::max(before, std::abs(b_[r]) * problem.d[r] * problem.weight(r));
    const double wanted = enough * before;
    problem.S->solve(x);
    for (int k = 0; k < corrections; ++k) {
        problem.S->multiply(x, product_.data());
        residual_ = b_;
        for (const ConeBlock& b : problem.layout->blocks()) {
            add_product(b.size, -1.0, &B[b.values], &product_[b.row], &residual_[b.row]);
            add_product(b.size, -1.0, &D[b.values], x + b.row, &residual_[b.row]);
        }
        double now = 0.0;
        for (int r = 0; r < rows; ++r) now = std::max(now, std::abs(residual_[r]) * problem.d[r] * problem.weight(r));
        if (!(now > wanted) || !(now < before)) return;
        before = now;
        problem.S->solve(residual_.data());
        for (int r = 0; r < rows; ++r) x[r] += residual_[r];
    }
}

}  // namespace bellcrank
