// Searches: for positions that satisfy the constraints, for those that bring frames to poses, and for where a mechanism
// rests.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include "assembly/inverse_kinematics.hpp"
#include "assembly/root_finder.hpp"
#include "bindings.hpp"
#include "state_of.hpp"
#include "statics/rest_search.hpp"

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
        auto [poses, twists] = records_of(*model, t, position, rotation, velocity, angular);
        u = std::move(twists);
        finder.place(t, poses.data());
    }

    void approach(const Rows& position, const Rows& rotation) {
        finder.approach(records_of(*model, time, position, rotation).poses);
    }

    std::shared_ptr<Model> model;
    RootFinder finder;
    double time = 0.0;
    std::vector<double> u;
};

struct InverseKinematicsAt {
    InverseKinematicsAt(std::shared_ptr<Model> m, const std::vector<InverseKinematics::Target>& targets,
                        const std::vector<int>& open)
        : model(m), search(m, targets, open), aims(targets.size()) {}

    void place(double t, const Rows& position, const Rows& rotation, const std::optional<Column>& angles) {
        if (angles) check_size(angles->size(), static_cast<int>(model->coordinates.size()), "angles");
        search.place(t, records_of(*model, t, position, rotation).poses.data(), angles ? angles->data() : nullptr);
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

    Column coordinates() const {
        const std::vector<double> rest(kTwist * (model->bodies() + 1), 0.0);
        Column out(model->coordinates.size());
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
    auto target = bind_record<InverseKinematics::Target>(
        m, "Target",
        "A frame on a body, by its place in it, and whether it is to be placed, and to be turned, in the world.");
    make_by_name(target);
    nb::class_<InverseKinematicsAt>(m, "InverseKinematics",
                                    "Brings frames on bodies to poses while the constraints of a model hold.")
        .def(nb::init<std::shared_ptr<Model>, const std::vector<InverseKinematics::Target>&, const std::vector<int>&>(),
             "model"_a, "targets"_a, "open"_a, "open: blocks of rows that take no part.")
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
            "errors", [](const RootFinderAt& self) { return column_of(self.finder.errors()); },
            "Errors (rows,); zero for open stops and inertances.")
        .def(
            "least_rates", [](RootFinderAt& self) { return column_of(self.finder.least_rates(self.u.data())); },
            "What the velocities that come closest leave of the rates of the constraints (rows,).")
        .def(
            "least_errors", [](RootFinderAt& self) { return column_of(self.finder.least_errors()); },
            "What the displacement that comes closest leaves of the errors (rows,), to first order.")
        .def(
            "counts", [](const RootFinderAt& self) { return dict_of(self.finder.counts()); },
            nb::sig("def counts(self) -> dict[str, int]"), "Steps, factorizations and restarts so far.");
}

// The rest, its positions and rotations, and the values of all coordinates there.
std::tuple<Rest, Rows, Rows, std::vector<double>> find_rest(std::shared_ptr<Model> model, double time,
                                                            const Rows& position, const Rows& rotation,
                                                            const std::vector<double>& coordinates, double tolerance,
                                                            int iterations, bool leave_unstable) {
    auto [x, twists] = records_of(*model, time, position, rotation);
    Rest rest;
    std::vector<double> values;
    {
        nb::gil_scoped_release release;
        RestSearch search(model, time,
                          {.tolerance = tolerance, .iterations = iterations, .leave_unstable = leave_unstable});
        rest = search.find(x, coordinates);
        values = search.coordinates();
    }
    const NeutralArrays reached = arrays_of(*model, time, x.data(), twists.data());
    return {rest, std::get<1>(reached), std::get<2>(reached), values};
}

Rows tangent_stiffness(std::shared_ptr<Model> model, double time, const Rows& position, const Rows& rotation,
                       const std::vector<double>& coordinates) {
    return RestSearch(model, time, {}).stiffness(records_of(*model, time, position, rotation).poses, coordinates);
}

void bind_statics(nb::module_& m) {
    auto stability =
        bind_record<RestStability>(m, "RestStability", "How a mechanism at rest answers to small displacements.");
    read_by_name(stability);
    auto rest = bind_record<Rest>(m, "Rest", "What a search for rest came to.");
    read_by_name(rest);
    m.def("find_rest", &find_rest, "model"_a, "time"_a, "position"_a, "rotation"_a, "coordinates"_a, "tolerance"_a,
          "iterations"_a, "leave_unstable"_a,
          "A rest from poses that satisfy the constraints, with the values of all coordinates there: the Rest,\n"
          "position (nb, 3), rotation (nb, 4), and the values of all coordinates.");
    m.def("tangent_stiffness", &tangent_stiffness, "model"_a, "time"_a, "position"_a, "rotation"_a, "coordinates"_a,
          "Second derivatives (6 nb, 6 nb) of the potential less multipliers times rows, against displacements of the\n"
          "centres of mass, world axes, and rotation vectors, principal axes; with the multipliers that leave least\n"
          "force.");
}

}  // namespace

void bind_searches(nb::module_& m) {
    bind_assembly(m);
    bind_inverse_kinematics(m);
    bind_statics(m);
}

}  // namespace bellcrank
