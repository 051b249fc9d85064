#include "trees/cut_off.hpp"

#include <map>

#include "model/topology.hpp"
#include "trees/joint_tree.hpp"

namespace bellcrank {

namespace {

class Parts {
  public:
    explicit Parts(const Model& model) : model_(model), edges_(joint_edges(model)) {
        DisjointSets whole(model.bodies() + 1);
        for (const TreeJoint& edge : edges_) whole.join(edge.parent, edge.child);
        whole_ = whole.numbers();
    }

    // Without the edges of some blocks. Of what hung together, the part of the ground stays, or that of the first body,
    // which is the root if there is no ground.
    std::vector<CutOff> without(const std::vector<int>& cut) const {
        std::vector<bool> is_cut(model_.blocks.size(), false);
        for (const int block : cut) is_cut[block] = true;
        DisjointSets sets(model_.bodies() + 1);
        std::vector<const TreeJoint*> away;
        for (const TreeJoint& edge : edges_) {
            if (edge.block >= 0 && is_cut[edge.block])
                away.push_back(&edge);
            else
                sets.join(edge.parent, edge.child);
        }
        const std::vector<int> left = sets.numbers();
        std::map<int, int> stays;  // set of the whole → set of what stays
        stays[whole_[model_.ground()]] = left[model_.ground()];
        std::map<int, CutOff> parts;
        for (int body = 0; body < model_.bodies(); ++body) {
            const int rest = left[body];
            if (stays.try_emplace(whole_[body], rest).first->second != rest) parts[rest].bodies.push_back(body);
        }
        std::vector<CutOff> out;
        for (auto& [set, part] : parts) {
            for (const TreeJoint* edge : away)
                if ((left[edge->parent] == set) != (left[edge->child] == set)) part.blocks.push_back(edge->block);
            out.push_back(std::move(part));
        }
        return out;
    }

  private:
    const Model& model_;
    const std::vector<TreeJoint> edges_;
    std::vector<int> whole_;  // per body its set
};

}  // namespace

std::vector<CutOff> cut_off(const Model& model, const std::vector<int>& cut) {
    Parts parts(model);
    std::vector<CutOff> out;
    if (parts.without(cut).empty()) return out;
    std::vector<int> in_loops;
    for (const int block : cut) {
        const std::vector<CutOff> behind = parts.without({block});
        out.insert(out.end(), behind.begin(), behind.end());
        if (behind.empty()) in_loops.push_back(block);
    }
    const std::vector<CutOff> together = parts.without(in_loops);
    out.insert(out.end(), together.begin(), together.end());
    return out;
}

}  // namespace bellcrank
