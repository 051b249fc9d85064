// Which joints of a model can be transforms of a tree of bodies, and which rows a tree leaves to be met by multipliers.
#pragma once

#include <string>
#include <vector>

#include "model/model.hpp"

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

}  // namespace bellcrank
