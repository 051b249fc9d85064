#include "closing/precise_delassus.hpp"

#include <algorithm>
#include <cmath>

#include "model/forces.hpp"

namespace bellcrank {

PreciseDelassus::PreciseDelassus(const Model& model, std::span<const int> sizes, const Elimination& elimination,
                                 std::vector<BodyPart> parts, const ConstraintRows& rows)
    : rows_(rows), parts_(std::move(parts)), rank_(sizes, elimination), dynamics_(sizes, elimination) {
    int row = 0;
    for (int size : sizes) {
        first_.push_back(row);
        row += size;
    }
    work_.resize(row);
    rigid_.assign(row, 1);
    scale_.assign(row, 0.0);
    const std::vector<double> reach = reaches(model);
    for (int b = 0; b < model.bodies(); ++b) {
        const double mass = model.mass[b], turning = reach[b] * reach[b];
        const Vec3& I = model.principal_inertia[b];
        to_geometry_.insert(to_geometry_.end(), {mass, mass, mass, I.x / turning, I.y / turning, I.z / turning});
    }
    ones_.assign(to_geometry_.size(), 1.0);
}

// Σ weight Ĵ Ĵᵀ over all copies of bodies.
void PreciseDelassus::form(PreciseLdlt& into, std::span<const double> weights, std::span<const double> compliance) {
    const std::span<DoubleDouble> values = into.clear();
    const double* J = rows_.J.data();
    for (const BodyPart& part : parts_) {
        const double* weight = &weights[6 * static_cast<size_t>(part.body)];
        const double copies = std::round(1.0 / part.share);
        for (size_t i = 0; i < part.rows.size(); ++i)
            for (size_t j = i; j < part.rows.size(); ++j) {
                const auto& [step, a] = part.rows[i];
                const auto& [later, b] = part.rows[j];
                for (int r = 0; r < a.rows; ++r) {
                    double one[6], other[6];
                    a.read(J, r, one);
                    DoubleDouble weighted[6];
                    for (int k = 0; k < 6; ++k) weighted[k] = exact_product(copies * weight[k], one[k]);
                    const int at = into.place(step, later, r, 0);
                    for (int c = step == later ? r : 0; c < b.rows; ++c) {
                        b.read(J, c, other);
                        DoubleDouble sum = values[at + c];
                        for (int k = 0; k < 6; ++k) sum += weighted[k] * other[k];
                        values[at + c] = sum;
                    }
                }
            }
    }
    for (size_t step = 0; step < first_.size(); ++step) {
        const int end = step + 1 < first_.size() ? first_[step + 1] : static_cast<int>(work_.size());
        for (int r = 0; r < end - first_[step]; ++r) {
            DoubleDouble& entry = values[into.place(static_cast<int>(step), static_cast<int>(step), r, r)];
            entry += DoubleDouble(compliance[first_[step] + r]);
            if (&into == &rank_) scale_[first_[step] + r] = entry.hi;
        }
    }
}

void PreciseDelassus::find_rank(double tolerance, std::span<const double> compliance,
                                std::span<const std::uint8_t> takes_part) {
    form(rank_, to_geometry_, compliance);
    for (size_t r = 0; r < rigid_.size(); ++r) rigid_[r] = takes_part[r] != 0 && compliance[r] == 0.0;
    rank_.factor(tolerance, rigid_);
}

void PreciseDelassus::factor_dynamics(std::span<const double> compliance, std::span<const std::uint8_t> takes_part) {
    form(dynamics_, ones_, compliance);
    dynamics_.factor(0.0, takes_part);
}

void PreciseDelassus::solve(double* b) {
    for (size_t r = 0; r < work_.size(); ++r) work_[r] = DoubleDouble(b[r]);
    dynamics_.solve(work_.data());
    for (size_t r = 0; r < work_.size(); ++r) b[r] = work_[r].hi;
}

void PreciseDelassus::add_column(int row, std::span<DoubleDouble> column) const {
    const double* J = rows_.J.data();
    for (const BodyPart& part : parts_) {
        const double* weight = &to_geometry_[6 * static_cast<size_t>(part.body)];
        const double copies = std::round(1.0 / part.share);
        double unit[6], other[6];
        for (const auto& [step, rows] : part.rows) {
            const int at = row - first_[step];
            if (at < 0 || at >= rows.rows) continue;
            rows.read(J, at, unit);
            for (const auto& [second, others] : part.rows)
                for (int r = 0; r < others.rows; ++r) {
                    others.read(J, r, other);
                    for (int k = 0; k < 6; ++k)
                        column[first_[second] + r] += exact_product(copies * weight[k], unit[k]) * other[k];
                }
        }
    }
}

void PreciseDelassus::null_vector(int row, std::span<double> w) {
    std::fill(work_.begin(), work_.end(), DoubleDouble());
    add_column(row, work_);
    rank_.solve(work_.data());
    for (size_t r = 0; r < work_.size(); ++r) w[r] = -work_[r].hi;
    w[row] = 1.0;
}

}  // namespace bellcrank
