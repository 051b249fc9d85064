// Work of each force and drive since a run began, added up along its steps.
#pragma once

#include <vector>

#include "integrate/cubic_curve.hpp"
#include "model/powers.hpp"

namespace bellcrank {

// Power is integrated on the curve that a step leaves between its ends, by Gauss's rule; works at times within the step
// are the integrals of the polynomial through the same powers. Forces are smooth there, for events end steps. A step
// counts once it is settled: it may be left by an exception before.
class Ledger {
  public:
    Ledger(Dynamics& dynamics, Projection& projection, Record& record, const Observation& what);

    bool empty() const { return powers_.columns() == 0; }
    // order: of the curve; 0 where it is low and always the same. within: works are asked for within the step as well.
    void follow(double begin, double end, int order, bool within, const Curve& curve);
    // An impact is met at a state; at the end of the step that is followed if that begins there. What it takes is found
    // where the step is settled.
    void strike(double t, const double* x, const double* u, bool whole_step);
    // The step ends at a state.
    void settle(double t, const double* x, const double* u);
    // Works at a time, which is within what is followed and not settled, or later than all of it.
    void write(double t, double* works) const;

    // Where the run stands, from which it may be moved to another state; that it was.
    void stand(double t, const double* x, const double* u) { stands_at_ = empty() ? 0.0 : energy(t, x, u); }
    void move(double t, const double* x, const double* u);

    // Works of the accounts, settled ones; the last two are what was brought in by moves and by impacts.
    std::vector<double>& works() { return settled_; }

  private:
    // Gauss's rule on [0, 1] for so many nodes; row i of `polynomials` has the coefficients of the polynomial that is 1
    // at node i and 0 at the others.
    struct Rule {
        std::vector<double> node, weight, polynomials;
    };
    static Rule rule(int nodes);
    // Kinetic energy and that of the weight: what is left once each force's own is booked.
    double energy(double t, const double* x, const double* u);
    void evaluate(double t, const Curve& curve, double* powers);

    Dynamics& dynamics_;
    Projection& projection_;
    Record& record_;
    Contacts& contacts_;
    Powers powers_;
    std::vector<Rule> rules_;
    const Rule* rule_ = nullptr;  // of what is followed
    double begin_ = 0.0, length_ = 0.0;
    double stands_at_ = 0.0, struck_at_ = 0.0;  // energies
    bool struck_ = false;
    std::vector<double> settled_, step_, at_nodes_, x_, u_, udot_, multipliers_;
};

}  // namespace bellcrank
