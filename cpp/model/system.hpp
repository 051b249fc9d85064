// A model prepared for one formulation.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "model/branches.hpp"
#include "model/ports.hpp"

namespace bellcrank {

class Linearization;

struct Statistics {
    std::int64_t evaluations = 0;  // accelerations, or what is left of the equations of motion at given ones
    std::int64_t factorizations = 0;
    std::int64_t corrections = 0;     // position corrections
    std::int64_t linearizations = 0;  // for implicit methods
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
};

struct Moment {
    double t = 0.0;
    std::vector<double> x, u;
};

// All ports of a formulation, with the defaults that need more than one of them.
class System : public Manifold,
               public Dynamics,
               public Projection,
               public Implicit,
               public Impulses,
               public StopWatch,
               public Record {
  public:
    virtual ~System();

    const char* name() const final { return name_; }
    const Model& model() const { return *model_; }
    const AngleBranches& branches() const { return branches_; }
    Contacts& contacts() { return contacts_; }
    const Statistics& statistics() const { return statistics_; }

    void break_times(double from, double to, std::vector<double>& out) const override;
    bool finish_step(double t, const double* near, double* xi, double* x, double* u, double* udot) override;
    void linearize(double t, const double* x, const double* u, double gamma, bool renew) override;
    void correct(double t, const double* x, const double* u, const double* rate, double gamma, double* delta) override;
    bool finish_corrected_step(double t, double* x, double* u) override { return project(t, x, u); }
    int stops() const override;
    // Events of contacts, which end a step; their margins where they are watched (contacts/contacts.hpp).
    int contact_events() const { return contacts_.events(); }
    void contact_margins(double t, const double* x, const double* u, double* out);

    // A direction that rows are made of goes over its pole (branches.hpp); whether the formulation can.
    void turn_over(int coordinate) { branches_.turn_over(coordinate); }
    virtual bool passes_poles() const { return true; }

    // The moment of the motion since the last call at which digits were the fewest, if one was noted.
    virtual bool take_doubtful_moment(Moment&) { return false; }

    // Doubles that observe() writes.
    int observation_size(const Observation& what) const;
    void observe(double t, const double* x, const double* u, const Observation& what, double* out) override;
    void measure(double t, const double* x, const double* u, const Observation& what, double* out) override;
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
    Statistics statistics_;

  private:
    const char* const name_;
    std::unique_ptr<Linearization> linearization_;  // linearize()
    std::vector<double> defect_;                    // correct()
    std::vector<double> observed_, loads_, rates_;  // observe(): u̇, multipliers, accelerations of the bodies
    std::vector<ReactionWrench> wrenches_;
};

}  // namespace bellcrank
