// Quasi-statics step by step: all velocities are zero at the start of a step, in which joints accelerate from rest,
// q ← q + ½ q̈ h². A step computes, moves and updates only what moves (Redon and Lin, section 5).
#pragma once

#include <memory>
#include <vector>

#include "adaptive/exact_solution.hpp"
#include "adaptive/joint_choice.hpp"
#include "adaptive/linkage_forces.hpp"
#include "adaptive/moves.hpp"

namespace bellcrank {

class Quasistatics {
  public:
    // with_totals: false takes exact steps alone, and these faster. Throws std::invalid_argument with all reasons if
    // the model cannot be taken.
    Quasistatics(std::shared_ptr<const Model> model, double step, ErrorMeasure measure, bool with_totals);
    static std::vector<Obstacle> obstacles(const Model& model);

    // Where the bodies are (records of spatial/body_state.hpp), at rest.
    void start(double t, const double* poses, const double* angles = nullptr);

    // Computes joint accelerations until the error is at most `bound`, which only adds to those computed. The error.
    double refine(double bound);
    void begin();  // with nothing computed
    // Takes a step with the accelerations that were computed, all others zero.
    void move();
    // Both; without totals all joints move. False, and no step, where rounding leaves accelerations open.
    bool advance(double bound);
    // Exact accelerations of all joints, in the place of those computed.
    void solve();

    // Records a frame now, with all joints, and after every so many steps what moved.
    void record_every(int steps);
    MoveRecord take_record() { return recorder_.take(); }

    double time() const { return time_; }
    const Linkage& linkage() const { return *linkage_; }
    const RootedAssembly& assembly() const { return assembly_; }
    // What was computed.
    const JointChoice& choice() const { return is_exact_ ? static_cast<const JointChoice&>(ranking_) : descent_; }
    double largest_error() const { return largest_error_; }  // of the steps in which something moved
    bool is_exact() const { return is_exact_; }  // accelerations are those of all joints, in twice the digits
    const std::vector<int>& moved() const { return moved_; }  // links, in the last step
    const std::vector<double>& coordinates() const { return q_; }
    Place pose(int body) const;  // of a body's principal frame

  private:
    void place(int link);
    void solve_exactly(const std::vector<int>& computed);

    const std::shared_ptr<const Model> model_;
    const std::shared_ptr<const Linkage> linkage_;
    const double step_;
    const ErrorMeasure measure_;
    RootedAssembly assembly_;
    Descent descent_;
    Ranking ranking_;
    std::unique_ptr<ExactSolution> exact_;  // made where joins lack digits
    bool is_exact_ = false;                 // accelerations are those of exact_, ranked
    LinkageForces forces_;
    double begin_ = 0.0, time_ = 0.0, largest_error_ = 0.0;
    std::vector<double> q_;
    std::vector<int> moved_;
    MoveRecorder recorder_;
    int every_ = 0, steps_ = 0;  // 0: nothing is recorded
    int unreleased_ = 0;         // joints that hang on nothing, which are always computed
};

}  // namespace bellcrank
