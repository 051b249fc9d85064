// The elementary motions that a joint of the tree is made of, and where their coordinates and speeds stand.
#pragma once

#include <cstdint>
#include <vector>

#include "trees/joint_coordinates.hpp"

namespace bellcrank {

enum class Motion : std::uint8_t {
    turn,     // about z
    slide,    // along z
    ball,     // coordinates: a quaternion; speeds: angular velocity in the link's axes
    free,     // coordinates: position in the parent's axes and a quaternion; speeds: its rate, angular velocity
    screw,    // turn about z and slide along it by lead · angle
    swing,    // a turn about any axis across a fixed one (spatial/swing.hpp)
    general,  // by a rotation and a shift that depend on the coordinates, as a joint given by formulas says
};

struct JointStep {
    Motion motion;
    int axis = 0;    // of the marker's: that it moves about or along; swing: that it does not turn about
    int number = 0;  // turn: of the joint's angles
};

// From the frame of the joint that its parent carries to the one that its child carries: marker 2, and marker 1 moved
// to where the joint holds it (TreeJoint::held).
std::vector<JointStep> steps_of(const TreeJoint& joint);

// Enters the first coordinate and speed of a step; of a general one each by itself.
void enter(const JointStep& step, int coordinate, int speed, JointMap& map);

}  // namespace bellcrank
