// What the rest of the library needs of a formulation, in ports: each says who calls it. A formulation implements what
// it can; a port without an implementation refuses by the formulation's name.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <vector>

#include "model/forces.hpp"
#include "model/observation.hpp"
#include "spatial/fields.hpp"

namespace bellcrank {

// Thrown where a formulation does not implement what was called.
class Refusal : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

class Port {
  public:
    virtual const char* name() const = 0;  // of the formulation

  protected:
    ~Port() = default;
    [[noreturn]] void refuse(const char* what) const;
};

// For everyone. A configuration is a point of a manifold (size doubles), a velocity a vector of the tangent space
// (tangent doubles); the chart about a configuration x0 is ξ ↦ retract(x0, ξ).
class Manifold : public Port {
  public:
    virtual int configuration_size() const = 0;
    virtual int tangent_size() const = 0;
    // Components of a velocity that are no padding.
    virtual int velocity_components() const { return tangent_size(); }
    // Whether a component of a velocity is that of an angle [rad/s], not of a length [m/s].
    virtual bool turns(int) const { return false; }

    // Where all velocities and accelerations stay in the same subspace, as in a plane, their coordinates there by an
    // orthonormal basis are enough to know: free components. By default they are all components.
    virtual int free_components() const { return tangent_size(); }
    virtual void compress(const double* u, double* components) const { std::copy_n(u, tangent_size(), components); }
    virtual void expand(const double* components, double* u) const { std::copy_n(components, tangent_size(), u); }
    // Whether ξ̇ = u in all charts, for velocities of that subspace: then a displacement is the integral of a velocity.
    // It is so where there are fewer free components than components.
    virtual bool has_flat_charts() const { return false; }

    // out = x0 ⊕ ξ; out may be x0.
    virtual void retract(const double* x0, const double* xi, double* out) const = 0;
    // The ξ of least size with x1 = x0 ⊕ ξ, of configurations that are close to each other.
    virtual void displacement(const double* /* x0 */, const double* /* x1 */, double* /* ξ */) const {
        refuse("differences of configurations");
    }
    // ξ̇ at x0 ⊕ ξ for velocity u.
    virtual void chart_rate(const double*, const double*, double*) const { refuse("rates in charts"); }
    // The velocity u at x0 ⊕ ξ for the rate ξ̇, and ξ̈ for the acceleration u̇ there.
    virtual void chart_velocity(const double*, const double*, double*) const { refuse("velocities in charts"); }
    virtual void chart_acceleration(const double*, const double*, const double*, double*) const {
        refuse("accelerations in charts");
    }
    // Adds to u̇ at x0 ⊕ ξ what makes it the rate of the components that a velocity has in the chart. There is such a
    // part where the frames that these belong to depend on the way by which a configuration was reached, as those of
    // joints do that bend but do not turn about one axis.
    virtual void add_frame_rates(const double*, const double*, double*) const {}
    // Whether there is such a part.
    virtual bool has_frames_of_ways() const { return false; }
    // Components v of velocities at x0 become those at x1, the same configuration reached on another way; of as many
    // velocities side by side as there are lanes.
    virtual void change_frames(const double* /* x0 */, const double* /* x1 */, int /* lanes */, double* /* v */) const {
    }
    // out = where x0 gets to in the time h with the velocity Σ θʲ U_j at θh, j = 0 … degree; U_j lie one after another,
    // `stride` doubles apart. h may be negative. out must not be x0.
    virtual void retract_along(double, const double*, const double*, int, int, double*) const {
        refuse("ways of polynomial velocity");
    }
};

// What a formulation has counted, and what its last factorization found.
struct Statistics {
    std::int64_t evaluations = 0;  // accelerations, or what is left of the equations of motion at given ones
    std::int64_t factorizations = 0;
    std::int64_t corrections = 0;             // position corrections
    std::int64_t linearizations = 0;          // for implicit methods
    std::int64_t difference_evaluations = 0;  // of the evaluations, those for differences in these
    std::int64_t impacts = 0;
    int closed_stops = 0;          // that push, at the last acceleration
    int dropped_rows = 0;          // redundant or singular rows at the last factorization
    double smallest_pivot = 1.0;   // relative, of the rows kept then
    double largest_dropped = 0.0;  // the same of those dropped, where a formulation finds it
    double smallest_inertia =
        1.0;                   // pivot of the joints' mass matrix then, by its diagonal entry: below, digits are lost
    std::int64_t precise = 0;  // accelerations in twice the digits
    // What the rounding of the rows alone made of an acceleration that was, the most so far, relative to the largest.
    double uncertainty = 0.0;

    BELLCRANK_FIELDS(Statistics, (evaluations), (factorizations), (corrections), (linearizations),
                     (difference_evaluations), (impacts), (dropped_rows), (smallest_pivot), (smallest_inertia),
                     (precise), (uncertainty))
};

// For methods that integrate equations of motion, on their manifold.
class Dynamics : public Manifold {
  public:
    virtual void accelerate(double, const double*, const double*, double*) { refuse("accelerations"); }
    const Statistics& statistics() const { return statistics_; }

  protected:
    Statistics statistics_;
};

// For loops over time: what bounds a step, and where one ends.
class Steps : public Port {
  public:
    // Accepts (t, x, u) as the end of a step: branches of angles are followed from here.
    virtual void commit(double t, const double* x, const double* u) = 0;
    // The part of a step of length h from (x, u) within which no angle can turn too far to be followed.
    virtual double longest_step(const double* x, const double* u, double h) = 0;
    // Appends the times between two times, neither included, at which functions of time or their first two derivatives
    // jump.
    virtual void break_times(double from, double to, std::vector<double>& out) const = 0;
    // A direction that rows are made of goes over its pole (branches.hpp); whether the formulation can.
    virtual void turn_over(int coordinate) = 0;
    virtual bool passes_poles() const { return true; }
};

// For all that keep states on the constraints: methods that take steps, searches, kinematics.
class Projection : public Port {
  public:
    // Moves (x, u) onto the constraints at t: positions, then velocities (impacts included). False if the constraints
    // cannot be met; then worst_row() says where.
    virtual bool project(double, double*, double*) { refuse("projections onto the constraints"); }
    // The same at the end of a step, one of many of a length.
    virtual bool project_step(double t, double* x, double* u) { return project(t, x, u); }
    // Brings a stage of a method onto the constraints, to a looser tolerance than project() and without impacts. Off
    // them, accelerations near a singular configuration mean nothing.
    virtual void project_stage(double t, double* x, double* u) { project(t, x, u); }
    // The same after accelerate() at a prediction, for a method that takes this acceleration only to find the end of
    // the step, where it is taken again: it can bear some error. True if the state was moved, and the acceleration is
    // to be taken again.
    virtual bool project_prediction(double, double*, double*) { return false; }
    // x = near ⊕ ξ, then (x, u) as project() leaves them, and their acceleration. `near` is the configuration of the
    // last accelerate() at the same time; what that has factored may serve here as well. ξ is used up.
    virtual bool finish_step(double t, const double* near, double* xi, double* x, double* u, double* udot) = 0;
    // What positions of states on the constraints differ by, at random, beyond the last place of their numbers.
    virtual double position_noise(const double*) const { return 0.0; }
    // For messages: the model row with the largest error at the last projection, −1 without rows.
    virtual int worst_row() const { return -1; }
};

// For implicit methods, which solve u̇(t, x ⊕ γ δ, u + δ) = rate + δ/γ for δ by Newton's method.
class Implicit : public Port {
  public:
    // Makes ready for corrections by I − γ ∂u̇/∂u − γ² ∂u̇/∂x near (t, x, u), which serve while that changes little.
    // Where only γ is another, `renew` is false and derivatives may be kept. By default they are dense, and differences
    // where a formulation or a part of the model has none.
    virtual void linearize(double t, const double* x, const double* u, double gamma, bool renew) = 0;
    // Finds the next δ from what the equations leave at (x, u).
    virtual void correct(double t, const double* x, const double* u, const double* rate, double gamma,
                         double* delta) = 0;
    // (I − γ ∂u̇/∂u − γ² ∂u̇/∂x)⁻¹ r by what linearize() has made ready, within the constraints.
    virtual void solve_linearized(const double* r, double* out) = 0;
    // Along a vector, the part of −γ ∂u̇/∂u in −γ ∂u̇/∂u − γ² ∂u̇/∂x: 0 where nothing damps.
    virtual double damping_part(const double* v) = 0;
    // Before the corrections of a step: whether they are to meet rows in accelerations, as stages must that are less
    // accurate than the end, or may in velocities.
    virtual void meet_accelerations(bool) {}
    // Whether linearize() costs no more than accelerate() does, and pays at every step.
    virtual bool linearizes_cheaply() const { return false; }
    // Does as project() for (x, u) that correct() has brought there: what linearize() has factored may serve here as
    // well.
    virtual bool finish_corrected_step(double t, double* x, double* u) = 0;
};

// What became of a step by impulses.
struct ImpulseOutcome {
    bool constraints_met = true;
    bool found = true;         // impulses within the tolerance
    double residual = 0.0;     // that they leave, a part of the largest speed (docs/theory/cones.md)
    double penetration = 0.0;  // of contacts, the deepest [m]
    int row = -1;              // where it is largest: in a row of the model, or between two bodies
    std::array<int, 2> between{-1, -1};
    int impacts = 0;         // points and limits that were hit
    int weakened = 0;        // how often restitution was reduced, for it would have gained energy
    int halved = 0;          // steps and parts of steps that were taken in halves
    int factorizations = 0;  // of problems of impulses
    double lost_to_impacts = 0.0, lost_to_friction = 0.0;  // energy that contacts and limits have taken [J]
    double coarseness = 0.0;  // energy that is none of the motion: what forces make of rest in a step, and over what
                              // positions are wrong by [J]

    // Another step besides, both of which have met and found what they should.
    void add(const ImpulseOutcome& other) {
        residual = std::max(residual, other.residual);
        penetration = std::max(penetration, other.penetration);
        impacts += other.impacts;
        weakened += other.weakened;
        halved += other.halved;
        lost_to_impacts += other.lost_to_impacts;
        lost_to_friction += other.lost_to_friction;
        coarseness = std::max(coarseness, other.coarseness);
    }

    BELLCRANK_FIELDS(ImpulseOutcome, (residual), (impacts), (penetration, "m"), (weakened), (halved),
                     (lost_to_impacts, "J"), (lost_to_friction, "J"), (between))
};

// Where the first of two bodies, the ground being the last, is struck by the second: world axes, the normal from the
// second to the first.
struct StruckPoint {
    std::array<int, 2> bodies;
    Vec3 position, normal;
    double friction, restitution;
    bool by_impulse;  // Poisson's restitution instead of Newton's
    BELLCRANK_FIELDS(StruckPoint, (bodies), (position, "m"), (normal), (friction), (restitution), (by_impulse))
};
// A given impulse on a body [N s], world axes.
struct Blow {
    int body;
    Vec3 position, impulse;
    BELLCRANK_FIELDS(Blow, (body), (position, "m"), (impulse, "N s"))
};

// For methods that step by impulses, with rigid contacts, and for those who strike a mechanism.
class Impulses : public Port {
  public:
    // Steps from (t, x, u) to (t + h, x1, u1), on the constraints.
    virtual ImpulseOutcome step_by_impulses(double, double, const double*, const double*, double, double*, double*) {
        refuse("steps by impulses");
    }
    // u becomes the velocity after blows, and impulses at points, all at once; the latter on the first bodies, world
    // axes.
    virtual ImpulseOutcome strike(double, const double*, const std::vector<Blow>&, const std::vector<StruckPoint>&,
                                  double, double*, std::vector<Vec3>&) {
        refuse("impulses at points");
    }
};

// Dry friction whose load grows faster than itself: no acceleration satisfies its law, −1: none is known to. part: up
// to which part of its coefficient one would.
struct FrictionJam {
    int law = -1;
    double part = 0.0;
};

// How much of its limits dry friction uses that holds all that rests, at the share of loads for which that is least: of
// all of every limit; of the part that does not grow with loads, beside all of the other. Infinite: however large they
// were, they would not do.
struct FrictionUse {
    double of_all = 0.0, of_constant = 0.0;
};

// Friction whose load depends on how these rows share what they bear, with no friction among them that holds.
struct SharedFriction {
    int law;
    std::vector<int> rows;  // of the model
};

// For those who find when stops are met: project() leaves those alone that are open at watch_stops(), until
// meet_stops() or the next watch_stops(). gaps() are those of all stops, positive for those not watched,
// and their rates.
class StopWatch : public Port {
  public:
    // A formulation without stops refuses models that have them.
    virtual int stops() const = 0;
    virtual int row_of_stop(int) const { refuse("stops"); }  // of the model
    // Whether it is closed and not being left at the last acceleration, whether it pushes or not.
    virtual bool is_touched(int) const { refuse("stops"); }
    virtual void watch_stops(double, const double*, const double*) {}
    virtual void meet_stops() {}
    virtual void gaps(double, const double*, const double*, double*, double*) {}
    // The part of the step from the last state that was accepted to this one, at which the first stop that is watched
    // is met; above 1 if none is (Stops::first_met()).
    virtual double first_met(double, const double*, const double*) { return 2.0; }

    // Dry friction holds or slips as it was settled last, whatever the motion. Settles it for the motion that begins
    // here: what holds comes to rest. changed: the stop whose hold or slip has just ended,
    // −1: none. slow: a speed that may be an
    // error of the method. False if no states agree with the accelerations.
    virtual bool has_friction() const { return false; }
    virtual bool is_friction(int) const { return false; }
    virtual bool is_holding(int) const { return false; }
    virtual double friction_sense(int) const { return 0.0; }  // of the speed at which it slips
    virtual bool settle_friction(double, double*, double*, int /* changed */, double /* slow */) { return true; }
    virtual int slip_met() const { return -1; }              // the stop whose slip ended first, at the last first_met()
    virtual FrictionJam friction_jam() const { return {}; }  // at the last acceleration
    // Lets friction hold all that rests, whatever that takes, until it is settled again.
    virtual FrictionUse friction_use(double, double*, double*) { return {}; }
    // Lets none hold, until it is settled again.
    virtual std::vector<SharedFriction> shared_friction(double, double*, double*) { return {}; }
    // By which factor the coefficients of what slips could grow before it jams; infinite where it never does. NaN:
    // nothing slips whose friction grows with loads.
    virtual double jam_margin(double, const double*, const double*) { return std::numeric_limits<double>::quiet_NaN(); }
    // Whether a step from one state to another leads over speeds at which friction changes fast, with no stage there.
    virtual bool leaps_over(double, const double*, const double*, double, const double*, const double*) {
        return false;
    }
    // Where these of friction become negative, it is to be settled anew; of other stops nothing is said. What holds is
    // judged by an acceleration, where that is asked for.
    virtual void friction_margins(double, const double*, const double*, bool /* accelerates */, double*) {}
};

class ModelTangent;
class ModelGradient;
struct NumberPlace;

// For those who differentiate, after accelerate() at (t, x, u) has found u̇. Directions are followed four side by side:
// the changes of a number stand together (spatial/dual.hpp, docs/theory/derivatives.md).
class Derivatives : public Port {
  public:
    // Changes of time, of the state as tangent vectors, and of the model's numbers. Null: they stay.
    struct Directions {
        const double *t = nullptr, *x = nullptr, *u = nullptr;
        const ModelTangent* numbers = nullptr;
    };
    struct Gradient {
        double t = 0.0;
        std::vector<double> x{}, u{}, udot{};  // tangent vectors; the last only where measures depend on accelerations
    };
    // Changes dx and du of the state to those along which the rows hold, by the least that does it; x and u of the
    // directions do not count. left: the largest change of a row that this leaves, for each direction.
    virtual void close_directions(double, const double*, const double*, const Directions&, double* /* dx */,
                                  double* /* du */, double* /* left */) {
        refuse("derivatives");
    }
    // The changes of u̇, a tangent vector, and of the multipliers, by row of the model, along directions that are
    // closed. Multipliers may be null: they are not asked for.
    virtual void tangent(double, const double*, const double*, const double*, const Directions&, double* /* du̇ */,
                         double* /* dλ */) {
        refuse("derivatives");
    }
    // The gradient of Σ seed · change of what close_directions() makes of directions, one tangent vector of seeds each
    // for dx and du: by dx and du as they were, by time and numbers. by_numbers is added to.
    virtual void close_adjoint(double, const double*, const double*, const double* /* of dx */,
                               const double* /* of du */, const std::vector<NumberPlace>&, Gradient&, ModelGradient&) {
        refuse("derivatives");
    }
    // How the bodies move along directions, where u̇ changes by `rates`: records (spatial/body_state.hpp) of
    // displacements of points that are centres of mass, of changes of their velocities and accelerations.
    virtual void body_directions(double, const double*, const double*, const double*, const Directions&,
                                 const double* /* rates */, double*, double*, double*) {
        refuse("derivatives");
    }
    // The gradient of Σ seed · change of what tangent() finds: a tangent vector of seeds, and one by row of the model.
    virtual void adjoint(double, const double*, const double*, const double*, const double* /* of u̇ */,
                         const double* /* of λ */, const std::vector<NumberPlace>&, Gradient&, ModelGradient&) {
        refuse("derivatives");
    }

    // Of a state that moves, at x0 ⊕ ζ with the velocity u, changes dx and du in axes that turn by ω have the rates du
    // − ω × dx and δu̇ − ω × du, as far as these axes are theirs: adds `sign` times the parts with ω, of as many
    // directions side by side as there are lanes.
    virtual void add_turning(const double* /* ζ */, const double* /* u */, double /* sign */, const double* /* dx */,
                             const double* /* du */, int /* lanes */, double* /* of dx */, double* /* of du */) {
        refuse("derivatives of runs");
    }
    // Adds to the rates of du what makes them those of components in frames that dx bends, where frames depend on the
    // way; a symmetric map.
    virtual void add_bending(const double* /* u */, const double* /* dx */, int /* lanes */, double* /* of du */) {}

    // Values of coordinates, their rates and second rates, by coordinate of the model; what rows are off; and the
    // frames of bodies (tangents/frame_motion.hpp), where these are asked for.
    struct Measured {
        std::vector<double> coordinates[3], rows, frames;
        bool of_frames = false;
    };
    // Along directions, and changes of the accelerations.
    virtual void measure_tangent(double, const double*, const double*, const double*, const Directions&,
                                 const double* /* du̇ */, Measured&) {
        refuse("derivatives of measures");
    }
    // The gradient of Σ seed · change of them, of accelerations too. Empty: no seeds.
    virtual void measure_adjoint(double, const double*, const double*, const double*, const Measured& /* seeds */,
                                 const std::vector<NumberPlace>&, Gradient&, ModelGradient&) {
        refuse("derivatives of measures");
    }

    // After project() has found an impact, by which u became u1: changes of u become those of u1.
    virtual void impact_tangent(double, const double*, const double* /* u */, const double* /* u1 */, const Directions&,
                                double* /* du1 */) {
        refuse("derivatives of impacts");
    }
    virtual void impact_adjoint(double, const double*, const double* /* u */, const double* /* u1 */,
                                const double* /* of u1 */, const std::vector<NumberPlace>&, Gradient&, ModelGradient&) {
        refuse("derivatives of impacts");
    }
};

struct ReactionWrench {
    double wrench[6];  // moment, force
    bool unique[2];
};

// For recorders and for those who want answers at a state. Records are those of spatial/body_state.hpp, of all bodies
// and the ground.
class Record : public Port {
  public:
    virtual const Model& model() const = 0;
    virtual Contacts& contacts() = 0;
    // The state of the bodies; angles are continued from where they were, or start as model/branches.hpp says.
    virtual void from_records(double t, const double* poses, const double* twists, bool continued, double* x,
                              double* u) = 0;
    // Poses and twists of the bodies; they are valid until the next call.
    virtual Scenery scenery(double t, const double* x, const double* u) = 0;
    virtual void body_accelerations(double t, const double* x, const double* u, const double* udot,
                                    double* records) = 0;
    // Every angle to its branch nearest to the value given for its coordinate.
    virtual void set_angles(double* x, const double* values) = 0;
    // The first body whose state is not finite, −1 if all are.
    virtual int first_non_finite_body(const double* x, const double* u) const = 0;

    // After accelerate(): multipliers by model row, M u̇ = f + Jᵀ λ, of least norm where rows are redundant.
    virtual void multipliers(double, const double*, const double*, const double*, double*) { refuse("multipliers"); }
    // After multipliers(): whether the equations of motion determine a row's; wrenches of reactions.
    virtual bool determines(int) const { refuse("multipliers"); }
    virtual void reactions(const double*, const std::vector<Observation::Reaction>&, std::vector<ReactionWrench>&) {
        refuse("reactions");
    }
    // Model rows found redundant or singular at the last factorization.
    virtual std::vector<int> dropped_rows() { return {}; }
    // Largest |C| and |Ċ| over the rows that hold.
    virtual void violation(double, const double*, const double*, double*, double*) { refuse("errors of constraints"); }

    // A frame, as FrameLayout has it, and its doubles. measure(): its first part alone, up to the coordinates' rates.
    virtual void observe(double t, const double* x, const double* u, const Observation& what, double* out) = 0;
    int observation_size(const Observation& what) const;
    void measure(double t, const double* x, const double* u, const Observation& what, double* out);
    virtual Energy energy_at(double t, const double* x, const double* u) = 0;
};

// The ports of one formulation side by side, for whoever puts together a run and hands each part what it needs.
struct Ports {
    Dynamics& dynamics;
    Steps& steps;
    Projection& projection;
    Implicit& implicit;
    Impulses& impulses;
    StopWatch& stops;
    Record& record;
    Derivatives& derivatives;
};

}  // namespace bellcrank
