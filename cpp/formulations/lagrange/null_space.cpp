// Dependent rows: the multipliers that exert nothing on any body.
#include <algorithm>
#include <cmath>

#include "formulations/lagrange/delassus.hpp"
#include "spatial/body_state.hpp"

namespace bellcrank {

// Adds a column of S: what the row's unit multiplier does through the copies of bodies that it acts on.
void Delassus::add_column(int ldlt_row, std::vector<double>& column) const {
    const double* J = rows_->J.data();
    for (const Copy& copy : copies_) {
        double unit[6], other[6];
        bool found = false;
        for (const auto& [step, rows] : copy.parts) {
            const int at = ldlt_row - ldlt_->row_start(step);
            if (at < 0 || at >= rows.rows) continue;
            rows.read(J, at, unit);
            found = true;
        }
        if (!found) continue;
        for (const auto& [step, rows] : copy.parts)
            for (int r = 0; r < rows.rows; ++r) {
                rows.read(J, r, other);
                for (int k = 0; k < 6; ++k) column[ldlt_->row_start(step) + r] += other[k] * unit[k] / copy.share;
            }
    }
}

// One step of refinement: S w = 0 on the rows kept.
void Delassus::refine(std::vector<double>& w) {
    std::vector<double> residual(w.size(), 0.0);
    subtract_product(w.data(), residual.data());
    solve(residual.data());
    for (size_t r = 0; r < w.size(); ++r) w[r] += residual[r];
}

int Delassus::null_dimension() const {
    int count = 0;
    for (int d = 0; d < ldlt_->rows(); ++d) count += ldlt_->dropped()[d] && enabled_[d];
    return count;
}

// For a dropped row d, S_kk w_k = −S_kd on the rows kept and w_d = 1.
void Delassus::for_each_null_vector(const std::function<void(std::vector<double>&)>& visit) {
    if (dropped_count() == 0) return;
    const int m = rows_->rows();
    std::vector<int> storage(ldlt_->rows(), -1);
    for (int r = 0; r < m; ++r) storage[row_of_[r]] = r;
    std::vector<double> column(ldlt_->rows()), unit(m), product(m), w;
    for (int d = 0; d < ldlt_->rows(); ++d) {
        if (!ldlt_->dropped()[d] || !enabled_[d]) continue;
        std::fill(column.begin(), column.end(), 0.0);
        if (links_ > 0) {
            add_column(d, column);
        } else {
            std::fill(unit.begin(), unit.end(), 0.0);
            std::fill(product.begin(), product.end(), 0.0);
            unit[storage[d]] = -1.0;
            subtract_product(unit.data(), product.data());
            for (int r = 0; r < m; ++r) column[row_of_[r]] = product[r];
        }
        ldlt_->solve(column.data());
        w.resize(m);
        for (int r = 0; r < m; ++r) w[r] = -column[row_of_[r]];
        if (storage[d] >= 0) w[storage[d]] = 1.0;
        refine(w);
        visit(w);
    }
}

std::vector<int> Delassus::dependent_rows() {
    std::vector<int> rows;
    for (int r = 0; r < rows_->rows(); ++r)
        if (dropped(r) && enabled_[row_of_[r]]) rows.push_back(r);
    if (static_cast<int>(rows.size()) == null_dimension()) return rows;
    for_each_null_vector([&](const std::vector<double>& w) {
        int largest = -1;
        for (int r = 0; r < static_cast<int>(w.size()); ++r) {
            if (dropped(r) && w[r] == 1.0) return;  // a joint row was dropped, and stands in the list
            if (std::find(rows.begin(), rows.end(), r) != rows.end() || dropped(r)) continue;
            if (largest < 0 || std::abs(w[r]) > std::abs(w[largest])) largest = r;
        }
        if (largest >= 0) rows.push_back(largest);
    });
    return rows;
}

}  // namespace bellcrank
