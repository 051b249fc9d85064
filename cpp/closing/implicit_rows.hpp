// The equations of an implicit step, with stiff forces as compliant rows.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "closing/delassus.hpp"
#include "model/constraint_rows.hpp"
#include "model/forces.hpp"

namespace bellcrank {

// Newton's method for M u̇ = f + Jᵀ λ, J u + Ct = 0 with u̇ = rate + δ/γ. A force law of effort τ(φ, φ̇) along ∇φ
// stiffens the step by κ = −γ ∂τ/∂φ̇ − γ² ∂τ/∂φ in that direction, and (M + Σ κ ∇φ ∇φᵀ) δ = … is solved with one row
// more for each law,
//   ∇φᵀ δ + μ/κ = γ τ/κ,
// of compliance 1/κ: the matrix has the graph of the mechanism, its laws among the joints.
//
// The factors are those of the configuration of linearize(); rows and forces are always evaluated where they are asked
// for. Multipliers, those of laws among them, are kept from one correction to the next, so that the factors only serve
// to correct them: with factors that are off by an angle θ an iteration leaves about θ of the error, however stiff the
// laws are. Were their efforts taken as functions of the motion, it would leave some θ κ/m.
class ImplicitRows {
  public:
    ImplicitRows(const Model& model, const AngleBranches& branches, Contacts& contacts);

    // Laws as they are at (t, x, u), and multipliers as at the last settled end of a step; stops: per model row,
    // whether a stop holds; empty: none does.
    void linearize(double t, const double* x, const double* u, double gamma, double tolerance,
                   const std::vector<std::uint8_t>& stops);
    // δ from what the equations leave at (x, u).
    void correct(double t, const double* x, const double* u, const double* rate, double gamma, double* delta);
    // δ for (I − γ ∂u̇/∂u − γ² ∂u̇/∂x) δ = defect, where that keeps the constraints, by the configuration at hand.
    void apply(const double* defect, double* delta);
    // The same for any r, of which what the constraints do not allow is left out.
    void solve(const double* r, double* out);
    // The part of efforts that grow with rates in the stiffening by laws, along a vector.
    double damping_part(const double* v);
    // Multipliers at hand are those of the end of a step.
    void settle() { trusted_ = lambda_; }
    void take_inputs(const Model& model) { model_->take_inputs(model); }
    // Onto the constraints, positions to the tolerance. False if that does not go fast.
    template <class Retract>
    bool finish_step(double t, double* x, double* u, double tolerance, const Retract& retract);

  private:
    LawInput<double> motion_of(size_t law, double t, double rate) const;
    double effort(size_t law, double t, double rate) const;
    bool holds(int row) const { return enabled_[row] && rigid_[row]; }
    void multiply(const double* v, std::vector<double>& out);
    double position_residuals();
    double speed_residuals(const double* u);
    void solve_displacement(double* delta);

    std::unique_ptr<Model> model_;  // with a row for each law
    const AngleBranches& branches_;
    Contacts& contacts_;
    Delassus delassus_;
    ConstraintRows rows_;
    int model_rows_;                       // without those of laws
    std::vector<int> law_row_;             // storage row of each law
    std::vector<std::uint8_t> taken_;      // by law: whether its row exerts its effort
    std::vector<std::uint8_t> rigid_;      // per storage row: holds C = 0
    std::vector<std::uint8_t> inertance_;  // per storage row: a rotor's
    bool has_inertance_ = false, linearized_ = false;
    std::vector<std::uint8_t> enabled_, unilateral_;
    std::vector<int> model_row_;            // of each storage row
    std::vector<double> lambda_, trusted_;  // multipliers; those of the last settled end of a step
    std::vector<double> damping_;           // of κ, the part by rates, by law
    std::vector<double> compliance_, residual_, product_, acceleration_rows_;
    std::vector<double> scaled_, step_;
    std::vector<Dual4> law_numbers_;
};

// Whether all that may be stiff has rows.
bool has_rows_of_forces(const Model& model);

template <class Retract>
bool ImplicitRows::finish_step(double t, double* x, double* u, double tolerance, const Retract& retract) {
    constexpr int most = 8;
    constexpr double speed_tolerance = 1e-11;  // [m/s, rad/s]
    rows_.evaluate_jacobians(t, x);
    double error = position_residuals();
    for (int i = 0; error > tolerance; ++i) {
        solve_displacement(step_.data());
        retract(step_.data(), x);
        rows_.evaluate_jacobians(t, x);
        const double next = position_residuals();
        if (!(next < 0.25 * error) || i == most) return false;
        error = next;
    }
    error = speed_residuals(u);
    for (int i = 0; error > speed_tolerance; ++i) {
        solve_displacement(step_.data());
        for (size_t k = 0; k < step_.size(); ++k) u[k] += step_[k];
        const double next = speed_residuals(u);
        if ((!(next < 0.25 * error) || i == most) && next > 1e2 * speed_tolerance) return false;
        if (!(next < 0.25 * error)) break;
        error = next;
    }
    settle();
    return true;
}

}  // namespace bellcrank
