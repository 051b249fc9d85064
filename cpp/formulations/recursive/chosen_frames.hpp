// Frames in which the passes over trees need the fewest operations.
#pragma once

#include <array>
#include <vector>

#include "formulations/recursive/links.hpp"

namespace bellcrank::recursive {

// A link's frame turned about and moved along its axis.
struct ChosenFrame {
    Place at;            // joint frame in the parent's chosen frame
    bool axial = false;  // at = shift along x, turn about x, shift along z
    double along = 0;    // axial: the last of these
    double offset = 0;   // added to the angle
    Vec3 moment{0, 0, 0};
    std::array<double, 6> second{};
};

// The x axis of a turn's frame is put on the common normal to the first turn that hangs on it (J. Denavit and R.
// Hartenberg), unless their axes are so nearly parallel that it is far away.
std::vector<ChosenFrame> choose_frames(const LinkTree& tree);

}  // namespace bellcrank::recursive
