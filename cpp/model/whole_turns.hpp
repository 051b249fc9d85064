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

// Whole turns of angles whose relations are not satisfied yet, because bodies are still to be moved.

// Goes from angles that are prescribed, then from slow ones, along the relations to fast ones: each is taken on the
// branch nearest to what its relation makes it. What follows from prescribed values alone counts as prescribed. start:
// the angles [rad]. low, high: their turns from there.
std::vector<double> propagated_turns(const std::vector<TurnProblem::Relation>& relations,
                                     const std::vector<double>& start, const std::vector<double>& low,
                                     const std::vector<double>& high);

}  // namespace bellcrank
