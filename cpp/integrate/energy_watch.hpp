// Energy that steps of a fixed length make out of nothing where they are too long.
#pragma once

#include <vector>

#include "integrate/stepper.hpp"
#include "model/ports.hpp"

namespace bellcrank {

// Energy that nothing brings in or takes away.

// Whether all that acts in a model is weight and rows that do not move; then the energy of a motion stays what it is,
// and a step that changes it is wrong, whatever its estimate says. What sources there are is not asked: with any of
// them, nothing is judged.
class SealedEnergy {
  public:
    // share: of the energy in play, that a step may change it by.
    SealedEnergy(const Manifold& manifold, Record& record, double share);

    bool is_kept(double t, const double* x, const double* u, double t1, const double* x1, const double* u1);

  private:
    Record& record_;
    double share_;
    bool sealed_;
    std::vector<double> slow_;
};

// Looks at the energy now and then, and where speeds leap. Where it has risen by more than the method's own swing, some
// steps are taken in halves and in thirds as well: what sources bring in is there with these too, what the method makes
// is not.
class EnergyWatch {
  public:
    EnergyWatch(Dynamics& dynamics, StopWatch& stops, Record& record, FixedStepper& stepper);

    struct Step {
        double t, h;
        const double *x, *u;    // where it starts
        const double *x1, *u1;  // where it ends, not committed yet
    };

    void begin(double t, const double* x, const double* u);
    // Before a step is taken.
    void before(const Step& step);
    // After it: false if the energy that has come in is the method's. coarseness: of a method by impulses
    // (ImpulseOutcome). last: of the run.
    bool bears(const Step& step, double coarseness, bool last);

    // Lowest energy before the rise, and what it has risen to [J].
    double lowest() const { return lowest_; }
    double reached() const { return reached_; }

  private:
    double total(double t, const double* x, const double* u);
    double allowed() const;
    bool has_risen(double potential, double coarseness);
    void try_parts(const Step& step);
    double energy_by_parts(const Step& step, int parts);
    void compare();
    bool is_wild() const;
    bool is_made() const;
    void take_as_brought_in();

    StopWatch& stops_;
    Record& record_;
    const Statistics& statistics_;
    FixedStepper& stepper_;
    long long steps_ = 0;
    double speed_ = 0.0;            // sum of squares of velocities where the last step ended
    double looked_ = 0.0;           // the same where the energy was looked at last
    double floor_ = 0.0;            // energy of motion that counts as rest
    double coarseness_ = 0.0;       // where the energy was lowest: forces of a motion that grows are no measure
    double in_play_ = 0.0;          // kinetic energy at first, and what was brought in since
    double first_potential_ = 0.0;  // potential energy at first
    double given_ = 0.0;            // the most that this has fallen by
    double lowest_ = 0.0, reached_ = 0.0;
    double calm_energy_ = 0.0;  // when last it was nearer to the lowest than to what is allowed
    long long calm_step_ = 0;
    int to_test_ = 0, tested_ = 0;  // steps
    double gained_ = 0.0, made_ = 0.0;
    double start_ = 0.0;               // energy where the step at hand starts
    double in_parts_[2] = {0.0, 0.0};  // and where it ends if it is taken in halves, in thirds
    long long impacts_ = 0;
    std::vector<double> x_[2], u_[2];
};

}  // namespace bellcrank
