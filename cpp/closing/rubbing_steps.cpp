// Dry friction of steps by impulses: what it can exert follows from the state in which a step begins, what holds and
// what slips from the impulses of its end (docs/theory/friction.md, section 5).
#include <algorithm>
#include <cmath>

#include "closing/projector.hpp"
#include "model/branches.hpp"
#include "model/model.hpp"

namespace bellcrank {

namespace {

constexpr double kMostUsed = 2.0;  // of limits, by what begins to hold

}  // namespace

// Against a sense of the speed: of what slips with that sense, at the speed that it has; of all else, which would have
// to come to rest before, up to what it holds.
double Projector::exerts_against(int stop, double t, double rate, double sense) const {
    const Model& model = system_.model();
    const int law = stops_.friction_law(stop);
    if (system_.branches().friction(law).sense != sense || never_slips(stop, t, sense))
        return holds_against(stop, t, sense);
    const Law& of = model.laws[law];
    const LawFunction<double> function(of.function < 0 ? nullptr : &model.functions[of.function]);
    const auto effort = [&](double at) { return of.kind->effort({0.0, rate, t, at}, of.params, function); };
    const double fall = of.kind->fall == nullptr ? 0.0 : of.kind->fall(of.params);
    const double left = fall > 0.0 ? std::exp(-(rate / fall) * (rate / fall)) : 0.0;
    const double part = model.terms[model.rows[stops_.rows()[stop]].term_begin].coefficient;  // of the first of a sum
    return std::abs((effort(sense) - effort(0.0)) / part) + friction_loads_.slipping(law, sense, left);
}

// Loads are those of where the step begins.
bool Projector::begin_rubbing(double t, const double* x, const double* u, double end, std::vector<Rubbing>& rows) {
    rubbed_.clear();
    accelerations_.resize(system_.tangent_size());
    if (!friction_loads_.empty()) {
        asks_for_loads_ = true;
        system_.accelerate(t, x, u, accelerations_.data());
        asks_for_loads_ = false;
        if (jam_.law >= 0) return false;
    }
    rows.assign(system_.model().laws.size(), {});
    for (int i = 0; i < stops_.count(); ++i) {
        if (!stops_.is_friction(i)) continue;
        const int law = stops_.friction_law(i);
        const double rate = motion_along(t, x, u, i).rate;
        AngleBranches::Friction& memory = system_.memory().friction(law);
        rows[law] = {{-exerts_against(i, end, rate, 1.0), exerts_against(i, end, rate, -1.0)},
                     stops_.is_holding(i),
                     memory.sense};
        rubbed_.push_back(memory);
        memory.sense = 0.0;
    }
    system_.inputs_changed();
    return true;
}

// Where equations alone lead a coordinate, or nearly, as where its rate goes through zero while the mechanism moves on,
// nothing holds it: it would take any effort.
void Projector::let_go_what_is_led(double t, const double* x, const double* u, double slow) {
    idle_.assign(stops_.count(), 0);
    mobile_.assign(stops_.count(), 0.0);
    find_idle(t, x, u, std::max(slow, kAtRest));
    system_.inputs_changed();
    asks_for_loads_ = true;
    system_.accelerate(t, x, u, accelerations_.data());
    asks_for_loads_ = false;
    find_efforts(t, x, u);
    for (int i = 0; i < stops_.count(); ++i) {
        if (!started_[i] || !stops_.is_holding(i)) continue;
        const double effort = held_efforts_[i];
        if (effort != 0.0 && std::abs(effort) > kMostUsed * holds_against(i, t, -std::copysign(1.0, effort)))
            begin_slipping(i, -std::copysign(1.0, effort));
    }
}

// What slips and what holds by the impulses of a step.
void Projector::take_senses(double t, const double* x, const double* u, const std::vector<double>& senses) {
    held_at_.resize(stops_.count());
    started_.assign(stops_.count(), 0);
    size_t known = 0;
    for (int i = 0; i < stops_.count(); ++i) {
        if (!stops_.is_friction(i)) continue;
        const AngleBranches::Friction& before = rubbed_[known++];
        const double sense = senses[stops_.friction_law(i)];
        started_[i] = sense == 0.0 && !before.holds();
        held_at_[i] = before.holds() ? before.held_at : motion_along(t, x, u, i).value;
        sense == 0.0 ? begin_holding(i) : begin_slipping(i, sense);
    }
    system_.inputs_changed();
}

// Where nothing touches, accelerations decide as at moments that are found: impulses of a step leave rounding of what
// rests.
void Projector::end_rubbing(double t, double* x, double* u, const std::vector<double>& senses, bool otherwise,
                            double slow) {
    take_senses(t, x, u, senses);
    if (!otherwise || (system_.contacts().empty() && settle_friction(t, x, u, -1, slow))) return;
    take_senses(t, x, u, senses);
    if (std::ranges::any_of(started_, [](auto each) { return each != 0; })) let_go_what_is_led(t, x, u, slow);
    system_.inputs_changed();
}

void Projector::leave_rubbing() {
    size_t known = 0;
    for (int i = 0; i < stops_.count() && known < rubbed_.size(); ++i)
        if (stops_.is_friction(i)) system_.memory().friction(stops_.friction_law(i)) = rubbed_[known++];
    system_.inputs_changed();
}

}  // namespace bellcrank
