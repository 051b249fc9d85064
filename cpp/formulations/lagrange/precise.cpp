// Delassus where doubles are short of digits: rank, factors and solutions in 32 of them.
#include <algorithm>

#include "formulations/lagrange/delassus.hpp"
#include "spatial/body_state.hpp"

namespace bellcrank {

namespace {

constexpr int kComponent[6] = {0, 1, 2, 4, 5, 6};

}  // namespace

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
        count += in && dropped[r] && row_compliance_[r] == 0.0;
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
    std::vector<int> rows;
    for (int r = 0; r < ldlt_->rows(); ++r)
        if (part_[r] && row_compliance_[r] == 0.0 && precise_->rank().dropped()[r]) rows.push_back(r);
    exclude(rows);
}

void Delassus::accelerate_precisely(std::span<const double> bias, std::span<const double> scaled, double* lambda,
                                    double* udot) {
    factor_dynamics();
    const std::span<DoubleDouble> work = precise_->work();
    const double* J = rows_->J.data();
    const auto inverse = rows_->inverse_sqrt_mass();
    double row[6];
    std::fill(work.begin(), work.end(), DoubleDouble());
    for (const BlockLayout& b : rows_->blocks())
        for (int r = 0; r < b.size; ++r) {
            DoubleDouble left = bias[b.row + r];
            for (const BlockSide& side : rows_->sides(b)) {
                side.rows.read(J, r, row);
                for (int k = 0; k < 6; ++k)
                    left -= exact_product(row[k], scaled[kTwist * side.body + kComponent[k]]);
            }
            work[row_of_[b.row + r]] = left;
        }
    precise_->solve_work();
    std::vector<DoubleDouble>& sum = motion_;
    sum.assign(scaled.begin(), scaled.end());
    for (const BlockLayout& b : rows_->blocks())
        for (int r = 0; r < b.size; ++r) {
            const DoubleDouble force = work[row_of_[b.row + r]];
            lambda[b.row + r] = force.hi;
            for (const BlockSide& side : rows_->sides(b)) {
                side.rows.read(J, r, row);
                for (int k = 0; k < 6; ++k) sum[kTwist * side.body + kComponent[k]] += force * row[k];
            }
        }
    for (size_t k = 0; k < sum.size(); ++k) udot[k] = sum[k].hi * inverse[k];
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
