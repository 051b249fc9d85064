// A formulation together with the state it is asked about: what Python holds.
#pragma once

#include <nanobind/eigen/dense.h>

#include <memory>
#include <tuple>
#include <vector>

#include "formulations/lagrange.hpp"
#include "model/state.hpp"

namespace bellcrank {

using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

struct LagrangeAt {
    LagrangeAt(std::shared_ptr<Model> model, const LagrangeOptions& options)
        : system(std::move(model), options), x(system.configuration_size()), u(system.tangent_size()) {}

    void set(double t, const Rows& position, const Rows& rotation, const Rows& velocity, const Rows& angular_velocity,
             bool continued);
    std::tuple<double, Rows, Rows, Rows, Rows> get() const;

    Lagrange system;
    double time = 0.0;
    std::vector<double> x, u;
};

}  // namespace bellcrank
