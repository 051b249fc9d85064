// A mechanism in maximal coordinates at one state, without a formulation.
#include "bodies/bodies.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>

#include "bindings.hpp"
#include "state_of.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace bellcrank {

namespace {

using BodiesAt = At<Bodies>;

std::vector<std::pair<int, double>> forces_without_value(BodiesAt& self, const std::vector<double>& steps) {
    const Model& model = self.system.model();
    std::vector<std::pair<int, double>> found;
    std::vector<double> x(self.x), way(self.u), force(self.u.size());
    for (size_t k = 0; k < model.formula_forces.size(); ++k) {
        for (const double h : steps) {
            for (size_t i = 0; i < way.size(); ++i) way[i] = h * self.u[i];
            self.system.retract(self.x.data(), way.data(), x.data());
            std::fill(force.begin(), force.end(), 0.0);
            const Scenery at{model, self.system.branches(), self.time + h, x.data(), self.u.data()};
            model.formula_forces[k].add(at, force.data());
            if (std::all_of(force.begin(), force.end(), [](double f) { return std::isfinite(f); })) continue;
            found.emplace_back(static_cast<int>(k), self.time + h);
            break;
        }
    }
    return found;
}

}  // namespace

void bind_bodies(nb::module_& m) {
    nb::class_<BodiesAt, SystemAt>(m, "Bodies", "The bodies of a model and its constraint rows, at a state.")
        .def(nb::init<std::shared_ptr<Model>>(), "model"_a)
        .def("forces_without_value", &forces_without_value, "steps"_a,
             "Forces given by formulas that have no finite value after one of these times, on straight ways: (number, "
             "time).");
}

}  // namespace bellcrank
