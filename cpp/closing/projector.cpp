#include "closing/projector.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace bellcrank {

namespace {

// However doubtful a configuration, a row this independent is kept.
constexpr double kMostDoubtfulPivot = 1e-3;

// Error up to which a row that was dropped for doubt is satisfied.
constexpr double kSatisfied = 1e-7;

// The same as kGivenUp for rates, in parts of the fastest speed, or of 1 m/s, 1 rad/s.
constexpr double kRateGivenUp = 1e-4;

// Errors that may be left of the rows kept, in parts of the tolerance and at least.
constexpr double kLeft = 1e3, kLeastLeft = 1e-8;

// An error that small and not falling any more is rounding.
constexpr double kStagnation = 1e-9;

// An error that falls by less does not fall fast: the factors are those of another configuration.
constexpr double kSlow = 0.25;

// No more is expected of a correction with the factors of a configuration close by.
constexpr double kBestContraction = 1e-3;

// What may be corrected beyond the way since the last step [m, rad], by coarse methods too.
constexpr double kLittleCorrected = 0.02;

// The most that rounding leaves of an impact, in parts of its speeds.
constexpr double kRefinedImpact = 1e-6;

// Of an impact that is found again: what may be left, of its speeds, that rounding does not make.
constexpr double kUnexplained = 1e-7;

double largest_difference(const double* values, const std::vector<double>& before) {
    double largest = 0.0;
    for (size_t i = 0; i < before.size(); ++i) largest = std::max(largest, std::abs(values[i] - before[i]));
    return largest;
}

}  // namespace

Projector::Projector(System& system, Statistics& statistics, const ClosingOptions& options, int speeds)
    : options_(options),
      stops_(system.model(), options),
      trusted_pivot_(options.rank_tolerance),
      at_rest_(speeds, 0.0),
      system_(system),
      counts_(statistics),
      friction_loads_(system.model()) {
    efforts_.assign(stops_.count(), 0.0);
}

void Projector::lacks_corrections() { throw std::logic_error("no position corrections along displacements"); }

bool Projector::move_onto_rows(double t, double* x, double* u) {
    stops_.open();
    before_.assign(u, u + at_rest_.size());
    rates_known_ = true;  // once velocities are corrected
    const double jump = set_driven(t, x, u);
    if (!has_rows()) return true;
    const bool met = close_positions(t, x);
    // Out of a stop that it ran into a body may be pushed as far as it went.
    const bool pushed = stops_.pushing() > 0;
    stops_.empty() ? void(correct_rates(t, x, u)) : meet_impacts(t, x, u, jump);
    return met && (pushed || in_proportion(t, u)) && rates_hold(t, x, u);
}

bool Projector::close_positions(double t, double* x) {
    began_.assign(x, x + (stops_.empty() ? 0 : system_.configuration_size()));
    begin_positions(t, x);
    stops_.reset();
    close_together(t, x);
    if (stops_.pushing() > 1 &&
        (Stops::is_far(largest_difference(x, began_), wrong_) || !(largest_error(true) <= kGivenUp))) {
        std::ranges::copy(began_, x);
        begin_positions(t, x);
        stops_.close_singly([&] {
            enable_stops();
            correct_positions(t, x, true);
            measure_stops(t, x, at_rest_.data());
        });
        close_together(t, x);
    }
    const bool doubted = correct_doubted_rows(t, x), moved = correct_without_velocity_rows(t, x) || doubted;
    if (moved) measure_stops(t, x, at_rest_.data());
    return rows_hold(x) && stops_.hold();
}

void Projector::begin_positions(double t, const double* x) {
    trusted_pivot_ = options_.rank_tolerance;
    corrected_ = wrong_ = 0.0;
    begin_closing(t, x);
    measure_stops(t, x, at_rest_.data());
}

bool Projector::close_for_impulses(double t, double* x) {
    stops_.forget();
    return !has_rows() || close_positions(t, x);
}

bool Projector::close_stage(double t, double* x, double* u) {
    if (!begin_stage(t, x, u)) return false;
    set_driven(t, x, u);
    correct_positions(t, x, true);
    correct_rates(t, x, u);
    return true;
}

// Pushing out of one stop may push into another.
void Projector::close_together(double t, double* x) {
    for (int pushing = -1;;) {
        stops_.close_penetrated();
        if (stops_.pushing() <= pushing) return;
        pushing = stops_.pushing();
        enable_stops();
        correct_positions(t, x, true);
        measure_stops(t, x, at_rest_.data());
    }
}

// Tasora, equation 36, iterated from the C at hand: Δx = M⁻¹ Jᵀ τ with S τ = −C. Where the Jacobian and the factors are
// those of a configuration close by, they are renewed when the error does not fall fast, and at the end, where the
// velocity correction and the next acceleration use them. The Jacobian is evaluated along with the values that are
// expected to be the last.
//
// A configuration that is wrong by ε tells nothing about rows that are dependent up to an angle of that size: near a
// singular configuration it could be moved onto another branch. Such rows are dropped as if it were singular.
void Projector::correct_positions(double t, double* x, bool doubting) {
    bool fresh = begin_corrections(t, x), evaluated = false;
    const double noise = system_.position_noise(x);
    double error = largest_error(false), contraction = contraction_;
    wrong_ = std::max(wrong_, error);
    for (int i = 0; !(error <= noise * sharpness()) && i < options_.max_corrections; ++i) {
        const double* xi = displacement();
        double moved = extent(xi);
        const double doubtful = options_.doubt * moved;
        if (doubting && doubtful * doubtful > trusted_pivot_) {
            trusted_pivot_ = std::min(doubtful * doubtful, kMostDoubtfulPivot);
            if (counts_.smallest_pivot < trusted_pivot_) {
                refactor();
                xi = displacement();
                moved = extent(xi);
            }
        }
        corrected_ += moved;
        take(xi, x);
        ++counts_.corrections;
        evaluated = 2.0 * error * contraction <= noise;
        const bool current = evaluate(t, x, evaluated);
        const double next = largest_error(false);
        contraction = next / error;
        if (i == 0) contraction_ = std::max(contraction, kBestContraction);
        error = next;
        const bool slow = !(contraction < kSlow), renewed = slow || (evaluated && !(error <= noise));
        if (slow && fresh && error < kStagnation) break;
        if (renewed && !current) refresh(t, x);
        fresh = renewed || current;
    }
    finish_corrections(t, x, evaluated);
}

// A row dropped for doubt is satisfied as those are that it nearly depends on, or the configuration is on another
// branch than it seemed. Where one is not, those that are independent without doubt are corrected as well; what they
// are left with counts as an error again.
//
// A stop that was run into is corrected whatever the doubt: nothing else would ever push it out, for it is as deep in
// doubt in every step that follows.
bool Projector::correct_doubted_rows(double t, double* x) {
    if (trusted_pivot_ <= options_.rank_tolerance) return false;
    const bool through = runs_through_a_stop();
    if (!through && largest_error(true) <= kSatisfied) return false;
    trusted_pivot_ = options_.rank_tolerance;
    refactor();
    correct_positions(t, x, !through);
    if (trusted_pivot_ > options_.rank_tolerance) {
        trusted_pivot_ = options_.rank_tolerance;
        refactor();
    }
    return true;
}

bool Projector::runs_through_a_stop() const {
    for (int i = 0; i < stops_.count(); ++i)
        if (stops_.active()[i] && drops_stop(i) && stops_.gap[i] < -options_.contact_tolerance) return true;
    return false;
}

// Where a velocity constraint says what the rate of a row of positions does, either may be the one that is dropped.
// Only the other can satisfy positions: they are corrected once more, without such constraints.
bool Projector::correct_without_velocity_rows(double t, double* x) {
    if (!has_velocity_rows() || !velocity_rows_interfere()) return false;
    leave_out_velocity_rows(true, t, x);
    correct_positions(t, x, false);
    leave_out_velocity_rows(false, t, x);
    return true;
}

// Far away from the origin the noise of positions is larger than what may be left otherwise.
bool Projector::rows_hold(const double* x) {
    const double left = std::max(kLeft * options_.position_tolerance, kLeastLeft);
    return largest_error(true) <= kGivenUp &&
           largest_error(false) <= std::max(left, kNoiseLeft * system_.position_noise(x));
}

// Where a coordinate jumps, as a rotation vector does at half a turn, its row can be met by going somewhere else, where
// no motion leads.
bool Projector::in_proportion(double t, const double* u) const {
    const double passed = std::abs(t - step_began_);
    if (last_extent_ < 0.0 || passed == 0.0 || corrected_ <= kLittleCorrected) return true;
    return corrected_ <= passed * std::max(last_extent_, extent(u)) + kLittleCorrected;
}

// A correction changes rates by little: they are found again only where one did not hold before it, or where responses
// of stops have taken their place.
bool Projector::rates_hold(double t, const double* x, const double* u) {
    const double limit = kRateGivenUp * std::max(1.0, largest_component(u));
    if (rates_known_ && dropped_rates_within(limit)) return true;
    find_rates(t, x, u);
    rates_known_ = true;
    return dropped_rates_within(limit);
}

bool Projector::is_explained(const double* jump, const double* found) const {
    double missed = 0.0;
    for (size_t k = 0; k < at_rest_.size(); ++k) missed = std::max(missed, std::abs(jump[k] - found[k]));
    return missed <= kUnexplained * largest_component(jump);
}

double Projector::largest_component(const double* speeds) const {
    double largest = 0.0;
    for (size_t k = 0; k < at_rest_.size(); ++k) largest = std::max(largest, std::abs(speeds[k]));
    return largest;
}

void Projector::measure_stops(double t, const double* x, const double* u) {
    if (stops_.empty()) return;
    const Scenery at = system_.scenery(t, x, u);
    stops_.measure(at.model, at.branches, t, at.x, at.u);
}

// y is the acceleration off the stops that something lies on.
void Projector::seek_contacts(double t, const double* x, const double* u) {
    measure_stops(t, x, u);
    loaded_at_ = t;
    stops_.seek_contacts();
}

void Projector::note_contacts(double largest) {
    stops_.note_touched(largest);
    counts_.closed_stops = stops_.pushing();
}

void Projector::begin_step(double t, const double* x, const double* u) {
    step_began_ = t;
    last_extent_ = extent(u);
    if (stops_.empty()) return;
    measure_stops(t, x, u);
    stops_.remember(t);
}

void Projector::forget_step() {
    last_extent_ = -1.0;
    stops_.forget();
    forget_friction();
}

// Stops that are kept hold as equations while velocities are corrected, and push as all others that are closed where
// something is hit, or the speed of a drive jumps: then what approaches is judged by the speeds before that. A stop
// that was met within the step and is being left counts as an impact as well.
void Projector::meet_impacts(double t, const double* x, double* u, double jump) {
    measure_stops(t, x, before_.data());
    stops_.keep();
    stops_.seek_impacts();
    if (stops_.is_fast(std::max(jump, largest_jump(t, x, u)))) stops_.open();
    enable_stops();
    before_.assign(u, u + before_.size());
    const double wrong = correct_rates(t, x, u);
    if (stops_.pushing() > 1 && Stops::is_far(largest_difference(u, before_), wrong)) {  // none is held to both sides
        std::ranges::copy(before_, u);
        stops_.open();
        enable_stops();
        correct_rates(t, x, u);
    }
    measure_stops(t, x, u);
    responses_.clear();
    const std::pair<double, const double*> at{t, x};  // captures that fit into a function without room of its own
    impact_.find(stops_, [this, &at](int stop, double* speeds) { return respond(at.first, at.second, stop, speeds); });
    const bool measured_responses = !rates_known_;
    if (!impact_.struck().empty()) {
        const size_t n = before_.size();
        for (size_t i = 0; i < impact_.struck().size(); ++i)
            for (size_t k = 0; k < n; ++k) u[k] += impact_.impulses()[i] * responses_[i * n + k];
        enable_stops();
        refine_impact(t, x, u);
    }
    if (measured_responses) measure_stops(t, x, u);
    counts_.impacts += stops_.bounces() || stops_.passed(t);
}

// From the speed 1 off one stop, by what pushes.
bool Projector::respond(double t, const double* x, int stop, double* speeds) {
    stops_.push_alone(stop);
    enable_stops();
    const size_t n = before_.size(), begin = responses_.size();
    responses_.resize(begin + n);
    rates_known_ = false;
    const double impulse = push_off(t, x, stop, responses_.data() + begin);
    if (!(impulse > 0.0)) {
        responses_.resize(begin);
        return false;
    }
    for (size_t k = begin; k < begin + n; ++k) responses_[k] /= impulse;
    measure_stops(t, x, responses_.data() + begin);
    std::copy(stops_.speed.begin(), stops_.speed.end(), speeds);
    measure_stops(t, x, at_rest_.data());
    for (int i = 0; i < stops_.count(); ++i) speeds[i] -= stops_.speed[i];
    return true;
}

// What rounding of the responses leaves: those that push have their speeds then, and equations hold. More than rounding
// is what rows that are nearly dependent make of it.
void Projector::refine_impact(double t, const double* x, double* u) {
    before_.assign(u, u + before_.size());
    correct_rates(t, x, u);
    rates_known_ = true;
    if (!(largest_difference(u, before_) <= kRefinedImpact * largest_component(before_.data())))
        std::ranges::copy(before_, u);
}

}  // namespace bellcrank
