// Motion with inertia of a linkage of which few joints are free (docs/theory/adaptive.md, adaptive dynamics): free
// joints move, locked ones stand still, and the error of that is known. S. Redon, N. Galoppo and M. Lin, Adaptive
// Dynamics of Articulated Bodies (2005), choose joints by how much they move; here Gauss' principle tells what each of
// them matters.
#pragma once

#include <limits>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "adaptive/hybrid_assembly.hpp"
#include "adaptive/linkage_forces.hpp"
#include "adaptive/linkage_stops.hpp"
#include "adaptive/moves.hpp"
#include "impulses/stop_impact.hpp"

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

// How far the acceleration of a point of a body, in the body's frame, may be from that with all joints free, m/s².
struct OutputLimit {
    int body;
    Vec3 point;
    double error;
};

class AdaptiveDynamics {
  public:
    // Throws std::invalid_argument with all reasons if the model cannot be taken.
    explicit AdaptiveDynamics(std::shared_ptr<const Model> model, TreeShape shape = TreeShape::balanced);
    static std::vector<Obstacle> obstacles(const Model& model);

    // Where the bodies are and how they move (records of spatial/body_state.hpp). Joints that move are
    // free, and those that matter.
    void start(double t, const double* poses, const double* twists, const double* angles = nullptr);
    // What contacts remember where it starts next.
    void remember(std::vector<ContactMemory> memory) { memory_ = std::move(memory); }
    std::vector<ContactMemory> contact_memory() const { return forces_->memory(); }
    // At the start it decides too how many digits joins have to keep.
    void limit(const AdaptiveLimits& limits) { limits_ = limits; }
    // Besides, errors of points that one looks at. They are known, not only bounded: both accelerations are found along
    // the path to each.
    void limit_outputs(std::vector<OutputLimit> outputs);
    const std::vector<OutputLimit>& outputs() const { return outputs_; }
    const std::vector<double>& output_errors() const { return output_errors_; }                  // after `evaluate`
    const std::vector<double>& largest_output_errors() const { return largest_output_errors_; }  // of the steps taken

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

    // Inputs of the model, which nobody else has, take other values. Speeds that drives prescribe by them jump, and
    // those of all joints with them as after an impact; what matters little is locked again.
    void set_inputs(Model& model, std::span<const double> values);
    // A coordinate of the model that is one of a joint of the tree: its value and rate. Throws std::invalid_argument
    // for others.
    std::pair<double, double> coordinate(int number) const;
    // The twist of a body's principal frame, linear part in world axes.
    Twist twist(int body);
    // A hand on a body, in its link's frame; null: it lets go.
    void pull(int body, const Hand* hand);
    // Links whose joints have moved since the last call, each once.
    std::vector<int> take_moved();

    // Records a frame now, with all joints, and after every so many steps what moved.
    void record_every(int steps);
    MoveRecord take_record() { return recorder_->take(); }

    double time() const { return time_; }
    const Model& model() const { return *model_; }
    const Linkage& linkage() const { return *linkage_; }
    const HybridAssembly& assembly() const { return *assembly_; }
    // ‖a_H − a_F‖² over masses, kg m²/s⁴, and the error by the measure of the limits.
    double distance() const { return distance_; }
    // The same where no joint accelerates, of relative limits.
    double relative_unit() const { return whole_; }
    double error() const;
    // What the acceleration of a point of a body, in its frame, is off from that with all joints free, at most:
    // |δa| ≤ ‖a_H − a_F‖ Φ^½, Φ the largest mobility of the point. After `evaluate`, of the measure of masses.
    double point_error(int body, const Vec3& point);
    // The largest acceleration of a point by a unit force there, with all joints free; turns: of its body by a moment.
    double mobility(int body, const Vec3& point, bool turns);
    double largest_error() const { return largest_error_; }  // of the steps taken
    double lost_energy() const { return lost_; }
    // Of rows of loops after the last step, m or rad; a run ends where they cannot be closed.
    static constexpr double kOpen = 1e-6;
    double loop_error() const { return loop_error_; }
    bool loops_are_closed() const { return loop_error_ <= kOpen; }
    // Kinetic energy that impacts on stops took, and how many there were.
    double impact_energy() const { return impact_energy_; }
    long impacts() const { return impacts_; }
    long steps() const { return steps_; }
    double mean_free() const;  // joints, over the steps taken
    long decisions() const { return decisions_; }
    const std::vector<int>& free() const { return free_; }  // links
    // Along S, per freedom of the linkage; of locked joints zero.
    const std::vector<double>& speeds() const { return u_; }
    const std::vector<double>& accelerations() const { return rates_; }
    // What drives exert along their coordinates at the present state, beside laws there; by Linkage::given.
    std::vector<double> drive_efforts();
    // Energies of the present state, J: of the weight from the world origin, and of springs.
    double kinetic_energy();
    double potential_energy();
    // What forces without a potential and drives have done since the start, J. With it energy and losses stay what they
    // were, but for the errors of the steps.
    double work();
    // Poses, twists and accelerations of all bodies, as records; that of the ground is left as it is.
    void motions(double* x, double* u, double* udot) const;
    Place pose(int body) const;  // of a body's principal frame

  private:
    void build(TreeShape shape);
    void read(double t, const double* poses, const double* twists, const double* angles, bool all_free);
    std::pair<double, double> digits_lost(double t, const double* poses, const double* twists,
                                          const double* angles) const;
    void place(int link);
    void drive();
    bool jump();
    double drive_effort(int number) const;
    double power() const;
    void book_spring(int link);
    void book_springs();
    const double* given_rates(int link) const { return assembly_->given_rates(link); }
    void follow();
    void commit_contacts();
    void move_places();
    void load();
    StepFacts facts();
    void evaluate_held();
    double allowed() const;  // of the distance
    double wanted() const;
    void find_output_errors();
    bool is_all_free() const;
    int room() const;
    double stop(const std::vector<int>& links);
    void lock_those();
    void lock_cheapest(double share, int count, bool swaps);
    void release();
    bool is_finite() const;  // accelerations of free joints
    void take_step(double h, Method method);
    // Stops (stopped_motion.cpp).
    void attend_stops();
    void accelerate_at_stops();
    double seek_stops();
    void judge_at_stops();
    bool move(double h, Method method, bool judged);
    bool shorten_to_stop(double h, Method method);
    void save_step();
    void restore_step();
    void put_back();
    void meet_stops(double h, bool judged);
    void strike_stops();
    bool frees_by_impact(double h, bool may_free);
    void step_symplectic(double h);
    void step_at_rest(double h);
    void step_runge_kutta(double h);
    static constexpr int kHalvings = 6;
    void take_closed_step(double h, Method method, int halvings = kHalvings);
    bool free_ways(double error);
    bool is_exact() const;
    void free_all();
    void close_loops();

    const std::shared_ptr<const Model> model_;
    std::shared_ptr<const Linkage> linkage_;
    std::unique_ptr<HybridAssembly> assembly_;
    std::unique_ptr<LinkageForces> forces_;
    std::unique_ptr<LinkageStops> stops_;
    std::unique_ptr<MoveRecorder> recorder_;
    std::vector<ContactMemory> memory_;  // at the start
    StopImpact impact_;
    double impact_energy_ = 0.0;
    long impacts_ = 0;
    std::vector<std::uint8_t> judged_;  // stops of free joints that F holds
    std::vector<std::uint8_t> pushed_;  // those that pushed before they were put back
    std::vector<HybridAssembly::JointInF> told_;
    std::vector<int> had_stops_;             // links
    std::vector<int> asked_;                 // links
    std::vector<double> saved_, responses_;  // of free joints: the start of a step; speeds that impulses make
    double begun_ = 0.0, begun_work_ = 0.0;  // time of that start, and the work done before it
    AdaptiveLimits limits_;
    double time_ = 0.0, mass_ = 0.0, distance_ = 0.0, whole_ = 0.0;  // distances: of H, and where no joint accelerates
    double rounding_ = 0.0;                                          // of the norm of all accelerations, by joins
    double lock_share_ = 0.0;
    std::vector<double> stored_;  // per link, of laws along its joint, as they were booked; and their sum
    double springs_ = 0.0, between_ = 0.0, work_ = 0.0, struck_ = 0.0;  // `between_` at the start; work of a stop
    double lost_ = 0.0, budget_ = 0.0, largest_error_ = 0.0;
    long steps_ = 0, decisions_ = 0;
    double free_steps_ = 0.0;               // joints that were free, summed over the steps
    double step_ = 0.0, since_ = 0.0;       // of the last steps, which are equally long; the time before them
    long equal_ = 0;                        // their number
    std::vector<std::uint8_t> stays_free_;  // links that hang on nothing, or have to give way
    int unreleased_ = 0;                    // their number
    std::vector<long> free_until_;          // per link: the step before which it does not lock again
    double loop_error_ = 0.0;               // of the last step
    bool is_stopped_by_loops_ = false;      // closing them took what an error of a step cannot be
    std::vector<double> q_, u_, rates_, stopped_;
    std::vector<double> q0_, u0_, dq_, du_;  // of a step in stages, by the free links one after another
    std::vector<int> free_;                  // links
    std::vector<int> driven_;                // links of which motions are given
    std::ptrdiff_t movable_ = 0;             // links that have a freedom
    std::vector<std::pair<double, int>> costs_;
    std::vector<int> changing_;
    std::vector<std::uint8_t> has_moved_;  // per link
    std::vector<int> moved_;               // links
    int every_ = 0;
    std::vector<OutputLimit> outputs_;
    std::vector<double> output_errors_, largest_output_errors_;
    double excess_ = 0.0;  // the largest error of an output, by its limit
};

}  // namespace bellcrank
