// The symbolic formulation together with the state it is asked about.
#pragma once

#include "formulations/symbolic.hpp"
#include "spatial/body_state.hpp"
#include "state_of.hpp"

namespace bellcrank {

struct SymbolicAt final : SystemAt {
    SymbolicAt(std::shared_ptr<Model> model, const SymbolicOptions& options) : system(std::move(model), options) {
        x.resize(system.configuration_size());
        u.resize(system.tangent_size());
        udot.resize(system.tangent_size());
        poses.resize(kPose * (system.model().bodies() + 1));
        twists.resize(poses.size());
    }
    System& core() override { return system; }

    void set(double t, const Rows& position, const Rows& rotation, const Rows& velocity, const Rows& angular_velocity,
             bool continued) {
        records_of(system.model(), t, position, rotation, velocity, angular_velocity, poses.data(), twists.data());
        time = t;
        system.from_records(t, poses.data(), twists.data(), continued, x.data(), u.data());
    }
    NeutralArrays get() {
        system.to_records(time, x.data(), u.data(), poses.data(), twists.data());
        return arrays_of(system.model(), time, poses.data(), twists.data());
    }

    Symbolic system;
    std::vector<double> udot, poses, twists;
};

}  // namespace bellcrank
