#include "closing/load_forms.hpp"

#include <algorithm>

#include "spatial/body_state.hpp"

namespace bellcrank {

namespace {

constexpr size_t kNumbers = 6;

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
        if (i > 0 && each.of.pair >= 0 && each.of.pair == model_.friction_loads[i - 1].of.pair &&
            each.of.blocks == model_.friction_loads[i - 1].of.blocks)
            wrenches_.back().end = first_[i] + each.rank;
        else if (each.of.pair >= 0)
            wrenches_.push_back({i, first_[i], first_[i] + each.rank});
    }
    for (const Wrench& wrench : wrenches_) {
        const size_t forms = wrench.end - wrench.begin;
        covectors_.resize(std::max(covectors_.size(), kNumbers * forms));
        by_rows_.resize(std::max(by_rows_.size(), begin_[wrench.end] - begin_[wrench.begin]));
    }
    listed_ = true;
}

void LoadForms::place(const RowLoads& loads) {
    if (!listed_) list(loads);
    for (const Wrench& wrench : wrenches_) {
        const Observation::Reaction& of = model_.friction_loads[wrench.load].of;
        const MarkerPair& pair = model_.pairs[of.pair];
        const Mat3 axes = rotation_matrix(pose_rotation(loads.poses, pair.body[0])) * rotation_matrix(pair.rotation[0]);
        const int forms = wrench.end - wrench.begin;
        double* covector = covectors_.data();
        for (size_t i = wrench.load; i < first_.size() && first_[i] < wrench.end; ++i)
            for (int k = 0; k < 2 * model_.friction_loads[i].rank; ++k, covector += 3)
                store(covector, axes * load(model_.friction_loads[i].form + 3 * k));
        loads.pull_back(of, loads.poses, forms, covectors_.data(), by_rows_.data());
        for (int f = 0; f < forms; ++f) {
            Entry* entry = entries_.data() + begin_[wrench.begin + f];
            const size_t rows = begin_[wrench.begin + f + 1] - begin_[wrench.begin + f];
            for (size_t r = 0; r < rows; ++r) entry[r].value = by_rows_[forms * r + f];
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
