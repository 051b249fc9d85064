#include "cones/sweeps.hpp"

#include <algorithm>
#include <cmath>

namespace bellcrank {

namespace {

// y: impulses of a block less its velocities over d, projected.
void project_block(const ConeBlock& b, double* y) {
    if (b.equality) return;
    y[0] = std::max(0.0, y[0]);
    for (int k = 0, row = 1; k < b.discs; row += b.disc[k].size, ++k) {
        const int m = b.disc[k].size;
        const double radius = b.disc[k].coefficient * (y[0] + b.given);
        const double norm = m == 2 ? std::sqrt(y[row] * y[row] + y[row + 1] * y[row + 1]) : std::abs(y[row]);
        if (norm > radius)
            for (int i = 0; i < m; ++i) y[row + i] *= radius / norm;
    }
}

}  // namespace

ConeResidual sweep(const ConeProblem& problem, double* impulses, double* u, int sweeps, double tolerance,
                   ConeReport& report) {
    constexpr int kBetweenChecks = 10;
    ConeResidual now;
    for (int k = 0; k < sweeps; ++k) {
        if (k % kBetweenChecks == 0) {
            problem.velocities(impulses, u);
            now = natural_residual(problem, impulses, u);
            if (now.value <= tolerance) return now;
            problem.S->begin_sweeps(*problem.layout, impulses);
        }
        ++report.sweeps;
        for (const ConeBlock& b : problem.layout->blocks()) {
            double product[6], y[6];
            problem.S->product_of(b, product);
            for (int r = 0; r < b.size; ++r)
                y[r] = impulses[b.row + r] - (product[r] + problem.q[b.row + r]) / problem.d[b.row + r];
            project_block(b, y);
            for (int r = 0; r < b.size; ++r) {
                const double before = impulses[b.row + r];
                impulses[b.row + r] = y[r];
                y[r] -= before;
            }
            problem.S->change(b, y);
        }
    }
    problem.velocities(impulses, u);
    return natural_residual(problem, impulses, u);
}

}  // namespace bellcrank
