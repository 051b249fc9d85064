// Where a mechanism rests.
#include "formulations/equilibrium.hpp"

#include <nanobind/eigen/dense.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/tuple.h>

#include "bindings.hpp"
#include "state_of.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace bellcrank {

namespace {

// found, iterations, largest acceleration, what it is measured against, time, position, rotation
std::tuple<bool, int, double, double, Rows, Rows> equilibrium(std::shared_ptr<Model> model, double time,
                                                              const Rows& position, const Rows& rotation,
                                                              double tolerance, int iterations) {
    EquilibriumOptions options;
    options.tolerance = tolerance;
    options.iterations = iterations;
    Equilibrium search(model, options);
    const Rows still = Rows::Zero(model->bodies(), 3);
    std::vector<double> x(kPose * (model->bodies() + 1)), rest(kTwist * (model->bodies() + 1));
    records_of(*model, time, position, rotation, still, still, x.data(), rest.data());
    bool found = false;
    {
        nb::gil_scoped_release release;
        search.system().reset_angles(time);
        found = search.find(time, x);
    }
    const NeutralArrays reached = arrays_of(*model, time, x.data(), rest.data());
    return {found,
            search.iterations(),
            search.acceleration(),
            search.reference(),
            std::get<1>(reached),
            std::get<2>(reached)};
}

}  // namespace

void bind_equilibrium(nb::module_& m) {
    m.def("equilibrium", &equilibrium, "model"_a, "time"_a, "position"_a, "rotation"_a, "tolerance"_a, "iterations"_a,
          "A minimum of the potential on the constraints, from poses that satisfy them: whether it was found,\n"
          "iterations, largest acceleration from rest and that of the bodies let go at the start, position (nb, 3),\n"
          "rotation (nb, 4).");
}

}  // namespace bellcrank
