#include "cones/interior.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "cones/small_blocks.hpp"

namespace bellcrank {

namespace {

constexpr double kShift = 1e-8;      // of a contact's diagonal entry
constexpr double kShortStep = 1e-3;  // this many in a row end an attempt
constexpr int kShortSteps = 6, kStalledSteps = 20;

// The impulse of an interval that is nearest to one and as far from the bounds, or in the middle.
double inside(const ImpulseRange& range, double impulse, double from_bounds) {
    const double room = std::min(from_bounds, 0.5 * (range.upper - range.lower));
    return std::clamp(impulse, range.lower + room, std::max(range.lower + room, range.upper - room));
}

// t = z_t / |z_t|, zero where there is none.
ConePoint direction_of(const ConePoint& z) {
    const double norm = tail_norm(z);
    if (!(norm > 0.0)) return {0.0, 0.0, 0.0};
    return {0.0, z[1] / norm, z[2] / norm};
}

}  // namespace

void InteriorMethod::resize(const ConeLayout& layout) {
    cones_.clear();
    first_.clear();
    for (const ConeBlock& b : layout.blocks()) {
        first_.push_back(static_cast<int>(cones_.size()));
        if (b.equality) continue;
        const size_t before = cones_.size();
        const auto add = [&](int row, int size, double coefficient, double given) {
            cones_.push_back({b.number, row, size, coefficient, given, {}, {}, {}, {}, {}, {}, {}});
        };
        if (b.interval) {  // λ − lower and upper − λ; without room between them λ stays
            if (b.range.lower == b.range.upper) continue;
            if (std::isfinite(b.range.lower)) add(1, 0, 1.0, -b.range.lower);
            if (std::isfinite(b.range.upper)) add(1, 0, -1.0, -b.range.upper);
            continue;
        }
        for (int k = 0, row = 1; k < b.discs; row += b.disc[k].size, ++k)
            if (b.disc[k].coefficient > 0.0) add(row, b.disc[k].size, b.disc[k].coefficient, b.given);
        // The normal row needs a cone of its own if its discs do not vanish with λ_n.
        if (cones_.size() == before || b.given > 0.0) add(1, 0, 1.0, 0.0);
    }
    first_.push_back(static_cast<int>(cones_.size()));
    system_.resize(layout);
    for (auto* rows : {&x_, &u_, &F_, &dx_, &work_}) rows->assign(layout.rows(), 0.0);
}

// The weight of the rows of a disc, or of the normal one.
double InteriorMethod::weight_of(const Cone& c, const ConeProblem& problem) {
    return problem.weight(problem.layout->blocks()[c.block].row + (c.size > 0 ? c.row : 0));
}

void InteriorMethod::start(const ConeProblem& problem, const InteriorRule& rule) {
    rule_ = rule;
    taken_ = short_ = last_gain_ = 0;
    best_residual_ = std::numeric_limits<double>::infinity();
    stuck_ = false;
    std::fill(x_.begin(), x_.end(), 0.0);
    for (const ConeBlock& b : problem.layout->blocks()) {
        const double size = problem.scale / (problem.weight(b.row) * problem.d[b.row]);
        x_[b.row] = b.equality ? 0.0 : b.interval ? inside(b.range, 0.0, size) : size;
    }
    for (Cone& c : cones_) {
        const ConeBlock& b = problem.layout->blocks()[c.block];
        c.s = {c.coefficient * (x_[b.row] + c.given), 0.0, 0.0};
        c.z = {problem.scale / weight_of(c, problem), 0.0, 0.0};
    }
    place(problem);
}

void InteriorMethod::start_from(const ConeProblem& problem, const InteriorRule& rule, const double* impulses,
                                double part) {
    start(problem, rule);
    std::copy_n(impulses, x_.size(), x_.data());
    problem.velocities(x_.data(), u_.data());
    const double least = part * problem.scale;
    for (Cone& c : cones_) {
        const ConeBlock& b = problem.layout->blocks()[c.block];
        c.s = c.z = {0.0, 0.0, 0.0};
        for (int i = 0; i < c.size; ++i) {
            c.s[1 + i] = x_[b.row + c.row + i];
            c.z[1 + i] = u_[b.row + c.row + i];
        }
        c.z[0] = tail_norm(c.z) + std::max(least / weight_of(c, problem), u_[b.row] / c.coefficient);
        const double from_bounds = least / (problem.weight(b.row) * problem.d[b.row]);
        x_[b.row] = b.interval ? inside(b.range, x_[b.row], from_bounds)
                               : std::max(x_[b.row], (tail_norm(c.s) / c.coefficient) - c.given + from_bounds);
    }
    for (Cone& c : cones_) c.s[0] = c.coefficient * (x_[problem.layout->blocks()[c.block].row] + c.given);
    place(problem);
}

// u, and F = u − Σ Pᵀ g(z) with g(z) = (z₀ − |z_t|, z_t).
void InteriorMethod::place(const ConeProblem& problem) {
    problem.velocities(x_.data(), u_.data());
    F_ = u_;
    for (Cone& c : cones_) {
        const ConeBlock& b = problem.layout->blocks()[c.block];
        F_[b.row] -= c.coefficient * (c.z[0] - tail_norm(c.z));
        for (int i = 0; i < c.size; ++i) F_[b.row + c.row + i] -= c.z[1 + i];
    }
}

// C of a block by its cones' compliances Pᵀ E W⁻² P, inverted.
void InteriorMethod::compliance(const ConeBlock& b) {
    const int n = b.size;
    double C[36] = {}, *K = &system_.B[b.values];
    bool free[6] = {};  // rows of discs without a coefficient have no impulse
    free[0] = true;
    for (int k = first_[b.number]; k < first_[b.number + 1]; ++k) {
        const Cone& c = cones_[k];
        const ConeScaling inverse = c.W.inverse();
        const ConePoint t = direction_of(c.z);
        int at[3] = {0, c.row, c.row + 1};
        for (int i = 0; i <= c.size; ++i)
            for (int j = 0; j <= c.size; ++j) {
                double value = inverse.square(i, j);
                if (i == 0) value -= t[1] * inverse.square(1, j) + t[2] * inverse.square(2, j);
                C[at[i] * n + at[j]] += value * (i == 0 ? c.coefficient : 1.0) * (j == 0 ? c.coefficient : 1.0);
            }
        for (int i = 0; i < c.size; ++i) free[c.row + i] = true;
    }
    std::fill_n(K, n * n, 0.0);
    for (int i = 0; i < n; ++i) {
        if (!free[i]) C[i * n + i] = 1.0;
        K[i * (n + 1)] = 1.0;
    }
    if (!solve_small(n, C, K, n)) std::fill_n(K, n * n, 0.0);
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j)
            if (!free[i] || !free[j]) K[i * n + j] = 0.0;
}

// K = C⁻¹ per block, by P⁻¹ W² E⁻¹ P⁻¹ where there is one cone; then (K S + 1 + K shift) x = K b.
void InteriorMethod::scale(const ConeProblem& problem) {
    for (Cone& c : cones_) {
        c.W.set(c.s, c.z);
        c.v = c.W.apply(c.z);
    }
    for (const ConeBlock& b : problem.layout->blocks()) {
        const int n = b.size;
        const double* d = &problem.d[b.row];
        double *K = &system_.B[b.values], *D = &system_.D[b.values], *R = &system_.R[b.values];
        std::fill_n(D, n * n, 0.0);
        std::fill_n(R, n * n, 0.0);
        if (b.equality) {
            std::fill_n(K, n * n, 0.0);
            for (int i = 0; i < n; ++i) K[i * (n + 1)] = 1.0 / d[i], R[i * (n + 1)] = kShift;
            continue;
        }
        const int first = first_[b.number], count = first_[b.number + 1] - first;
        if (count == 1 && cones_[first].size + 1 == n) {
            const Cone& c = cones_[first];
            const ConePoint t = direction_of(c.z);
            for (int i = 0; i < n; ++i)
                for (int j = 0; j < n; ++j) {
                    const double value = c.W.square(i, j) + c.W.square(i, 0) * t[j];
                    K[i * n + j] = value / ((i == 0 ? c.coefficient : 1.0) * (j == 0 ? c.coefficient : 1.0));
                }
        } else {
            compliance(b);
        }
        for (int i = 0; i < n; ++i) {
            D[i * (n + 1)] = 1.0;
            for (int j = 0; j < n; ++j) R[i * n + j] = K[i * n + j] * kShift * d[j];
        }
    }
}

// dx, ds and dz for the p of each cone: (S + C) dx = −F + Σ Pᵀ E W⁻¹ p, dz = W⁻¹ p − W⁻² ds.
void InteriorMethod::direction(const ConeProblem& problem, bool corrector) {
    for (size_t r = 0; r < F_.size(); ++r) work_[r] = -F_[r];
    for (Cone& c : cones_) {
        const ConeBlock& b = problem.layout->blocks()[c.block];
        const ConePoint w = c.W.apply_inverse(c.p), t = direction_of(c.z);
        work_[b.row] += c.coefficient * (w[0] - t[1] * w[1] - t[2] * w[2]);
        for (int i = 0; i < c.size; ++i) work_[b.row + c.row + i] += w[1 + i];
    }
    std::fill(dx_.begin(), dx_.end(), 0.0);
    for (const ConeBlock& b : problem.layout->blocks())
        add_product(b.size, 1.0, &system_.B[b.values], &work_[b.row], &dx_[b.row]);
    system_.solve(problem, dx_.data(), corrector ? 1 : 0, 1e-6);
    for (Cone& c : cones_) {
        const ConeBlock& b = problem.layout->blocks()[c.block];
        c.ds = {c.coefficient * dx_[b.row], 0.0, 0.0};
        for (int i = 0; i < c.size; ++i) c.ds[1 + i] = dx_[b.row + c.row + i];
        const ConePoint scaled = c.W.apply_inverse(c.ds);
        c.dz = c.W.apply_inverse({c.p[0] - scaled[0], c.p[1] - scaled[1], c.p[2] - scaled[2]});
    }
}

double InteriorMethod::reach(double part) const {
    double length = 1.0;
    for (const Cone& c : cones_)
        length = std::min({length, part * longest_step(c.s, c.ds), part * longest_step(c.z, c.dz)});
    return length;
}

double InteriorMethod::complementarity(double length) const {
    double sum = 0.0;
    for (const Cone& c : cones_)
        for (int i = 0; i < 3; ++i) sum += (c.s[i] + length * c.ds[i]) * (c.z[i] + length * c.dz[i]);
    return sum / static_cast<double>(cones_.size());
}

bool InteriorMethod::step(const ConeProblem& problem) {
    scale(problem);
    if (!system_.factor(problem)) return false;
    double centring = 0.0, mean = 0.0, affine = 0.0;
    for (Cone& c : cones_) {
        c.p = {-c.v[0], -c.v[1], -c.v[2]};
        c.ds = c.dz = {0.0, 0.0, 0.0};
    }
    if (!cones_.empty()) {
        mean = complementarity(0.0);
        direction(problem, false);
        affine = reach(1.0);
        const double ratio = std::max(0.0, complementarity(affine) / mean);
        centring = std::clamp(ratio * ratio * ratio, rule_.least_centring, 1.0);
    }
    for (Cone& c : cones_) {
        const ConePoint vv = jordan(c.v, c.v);
        ConePoint second = jordan(c.W.apply_inverse(c.ds), c.W.apply(c.dz));
        if (rule_.damped)
            for (double& x : second) x *= affine;
        c.p = divide(c.v, {centring * mean - vv[0] - second[0], -vv[1] - second[1], -vv[2] - second[2]});
    }
    direction(problem, true);
    const double length = reach(rule_.boundary);
    if (!(length > 0.0)) return false;
    for (size_t r = 0; r < x_.size(); ++r) x_[r] += length * dx_[r];
    for (Cone& c : cones_)
        for (int i = 0; i < 3; ++i) {
            c.s[i] += length * c.ds[i];
            c.z[i] += length * c.dz[i];
        }
    short_ = length < kShortStep ? short_ + 1 : 0;
    place(problem);
    return short_ < kShortSteps && std::all_of(
                                       cones_.begin(), cones_.end(),
                                       [](const Cone& c) { return determinant(c.s) > 0.0 && determinant(c.z) > 0.0; });
}

ConeResidual InteriorMethod::run(const ConeProblem& problem, double target, int steps, ConeReport& report) {
    ConeResidual now = natural_residual(problem, x_.data(), u_.data());
    while (!stuck_ && now.value > target) {
        if (now.value < 0.5 * best_residual_) {
            best_residual_ = now.value;
            last_gain_ = taken_;
        }
        if (taken_ == steps || taken_ - last_gain_ > kStalledSteps) {
            stuck_ = true;
            break;
        }
        ++taken_;
        ++report.factorizations;
        ++report.interior_steps;
        stuck_ = !step(problem);
        now = natural_residual(problem, x_.data(), u_.data());
    }
    return now;
}

}  // namespace bellcrank
