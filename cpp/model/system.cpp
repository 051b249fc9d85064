#include "model/system.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "model/breaks.hpp"
#include "model/frame_writer.hpp"
#include "model/linearization.hpp"
#include "spatial/body_state.hpp"

namespace bellcrank {

namespace {

constexpr double kOfRounding = 1e-9;  // of the largest multiplier, or its largest change

}  // namespace

System::System(const char* name, std::shared_ptr<const Model> model)
    : model_(std::move(model)), branches_(*model_), contacts_(model_->contacts), name_(name) {}

System::~System() = default;

void Port::refuse(const char* what) const {
    throw Refusal("formulation '" + std::string(name()) + "' does not implement " + what);
}

void System::break_times(double from, double to, std::vector<double>& out) const {
    append_break_times(*model_, from, to, out);
}

bool System::finish_step(double t, const double* near, double* xi, double* x, double* u, double* udot) {
    retract(near, xi, x);
    const bool met = project(t, x, u);
    accelerate(t, x, u, udot);
    return met;
}

void System::linearize(double t, const double* x, const double* u, double gamma, bool renew) {
    ++statistics_.linearizations;
    if (linearization_ == nullptr) {
        linearization_ = std::make_unique<Linearization>(*this, *this);
        defect_.assign(tangent_size(), 0.0);
        renew = true;
    }
    if (renew) statistics_.difference_evaluations += linearization_->evaluate(t, x, u);
    linearization_->factor(gamma);
}

void System::correct(double t, const double* x, const double* u, const double* rate, double gamma, double* delta) {
    accelerate(t, x, u, defect_.data());
    for (size_t i = 0; i < defect_.size(); ++i) defect_[i] = gamma * (defect_[i] - rate[i]);
    linearization_->solve(defect_.data(), delta);
    if (!linearization_->misleads(t, x, u, rate, gamma, defect_, delta)) return;
    linearize(t, x, u, gamma, true);
    linearization_->solve(defect_.data(), delta);
}

void System::solve_linearized(const double* r, double* out) { linearization_->solve(r, out); }

double System::damping_part(const double* v) { return linearization_->damping_part(v); }

int System::stops() const {
    for (const Block& block : model_->blocks)
        if (block.unilateral) refuse("stops");
    return 0;
}

int Record::observation_size(const Observation& what) const {
    return FrameLayout(FrameCounts::of(what, model().bodies())).size();
}

void System::observe(double t, const double* x, const double* u, const Observation& what, double* out) {
    const FrameWriter frame(scenery(t, x, u), what, out);
    frame.write_motion();
    const bool held = model_->has_friction && holds_friction(),
               loads = held || !what.rows.empty() || !what.reactions.empty();
    if (loads || what.accelerations || !model_->friction_loads.empty()) {
        observed_.resize(tangent_size());
        accelerate(t, x, u, observed_.data());
    }
    FrameWriter(scenery(t, x, u), what, out).write_forces(contacts_);
    if (what.contacts) *frame[Section::contact_points] = static_cast<double>(contacts_.listed().size());
    std::fill_n(frame[Section::works], what.works, 0.0);  // those who go through time add them up
    if (loads) {
        loads_.resize(model_->rows.size());
        multipliers(t, x, u, observed_.data(), loads_.data());
        if (held) add_held(what, frame[Section::force_efforts]);
        double *multiplier = frame[Section::multipliers], *unique = frame[Section::unique_multipliers];
        for (const int row : what.rows) *multiplier++ = loads_[row], *unique++ = determines(row);
        reactions(x, what.reactions, wrenches_);
        double *wrench = frame[Section::reactions], *both = frame[Section::unique_reactions];
        for (const ReactionWrench& one : wrenches_) {
            wrench = std::copy_n(one.wrench, 6, wrench);
            both = std::copy_n(one.unique, 2, both);
        }
        if (const LeftOpen open = left_open(t, x, u, what.reactions); !open.multipliers.empty()) {
            unique = frame[Section::unique_multipliers], both = frame[Section::unique_reactions];
            for (size_t i = 0; i < what.rows.size(); ++i) unique[i] *= !open.multipliers[what.rows[i]];
            for (size_t i = 0; i < 2 * open.reactions.size(); ++i) both[i] *= !open.reactions[i / 2][i % 2];
        }
    }
    const Scenery at = scenery(t, x, u);
    frame.write_energy(energy(*model_, branches_, contacts_, t, at.x, at.u));
    violation(t, x, u, frame[Section::position_violation], frame[Section::velocity_violation]);
    if (!what.accelerations) return;
    rates_.resize(kTwist * (model_->bodies() + 1));
    body_accelerations(t, x, u, observed_.data(), rates_.data());
    frame.write_accelerations(rates_.data());
}

bool System::holds_friction() const {
    return std::ranges::any_of(model_->blocks, [&](const Block& block) {
        return block.friction >= 0 && branches_.friction(block.friction).holds();
    });
}

// Each in turn slips, without moving: what changes with it is open.
System::LeftOpen System::left_open(double t, const double* x, const double* u,
                                   const std::vector<Observation::Reaction>& which) {
    LeftOpen open;
    const auto rests_alone = [&](int i) { return is_friction(i) && !is_holding(i) && friction_sense(i) == 0.0; };
    bool some = false;
    for (int i = 0; has_friction() && i < stops(); ++i) some |= rests_alone(i);
    if (!some) return open;
    open.multipliers.assign(model_->rows.size(), 0);
    open.reactions.assign(which.size(), {0, 0});
    std::vector<double> rates(tangent_size()), known(model_->rows.size()), changed(known);
    std::vector<ReactionWrench> before, after;
    const auto solve = [&](std::vector<double>& multiplier, std::vector<ReactionWrench>& wrenches) {
        inputs_changed();
        accelerate(t, x, u, rates.data());
        multipliers(t, x, u, rates.data(), multiplier.data());
        reactions(x, which, wrenches);
    };
    solve(known, before);
    for (int i = 0; i < stops(); ++i) {
        if (!rests_alone(i)) continue;
        double& sense = branches_.friction(law_of_friction(row_of_stop(i))).sense;
        sense = 1.0;
        solve(changed, after);
        sense = 0.0;
        double largest = 0.0, most = 0.0;
        for (size_t r = 0; r < known.size(); ++r) {
            largest = std::max(largest, std::abs(changed[r]));
            most = std::max(most, std::abs(changed[r] - known[r]));
        }
        if (!(most > kOfRounding * largest)) continue;
        const auto differs = [&](const double* a, const double* b, int count) {
            double by = 0.0;
            for (int k = 0; k < count; ++k) by = std::max(by, std::abs(a[k] - b[k]));
            return by > kOfRounding * most;
        };
        for (size_t r = 0; r < known.size(); ++r) open.multipliers[r] |= differs(&changed[r], &known[r], 1);
        for (size_t k = 0; k < which.size(); ++k)
            for (int part = 0; part < 2; ++part)
                open.reactions[k][part] |= differs(after[k].wrench + 3 * part, before[k].wrench + 3 * part, 3);
    }
    solve(known, before);
    return open;
}

int System::law_of_friction(int row) const {
    for (const Block& block : model_->blocks)
        if (block.row_begin == row) return block.friction;
    return -1;
}

// What dry friction exerts that holds is the multiplier of its row, times the factor of each coordinate in it.
void System::add_held(const Observation& what, double* efforts) const {
    for (const Observation::Effort& e : what.efforts) {
        const Law* law = e.of == Observation::Effort::Of::law ? &model_->laws[e.number] : nullptr;
        for (const Block& block : model_->blocks) {
            if (law == nullptr || block.friction != law->friction || !branches_.friction(block.friction).holds())
                continue;
            const int term = model_->rows[block.row_begin].term_begin + e.number - law->friction;
            *efforts += model_->terms[term].coefficient * loads_[block.row_begin];
        }
        ++efforts;
    }
}

void Record::measure(double t, const double* x, const double* u, const Observation& what, double* out) {
    FrameWriter(scenery(t, x, u), what, out).write_motion();
}

Energy System::energy_at(double t, const double* x, const double* u) {
    const Scenery at = scenery(t, x, u);
    return energy(*model_, branches_, contacts_, t, at.x, at.u);
}

}  // namespace bellcrank
