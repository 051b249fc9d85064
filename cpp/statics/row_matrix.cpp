#include "statics/row_matrix.hpp"

#include <cmath>

#include "spatial/body_state.hpp"

namespace bellcrank {

RowMatrix::RowMatrix(const Model& model, const AngleBranches& branches, const Metric& metric)
    : metric_(metric), rows_(model, branches), sqrt_mass_(kTwist * (model.bodies() + 1), 0.0) {
    for (size_t k = 0; k < sqrt_mass_.size(); ++k) {
        const double inverse = rows_.inverse_sqrt_mass()[k];
        sqrt_mass_[k] = inverse > 0.0 ? 1.0 / inverse : 0.0;
    }
    begin_.push_back(0);
    for (const BlockLayout& b : rows_.blocks())
        for (int r = 0; r < b.size; ++r) {
            for (const BlockSide& side : rows_.sides(b))
                if (side.body != model.ground()) entries_.push_back({b.row + r, side.body, {}});
            begin_.push_back(static_cast<int>(entries_.size()));
            if (model.blocks[b.block].unilateral) one_sided_.push_back(b.row + r);
        }
    scale_.assign(rows(), 1.0);
    held_.assign(rows(), 1);
}

void RowMatrix::evaluate(double t, const double* x) {
    rows_.evaluate_jacobians(t, x);
    for (const BlockLayout& b : rows_.blocks())
        for (int r = 0; r < b.size; ++r) {
            const int row = b.row + r;
            int next = begin_[row];
            double square = 0.0;
            for (const BlockSide& side : rows_.sides(b)) {
                if (next == begin_[row + 1] || entries_[next].body != side.body) continue;
                Entry& entry = entries_[next++];
                double scaled[6];
                side.rows.read(rows_.J.data(), r, scaled);
                for (int k = 0; k < 6; ++k) {
                    const double length = k < 3 ? 1.0 : metric_.length(side.body);
                    entry.gradient[k] = scaled[k] * sqrt_mass_[kTwist * side.body + kComponent[k]] / length;
                    square += entry.gradient[k] * entry.gradient[k];
                }
            }
            scale_[row] = square > 0.0 ? 1.0 / std::sqrt(square) : 1.0;
            for (int e = begin_[row]; e < begin_[row + 1]; ++e)
                for (double& g : entries_[e].gradient) g *= scale_[row];
        }
}

void RowMatrix::evaluate_errors(double t, const double* x) { rows_.evaluate_values(t, x); }

double RowMatrix::along(int row, const Eigen::VectorXd& v) const {
    double sum = 0.0;
    for (int e = begin_[row]; e < begin_[row + 1]; ++e)
        for (int k = 0; k < 6; ++k) sum += entries_[e].gradient[k] * v[6 * entries_[e].body + k];
    return sum;
}

}  // namespace bellcrank
