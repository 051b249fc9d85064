#include "cones/natural_map.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace bellcrank {

namespace {

// y ← the nearest point with |tail| <= radius; tail of one or two numbers.
void project_on_disc(int size, double radius, double* y) {
    const double norm = size == 2 ? std::sqrt(y[0] * y[0] + y[1] * y[1]) : std::abs(y[0]);
    if (norm <= radius) return;
    for (int i = 0; i < size; ++i) y[i] *= radius / norm;
}

// y ← the nearest point with |tail| <= μ head.
void project_on_cone(int size, double mu, double* y) {
    const double norm = size == 2 ? std::sqrt(y[1] * y[1] + y[2] * y[2]) : std::abs(y[1]);
    if (norm <= mu * y[0]) return;
    if (mu * norm <= -y[0]) {
        std::fill_n(y, size + 1, 0.0);
        return;
    }
    y[0] = (y[0] + mu * norm) / (1.0 + mu * mu);
    for (int i = 1; i <= size; ++i) y[i] *= mu * y[0] / norm;
}

double difference(int size, const double* a, const double* b) {
    double most = 0.0;
    for (int i = 0; i < size; ++i) most = std::max(most, std::abs(a[i] - b[i]));
    return most;
}

double contact_residual(const ConeBlock& b, const double* d, const double* weights, const double* x, const double* u) {
    if (b.interval) return std::abs(x[0] - b.range.clamp(x[0] - u[0] / d[0])) * d[0] * weights[0];
    double y[3], worst = 0.0;
    int row = 1, first = 1;
    if (b.discs == 0 || b.given > 0.0) {
        worst = std::abs(x[0] - std::max(0.0, x[0] - u[0] / d[0])) * d[0] * weights[0];
        first = 0;
    } else {
        const int m = b.disc[0].size;
        const double mu = b.disc[0].coefficient, slip = m == 2 ? std::sqrt(u[1] * u[1] + u[2] * u[2]) : std::abs(u[1]);
        y[0] = x[0] - (u[0] + mu * slip) / d[0];
        for (int i = 1; i <= m; ++i) y[i] = x[i] - u[i] / d[0];
        project_on_cone(m, mu, y);
        worst = difference(m + 1, x, y) * d[0] * weights[0];
        row += m;
    }
    for (int k = first; k < b.discs; ++k) {
        const int m = b.disc[k].size;
        for (int i = 0; i < m; ++i) y[i] = x[row + i] - u[row + i] / d[row];
        project_on_disc(m, b.disc[k].coefficient * (std::max(0.0, x[0]) + b.given), y);
        worst = std::max(worst, difference(m, x + row, y) * d[row] * weights[row]);
        row += m;
    }
    return worst;
}

}  // namespace

void ConeProblem::set(const ConeLayout& new_layout, ConeOperator& new_S, const double* new_q) {
    layout = &new_layout;
    S = &new_S;
    q = new_q;
    const int rows = layout->rows();
    d.resize(rows);
    S->diagonal(d.data());
    scale = 0.0;
    double most = 0.0;
    for (int r = 0; r < rows; ++r) {
        scale = std::max(scale, weight(r) * std::abs(q[r]));
        most = std::max(most, d[r]);
    }
    const double least = most > 0.0 ? 1e-14 * most : 1.0;  // rows between bodies that cannot move have none
    for (double& x : d) x = std::max(x, least);
    for (const ConeBlock& b : layout->blocks()) {
        if (b.equality) continue;
        int begin = b.row, end = b.row + 1;
        for (int k = 0; k < b.discs; ++k) {
            end += b.disc[k].size;
            const double largest = *std::max_element(&d[begin], &d[0] + end);
            std::fill(&d[begin], &d[0] + end, largest);
            begin = end;
        }
    }
}

void ConeProblem::velocities(const double* impulses, double* u) const {
    S->multiply(impulses, u);
    for (int r = 0; r < layout->rows(); ++r) u[r] += q[r];
}

ConeResidual natural_residual(const ConeProblem& problem, const double* impulses, const double* u) {
    ConeResidual out;
    for (const ConeBlock& b : problem.layout->blocks()) {
        double worst = 0.0;
        if (b.equality)
            for (int r = b.row; r < b.row + b.size; ++r) worst = std::max(worst, problem.weight(r) * std::abs(u[r]));
        else
            worst =
                contact_residual(b, &problem.d[b.row], &problem.layout->weights()[b.row], impulses + b.row, u + b.row);
        for (int r = b.row; r < b.row + b.size; ++r)
            if (!std::isfinite(impulses[r]) || !std::isfinite(u[r])) worst = std::numeric_limits<double>::infinity();
        worst /= problem.scale;
        if (!std::isfinite(worst)) worst = std::numeric_limits<double>::infinity();
        if (worst > out.value || out.worst < 0) out = {worst, b.number};
    }
    return out;
}

namespace {

// y: impulses of a block less its velocities over d, projected.
void project_block(const ConeBlock& b, double* y) {
    if (b.equality) return;
    y[0] = b.interval ? b.range.clamp(y[0]) : std::max(0.0, y[0]);
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
