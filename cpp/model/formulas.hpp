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

namespace bellcrank {

// Marker 2 seen from marker 1 as a function of the coordinates.
struct JointFormula {
    int pair;
    std::vector<Ref> coordinates;  // symbols, 1 to 6
    std::array<Ref, 3> position;   // marker-1 axes
    std::array<Ref, 9> rotation;   // marker-2 axes → marker-1 axes, by rows
    std::vector<double> start;     // where the search for the coordinates starts
};

// A marker whose motion a formula speaks of, by its symbols; all in world axes.
struct MarkerSymbols {
    int body;
    Vec3 offset;    // body frame; principal frame once in a Model
    Quat attitude;  // marker axes → body frame; → principal frame once in a Model
    std::array<Ref, 3> position;
    std::array<Ref, 9> rotation;  // marker axes → world axes, by rows
    std::array<Ref, 3> velocity, angular_velocity;
};

// C(poses, t) = 0; or, of velocities, A(poses, t)·twists + a(poses, t) = 0 (rolling), which holds no position.
struct ConstraintFormula {
    int block;  // of the model; its rows have no terms
    std::vector<MarkerSymbols> markers;
    std::vector<Ref> rows;  // 1 to 6
    bool of_velocity = false;
};

// Force and moment on each marker, about its origin, in world axes.
struct ForceFormula {
    std::vector<MarkerSymbols> markers;
    std::vector<std::array<Ref, 3>> force, moment;  // of each marker
    Ref potential;
    bool has_potential = false;
};

struct Formulas {
    std::shared_ptr<const Graph> graph;
    Ref time;
    std::vector<JointFormula> joints;
    std::vector<ConstraintFormula> constraints;
    std::vector<ForceFormula> forces;
};

// (s, ṡ) → as ParametricJoint asks for it.
Program joint_program(const Graph& source, const JointFormula& joint);

// Inputs of constraint and force programs: t, then per marker position (3), rotation (9), velocity (3), angular
// velocity (3).
inline constexpr int kMarkerInputs = 18;

// Outputs: C (n; 0 for a constraint of velocity), ∂C/∂t (n; of velocity: a), what velocity adds to C̈ (n), then per row
// and marker the gradient against velocity (3) and angular velocity (3).
Program constraint_program(const Graph& source, Ref time, const ConstraintFormula& constraint);

// Outputs: per marker force (3) and moment (3); then the potential, if it has one.
Program force_program(const Graph& source, Ref time, const ForceFormula& force);

}  // namespace bellcrank
