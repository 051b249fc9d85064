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

// Which reactions are asked for: per entry blocks and pair. What they are: moment and force (n, 6), and whether these
// are unique (n, 2).
std::vector<Observation::Reaction> reactions_of(const std::vector<std::pair<std::vector<int>, int>>& which);
using ReactionArrays = std::pair<Rows, Eigen::Matrix<bool, Eigen::Dynamic, 2, Eigen::RowMajor>>;
template <class Wrench>
ReactionArrays reaction_arrays(const std::vector<Wrench>& wrenches) {
    ReactionArrays out{Rows(wrenches.size(), 6), {wrenches.size(), 2}};
    for (size_t i = 0; i < wrenches.size(); ++i) {
        for (int k = 0; k < 6; ++k) out.first(i, k) = wrenches[i].wrench[k];
        for (int k = 0; k < 2; ++k) out.second(i, k) = wrenches[i].unique[k];
    }
    return out;
}

// Which multipliers of a formulation's model the equations of motion determine.
using Flags = Eigen::Matrix<bool, Eigen::Dynamic, 1>;
template <class Formulation>
Flags determined(const Formulation& system) {
    Flags out(system.model().rows_total());
    for (int row = 0; row < system.model().rows_total(); ++row) out[row] = system.determines(row);
    return out;
}

// The frame (1, 1 + width) at a system's state.
Rows observe(SystemAt& self, const Observation& what);

// Accelerations at alternating configurations, so that nothing is reused and they can be timed without the calls from
// Python.
void repeat_accelerations(SystemAt& self, int times, double step);

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
