#include "closing/limit_share.hpp"

#include <algorithm>
#include <cmath>

namespace bellcrank {

namespace {

constexpr double kZero = 1e-13;  // of a tableau whose rows are scaled
constexpr int kMostPivots = 500;

}  // namespace

// With s = s0 − r, s0 what z = 0 takes, z = z⁺ − z⁻ and a slack for each side of each row, the start is feasible and r
// is largest where no column improves it: the simplex method, by Bland's rule, which does not cycle.
double share_within_limits(const std::vector<BearingRow>& rows, const std::vector<double>& lambda,
                           const std::vector<std::vector<double>>& nothing, std::vector<double>& z) {
    const size_t k = nothing.size();
    z.assign(k, 0.0);
    double s0 = 0.0;
    for (const BearingRow& b : rows)
        if (std::isfinite(b.most)) s0 = std::max(s0, std::abs(lambda[b.row]) / b.most);
    if (k == 0) return s0;
    const size_t columns = 2 * k + 1;  // z⁺, z⁻, r; then the right-hand side
    std::vector<std::vector<double>> tableau;
    std::vector<size_t> basis;
    // sign (λ + N z) − shift z ≤ s most, with s = s0 − r.
    const auto add = [&](const BearingRow& b, double sign, double r, double right, double unit) {
        std::vector<double> row(columns + 1, 0.0);
        for (size_t i = 0; i < k; ++i) {
            row[i] = (sign * nothing[i][b.row] - (b.shift.empty() ? 0.0 : b.shift[i])) / unit;
            row[k + i] = -row[i];
        }
        row[2 * k] = r;
        row[columns] = std::max(right, 0.0);
        basis.push_back(columns + tableau.size());
        tableau.push_back(std::move(row));
    };
    for (const BearingRow& b : rows) {
        const double at = lambda[b.row];
        if (std::isfinite(b.most)) {
            add(b, 1.0, 1.0, s0 - at / b.most, b.most);
            add(b, -1.0, 1.0, s0 + at / b.most, b.most);
        } else {
            add(b, b.law >= 0 && at < 0.0 ? 1.0 : -1.0, 0.0, std::abs(at), 1.0);
        }
    }
    std::vector<double> gain(columns + 1, 0.0);  // of r by each column that is not in the basis
    gain[2 * k] = 1.0;
    // Columns change places with basis variables; those of slacks are kept where the variables were that they replaced.
    std::vector<size_t> outside(columns);
    for (size_t j = 0; j < columns; ++j) outside[j] = j;
    for (int pivots = 0; pivots < kMostPivots; ++pivots) {
        size_t enters = columns;
        for (size_t j = 0; j < columns; ++j)
            if (gain[j] > kZero && (enters == columns || outside[j] < outside[enters])) enters = j;
        if (enters == columns) break;
        size_t leaves = tableau.size();
        double least = HUGE_VAL;
        for (size_t i = 0; i < tableau.size(); ++i) {
            if (tableau[i][enters] <= kZero) continue;
            const double ratio = tableau[i][columns] / tableau[i][enters];
            if (ratio < least - kZero ||
                (ratio <= least + kZero && leaves < tableau.size() && basis[i] < basis[leaves]))
                least = std::min(least, ratio), leaves = i;
        }
        if (leaves == tableau.size()) break;  // nothing bounds it: there is no load
        std::vector<double>& pivot = tableau[leaves];
        const double inverse = 1.0 / pivot[enters];
        for (double& each : pivot) each *= inverse;
        pivot[enters] = inverse;
        const auto eliminate = [&](std::vector<double>& row) {
            const double factor = row[enters];
            row[enters] = 0.0;
            for (size_t j = 0; j <= columns; ++j) row[j] -= factor * pivot[j];
        };
        for (size_t i = 0; i < tableau.size(); ++i)
            if (i != leaves) eliminate(tableau[i]);
        eliminate(gain);
        std::swap(basis[leaves], outside[enters]);
    }
    double r = 0.0;
    for (size_t i = 0; i < tableau.size(); ++i) {
        if (basis[i] < k) z[basis[i]] += tableau[i][columns];
        if (basis[i] >= k && basis[i] < 2 * k) z[basis[i] - k] -= tableau[i][columns];
        if (basis[i] == 2 * k) r = tableau[i][columns];
    }
    return s0 - r;
}

}  // namespace bellcrank
