// What formulations in joint coordinates share: states, projection onto the rows that the tree leaves, reactions, and
// the record of a frame. A formulation says where the bodies are, and solves for accelerations and corrections.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "closing/implicit_rows.hpp"
#include "closing/projector.hpp"
#include "model/constraint_rows.hpp"
#include "trees/joint_coordinates.hpp"
#include "trees/tree_reactions.hpp"

namespace bellcrank {

struct JointSystemOptions : ClosingOptions {
    std::vector<int> cut;

    BELLCRANK_MORE_FIELDS(JointSystemOptions, ClosingOptions,
                          (cut, "", "Blocks of joints that are left out of the tree."))
};

// A model's tree in the coordinates of a formulation.
struct JointSpace {
    std::vector<JointMap> joints;  // parents first
    int coordinates = 0, speeds = 0;
    std::vector<int> closing_rows;    // of the model: met by multipliers, those of stops last
    std::vector<int> rotor_rows;      // of the model, with compliance: met by masses
    std::vector<int> derived_angles;  // of the model: those that follow from the coordinates by follow_derived_angles()
};

// Throws std::invalid_argument with all reasons why a model cannot be taken, if there are any.
void refuse(const std::vector<std::string>& reasons);

// A configuration holds the coordinates of the tree's joints, a ball's as a unit quaternion; a velocity their speeds, a
// ball's as the angular velocity in its link's axes. The chart about a configuration turns a ball by a rotation vector
// (trees/joint_coordinates.hpp).
class JointSystem : public Projected<System> {
  public:
    int configuration_size() const final { return joints_.coordinates(); }
    int tangent_size() const final { return joints_.speeds(); }
    void retract(const double* x0, const double* xi, double* out) const final { joints_.retract(x0, xi, out); }
    void displacement(const double* x0, const double* x1, double* xi) const final { joints_.displacement(x0, x1, xi); }
    void chart_rate(const double* xi, const double* u, double* rate) const final { joints_.chart_rate(xi, u, rate); }
    void chart_velocity(const double* xi, const double* rate, double* u) const final {
        joints_.chart_velocity(xi, rate, u);
    }
    void chart_acceleration(const double* xi, const double* rate, const double* udot, double* out) const final {
        joints_.chart_acceleration(xi, rate, udot, out);
    }
    void add_frame_rates(const double* xi, const double* u, double* udot) const final {
        joints_.add_frame_rates(xi, u, udot);
    }
    bool has_frames_of_ways() const final { return joints_.has_frames_of_ways(); }
    void change_frames(const double* x0, const double* x1, int lanes, double* v) const final {
        joints_.change_frames(x0, x1, lanes, v);
    }
    void add_turning(const double* xi, const double* u, double sign, const double* dx, const double* du, int lanes,
                     double* of_dx, double* of_du) final {
        joints_.add_turning(xi, u, sign, dx, du, lanes, of_dx, of_du);
    }
    void add_bending(const double* u, const double* dx, int lanes, double* of_du) final {
        joints_.add_bending(u, dx, lanes, of_du);
    }
    void retract_along(double h, const double* x0, const double* velocity, int degree, int stride,
                       double* out) const final {
        joints_.retract_along(h, x0, velocity, degree, stride, out);
    }
    bool has_flat_charts() const final { return joints_.is_flat(); }
    bool turns(int component) const final { return joints_.turns(component); }
    void accelerate(double t, const double* x, const double* u, double* udot) final;
    void project_stage(double t, double* x, double* u) final { close_stage(t, x, u); }
    bool project(double t, double* x, double* u) final { return move_onto_rows(t, x, u); }
    void commit(double t, const double* x, const double* u) final;
    bool take_doubtful_moment(Moment& out) final;
    double longest_step(const double* x, const double* u, double h) override;
    double position_noise(const double* x) const final;
    int worst_row() const final { return worst_row_; }
    int first_non_finite_body(const double* x, const double* u) const final {
        return joints_.first_non_finite_body(x, u);
    }

    void linearize(double t, const double* x, const double* u, double gamma, bool renew) override;
    void correct(double t, const double* x, const double* u, const double* rate, double gamma, double* delta) override;
    void solve_linearized(const double* r, double* out) override;
    double damping_part(const double* v) override;

    // Model rows that are met by multipliers, those of stops last; all others hold by the choice of coordinates.
    const std::vector<int>& closing_rows() const { return closing_rows_; }

    // What the tree's joints do not allow is left out.
    void from_records(double t, const double* poses, const double* twists, bool continued, double* x,
                      double* u) override;
    // Of closing rows, dropped rows among them, which contradict others where they are not met, and of driven
    // coordinates; of stops how deep they are penetrated.
    void violation(double t, const double* x, const double* u, double* position, double* velocity) final;
    Scenery scenery(double t, const double* x, const double* u) final;
    void set_angles(double* x, const double* values) final;
    // Stops push all the same, and those that something lies on without pushing may take a share.
    void multipliers(double t, const double* x, const double* u, const double* udot, double* out) final;
    bool determines(int row) const final { return reactions_.loads().determines(row); }
    void reactions(const double* x, const std::vector<Observation::Reaction>& which,
                   std::vector<ReactionWrench>& out) final;

  protected:
    JointSystem(const char* name, std::shared_ptr<const Model> model, const JointSystemOptions& options,
                JointSpace space);

    void to_records(double t, const double* x, const double* u, double* poses, double* twists);
    // Writes the records of the bodies, and of the ground; of q and −q either.
    virtual void place_bodies(double t, const double* x, const double* u, double* poses, double* twists) = 0;

    // Branches of JointSpace::derived_angles to where the coordinates are.
    virtual void follow_derived_angles(double, const double*) {}

    // u̇ with the stops that are active in the equations.
    virtual void accelerate_held(double t, const double* x, const double* u, double* udot) = 0;
    // Of the last solution, before multipliers of least norm are sought.
    virtual double multiplier(size_t closing_row) const = 0;

    // Makes the closing rows ready at (x, u), and factors them with trusted_pivot_.
    virtual void factor_at(double t, const double* x, const double* u) = 0;
    virtual void factor() = 0;
    // errors_ = C at x, after factor_at(), or Ċ at (x, u), after find_errors() there; 0 for rows with compliance, of no
    // meaning for those left out.
    virtual void find_errors(double t, const double* x) = 0;
    virtual void find_row_rates(double t, const double* x, const double* u) = 0;
    virtual bool is_dropped(size_t closing_row) const = 0;
    // The displacement, or change of velocity, of least kinetic energy that takes errors_ away.
    virtual const double* step() = 0;

    // That solution with more efforts along the rows of stops: added to u̇; multipliers of closing rows and rotors, and
    // accelerations of the bodies, records, that come with them are told. False where digits are short.
    virtual bool respond(const std::vector<double>& /* efforts */, double* /* udot */,
                         std::vector<double>& /* multipliers */, double* /* rates */) {
        return false;
    }

    // Told in reactions_.loads().multipliers: multipliers of closing rows and rotors after accelerate(), then those of
    // the tree.
    virtual void solve_multipliers(double t, const double* x, const double* u, const double* udot) = 0;
    // The first step of that.
    void load_reactions(double t, const double* x, const double* u, const double* udot);

    // Of the model: those that hold whatever the forces, stops apart.
    std::vector<int> rigid_rows() const;

    const std::vector<int>& derived_angles() const { return derived_angles_; }

    // Makes find_errors() ready without factors.
    virtual void evaluate_rows(double, const double*, const double*) {}
    // Of driven coordinates: to the largest errors.
    virtual void add_violation_of_drives(double, const double*, const double*, double*, double*) {}

    size_t loops() const { return closing_rows_.size() - stops_.rows().size(); }  // closing rows that are no stops
    // Whether no closing row is in the equations.
    bool is_open() const { return loops() == 0 && !is_stopped(); }
    // Whether some stop pushes.
    bool is_stopped() const { return stops_.pushing() != 0; }
    // Whether a closing row is left out just now: that of an open stop, and one that holds velocities alone where
    // positions are corrected.
    bool is_left_out(size_t row) const {
        return row >= loops() ? !stops_.active()[row - loops()] : positions_alone_ && of_velocity_[row];
    }

    bool has_velocity_rows() const final { return !of_velocity_.empty(); }
    void leave_out_velocity_rows(bool out, double t, const double* x) final;

    const JointCoordinates joints_;
    TreeReactions reactions_;
    bool by_basis_ = false;  // whether solve_multipliers() ended with RowLoads::share_by_basis()
    int worst_row_ = -1;
    std::vector<double> errors_;                  // of closing rows
    std::vector<double> poses_, twists_, rates_;  // records

  private:
    void prepare(double t, const double* x);
    void ignore_left_out();

    bool has_rows() const final { return !closing_rows_.empty(); }
    void begin_closing(double, const double*) final { prepared_.clear(); }
    bool begin_stage(double t, const double* x, const double* u) final;
    bool begin_corrections(double t, const double* x) final;
    bool evaluate(double t, const double* x, bool last) final;
    const double* displacement() final { return step(); }
    double sharpness() const final;
    void refactor() final { factor(); }
    double largest_error(bool dropped) final;
    bool dropped_rates_within(double limit) final;
    void find_rates(double t, const double* x, const double* u) final;
    double correct_rates(double t, const double* x, double* u) final;
    double largest_jump(double t, const double* x, const double* u) final;
    bool drops_stop(int stop) const final { return is_dropped(loops() + stop); }
    double push_off(double t, const double* x, int stop, double* change) final;
    double effort_of_stop(int stop) const final { return stops_.active()[stop] ? multiplier(loops() + stop) : 0.0; }
    int redundant_at(double t, const double* x) final;
    void accelerate_with_stops(double t, const double* x, const double* u, double* udot);
    double gather_forces();
    void share_loads(double t, const double* x, const double* u, const double* udot);
    RowLoads& loads_at(double t, const double* x, const double* u, const double* udot) final;
    bool add_efforts(const std::vector<double>& efforts, double* udot) final;

    bool linearizes_by_rows() const;
    void to_twists(const double* speeds);
    void to_speeds(double* speeds);

    void note_doubtful(double t, const double* x, const double* u);
    void judge_dropped_rows(double t, const double* x, const double* u, double* udot);
    void follow_angles(const double* x);
    Quat nearest_sign(int body, const Quat& q);

    const std::vector<int> closing_rows_, derived_angles_;
    ConstraintRows stop_rows_;
    std::vector<int> other_angles_;          // that are followed from step to step
    std::vector<std::uint8_t> of_velocity_;  // per closing row: holds velocities alone; empty if none does
    bool positions_alone_ = false;
    double followed_at_ = 0.0;
    std::vector<double> residuals_;  // of stop_rows_
    // Whether loads are those of the last acceleration; whether they change in proportion to what closing rows exert.
    bool knows_loads_ = false, shares_linearly_ = false;
    std::vector<double> more_multipliers_, more_rates_;  // by row of the model; records
    std::vector<std::uint8_t> is_driven_;                // per closing row: follows a function of time
    std::vector<double> other_udot_;                     // with rows that were dropped
    const bool is_uneven_;                               // whether bodies differ so much that digits may be short
    double last_largest_ = 0.0;                          // acceleration of a coordinate
    double doubt_ = 0.0;                                 // at doubtful_
    Moment doubtful_;
    std::vector<std::uint8_t> prepared_;      // stops that were active at the last prepare(); empty: x was another
    std::vector<Quat> last_rotation_;         // of each body
    std::unique_ptr<ImplicitRows> implicit_;  // of implicit methods only, and all that follows
    std::vector<std::uint8_t> held_stops_;    // per row of the model
    std::vector<double> still_, along_, solved_, row_defect_, other_poses_, read_speeds_, read_coordinates_;
    std::vector<double> linearized_at_;
    double linearized_time_ = 0.0;
};

}  // namespace bellcrank
