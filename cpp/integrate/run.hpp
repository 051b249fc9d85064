// Runs of methods with fixed steps, and of those that choose theirs.
#pragma once

#include <memory>
#include <vector>

#include "integrate/simulate.hpp"

namespace bellcrank {

std::unique_ptr<Run> make_fixed_run(System& system, SimulationOptions options, Observation observation, double t,
                                    std::vector<double>& x, std::vector<double>& u, Sink& sink,
                                    std::unique_ptr<Stepper> stepper);
std::unique_ptr<Run> make_adaptive_run(System& system, SimulationOptions options, Observation observation, double t,
                                       std::vector<double>& x, std::vector<double>& u, Sink& sink,
                                       std::unique_ptr<Stepper> stepper);

}  // namespace bellcrank
