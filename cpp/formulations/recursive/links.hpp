// A model as a tree of links, as the recursion walks it: joints whose coordinates are elementary (a turn, a slide) are
// taken apart into links without mass; bodies that do not move against each other are one link
// (docs/theory/recursive.md).
//
// A link's frame lies at its joint, z along the axis of a turn or slide. Motions are (ω; v) and forces (n; f) at the
// origin, in the axes of the link. Links are numbered in preorder.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "spatial/place.hpp"
#include "trees/joint_coordinates.hpp"

namespace bellcrank::recursive {

enum class Motion : std::uint8_t {
    turn,     // about z
    slide,    // along z
    ball,     // coordinates: a quaternion; speeds: angular velocity in the link's axes
    free,     // coordinates: position in the parent's axes and a quaternion; speeds: its rate, angular velocity
    screw,    // turn about z and slide along it by lead · angle
    swing,    // a turn about any axis across a fixed one (spatial/swing.hpp)
    formula,  // as a joint given by formulas says
};

struct Link {
    int parent = -1;  // −1: the ground
    Motion motion = Motion::turn;
    int x = 0, u = 0;  // first coordinate and first speed
    int speeds = 1;
    int given = -1;     // the drive that gives its motion, −1: it is free
    Place at;           // joint frame in the parent's frame; the link's own is reached from it by the motion
    double offset = 0;  // turn, slide: added to the coordinate
    double mass = 0;
    Vec3 moment{0, 0, 0};            // mass times com
    std::array<double, 6> second{};  // inertia about the origin: xx, yy, zz, xy, xz, yz
    double rotor = 0;                // added to the inertia along the coordinate
    double lead = 0;                 // screw
    int held = 0;                    // swing: the axis that it does not turn about
    int formula = -1;                // of the model's joints given by formulas
    bool reversed = false;
};

// A row that gives the motion of a turn or slide:  factor · coordinate = function(t) + constant.
struct Drive {
    int row, link;
    int function;
    double factor, constant;
};

// A row with compliance along the coordinate of a turn or slide: a rotor that moves with it.
struct Rotor {
    int row, link;
    double factor, compliance;
};

// A body's principal frame in its link's. Link −1 is the ground.
struct BodyPlace {
    int link = -1;
    Place at;
    Quat turn{1, 0, 0, 0};  // the rotation of `at`
};

struct LinkTree {
    std::vector<Link> links;
    std::vector<JointMap> joints;   // one per joint of the tree, parents first
    std::vector<BodyPlace> bodies;  // per body, the ground last
    std::vector<Drive> drives;
    std::vector<Rotor> rotors;
    std::vector<int> closing_rows;  // of the model: equations that remain, other rotors among them, and stops last
    size_t stops = 0;               // how many of these
    int coordinates = 0, speeds = 0;
    std::vector<int> coordinate_of;  // per coordinate of the tree: the model's, −1: none
    std::vector<int> speed_of;       // per coordinate: its speed, −1 for those of quaternions
};

// Why a model cannot be taken, everything at once; empty if it can.
std::vector<std::string> refusals(const Model& model);
LinkTree make_links(const Model& model, const JointTree& joints);
// Whether a body on a joint of several freedoms is so light beside what hangs on it that digits may be lost.
bool carries_heavier(const LinkTree& tree);

}  // namespace bellcrank::recursive
