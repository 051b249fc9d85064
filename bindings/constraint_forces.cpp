// The motion of bodies that come together.
#include "formulations/constraint_forces.hpp"

#include <nanobind/eigen/dense.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/tuple.h>

#include "bindings.hpp"
#include "state_of.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace bellcrank {

namespace {

struct ConstraintForcesAt final : SystemAt {
    ConstraintForcesAt(std::shared_ptr<Model> model, const ConstraintForceOptions& options)
        : system(std::move(model), options) {
        x.resize(system.configuration_size());
        u.resize(system.tangent_size());
    }
    System& core() override { return system; }

    void set(double t, const Rows& position, const Rows& rotation, const Rows& velocity, const Rows& angular) {
        time = t;
        records_of(system.base().model(), t, position, rotation, velocity, angular, x.data(), u.data());
        system.base().reset_angles(t);
        system.base().follow_angles(x.data());
    }

    ConstraintForces system;
};

}  // namespace

void bind_constraint_forces(nb::module_& m) {
    nb::class_<ConstraintForcesAt, SystemAt>(m, "ConstraintForces",
                                             "Bodies under forces that close the constraints, at a state.")
        .def(
            "__init__",
            [](ConstraintForcesAt* self, std::shared_ptr<Model> model, double time_constant, bool released,
               double held_time) { new (self) ConstraintForcesAt(model, {time_constant, released, held_time}); },
            "model"_a, "time_constant"_a, "released"_a, "held_time"_a,
            "time_constant: of the critically damped errors [s]. released: applied forces act and time goes on; else\n"
            "drives stand still at held_time and a drag stops the bodies.")
        .def("set_state", &ConstraintForcesAt::set, "time"_a, "position"_a, "rotation"_a, "velocity"_a,
             "angular_velocity"_a, "Sets the state as Lagrange.set_state does.")
        .def(
            "state",
            [](const ConstraintForcesAt& self) {
                ConstraintForcesAt& at = const_cast<ConstraintForcesAt&>(self);
                return arrays_of(at.system.base().model(), self.time, self.x.data(), self.u.data());
            },
            "time, position, rotation, velocity, angular velocity.")
        .def(
            "violation",
            [](ConstraintForcesAt& self) {
                double c, rate;
                self.system.base().violation(self.time, self.x.data(), self.u.data(), &c, &rate);
                return std::make_pair(c, rate);
            },
            "Largest error of positions and of velocities over all rows.")
        .def(
            "counts",
            [](const ConstraintForcesAt& self) {
                return std::make_pair(self.system.statistics().evaluations, self.system.iterations());
            },
            "Accelerations and iterations of LSQR so far.");
}

}  // namespace bellcrank
