// Where a mechanism rests.
#include <nanobind/eigen/dense.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"
#include "state_of.hpp"
#include "statics/rest_search.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace bellcrank {

namespace {

// The rest, its positions and rotations, and the values of all coordinates there.
std::tuple<Rest, Rows, Rows, std::vector<double>> find_rest(std::shared_ptr<Model> model, double time,
                                                            const Rows& position, const Rows& rotation,
                                                            const std::vector<double>& coordinates, double tolerance,
                                                            int iterations, bool leave_unstable) {
    const Rows still = Rows::Zero(model->bodies(), 3);
    std::vector<double> x(kPose * (model->bodies() + 1)), twists(kTwist * (model->bodies() + 1));
    records_of(*model, time, position, rotation, still, still, x.data(), twists.data());
    Rest rest;
    std::vector<double> values;
    {
        nb::gil_scoped_release release;
        RestOptions options;
        options.tolerance = tolerance;
        options.iterations = iterations;
        options.leave_unstable = leave_unstable;
        RestSearch search(model, time, options);
        rest = search.find(x, coordinates);
        values = search.coordinates();
    }
    const NeutralArrays reached = arrays_of(*model, time, x.data(), twists.data());
    return {rest, std::get<1>(reached), std::get<2>(reached), values};
}

Rows tangent_stiffness(std::shared_ptr<Model> model, double time, const Rows& position, const Rows& rotation,
                       const std::vector<double>& coordinates) {
    const Rows still = Rows::Zero(model->bodies(), 3);
    std::vector<double> x(kPose * (model->bodies() + 1)), twists(kTwist * (model->bodies() + 1));
    records_of(*model, time, position, rotation, still, still, x.data(), twists.data());
    return RestSearch(model, time, {}).stiffness(x, coordinates);
}

}  // namespace

void bind_statics(nb::module_& m) {
    nb::class_<RestStability>(m, "RestStability", "How a mechanism at rest answers to small displacements.")
        .def_ro("freedoms", &RestStability::freedoms)
        .def_ro("unstable", &RestStability::unstable)
        .def_ro("neutral", &RestStability::neutral)
        .def_ro("least", &RestStability::least)
        .def_ro("uncertainty", &RestStability::uncertainty);
    nb::class_<Rest>(m, "Rest", "What a search for rest came to.")
        .def_ro("found", &Rest::found)
        .def_ro("iterations", &Rest::iterations)
        .def_ro("energy_before", &Rest::energy_before)
        .def_ro("energy", &Rest::energy)
        .def_ro("force", &Rest::force)
        .def_ro("scale", &Rest::scale)
        .def_ro("worst_body", &Rest::worst_body)
        .def_ro("has_potential", &Rest::has_potential)
        .def_ro("stability", &Rest::stability);
    m.def("find_rest", &find_rest, "model"_a, "time"_a, "position"_a, "rotation"_a, "coordinates"_a, "tolerance"_a,
          "iterations"_a, "leave_unstable"_a,
          "A rest from poses that satisfy the constraints, with the values of all coordinates there: the Rest,\n"
          "position (nb, 3), rotation (nb, 4), and the values of all coordinates.");
    m.def("tangent_stiffness", &tangent_stiffness, "model"_a, "time"_a, "position"_a, "rotation"_a, "coordinates"_a,
          "Second derivatives (6 nb, 6 nb) of the potential less multipliers times rows, against displacements of the\n"
          "centres of mass, world axes, and rotation vectors, principal axes; with the multipliers that leave least\n"
          "force.");
}

}  // namespace bellcrank
