// Motion with inertia of a linkage of which few joints are free (docs/theory/adaptive.md, adaptive dynamics): free
// joints move, locked ones stand still, and the error of that is known. S. Redon, N. Galoppo and M. Lin, Adaptive
// Dynamics of Articulated Bodies (2005), choose joints by how much they move; here Gauss' principle tells what each of
// them matters.
#pragma once

#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "adaptive/hybrid_assembly.hpp"
#include "adaptive/linkage_forces.hpp"
#include "adaptive/moves.hpp"

namespace bellcrank {

// What may be left out. The error is the root of the mean over the mass of |a_H − a_F|², m/s²; or a part of what it is
// where no joint accelerates. Locking may lose so much kinetic energy per second (W, or a part of it if `losses` are
// parts). No more joints are free than `joints` (−1: as many as the error asks for), and then the error is what it is.
struct AdaptiveLimits {
    double error = 0.0;
    bool is_relative = false;
    double loss = 0.01;
    bool loss_is_relative = true;
    int joints = -1;
};

class AdaptiveDynamics {
  public:
    // Throws std::invalid_argument with all reasons if the model cannot be taken.
    explicit AdaptiveDynamics(std::shared_ptr<const Model> model, TreeShape shape = TreeShape::balanced);
    static std::vector<Obstacle> obstacles(const Model& model);

    // Where the bodies are and how they move (records of spatial/body_state.hpp). Joints that move are
    // free, and those that matter.
    void start(double t, const double* poses, const double* twists);
    // At the start it decides too how many digits joins have to keep.
    void limit(const AdaptiveLimits& limits) { limits_ = limits; }

    // Which joints are free, per link; a body that hangs on nothing is always. Those that lock are stopped by an
    // inelastic impact in which all free ones take part. The kinetic energy that it loses.
    double set_free(const std::vector<std::uint8_t>& free);
    // Accelerations at the present state, and how far they are from those of all joints.
    void evaluate();
    // Locks joints that matter little and frees those that matter, until the error is within its limit.
    void decide();
    // Steps with sets of joints that do not change within a step; at rest, all begin without speed (q ← q + ½ q̈ h²).
    // The number taken, fewer where accelerations are no numbers. To coast is to keep the set, and not to judge it.
    enum class Method { symplectic_euler, runge_kutta, at_rest };
    int advance(int steps, double step, Method method);
    int coast(int steps, double step, Method method);
    // After `evaluate`: links that would gain most, until what is left is `enough` or there are `most`; what is left.
    std::pair<std::vector<int>, double> gains(double enough, int most);
    void spoil_below() { assembly_->spoil_below(); }  // for tests

    // A hand on a body, in its link's frame; null: it lets go.
    void pull(int body, const Hand* hand);
    // Links whose joints have moved since the last call, each once.
    std::vector<int> take_moved();

    // Records a frame now, with all joints, and after every so many steps what moved.
    void record_every(int steps);
    MoveRecord take_record() { return recorder_->take(); }

    double time() const { return time_; }
    const Linkage& linkage() const { return *linkage_; }
    const HybridAssembly& assembly() const { return *assembly_; }
    // ‖a_H − a_F‖² over masses, kg m²/s⁴, and the error by the measure of the limits.
    double distance() const { return distance_; }
    double error() const;
    // What the acceleration of a point of a body, in its frame, is off from that with all joints free, at most:
    // |δa| ≤ ‖a_H − a_F‖ Φ^½, Φ the largest mobility of the point. After `evaluate`, of the measure of masses.
    double point_error(int body, const Vec3& point);
    // The largest acceleration of a point by a unit force there, with all joints free; turns: of its body by a moment.
    double mobility(int body, const Vec3& point, bool turns);
    double largest_error() const { return largest_error_; }  // of the steps taken
    double lost_energy() const { return lost_; }
    long steps() const { return steps_; }
    double mean_free() const;  // joints, over the steps taken
    long decisions() const { return decisions_; }
    const std::vector<int>& free() const { return free_; }  // links
    // Along S, per freedom of the linkage; of locked joints zero.
    const std::vector<double>& speeds() const { return u_; }
    const std::vector<double>& accelerations() const { return rates_; }
    double kinetic_energy() const { return assembly_->kinetic_energy(); }
    // Poses, twists and accelerations of all bodies, as records; that of the ground is left as it is.
    void motions(double* x, double* u, double* udot) const;
    Place pose(int body) const;  // of a body's principal frame

  private:
    void build(TreeShape shape);
    void read(double t, const double* poses, const double* twists, bool all_free);
    std::pair<double, double> digits_lost(double t, const double* poses, const double* twists) const;
    void place(int link);
    void follow();
    void move_places();
    StepFacts facts() const;
    void evaluate_held();
    double allowed() const;  // of the distance
    int room() const;
    double stop(const std::vector<int>& links);
    void lock_those();
    void lock_cheapest(double share, int count, bool swaps);
    void release();
    bool is_finite() const;  // accelerations of free joints
    void take_step(double h, Method method);
    void step_symplectic(double h);
    void step_at_rest(double h);
    void step_runge_kutta(double h);

    const std::shared_ptr<const Model> model_;
    std::shared_ptr<const Linkage> linkage_;
    std::unique_ptr<HybridAssembly> assembly_;
    std::unique_ptr<LinkageForces> forces_;
    std::unique_ptr<MoveRecorder> recorder_;
    AdaptiveLimits limits_;
    double time_ = 0.0, mass_ = 0.0, distance_ = 0.0, whole_ = 0.0;  // distances: of H, and where no joint accelerates
    double rounding_ = 0.0;                                          // of the norm of all accelerations, by joins
    double lock_share_ = 0.0;
    double lost_ = 0.0, budget_ = 0.0, largest_error_ = 0.0;
    long steps_ = 0, decisions_ = 0;
    double free_steps_ = 0.0;          // joints that were free, summed over the steps
    double step_ = 0.0, since_ = 0.0;  // of the last steps, which are equally long; the time before them
    long equal_ = 0;                   // their number
    int unreleased_ = 0;               // joints that hang on nothing, which are always free
    std::vector<double> q_, u_, rates_, stopped_;
    std::vector<double> q0_, u0_, dq_, du_;  // of a step in stages, by the free links one after another
    std::vector<int> free_;                  // links
    std::vector<std::pair<double, int>> costs_;
    std::vector<int> changing_;
    std::vector<std::uint8_t> has_moved_;  // per link
    std::vector<int> moved_;               // links
    int every_ = 0;
};

}  // namespace bellcrank
