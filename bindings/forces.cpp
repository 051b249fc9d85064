// Force laws along coordinates.
#include <nanobind/eigen/dense.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <stdexcept>

#include "bindings.hpp"
#include "bound_function.hpp"
#include "forces/law.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace bellcrank {

static const Function* function_of(const BoundFunction* bound) { return bound == nullptr ? nullptr : &bound->function; }

static Eigen::VectorXd law_efforts(const std::string& kind, const Eigen::VectorXd& value, const Eigen::VectorXd& rate,
                                   const Eigen::VectorXd& time, const std::vector<double>& params,
                                   const BoundFunction* function) {
    const LawKind& law = law_kind(kind);
    check_law(law, params, function_of(function));
    if (rate.size() != value.size() || time.size() != value.size())
        throw std::invalid_argument("values, rates and times must be as many");
    Eigen::VectorXd effort(value.size());
    for (Eigen::Index i = 0; i < value.size(); ++i)
        effort[i] = law.effort({value[i], rate[i], time[i]}, params, function_of(function));
    return effort;
}

static Eigen::VectorXd law_potentials(const std::string& kind, const Eigen::VectorXd& value,
                                      const std::vector<double>& params, const BoundFunction* function) {
    const LawKind& law = law_kind(kind);
    check_law(law, params, function_of(function));
    if (law.potential == nullptr) throw std::invalid_argument("the " + kind + " law has no potential");
    Eigen::VectorXd energy(value.size());
    for (Eigen::Index i = 0; i < value.size(); ++i) energy[i] = law.potential(value[i], params, function_of(function));
    return energy;
}

void bind_forces(nb::module_& m) {
    m.def(
        "law_kinds",
        [] {
            std::map<std::string, bool> kinds;
            for (const LawKind& kind : law_kinds()) kinds[kind.name] = kind.potential != nullptr;
            return kinds;
        },
        "Every kind of force law, by name, and whether it has a potential.");
    m.def(
        "check_law",
        [](const std::string& kind, const std::vector<double>& params, const BoundFunction* function) {
            check_law(law_kind(kind), params, function_of(function));
        },
        "kind"_a, "params"_a, "function"_a.none() = nb::none(),
        "Raise ValueError if there is no such kind or parameters or function do not suit it.");
    m.def(
        "law_effort",
        [](const std::string& kind, double value, double rate, double time, const std::vector<double>& params,
           const BoundFunction* function) {
            const LawKind& law = law_kind(kind);
            check_law(law, params, function_of(function));
            return law.effort({value, rate, time}, params, function_of(function));
        },
        "kind"_a, "value"_a, "rate"_a, "time"_a, "params"_a, "function"_a.none() = nb::none(),
        "Effort along the coordinate [N or N m] at coordinate value, rate and time. Raises ValueError as check_law.");
    m.def(
        "law_potential",
        [](const std::string& kind, double value, const std::vector<double>& params, const BoundFunction* function) {
            const LawKind& law = law_kind(kind);
            check_law(law, params, function_of(function));
            if (law.potential == nullptr) throw std::invalid_argument("the " + kind + " law has no potential");
            return law.potential(value, params, function_of(function));
        },
        "kind"_a, "value"_a, "params"_a, "function"_a.none() = nb::none(),
        "Potential energy [J] at the coordinate's value. Raises ValueError as check_law, or if there is none.");
    m.def("law_efforts", &law_efforts, "kind"_a, "value"_a, "rate"_a, "time"_a, "params"_a,
          "function"_a.none() = nb::none(), "Efforts (n,) as law_effort returns them, at n values, rates and times.");
    m.def("law_potentials", &law_potentials, "kind"_a, "value"_a, "params"_a, "function"_a.none() = nb::none(),
          "Potential energies (n,) as law_potential returns them, at n values.");
}

}  // namespace bellcrank
