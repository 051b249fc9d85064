// What users wrote as formulas: joints, constraints and forces. The references point into a graph; everything is
// differentiated once, when the model is made, and evaluated as compiled programs.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "expression/graph.hpp"
#include "joints/parametric.hpp"
#include "programs/compiled_program.hpp"
#include "spatial/algebra.hpp"
#include "spatial/fields.hpp"

namespace bellcrank {

// A line that a coordinate turns about or slides along; marker-1 axes, where all coordinates are zero.
struct ChainLine {
    int coordinate;
    bool turns;
    Vec3 axis, point;  // axis: a unit vector
    BELLCRANK_FIELDS(ChainLine, (coordinate), (turns), (axis), (point, "m"))
};

// A pose as a product of exponentials, exp(ξ₁ q₁) ... exp(ξₙ qₙ) T₀ (R. W. Brockett, 1984).
struct Chain {
    std::vector<ChainLine> lines;  // from the outside in; none: the pose is no such product
    Mat3 rotation{{1, 0, 0, 0, 1, 0, 0, 0, 1}};
    Vec3 position{0, 0, 0};
    BELLCRANK_FIELDS(Chain, (lines), (rotation), (position, "m"))
};

// Marker 2 seen from marker 1 as a function of the coordinates.
struct JointFormula {
    std::vector<Ref> coordinates;  // symbols, 1 to 6
    std::array<Ref, 3> position;   // marker-1 axes
    std::array<Ref, 9> rotation;   // marker-2 axes → marker-1 axes, by rows
    std::vector<double> start;     // where the search for the coordinates starts
    Chain chain;
};

// A marker whose motion a formula speaks of, by its symbols; all in world axes.
struct MarkerSymbols {
    int body;
    Vec3 offset;    // body frame; principal frame once in a Model
    Quat attitude;  // marker axes → body frame; → principal frame once in a Model
    std::array<Ref, 3> position;
    std::array<Ref, 4> rotation;  // unit quaternion, marker axes → world axes
    std::array<Ref, 3> velocity, angular_velocity;
};

// A coordinate of the model that a formula speaks of, by its symbols.
struct CoordinateSymbols {
    int coordinate;
    Ref value, rate;
};

// C(poses, coordinates, t) = 0; or, linear in velocities and rates, a condition of these alone (rolling).
struct ConstraintFormula {
    std::vector<MarkerSymbols> markers;
    std::vector<CoordinateSymbols> coordinates;
    std::vector<Ref> rows;  // 1 to 6
    bool of_velocity = false;
};

// Force and moment on each marker, about its origin, in world axes, and the effort along each coordinate; or the
// potential of all these, which then are none.
struct ForceFormula {
    std::vector<MarkerSymbols> markers;
    std::vector<CoordinateSymbols> coordinates;
    std::vector<std::array<Ref, 3>> force, moment;  // of each marker
    std::vector<Ref> effort;                        // of each coordinate
    Ref potential;
    bool has_potential = false;
};

struct Formulas {
    std::shared_ptr<const Graph> graph;
    Ref time;
    std::vector<Ref> parameters;  // symbols with a value for this model
    std::vector<double> values;   // of the parameters
    std::vector<JointFormula> joints;
    std::vector<ConstraintFormula> constraints;
    std::vector<ForceFormula> forces;
};

// All programs take the values of the parameters after their own inputs.

// (s, ṡ) → as ParametricJoint asks for it.
Program joint_program(const Formulas& all, const JointFormula& joint);

// Inputs of constraint and force programs: t, then per marker position (3), rotation (4), velocity (3), angular
// velocity (3), then per coordinate value and rate.

// Outputs: C (n; 0 for a condition of velocities), Ċ without motion (n), what velocity adds to C̈ (n), then per row for
// each marker the gradient against velocity (3) and angular velocity (3), and for each coordinate that against its
// rate.
Program constraint_program(const Formulas& all, const ConstraintFormula& constraint);

// Outputs: per marker force (3) and moment (3); per coordinate the effort; then the potential, if it has one.
Program force_program(const Formulas& all, const ForceFormula& force);

}  // namespace bellcrank
