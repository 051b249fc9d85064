// Where angles are not defined: an angle is the direction of two numbers, and at a pole both vanish.
#pragma once

#include <string>

#include "joints/coordinate.hpp"
#include "joints/jet.hpp"

namespace bellcrank {

// The two numbers along a motion: the angle is atan2(s, c), or twice that.
struct Direction {
    double c, s, c_rate, s_rate;
};

// What becomes of an angle on a way through its pole, where the direction turns over.
enum class AtPole {
    goes_on,     // it is twice that of the direction: whole turns go unnoticed
    turns_over,  // it counts on as that of the line, half a turn away from the direction
    ends         // it jumps, and a row that was met before is off beyond
};

struct DirectionKind {
    Direction (*along)(const RelativeMotion& motion);
    AtPole at_pole;
    // The components e_k of the relative quaternion, a bit for each, that are 0 where a joint keeps it from the pole.
    int keepers = ~0;
    bool of_lengths = false;  // what the two numbers are [m]
};

// Null for coordinates without poles.
const DirectionKind* direction_kind(const std::string& coordinate);

// Adds the direction of a coordinate kind; in the kind's own file.
struct DirectionRegistration {
    DirectionRegistration(const char* coordinate, DirectionKind kind);
};

// The direction of two formulas of a pose in jets.
template <auto sine, auto cosine>
Direction direction_along(const RelativeMotion& motion) {
    const JetPose<double> pose(motion);
    const Jet s = sine(pose), c = cosine(pose);
    return {c.value, s.value, c.rate, s.rate};
}

// Components of a rotation vector that is followed past half a turn. All three of a pair are coordinates side by side,
// and each is evaluated with parameters: where the three of them were.

// Which component a kind is, 0 to 2; −1 for other kinds.
int turned_axis(const CoordinateKind& kind);

}  // namespace bellcrank
