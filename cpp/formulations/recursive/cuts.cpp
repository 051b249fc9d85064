#include "formulations/recursive/cuts.hpp"

#include <algorithm>
#include <limits>
#include <set>
#include <tuple>

#include "model/topology.hpp"

namespace bellcrank::recursive {

namespace {

constexpr double kColumn = 60.0, kPair = 12.0;  // operations per link: of an open row, of two of them

// Trees grown from the ground over the edges.
class Growth {
  public:
    Growth(const Model& model, const std::vector<TreeJoint>& edges)
        : bodies_(model.bodies() + 1), ground_(model.ground()), edges_(edges), at_(bodies_, [&](const auto& put) {
              for (int e = 0; e < static_cast<int>(edges.size()); ++e)
                  for (const int body : {edges[e].parent, edges[e].child}) put(body, e);
          }) {}

    // Maximum cardinality search: the next body is the one with most neighbours reached, of these the one that was seen
    // first. `last`: it hangs on the neighbour reached last, else on the first.
    std::vector<TreeJoint> by_neighbours(bool last) {
        std::vector<int> seen(bodies_, -1), score(bodies_, 0);
        std::set<std::tuple<int, int, int>> open;  // −score, when seen, body
        int sightings = 0;
        const auto reach = [&](int body) {
            reached_[body] = count_++;
            for (const int e : at_[body]) {
                const int other = across(e, body);
                if (reached_[other] >= 0) continue;
                if (seen[other] < 0)
                    seen[other] = sightings++;
                else
                    open.erase({-score[other], seen[other], other});
                open.insert({-++score[other], seen[other], other});
            }
        };
        start();
        reach(ground_);
        for (int next = 0; next < bodies_;) {
            if (open.empty()) {  // another component: its first body hangs free
                while (next < bodies_ && reached_[next] >= 0) ++next;
                if (next < bodies_) reach(next);
                continue;
            }
            const int body = std::get<2>(*open.begin());
            open.erase(open.begin());
            int best = -1;
            for (const int e : at_[body]) {
                const int when = reached_[across(e, body)];
                if (when < 0) continue;
                const int so_far = best < 0 ? -1 : reached_[across(best, body)];
                if (best < 0 || (last ? when > so_far : when < so_far)) best = e;
            }
            out_.push_back(edges_[best]);
            reach(body);
        }
        return std::move(out_);
    }

    // Depth first, to the neighbour with the fewest ways to go on: loops close soon after they were left.
    std::vector<TreeJoint> by_depth() {
        start();
        for (int i = 0; i < bodies_; ++i) {
            const int root = i == 0 ? ground_ : i - 1;
            if (reached_[root] >= 0) continue;
            reached_[root] = count_++;
            for (std::vector<int> way{root}; !way.empty();) {
                const int body = way.back();
                int best = -1, fewest = 0;
                for (const int e : at_[body]) {
                    const int other = across(e, body);
                    if (reached_[other] >= 0) continue;
                    int ways = 0;
                    for (const int f : at_[other]) ways += reached_[across(f, other)] < 0;
                    if (best < 0 || ways < fewest) best = e, fewest = ways;
                }
                if (best < 0) {
                    way.pop_back();
                    continue;
                }
                out_.push_back(edges_[best]);
                way.push_back(across(best, body));
                reached_[way.back()] = count_++;
            }
        }
        return std::move(out_);
    }

  private:
    int across(int edge, int body) const {
        return edges_[edge].parent == body ? edges_[edge].child : edges_[edge].parent;
    }
    void start() {
        reached_.assign(bodies_, -1);
        count_ = 0;
        out_.clear();
    }

    int bodies_, ground_;
    const std::vector<TreeJoint>& edges_;
    const Lists at_;            // per body its edges
    std::vector<int> reached_;  // when, −1: not yet
    int count_ = 0;
    std::vector<TreeJoint> out_;
};

}  // namespace

double cost_of_cuts(const Model& model, const JointTree& tree) {
    const int n = model.bodies() + 1;
    std::vector<int> parent(n, -1), depth(n, 0);
    for (const TreeJoint& joint : tree.joints) {
        parent[joint.child] = joint.parent;
        depth[joint.child] = depth[joint.parent] + 1;
    }
    std::vector<double> open(n, 0.0), closed(n, 0.0);
    double steps = 0.0;
    size_t row = 0;
    for (size_t b = 0; b < model.blocks.size(); ++b) {
        int rows = 0;
        for (; row < tree.closing_rows.size() && tree.closing_rows[row] < model.blocks[b].row_end; ++row) ++rows;
        if (rows == 0) continue;
        std::vector<int> front = model.bodies_of(static_cast<int>(b));
        if (model.formula_of_block[b] >= 0) front.push_back(model.ground());
        while (front.size() > 1) {
            const auto deepest =
                std::max_element(front.begin(), front.end(), [&](int i, int j) { return depth[i] < depth[j]; });
            open[*deepest] += rows;
            *deepest = parent[*deepest];
            std::sort(front.begin(), front.end());
            front.erase(std::unique(front.begin(), front.end()), front.end());
            if (++steps > 2e7) return std::numeric_limits<double>::infinity();
        }
        closed[front[0]] += rows;
    }
    double cost = 0.0;
    for (int i = 0; i < n; ++i) cost += open[i] * (kColumn + kPair * open[i]) + closed[i] * closed[i] * closed[i] / 6.0;
    return cost;
}

JointTree cut_tree(const Model& model, const std::vector<int>& cut) {
    JointTree best = joint_tree(model, cut);
    const std::vector<TreeJoint> edges = joint_edges(model, cut);
    if (edges.size() < best.joints.size() || best.closing_rows.empty()) return best;
    double least = cost_of_cuts(model, best);
    Growth growth(model, edges);
    for (auto& found : {growth.by_depth(), growth.by_neighbours(true), growth.by_neighbours(false)}) {
        JointTree other = joint_tree(model, found);
        const double cost = cost_of_cuts(model, other);
        if (!(cost < least)) continue;
        least = cost;
        best = std::move(other);
    }
    return best;
}

}  // namespace bellcrank::recursive
