// BDF: the order, and the histories of the order to go on with.
#include <algorithm>
#include <cmath>

#include "integrate/adams_history.hpp"
#include "integrate/bdf.hpp"

namespace bellcrank {

namespace {

constexpr double kAimHigherBdf = 1.0 / 10.0;  // of the tolerance, for which the order is raised
constexpr double kMostGrowthBdf = 10.0;
constexpr double kLeastGrowthBdf = 1.5;  // below it the step stays as it is, and with it γ

}  // namespace

double bdf_step_factor(double error, double aim, int order) {
    return std::pow(aim / std::max(error, 1e-30), 1.0 / (order + 1));
}

// With D_m = h^(m+1) y^(m+1)/(m+1)!, a formula of order m errs by Π_{i ≤ m} ξ_i D_m/Λ_m'(0). The order, one less or one
// more, that allows the longest step; the factor by which the step may change.
int Bdf::choose_order(double error, double& factor) {
    const int q = order_;
    const double scale = coefficients_.product(q + 1) * std::pow(h_, q + 1);
    factor = bdf_step_factor(error, kBdfAim, q);
    int next = q;
    if (wait_ <= 0 && q > 1 && factor < kMostGrowthBdf) {
        const double top = coefficients_.coefficient(q, q);
        const double *z = position(q), *w = velocity(q);
        for (int i = 0; i < size_; ++i) {
            delta_[i] = z[i] + top * shift_[i];
            other_[i] = w[i] + top * change_[i];
        }
        const double unit = coefficients_.product(q - 1) / coefficients_.coefficient(q - 1, 1);
        const double lower = bdf_step_factor(unit * norm(delta_.data(), other_.data()), kBdfAim, q - 1);
        if (lower > factor) factor = lower, next = q - 1;
    }
    if (wait_ <= 0 && q < max_order_ && last_scale_ != 0.0) {
        const double ratio = scale / last_scale_;
        for (int i = 0; i < size_; ++i) {
            delta_[i] = shift_[i] - ratio * last_shift_[i];
            other_[i] = change_[i] - ratio * last_change_[i];
        }
        const double unit = 1.0 / (coefficients_.coefficient(q + 1, 1) * xi_[q + 1]);
        const double higher = bdf_step_factor(unit * norm(delta_.data(), other_.data()), kAimHigherBdf, q + 1);
        if (higher > std::min(factor, kMostGrowthBdf)) factor = higher, next = q + 1;
    }
    if (factor < kLeastGrowthBdf && factor > 0.9) factor = 1.0, next = q;
    factor = std::clamp(factor, 0.2, kMostGrowthBdf);
    if (factor >= 1.0 && factor < kLeastGrowthBdf) factor = 1.0;
    if (wait_ <= 0 && next == q) wait_ = factor > 1.0 ? q + 1 : 1;
    if (next != q) wait_ = next + 1;
    last_scale_ = next == q ? scale : 0.0;
    return next;
}

// The histories at the end of the step, of the order to go on with.
void Bdf::correct(int next) {
    const int q = order_;
    double weight[kMaxBdfOrder + 2];
    for (int j = 1; j <= q; ++j) weight[j] = coefficients_.coefficient(q, j);
    advance_history(q, positions_.data(), shift_.data(), weight, stride_);
    advance_history(q, velocities_.data(), change_.data(), weight, stride_);
    for (int i = 0; i < size_; ++i) velocity(0)[i] = speed_[i] + change_[i];
    if (next > q) raise_order();
    if (next < q) lower_order();
    order_ = next;
    shift_.swap(last_shift_);
    change_.swap(last_change_);
    weigh();
}

// D_q s² Π_{i < q} (s + ξ_i) is added: value and slope at the end of the step stay, and the values at all but the
// oldest of the times before.
void Bdf::raise_order() {
    const int q = order_;
    const double top = 1.0 / coefficients_.product(q + 1);
    std::fill_n(position(q + 1), stride_, 0.0);
    std::fill_n(velocity(q + 1), stride_, 0.0);
    for (int k = 0; k < q; ++k) {
        const double part = top * coefficients_.product(q - 1) * coefficients_.coefficient(q - 1, k);
        double *z = position(k + 2), *w = velocity(k + 2);
        for (int i = 0; i < size_; ++i) {
            z[i] += part * shift_[i];
            w[i] += part * change_[i];
        }
    }
}

// Likewise the last term is taken away as a multiple of s² Π_{i < q−1} (s + ξ_i).
void Bdf::lower_order() {
    const int q = order_;
    const double *z_top = position(q), *w_top = velocity(q);
    for (int k = 0; k + 2 < q; ++k) {
        const double part = coefficients_.product(q - 2) * coefficients_.coefficient(q - 2, k);
        double *z = position(k + 2), *w = velocity(k + 2);
        for (int i = 0; i < stride_; ++i) {
            z[i] -= part * z_top[i];
            w[i] -= part * w_top[i];
        }
    }
}

}  // namespace bellcrank
