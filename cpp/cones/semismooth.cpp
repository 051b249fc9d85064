#include "cones/semismooth.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace bellcrank {

namespace {

// Whole steps that may increase the merit, which is how active sets change, and by how much over the first one.
constexpr int kFreeSteps = 3;
constexpr double kFreeGrowth = 1e3;
constexpr int kHalvings = 12;

struct DiscPoint {
    double y[2], norm;
};

DiscPoint disc_point(int m, const double* x, const double* u, double d) {
    DiscPoint p{};
    for (int i = 0; i < m; ++i) p.y[i] = x[i] - u[i] / d;
    p.norm = m == 2 ? std::sqrt(p.y[0] * p.y[0] + p.y[1] * p.y[1]) : std::abs(p.y[0]);
    return p;
}

// Derivative G of the projection, n × n in a block: B = G / d, D = 1 − G, R where G is one.
void linearize_contact(const ConeBlock& b, const double* d, const double* x, const double* u, double* G) {
    const int n = b.size;
    std::fill_n(G, n * n, 0.0);
    const double pushed = x[0] - u[0] / d[0];
    if (b.interval) {
        G[0] = pushed > b.range.lower && pushed < b.range.upper ? 1.0 : 0.0;
        return;
    }
    G[0] = pushed > 0.0 ? 1.0 : 0.0;
    const double normal = std::max(0.0, pushed) + b.given;
    if (!(normal > 0.0)) return;
    for (int k = 0, row = 1; k < b.discs; row += b.disc[k].size, ++k) {
        const int m = b.disc[k].size;
        const double mu = b.disc[k].coefficient, radius = mu * normal;
        if (mu == 0.0) continue;
        const DiscPoint p = disc_point(m, x + row, u + row, d[row]);
        const bool sticks = p.norm <= radius;
        for (int i = 0; i < m; ++i) {
            for (int j = 0; j < m; ++j) {
                const double along = sticks ? 0.0 : p.y[i] * p.y[j] / (p.norm * p.norm);
                G[(row + i) * n + row + j] = ((i == j ? 1.0 : 0.0) - along) * (sticks ? 1.0 : radius / p.norm);
            }
            G[(row + i) * n] = sticks ? 0.0 : G[0] * mu * p.y[i] / p.norm;
        }
    }
}

}  // namespace

void SemismoothNewton::resize(const ConeLayout& layout) {
    system_.resize(layout);
    for (auto* rows : {&u_, &step_, &change_, &F_, &x_try_, &u_try_, &best_}) rows->resize(layout.rows());
}

// F, and the sum of (F d)², weighted.
double SemismoothNewton::evaluate(const ConeProblem& problem, const double* x, const double* u, double* F) const {
    double merit = 0.0;
    for (const ConeBlock& b : problem.layout->blocks()) {
        const double *d = &problem.d[b.row], *xb = x + b.row, *ub = u + b.row;
        double* f = F + b.row;
        if (b.equality) {
            for (int i = 0; i < b.size; ++i) f[i] = ub[i] / d[i];
        } else if (b.interval) {
            f[0] = xb[0] - b.range.clamp(xb[0] - ub[0] / d[0]);
        } else {
            const double normal = std::max(0.0, xb[0] - ub[0] / d[0]);
            f[0] = xb[0] - normal;
            for (int k = 0, row = 1; k < b.discs; row += b.disc[k].size, ++k) {
                const int m = b.disc[k].size;
                const double radius = b.disc[k].coefficient * (normal + b.given);
                const DiscPoint p = disc_point(m, xb + row, ub + row, d[row]);
                for (int i = 0; i < m; ++i)
                    f[row + i] = xb[row + i] - (p.norm <= radius ? p.y[i] : p.y[i] * (radius / p.norm));
            }
        }
        for (int i = 0; i < b.size; ++i) {
            const double missed = f[i] * d[i] * problem.weight(b.row + i);
            merit += missed * missed;
        }
    }
    return merit;
}

void SemismoothNewton::linearize(const ConeProblem& problem, const double* x, const double* u) {
    for (const ConeBlock& b : problem.layout->blocks()) {
        const int n = b.size;
        const double* d = &problem.d[b.row];
        double G[36] = {};
        if (b.equality)
            for (int i = 0; i < n; ++i) G[i * (n + 1)] = 1.0;
        else
            linearize_contact(b, d, x + b.row, u + b.row, G);
        double *B = &system_.B[b.values], *D = &system_.D[b.values], *R = &system_.R[b.values];
        for (int i = 0; i < n; ++i)
            for (int j = 0; j < n; ++j) {
                const int at = i * n + j;
                B[at] = G[at] / d[j];
                D[at] = (i == j ? 1.0 : 0.0) - G[at];
                R[at] = i == j ? proximal_ * std::abs(G[at]) : 0.0;
            }
    }
}

// The longest halved step that decreases the merit, or a whole one with a merit below `allowed`; left in x_try_.
// Returns its merit, infinite if there is none.
double SemismoothNewton::search(const ConeProblem& problem, const double* x, double merit, double allowed) {
    const size_t rows = step_.size();
    double length = 1.0;
    for (int half = 0; half < kHalvings; ++half, length *= 0.5) {
        for (size_t r = 0; r < rows; ++r) {
            x_try_[r] = x[r] + length * step_[r];
            u_try_[r] = u_[r] + length * change_[r];
        }
        const double found = evaluate(problem, x_try_.data(), u_try_.data(), F_.data());
        if (found < merit * (1.0 - 1e-4 * length) || (half == 0 && found < allowed)) return found;
    }
    return std::numeric_limits<double>::infinity();
}

ConeResidual SemismoothNewton::run(const ConeProblem& problem, double* x, int steps, double tolerance,
                                   ConeReport& report, double proximal) {
    proximal_ = proximal;
    const int rows = problem.layout->rows();
    problem.velocities(x, u_.data());
    ConeResidual best = natural_residual(problem, x, u_.data());
    std::copy_n(x, rows, best_.data());
    double merit = evaluate(problem, x, u_.data(), F_.data());
    int free_steps = kFreeSteps;
    const double first_merit = merit;
    for (int k = 0; k < steps && !(best.value <= tolerance); ++k) {
        linearize(problem, x, u_.data());
        ++report.factorizations;
        ++report.newton_steps;
        if (!system_.factor(problem)) break;
        for (int r = 0; r < rows; ++r) step_[r] = -F_[r];
        system_.solve(problem, step_.data(), 3, 1e-6);
        problem.S->multiply(step_.data(), change_.data());
        const double found = search(problem, x, merit, free_steps > 0 ? kFreeGrowth * first_merit : 0.0);
        if (!(found < std::numeric_limits<double>::infinity())) break;
        if (!(found < merit)) --free_steps;
        std::copy_n(x_try_.data(), rows, x);
        problem.velocities(x, u_.data());
        merit = evaluate(problem, x, u_.data(), F_.data());
        const ConeResidual now = natural_residual(problem, x, u_.data());
        if (now.value < best.value) {
            best = now;
            std::copy_n(x, rows, best_.data());
        }
    }
    std::copy_n(best_.data(), rows, x);
    return best;
}

}  // namespace bellcrank
