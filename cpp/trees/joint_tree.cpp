#include "trees/joint_tree.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "model/topology.hpp"

namespace bellcrank {

namespace {

void take_formula(TreeJoint& joint, int formula) {
    joint.formula = formula;
    joint.turning = Turning::none;
    for (bool& slide : joint.slides) slide = false;
}

// Reads the joint that one block of rows makes of its pair, as far as a transform can be that joint.
class BlockReader {
  public:
    BlockReader(const Model& model, const Block& block) : model_(model), block_(block) {}

    // The joint that the block makes, or one without rows if it makes none.
    TreeJoint read() {
        TreeJoint joint;
        if (block_.unilateral || block_.compliance > 0.0) return joint;
        if (model_.rows[block_.row_begin].term_begin == model_.rows[block_.row_begin].term_end) return joint;
        joint.pair = pair_of(block_.row_begin);
        if (read_formula(joint)) return joint;
        for (int r = block_.row_begin; r < block_.row_end; ++r) read_lock(joint, r);
        read_turning(joint);
        for (int r = block_.row_begin; r < block_.row_end; ++r) read_screw(joint, r);
        return joint;
    }

  private:
    const std::string& kind(int term) const { return model_.coordinates[model_.terms[term].coordinate].kind->name; }
    bool is_of_pair(const Row& row, int pair) const {
        for (int t = row.term_begin; t < row.term_end; ++t)
            if (model_.coordinates[model_.terms[t].coordinate].pair != pair) return false;
        return row.function < 0;
    }

    const Coordinate& coordinate(int row) const {
        return model_.coordinates[model_.terms[model_.rows[row].term_begin].coordinate];
    }
    int pair_of(int row) const { return coordinate(row).pair; }

    // The rows of a joint given by formulas stand in one block.
    bool read_formula(TreeJoint& joint) const {
        if (coordinate(block_.row_begin).kind != &kFormulaRow) return false;
        take_formula(joint, coordinate(block_.row_begin).formula());
        for (int r = block_.row_begin; r < block_.row_end; ++r) joint.rows.push_back(r);
        return true;
    }

    void read_lock(TreeJoint& joint, int r) {
        const Row& row = model_.rows[r];
        if (row.term_end != row.term_begin + 1 || !is_of_pair(row, joint.pair)) return;
        const double coefficient = model_.terms[row.term_begin].coefficient;
        const std::string& name = kind(row.term_begin);
        if (coefficient == 0.0) return;
        for (int i = 0; i < 3; ++i) {
            if (name == std::string(1, "xyz"[i]) && joint.slides[i]) {
                joint.slides[i] = false;
                joint.held[i] = row.constant / coefficient;
                joint.held_row[i] = r;
                joint.rows.push_back(r);
            }
            if (name == "e" + std::to_string(i + 1) && row.constant == 0.0 && lock_row_[i] < 0) lock_row_[i] = r;
        }
        if (name == "dot_xy" && row.constant == 0.0) universal_row_ = r;
    }

    void read_turning(TreeJoint& joint) {
        const bool held[3] = {lock_row_[0] >= 0, lock_row_[1] >= 0, lock_row_[2] >= 0};
        const int count = held[0] + held[1] + held[2];
        const auto free = [&](bool wanted) { return static_cast<int>(std::find(held, held + 3, !wanted) - held); };
        if (count == 3) joint.turning = Turning::none;
        if (count == 2) joint.turning = static_cast<Turning>(static_cast<int>(Turning::about_x) + free(true));
        if (count == 1) joint.turning = static_cast<Turning>(static_cast<int>(Turning::swing_x) + free(false));
        for (const int r : lock_row_)
            if (r >= 0) joint.rows.push_back(r);
        if (count > 0 || universal_row_ < 0) return;
        joint.turning = Turning::universal;
        joint.rows.push_back(universal_row_);
    }

    // A translation that follows the angle:  a x + b θ = constant.
    void read_screw(TreeJoint& joint, int r) {
        const Row& row = model_.rows[r];
        const int axis = joint.turning < Turning::swing_x ? axis_of(joint.turning) : -1;
        if (row.term_end != row.term_begin + 2 || !is_of_pair(row, joint.pair) || axis < 0 || axis > 2) return;
        if (joint.screw_axis >= 0 || !joint.slides[axis]) return;
        const std::string along(1, "xyz"[axis]), angle = "theta_" + along;
        for (int first : {row.term_begin, row.term_begin + 1}) {
            const int second = 2 * row.term_begin + 1 - first;
            if (kind(first) != along || kind(second) != angle || model_.terms[first].coefficient == 0.0) continue;
            joint.screw_axis = axis;
            joint.advance = -model_.terms[second].coefficient / model_.terms[first].coefficient;
            joint.start = row.constant / model_.terms[first].coefficient;
            joint.screw_row = r;
            joint.slide_term = first;
            joint.turn_term = second;
            joint.rows.push_back(r);
            return;
        }
    }

    const Model& model_;
    const Block& block_;
    int lock_row_[3] = {-1, -1, -1};
    int universal_row_ = -1;
};

// Joints of six coordinates given by formulas, which have no rows.
std::vector<TreeJoint> rowless_joints(const Model& model) {
    std::vector<TreeJoint> out;
    for (const Coordinate& c : model.coordinates) {
        if (c.kind != &kFormulaCoordinate || c.component() != 0) continue;
        if (model.formula_joints[c.formula()].joint.rows() > 0) continue;
        TreeJoint joint;
        joint.pair = c.pair;
        take_formula(joint, c.formula());
        out.push_back(joint);
    }
    return out;
}

// A marker of a joint in its body's principal frame; that of side 0 is moved to where the joint holds it.
Place marker_place(const Model& model, const TreeJoint& joint, int side) {
    const MarkerPair& pair = model.pairs[joint.pair];
    Place at{rotation_matrix(pair.rotation[side]), pair.offset[side]};
    if (side == 0) at.shift += at.rotation * Vec3{joint.held[0], joint.held[1], joint.held[2]};
    return at;
}

// Joints given by formulas come first, since no other equation contains their coordinates.
int weight(const TreeJoint& joint) { return static_cast<int>(joint.rows.size()) + (joint.formula >= 0 ? 6 : 0); }

class Parts {
  public:
    explicit Parts(const Model& model) : model_(model), edges_(joint_edges(model)) {
        DisjointSets whole(model.bodies() + 1);
        for (const TreeJoint& edge : edges_) whole.join(edge.parent, edge.child);
        whole_ = whole.numbers();
    }

    // The parts without the edges of some blocks. Of what hung together, the part of the ground stays, or that of the
    // first body, which is the root if there is no ground.
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

std::vector<TreeJoint> joint_edges(const Model& model, const std::vector<int>& cut) {
    std::vector<TreeJoint> candidates = rowless_joints(model);
    const std::set<int> left_out(cut.begin(), cut.end());
    for (size_t b = 0; b < model.blocks.size(); ++b) {
        if (left_out.contains(static_cast<int>(b))) continue;
        TreeJoint joint = BlockReader(model, model.blocks[b]).read();
        joint.block = static_cast<int>(b);
        if (!joint.rows.empty()) candidates.push_back(joint);
    }
    for (TreeJoint& joint : candidates) {
        joint.parent = model.pairs[joint.pair].body[0];
        joint.child = model.pairs[joint.pair].body[1];
    }
    std::erase_if(candidates, [](const TreeJoint& joint) { return joint.parent == joint.child; });
    std::stable_sort(candidates.begin(), candidates.end(),
                     [](const TreeJoint& a, const TreeJoint& b) { return weight(a) > weight(b); });
    return candidates;
}

// Joints in the order of a walk from the ground, the nearest descendants of a body right after it.
JointTree joint_tree(const Model& model, std::vector<TreeJoint> edges) {
    std::vector<Ends> ends;
    for (const TreeJoint& joint : edges) ends.emplace_back(joint.parent, joint.child);
    const Topology forest(model.bodies() + 1, std::move(ends));
    JointTree tree;
    std::vector<int> number(model.bodies() + 1, -1);  // per body, that of its joint
    for (const int body : depth_first(forest.parent, forest.order)) {
        if (body == model.ground()) continue;
        TreeJoint joint;  // free, unless an edge leads there
        if (forest.parent_edge[body] >= 0) joint = std::move(edges[forest.parent_edge[body]]);
        joint.reversed = joint.parent == body;
        joint.child = body;
        joint.parent = forest.parent[body] >= 0 ? forest.parent[body] : model.ground();
        joint.above = number[joint.parent];
        number[body] = static_cast<int>(tree.joints.size());
        if (joint.pair >= 0) {
            joint.before = marker_place(model, joint, joint.reversed ? 1 : 0);
            joint.behind = marker_place(model, joint, joint.reversed ? 0 : 1);
        }
        tree.joints.push_back(std::move(joint));
    }
    std::vector<bool> held(model.rows.size(), false);
    for (const TreeJoint& joint : tree.joints)
        for (const int r : joint.rows) held[r] = true;
    for (size_t b = 0; b < model.blocks.size(); ++b) {
        const Block& block = model.blocks[b];
        if (block.compliance > 0.0) tree.inertances.push_back(static_cast<int>(b));
        for (int r = block.row_begin; r < block.row_end && block.compliance <= 0.0; ++r)
            if (!held[r]) (block.unilateral ? tree.stops : tree.closing_rows).push_back(r);
    }
    return tree;
}

JointTree joint_tree(const Model& model, const std::vector<int>& cut) {
    DisjointSets sets(model.bodies() + 1);
    std::vector<TreeJoint> edges;
    for (const TreeJoint& joint : joint_edges(model, cut))
        if (sets.join(joint.parent, joint.child)) edges.push_back(joint);
    return joint_tree(model, std::move(edges));
}

std::vector<JointStep> TreeJoint::steps() const {
    if (formula >= 0) return {{Motion::general}};
    if (pair < 0) return {{Motion::free}};
    std::vector<JointStep> out;
    for (int i = 0; i < 3; ++i)
        if (slides[i] && screw_axis != i) out.push_back({Motion::slide, i});
    const size_t slide_count = out.size();
    const int axis = axis_of(turning);
    if (turning == Turning::ball)
        out.push_back({Motion::ball});
    else if (turning == Turning::universal)
        out.insert(out.end(), {{Motion::turn, 0, 0}, {Motion::turn, 1, 1}});
    else if (turning >= Turning::swing_x)
        out.push_back({Motion::swing, axis});
    else if (turning != Turning::none)
        out.push_back({screw_axis >= 0 ? Motion::screw : Motion::turn, axis});
    if (reversed) {  // slides commute and keep their order
        std::reverse(out.begin() + slide_count, out.end());
        std::rotate(out.begin(), out.begin() + slide_count, out.end());
    }
    return out;
}

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
