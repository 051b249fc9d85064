#include "closing/load_forms.hpp"

#include <algorithm>

#include "spatial/body_state.hpp"

namespace bellcrank {

namespace {

constexpr int kNumbers = 6, kMostForms = 3;

}  // namespace

LoadForms::LoadForms(const Model& model) : model_(model) {
    int forms = 0;
    for (const FrictionLoad& each : model.friction_loads) {
        first_.push_back(forms);
        forms += each.rank;
    }
    begin_.assign(forms + 1, 0);
}

void LoadForms::list(const RowLoads& loads) {
    std::vector<int> rows;
    for (size_t i = 0; i < first_.size(); ++i) {
        const FrictionLoad& each = model_.friction_loads[i];
        if (each.of.pair >= 0) loads.list_rows(each.of, rows);
        for (int f = 0; f < each.rank; ++f) {
            if (each.of.pair >= 0)
                for (const int row : rows) entries_.push_back({row, 0.0});
            else
                for (size_t k = 0; k < each.rows.size(); ++k)
                    entries_.push_back({loads.storage_row(each.rows[k]), each.form[kNumbers * f + k]});
            begin_[first_[i] + f + 1] = entries_.size();
        }
        by_rows_.resize(std::max(by_rows_.size(), kMostForms * rows.size()));
    }
    listed_ = true;
}

void LoadForms::place(const RowLoads& loads) {
    if (!listed_) list(loads);
    for (size_t i = 0; i < first_.size(); ++i) {
        const FrictionLoad& each = model_.friction_loads[i];
        if (each.of.pair < 0) continue;
        const MarkerPair& pair = model_.pairs[each.of.pair];
        const Mat3 axes =
            rotation_matrix(pose_rotation(loads.poses, pair.body[0])) * rotation_matrix(pair.rotation[0]);
        double covectors[kMostForms * kNumbers];
        for (int k = 0; k < 2 * each.rank; ++k) store(covectors + 3 * k, axes * load(each.form + 3 * k));
        loads.pull_back(each.of, loads.poses, each.rank, covectors, by_rows_.data());
        for (int f = 0; f < each.rank; ++f) {
            Entry* entry = entries_.data() + begin_[first_[i] + f];
            const size_t rows = begin_[first_[i] + f + 1] - begin_[first_[i] + f];
            for (size_t r = 0; r < rows; ++r) entry[r].value = by_rows_[each.rank * r + f];
        }
    }
}

void LoadForms::of(const std::vector<double>& multipliers, double* z) const {
    for (int f = 0; f < count(); ++f) {
        z[f] = 0.0;
        for (size_t e = begin_[f]; e < begin_[f + 1]; ++e) z[f] += entries_[e].value * multipliers[entries_[e].row];
    }
}

}  // namespace bellcrank
