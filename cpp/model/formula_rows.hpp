// Constraints and forces given by formulas of the motion of markers, evaluated on the bodies.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "joints/marker_pair.hpp"

#include "programs/compiled_program.hpp"
#include "spatial/algebra.hpp"

namespace bellcrank {

class AngleBranches;
class Model;

// A marker in the principal frame of its body.
struct FormulaMarker {
    int body;
    Vec3 offset;    // from the com
    Quat attitude;  // marker axes → principal axes
};

// What a formula speaks of.
struct FormulaEnds {
    std::vector<FormulaMarker> markers;
    std::vector<int> coordinates;        // of the model
    std::span<const double> parameters;  // further inputs: the values of the model's formulas
};

// Where and when, and with which branches of angles.
struct Scenery {
    const Model& model;
    const AngleBranches& branches;
    double t;
    const double *x, *u;
};

class FormulaRows {
  public:
    FormulaRows(int rows, FormulaEnds ends, std::shared_ptr<const CompiledProgram> program);

    int rows() const { return rows_; }
    const FormulaEnds& ends() const { return ends_; }
    const CompiledProgram& program() const { return *program_; }

    struct Side {
        int body;
        double J[6][6];  // per row, against the twist of the body
    };
    struct Values {
        double value[6];          // C
        double drift[6];          // Ċ without motion
        double bias[6];           // C̈ − J u̇
        std::vector<Side> sides;  // their sum is J; a body may be there more than once, and the ground too
    };
    void evaluate(const Scenery& at, Values& out) const;

  private:
    int rows_;
    FormulaEnds ends_;
    std::shared_ptr<const CompiledProgram> program_;
};

class FormulaForce {
  public:
    FormulaForce(FormulaEnds ends, bool has_potential, std::shared_ptr<const CompiledProgram> program);

    const FormulaEnds& ends() const { return ends_; }
    const CompiledProgram& program() const { return *program_; }
    // The outputs of force_program(), until the next formula is evaluated in this thread.
    const double* evaluate(const Scenery& at) const;
    // Adds to records as in applied_forces().
    void add(const Scenery& at, double* force) const;
    double potential(const Scenery& at) const;  // 0 if it has none
    double power(const Scenery& at) const;      // on the bodies [W]

  private:
    FormulaEnds ends_;
    bool has_potential_;
    std::shared_ptr<const CompiledProgram> program_;
};

}  // namespace bellcrank
