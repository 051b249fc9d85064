// Root finding for positions.
#include "assembly/root_finder.hpp"

#include <nanobind/eigen/dense.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"
#include "state_of.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace bellcrank {

namespace {

struct RootFinderAt {
    RootFinderAt(std::shared_ptr<Model> m, const std::vector<int>& pinned, int restarts)
        : model(m), finder(m, pinned, {.restarts = restarts}) {
        u.resize(kTwist * (model->bodies() + 1));
    }

    void place(double t, const Rows& position, const Rows& rotation, const Rows& velocity, const Rows& angular) {
        time = t;
        std::vector<double> x(kPose * (model->bodies() + 1));
        records_of(*model, t, position, rotation, velocity, angular, x.data(), u.data());
        finder.place(t, x.data());
    }

    void approach(const Rows& position, const Rows& rotation) {
        const Rows still = Rows::Zero(model->bodies(), 3);
        std::vector<double> x(kPose * (model->bodies() + 1)), rest(kTwist * (model->bodies() + 1));
        records_of(*model, time, position, rotation, still, still, x.data(), rest.data());
        finder.approach(x);
    }

    std::shared_ptr<Model> model;
    RootFinder finder;
    double time = 0.0;
    std::vector<double> u;
};

Eigen::VectorXd vector_of(const std::vector<double>& v) {
    return Eigen::Map<const Eigen::VectorXd>(v.data(), static_cast<Eigen::Index>(v.size()));
}

}  // namespace

void bind_assembly(nb::module_& m) {
    nb::class_<RootFinderAt>(m, "RootFinder", "Finds configurations that satisfy the constraints of a model.")
        .def(nb::init<std::shared_ptr<Model>, const std::vector<int>&, int>(), "model"_a, "pinned"_a, "restarts"_a = 40,
             "pinned: bodies that keep their poses.")
        .def("place", &RootFinderAt::place, "time"_a, "position"_a, "rotation"_a, "velocity"_a, "angular_velocity"_a,
             "Starts from a state, given as Lagrange.set_state takes it.")
        .def(
            "find", [](RootFinderAt& self) { return self.finder.find(); }, nb::call_guard<nb::gil_scoped_release>(),
            "Goes to the nearest configuration without errors. False if there is none within reach.")
        .def(
            "lead", [](RootFinderAt& self) { return self.finder.lead(); }, nb::call_guard<nb::gil_scoped_release>(),
            "The same by small steps, on the branch at hand. False, and back at the start, if it breaks off.")
        .def("approach", &RootFinderAt::approach, "position"_a, "rotation"_a,
             "From a configuration without errors along the constraints to the one nearest to these poses.")
        .def(
            "state",
            [](const RootFinderAt& self) {
                return arrays_of(*self.model, self.time, self.finder.poses().data(), self.u.data());
            },
            "time, position, rotation, velocity, angular velocity; velocities as they were given.")
        .def(
            "largest_error", [](const RootFinderAt& self) { return self.finder.largest_error(); },
            "Largest error of a row that takes part.")
        .def(
            "errors", [](const RootFinderAt& self) { return vector_of(self.finder.errors()); },
            "Errors (rows,); zero for open stops and inertances.")
        .def(
            "least_rates", [](RootFinderAt& self) { return vector_of(self.finder.least_rates(self.u.data())); },
            "What the velocities that come closest leave of the rates of the constraints (rows,).")
        .def(
            "least_errors", [](RootFinderAt& self) { return vector_of(self.finder.least_errors()); },
            "What the displacement that comes closest leaves of the errors (rows,), to first order.")
        .def(
            "counts",
            [](const RootFinderAt& self) {
                const RootFinder::Counts& c = self.finder.counts();
                return std::make_tuple(c.steps, c.factorizations, c.restarts);
            },
            "Steps, factorizations and restarts so far.");
}

}  // namespace bellcrank
