// A model prepared for one formulation.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "model/branches.hpp"
#include "model/ports.hpp"

namespace bellcrank {

class Linearization;

struct Moment {
    double t = 0.0;
    std::vector<double> x, u;
};

// All ports of a formulation, with the defaults that need more than one of them.
class System : public Dynamics,
               public Steps,
               public Projection,
               public Implicit,
               public Impulses,
               public StopWatch,
               public Derivatives,
               public Record {
  public:
    virtual ~System();

    const char* name() const final { return name_; }
    Ports ports() { return {*this, *this, *this, *this, *this, *this, *this, *this}; }
    const Model& model() const final { return *model_; }
    const AngleBranches& branches() const { return branches_; }
    Contacts& contacts() final { return contacts_; }

    void break_times(double from, double to, std::vector<double>& out) const override;
    bool finish_step(double t, const double* near, double* xi, double* x, double* u, double* udot) override;
    void linearize(double t, const double* x, const double* u, double gamma, bool renew) override;
    void correct(double t, const double* x, const double* u, const double* rate, double gamma, double* delta) override;
    void solve_linearized(const double* r, double* out) override;
    double damping_part(const double* v) override;
    bool finish_corrected_step(double t, double* x, double* u) override { return project(t, x, u); }
    int stops() const override;
    void turn_over(int coordinate) final { branches_.turn_over(coordinate); }
    AngleBranches& memory() { return branches_; }

    // Inputs of the model have other values: nothing that was found with the former ones is kept.
    virtual void inputs_changed() {}
    // The moment of the motion since the last call at which digits were the fewest, if one was noted.
    virtual bool take_doubtful_moment(Moment&) { return false; }

    void observe(double t, const double* x, const double* u, const Observation& what, double* out) override;
    // What dry friction at rest leaves open where equations alone hold what it could hold: they bear what it does not.
    // Multipliers by row of the model, moment and force of reactions; empty if there is no such friction.
    struct LeftOpen {
        std::vector<std::uint8_t> multipliers;
        std::vector<std::array<std::uint8_t, 2>> reactions;
    };
    LeftOpen left_open(double t, const double* x, const double* u, const std::vector<Observation::Reaction>& which);
    Energy energy_at(double t, const double* x, const double* u) override;

  protected:
    // name: of the formulation, for refusals.
    System(const char* name, std::shared_ptr<const Model> model);
    [[noreturn]] void refuse(const char* what) const { Manifold::refuse(what); }
    void count(const ImpulseOutcome& step) {
        ++statistics_.evaluations;
        statistics_.factorizations += step.factorizations;
        statistics_.impacts += step.impacts;
    }

    const std::shared_ptr<const Model> model_;
    AngleBranches branches_;
    Contacts contacts_;

  private:
    bool holds_friction() const;
    int law_of_friction(int row) const;
    void add_held(const Observation& what, double* efforts) const;

    const char* const name_;
    std::unique_ptr<Linearization> linearization_;  // linearize()
    std::vector<double> defect_;                    // correct()
    std::vector<double> observed_, loads_, rates_;  // observe(): u̇, multipliers, accelerations of the bodies
    std::vector<ReactionWrench> wrenches_;
};

}  // namespace bellcrank
