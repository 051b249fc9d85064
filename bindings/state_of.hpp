// A formulation together with the state it is asked about: what Python holds.
#pragma once

#include <concepts>
#include <memory>
#include <tuple>
#include <vector>

#include "model/state.hpp"
#include "model/system.hpp"
#include "records.hpp"
#include "spatial/body_state.hpp"
#include "trees/joint_system.hpp"

namespace bellcrank {

using NeutralArrays = std::tuple<double, Rows, Rows, Rows, Rows>;

// What Python and integrators take.
struct SystemAt {
    virtual ~SystemAt() = default;
    virtual System& core() = 0;

    Scenery scenery() { return core().scenery(time, x.data(), u.data()); }
    // udot for x and u; settles: which friction holds.
    void accelerate(bool settles = true) {
        if (settles && !core().settle_friction(time, x.data(), u.data(), -1, 0.0))
            throw Refusal("which friction holds and which slips in this state was not found");
        core().accelerate(time, x.data(), u.data(), udot.data());
    }

    double time = 0.0;
    std::vector<double> x, u, udot;
    Moment left;  // where it was before it went to a doubtful moment

  protected:
    void make_room();
};

// In joint coordinates.
struct JointSystemAt : SystemAt {
    JointSystem& core() override = 0;
};

template <class S, class Base = SystemAt>
struct At final : Base {
    template <class... Arguments>
        requires std::constructible_from<S, Arguments...>
    explicit At(Arguments&&... arguments) : system(std::forward<Arguments>(arguments)...) {
        this->make_room();
    }
    S& core() override { return system; }

    S system;
};

// A state of the bodies' frame origins as records (spatial/body_state.hpp), shapes checked. Without velocities: at
// rest.
struct BodyRecords {
    std::vector<double> poses, twists;
};
BodyRecords records_of(const Model& model, double t, const Rows& position, const Rows& rotation, const Rows& velocity,
                       const Rows& angular_velocity);
BodyRecords records_of(const Model& model, double t, const Rows& position, const Rows& rotation);
std::vector<double> room_for_records(const Model& model);
NeutralArrays arrays_of(const Model& model, double t, const double* poses, const double* twists);

// Which reactions are asked for: per entry blocks and pair.
std::vector<Observation::Reaction> reactions_of(const std::vector<std::pair<std::vector<int>, int>>& which);

// The frame (1, 1 + width) at the state of a system.
Rows observe(SystemAt& self, const Observation& what);

void check_size(Eigen::Index given, int wanted, const char* what);

}  // namespace bellcrank
