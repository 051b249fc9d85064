#include "integrate/simulate.hpp"

#include <algorithm>
#include <cmath>

namespace bellcrank {

namespace {

class Run {
  public:
    Run(System& system, const SimulationOptions& options, const Observation& observation, std::vector<double>& x,
        std::vector<double>& u, Sink& sink)
        : system_(system),
          options_(options),
          observation_(observation),
          x_(x),
          u_(u),
          sink_(sink),
          stepper_(make_stepper(options.method, system, options.settings)),
          x1_(x),
          u1_(u),
          xo_(x),
          uo_(u),
          acceleration_(u) {}

    SimulationResult go() {
        const auto& times = options_.output_times;
        result_.time = times.front();
        record(result_.time, x_, u_);
        system_.commit(result_.time, x_.data(), u_.data());
        if (stepper_->adaptive()) {
            go_adaptive();
        } else {
            for (size_t i = 1; i < times.size() && going(); ++i) go_fixed(times[i - 1], times[i]);
        }
        return result_;
    }

  private:
    bool going() const { return result_.status == SimulationStatus::finished; }

    void record(double t, const std::vector<double>& x, const std::vector<double>& u) {
        system_.observe(t, x.data(), u.data(), observation_, sink_.frame(t));
    }

    void stop(SimulationStatus status) {
        result_.status = status;
        if (status == SimulationStatus::constraints_lost) result_.row = system_.worst_row();
    }

    // Takes the attempted step as done, unless it left the numbers or the constraints.
    bool accept(double t, double h, bool constraints_met) {
        result_.body = system_.first_non_finite_body(x1_.data(), u1_.data());
        if (result_.body >= 0) return stop(SimulationStatus::not_finite), false;
        if (!constraints_met) return stop(SimulationStatus::constraints_lost), false;
        x_.swap(x1_);
        u_.swap(u1_);
        result_.time = t;
        result_.last_step = h;
        ++result_.steps;
        system_.commit(t, x_.data(), u_.data());
        if (!sink_.alive(t)) return stop(SimulationStatus::interrupted), false;
        return true;
    }

    void go_fixed(double begin, double end) {
        const int count = std::max(1, static_cast<int>(std::ceil((end - begin) / options_.step - 1e-9)));
        const double h = (end - begin) / count;
        for (int i = 0; i < count; ++i) {
            const double t = i + 1 == count ? end : begin + (i + 1) * h;
            if (!step_to(begin + i * h, t)) return;
        }
        record(end, x_, u_);
    }

    // A fixed step is parted only where a joint turns so fast that its turns could not be counted.
    bool step_to(double begin, double end) {
        const double h = end - begin;
        const int parts = static_cast<int>(std::ceil(h / system_.longest_step(x_.data(), u_.data(), h) - 1e-9));
        for (int i = 0; i < parts; ++i) {
            const double t = begin + h * i / parts;
            const StepOutcome outcome =
                stepper_->step(system_, t, h / parts, x_.data(), u_.data(), x1_.data(), u1_.data());
            if (!accept(i + 1 == parts ? end : t + h / parts, h / parts, outcome.constraints_met)) return false;
        }
        return true;
    }

    // Step-size control with the usual limits on growth; an impact is approached until the step that holds it is short.
    void go_adaptive() {
        const auto& times = options_.output_times;
        const double end = times.back(), limit = options_.max_step > 0.0 ? options_.max_step : end - times.front();
        double t = times.front();
        double h = std::min({limit, options_.step > 0.0 ? options_.step : first_step(), end - t});
        size_t next = 1;
        bool after_rejection = false;
        while (t < end && going()) {
            h = system_.longest_step(x_.data(), u_.data(), h);
            const bool last = t + 1.0000001 * h >= end;
            if (last) h = end - t;
            const StepOutcome outcome = stepper_->step(system_, t, h, x_.data(), u_.data(), x1_.data(), u1_.data());
            const bool finite = std::isfinite(outcome.error);
            const bool settled = (outcome.impact && h <= options_.impact_resolution) || outcome.jump;
            const bool good =
                finite && outcome.constraints_met && (settled || (!outcome.impact && outcome.error <= 1.0));
            if (!good) {
                ++result_.rejected;
                const bool estimated = finite && outcome.constraints_met && !outcome.impact;
                h = estimated ? stepper_->refused(h, outcome) : 0.25 * h;
                after_rejection = true;
                if (h < 1e-14 * std::max(1.0, std::abs(t))) return give_up(outcome, finite);
                continue;
            }
            const double t1 = last ? end : t + h;
            if (!accept(t1, h, true)) return;
            const double taken = h;
            h = result_.next_step = std::min(limit, stepper_->accepted(taken, outcome, after_rejection));
            note_order(outcome.order);
            for (; next < times.size() && times[next] <= t1; ++next) output(times[next], t, taken, t1, settled);
            t = t1;
            if (settled) {
                stepper_->restart();
                h = std::min(limit, 4.0 * taken);
            }
            after_rejection = false;
        }
    }

    void give_up(const StepOutcome& outcome, bool finite) {
        if (finite && !outcome.constraints_met) return stop(SimulationStatus::constraints_lost);
        result_.body = std::max(0, system_.first_non_finite_body(x1_.data(), u1_.data()));
        stop(finite ? SimulationStatus::step_vanished : SimulationStatus::not_finite);
    }

    // After accept(), x1_ and u1_ hold the start of the step and x_, u_ its end. Between the speeds before and after an
    // impact there is nothing; such a step is short.
    void output(double time, double t, double h, double t1, bool impact) {
        if (time == t1 || impact) return record(time, x_, u_);
        stepper_->interpolate(system_, (time - t) / h, x1_.data(), u1_.data(), x_.data(), u_.data(), xo_.data(),
                              uo_.data());
        system_.project(time, xo_.data(), uo_.data());
        record(time, xo_, uo_);
    }

    double first_step() {
        system_.accelerate(options_.output_times.front(), x_.data(), u_.data(), acceleration_.data());
        double speed = 0.0, acceleration = 0.0;
        for (size_t i = 0; i < u_.size(); ++i) {
            speed = std::max(speed, std::abs(u_[i]));
            acceleration = std::max(acceleration, std::abs(acceleration_[i]));
        }
        return stepper_->first_step(speed, acceleration);
    }

    void note_order(int order) {
        result_.last_order = order;
        result_.highest_order = std::max(result_.highest_order, order);
    }

    System& system_;
    const SimulationOptions& options_;
    const Observation& observation_;
    std::vector<double>&x_, &u_;
    Sink& sink_;
    std::unique_ptr<Stepper> stepper_;
    std::vector<double> x1_, u1_, xo_, uo_, acceleration_;
    SimulationResult result_;
};

}  // namespace

SimulationResult simulate(System& system, const SimulationOptions& options, const Observation& observation,
                          std::vector<double>& x, std::vector<double>& u, Sink& sink) {
    return Run(system, options, observation, x, u, sink).go();
}

}  // namespace bellcrank
