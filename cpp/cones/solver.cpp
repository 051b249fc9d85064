#include "cones/solver.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

#include "cones/sweeps.hpp"

namespace bellcrank {

namespace {

// Of attempts by convex problems: how many, how many without a gain, and from which residual Newton's method is tried.
constexpr int kConvexProblems = 12, kConvexStalled = 3;
constexpr double kNewtonReach = 3e-2;
constexpr double kFirstTarget = 1e-3, kNextTarget = 1e-2, kLastTarget = 1e-9;

// A residual at which Newton's steps stall where sets of sticking points change; larger proximal terms lead on.
constexpr double kNearly = 1e-5;

constexpr InteriorRule kDamped{0.99, 0.0, SlipRule::exact, true};

}  // namespace

// One after another until one of them converges: each stalls on problems that others solve.
const ConeSolver::Attempt ConeSolver::kAttempts[8] = {{kDamped, From::given, 1e-2},
                                                      {kDamped, From::given, 1e-1},
                                                      {kDamped, From::nothing, 0.0},
                                                      {kDamped, From::best, 1e-2},
                                                      {kDamped, From::best, 1e-1},
                                                      {{0.99, 0.0, SlipRule::exact, false}, From::nothing, 0.0},
                                                      {{0.95, 0.1, SlipRule::exact, false}, From::nothing, 0.0},
                                                      {{0.99, 0.0, SlipRule::held, false}, From::nothing, 0.0}};

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

// Convex problems one after another, each with the speeds of slip of the one before (Acary, Cadoux, Lemaréchal, Malick,
// A formulation of the linear discrete Coulomb friction problem via convex optimization, 2011).
bool ConeSolver::attempt_convex(const ConeOptions& options, ConeReport& report) {
    interior_.start(problem_, {0.99, 0.0, SlipRule::lagged});
    double residual = 0.1, best = std::numeric_limits<double>::infinity();
    for (int k = 0, last_gain = 0; k < kConvexProblems && k - last_gain <= kConvexStalled; ++k) {
        const double part = std::clamp(0.01 * residual * residual, 1e-11, 1e-6);
        const ConeResidual now = interior_.run_convex(problem_, part, options.interior_steps / 2, report);
        residual = now.value;
        if (residual < 0.7 * best) {
            best = residual;
            last_gain = k;
        }
        x_ = interior_.impulses();
        if (keep(now, x_, report)) return true;
        if (residual < kNewtonReach &&
            keep(newton_.run(problem_, x_.data(), options.newton_steps, tolerance_, report), x_, report))
            return true;
        interior_.relax(problem_, 0.1 * std::min(residual, 1.0));
    }
    return false;
}

// Newton's steps with larger proximal terms; then what is enough.
bool ConeSolver::lead_on(const ConeOptions& options, ConeReport& report) {
    for (const double proximal : {1e-6, 1e-5, 1e-4}) {
        x_ = best_;
        const ConeResidual now = newton_.run(problem_, x_.data(), options.newton_steps, tolerance_, report, proximal);
        if (keep(now, x_, report)) return true;
    }
    return report.residual <= options.enough;
}

bool ConeSolver::finish_by_sweeps(const ConeOptions& options, ConeReport& report) {
    x_ = best_;
    keep(sweep(problem_, x_.data(), u_.data(), options.sweeps, tolerance_, report), x_, report);
    return keep(newton_.run(problem_, x_.data(), options.newton_steps, tolerance_, report), x_, report);
}

// From impulses in x_, whose velocities are in u_.
ConeEnd ConeSolver::search(const ConeOptions& options, ConeReport& report) {
    const bool warm = std::any_of(x_.begin(), x_.end(), [](double x) { return x != 0.0; });
    if (keep(natural_residual(problem_, x_.data(), u_.data()), x_, report)) return ConeEnd::given;
    // Without friction Newton's steps find which rows push from nothing as well.
    const auto rubs = [](const ConeBlock& b) { return b.discs > 0; };
    const bool smooth = std::ranges::none_of(problem_.layout->blocks(), rubs);
    for (const double proximal : {SemismoothNewton::kProximal, SemismoothNewton::kLargeProximal}) {
        if (!warm && !smooth) break;
        x_ = given_;
        const ConeResidual now = newton_.run(problem_, x_.data(), options.warm_steps, tolerance_, report, proximal);
        if (keep(now, x_, report)) return ConeEnd::warm;
    }
    int done = 0;
    for (const Attempt& next : kAttempts) {
        if (!warm && next.from == From::given) continue;
        if (done == options.attempts) break;
        if (attempt(next, options, report)) return done == 0 ? ConeEnd::interior : ConeEnd::retry;
        if (report.residual < kNearly && lead_on(options, report)) return ConeEnd::retry;
        ++done;
    }
    if (done < options.attempts && attempt_convex(options, report)) return ConeEnd::retry;
    if (report.residual < kNearly && lead_on(options, report)) return ConeEnd::retry;
    return finish_by_sweeps(options, report) ? ConeEnd::sweeps : ConeEnd::failed;
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
