// The motion of bodies that come together.
#include "formulations/constraint_forces.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>

#include "bindings.hpp"
#include "state_of.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace bellcrank {

namespace {

using ConstraintForcesAt = At<ConstraintForces>;

}  // namespace

void bind_constraint_forces(nb::module_& m) {
    nb::class_<ConstraintForcesAt, SystemAt>(m, "ConstraintForces",
                                             "Bodies under forces that close the constraints, at a state.")
        .def(
            "__init__",
            [](ConstraintForcesAt* self, std::shared_ptr<Model> model, double time_constant, bool released,
               double held_time) {
                const ConstraintForceOptions options{time_constant, released, held_time};
                new (self) ConstraintForcesAt(std::move(model), options);
            },
            "model"_a, "time_constant"_a, "released"_a, "held_time"_a,
            "time_constant: of the critically damped errors [s]. released: applied forces act and time goes on; else\n"
            "drives stand still at held_time and a drag stops the bodies.")
        .def(
            "counts",
            [](const ConstraintForcesAt& self) {
                return std::make_pair(self.system.statistics().evaluations, self.system.iterations());
            },
            "Accelerations and iterations of LSQR so far.");
}

}  // namespace bellcrank
