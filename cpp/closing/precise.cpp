// Delassus where doubles are short of digits: rank, factors and solutions in 32 of them.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "closing/delassus.hpp"
#include "spatial/body_state.hpp"

namespace bellcrank {

void Delassus::make_precise() {
    if (precise_ != nullptr) return;
    const int blocks = static_cast<int>(model_.blocks.size());
    std::vector<int> sizes;
    for (int node : elimination_.order)
        sizes.push_back(node < blocks ? model_.blocks[node].row_end - model_.blocks[node].row_begin : 6);
    std::vector<BodyPart> parts;
    for (const Copy& copy : copies_) parts.push_back({copy.body, copy.share, copy.parts});
    precise_ = std::make_unique<PreciseDelassus>(model_, sizes, elimination_, std::move(parts), *rows_);
    row_compliance_.assign(ldlt_->rows(), 0.0);
    part_.assign(ldlt_->rows(), 1);
    kept_ = dropped_now_ = part_;
}

void Delassus::collect_compliances() {
    for (const Compliance& c : compliances_) row_compliance_[row_of_[c.row]] = c.value;
}

// Excluded rows are judged like all others: no rounding is left that would ask for it.
void Delassus::factor_precisely() {
    make_precise();
    collect_compliances();
    for (size_t r = 0; r < part_.size(); ++r) part_[r] = enabled_[r] != BlockLdlt::kLeftOut;
    precise_->find_rank(tolerance_, row_compliance_, part_);
    dropped_count_ = 0;
    for (size_t r = 0; r < kept_.size(); ++r) {
        kept_[r] = part_[r] && (row_compliance_[r] > 0.0 || !precise_->rank().dropped()[r]);
        dropped_now_[r] = !kept_[r];
        dropped_count_ += dropped_now_[r];
    }
}

// The rows that are kept now, weighed by geometry alone.
void Delassus::factor_kept_precisely() {
    make_precise();
    collect_compliances();
    const auto dropped = ldlt_->dropped();
    for (size_t r = 0; r < part_.size(); ++r) part_[r] = enabled_[r] != BlockLdlt::kLeftOut && !dropped[r];
    precise_->find_rank(0.0, row_compliance_, part_);
}

void Delassus::factor_dynamics() {
    if (dynamics_known_) return;
    dynamics_known_ = true;
    if (!precise_mode_) {
        make_precise();
        collect_compliances();
        for (size_t r = 0; r < kept_.size(); ++r) kept_[r] = !ldlt_->dropped()[r];
    }
    precise_->factor_dynamics(row_compliance_, kept_);
}

bool Delassus::rank_is_right(double tolerance) {
    make_precise();
    collect_compliances();
    const auto dropped = ldlt_->dropped();
    int count = 0;
    for (size_t r = 0; r < part_.size(); ++r) {
        const bool in = enabled_[r] != BlockLdlt::kLeftOut;
        part_[r] = in && !dropped[r];
        if (!in || !dropped[r]) continue;
        if (row_compliance_[r] > 0.0) return false;  // it depends on none, however small its pivot
        ++count;
    }
    const auto depend = [&] {
        precise_->find_rank(tolerance, row_compliance_, part_);
        int rows = 0;
        for (size_t r = 0; r < part_.size(); ++r)
            rows += part_[r] && row_compliance_[r] == 0.0 && precise_->rank().dropped()[r];
        return rows;
    };
    const bool independent = depend() == 0;
    for (size_t r = 0; r < part_.size(); ++r) part_[r] = enabled_[r] != BlockLdlt::kLeftOut;
    return depend() == count && independent;
}

void Delassus::exclude_dependent() {
    exclude({});
    for (int r = 0; r < ldlt_->rows(); ++r)
        if (part_[r] && row_compliance_[r] == 0.0 && precise_->rank().dropped()[r]) excluded_.push_back(r);
}

// Into the work of the precise factors: bias − Ĵ û of the rows, 0 for links.
void Delassus::residual_of(std::span<const double> bias, std::span<const DoubleDouble> motion) {
    const std::span<DoubleDouble> work = precise_->work();
    std::fill(work.begin(), work.end(), DoubleDouble());
    double row[6];
    for (const BlockLayout& b : rows_->blocks())
        for (int r = 0; r < b.size; ++r) {
            DoubleDouble left = bias[b.row + r];
            for (const BlockSide& side : rows_->sides(b)) {
                side.rows.read(rows_->J.data(), r, row);
                for (int k = 0; k < 6; ++k) left -= motion[kTwist * side.body + kComponent[k]] * row[k];
            }
            work[row_of_[b.row + r]] = left;
        }
}

// û += Ĵᵀ λ with the λ that the work holds.
void Delassus::add_forces(std::span<DoubleDouble> motion) const {
    const std::span<const DoubleDouble> work = precise_->work();
    double row[6];
    for (const BlockLayout& b : rows_->blocks())
        for (int r = 0; r < b.size; ++r)
            for (const BlockSide& side : rows_->sides(b)) {
                side.rows.read(rows_->J.data(), r, row);
                for (int k = 0; k < 6; ++k)
                    motion[kTwist * side.body + kComponent[k]] += work[row_of_[b.row + r]] * row[k];
            }
}

// motion_ = what the forces of λ (storage rows) change by if every number of Ĵ is rounded otherwise. A row's
// numbers against a body are rounded as parts of the largest: those that happen to be small come from sums.
void Delassus::round_forces(const double* lambda) {
    constexpr double kLastPlace = std::numeric_limits<double>::epsilon();
    const auto inverse = rows_->inverse_sqrt_mass();
    std::fill(motion_.begin(), motion_.end(), DoubleDouble());
    std::uint32_t mixed = 1;
    double row[6];
    for (const BlockLayout& b : rows_->blocks())
        for (int r = 0; r < b.size; ++r) {
            const double force = std::abs(lambda[b.row + r]);
            for (const BlockSide& side : rows_->sides(b)) {
                side.rows.read(rows_->J.data(), r, row);
                const double* scale = &inverse[static_cast<size_t>(kTwist) * side.body];
                double largest = 0.0;  // of the angular part, not scaled
                for (int k = 3; k < 6; ++k)
                    if (scale[k + 1] > 0.0) largest = std::max(largest, std::abs(row[k]) / scale[k + 1]);
                for (int k = 0; k < 6; ++k) {
                    const double size = k < 3 ? std::abs(row[k]) : largest * scale[k + 1];
                    mixed = 1664525u * mixed + 1013904223u;
                    const double change = ((mixed >> 31) != 0 ? kLastPlace : -kLastPlace) * size * force;
                    motion_[kTwist * side.body + kComponent[k]] += change;
                }
            }
        }
}

double Delassus::accelerate_precisely(std::span<const double> bias, std::span<const double> scaled, double* lambda,
                                      double* udot) {
    factor_dynamics();
    const auto inverse = rows_->inverse_sqrt_mass();
    const std::span<DoubleDouble> work = precise_->work();
    motion_.assign(scaled.begin(), scaled.end());
    std::fill_n(lambda, row_of_.size(), 0.0);
    // Twice: where rows that almost depend on others meet bodies that differ by 1e14, one solution leaves 1e-9.
    for (int pass = 0; pass < 2; ++pass) {
        residual_of(bias, motion_);
        for (size_t r = 0; r < row_of_.size(); ++r)
            work[row_of_[r]] -= DoubleDouble(lambda[r]) * row_compliance_[row_of_[r]];
        precise_->solve_work();
        for (size_t r = 0; r < row_of_.size(); ++r) lambda[r] += work[row_of_[r]].hi;
        add_forces(motion_);
    }
    for (size_t k = 0; k < motion_.size(); ++k) udot[k] = motion_[k].hi * inverse[k];
    round_forces(lambda);
    no_bias_.assign(row_of_.size(), 0.0);
    residual_of(no_bias_, motion_);
    precise_->solve_work();
    add_forces(motion_);
    double most = 0.0;
    for (size_t k = 0; k < motion_.size(); ++k) most = std::max(most, std::abs(motion_[k].hi * inverse[k]));
    return most;
}

std::span<const std::uint8_t> Delassus::drops() const {
    return precise_mode_ ? std::span<const std::uint8_t>(dropped_now_) : ldlt_->dropped();
}

double Delassus::smallest_pivot() const {
    return precise_mode_ ? std::min(kSafePivot, precise_->rank().smallest_pivot()) : ldlt_->smallest_pivot();
}

std::span<const BlockLdlt::RowPivot> Delassus::doubtful() const {
    return precise_mode_ ? std::span<const BlockLdlt::RowPivot>() : ldlt_->doubtful();
}

std::span<const BlockLdlt::RowPivot> Delassus::small() const {
    return precise_mode_ ? std::span<const BlockLdlt::RowPivot>() : ldlt_->small();
}

}  // namespace bellcrank
