// Dry friction: what holds is a row with the coordinate where it came to rest, what slips an applied effort against its
// speed. Between two moments at which it is settled neither changes, and motions are smooth (docs/theory/friction.md).
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "closing/projector.hpp"
#include "model/branches.hpp"
#include "model/model.hpp"

namespace bellcrank {

namespace {

constexpr double kSlowBelow = 0.5, kFastBeyond = 2.0;  // of the speed over which friction falls: on either side of it
constexpr double kNoEffort = 1e-11;                    // of the largest that is held: rounding
constexpr int kMostAgreements = 40, kMostShares = 6;
constexpr double kStopsWithIt = 1e3;    // speeds that may go with one that is none
constexpr double kNearlyAtRest = 1e-9;  // of the speed at the start of a step
constexpr double kAlike = 10.0;         // errors of speeds, against each other
constexpr double kTurned = 1e-11;       // speed against its sense at which a slip has ended
constexpr double kExceeded = 1e-10;     // of an effort, against the most that holds, that is rounding
constexpr double kTogether = 1e-6;      // parts of what holds: what is used as much begins to slip with it
constexpr double kNearlyFree = 1e-6;    // of the largest acceleration: where next to nothing holds
constexpr double kPassing = 1e-6;       // a speed with which a dead point is passed [m/s, rad/s]
constexpr double kNotKept = 1e-6;       // of the largest acceleration: of a row that holds, which is none
constexpr double kBackwards = 1e-9;     // of an acceleration, against that by all that holds, or the largest: rounding

double held_by(const Model& model, const Law& law, double t, double sense) {
    return law.kind->holds(law.params, {law.function < 0 ? nullptr : &model.functions[law.function]}, t, sense);
}

double against(double effort) { return effort > 0.0 ? -1.0 : effort < 0.0 ? 1.0 : 0.0; }

}  // namespace

// Up to which effort it holds where it would begin to slip with a sense, which is against its effort.
double Projector::holds_against(int stop, double t, double sense) const {
    const int law = stops_.friction_law(stop);
    const Model& model = system_.model();
    return held_by(model, model.laws[law], t, sense) + friction_loads_.holding(law, sense);
}

// The part of that which an effort uses.
double Projector::used(int stop, double t, double effort) const {
    return effort == 0.0 ? 0.0 : std::abs(effort) / holds_against(stop, t, against(effort));
}

bool Projector::can_hold(int stop, double t) const {
    return friction_loads_.is_loaded(stops_.friction_law(stop)) ||
           std::max(holds_against(stop, t, 1.0), holds_against(stop, t, -1.0)) > 0.0;
}

// A freewheel, against the way in which it is free.
bool Projector::never_slips(int stop, double t, double sense) const {
    return !std::isfinite(holds_against(stop, t, sense));
}

// In axes of joints all is linear but the loads: FrictionLoads follows how the last solution answers to them.
void Projector::agree_with_loads(double t, const double* x, const double* u, double* udot,
                                 const std::function<void()>& solve) {
    const FrictionJam before = std::exchange(jam_, {});
    friction_loads_.begin(system_, t, x, u);
    friction_loads_.tell(system_.memory());
    solve();
    if (friction_loads_.slipping() == 0 && !asks_for_loads_) return;
    friction_loads_.place(loads_at(t, x, u, udot));
    friction_loads_.take(loads_at(t, x, u, udot));
    // Other stops may come to push.
    const bool linear = !stops_.seeks();
    const auto act = [&]() -> const RowLoads& {
        friction_loads_.changes(changes_);
        friction_loads_.tell(system_.memory());
        for (int i = 0; i < stops_.count(); ++i)
            efforts_[i] = stops_.is_friction(i) ? changes_[stops_.friction_law(i)] : 0.0;
        if (!linear || !add_efforts(efforts_, udot)) solve();
        return loads_at(t, x, u, udot);
    };
    bool exact = false;  // responses, that no update has changed
    for (int pass = 0; pass < kMostAgreements; ++pass) {
        if (pass == kMostAgreements / 2) friction_loads_.forget_responses();
        if (!friction_loads_.knows_responses() && friction_loads_.slipping() > 0) {
            for (int j = 0; j < friction_loads_.slipping(); ++j) {
                friction_loads_.set_aside(j);
                friction_loads_.take_response(j, act());
            }
            act();
            exact = true;
        }
        const FrictionLoads::Found found = friction_loads_.improve();
        if (found == FrictionLoads::Found::settled) return friction_loads_.settle(t);
        if (found == FrictionLoads::Found::jammed && !exact) {
            friction_loads_.forget_responses();
            continue;
        }
        exact = false;
        if (found == FrictionLoads::Found::jammed) {
            // A state that is no number comes from stages that jammed.
            jam_ = std::isnan(u[0]) ? before : FrictionJam{friction_loads_.jams_at(), friction_loads_.jams_beyond()};
            break;
        }
        const RowLoads& loads = act();
        const bool last = found == FrictionLoads::Found::last;
        if (!last || asks_for_loads_) friction_loads_.take(loads);
        if (last) return friction_loads_.settle(t);
    }
    std::fill_n(udot, system_.tangent_size(), std::numeric_limits<double>::quiet_NaN());
}

void Projector::begin_slipping(int stop, double sense) {
    stops_.hold(stop, false);
    AngleBranches::Friction& memory = system_.memory().friction(stops_.friction_law(stop));
    memory = {.sense = sense, .load = memory.load};
}

void Projector::begin_holding(int stop) {
    stops_.hold(stop, true);
    AngleBranches::Friction& memory = system_.memory().friction(stops_.friction_law(stop));
    memory = {.held_at = held_at_[stop], .load = memory.load};
}

void Projector::forget_friction() {
    for (int i = 0; i < stops_.count(); ++i)
        if (stops_.is_friction(i)) begin_slipping(i, 0.0);
}

// Coordinates at rest that equations alone move, or hold, such as those of drives: friction could hold nothing there.
// Nor where a rate goes through zero while the mechanism moves on, which would have to stop for it.
void Projector::find_idle(double t, const double* x, const double* u, double still) {
    stops_.open();
    const int redundant = redundant_at(t, x);
    for (int i = 0; i < stops_.count(); ++i) {
        if (!stops_.is_holding(i)) continue;
        stops_.push_alone(i);
        idle_[i] = redundant_at(t, x) > redundant;
        if (idle_[i]) continue;
        mobile_[i] = 1.0 / push_off(t, x, i, accelerations_.data());
        double others = 0.0;
        for (const double each : accelerations_) others = std::max(others, std::abs(each));
        const double rate = motion_along(t, x, u, i).rate;
        idle_[i] = !never_slips(i, t, rate) && std::abs(rate) * others > kStopsWithIt * std::max(still, kAtRest);
    }
    for (int i = 0; i < stops_.count(); ++i)
        if (idle_[i]) begin_slipping(i, 0.0);
    stops_.open();
    redundant_at(t, x);
}

// What friction that holds exerts in the last acceleration. Where rows are redundant it holds as long as some share of
// the loads does.
void Projector::find_efforts(double t, const double* x, const double* u) {
    const bool shared = counts_.dropped_rows > 0;
    const RowLoads* loads = shared ? &loads_at(t, x, u, accelerations_.data()) : nullptr;
    held_efforts_.assign(stops_.count(), 0.0);
    for (int i = 0; i < stops_.count(); ++i)
        if (stops_.is_holding(i)) held_efforts_[i] = shared ? loads->multiplier(stops_.rows()[i]) : effort_of_stop(i);
}

bool Projector::holds_by_loads() const {
    for (int i = 0; i < stops_.count(); ++i)
        if (stops_.is_holding(i) && friction_loads_.is_loaded(stops_.friction_law(i))) return true;
    return false;
}

// What rows exert on each other beside friction, as parts do that were forced together, is not known: it makes no load.
const std::vector<std::vector<double>>& Projector::shares(RowLoads& loads) {
    if (!holds_by_loads()) return loads.nothing;
    holding_rows_.clear();
    for (int i = 0; i < stops_.count(); ++i)
        if (stops_.is_holding(i)) holding_rows_.push_back(loads.storage_row(stops_.rows()[i]));
    return loads.nothing_but_preload(holding_rows_);
}

// With limits that shift with the share, as they change where it is, and stops.
void Projector::find_bearing_rows(const RowLoads& loads, const std::vector<std::vector<double>>& among,
                                  const LimitParts& parts) {
    if (holds_by_loads()) friction_loads_.look(loads, among);
    size_t count = 0;
    double most_held = 0.0;
    for (int i = 0; i < stops_.count(); ++i) {
        const bool holds = stops_.is_holding(i);
        if (!holds && (stops_.is_friction(i) || !stops_.touched()[i])) continue;
        if (count == bearing_.size()) bearing_.emplace_back();
        BearingRow& b = bearing_[count++];
        b.row = loads.storage_row(stops_.rows()[i]);
        b.most = HUGE_VAL;
        b.law = stops_.friction_law(i);
        b.shift.assign(among.size(), 0.0);
        most_held = std::max(most_held, std::abs(loads.multipliers[b.row]));
        if (!holds) continue;
        const double sense = against(loads.multipliers[b.row]);
        b.most = parts.constant * held_by(system_.model(), system_.model().laws[b.law], loaded_at_, sense);
        if (!friction_loads_.is_loaded(b.law)) continue;
        b.most += parts.loaded * friction_loads_.holding(b.law, sense, b.shift);
        for (double& each : b.shift) each *= parts.loaded;
    }
    bearing_.resize(count);
    for (BearingRow& b : bearing_) b.most = std::max(b.most, kNoEffort * most_held);
}

bool Projector::share_within_limits(RowLoads& loads) {
    if (!stops_.has_friction() || loads.nothing.empty()) return false;
    const auto& among = shares(loads);
    if (holds_by_loads()) friction_loads_.place(loads);
    for (int pass = 0; pass < kMostShares; ++pass) {
        find_bearing_rows(loads, among, {});
        if (!loads.share_within_limits(bearing_, among)) return pass > 0;
    }
    return true;
}

CoordinateMotion Projector::motion_along(double t, const double* x, const double* u, int stop) {
    const Scenery at = system_.scenery(t, x, u);
    const Row& row = at.model.rows[stops_.rows()[stop]];
    CoordinateMotion motion{-row.constant, 0.0};
    for (int k = row.term_begin; k < row.term_end; ++k) {
        const Term& term = at.model.terms[k];
        const CoordinateMotion c = coordinate_motion(at.model, at.branches, term.coordinate, at.x, at.u);
        motion.value += term.coefficient * c.value;
        motion.rate += term.coefficient * c.rate;
    }
    return motion;
}

// Whether something begins to.
bool Projector::hold_what_rests(double t, const double* x, const double* u, double still) {
    bool begins = false;
    for (int i = 0; i < stops_.count(); ++i) {
        if (!stops_.is_friction(i) || stops_.is_holding(i) || idle_[i]) continue;
        const CoordinateMotion motion = motion_along(t, x, u, i);
        const bool rests = std::abs(motion.rate) <= still;
        held_at_[i] = motion.value;
        if ((rests && can_hold(i, t)) || (!rests && never_slips(i, t, motion.rate))) {
            begin_holding(i);
            begins = true;
        } else {
            begin_slipping(i, rests ? 0.0 : std::copysign(1.0, motion.rate));
        }
    }
    return begins;
}

// All that is no faster than `still`, whatever that takes, and what cannot slip.
void Projector::hold_all(double t, double* x, double* u, double still) {
    for (auto* v : {&idle_, &started_, &moving_}) v->assign(stops_.count(), 0);
    for (auto* v : {&held_at_, &mobile_}) v->assign(stops_.count(), 0.0);
    accelerations_.resize(system_.tangent_size());
    forget_friction();
    system_.inputs_changed();
    hold_what_rests(t, x, u, still);
    do {
        find_idle(t, x, u, still);
        system_.inputs_changed();
        system_.project(t, x, u);
    } while (hold_what_rests(t, x, u, kAtRest));
}

// The states that agree with the accelerations: what holds exerts no more than it can, and what slips from rest is
// accelerated the way it slips. What is over its limit by most changes first, and after many passes what is found
// first.
bool Projector::settle_friction(double t, double* x, double* u, int changed, double slow) {
    if (!stops_.has_friction()) return true;
    slow_ = std::max(slow, kTurned);
    const bool let_go = changed >= 0 && stops_.is_holding(changed);
    const bool slipped = changed >= 0 && system_.branches().friction(stops_.friction_law(changed)).sense != 0.0;
    // What has come to rest has a speed that is an error, and others with it may have the like; and what seems to slip
    // may stand still where others hold.
    const double error = slipped ? kAlike * std::abs(motion_along(t, x, u, changed).rate) : 0.0;
    hold_all(t, x, u, std::max({kAtRest, slow_, error}));
    const int passes = 4 * stops_.count() + 10;
    stops_.judging = asks_for_loads_ = true;
    bool settled = false, at_dead_point = true;
    for (int pass = 0; pass < passes && !settled; ++pass) {
        system_.accelerate(t, x, u, accelerations_.data());
        if (!accelerations_.empty() && std::isnan(accelerations_.front())) break;  // there is none
        at_dead_point = at_dead_point && leave_dead_point(t, x, u);
        find_efforts(t, x, u);
        settled = !at_dead_point && !change_friction(t, pass == 0 && let_go ? changed : -1, pass > passes / 2);
        if (!settled) system_.inputs_changed();
    }
    stops_.judging = asks_for_loads_ = false;
    return settled;
}

// What all together would hold is held by none where the mechanism passes a dead point: rows depend on each other there
// and ask for different accelerations, so that one is not met, whichever elimination has dropped. A hold is to blame if
// without it there is one dependence less, and the others accelerate what it held. Before anything begins to slip by
// its load. Where nothing moves nothing passes.
bool Projector::leave_dead_point(double t, const double* x, const double* u) {
    const int redundant = counts_.dropped_rows;
    if (redundant == 0) return false;
    if (std::all_of(u, u + system_.tangent_size(), [](double each) { return std::abs(each) < kPassing; })) return false;
    double largest = norm(system_.model().gravity);
    for (const double each : accelerations_) largest = std::max(largest, std::abs(each));
    const auto accelerate = [&] {
        system_.inputs_changed();
        system_.accelerate(t, x, u, accelerations_.data());
    };
    for (int i = 0; i < stops_.count(); ++i) {
        if (!stops_.is_holding(i)) continue;
        stops_.hold(i, false);
        accelerate();
        const double quick = mobile_[i] * std::min(holds_against(i, t, 1.0), holds_against(i, t, -1.0));
        if (counts_.dropped_rows < redundant && std::abs(stops_.leaving[i]) > kNotKept * std::max(largest, quick)) {
            begin_slipping(i, std::copysign(1.0, stops_.leaving[i]));
            started_[i] = 1;
            return true;
        }
        stops_.hold(i, true);
    }
    accelerate();
    return false;
}

// False if nothing changes. ended: the hold that has ended, so that something begins to slip in any case; −1: none.
bool Projector::change_friction(double t, int ended, bool first_found) {
    double worst = ended >= 0 ? 0.0 : 1.0 + kExceeded;
    int first = -1;
    double most_held = 0.0;
    for (const double each : held_efforts_) most_held = std::max(most_held, std::abs(each));
    const auto part = [&](int i) {
        return std::abs(held_efforts_[i]) <= 2.0 * kNoEffort * most_held ? 0.0 : used(i, t, held_efforts_[i]);
    };
    for (int i = 0; i < stops_.count() && !(first_found && first >= 0); ++i)
        if (stops_.is_holding(i) && part(i) > worst) first = i, worst = part(i);
    if (first >= 0) {
        for (int i = 0; i < stops_.count(); ++i) {
            if (!stops_.is_holding(i) || (first_found ? i != first : part(i) < (1.0 - kTogether) * worst)) continue;
            begin_slipping(i, -std::copysign(1.0, held_efforts_[i]));
            started_[i] = 1;
        }
        return true;
    }
    // A freewheel, which no effort lets go. It is as good as at rest, so that the sign of its acceleration is rounding.
    if (ended >= 0) {
        begin_slipping(ended, never_slips(ended, t, -1.0) ? 1.0 : -1.0);
        return true;
    }
    double largest = norm(system_.model().gravity);
    for (const double each : accelerations_) largest = std::max(largest, std::abs(each));
    for (int i = 0; i < stops_.count(); ++i) {
        if (!stops_.is_friction(i)) continue;
        const double sense = system_.branches().friction(stops_.friction_law(i)).sense;
        const double most = holds_against(i, t, sense), quick = std::max(mobile_[i] * most, kNearlyFree * largest);
        if (started_[i] && stops_.leaving[i] * sense < -kBackwards * quick) {
            begin_holding(i);
            started_[i] = 0;
            return true;
        }
        if (idle_[i] && sense == 0.0 && std::abs(stops_.leaving[i]) > kBackwards * largest) {
            begin_slipping(i, std::copysign(1.0, stops_.leaving[i]));
            return true;
        }
    }
    return false;
}

// What has just begun to slip is as fast as errors of the method are.
void Projector::watch_friction() {
    for (int i = 0; i < stops_.count() && !moving_.empty(); ++i) {
        if (!stops_.is_friction(i)) continue;
        const double sense = system_.branches().friction(stops_.friction_law(i)).sense;
        moving_[i] = moving_[i] || sense * stops_.speed[i] > slow_;
    }
}

// The part of a step at which the first slip ends, as Stops::first_met() has it.
double Projector::first_at_rest() {
    double first = 2.0;
    at_rest_first_ = -1;
    for (int i = 0; i < stops_.count() && !moving_.empty(); ++i) {
        if (!stops_.is_friction(i)) continue;
        const double sense = system_.branches().friction(stops_.friction_law(i)).sense;
        const double began = sense * stops_.starting_speed(i), ends = sense * stops_.speed[i];
        if (!moving_[i]) {  // a freewheel may not set out backwards
            if (ends < -slow_ && sense != 0.0 && never_slips(i, loaded_at_, -sense)) first = 0.0, at_rest_first_ = i;
            continue;
        }
        if (!(began > 0.0) || ends > kNearlyAtRest * began) continue;
        const double part = ends < -kNearlyAtRest * began ? began / (began - ends) : 1.0;
        if (part < first) first = part, at_rest_first_ = i;
    }
    return first;
}

bool Projector::leaps_over(double t, const double* x, const double* u, double t1, const double* x1, const double* u1) {
    if (!stops_.has_friction()) return false;
    measure_stops(t, x, u);
    speeds_ = stops_.speed;
    measure_stops(t1, x1, u1);
    for (int i = 0; i < stops_.count(); ++i) {
        if (!stops_.is_friction(i) || stops_.is_holding(i)) continue;
        const Law& law = system_.model().laws[stops_.friction_law(i)];
        const double fall = law.kind->fall == nullptr ? 0.0 : law.kind->fall(law.params);
        const double sense = system_.branches().friction(stops_.friction_law(i)).sense;
        const auto [slow, fast] = std::minmax({sense * speeds_[i], sense * stops_.speed[i]});
        if (fall > 0.0 && slow < kSlowBelow * fall && fast > kFastBeyond * fall) return true;
    }
    return false;
}

void Projector::friction_margins(double t, const double* x, const double* u, bool accelerates, double* out) {
    bool holds = false;
    for (int i = 0; i < stops_.count(); ++i) holds |= stops_.is_holding(i);
    // Of shares that are open that with the most left, of all limits together: which share was found may change
    // anywhere.
    double left = HUGE_VAL;
    if (holds && accelerates) {
        asks_for_loads_ = true;
        system_.accelerate(t, x, u, accelerations_.data());
        asks_for_loads_ = false;
        find_efforts(t, x, u);
        if (counts_.dropped_rows > 0) {
            RowLoads& loads = loads_at(t, x, u, accelerations_.data());
            const auto& among = shares(loads);
            find_bearing_rows(loads, among, {});
            left = 1.0 - limits_.solve(bearing_, loads.multipliers, among, share_);
        }
    }
    measure_stops(t, x, u);
    for (int i = 0; i < stops_.count(); ++i) {
        if (!stops_.is_friction(i)) continue;
        const double sense = system_.branches().friction(stops_.friction_law(i)).sense;
        if (stops_.is_holding(i)) {
            // Zero is as good as any other effort where none has been found.
            const double effort = accelerates ? held_efforts_[i] : 0.0;
            const double up = holds_against(i, t, -1.0), down = holds_against(i, t, 1.0);
            out[i] = std::min(up - effort, down + effort);
            if (!accelerates) out[i] = std::max(out[i], 0.0);
            if (std::isfinite(left) && std::isfinite(up + down)) out[i] = left;
        } else if (sense != 0.0) {
            out[i] = sense * stops_.speed[i] + (moving_[i] ? kTurned : slow_);
        } else {
            out[i] = 2.0 * std::max(kAtRest, slow_) - std::abs(stops_.speed[i]);
        }
    }
}

}  // namespace bellcrank
