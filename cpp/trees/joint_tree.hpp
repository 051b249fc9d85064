// The tree of a model: which joints are its transforms, in which order, from which frame to which, by which elementary
// motions; and which rows it leaves to be met by multipliers.
#pragma once

#include <cstdint>
#include <vector>

#include "model/model.hpp"
#include "spatial/spatial_vectors.hpp"

namespace bellcrank {

// What a joint leaves of the relative rotation.
enum class Turning {
    none,
    about_x,
    about_y,
    about_z,
    ball,
    universal,  // about x of marker 1, then about y of marker 2
    swing_x,    // no turn about that axis: e_k = 0
    swing_y,
    swing_z,
};
// The axis that it turns about or, of a swing, does not turn about; none of other kinds.
inline int axis_of(Turning turning) {
    return static_cast<int>(turning) -
           static_cast<int>(turning < Turning::swing_x ? Turning::about_x : Turning::swing_x);
}

// Elementary motions of which joints are made.
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

// A joint as an edge of the tree, from body `parent` to body `child`. Marker 2 seen from marker 1: first the free
// translations along the axes of marker 1, then the rotation.
struct TreeJoint {
    int pair = -1;   // −1: a body that hangs on nothing, free in the ground's frame
    int block = -1;  // of the model, whose rows hold by construction; −1: it has none
    int parent = -1, child = -1;
    bool reversed = false;  // the parent carries marker 2
    bool slides[3] = {true, true, true};
    double held[3] = {0, 0, 0};  // x, y, z where they do not slide
    int held_row[3] = {-1, -1, -1};
    Turning turning = Turning::ball;
    int screw_axis = -1;                // this translation follows the turn:
    double advance = 0.0, start = 0.0;  // = advance · angle + start
    int screw_row = -1, slide_term = -1, turn_term = -1;
    int formula = -1;       // of the model's joints given by formulas: its transform is that
    std::vector<int> rows;  // of the model, that hold by construction

    // joint_tree() sets these: the number of the joint that carries the parent, −1: the ground; the frame before the
    // motion in the parent's principal frame, and the one behind it in the child's. Marker 1 is moved to where the
    // joint holds it.
    int above = -1;
    Place before, behind;

    // Its elementary motions, from the frame before to the frame behind.
    std::vector<JointStep> steps() const;
};

struct JointTree {
    std::vector<TreeJoint> joints;  // parents first
    std::vector<int> closing_rows;  // equations that remain
    std::vector<int> inertances;    // blocks of compliant rows
    std::vector<int> stops;         // unilateral rows
};

// Every joint that can be an edge of a tree, those first whose transform makes most rows needless; those of the blocks
// `cut` are left out.
std::vector<TreeJoint> joint_edges(const Model& model, const std::vector<int>& cut = {});
// The tree of these edges, rooted at the ground, which they and free bodies must span without a loop.
JointTree joint_tree(const Model& model, std::vector<TreeJoint> edges);
// A spanning tree of greatest weight, the weight of an edge being the number of rows that its transform makes needless.
JointTree joint_tree(const Model& model, const std::vector<int>& cut = {});

// A link of a tree whose joints are taken apart into elementary motions: its joint frame lies at `at` in the parent's
// frame, and its own frame is reached from there by the motion.
template <class V>
struct LinkOf {
    int parent = -1;  // −1: the ground
    Motion motion = Motion::turn;
    PlaceOf<V> at;
};

// A frame of a body in that of its link. Link −1 is the ground.
template <class V>
struct BodyPlaceOf {
    int link = -1;
    PlaceOf<V> at;
};

// Bodies that no joint carries any more once some are cut, and the blocks whose cuts part them from the others.
struct CutOff {
    std::vector<int> bodies, blocks;
};

// Parts of the model that hang on nothing once the joints of the blocks `cut` are left out of every tree, although
// something carried them before. First those behind one joint that is in no loop; then those that the other cuts part
// off together.
std::vector<CutOff> cut_off(const Model& model, const std::vector<int>& cut);

}  // namespace bellcrank
