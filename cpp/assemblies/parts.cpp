#include "assemblies/parts.hpp"

#include <algorithm>

namespace bellcrank {

AssemblyParts::AssemblyParts(const Model& model, const ConstraintRows& rows, int most_joints)
    : blocks(static_cast<int>(rows.blocks().size())) {
    for (const BlockLayout& b : rows.blocks()) graph.size.push_back(b.size);
    add_bodies(model, rows, most_joints);
    add_couplings(rows);
    for (const AssemblyPart& part : parts) graph.parts.push_back(handles_of(part));
}

void AssemblyParts::add_bodies(const Model& model, const ConstraintRows& rows, int most_joints) {
    std::vector<std::vector<int>> blocks_on(model.bodies() + 1);
    for (int i = 0; i < blocks; ++i)
        for (const BlockSide& side : rows.sides(rows.blocks()[i])) blocks_on[side.body].push_back(i);
    for (auto* v : {&hub_of, &part_of_}) v->assign(model.bodies() + 1, -1);
    for (int b = 0; b < model.bodies(); ++b) {
        if (blocks_on[b].empty()) continue;
        part_of_[b] = static_cast<int>(parts.size());
        AssemblyPart& part = parts.emplace_back();
        if (static_cast<int>(blocks_on[b].size()) <= most_joints) {
            part.body = b;
            part.blocks = blocks_on[b];
        } else {
            part.hub = hub_of[b] = hubs++;
            graph.size.push_back(6);
        }
    }
}

// A block on hubs comes with the first of its bodies that is none, or else by itself.
void AssemblyParts::add_couplings(const ConstraintRows& rows) {
    for (int i = 0; i < blocks; ++i) {
        int carrier = -1;
        for (const BlockSide& side : rows.sides(rows.blocks()[i]))
            if (carrier < 0 && hub_of[side.body] < 0) carrier = part_of_[side.body];
        for (const BlockSide& side : rows.sides(rows.blocks()[i])) {
            if (hub_of[side.body] < 0) continue;
            if (carrier < 0) {
                carrier = static_cast<int>(parts.size());
                parts.emplace_back();
            }
            parts[carrier].hubs.push_back({i, side});
        }
    }
}

std::vector<int> AssemblyParts::handles_of(const AssemblyPart& part) const {
    std::vector<int> handles = part.blocks;
    if (part.hub >= 0) handles.push_back(blocks + part.hub);
    for (const auto& [block, side] : part.hubs) {
        handles.push_back(block);
        handles.push_back(handle_of_hub(side.body));
    }
    std::sort(handles.begin(), handles.end());
    handles.erase(std::unique(handles.begin(), handles.end()), handles.end());
    return handles;
}

}  // namespace bellcrank
