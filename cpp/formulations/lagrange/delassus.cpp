#include "formulations/lagrange/delassus.hpp"

#include <algorithm>
#include <cmath>

#include "spatial/body_state.hpp"

namespace bellcrank {

namespace {

// A body with more joints than this is split; below it the dense coupling of its joints is cheaper than links.
constexpr int kHubDegree = 8;
constexpr int kJointsPerCopy = 4;

// The bodies of a block but for the ground.
std::vector<int> moving_bodies_of(const Model& model, int block) {
    std::vector<int> bodies = model.bodies_of(block);
    std::erase(bodies, model.ground());
    return bodies;
}

bool touches_ground(const Model& model, int block) {
    const std::vector<int> bodies = model.bodies_of(block);
    return std::find(bodies.begin(), bodies.end(), model.ground()) != bodies.end();
}

}  // namespace

Delassus::Delassus(const Model& model) : model_(model) {
    split_hubs();
    order_nodes();
}

void Delassus::split_hubs() {
    const int blocks = static_cast<int>(model_.blocks.size());
    std::vector<std::vector<int>> incident(model_.bodies());
    for (int i = 0; i < blocks; ++i)
        for (int body : moving_bodies_of(model_, i)) incident[body].push_back(i);
    for (int body = 0; body < model_.bodies(); ++body) {
        const int degree = static_cast<int>(incident[body].size());
        if (degree == 0) continue;
        const int count = degree <= kHubDegree ? 1 : (degree + kJointsPerCopy - 1) / kJointsPerCopy;
        const int first = static_cast<int>(copies_.size());
        for (int c = 0; c < count; ++c) {
            copies_.push_back({body, 1.0 / count, {}, {}});
            if (c == 0) continue;
            const int link = blocks + links_++;  // copies form a binary tree
            copies_[first + c].links.emplace_back(link, 1.0);
            copies_[first + (c - 1) / 2].links.emplace_back(link, -1.0);
        }
        for (int k = 0; k < degree; ++k)
            copies_[count == 1 ? first : first + k / kJointsPerCopy].blocks.push_back(incident[body][k]);
    }
}

void Delassus::order_nodes() {
    const int blocks = static_cast<int>(model_.blocks.size()), nodes = blocks + links_;
    std::vector<std::pair<int, int>> couplings;
    for (const Copy& copy : copies_) {
        std::vector<int> at = copy.blocks;
        for (const auto& link : copy.links) at.push_back(link.first);
        for (size_t i = 0; i < at.size(); ++i)
            for (size_t j = i + 1; j < at.size(); ++j) couplings.emplace_back(at[i], at[j]);
    }
    elimination_ = minimum_degree(nodes, couplings, distance_from_ground(nodes, couplings));
    std::vector<int> sizes;
    for (int node : elimination_.order) {
        if (node < blocks) block_order_.push_back(node);
        sizes.push_back(node < blocks ? model_.blocks[node].row_end - model_.blocks[node].row_begin : 6);
    }
    ldlt_ = std::make_unique<BlockLdlt>(sizes, elimination_);
}

// Joints between the node and the ground, by breadth-first search. Eliminating from the ground outwards keeps pivots of
// the order of their diagonal entries; the other way round the joint at the ground would be left with 1/n of its own,
// the mobility of all that hangs on it.
std::vector<int> Delassus::distance_from_ground(int nodes, const std::vector<std::pair<int, int>>& couplings) const {
    std::vector<std::vector<int>> neighbours(nodes);
    for (const auto& [i, j] : couplings) {
        neighbours[i].push_back(j);
        neighbours[j].push_back(i);
    }
    std::vector<int> distance(nodes, 0), reached;
    std::vector<char> seen(nodes, 0);
    for (int i = 0; i < static_cast<int>(model_.blocks.size()); ++i)
        if (touches_ground(model_, i)) reached.push_back(i), seen[i] = 1;
    for (size_t k = 0; k < reached.size(); ++k)
        for (int j : neighbours[reached[k]]) {
            if (seen[j]) continue;
            seen[j] = 1;
            distance[j] = distance[reached[k]] + 1;
            reached.push_back(j);
        }
    return distance;
}

void Delassus::bind(ConstraintRows& rows) {
    rows_ = &rows;
    const int blocks = static_cast<int>(model_.blocks.size());
    std::vector<const BlockLayout*> layout(blocks);
    row_of_.assign(rows.rows(), 0);
    for (const BlockLayout& b : rows.blocks()) {
        layout[b.block] = &b;
        const int step = elimination_.position[b.block];
        for (int r = 0; r < b.size; ++r) {
            row_of_[b.row + r] = ldlt_->row_start(step) + r;
            const double compliance = model_.blocks[b.block].compliance;
            if (compliance > 0.0)
                compliances_.emplace_back(ldlt_->diagonal_offset(step) + r * (b.size + 1), compliance);
        }
    }
    for (Copy& copy : copies_) {
        std::vector<std::pair<int, RowBlock>> parts;  // elimination step, rows
        for (int block : copy.blocks)
            for (const BlockSide& side : rows.sides(*layout[block]))
                if (side.body == copy.body)
                    parts.push_back(
                        {elimination_.position[block], {side.jacobian, layout[block]->size, layout[block]->linear}});
        for (const auto& [node, sign] : copy.links) {
            const Vec3& I = model_.principal_inertia[copy.body];
            const double m = model_.mass[copy.body], diagonal[6] = {m, m, m, I.x, I.y, I.z};
            double jacobian[6 * kTwist] = {};
            for (int k = 0; k < 6; ++k) jacobian[kTwist * k + (k < 3 ? k : k + 1)] = sign / std::sqrt(diagonal[k]);
            parts.push_back({elimination_.position[node], {rows.append_jacobian(jacobian), 6, 3}});
        }
        std::sort(parts.begin(), parts.end(), [](const auto& p, const auto& q) { return p.first < q.first; });
        for (size_t i = 0; i < parts.size(); ++i)
            for (size_t j = i; j < parts.size(); ++j) {
                const int step = parts[i].first;
                const int target = i == j ? ldlt_->diagonal_offset(step) : ldlt_->coupling_offset(step, parts[j].first);
                products_.add(parts[i].second, parts[j].second, target, 1.0 / copy.share, step);
            }
        if (links_ > 0) copy.parts = std::move(parts);
    }
    products_.arrange(ldlt_->spill_offset());
    for (const auto& [offset, size] : ldlt_->block_offsets())
        if (!products_.writes(offset)) unwritten_.emplace_back(offset, size);
    enabled_.assign(ldlt_->rows(), 1);
    work_.assign(ldlt_->rows(), 0.0);
    body_work_.assign(kTwist * (model_.bodies() + 1), 0.0);
}

void Delassus::factor(double tolerance, std::span<const std::uint8_t> enabled) {
    double* values = ldlt_->values();
    for (const auto& [offset, size] : unwritten_) std::fill_n(values + offset, size, 0.0);
    products_.evaluate(rows_->J.data(), values);
    for (const auto& [offset, compliance] : compliances_) values[offset] += compliance;
    for (size_t r = 0; r < enabled.size(); ++r) enabled_[row_of_[r]] = enabled[r];
    ldlt_->factor(tolerance,
                  enabled.empty() ? std::span<const std::uint8_t>{} : std::span<const std::uint8_t>(enabled_));
}

void Delassus::solve(double* b) {
    if (links_ == 0) return ldlt_->solve(b);
    std::fill(work_.begin(), work_.end(), 0.0);
    for (size_t r = 0; r < row_of_.size(); ++r) work_[row_of_[r]] = b[r];
    ldlt_->solve(work_.data());
    for (size_t r = 0; r < row_of_.size(); ++r) b[r] = work_[row_of_[r]];
}

void Delassus::subtract_product(const double* lambda, double* r) {
    std::fill(body_work_.begin(), body_work_.end(), 0.0);
    rows_->add_transposed(lambda, body_work_.data());
    rows_->multiply(body_work_.data(), work_.data());
    for (const BlockLayout& b : rows_->blocks()) {
        const double compliance = model_.blocks[b.block].compliance;
        for (int k = b.row; k < b.row + b.size; ++k) r[k] -= work_[k] + compliance * lambda[k];
    }
}

}  // namespace bellcrank
