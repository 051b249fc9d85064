// Root finding for positions.
#include "assembly/root_finder.hpp"

#include <nanobind/eigen/dense.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "assembly/inverse_kinematics.hpp"
#include "bindings.hpp"
#include "marshal.hpp"
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

using TargetData = std::tuple<int, Triple, Quadruple, bool, bool>;

struct InverseKinematicsAt {
    InverseKinematicsAt(std::shared_ptr<Model> m, const std::vector<TargetData>& data, const std::vector<int>& open)
        : model(m), search(m, targets_of(data), open), aims(data.size()) {}

    static std::vector<InverseKinematics::Target> targets_of(const std::vector<TargetData>& data) {
        std::vector<InverseKinematics::Target> targets;
        for (const auto& [body, position, rotation, placed, turned] : data)
            targets.push_back({body, to_vec3(position), to_quat(rotation), placed, turned});
        return targets;
    }

    void place(double t, const Rows& position, const Rows& rotation, const std::optional<Eigen::VectorXd>& angles) {
        const Rows still = Rows::Zero(model->bodies(), 3);
        std::vector<double> x(kPose * (model->bodies() + 1)), rest(kTwist * (model->bodies() + 1));
        records_of(*model, t, position, rotation, still, still, x.data(), rest.data());
        if (angles) check_size(angles->size(), static_cast<int>(model->coordinates.size()), "angles");
        search.place(t, x.data(), angles ? angles->data() : nullptr);
    }

    bool find(const Rows& poses, double tolerance, int steps, int restarts) {
        check_size(poses.size(), 7 * search.targets(), "poses");
        for (int i = 0; i < search.targets(); ++i)
            aims[i] = {{poses(i, 0), poses(i, 1), poses(i, 2)}, {poses(i, 3), poses(i, 4), poses(i, 5), poses(i, 6)}};
        nb::gil_scoped_release release;
        return search.find(aims, tolerance, steps, restarts);
    }

    NeutralArrays state() const {
        const std::vector<double> rest(kTwist * (model->bodies() + 1), 0.0);
        return arrays_of(*model, search.time(), search.poses().data(), rest.data());
    }

    Eigen::VectorXd coordinates() const {
        const std::vector<double> rest(kTwist * (model->bodies() + 1), 0.0);
        Eigen::VectorXd out(model->coordinates.size());
        for (Eigen::Index i = 0; i < out.size(); ++i)
            out[i] =
                coordinate_motion(*model, search.branches(), static_cast<int>(i), search.poses().data(), rest.data())
                    .value;
        return out;
    }

    Rows misses() const {
        Rows out(search.targets(), 2);
        for (int i = 0; i < search.targets(); ++i) out.row(i) << search.miss(i).distance, search.miss(i).angle;
        return out;
    }

    std::shared_ptr<Model> model;
    InverseKinematics search;
    std::vector<InverseKinematics::Aim> aims;
};

void bind_inverse_kinematics(nb::module_& m) {
    nb::class_<InverseKinematicsAt>(m, "InverseKinematics",
                                    "Brings frames on bodies to poses while the constraints of a model hold.")
        .def(nb::init<std::shared_ptr<Model>, const std::vector<TargetData>&, const std::vector<int>&>(), "model"_a,
             "targets"_a, "open"_a,
             "targets: body, position and rotation of a frame in it, whether its position and its rotation are asked "
             "for.\nopen: blocks of rows that take no part.")
        .def("place", &InverseKinematicsAt::place, "time"_a, "position"_a, "rotation"_a, "angles"_a = nb::none(),
             "Starts from poses of the bodies' frames; angles (coordinates,): near which branches angles are, where "
             "that is known.")
        .def("find", &InverseKinematicsAt::find, "poses"_a, "tolerance"_a, "steps"_a, "restarts"_a,
             "Goes to where the frames have poses (n, 7), or as near as it can; the next search goes on from there. "
             "True\nif they have them. tolerance: m, and rad of bodies by their length.")
        .def("state", &InverseKinematicsAt::state, "time, position, rotation, and velocities, which are zero.")
        .def("coordinates", &InverseKinematicsAt::coordinates, "Values of all coordinates, angles with their turns.")
        .def("misses", &InverseKinematicsAt::misses, "Per frame the distance from its pose and the angle (n, 2).")
        .def(
            "violation", [](const InverseKinematicsAt& self) { return self.search.violation(); },
            "Largest error of a row that takes part.")
        .def("steps", [](const InverseKinematicsAt& self) { return self.search.steps(); }, "Steps so far.");
}

}  // namespace

void bind_assembly(nb::module_& m) {
    bind_inverse_kinematics(m);
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
