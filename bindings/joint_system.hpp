// A formulation in joint coordinates together with the state it is asked about.
#pragma once

#include "state_of.hpp"
#include "trees/joint_system.hpp"

namespace bellcrank {

struct JointSystemAt : SystemAt {
    JointSystem& core() override = 0;
};

}  // namespace bellcrank
