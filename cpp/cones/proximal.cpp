#include "cones/proximal.hpp"

#include <algorithm>

namespace bellcrank {

namespace {

// ρ: at first, its fall from problem to problem, at first and after a stall, its rise at one, and the largest.
constexpr double kFirst = 1e-2, kFall = 0.1, kSlowFall = 0.4, kRise = 4.0, kMost = 10.0;
constexpr int kNewtonSteps = 5, kFactorizations = 120, kStalls = 6;
// The residual that a problem about a centre is solved to, by the true one and by ρ, and what is a gain.
constexpr double kPart = 0.01, kEnough = 0.1;

}  // namespace

void SoftenedOperator::set(ConeOperator& S, const std::vector<double>& d, double softness) {
    S_ = &S;
    d_ = &d;
    softness_ = softness;
}

void SoftenedOperator::multiply(const double* x, double* y) {
    S_->multiply(x, y);
    for (int r = 0; r < rows(); ++r) y[r] += softness_ * (*d_)[r] * x[r];
}

void SoftenedOperator::diagonal(double* d) const {
    S_->diagonal(d);
    for (int r = 0; r < rows(); ++r) d[r] += softness_ * (*d_)[r];
}

// B (S + ρ d) + D = B S + (D + ρ B d).
bool SoftenedOperator::factor(const ConeLayout& layout, const double* B, const double* D) {
    D_.assign(D, D + layout.values());
    for (const ConeBlock& b : layout.blocks())
        for (int i = 0; i < b.size; ++i)
            for (int j = 0; j < b.size; ++j) {
                const int at = b.values + i * b.size + j;
                D_[at] += softness_ * B[at] * (*d_)[b.row + j];
            }
    return S_->factor(layout, B, D_.data());
}

void SoftenedOperator::begin_sweeps(const ConeLayout& layout, const double* x) {
    x_.assign(x, x + rows());
    S_->begin_sweeps(layout, x);
}

void SoftenedOperator::product_of(const ConeBlock& block, double* y) {
    S_->product_of(block, y);
    for (int r = 0; r < block.size; ++r) y[r] += softness_ * (*d_)[block.row + r] * x_[block.row + r];
}

void SoftenedOperator::change(const ConeBlock& block, const double* dx) {
    for (int r = 0; r < block.size; ++r) x_[block.row + r] += dx[r];
    S_->change(block, dx);
}

void ProximalPoints::resize(const ConeLayout& layout) {
    for (auto* rows : {&q_, &u_, &centre_, &best_}) rows->resize(layout.rows());
}

// Whether Newton's steps about the impulses end at what is wanted, or at enough; otherwise the impulses stay.
bool ProximalPoints::approach(const ConeProblem& problem, SemismoothNewton& newton, double* impulses, double wanted,
                              double enough, ConeReport& report) {
    std::copy_n(impulses, centre_.size(), centre_.data());
    for (size_t r = 0; r < q_.size(); ++r) q_[r] = problem.q[r] - softness_ * problem.d[r] * centre_[r];
    softened_.set(*problem.S, problem.d, softness_);
    about_ = problem;
    about_.S = &softened_;
    about_.q = q_.data();
    const double found = newton.run(about_, impulses, kNewtonSteps, wanted, report).value;
    if (found <= wanted) return true;
    if (!(found < enough)) std::ranges::copy(centre_, impulses);
    return false;
}

ConeResidual ProximalPoints::run(const ConeProblem& problem, SemismoothNewton& newton, double* impulses,
                                 double tolerance, ConeReport& report) {
    problem.velocities(impulses, u_.data());
    ConeResidual now = natural_residual(problem, impulses, u_.data()), best = now;
    std::copy_n(impulses, best_.size(), best_.data());
    softness_ = kFirst;
    double fall = kFall;
    const int begin = report.factorizations;
    for (int stalls = 0; stalls <= kStalls && softness_ <= kMost && !(best.value <= tolerance);) {
        if (report.factorizations - begin >= kFactorizations) break;
        const double wanted = std::max(0.3 * tolerance, kPart * std::min(softness_, now.value));
        const bool found = approach(problem, newton, impulses, wanted, kEnough * now.value, report);
        const bool stays = std::equal(centre_.begin(), centre_.end(), impulses);
        problem.velocities(impulses, u_.data());
        now = natural_residual(problem, impulses, u_.data());
        stalls = stays ? stalls + 1 : 0;
        if (stays) fall = kSlowFall;
        softness_ *= stays ? kRise : found ? fall : 1.0;
        if (now.value < best.value) {
            best = now;
            std::copy_n(impulses, best_.size(), best_.data());
        }
    }
    std::ranges::copy(best_, impulses);
    return best;
}

}  // namespace bellcrank
