#include "closing/friction_loads.hpp"

#include <algorithm>
#include <cmath>

#include "linalg/dense_elimination.hpp"
#include "matrices/real_eigenvalues.hpp"
#include "model/forces.hpp"

namespace bellcrank {

namespace {

constexpr int kWrench = 6;
constexpr double kAgrees = 1e-11;         // of the largest load
constexpr double kAgreesNoBetter = 1e-9;  // of it: what no longer falls is rounding
constexpr double kRounding = 1e-13;       // of all that rows transmit
constexpr double kImproves = 0.3;
constexpr double kMoreLeft = 10.0;
constexpr double kSmall = 1e-3;  // an error of loads, in parts of them, of which one step leaves what responses do
constexpr int kMostSteps = 40;
constexpr double kFirstPart = 0.25, kLeastPart = 1e-6;  // of a coefficient that grows
constexpr double kNoShare = 1e-7;                       // of a force or moment of one
constexpr double kNoGrowth = 1e-10;                     // of loads by themselves: rounding
constexpr double kBeyond = 1e12;                        // loads that grow without end, in parts of the given ones
constexpr double kApart = 0.2;  // times of the past, in parts of the time from the last one to now

}  // namespace

FrictionLoads::FrictionLoads(const Model& model) : model_(model), forms_(model), of_law_(model.laws.size(), -1) {
    for (size_t i = 0; i < model.friction_loads.size(); ++i) {
        const int law = model.friction_loads[i].law;
        if (of_law_[law] < 0) {
            of_law_[law] = static_cast<int>(laws_.size());
            const Law& kind = model.laws[law];
            const double falls_over = kind.kind->fall == nullptr ? 0.0 : kind.kind->fall(kind.params);
            laws_.push_back({law, i, i, forms_.first(i), 0, falls_over});
        }
        Loaded& loaded = laws_[of_law_[law]];
        loaded.end = i + 1;
        loaded.last = forms_.first(i) + model.friction_loads[i].rank;
    }
    for (const FrictionLoad& each : model.friction_loads)
        for (int k = 0; k < kWrench * each.rank; ++k)
            for (const auto& weights : {each.slipping, each.holding})
                heaviest_ =
                    std::max({heaviest_, std::abs(each.form[k] * weights[0]), std::abs(each.form[k] * weights[1])});
    z_.assign(forms_.count(), 0.0);
    tried_ = before_ = slopes_ = looked_ = z_;
    wraps_.assign(model.friction_loads.size(), 0.0);
    has_ropes_ = std::ranges::any_of(model.friction_loads, [](const FrictionLoad& each) { return !each.wrap.empty(); });
}

void FrictionLoads::find_wraps(const Scenery& at) {
    for (size_t i = 0; i < wraps_.size(); ++i) {
        const FrictionLoad& each = model_.friction_loads[i];
        wraps_[i] = each.wrapped;
        for (const Term& term : each.wrap)
            wraps_[i] += term.coefficient * coordinate_motion(model_, at.branches, term.coordinate, at.x, at.u).value;
    }
}

void FrictionLoads::take(const RowLoads& loads) {
    std::swap(z_, before_);
    forms_.of(loads.multipliers, z_.data());
    transmitted_ = 0.0;
    for (const double each : loads.multipliers) transmitted_ = std::max(transmitted_, std::abs(each));
    if (!moves_ || !known_) return;
    // Broyden's update of the responses by the last step.
    moves_ = false;
    double square = 0.0;
    for (const double each : step_) square += each * each;
    if (!(square > 0.0)) return;
    const size_t k = slips_.size();
    for (size_t r = 0; r < z_.size(); ++r) {
        double missed = z_[r] - before_[r];
        for (size_t j = 0; j < k; ++j) missed -= responses_[r * k + j] * step_[j];
        for (size_t j = 0; j < k; ++j) responses_[r * k + j] += missed * step_[j] / square;
    }
}

void FrictionLoads::begin(System& system, double t, const double* x, const double* u) {
    const AngleBranches& branches = system.branches();
    if (has_ropes_) find_wraps(system.scenery(t, x, u));
    slips_.swap(slipped_);
    slips_.clear();
    for (size_t i = 0; i < laws_.size(); ++i) {
        const double sense = branches.friction(laws_[i].law).sense;
        if (sense == 0.0) continue;
        double left = 0.0;
        if (laws_[i].falls_over > 0.0) {
            const Scenery at = system.scenery(t, x, u);
            const int along = model_.laws[laws_[i].law].coordinate;
            const double v = coordinate_motion(model_, at.branches, along, at.x, at.u).rate / laws_[i].falls_over;
            left = std::exp(-v * v);
        }
        slips_.push_back({i, sense, left});
    }
    const bool same = std::ranges::equal(
        slips_, slipped_, [](const Slip& a, const Slip& b) { return a.loaded == b.loaded && a.sense == b.sense; });
    moves_ = false;
    error_ = HUGE_VAL;
    if (same) return expect(t);
    load_.clear();
    for (const Slip& slip : slips_) load_.push_back(branches.friction(laws_[slip.loaded].law).load);
    acts_ = found_ = step_ = start_ = load_;
    responses_.assign(z_.size() * slips_.size(), 0.0);
    matrix_.assign(slips_.size() * slips_.size(), 0.0);
    known_ = false;
    known_past_ = 0;
}

void FrictionLoads::settle(double t) {
    if (known_past_ == 0 || past_[0].t != t) {
        std::ranges::rotate(past_, past_.end() - 1);
        known_past_ = std::min(known_past_ + 1, static_cast<int>(past_.size()));
    }
    past_[0].t = t;
    past_[0].loads = load_;
}

// By the polynomial through those that were settled last, of moments that are not too close to each other.
void FrictionLoads::expect(double t) {
    found_ = load_;
    if (known_past_ == 0) return;
    std::array<const Past*, kMostPast> nodes;
    size_t n = 0;
    const double ahead = std::abs(t - past_[0].t);
    for (int i = 0; i < known_past_; ++i) {
        const auto close = [&](const Past* other) { return std::abs(past_[i].t - other->t) <= kApart * ahead; };
        if (std::none_of(nodes.begin(), nodes.begin() + n, close)) nodes[n++] = &past_[i];
    }
    std::ranges::fill(found_, 0.0);
    for (size_t i = 0; i < n; ++i) {
        double weight = 1.0;
        for (size_t j = 0; j < n; ++j)
            if (j != i) weight *= (t - nodes[j]->t) / (nodes[i]->t - nodes[j]->t);
        for (size_t k = 0; k < found_.size(); ++k) found_[k] += weight * nodes[i]->loads[k];
    }
    for (double& each : found_) each = std::max(each, 0.0);
    load_ = found_;
}

void FrictionLoads::set_aside(int slip) {
    double largest = 0.0;
    for (const double each : load_) largest = std::max(largest, std::abs(each));
    aside_ = largest > 0.0 ? largest : 1.0;
    found_ = load_;
    found_[slip] += aside_;
}

void FrictionLoads::take_response(int slip, const RowLoads& loads) {
    forms_.of(loads.multipliers, tried_.data());
    const size_t k = slips_.size();
    for (size_t r = 0; r < z_.size(); ++r) responses_[r * k + slip] = (tried_[r] - z_[r]) / aside_;
    found_ = load_;
    known_ = slip + 1 == slipping();
}

double FrictionLoads::size(const Loaded& of, double sense, double at_start, const double* z, double* slope) const {
    double whole = 0.0;
    for (size_t i = of.begin; i < of.end; ++i) {
        const FrictionLoad& each = model_.friction_loads[i];
        const int first = forms_.first(i);
        double square = 0.0;
        for (int r = first; r < first + each.rank; ++r) square += z[r] * z[r];
        // What slips does work on what resists it, or is driven by it.
        const bool given = each.is_given();
        const int driven = each.rank == 1 && sense * (given ? each.form[0] : z[first]) > 0.0;
        double weight = at_start * each.holding[driven] + (1.0 - at_start) * each.slipping[driven];
        if (!each.wrap.empty()) weight = 2.0 * std::tanh(0.5 * weight * std::max(wraps_[i], 0.0));
        const double norm = given ? std::abs(each.form[0]) : std::sqrt(square);
        whole += weight * norm;
        if (slope == nullptr) continue;
        for (int r = first; r < first + each.rank; ++r) slope[r] = given || norm == 0.0 ? 0.0 : weight * z[r] / norm;
    }
    return whole;
}

double FrictionLoads::held(int law, double sense, const double* z, double* slope) const {
    if (of_law_[law] < 0) return 0.0;
    const Loaded& of = laws_[of_law_[law]];
    if (sense != 0.0) return size(of, sense, 1.0, z, slope);
    return std::max(size(of, 1.0, 1.0, z, nullptr), size(of, -1.0, 1.0, z, nullptr));
}

void FrictionLoads::look(const RowLoads& loads, const std::vector<std::vector<double>>& nothing) {
    forms_.of(loads.multipliers, looked_.data());
    nothing_.resize(nothing.size() * looked_.size());
    for (size_t k = 0; k < nothing.size(); ++k) forms_.of(nothing[k], nothing_.data() + k * looked_.size());
}

double FrictionLoads::holding(int law, double sense, std::vector<double>& shift) {
    const size_t n = looked_.size();
    shift.assign(n == 0 ? 0 : nothing_.size() / n, 0.0);
    if (of_law_[law] < 0) return 0.0;
    const double most = held(law, sense == 0.0 ? 1.0 : sense, looked_.data(), slopes_.data());
    const Loaded& of = laws_[of_law_[law]];
    for (size_t k = 0; k < shift.size(); ++k)
        for (int r = of.first; r < of.last; ++r) shift[k] += slopes_[r] * nothing_[k * n + r];
    return most;
}

// Of each form that which the basis makes of it: it is orthonormal in force and moment.
std::vector<double> FrictionLoads::share_that_loads(int law, const RowLoads& loads) {
    std::vector<double> out(loads.multipliers.size(), 0.0), share(out.size());
    forms_.place(loads);
    look(loads, loads.nothing);
    const Loaded& of = laws_[of_law_[law]];
    for (int r = of.first; r < of.last; ++r) {
        double square = 0.0;
        std::fill(share.begin(), share.end(), 0.0);
        for (size_t k = 0; k < loads.nothing.size(); ++k) {
            const double value = nothing_[k * looked_.size() + r];
            square += value * value;
            for (size_t row = 0; row < share.size(); ++row) share[row] += value * loads.nothing[k][row];
        }
        if (!(square > kNoShare * kNoShare)) continue;
        for (size_t row = 0; row < out.size(); ++row)
            out[row] = std::max(out[row], std::abs(loads.weight()[row] * share[row]) / std::sqrt(square));
    }
    return out;
}

// det (1 − part · T′ C) at found_, with what is missing of L = part · T in missing_, and solved for in step_.
double FrictionLoads::slope_at(double part) {
    const size_t k = slips_.size();
    const double* z = z_.data();
    if (found_ != load_) {
        for (size_t j = 0; j < k; ++j) step_[j] = found_[j] - load_[j];
        for (size_t r = 0; r < z_.size(); ++r) {
            tried_[r] = z_[r];
            for (size_t j = 0; j < k; ++j) tried_[r] += responses_[r * k + j] * step_[j];
        }
        z = tried_.data();
    }
    missing_ = largest_ = 0.0;
    for (size_t i = 0; i < k; ++i) {
        const Slip& slip = slips_[i];
        const Loaded& of = laws_[slip.loaded];
        const double asked = part * size(of, slip.sense, slip.at_start, z, slopes_.data());
        step_[i] = asked - found_[i];
        missing_ = std::max(missing_, std::abs(step_[i]));
        largest_ = std::max({largest_, asked, std::abs(found_[i])});
        double* row = matrix_.data() + i * k;
        std::fill_n(row, k, 0.0);
        for (int r = of.first; r < of.last; ++r) {
            const double slope = part * slopes_[r], *response = &responses_[r * k];
            for (size_t j = 0; j < k; ++j) row[j] -= slope * response[j];
        }
        row[i] += 1.0;
    }
    return eliminate_dense(matrix_, step_);
}

// Newton's method in what slips, from found_. False unless it ends where more friction makes a greater load: of
// several solutions bodies that give, however little, find that one.
bool FrictionLoads::newton(double part) {
    double largest = 0.0;
    for (const double each : load_) largest = std::max(largest, std::abs(each));
    for (int i = 0; i < kMostSteps; ++i) {
        const double determinant = slope_at(part);
        double change = 0.0, size = 0.0;
        for (size_t j = 0; j < found_.size(); ++j) {
            found_[j] += step_[j];
            change = std::max(change, std::abs(step_[j]));
            size = std::max(size, std::abs(found_[j]));
        }
        if (!std::isfinite(change) || size > kBeyond * std::max(largest, 1.0)) return false;
        if (change <= std::max(kAgrees * size, 0.01 * kRounding * heaviest_ * transmitted_)) return determinant > 0.0;
    }
    return false;
}

// From none the coefficients of all that slips grow to what they are.
bool FrictionLoads::grow() {
    std::ranges::fill(found_, 0.0);
    start_ = found_;
    double part = 0.0, step = kFirstPart;
    while (part < 1.0) {
        const double next = std::min(part + step, 1.0);
        if (newton(next)) {
            part = next;
            start_ = found_;
            step *= 2.0;
            continue;
        }
        found_ = start_;
        step *= 0.5;
        if (step >= kLeastPart) continue;
        beyond_ = part;
        jams_at_ = laws_[slips_[std::ranges::max_element(found_) - found_.begin()].loaded].law;
        return false;
    }
    return true;
}

FrictionLoads::Found FrictionLoads::improve() {
    const size_t k = slips_.size();
    if (k == 0) return Found::settled;
    found_ = load_;
    const double determinant = slope_at(1.0), error = missing_, largest = largest_;
    // Loads that are small differences of large ones are no better than these.
    const double rounding = kRounding * heaviest_ * transmitted_;
    const bool stalls = error <= std::max(kAgreesNoBetter * largest, rounding) && !(error < kImproves * error_);
    // The next step leaves as small a part of the error as the last one did, or little more.
    const double left = std::isfinite(error_) ? kMoreLeft * error / error_ * error : error;
    error_ = error;
    if ((error <= kAgrees * largest || stalls) && determinant > 0.0) return Found::settled;
    if (error <= kSmall * largest && determinant > 0.0) {
        for (size_t j = 0; j < k; ++j) found_[j] += step_[j];
    } else if (!newton(1.0) && !grow()) {
        return Found::jammed;
    }
    for (size_t j = 0; j < k; ++j) step_[j] = found_[j] - load_[j];
    load_ = found_;
    moves_ = true;
    return left <= kAgrees * largest && determinant > 0.0 ? Found::last : Found::better;
}

void FrictionLoads::changes(std::vector<double>& efforts) const {
    efforts.assign(of_law_.size(), 0.0);
    for (size_t i = 0; i < slips_.size(); ++i)
        efforts[laws_[slips_[i].loaded].law] = -slips_[i].sense * (found_[i] - acts_[i]);
}

double FrictionLoads::jams_at_times() {
    const size_t k = slips_.size();
    std::vector<double> by(k * k, 0.0);
    for (size_t i = 0; i < k; ++i) {
        const Loaded& of = laws_[slips_[i].loaded];
        size(of, slips_[i].sense, slips_[i].at_start, z_.data(), slopes_.data());
        for (int r = of.first; r < of.last; ++r)
            for (size_t j = 0; j < k; ++j) by[i * k + j] += slopes_[r] * responses_[r * k + j];
    }
    const double growth = largest_real_eigenvalue(by);
    return growth > kNoGrowth ? 1.0 / growth : HUGE_VAL;
}

void FrictionLoads::tell(AngleBranches& branches) {
    acts_ = found_;
    for (size_t i = 0; i < slips_.size(); ++i) branches.friction(laws_[slips_[i].loaded].law).load = found_[i];
}

}  // namespace bellcrank
