// A mechanism in maximal coordinates: six unknowns per body, quaternions without rows of their own (A. Tasora, An
// optimized Lagrangian-multiplier approach for interactive multibody simulation, section 4.2).
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "closing/row_loads.hpp"
#include "model/constraint_rows.hpp"
#include "model/free_motion.hpp"
#include "model/system.hpp"
#include "spatial/body_state.hpp"

namespace bellcrank {

// States, charts, branches of angles, constraint rows, and what multipliers of these exert. A formulation that stands
// on it finds accelerations, multipliers and projections; by itself it refuses them. x and u are the records of
// spatial/body_state.hpp.
class Bodies : public System {
  public:
    explicit Bodies(std::shared_ptr<const Model> model);

    int configuration_size() const final { return kPose * (model_->bodies() + 1); }
    int tangent_size() const final { return kTwist * (model_->bodies() + 1); }
    int velocity_components() const final { return 6 * model_->bodies(); }
    bool turns(int component) const final { return component % kTwist >= 4; }
    int free_components() const final;
    void compress(const double* u, double* components) const final;
    void expand(const double* components, double* u) const final;
    bool has_flat_charts() const final { return is_planar(); }
    void retract(const double* x0, const double* xi, double* out) const final;
    void displacement(const double* x0, const double* x1, double* xi) const final;
    void chart_rate(const double* xi, const double* u, double* rate) const final;
    void chart_velocity(const double* xi, const double* rate, double* u) const final;
    void chart_acceleration(const double* xi, const double* rate, const double* udot, double* out) const final;
    void retract_along(double h, const double* x0, const double* velocity, int degree, int stride,
                       double* out) const final;

    void commit(double t, const double* x, const double* u) override;
    double longest_step(const double* x, const double* u, double h) final;
    int worst_row() const final;

    void from_records(double t, const double* poses, const double* twists, bool continued, double* x,
                      double* u) override;
    Scenery scenery(double t, const double* x, const double* u) final { return {*model_, branches_, t, x, u}; }
    void body_accelerations(double t, const double* x, const double* u, const double* udot, double* records) final;
    void body_directions(double t, const double* x, const double* u, const double* udot, const Directions& directions,
                         const double* rates, double* dx, double* du, double* dudot) final;
    void set_angles(double* x, const double* values) override;
    int first_non_finite_body(const double* x, const double* u) const final;
    void multipliers(double t, const double* x, const double* u, const double* udot, double* out) final;
    bool determines(int row) const final;
    void reactions(const double* x, const std::vector<Observation::Reaction>& which,
                   std::vector<ReactionWrench>& out) final;
    void violation(double t, const double* x, const double* u, double* position, double* velocity) final;

  protected:
    Bodies(const char* name, std::shared_ptr<const Model> model, const RowOrder& order);

    // C, Ct and J of rows_ at (t, x).
    virtual void evaluate_rows(double t, const double* x) { rows_.evaluate_jacobians(t, x); }
    // From the last accelerate(), which clears is_shared_, to loads_.
    virtual void share_loads() { refuse("multipliers"); }
    void share();

    // û = M^(1/2) u
    void scale(const double* u, double* scaled) const;
    bool is_planar() const { return !model_->normal.empty(); }
    // Takes out of a velocity what leads out of the plane of a planar mechanism.
    void flatten(double* u) const;

    FreeMotion free_motion_;
    ConstraintRows rows_;
    RowLoads loads_;                        // of least norm
    std::vector<std::uint8_t> rigid_;       // per storage row: holds C = 0 (not an inertance)
    std::vector<std::uint8_t> unilateral_;  // per storage row: a stop
    std::vector<std::uint8_t> enabled_;     // per storage row: takes part; empty: all do
    std::vector<double> scaled_, speed_;    // û; Ĵ û, or the rates that a correction found
    bool is_shared_ = false;                // whether these are known
    double followed_at_ = 0.0;              // time of the last commit()

  private:
    void span_plane();
    void follow_angles(const double* x);

    std::vector<int> drifting_;  // angular coordinates that turn without a body turning (azimuths)
    std::vector<double> plane_;  // axes of the plane of motion and of rotations in it; empty: none
    double traveled_ = 0.0;      // bound on the rotation since angles were followed [rad]
};

}  // namespace bellcrank
