// Force laws along coordinates.
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"
#include "bound_function.hpp"
#include "forces/law.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace bellcrank {

static const Function* function_of(const BoundFunction* bound) { return bound == nullptr ? nullptr : &bound->function; }

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
}

}  // namespace bellcrank
