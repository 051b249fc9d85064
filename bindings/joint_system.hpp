// A formulation in joint coordinates together with the state it is asked about.
#pragma once

#include "spatial/body_state.hpp"
#include "state_of.hpp"
#include "trees/joint_system.hpp"

namespace bellcrank {

struct JointSystemAt : SystemAt {
    JointSystem& core() override = 0;

    void set(double t, const Rows& position, const Rows& rotation, const Rows& velocity, const Rows& angular_velocity,
             bool continued);
    // poses and twists for x and u.
    void write_records() { core().to_records(time, x.data(), u.data(), poses.data(), twists.data()); }
    // udot for x and u.
    void accelerate() { core().accelerate(time, x.data(), u.data(), udot.data()); }

    std::vector<double> udot, poses, twists;

  protected:
    void make_room();
};

template <class S>
struct JointSystemOf final : JointSystemAt {
    template <class Options>
    JointSystemOf(std::shared_ptr<Model> model, const Options& options) : system(std::move(model), options) {
        make_room();
    }
    S& core() override { return system; }

    S system;
};

void check_size(Eigen::Index given, int wanted, const char* what);

}  // namespace bellcrank
