// Where a mechanism rests: a minimum of its potential energy on the constraints, by the forces alone.
#pragma once

#include <deque>
#include <memory>
#include <random>
#include <vector>

#include "formulations/lagrange.hpp"

namespace bellcrank {

struct EquilibriumOptions {
    double tolerance =
        1e-10;  // largest acceleration at rest that is none, relative to that of the bodies let go at the start
    double largest_turn = 0.3;  // of any body in one step [rad]
    int iterations = 20000;
    int kicks = 1;  // out of what was found, to leave saddles
};

// Limited-memory quasi-Newton steps (J. Nocedal, Updating quasi-Newton matrices with limited storage, 1980) in the
// metric of the masses: there the gradient of the potential on the constraints is the acceleration from rest, reversed.
// Forces need no potential then; where they have none, it is their balance that is found.
class Equilibrium {
  public:
    Equilibrium(std::shared_ptr<const Model> model, const EquilibriumOptions& options);

    // From poses x on the constraints at time t to a rest. False if it is not reached.
    bool find(double t, std::vector<double>& x);
    // Largest acceleration of a body from rest [m/s² or rad/s² times its radius of gyration], and what it is measured
    // against.
    double acceleration() const { return largest(acceleration_); }
    double reference() const { return reference_; }
    int iterations() const { return iterations_; }
    Lagrange& system() { return system_; }

  private:
    using Vector = std::vector<double>;
    struct Pair {
        Vector step, change;
        double curvature;
    };
    double product(const Vector& a, const Vector& b) const;
    double largest(const Vector& a) const;
    double farthest(const Vector& step) const;
    bool descend(double t, Vector& x);
    bool move(double t, Vector& x);
    void accelerate(double t, const Vector& x, Vector& out);
    void choose_direction();
    void remember(const Vector& step, const Vector& change);
    void kick(double t, Vector& x);
    double potential(double t, const Vector& x) const;

    std::shared_ptr<const Model> model_;
    EquilibriumOptions options_;
    Lagrange system_;
    std::mt19937_64 random_;
    Vector mass_;  // kTwist records
    Vector rest_, acceleration_, direction_, trial_, moved_, next_;
    std::vector<double> radius_;  // of gyration, of bodies [m]
    std::deque<Pair> memory_;
    double reference_ = 0.0, size_ = 1.0;
    int iterations_ = 0;
};

}  // namespace bellcrank
