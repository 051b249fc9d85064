#include "closing/limit_share.hpp"

#include <algorithm>
#include <cmath>

namespace bellcrank {

namespace {

constexpr double kZero = 1e-13;  // of a tableau whose rows are scaled
constexpr int kMostPivots = 500;

}  // namespace

// sign (λ + N z) − shift z ≤ s most, with s = s0 − r.
void LimitShare::add(const BearingRow& b, const std::vector<std::vector<double>>& nothing, double sign, double r,
                     double right, double unit) {
    const size_t k = nothing.size(), i = basis_.size();
    basis_.push_back(columns_ + i);
    tableau_.resize((i + 1) * (columns_ + 1));
    double* added = row(i);
    for (size_t j = 0; j < k; ++j) {
        added[j] = (sign * nothing[j][b.row] - (b.shift.empty() ? 0.0 : b.shift[j])) / unit;
        added[k + j] = -added[j];
    }
    added[2 * k] = r;
    added[columns_] = std::max(right, 0.0);
}

void LimitShare::exchange(size_t leaves, size_t enters) {
    double* pivot = row(leaves);
    const double inverse = 1.0 / pivot[enters];
    for (size_t j = 0; j <= columns_; ++j) pivot[j] *= inverse;
    pivot[enters] = inverse;
    const auto eliminate = [&](double* from) {
        const double factor = from[enters];
        from[enters] = 0.0;
        for (size_t j = 0; j <= columns_; ++j) from[j] -= factor * pivot[j];
    };
    for (size_t i = 0; i < basis_.size(); ++i)
        if (i != leaves) eliminate(row(i));
    eliminate(gain_.data());
    std::swap(basis_[leaves], outside_[enters]);
}

// With s = s0 − r, s0 what z = 0 takes, z = z⁺ − z⁻ and a slack for each side of each row, the start is feasible and r
// is largest where no column improves it: the simplex method, by Bland's rule, which does not cycle.
double LimitShare::solve(std::span<const BearingRow> rows, const std::vector<double>& lambda,
                         const std::vector<std::vector<double>>& nothing, std::vector<double>& z) {
    const size_t k = nothing.size();
    z.assign(k, 0.0);
    double s0 = 0.0;
    for (const BearingRow& b : rows)
        if (std::isfinite(b.most)) s0 = std::max(s0, std::abs(lambda[b.row]) / b.most);
    if (k == 0) return s0;
    columns_ = 2 * k + 1;
    tableau_.clear();
    basis_.clear();
    for (const BearingRow& b : rows) {
        const double at = lambda[b.row];
        if (std::isfinite(b.most)) {
            add(b, nothing, 1.0, 1.0, s0 - at / b.most, b.most);
            add(b, nothing, -1.0, 1.0, s0 + at / b.most, b.most);
        } else {
            add(b, nothing, b.law >= 0 && at < 0.0 ? 1.0 : -1.0, 0.0, std::abs(at), 1.0);
        }
    }
    gain_.assign(columns_ + 1, 0.0);
    gain_[2 * k] = 1.0;
    outside_.resize(columns_);
    for (size_t j = 0; j < columns_; ++j) outside_[j] = j;
    for (int pivots = 0; pivots < kMostPivots; ++pivots) {
        size_t enters = columns_;
        for (size_t j = 0; j < columns_; ++j)
            if (gain_[j] > kZero && (enters == columns_ || outside_[j] < outside_[enters])) enters = j;
        if (enters == columns_) break;
        size_t leaves = basis_.size();
        double least = HUGE_VAL;
        for (size_t i = 0; i < basis_.size(); ++i) {
            if (row(i)[enters] <= kZero) continue;
            const double ratio = row(i)[columns_] / row(i)[enters];
            if (ratio < least - kZero ||
                (ratio <= least + kZero && leaves < basis_.size() && basis_[i] < basis_[leaves]))
                least = std::min(least, ratio), leaves = i;
        }
        if (leaves == basis_.size()) break;  // nothing bounds it: there is no load
        exchange(leaves, enters);
    }
    double r = 0.0;
    for (size_t i = 0; i < basis_.size(); ++i) {
        if (basis_[i] < k) z[basis_[i]] += row(i)[columns_];
        if (basis_[i] >= k && basis_[i] < 2 * k) z[basis_[i] - k] -= row(i)[columns_];
        if (basis_[i] == 2 * k) r = row(i)[columns_];
    }
    return s0 - r;
}

}  // namespace bellcrank
