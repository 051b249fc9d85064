// Constraint rows at one state, without a formulation, and the lagrange formulation, which stands on them.
#include "closing/closing.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"
#include "formulations/lagrange.hpp"
#include "model/mobility.hpp"
#include "state_of.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace bellcrank {

namespace {

using ClosingAt = At<Closing>;

template <class T>
void option(nb::dict& options, const char* name, T& value) {
    if (!options.contains(name)) return;
    value = nb::cast<T>(options[name]);
    nb::del(options[name]);
}

ClosingOptions closing_options(const nb::kwargs& kwargs) {
    nb::dict given(kwargs);
    ClosingOptions o;
    option(given, "rank_tolerance", o.rank_tolerance);
    option(given, "position_tolerance", o.position_tolerance);
    option(given, "stage_pivot", o.stage_pivot);
    option(given, "doubt", o.doubt);
    option(given, "contact_tolerance", o.contact_tolerance);
    option(given, "rest_speed", o.rest_speed);
    option(given, "max_corrections", o.max_corrections);
    option(given, "refinements", o.refinements);
    for (const auto& item : given)
        throw std::invalid_argument("there is no option " + nb::cast<std::string>(item.first));
    return o;
}

std::vector<std::pair<int, std::vector<std::pair<int, double>>>> dependences(ClosingAt& self, int most) {
    std::vector<std::pair<int, std::vector<std::pair<int, double>>>> out;
    for (Dependence& one : self.system.dependences(most)) out.emplace_back(one.row, std::move(one.of));
    return out;
}

template <class S>
nb::class_<At<S>, SystemAt> bind_closed(nb::module_& m, const char* name, const char* doc) {
    nb::class_<At<S>, SystemAt> c(m, name, doc);
    c.def(
        "__init__",
        [](At<S>* self, std::shared_ptr<Model> model, nb::kwargs options) {
            new (self) At<S>(std::move(model), closing_options(options));
        },
        "model"_a, "options"_a, nb::sig("def __init__(self, model: Model, **options: float) -> None"),
        "Raises:\n    ValueError: an option is unknown.");
    return c;
}

}  // namespace

void bind_closing(nb::module_& m) {
    m.def(
        "spread_of_mobility", [](const Model& model) { return spread_of_mobility(model); }, "model"_a,
        "Largest by smallest mobility of a body: 1/m, and l^2/I at its reach l.");
    bind_closed<Closing>(m, "Closing", "The constraint rows of a model, at a state: their rank, and projections.")
        .def(
            "redundant_rows", [](ClosingAt& self) { return self.system.redundant_rows(self.time, self.x.data()); },
            "Model rows that depend on others at the state while all stops are open.")
        .def("dependences", &dependences, "most"_a,
             "The first `most` of the dropped rows as combinations of others: row, [(other row, factor), ...].");
    bind_closed<Lagrange>(m, "Lagrange", "The lagrange formulation of a model, at a state.");
}

}  // namespace bellcrank
