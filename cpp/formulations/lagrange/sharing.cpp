// Redundant rows: how they share their load is open. What is reported is of least norm, reactions and efforts together.
#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "formulations/lagrange.hpp"
#include "linalg/quadratic_program.hpp"

namespace bellcrank {

namespace {

// Up to so many redundant rows a basis of what exerts nothing is formed, beyond it is sampled so many times.
constexpr int kFew = 50, kSamples = 3;

}  // namespace

// From lambda_ to shared_: among multipliers that exert the same on every body, those with the least ‖D λ‖, D the
// moment or force per row. Stops push all the same, and those that something lies on without pushing may take a share.
void Lagrange::share_loads() {
    std::copy(lambda_.begin(), lambda_.end(), shared_.begin());
    nothing_.clear();
    if (rows_.rows() == 0) return;
    const bool more = enable_stops(stops_.touched());
    if (more) refactor();
    const int dimension = delassus_.null_dimension();
    const bool pushes = stops_.touches();
    if (dimension > kFew && !pushes)
        share_by_iteration();
    else if (dimension > 0)
        share_by_basis();
    if (more && enable_stops(stops_.active())) refactor();
}

// Multipliers that exert nothing, scaled so that the largest moment or force is one.
void Lagrange::add_nothing(const std::vector<double>& multipliers) {
    double largest = 0.0;
    for (size_t r = 0; r < multipliers.size(); ++r) largest = std::max(largest, std::abs(weight_[r] * multipliers[r]));
    nothing_.push_back(multipliers);
    for (double& w : nothing_.back()) w /= largest;
}

// λ ← λ + W z with a basis W of the null space: z = −(Wᵀ D² W)⁻¹ Wᵀ D² λ, unless a stop would pull.
void Lagrange::share_by_basis() {
    delassus_.for_each_null_vector([&](const std::vector<double>& w) { add_nothing(w); });
    const auto m = static_cast<Eigen::Index>(shared_.size());
    Eigen::MatrixXd W(m, static_cast<Eigen::Index>(nothing_.size()));
    for (Eigen::Index k = 0; k < W.cols(); ++k) W.col(k) = Eigen::Map<const Eigen::VectorXd>(nothing_[k].data(), m);
    const Eigen::Map<const Eigen::ArrayXd> D(weight_.data(), m);
    const Eigen::MatrixXd DW = W.array().colwise() * D;
    Eigen::Map<Eigen::VectorXd> l(shared_.data(), m);
    const Eigen::VectorXd Dl = (l.array() * D).matrix();
    const auto closed = std::count(stops_.touched().begin(), stops_.touched().end(), 1);
    if (closed == 0) {
        l -= W * (DW.transpose() * DW).ldlt().solve(DW.transpose() * Dl);
        return;
    }
    Eigen::MatrixXd pushing(closed, W.cols());
    Eigen::VectorXd least(closed);
    Eigen::Index k = 0;
    for (size_t i = 0; i < stop_rows_.size(); ++i) {
        if (!stops_.touched()[i]) continue;
        pushing.row(k) = W.row(stop_rows_[i]);
        least[k++] = -shared_[stop_rows_[i]];
    }
    l += W * least_quadratic(DW.transpose() * DW, DW.transpose() * Dl, pushing, least);
    for (const int r : stop_rows_) shared_[r] = std::max(shared_[r], 0.0);
}

// For many redundant rows: of D λ the part that acts is kept. Random multipliers without their part that acts show
// where something is open.
void Lagrange::share_by_iteration() {
    std::vector<double> loads(shared_.size());
    for (size_t r = 0; r < loads.size(); ++r) loads[r] = rigid_[r] ? weight_[r] * shared_[r] : 0.0;
    remove_what_acts(loads);
    for (size_t r = 0; r < loads.size(); ++r) shared_[r] -= loads[r] / weight_[r];
    std::minstd_rand random;
    std::uniform_real_distribution<double> uniform(-1.0, 1.0);
    for (int sample = 0; sample < kSamples; ++sample) {
        for (size_t r = 0; r < loads.size(); ++r) loads[r] = rigid_[r] ? uniform(random) : 0.0;
        remove_what_acts(loads);
        for (size_t r = 0; r < loads.size(); ++r) loads[r] /= weight_[r];
        add_nothing(loads);
    }
}

// r ← the part of r that is orthogonal to the range of A = D⁻¹ Ĵ on the rows that are rigid and in force, by conjugate
// gradients on the normal equations (CGLS), in products of Ĵ alone.
void Lagrange::remove_what_acts(std::vector<double>& r) {
    const size_t m = r.size(), n = scaled_.size();
    std::vector<double> q(m), s(n, 0.0), p, scratch(m);
    const auto takes_part = [&](size_t i) { return rigid_[i] && (enabled_.empty() || enabled_[i]); };
    const auto transposed = [&](const std::vector<double>& v, std::vector<double>& out) {
        for (size_t i = 0; i < m; ++i) scratch[i] = takes_part(i) ? v[i] / weight_[i] : 0.0;
        std::fill(out.begin(), out.end(), 0.0);
        rows_.add_transposed(scratch.data(), out.data());
    };
    const auto dot = [](const std::vector<double>& a, const std::vector<double>& b) {
        return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
    };
    transposed(r, s);
    p = s;
    double gamma = dot(s, s);
    const double target = 1e-26 * gamma;
    for (size_t k = 0; k < 10 * m && gamma > target; ++k) {
        rows_.multiply(p.data(), q.data());
        for (size_t i = 0; i < m; ++i) q[i] = takes_part(i) ? q[i] / weight_[i] : 0.0;
        const double alpha = gamma / dot(q, q);
        for (size_t i = 0; i < m; ++i) r[i] -= alpha * q[i];
        transposed(r, s);
        const double next = dot(s, s), beta = next / gamma;
        gamma = next;
        for (size_t i = 0; i < n; ++i) p[i] = s[i] + beta * p[i];
    }
}

}  // namespace bellcrank
