// The whole turns of angles that are known but for these, where linear relations connect them: small integer problems.
#pragma once

#include <numbers>
#include <utility>
#include <vector>

namespace bellcrank {

constexpr double kWholeTurn = 2.0 * std::numbers::pi;
constexpr double kMostTurns = 1e9;  // beyond which digits of an angle are lost

struct TurnProblem {
    // An angle at its principal value, and the values that it may have [rad].
    struct Angle {
        double value, low, high;
    };
    // Σ coefficient × angle + rest = 0. stated: the rest is prescribed, whatever the poses of bodies are.
    struct Relation {
        std::vector<std::pair<int, double>> terms;
        double rest;
        bool stated;
    };
    std::vector<Angle> angles;
    std::vector<Relation> relations;
};

// Adds to the angles' values the whole turns with which all relations are satisfied within the bounds: the fewest, and
// of equally many those with the smallest angles. Where no turns do that, each relation is satisfied to within half a
// turn of its fastest angle; where no turn brings an angle within its bounds, it comes closest to them.
void add_whole_turns(TurnProblem& problem);

}  // namespace bellcrank
