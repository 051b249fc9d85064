#include "formulations/lagrange/delassus.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "spatial/body_state.hpp"

namespace bellcrank {

namespace {

// A body with more joints than this is split; below it the dense coupling of its joints is cheaper than links.
constexpr int kHubDegree = 8;
constexpr int kJointsPerCopy = 4;

template <int A, int B>
void add_product(const double* a, const double* b, double weight, double* target) {
    for (int r = 0; r < A; ++r) {
        double acc[B];
        for (int c = 0; c < B; ++c) acc[c] = a[r] * b[c];
        for (int k = 1; k < 6; ++k)
            for (int c = 0; c < B; ++c) acc[c] += a[k * A + r] * b[k * B + c];
        for (int c = 0; c < B; ++c) target[r * B + c] += weight * acc[c];
    }
}

using AddProduct = void (*)(const double*, const double*, double, double*);
template <int A>
constexpr std::array<AddProduct, 6> kRow = {add_product<A, 1>, add_product<A, 2>, add_product<A, 3>,
                                            add_product<A, 4>, add_product<A, 5>, add_product<A, 6>};
constexpr std::array<std::array<AddProduct, 6>, 6> kAddProduct = {kRow<1>, kRow<2>, kRow<3>, kRow<4>, kRow<5>, kRow<6>};

std::vector<int> bodies_of(const Model& model, const Block& block) {
    std::vector<int> bodies;
    for (int r = block.row_begin; r < block.row_end; ++r)
        for (int t = model.rows[r].term_begin; t < model.rows[r].term_end; ++t)
            for (int body : model.pairs[model.coordinates[model.terms[t].coordinate].pair].body)
                if (body != model.ground() && std::find(bodies.begin(), bodies.end(), body) == bodies.end())
                    bodies.push_back(body);
    return bodies;
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
        for (int body : bodies_of(model_, model_.blocks[i])) incident[body].push_back(i);
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
    elimination_ = minimum_degree(nodes, couplings);
    std::vector<int> sizes;
    for (int node : elimination_.order) {
        if (node < blocks) block_order_.push_back(node);
        sizes.push_back(node < blocks ? model_.blocks[node].row_end - model_.blocks[node].row_begin : 6);
    }
    ldlt_ = std::make_unique<BlockLdlt>(sizes, elimination_);
}

void Delassus::bind(const ConstraintRows& rows) {
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
    struct Part {
        int step, size;
        const double* jacobian;
    };
    for (const Copy& copy : copies_) {
        std::vector<Part> parts;
        for (int block : copy.blocks)
            for (const BlockSide& side : rows.sides(*layout[block]))
                if (side.body == copy.body)
                    parts.push_back({elimination_.position[block], layout[block]->size, &rows.J[side.jacobian]});
        for (const auto& [node, sign] : copy.links) {
            const Vec3& I = model_.principal_inertia[copy.body];
            const double m = model_.mass[copy.body], diagonal[6] = {m, m, m, I.x, I.y, I.z};
            auto& jacobian = link_jacobians_.emplace_back(36, 0.0);
            for (int k = 0; k < 6; ++k) jacobian[7 * k] = sign / std::sqrt(diagonal[k]);
            parts.push_back({elimination_.position[node], 6, jacobian.data()});
        }
        std::sort(parts.begin(), parts.end(), [](const Part& p, const Part& q) { return p.step < q.step; });
        for (size_t i = 0; i < parts.size(); ++i)
            for (size_t j = i; j < parts.size(); ++j) {
                const int target = i == j ? ldlt_->diagonal_offset(parts[i].step)
                                          : ldlt_->coupling_offset(parts[i].step, parts[j].step);
                products_.push_back(
                    {parts[i].jacobian, parts[j].jacobian, parts[i].size, parts[j].size, target, 1.0 / copy.share});
            }
    }
    std::stable_sort(products_.begin(), products_.end(),
                     [](const Product& p, const Product& q) { return p.target < q.target; });
    enabled_.assign(ldlt_->rows(), 1);
    work_.assign(ldlt_->rows(), 0.0);
    body_work_.assign(kTwist * (model_.bodies() + 1), 0.0);
}

void Delassus::factor(double tolerance, std::span<const std::uint8_t> enabled) {
    ldlt_->set_zero();
    double* values = ldlt_->values();
    for (const Product& p : products_) kAddProduct[p.size_a - 1][p.size_b - 1](p.a, p.b, p.weight, values + p.target);
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
