#include "closing/friction_loads.hpp"

#include <algorithm>
#include <cmath>

#include "linalg/dense_elimination.hpp"
#include "model/forces.hpp"
#include "spatial/body_state.hpp"

namespace bellcrank {

namespace {

constexpr int kWrench = 6;
constexpr double kAgrees = 3e-13;         // of the largest load
constexpr double kAgreesNoBetter = 1e-9;  // of it: what no longer falls is rounding
constexpr double kRounding = 1e-13;       // of all that rows transmit
constexpr double kImproves = 0.3;
constexpr int kMostSteps = 40;
constexpr double kFirstPart = 0.25, kLeastPart = 1e-6;  // of a coefficient that grows
constexpr double kBeyond = 1e12;                        // loads that grow without end, in parts of the given ones

}  // namespace

FrictionLoads::FrictionLoads(const Model& model) : model_(model), of_law_(model.laws.size(), -1) {
    for (size_t i = 0; i < model.friction_loads.size(); ++i) {
        const int law = model.friction_loads[i].law;
        if (of_law_[law] < 0) {
            of_law_[law] = static_cast<int>(laws_.size());
            const Law& kind = model.laws[law];
            laws_.push_back({law, i, i, kind.kind->fall == nullptr ? 0.0 : kind.kind->fall(kind.params)});
        }
        laws_[of_law_[law]].end = i + 1;
    }
    for (const FrictionLoad& each : model.friction_loads)
        for (const double entry : each.form)
            for (const auto& weights : {each.slipping, each.holding})
                heaviest_ = std::max({heaviest_, std::abs(entry * weights[0]), std::abs(entry * weights[1])});
    w_.assign(kWrench * model.friction_loads.size(), 0.0);
    tried_ = before_ = moved_ = w_;
    wraps_.assign(model.friction_loads.size(), 0.0);
}

// Of a joint in axes of its first marker.
void FrictionLoads::gather(const RowLoads& loads, const double* poses, const std::vector<double>& multipliers,
                           std::vector<double>& w) const {
    double* out = w.data();
    for (const FrictionLoad& each : model_.friction_loads) {
        if (each.of.pair < 0) {
            for (int k = 0; k < kWrench; ++k)
                out[k] = k < std::ssize(each.rows) ? multipliers[loads.storage_row(each.rows[k])] : 0.0;
            if (each.is_given()) out[0] = 1.0;
        } else {
            const MarkerPair& pair = model_.pairs[each.of.pair];
            const Mat3 axes = rotation_matrix(pose_rotation(poses, pair.body[0])) * rotation_matrix(pair.rotation[0]);
            loads.wrench_of(each.of, poses, multipliers, out);
            store(out, transpose_times(axes, load(out)));
            store(out + 3, transpose_times(axes, load(out + 3)));
        }
        out += kWrench;
    }
}

void FrictionLoads::take(const RowLoads& loads, const double* poses) {
    std::swap(w_, before_);
    gather(loads, poses, loads.multipliers, w_);
    transmitted_ = 0.0;
    for (const double each : loads.multipliers) transmitted_ = std::max(transmitted_, std::abs(each));
    if (!moves_ || !known_) return;
    // Broyden's update of the responses by the last step.
    moves_ = false;
    double square = 0.0;
    for (const double each : step_) square += each * each;
    if (!(square > 0.0)) return;
    const size_t k = slips_.size();
    for (size_t r = 0; r < w_.size(); ++r) {
        double missed = w_[r] - before_[r];
        for (size_t j = 0; j < k; ++j) missed -= responses_[r * k + j] * step_[j];
        for (size_t j = 0; j < k; ++j) responses_[r * k + j] += missed * step_[j] / square;
    }
}

void FrictionLoads::begin(const Scenery& at) {
    for (size_t i = 0; i < wraps_.size(); ++i) {
        const FrictionLoad& each = model_.friction_loads[i];
        wraps_[i] = each.wrapped;
        for (const Term& term : each.wrap)
            wraps_[i] += term.coefficient * coordinate_motion(model_, at.branches, term.coordinate, at.x, at.u).value;
    }
    slips_.swap(slipped_);
    slips_.clear();
    for (size_t i = 0; i < laws_.size(); ++i) {
        const double sense = at.branches.friction(laws_[i].law).sense;
        if (sense == 0.0) continue;
        double left = 0.0;
        if (laws_[i].falls_over > 0.0) {
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
    found_ = load_;
    if (same) return;
    load_.clear();
    for (const Slip& slip : slips_) load_.push_back(at.branches.friction(laws_[slip.loaded].law).load);
    found_ = step_ = start_ = load_;
    responses_.assign(w_.size() * slips_.size(), 0.0);
    slopes_.assign(w_.size(), 0.0);
    matrix_.assign(slips_.size() * slips_.size(), 0.0);
    known_ = false;
}

void FrictionLoads::set_aside(int slip) {
    double largest = 0.0;
    for (const double each : load_) largest = std::max(largest, std::abs(each));
    aside_ = largest > 0.0 ? largest : 1.0;
    found_ = load_;
    found_[slip] += aside_;
}

void FrictionLoads::take_response(int slip, const RowLoads& loads, const double* poses) {
    gather(loads, poses, loads.multipliers, tried_);
    const size_t k = slips_.size();
    for (size_t r = 0; r < w_.size(); ++r) responses_[r * k + slip] = (tried_[r] - w_[r]) / aside_;
    found_ = load_;
    known_ = slip + 1 == slipping();
}

double FrictionLoads::size(const Loaded& of, double sense, double at_start, const double* w, double* slope) const {
    double whole = 0.0;
    for (size_t i = of.begin; i < of.end; ++i) {
        const FrictionLoad& each = model_.friction_loads[i];
        const double* at = w + kWrench * i;
        double value[3] = {}, square = 0.0;
        for (int r = 0; r < each.rank; ++r) {
            for (int k = 0; k < kWrench; ++k) value[r] += each.form[kWrench * r + k] * at[k];
            square += value[r] * value[r];
        }
        // What slips does work on what resists it, or is driven by it.
        const int driven = each.rank == 1 && sense * value[0] > 0.0;
        double weight = at_start * each.holding[driven] + (1.0 - at_start) * each.slipping[driven];
        if (!each.wrap.empty()) weight = 2.0 * std::tanh(0.5 * weight * std::max(wraps_[i], 0.0));
        const double norm = std::sqrt(square);
        whole += weight * norm;
        if (slope == nullptr || norm == 0.0 || each.is_given()) continue;
        for (int r = 0; r < each.rank; ++r)
            for (int k = 0; k < kWrench; ++k)
                slope[kWrench * i + k] += weight * value[r] / norm * each.form[kWrench * r + k];
    }
    return whole;
}

double FrictionLoads::held(int law, double sense, const double* w, double* slope) const {
    if (of_law_[law] < 0) return 0.0;
    const Loaded& of = laws_[of_law_[law]];
    if (sense != 0.0) return size(of, sense, 1.0, w, slope);
    return std::max(size(of, 1.0, 1.0, w, nullptr), size(of, -1.0, 1.0, w, nullptr));
}

double FrictionLoads::holding(int law, double sense, const RowLoads& loads, const double* poses,
                              const std::vector<std::vector<double>>& nothing, std::vector<double>& shift) {
    shift.assign(nothing.size(), 0.0);
    if (of_law_[law] < 0) return 0.0;
    gather(loads, poses, loads.multipliers, tried_);
    moved_.assign(w_.size(), 0.0);
    const double most = held(law, sense == 0.0 ? 1.0 : sense, tried_.data(), moved_.data());
    for (size_t k = 0; k < shift.size(); ++k) {
        gather(loads, poses, nothing[k], tried_);
        for (size_t r = 0; r < moved_.size(); ++r) shift[k] += moved_[r] * tried_[r];
    }
    return most;
}

// det (1 − part · T′ C) at found_, with the matrix factored for what is left of L = part · T in step_.
double FrictionLoads::slope_at(double part) {
    const size_t k = slips_.size();
    for (size_t r = 0; r < w_.size(); ++r) {
        tried_[r] = w_[r];
        for (size_t j = 0; j < k; ++j) tried_[r] += responses_[r * k + j] * (found_[j] - load_[j]);
    }
    for (size_t i = 0; i < k; ++i) {
        const Slip& slip = slips_[i];
        std::fill(slopes_.begin(), slopes_.end(), 0.0);
        step_[i] =
            part * size(laws_[slip.loaded], slip.sense, slip.at_start, tried_.data(), slopes_.data()) - found_[i];
        for (size_t j = 0; j < k; ++j) {
            double by = 0.0;
            for (size_t r = 0; r < w_.size(); ++r) by += slopes_[r] * responses_[r * k + j];
            matrix_[i * k + j] = (i == j ? 1.0 : 0.0) - part * by;
        }
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
    const double determinant = slope_at(1.0);
    double error = 0.0, largest = 0.0;
    for (size_t i = 0; i < k; ++i) {
        const Slip& slip = slips_[i];
        const double asked = size(laws_[slip.loaded], slip.sense, slip.at_start, w_.data(), nullptr);
        error = std::max(error, std::abs(asked - load_[i]));
        largest = std::max({largest, asked, std::abs(load_[i])});
    }
    // Loads that are small differences of large ones are no better than these.
    const double rounding = kRounding * heaviest_ * transmitted_;
    const bool stalls = error <= std::max(kAgreesNoBetter * largest, rounding) && !(error < kImproves * error_);
    error_ = error;
    if ((error <= kAgrees * largest || stalls) && determinant > 0.0) return Found::settled;
    if (!newton(1.0) && !grow()) return Found::jammed;
    for (size_t j = 0; j < k; ++j) step_[j] = found_[j] - load_[j];
    load_ = found_;
    moves_ = true;
    return Found::better;
}

void FrictionLoads::tell(AngleBranches& branches) const {
    for (size_t i = 0; i < slips_.size(); ++i) {
        const int law = laws_[slips_[i].loaded].law;
        branches.friction(law).load = found_[i];
    }
}

}  // namespace bellcrank
