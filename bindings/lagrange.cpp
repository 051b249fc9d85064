// The lagrange formulation at one state.
#include "formulations/lagrange.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"
#include "model/mobility.hpp"
#include "state_of.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace bellcrank {

namespace {

using LagrangeAt = At<Lagrange>;

template <class T>
void option(nb::dict& options, const char* name, T& value) {
    if (!options.contains(name)) return;
    value = nb::cast<T>(options[name]);
    nb::del(options[name]);
}

LagrangeOptions lagrange_options(const nb::kwargs& kwargs) {
    nb::dict given(kwargs);
    LagrangeOptions o;
    option(given, "rank_tolerance", o.rank_tolerance);
    option(given, "position_tolerance", o.position_tolerance);
    option(given, "stage_pivot", o.stage_pivot);
    option(given, "doubt", o.doubt);
    option(given, "contact_tolerance", o.contact_tolerance);
    option(given, "rest_speed", o.rest_speed);
    option(given, "max_corrections", o.max_corrections);
    option(given, "refinements", o.refinements);
    for (const auto& item : given)
        throw std::invalid_argument("lagrange has no option " + nb::cast<std::string>(item.first));
    return o;
}

}  // namespace

void bind_lagrange(nb::module_& m) {
    m.def(
        "spread_of_mobility", [](const Model& model) { return spread_of_mobility(model); }, "model"_a,
        "Largest by smallest mobility of a body: 1/m, and l^2/I at its reach l.");
    nb::class_<LagrangeAt, SystemAt>(m, "Lagrange", "The lagrange formulation of a model, at a state.")
        .def(
            "__init__",
            [](LagrangeAt* self, std::shared_ptr<Model> model, nb::kwargs options) {
                new (self) LagrangeAt(std::move(model), lagrange_options(options));
            },
            "model"_a, "options"_a, nb::sig("def __init__(self, model: Model, **options: float) -> None"),
            "Raises:\n    ValueError: an option is unknown.")
        .def(
            "dependences",
            [](LagrangeAt& self, int most) {
                std::vector<std::pair<int, std::vector<std::pair<int, double>>>> out;
                for (Dependence& one : self.system.dependences(most)) out.emplace_back(one.row, std::move(one.of));
                return out;
            },
            "most"_a,
            "The first `most` of the dropped rows as combinations of others: row, [(other row, factor), ...].");
}

}  // namespace bellcrank
