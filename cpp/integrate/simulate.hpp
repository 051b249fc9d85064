// The loop over time.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "integrate/events.hpp"
#include "integrate/stepper.hpp"
#include "model/system.hpp"

namespace bellcrank {

struct SimulationOptions {
    std::string method = "rk4";
    double step = 1e-3;     // fixed step, or the first one of an adaptive method (0: chosen)
    double max_step = 0.0;  // adaptive: 0 for none
    MethodSettings settings;
    std::vector<double> output_times;  // ascending, the first is the start; fixed-step methods divide each interval
                                       // into equal steps of at most `step`
    double impact_resolution =
        1e-5;  // adaptive: an impact of what lay on its stop is stepped onto within this time [s]
    std::vector<EventFunction> events;  // adaptive
    Observation measured;               // the coordinates that they need
};

enum class SimulationStatus { finished, interrupted, not_finite, constraints_lost, step_vanished, energy_made };

struct SimulationResult {
    SimulationStatus status = SimulationStatus::finished;
    double time = 0.0;
    long long steps = 0, rejected = 0;
    long long rounding = 0;                   // steps with an error above the tolerance that is rounding
    double last_step = 0.0, next_step = 0.0;  // taken last, and to be tried next
    long long steps_since_restart = 0, evaluations_since_restart = 0;
    long long difference_evaluations = 0;   // of evaluations, for derivatives
    int last_order = 0, highest_order = 0;  // of a method of variable order
    int body = -1;                          // not_finite: the first such body; energy_made: where most of it is
    int row = -1;                           // constraints_lost: the worst model row
    double energy_before = 0.0, energy_after = 0.0;  // energy_made: what has risen to what [J]
};

// Takes the frames; told from time to time that the run is alive.
class Sink {
  public:
    virtual ~Sink() = default;
    // Where to write the next frame: its time and observation_size() doubles.
    virtual double* frame(double t) = 0;
    // Where to write the frame of an event: a function's number, or from there on a stop's.
    virtual double* event(int index, double t) = 0;
    // False to stop. Called about once a step; cheap.
    virtual bool alive(double t) = 0;
};

// What a method that chooses its steps knows at the end of a run, for another run of the same system by the same method
// that goes on from there.
struct Continuation {
    bool leads_on_from(double t, const std::vector<double>& x, const std::vector<double>& u) const {
        return stepper != nullptr && time == t && this->x == x && this->u == u;
    }

    std::unique_ptr<Stepper> stepper;  // null: nothing is known
    double time = 0.0, next_step = 0.0;
    std::vector<double> x, u;
    long long steps_since_restart = 0;
    long long evaluations_at_restart = 0;  // of the system's
};

// Advances (t0 = first output time, x, u), a projected state, and records a frame per output time. x and u end as the
// last accepted state.
//
// kept: where it leads on from the start, the method goes on with its history, else it starts anew; afterwards it holds
// what is known at the end, if the run got there.
SimulationResult simulate(System& system, const SimulationOptions& options, const Observation& observation,
                          std::vector<double>& x, std::vector<double>& u, Sink& sink, Continuation* kept = nullptr);

}  // namespace bellcrank
