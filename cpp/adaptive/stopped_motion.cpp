// Stops in adaptive dynamics (docs/theory/adaptive_dynamics.md, Stops). Which of them push is a complementarity problem
// in H, whose joints along them do not accelerate. F holds what H holds, and what locked joints rest on, as long as
// nothing of that pulls in F: then Gauss' function of F is at most that of all accelerations that stops allow, and the
// distance at the root, now a bound, is not below what it is.
#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "adaptive/dynamics.hpp"

namespace bellcrank {

namespace {

using System = HybridAssembly::System;

constexpr int kMostParts = 100;  // of a step, at whose ends stops are met; then the rest is taken whole
constexpr int kMostTries = 20;   // steps to a stop, each shorter than the last
constexpr int kMostRounds = 4;   // in which an impact frees joints
constexpr double kSamePart = 1e-9;
constexpr double kShortest = 4.0 * std::numeric_limits<double>::epsilon();  // of a time

double along(const double* a, const double* b, int size) {
    double sum = 0.0;
    for (int i = 0; i < size; ++i) sum += a[i] * b[i];
    return sum;
}

}  // namespace

// Where a step starts.
void AdaptiveDynamics::attend_stops() {
    if (stops_->empty()) return;
    had_stops_ = stops_->links();
    stops_->choose(free_, q_.data());
    for (const int link : had_stops_) {
        if (assembly_->is_free(link)) continue;
        assembly_->bar(System::moving, link, 0, nullptr);
        if (!stops_->is_resting(link)) assembly_->bar(System::judging, link, 0, nullptr);
    }
    stops_->measure(q_.data(), u_.data());
    stops_->chosen().remember(time_);
    stops_->chosen().watch();
}

void AdaptiveDynamics::accelerate_at_stops() {
    Stops& stops = stops_->chosen();
    stops_->measure(q_.data(), u_.data());
    stops.seek_contacts();
    stops.find_active([this] { return seek_stops(); });
    double largest = 0.0;
    for (const double leaving : stops.leaving) largest = std::max(largest, std::abs(leaving));
    stops.note_touched(largest);
}

// H with the stops that are active; what they exert, and how others are left.
double AdaptiveDynamics::seek_stops() {
    Stops& stops = stops_->chosen();
    bool turns = false;
    for (const int link : stops_->links()) {
        const HeldDirections held = stops_->held(link, stops.active(), q_.data(), u_.data());
        turns |= assembly_->bar(System::moving, link, held.count, held.along, held.bias);
    }
    if (turns) assembly_->take_motion(time_, q_.data(), u_.data());
    assembly_->hold();
    assembly_->accelerate(-model_->gravity, rates_.data());
    double size = 0.0, n[6], exerted[6];
    int last = -1;
    for (int i = 0; i < stops.count(); ++i) {
        const int number = stops_->link_of(i);
        const Link& link = linkage_->links[number];
        const int freedoms = link.motion.freedoms();
        stops_->direction(i, q_.data(), n);
        stops.leaving[i] =
            along(n, rates_.data() + link.freedom, freedoms) + stops_->second_rate(i, q_.data(), u_.data());
        stops.force[i] = 0.0;
        if (!stops.active()[i]) continue;
        if (number != last) assembly_->exerted(number, exerted);
        last = number;
        stops.force[i] = along(n, exerted, freedoms) / along(n, n, freedoms);
        for (int k = 0; k < freedoms; ++k)
            size = std::max(size, std::abs(exerted[k]) + std::abs(assembly_->effort(number)[k]));
    }
    return size;
}

// F, with what it holds.
void AdaptiveDynamics::judge_at_stops() {
    if (stops_->empty()) return assembly_->loosen();
    judged_ = stops_->chosen().active();
    asked_ = stops_->resting();
    for (const int link : stops_->links())
        if (assembly_->directions(System::moving, link) > 0) asked_.push_back(link);
    for (bool may_close = true;; may_close = false) {
        for (const int link : stops_->resting()) {
            const HeldDirections held = stops_->held_at_rest(link, q_.data());
            assembly_->bar(System::judging, link, held.count, held.along);
        }
        for (const int link : stops_->links()) {
            const HeldDirections held = stops_->held(link, judged_, q_.data(), u_.data());
            assembly_->bar(System::judging, link, held.count, held.along);
        }
        assembly_->update_loads();
        assembly_->loosen();
        if (asked_.empty()) return;
        double size = 0.0;
        assembly_->judge(-model_->gravity, asked_, told_);
        for (const HybridAssembly::JointInF& one : told_)
            for (int k = 0; k < linkage_->links[one.link].motion.freedoms(); ++k)
                if (assembly_->directions(System::judging, one.link) > 0)
                    size = std::max(size, std::abs(one.exerted[k]) + std::abs(assembly_->effort(one.link)[k]));
        bool has_changed = false;
        for (const HybridAssembly::JointInF& one : told_)
            has_changed |= assembly_->is_free(one.link)
                               ? stops_->open_pulling(one.link, q_.data(), one.exerted, size, judged_)
                               : stops_->judge(one.link, q_.data(), one.rate, one.exerted, size, may_close);
        if (!has_changed) return;
    }
}

// A step, divided where stops are met, or bodies would get through each other. False: accelerations are no numbers.
bool AdaptiveDynamics::move(double step, Method method, bool judged) {
    const bool touches = forces_->has_contacts();
    if (stops_->empty() && !touches) {
        save_step();
        return take_closed_step(step, method), true;
    }
    if (method == Method::at_rest) throw std::invalid_argument("steps from rest take no stops");
    const double end = time_ + step, shortest = kShortest * std::max(std::abs(end), step);
    for (int parts = 0;; ++parts) {
        save_step();
        const bool watches = parts < kMostParts;
        if (!watches) stops_->chosen().watch_none();
        const double left = end - begun_;
        const double h = touches ? std::min(left, forces_->longest_step(begun_, left)) : left;
        if (!(h > shortest)) return false;
        take_closed_step(h, method);
        const bool meets = watches && shorten_to_stop(h, method);
        put_back();
        commit_contacts();
        if (meets || !watches) meet_stops(step, judged);
        if (!is_finite()) return false;
        if (end - time_ <= shortest) return true;
        if (!judged) {
            attend_stops();
            evaluate_held();
            continue;
        }
        evaluate();
        release();
        largest_error_ = std::max(largest_error_, error());
    }
}

// Takes the step again, so that it ends where the first stop is met; it is none where that is at its start.
bool AdaptiveDynamics::shorten_to_stop(double h, Method method) {
    const auto first_met = [this] {
        stops_->measure(q_.data(), u_.data());
        return stops_->chosen().first_met(time_);
    };
    double part = first_met();
    for (int i = 0; part < 1.0 && i < kMostTries; ++i) {
        h *= part;
        restore_step();
        if (h <= kShortest * std::max(std::abs(begun_), h)) return true;
        take_closed_step(h, method);
        part = first_met();
    }
    return part <= 1.0;
}

void AdaptiveDynamics::save_step() {
    begun_ = time_;
    begun_work_ = work_;
    saved_.clear();
    if (stops_->empty() && assembly_->loops().empty()) return;
    for (const int number : free_) {
        const Link& link = linkage_->links[number];
        const auto keep = [this](const std::vector<double>& of, int first, int count) {
            saved_.insert(saved_.end(), of.begin() + first, of.begin() + first + count);
        };
        keep(q_, link.coordinate, link.motion.coordinates());
        keep(u_, link.freedom, link.motion.freedoms());
        keep(rates_, link.freedom, link.motion.freedoms());
    }
}

void AdaptiveDynamics::restore_step() {
    const double* from = saved_.data();
    for (const int number : free_) {
        const Link& link = linkage_->links[number];
        const auto take = [&from](std::vector<double>& to, int first, int count) {
            std::copy_n(from, count, to.begin() + first);
            from += count;
        };
        take(q_, link.coordinate, link.motion.coordinates());
        take(u_, link.freedom, link.motion.freedoms());
        take(rates_, link.freedom, link.motion.freedoms());
    }
    time_ = begun_;
    work_ = begun_work_;
    move_places();
}

// Errors of rounding, and what a step went beyond a stop that nobody watched.
void AdaptiveDynamics::put_back() {
    Stops& stops = stops_->chosen();
    stops_->measure(q_.data(), u_.data());
    pushed_ = stops.active();
    stops.reset();
    stops.push(pushed_);
    changing_.clear();
    stops_->put_back(pushed_, q_.data(), u_.data(), changing_);
    if (!changing_.empty()) move_places();
}

// The impact, and the joints that it sets in motion: F's impulses are those of a minimum as well, so that with the
// impulses of H for both, v_H − v_F is not less than it is (docs/theory/adaptive_dynamics.md). Spread over a step they
// are forces, and the error of that step tells which joints matter.
void AdaptiveDynamics::meet_stops(double h, bool judged) {
    strike_stops();
    for (int round = 0; judged && frees_by_impact(h, round < kMostRounds); ++round) strike_stops();
    if (impact_.struck().empty()) return;
    assembly_->take_motion(time_, q_.data(), u_.data());
    const double before = assembly_->kinetic_energy();
    const double* response = responses_.data();
    for (const double impulse : impact_.impulses())
        for (const int number : free_) {
            const Link& link = linkage_->links[number];
            for (int i = 0; i < link.motion.freedoms(); ++i) u_[link.freedom + i] += impulse * *response++;
        }
    assembly_->take_motion(time_, q_.data(), u_.data());
    const double taken = before - assembly_->kinetic_energy();
    impact_energy_ += taken;
    work_ -= taken;
    impacts_ += stops_->chosen().bounces();
    forces_->apply(time_, q_.data(), u_.data(), free_, *assembly_);  // dampers
}

// Impulses, and the speeds that a unit of each makes; speeds are as they were.
void AdaptiveDynamics::strike_stops() {
    Stops& stops = stops_->chosen();
    stops.watch_none();
    stops_->measure(q_.data(), u_.data());
    stops.seek_impacts();
    for (const int link : stops_->links()) assembly_->bar(System::moving, link, 0, nullptr);
    follow();
    assembly_->hold();
    responses_.clear();
    impact_.find(stops, [this, &stops](int stop, double* speeds) {
        double n[6];
        stops_->direction(stop, q_.data(), n);
        assembly_->strike(stops_->link_of(stop), n, stopped_.data());
        for (int i = 0; i < stops.count(); ++i) {
            const Link& link = linkage_->links[stops_->link_of(i)];
            stops_->direction(i, q_.data(), n);
            speeds[i] += along(n, stopped_.data() + link.freedom, link.motion.freedoms());
        }
        if (!(speeds[stop] > 0.0)) return false;
        for (const int number : free_) {
            const Link& link = linkage_->links[number];
            const double* from = stopped_.data() + link.freedom;
            responses_.insert(responses_.end(), from, from + link.motion.freedoms());
        }
        return true;
    });
}

// F would have a share θ of the impulses of H, or others; with g = pᵀ Φ p of those of H in both, the square of v_H −
// v_F is at most g_H − 2 θ g_H + θ² g_F, which is least at θ = g_H / g_F. So much is what efforts √θ p / h make.
bool AdaptiveDynamics::frees_by_impact(double h, bool may_free) {
    if (impact_.struck().empty() || free_.size() == linkage_->links.size()) return false;
    struct Struck {
        int link, freedoms;
        double impulse[6], effort[6];
    };
    std::vector<Struck> struck;
    double in_h = 0.0, n[6];
    for (size_t k = 0; k < impact_.struck().size(); ++k) {
        const int stop = impact_.struck()[k], number = stops_->link_of(stop);
        const int freedoms = linkage_->links[number].motion.freedoms();
        auto one = std::ranges::find(struck, number, &Struck::link);  // several stops of one joint
        if (one == struck.end()) {
            one = struck.insert(one, Struck{number, freedoms, {}, {}});
            std::copy_n(assembly_->effort(number), freedoms, one->effort);
        }
        const double impulse = impact_.impulses()[k];
        in_h += impulse * impact_.change(k);
        stops_->direction(stop, q_.data(), n);
        for (int i = 0; i < freedoms; ++i) one->impulse[i] += impulse * n[i];
    }
    const auto press = [&](double part) {
        for (const Struck& one : struck) {
            double effort[6];
            for (int i = 0; i < one.freedoms; ++i) effort[i] = one.effort[i] + part * one.impulse[i] / h;
            assembly_->set_effort(one.link, effort);
        }
    };
    const auto distance_at = [&](double part) {  // with the stops that hold now; a parabola
        press(part);
        assembly_->hold();
        assembly_->loosen();
        return assembly_->distance(-model_->gravity);
    };
    bool is_known = false;  // g_F, of the stops that F holds with these efforts
    double part = 1.0;
    for (int round = 0; round < kMostRounds && !is_known; ++round) {
        press(part);
        evaluate();
        const double none = distance_at(0.0);
        const double apart = 0.5 * h * h * (distance_at(1.0) - 2.0 * none + distance_at(-1.0));  // g_F − g_H
        const double next = in_h > 0.0 ? std::sqrt(in_h / (in_h + std::max(apart, 0.0))) : 0.0;
        is_known = std::abs(next - part) <= kSamePart;
        if (!is_known) part = next;
    }
    if (is_known) {
        distance_at(part);
    } else {
        press(1.0);  // any θ bounds; with these efforts g_F is not asked for
        evaluate();
    }
    const size_t free = free_.size();
    if (may_free) release();
    for (const Struck& one : struck) assembly_->set_effort(one.link, one.effort);
    if (free_.size() > free) return true;
    largest_error_ = std::max(largest_error_, error());
    return false;
}

}  // namespace bellcrank
