// What an assembly of a model's bodies consists of.
#pragma once

#include <utility>
#include <vector>

#include "assemblies/plan.hpp"
#include "model/constraint_rows.hpp"

namespace bellcrank {

// A body with the rows of its joints, a hub, or a block between hubs alone.
struct AssemblyPart {
    int body = -1, hub = -1;
    std::vector<int> blocks;                      // whose rows on the body are its own
    std::vector<std::pair<int, BlockSide>> hubs;  // blocks, and their sides on hubs, that it brings along
};

// Handles are the blocks of rows, by layout index, and behind them the hubs: bodies with more than `most_joints`, whose
// motion is an unknown at which their branches add up. With fewer joints their rows are one dense matrix.
struct AssemblyParts {
    AssemblyParts(const Model& model, const ConstraintRows& rows, int most_joints);

    int handle_of_hub(int body) const { return blocks + hub_of[body]; }

    int blocks = 0, hubs = 0;
    std::vector<AssemblyPart> parts;
    AssemblyGraph graph;
    std::vector<int> hub_of;  // per body: its number among hubs, −1

  private:
    void add_bodies(const Model& model, const ConstraintRows& rows, int most_joints);
    void add_couplings(const ConstraintRows& rows);
    std::vector<int> handles_of(const AssemblyPart& part) const;

    std::vector<int> part_of_;  // per body, −1
};

}  // namespace bellcrank
