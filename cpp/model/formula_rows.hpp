// Constraints and forces given by formulas of the motion of markers, evaluated on the bodies.
#pragma once

#include <memory>
#include <vector>

#include "programs/compiled_program.hpp"
#include "spatial/algebra.hpp"

namespace bellcrank {

// A marker in the principal frame of its body.
struct FormulaMarker {
    int body;
    Vec3 offset;    // from the com
    Quat attitude;  // marker axes → principal axes
};

class FormulaRows {
  public:
    FormulaRows(int block, int rows, bool of_velocity, std::vector<FormulaMarker> markers,
                std::shared_ptr<const CompiledProgram> program);

    int block() const { return block_; }  // of the model, whose rows these are
    int rows() const { return rows_; }
    bool of_velocity() const { return of_velocity_; }
    const std::vector<FormulaMarker>& markers() const { return markers_; }

    struct Values {
        double value[6];        // C
        double drift[6];        // Ċ without motion
        double bias[6];         // C̈ − J u̇
        std::vector<double> J;  // per marker and row the gradient against its body's twist (6)
    };
    void evaluate(double t, const double* x, const double* u, Values& out) const;

  private:
    int block_, rows_;
    bool of_velocity_;
    std::vector<FormulaMarker> markers_;
    std::shared_ptr<const CompiledProgram> program_;
};

class FormulaForce {
  public:
    FormulaForce(std::vector<FormulaMarker> markers, bool has_potential,
                 std::shared_ptr<const CompiledProgram> program);

    // Adds to records as in applied_forces().
    void add(double t, const double* x, const double* u, int ground, double* force) const;
    double potential(double t, const double* x, const double* u) const;  // 0 if it has none

  private:
    const double* run(double t, const double* x, const double* u) const;

    std::vector<FormulaMarker> markers_;
    bool has_potential_;
    std::shared_ptr<const CompiledProgram> program_;
};

}  // namespace bellcrank
