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

using NeutralArrays = std::tuple<double, Rows, Rows, Rows, Rows>;

// What integrators take.
struct SystemAt {
    virtual ~SystemAt() = default;
    virtual System& core() = 0;

    double time = 0.0;
    std::vector<double> x, u;
};

// A state of the bodies' frame origins as records (spatial/body_state.hpp), shapes checked.
void records_of(const Model& model, double t, const Rows& position, const Rows& rotation, const Rows& velocity,
                const Rows& angular_velocity, double* poses, double* twists);
NeutralArrays arrays_of(const Model& model, double t, const double* poses, const double* twists);

// C, Ct, Qc and the dense Jacobian against (com velocity, world axes; angular velocity, principal axes) per body.
using RowArrays = std::tuple<Eigen::VectorXd, Eigen::VectorXd, Eigen::VectorXd, Rows>;
RowArrays dense_rows(const Model& model, const AngleBranches& branches, double t, const double* x, const double* u);

nanobind::dict statistics_dict(const Statistics& statistics);

// φ̈ of every coordinate, for accelerations of the frames' origins in world axes.
Eigen::VectorXd coordinate_accelerations(const Model& model, const AngleBranches& branches, const double* x,
                                         const double* u, const Rows& linear, const Rows& angular);

struct LagrangeAt final : SystemAt {
    LagrangeAt(std::shared_ptr<Model> model, const LagrangeOptions& options) : system(std::move(model), options) {
        x.resize(system.configuration_size());
        u.resize(system.tangent_size());
    }
    System& core() override { return system; }

    void set(double t, const Rows& position, const Rows& rotation, const Rows& velocity, const Rows& angular_velocity,
             bool continued);
    NeutralArrays get() const;

    Lagrange system;
};

}  // namespace bellcrank
