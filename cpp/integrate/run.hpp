// What runs with fixed and with chosen steps have in common.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "integrate/simulate.hpp"

namespace bellcrank {

class Run {
  public:
    Run(System& system, const SimulationOptions& options, const Observation& observation, std::vector<double>& x,
        std::vector<double>& u, Sink& sink, std::unique_ptr<Stepper> stepper);
    virtual ~Run() = default;

    SimulationResult go();

  protected:
    // From the first output time to the last.
    virtual void advance() = 0;

    bool going() const { return result_.status == SimulationStatus::finished && !ended_; }
    void record(double t, const std::vector<double>& x, const std::vector<double>& u) {
        observe(t, x, u);
        std::copy(frame_.begin(), frame_.end(), sink_.frame(t));
    }
    // Into frame_, from which only whole frames go to the sink: observing may be interrupted.
    void observe(double t, const std::vector<double>& x, const std::vector<double>& u) {
        system_.observe(t, x.data(), u.data(), observation_, frame_.data());
    }
    void stop(SimulationStatus status);
    // Ends the run if x1_, u1_, the end of a step, left the numbers or the constraints.
    bool is_sound(bool constraints_met);
    // Takes it as where the run is.
    bool accept(double t, double h);

    System& system_;
    const SimulationOptions& options_;
    const Observation& observation_;
    std::vector<double>&x_, &u_;
    Sink& sink_;
    std::unique_ptr<Stepper> stepper_;
    std::vector<double> x1_, u1_, frame_;
    SimulationResult result_;
    bool ended_ = false;  // by a terminal event
};

std::unique_ptr<Run> make_adaptive_run(System& system, const SimulationOptions& options, const Observation& observation,
                                       std::vector<double>& x, std::vector<double>& u, Sink& sink,
                                       std::unique_ptr<Stepper> stepper, Continuation* kept);

}  // namespace bellcrank
