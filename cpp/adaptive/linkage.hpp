// A tree of bodies and joints as the assembly takes it: frames at the joints, spatial inertias in them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "adaptive/assembly_tree.hpp"
#include "adaptive/frames.hpp"
#include "trees/joint_tree.hpp"

namespace bellcrank {

// The frame behind a joint, that of its child, seen from the frame before it: first the free translations, then the
// rotation, or the inverse of this where the parent carries marker 2. Coordinates are the translations in the order of
// their axes, then one angle, two angles of a universal, or a unit quaternion of a ball.
class JointMotion {
  public:
    explicit JointMotion(const TreeJoint& joint);
    // Why a joint cannot be taken; empty if it can.
    static std::string refusal(const TreeJoint& joint);

    int coordinates() const { return slides_ + turns_ + (is_ball() ? 1 : 0); }
    int freedoms() const { return slides_ + turns_; }
    // Where the columns of the subspace S are axes of the child's frame for all coordinates: those axes, as bits.
    bool is_axial() const { return axial_; }
    unsigned axes() const { return axes_; }
    int slides() const { return slides_; }
    bool is_ball() const { return joint_.turning == Turning::ball; }
    const TreeJoint& joint() const { return joint_; }

    void start(double* q) const;  // at zero
    Place place(const double* q) const;
    // Which of its coordinates one of the model is; −1: none.
    int coordinate_of(const Coordinate& coordinate) const;
    // S, freedoms() columns, rotations first; of a joint that is not axial it depends on the coordinates.
    void subspace(const double* q, double* columns) const;
    // Ṡ u: the acceleration, in axes of the child, that speeds u along S make as S turns.
    Six subspace_rate(const double* q, const double* u) const;
    // The rates of coordinates that belong to speeds u along S, a ball's as angular velocity; efforts Q along S of
    // efforts along coordinates, a ball's as a moment.
    void rates(const double* q, const double* u, double* rates) const;
    // u of a twist of the child against its carrier, in axes of the child.
    void speeds(const double* S, const Six& twist, double* u) const;
    void efforts(const double* q, const double* along, double* Q) const;
    // What velocities add to the second derivative of a coordinate.
    double second_rate(const double* q, const double* u, int coordinate) const;
    // Derivatives of the coordinates at speeds u along S, a ball's of its quaternion; what is a unit quaternion becomes
    // one again.
    void derivatives(const double* q, const double* u, double* out) const;
    void normalize(double* q) const;
    // Moves coordinates for a time with constant rates.
    void move(double* q, const double* rates, double time) const;
    // Finds the coordinates for a place of the frame behind the joint.
    void read(const Place& place, double* q) const;

  private:
    Place forward(const double* q) const;

    TreeJoint joint_;
    bool slide_[3], axial_ = true;
    int slides_ = 0, turns_ = 0, axis_ = -1;
    unsigned axes_ = 0;
};

// A body with the joint that carries it. Its frame is that behind the joint; all that concerns it is in that frame.
struct Link {
    int body;    // of the model
    int parent;  // link, −1: the ground
    JointMotion motion;
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

// What rounding of joins may be where bodies are so much alike that it is taken as it may be at worst.
constexpr double kEvenRounding = 3.2e-10;

struct Linkage {
    // Takes a model whose joints are a tree. Throws std::invalid_argument with all reasons why it is none.
    // Stops are left out, and have to be met by somebody who takes them.
    explicit Linkage(const Model& model, TreeShape shape = TreeShape::balanced, bool takes_stops = false);
    // Why a model's joints are no such tree, stops apart if somebody takes them; empty if they are.
    static std::vector<Obstacle> obstacles(const Model& model, bool takes_stops = false);

    // The frame of a link in the world, and coordinates of all joints, at poses of the bodies (records of
    // spatial/body_state.hpp).
    Place frame(int link, const double* poses) const;
    void read(const double* poses, double* q) const;

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
};

}  // namespace bellcrank
