// A tree of bodies and joints as the assembly takes it: frames at the joints, spatial inertias in them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "adaptive/assembly_tree.hpp"
#include "adaptive/frames.hpp"
#include "trees/formula_frame.hpp"
#include "trees/joint_tree.hpp"

namespace bellcrank {

class AngleBranches;

// The frame behind a joint, that of its child, seen from the frame before it: first the free translations, then the
// rotation, or the inverse of this where the parent carries marker 2. Coordinates are the translations in the order of
// their axes, then one angle, two angles of a universal, a unit quaternion of a ball, or that of the shaft which halves
// the bend of a swing (spatial/swing.hpp), from the frame before the joint. A joint given by formulas has its own.
class JointMotion {
  public:
    // given: coordinates whose motion is a function of time, as bits. They are no freedoms, and S has no columns of
    // them.
    // The model outlives it.
    JointMotion(const Model& model, const TreeJoint& joint, unsigned given);
    // Which coordinate of a joint a coordinate of the model is; −1: none of its own.
    static int own_coordinate(const TreeJoint& joint, const Coordinate& coordinate);

    int coordinates() const { return slides_ + turns_ + (is_ball() ? 1 : is_swing() ? 2 : 0); }
    int freedoms() const { return freedoms_; }
    bool has_given() const { return given_ != 0; }
    // Where the columns of the subspace S are axes of the child's frame for all coordinates: those axes, as bits.
    bool is_axial() const { return axial_; }
    unsigned axes() const { return axes_; }
    bool shifts() const { return slides_ > 0 || is_formula(); }
    bool is_ball() const { return !is_formula() && joint_.turning == Turning::ball; }
    bool is_swing() const { return !is_formula() && joint_.turning >= Turning::swing_x; }
    bool is_formula() const { return joint_.formula >= 0; }
    const TreeJoint& joint() const { return joint_; }

    Place place(const double* q) const;
    // S, freedoms() columns, rotations first; of a joint that is not axial it depends on the coordinates.
    void subspace(const double* q, double* columns) const;
    // Ṡ u: the acceleration, in axes of the child, that speeds u along S make as S turns. Where motions are given, u
    // has them too (`with_given`).
    Six subspace_rate(const double* q, const double* u) const;
    // Speeds u along S together with those of given coordinates, by coordinate; and S along those alone.
    void with_given(const double* u, const double* given, double* all) const;
    Six along_given(const double* q, const double* given) const;
    double along_given(const double* q, int coordinate, const Six& force) const;
    // The rates of coordinates that belong to speeds u along S, a ball's as angular velocity; efforts Q along S of
    // efforts along coordinates, a ball's as a moment.
    void rates(const double* q, const double* u, double* rates) const;
    // Rates of given coordinates, by coordinate, of such a twist of which others are free.
    void given_speeds(const double* q, const Six& twist, double* given) const;
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
    // Finds the coordinates for a place of the frame behind the joint; those of formulas near where they are.
    void read(const Place& place, double* q) const;

  private:
    Place forward(const double* q) const;
    FormulaFrameT<double> frame(const double* q, const double* u) const;
    void all_columns(const double* q, double* columns) const;
    // The coordinate of a column of `all_columns`.
    int coordinate_of(int column) const { return column < turns_ ? slides_ + column : column - turns_; }
    bool is_given(int column) const { return (given_ >> coordinate_of(column) & 1u) != 0; }

    const Model* model_;
    TreeJoint joint_;
    bool slide_[3], axial_ = true;
    int slides_ = 0, turns_ = 0, freedoms_ = 0, axis_ = -1;
    unsigned axes_ = 0, given_ = 0;
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

// The motion that a row gives to a coordinate of a link's joint:  factor · q = function(t) + constant.
struct GivenMotion {
    int row, link, coordinate;
    int function;  // −1: none
    double factor, constant;

    FunctionValue at(const Model& model, double t) const;
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
    // Takes a model whose joints are a tree; moves: whether joints may move by given functions,
    // and loops close and stops are met, by somebody who takes them. Throws
    // std::invalid_argument with all reasons why it cannot.
    explicit Linkage(const Model& model, TreeShape shape = TreeShape::balanced, bool moves = false);
    // Why a model cannot be taken; empty if it can.
    static std::vector<Obstacle> obstacles(const Model& model, bool moves);

    // The frame of a link in the world, and coordinates of all joints, at poses of the bodies (records of
    // spatial/body_state.hpp), angles on these branches.
    Place frame(int link, const double* poses) const;
    void read(const Model& model, const AngleBranches& branches, const double* poses, double* q) const;
    // The link along whose joint a coordinate of the model is, and which of its coordinates; −1: none.
    int link_along(const Model& model, int coordinate, int* own) const;

    std::vector<Link> links;         // in the order of the tree's
    std::vector<int> link_of;        // per body of the model
    std::vector<GivenMotion> given;  // those of a link side by side
    AssemblyTree tree;
    std::vector<int> closing_rows;  // of the model, that the tree leaves
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
