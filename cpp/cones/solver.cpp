#include "cones/solver.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

#include "cones/natural_map.hpp"

namespace bellcrank {

namespace {

constexpr double kFirstTarget = 1e-3, kNextTarget = 1e-2, kLastTarget = 1e-9;
constexpr int kBeforeProximal = 2;  // attempts

constexpr InteriorRule kDamped{0.99, 0.0, true};

}  // namespace

// One after another until one of them converges: each stalls on problems that others solve.
const ConeSolver::Attempt ConeSolver::kAttempts[7] = {{kDamped, From::given, 1e-2},
                                                      {kDamped, From::given, 1e-1},
                                                      {kDamped, From::nothing, 0.0},
                                                      {kDamped, From::best, 1e-2},
                                                      {kDamped, From::best, 1e-1},
                                                      {{0.99, 0.0, false}, From::nothing, 0.0},
                                                      {{0.95, 0.1, false}, From::nothing, 0.0}};

void ConeSolver::check(const ConeLayout& layout, const ConeOperator& S, const double* q, const double* impulses) const {
    if (layout.rows() != S.rows())
        throw std::invalid_argument("blocks have " + std::to_string(layout.rows()) + " rows, S has " +
                                    std::to_string(S.rows()));
    for (int r = 0; r < layout.rows(); ++r)
        if (!std::isfinite(q[r]) || !std::isfinite(impulses[r]))
            throw std::invalid_argument("row " + std::to_string(r) + ": the velocity " + std::to_string(q[r]) +
                                        " and the impulse to start from " + std::to_string(impulses[r]) +
                                        " must be finite");
}

// Whether the impulses satisfy the tolerance; the best so far are kept.
bool ConeSolver::keep(const ConeResidual& found, const std::vector<double>& impulses, ConeReport& report) {
    if (found.value < report.residual || report.worst < 0) {
        report.residual = found.value;
        report.worst = found.worst;
        best_ = impulses;
    }
    return report.residual <= tolerance_;
}

// Interior steps, then Newton's; where these do not converge, closer by the former.
bool ConeSolver::attempt(const Attempt& next, const ConeOptions& options, ConeReport& report) {
    if (next.from == From::nothing)
        interior_.start(problem_, next.rule);
    else
        interior_.start_from(problem_, next.rule, (next.from == From::given ? given_ : best_).data(), next.part);
    for (double target = kFirstTarget; target >= kLastTarget; target *= kNextTarget) {
        keep(interior_.run(problem_, target, options.interior_steps, report), interior_.impulses(), report);
        x_ = interior_.impulses();
        if (keep(newton_.run(problem_, x_.data(), options.newton_steps, tolerance_, report), x_, report)) return true;
        if (!interior_.can_go_on()) return false;
    }
    return false;
}

bool ConeSolver::attempt_proximal(ConeReport& report) {
    x_ = best_;
    return keep(proximal_.run(problem_, newton_, x_.data(), tolerance_, report), x_, report);
}

// Sweeps find which points push and slip where Newton's steps go round in a circle.
bool ConeSolver::finish_by_sweeps(const ConeOptions& options, ConeReport& report) {
    x_ = best_;
    if (keep(sweep(problem_, x_.data(), u_.data(), options.sweeps, tolerance_, report), x_, report)) return true;
    return keep(newton_.run(problem_, x_.data(), options.newton_steps, tolerance_, report), x_, report);
}

// Tries the impulses in x_, whose velocities are in u_, then Newton's steps from there.
ConeEnd ConeSolver::search_from_given(const ConeOptions& options, bool warm, ConeReport& report) {
    if (keep(natural_residual(problem_, x_.data(), u_.data()), x_, report)) return ConeEnd::given;
    // Where nothing rubs, Newton's steps find from nothing as well which rows push.
    const auto rubs = [](const ConeBlock& b) { return b.discs > 0; };
    if (!warm && std::ranges::any_of(problem_.layout->blocks(), rubs)) return ConeEnd::failed;
    for (const double proximal : {SemismoothNewton::kProximal, SemismoothNewton::kLargeProximal}) {
        x_ = given_;
        const ConeResidual now = newton_.run(problem_, x_.data(), options.warm_steps, tolerance_, report, proximal);
        if (keep(now, x_, report)) return ConeEnd::warm;
    }
    return ConeEnd::failed;
}

ConeEnd ConeSolver::search(const ConeOptions& options, ConeReport& report) {
    const bool warm = std::any_of(x_.begin(), x_.end(), [](double x) { return x != 0.0; });
    const ConeEnd end = search_from_given(options, warm, report);
    if (end != ConeEnd::failed) return end;
    int done = 0;
    for (const Attempt& next : kAttempts) {
        if (!warm && next.from == From::given) continue;
        if (done == options.attempts) break;
        if (attempt(next, options, report)) return done == 0 ? ConeEnd::interior : ConeEnd::retry;
        if (report.residual <= options.enough) return ConeEnd::retry;
        if (++done == kBeforeProximal && attempt_proximal(report)) return ConeEnd::proximal;
        if (finish_by_sweeps(options, report)) return ConeEnd::sweeps;
        if (report.residual <= options.enough) return ConeEnd::retry;
    }
    return done == 0 && finish_by_sweeps(options, report) ? ConeEnd::sweeps : ConeEnd::failed;
}

ConeReport ConeSolver::solve(const ConeLayout& layout, ConeOperator& S, const double* q, double* impulses,
                             const ConeOptions& options) {
    check(layout, S, q, impulses);
    const int rows = layout.rows();
    ConeReport report;
    problem_.set(layout, S, q);
    if (problem_.scale == 0.0) {
        std::fill_n(impulses, rows, 0.0);
        return report;
    }
    tolerance_ = options.tolerance;
    newton_.resize(layout);
    interior_.resize(layout);
    proximal_.resize(layout);
    for (auto* v : {&x_, &best_, &u_, &given_}) v->resize(rows);
    report.residual = std::numeric_limits<double>::infinity();
    std::copy_n(impulses, rows, x_.data());
    given_ = x_;
    problem_.velocities(x_.data(), u_.data());
    report.end = search(options, report);
    std::copy(best_.begin(), best_.end(), impulses);
    return report;
}

}  // namespace bellcrank
