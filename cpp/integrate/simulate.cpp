#include "integrate/simulate.hpp"

#include <algorithm>
#include <cmath>

#include "integrate/run.hpp"
#include "interruption/interruption.hpp"

namespace bellcrank {

Run::Run(System& system, const SimulationOptions& options, const Observation& observation, std::vector<double>& x,
         std::vector<double>& u, Sink& sink, std::unique_ptr<Stepper> stepper)
    : system_(system),
      options_(options),
      observation_(observation),
      x_(x),
      u_(u),
      sink_(sink),
      stepper_(std::move(stepper)),
      x1_(x),
      u1_(u),
      frame_(system.observation_size(observation)) {}

SimulationResult Run::go() {
    result_.time = options_.output_times.front();
    try {
        record(result_.time, x_, u_);
        system_.commit(result_.time, x_.data(), u_.data());
        advance();
    } catch (const Interrupted&) {
        stop(SimulationStatus::interrupted);
    }
    return result_;
}

void Run::stop(SimulationStatus status) {
    result_.status = status;
    if (status == SimulationStatus::constraints_lost) result_.row = system_.worst_row();
}

bool Run::accept(double t, double h, bool constraints_met) {
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

namespace {

// Each interval between output times in equal steps.
class FixedRun final : public Run {
  public:
    using Run::Run;

  private:
    void advance() override {
        const auto& times = options_.output_times;
        for (size_t i = 1; i < times.size() && going(); ++i) pass(times[i - 1], times[i]);
    }

    void pass(double begin, double end) {
        const int count = std::max(1, static_cast<int>(std::ceil((end - begin) / options_.step - 1e-9)));
        const double h = (end - begin) / count;
        for (int i = 0; i < count; ++i) {
            const double t = i + 1 == count ? end : begin + (i + 1) * h;
            if (!step_to(begin + i * h, t)) return;
        }
        record(end, x_, u_);
    }

    // A step is parted only where a joint turns so fast that its turns could not be counted.
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
};

}  // namespace

SimulationResult simulate(System& system, const SimulationOptions& options, const Observation& observation,
                          std::vector<double>& x, std::vector<double>& u, Sink& sink, Continuation* kept) {
    auto stepper = make_stepper(options.method, system, options.settings);
    if (stepper->adaptive())
        return make_adaptive_run(system, options, observation, x, u, sink, std::move(stepper), kept)->go();
    if (kept != nullptr) kept->stepper.reset();
    return FixedRun(system, options, observation, x, u, sink, std::move(stepper)).go();
}

}  // namespace bellcrank
