// A tree of bodies and joints as the assembly takes it: frames at the joints, spatial inertias in them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "adaptive/assembly_tree.hpp"
#include "adaptive/frames.hpp"
#include "adaptive/joint_motion.hpp"

namespace bellcrank {

// A body with the joint that carries it. Its frame is that behind the joint; all that concerns it is in that frame.
struct Link {
    int body;    // of the model
    int parent;  // link, −1: the ground
    JointMotion motion;
    TreeJoint joint;
    Place before;     // the frame before the joint in the parent's
    Place principal;  // the body's principal frame in its own
    Matrix6 inertia;
    double mass;
    Vec3 moments;    // about the axes of the principal frame
    bool floats;     // hangs on nothing: its six freedoms are none of the linkage's joints
    int coordinate;  // first coordinate
    int freedom;     // first freedom

    // The inverse inertia: a sum of positive terms, of which nothing is lost.
    Matrix6 mobility() const;
    // Its frame in its parent's. Compiled once, so that records replay to the last digit.
    [[gnu::noinline]] Place place(const double* q) const;
};

// Why a model cannot be taken, and what of it is the reason.
struct Obstacle {
    enum class Of : std::uint8_t { model, row, block, law, formula_force };
    std::string why;
    Of of = Of::model;
    int number = -1;
};
// All reasons in one line, each once.
std::string text_of(const std::vector<Obstacle>& obstacles);

struct Linkage {
    // Of a model whose joints are a tree. Throws std::invalid_argument with all reasons why it is none.
    explicit Linkage(const Model& model, TreeShape shape = TreeShape::balanced);
    // Why a model's joints are no such tree; empty if they are.
    static std::vector<Obstacle> obstacles(const Model& model);

    std::vector<Link> links;   // in the order of the tree's
    std::vector<int> link_of;  // per body of the model
    AssemblyTree tree;
    int coordinates = 0, freedoms = 0;

    // What joins of a balanced tree may make of an acceleration by rounding, by the size of its terms, where slides
    // reach so far: they are inversions, and lose the digits by which mobilities of bodies differ.
    double rounding(double reach) const;

  private:
    Linkage(const Model& model, const JointTree& joints, TreeShape shape);
    void measure(const Model& model);

    // The largest of any body: inverse moment of inertia, mobility of a point where a joint is, mass, inertia about
    // such a point.
    double turning_ = 0.0, moving_ = 0.0, mass_ = 0.0, inertia_ = 0.0;
    static std::vector<int> parents_of(const Model& model, const JointTree& joints);
};

}  // namespace bellcrank
