// How far dry friction is from giving way, while it holds, and from jamming, while it slips (docs/theory/friction.md,
// section 6).
#include <algorithm>
#include <cmath>
#include <limits>

#include "closing/projector.hpp"
#include "model/model.hpp"

namespace bellcrank {

namespace {

constexpr double kNoLoad = 1e-13;      // of the largest multiplier: rounding
constexpr double kBorne = 1e-13;       // of a use of one, that is rounding
constexpr double kSameUse = 1e-12;     // what a pass changes no more
constexpr double kMostUse = 1 << 30;   // of limits: beyond that none would do
constexpr double kLeastUse = 1e-9;     // of limits: what needs no more needs none
constexpr double kResolved = 1e-14;    // of a use
constexpr double kNoPart = 1e-12;      // of a share: rounding
constexpr double kTakesPart = 1e-6;    // of a share, that is not rounding
constexpr int kMostShiftedPasses = 6;  // as in runs

// The least s at which something is so that stays so for a larger one; infinite if it never is.
template <class Is>
double least(const Is& is) {
    double least = 0.0, most = 1.0;
    while (!is(most)) {
        least = most;
        most *= 2.0;
        if (most > kMostUse) return HUGE_VAL;
    }
    if (least == 0.0 && is(kLeastUse)) return 0.0;
    while (most - least > kResolved * most) {
        const double middle = 0.5 * (least + most);
        if (middle <= least || middle >= most) break;
        (is(middle) ? most : least) = middle;
    }
    return most;
}

}  // namespace

// Whether some share of the loads is within limits of which parts count. They shift with the share, so that the linear
// program is solved again at what it found.
bool Projector::is_borne(RowLoads& loads, const std::vector<std::vector<double>>& among, const LimitParts& parts) {
    double largest = 0.0, before = HUGE_VAL;
    for (const double each : loads.multipliers) largest = std::max(largest, std::abs(each));
    const double none = std::max(kNoLoad * largest, std::numeric_limits<double>::min());
    const std::vector<double> given = loads.multipliers;
    bool borne = false;
    for (int pass = 0; pass < kMostShiftedPasses && !borne; ++pass) {
        find_bearing_rows(loads, among, parts);
        for (BearingRow& b : bearing_) b.most = std::max(b.most, none);
        const double used = limits_.solve(bearing_, loads.multipliers, among, share_);
        borne = used <= 1.0 + kBorne;
        if (std::abs(used - before) <= kSameUse * used) break;
        before = used;
        for (size_t k = 0; k < among.size(); ++k)
            for (size_t r = 0; r < given.size(); ++r) loads.multipliers[r] += share_[k] * among[k][r];
    }
    loads.multipliers = given;
    return borne;
}

// What changes efforts of friction that holds, without rounding, which small limits would make large.
std::vector<std::vector<double>> Projector::clean_shares(RowLoads& loads) const {
    std::vector<int> holding;
    for (int i = 0; i < stops_.count(); ++i)
        if (stops_.is_holding(i)) holding.push_back(loads.storage_row(stops_.rows()[i]));
    std::vector<std::vector<double>> out = loads.nothing_but_preload(holding);
    for (std::vector<double>& n : out) {
        double largest = 0.0;
        for (size_t r = 0; r < n.size(); ++r) largest = std::max(largest, std::abs(loads.weight()[r] * n[r]));
        for (size_t r = 0; r < n.size(); ++r)
            if (std::abs(loads.weight()[r] * n[r]) < kNoPart * largest) n[r] = 0.0;
    }
    return out;
}

FrictionUse Projector::friction_use(double t, double* x, double* u) {
    if (!stops_.has_friction()) return {};
    hold_all(t, x, u, 0.0);
    stops_.judging = asks_for_loads_ = true;
    system_.accelerate(t, x, u, accelerations_.data());
    stops_.judging = asks_for_loads_ = false;
    RowLoads& loads = loads_at(t, x, u, accelerations_.data());
    // From the share of least norm, as with limits of any size.
    const std::vector<double> given = loads.multipliers;
    std::vector<int> rows;
    for (const int row : stops_.rows()) rows.push_back(loads.storage_row(row));
    loads.share_by_basis(stops_.touched_of(rows));
    const auto among = clean_shares(loads);
    friction_loads_.place(loads);
    const auto use = [&](const auto& parts) {
        return least([&](double s) { return is_borne(loads, among, parts(s)); });
    };
    const FrictionUse found{use([](double s) { return LimitParts{s, s}; }),
                            use([](double s) { return LimitParts{s, 1.0}; })};
    loads.multipliers = given;
    return found;
}

std::vector<SharedFriction> Projector::shared_friction(double t, double* x, double* u) {
    std::vector<SharedFriction> out;
    if (friction_loads_.empty()) return out;
    accelerations_.resize(system_.tangent_size());
    forget_friction();
    system_.inputs_changed();
    system_.accelerate(t, x, u, accelerations_.data());
    const RowLoads& loads = loads_at(t, x, u, accelerations_.data());
    const Model& model = system_.model();
    for (int i = 0; i < stops_.count(); ++i) {
        if (!stops_.is_friction(i) || !friction_loads_.is_loaded(stops_.friction_law(i))) continue;
        const std::vector<double> share = friction_loads_.share_that_loads(stops_.friction_law(i), loads);
        SharedFriction found{stops_.friction_law(i), {}};
        for (int row = 0; row < model.rows_total(); ++row)
            if (share[loads.storage_row(row)] > kTakesPart) found.rows.push_back(row);
        if (!found.rows.empty()) out.push_back(std::move(found));
    }
    return out;
}

// Responses are found anew: those that a run has followed are as good as its steps ask for.
double Projector::jam_margin(double t, const double* x, const double* u) {
    if (friction_loads_.empty()) return std::numeric_limits<double>::quiet_NaN();
    accelerations_.resize(system_.tangent_size());
    friction_loads_.forget_responses();
    asks_for_loads_ = true;
    system_.accelerate(t, x, u, accelerations_.data());
    asks_for_loads_ = false;
    if (jam_.law >= 0) return jam_.part;
    return friction_loads_.slipping() == 0 ? std::numeric_limits<double>::quiet_NaN() : friction_loads_.jams_at_times();
}

}  // namespace bellcrank
