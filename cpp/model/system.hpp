// What an integrator sees of a formulation.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "model/observation.hpp"

namespace bellcrank {

struct Energy;
class Linearization;
class Model;

struct Statistics {
    std::int64_t evaluations = 0;  // accelerations, or what is left of the equations of motion at given ones
    std::int64_t factorizations = 0;
    std::int64_t corrections = 0;     // position corrections
    std::int64_t linearizations = 0;  // for implicit methods
    std::int64_t impacts = 0;
    int closed_stops = 0;         // that push, at the last acceleration
    int dropped_rows = 0;         // redundant or singular rows at the last factorization
    double smallest_pivot = 1.0;  // relative, of the rows kept then
    std::int64_t precise = 0;     // accelerations in twice the digits
    // What the rounding of the rows alone made of an acceleration that was, the most so far, relative to the largest.
    double uncertainty = 0.0;
};

// A model prepared for one formulation. A configuration is a point of a manifold (size doubles), a velocity a vector of
// the tangent space (tangent doubles); the chart about a configuration x0 is ξ ↦ retract(x0, ξ).
class System {
  public:
    System();
    virtual ~System();

    virtual const Model& model() const = 0;
    virtual int configuration_size() const = 0;
    virtual int tangent_size() const = 0;
    // Components of a velocity that are no padding.
    virtual int velocity_components() const { return tangent_size(); }

    // Where all velocities and accelerations stay in the same subspace, as in a plane, their coordinates there by an
    // orthonormal basis are enough to know: free components. By default they are all components.
    virtual int free_components() const { return tangent_size(); }
    virtual void compress(const double* u, double* components) const;
    virtual void expand(const double* components, double* u) const;
    // Whether ξ̇ = u in all charts, for velocities of that subspace: then a displacement is the integral of a velocity.
    // It is so where there are fewer free components than components.
    virtual bool has_flat_charts() const { return false; }

    virtual void accelerate(double t, const double* x, const double* u, double* udot) = 0;
    // out = x0 ⊕ ξ; out may be x0.
    virtual void retract(const double* x0, const double* xi, double* out) const = 0;
    // ξ̇ at x0 ⊕ ξ for velocity u.
    virtual void chart_rate(const double* xi, const double* u, double* rate) const = 0;
    // The velocity u at x0 ⊕ ξ for the rate ξ̇, and ξ̈ for the acceleration u̇ there.
    virtual void chart_velocity(const double* xi, const double* rate, double* u) const = 0;
    virtual void chart_acceleration(const double* xi, const double* rate, const double* udot, double* out) const = 0;
    // Adds to u̇ at x0 ⊕ ξ what makes it the rate of the components that a velocity has in the chart. There is such a
    // part where the frames that these belong to depend on the way by which a configuration was reached, as those of
    // joints do that bend but do not turn about one axis.
    virtual void add_frame_rates(const double*, const double*, double*) const {}
    // out = where x0 gets to in the time h with the velocity Σ θʲ U_j at θh, j = 0 … degree; U_j lie one after another,
    // `stride` doubles apart. h may be negative. out must not be x0.
    virtual void retract_along(double h, const double* x0, const double* velocity, int degree, int stride,
                               double* out) const = 0;
    // Brings a stage of a method onto the constraints, to a looser tolerance than project() and without impacts. Off
    // them, accelerations near a singular configuration mean nothing.
    virtual void project_stage(double t, double* x, double* u) = 0;
    // The same after accelerate() at a prediction, for a method that takes this acceleration only to find the end of
    // the step, where it is taken again: it can bear some error. True if the state was moved, and the acceleration is
    // to be taken again.
    virtual bool project_prediction(double, double*, double*) { return false; }
    // Moves (x, u) onto the constraints at t: positions, then velocities (impacts included). False if the constraints
    // cannot be met; then diagnose() says where.
    virtual bool project(double t, double* x, double* u) = 0;
    // The same at the end of a step, one of many of a length.
    virtual bool project_step(double t, double* x, double* u) { return project(t, x, u); }
    // x = near ⊕ ξ, then (x, u) as project() leaves them, and their acceleration. `near` is the configuration of the
    // last accelerate() at the same time; what that has factored may serve here as well. ξ is used up.
    virtual bool settle(double t, const double* near, double* xi, double* x, double* u, double* udot) {
        retract(near, xi, x);
        const bool met = project(t, x, u);
        accelerate(t, x, u, udot);
        return met;
    }
    // Implicit methods solve u̇(t, x ⊕ γ δ, u + δ) = rate + δ/γ for δ by Newton's method: linearize() makes ready for
    // corrections by I − γ ∂u̇/∂u − γ² ∂u̇/∂x near (t, x, u), which serve while that changes little; correct() finds the
    // next δ from what the equations leave at (x, u). Where only γ is another, `renew` is false and derivatives may be
    // kept. By default they are dense, by differences.
    virtual void linearize(double t, const double* x, const double* u, double gamma, bool renew);
    virtual void correct(double t, const double* x, const double* u, const double* rate, double gamma, double* delta);
    // Whether linearize() costs no more than accelerate() does, and pays at every step.
    virtual bool linearizes_cheaply() const { return false; }
    // As project(), for (x, u) that correct() has brought there: what linearize() has factored may serve here as well.
    virtual bool settle_corrected(double t, double* x, double* u) { return project(t, x, u); }
    // Stops, where somebody else finds when they are met: project() leaves those alone that are open at watch_stops(),
    // until meet_stops() or the next watch_stops(). gaps() are those of all stops, positive for those not watched.
    virtual int stops() const { return 0; }
    virtual int row_of_stop(int) const { return -1; }  // of the model
    virtual void watch_stops(double, const double*, const double*) {}
    virtual void meet_stops() {}
    virtual void gaps(double, const double*, const double*, double*) {}
    // Appends the times between two times, neither included, at which functions of time or their first two derivatives
    // jump.
    virtual void break_times(double, double, std::vector<double>&) const {}
    // Inputs of the model have other values: nothing that was found with the former ones is kept.
    virtual void inputs_changed() {}
    // Accepts (t, x, u) as the end of a step: branches of angles are followed from here.
    virtual void commit(double t, const double* x, const double* u) = 0;
    // The part of a step of length h from (x, u) within which no angle can turn too far to be followed.
    virtual double longest_step(const double* x, const double* u, double h) = 0;

    // Doubles that observe() writes.
    int observation_size(const Observation& what) const;
    // A frame, as FrameLayout has it.
    virtual void observe(double t, const double* x, const double* u, const Observation& what, double* out) = 0;

    virtual Energy energy_at(double t, const double* x, const double* u) = 0;

    // The first part of a frame alone, up to the coordinates' rates. By default it takes an observe().
    virtual void measure(double t, const double* x, const double* u, const Observation& what, double* out);
    // Whether a component of a velocity is that of an angle [rad/s], not of a length [m/s].
    virtual bool turns(int) const { return false; }

    // What positions of states on the constraints differ by, at random, beyond the last place of their numbers.
    virtual double position_noise(const double*) const { return 0.0; }

    // For messages: the model row with the largest error at the last projection, −1 without rows; the first body whose
    // state is not finite, −1 if all are.
    virtual int worst_row() const = 0;
    virtual int first_non_finite_body(const double* x, const double* u) const = 0;

    virtual const Statistics& statistics() const = 0;

  private:
    std::unique_ptr<Linearization> linearization_;  // linearize()
    std::vector<double> defect_;                    // correct()
};

}  // namespace bellcrank
