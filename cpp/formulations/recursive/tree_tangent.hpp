// How the bodies of a tree move along directions of its coordinates, speeds and numbers, and the transpose
// (docs/theory/derivatives.md, "Trees").
#pragma once

#include <array>
#include <span>
#include <vector>

#include "formulations/recursive/tree_state.hpp"
#include "spatial/aligned.hpp"
#include "tangents/model_tangent.hpp"

namespace bellcrank::recursive {

class TreeTangent {
  public:
    TreeTangent(const Model& model, const LinkTree& tree);

    // Where: links that TreeState has placed and moved; coordinates, speeds, their rates, accelerations of the links.
    struct Point {
        const TreeState& k;
        const double *x, *u, *udot;
        const Twist* accelerations;
    };
    // Tangent vectors, kDirections doubles for each of their numbers; null: none. The numbers of the model.
    struct Directions {
        const double *x = nullptr, *u = nullptr, *udot = nullptr;
        const ModelTangent* numbers = nullptr;
    };
    // Records of the bodies: displacements of points that were centres of mass, changes of their velocities and
    // accelerations; kDirections doubles for each of their numbers.
    struct Changes {
        std::vector<double> x, u, udot;
    };
    void along(const Point& at, const Directions& directions, Changes& out);

    // Forces r on the bodies that are not in balance, since those of the tree's joints are none of them: on each at its
    // centre of mass, moment in principal axes, force in its link's axes; on each link with all that hangs on it.
    struct Forces {
        std::vector<Load> bodies, links;
    };
    // After along(): what the way from the bodies to the joints adds to the changes of r, as loads on the links and as
    // efforts along speeds.
    void add_geometric(const Point& at, const Directions& directions, const Forces& r, ForceT<Four>* loads,
                       Four* efforts) const;

    // From gradients by records those by coordinates and speeds, which are set, and by numbers, which is added to.
    // Null: none by that.
    struct Gradient {
        const double *x, *u, *udot;
        // Of Σ w·r with the motions w of the bodies besides, at speeds y by which the links move at Y; null: none.
        const Forces* r = nullptr;
        const Twist* Y = nullptr;
        const double* y = nullptr;
    };
    // further: as EquationsTangent::transposed has them.
    void transposed(const Point& at, const Gradient& of, double* x, double* u, ModelGradient& by_numbers,
                    std::span<const NumberPlace> further = {});

    // A constant of a row of one term, divided by its coefficient.
    struct Quotient {
        int row, term;
        double inverse, value;
    };
    // What gradients by a joint's marker are of the gradient by how its frame moves, seen from elsewhere on its body:
    // its position, the last lane nothing, and its quaternion, by the moment and by the force.
    struct MarkerColumns {
        struct Held {
            Quotient by;
            Vec3 along;
        };
        int number, held_count = 0;
        std::array<Four, 3> position, by_moment, by_force;
        std::array<Held, 3> held;
    };
    // seen: the joint's frame at the marker; factor: of all.
    MarkerColumns marker_columns(int joint, int side, const Place& seen, double factor) const;
    static void take_marker(const MarkerColumns& columns, const Load& by, ModelGradient& by_numbers);

  private:
    // What a joint is made of: its first link, and how many; the frame before it, in the link of its parent.
    struct Steps {
        int first, count;
        Place origin;
    };
    // A marker in its body's frame: its axes there, its rotation as it is given; where the joint holds it, in its axes.
    struct JointMarker {
        int number = -1;
        Mat3 axes;
        Quat rotation;
        Vec3 held{0, 0, 0};
        int held_count = 0;
        std::array<int, 3> held_axis;
        std::array<Quotient, 3> held_by;
    };
    // How a frame moves against another, and the gradient by that, at the origin and in the axes of the frame.
    using Shifted = MotionT<Four>;
    Quotient quotient(int row, int term) const;
    static Four along(const Quotient& q, const ModelTangent& numbers);
    static void take(const Quotient& q, double by, ModelGradient& by_numbers);
    // From the gradient by how a joint's frame at a marker moves in its body, in its axes, that by numbers.
    void take_marker(int joint, int side, const Load& by, ModelGradient& by_numbers) const;
    JointMarker joint_marker(const TreeJoint& joint, int side) const;
    Shifted marker_along(int joint, int side, const ModelTangent& numbers) const;
    void move_link(const Point& at, const Directions& d, int link, bool moved, const Shifted* before);
    Load take_link(const Point& at, const Gradient& of, int link, double* x, double* u, double& lead,
                   ModelGradient& by_numbers);
    // Of a link that a joint given by formulas moves: along changes of its coordinates, of their rates, and of numbers;
    // and from gradients by σ, by its motion, and by what that adds to its acceleration.
    FormulaFrameT<Dual4> formula_along(const Point& at, const Link& link, const Four* x, const Four* u,
                                       std::span<const Dual4> values);
    void take_formula(const Point& at, const Gradient& of, int link, const Load& sigma, const Load& own,
                      const Load& rate, double* x, double* u, ModelGradient& by_numbers);
    void add_screw(const TreeJoint& joint, double start, double lead, ModelGradient& by_numbers) const;
    void write(const TreeState& k, const Twist* accelerations, Changes& out) const;
    void read(const TreeState& k, const Twist* accelerations, const Gradient& of, ModelGradient& by_numbers);
    Four lead_along(const TreeJoint& joint, const ModelTangent& numbers) const;

    const Model& model_;
    const LinkTree& tree_;
    std::vector<Steps> steps_;                         // per joint
    std::vector<std::array<JointMarker, 2>> markers_;  // of its pair
    std::vector<std::array<MarkerColumns, 2>, AlignedAllocator<std::array<MarkerColumns, 2>>> columns_;
    std::vector<MotionT<Four>> displaced_, sigma_, dv_, da_;  // per link
    std::vector<Shifted> placed_;                             // per body, in its link
    std::vector<MotionT<Four>> formula_columns_;              // per speed: changes of S, where formulas say them
    std::vector<Dual4> formula_in_;
    std::span<const NumberPlace> further_;
    std::vector<Load> by_displaced_, by_dv_, by_da_, by_placed_;
};

}  // namespace bellcrank::recursive
