#include "linalg/normal_matrix.hpp"

#include <algorithm>

#include "linalg/ordering.hpp"
#include "spatial/body_state.hpp"

namespace bellcrank {

namespace {

constexpr int kNode = 6;

// A pivot this small against its own diagonal entry is rounding.
constexpr double kRounding = 1e-15;

}  // namespace

NormalMatrix::NormalMatrix(const Model& model, const ConstraintRows& rows, std::span<const std::uint8_t> movable)
    : step_(model.bodies() + 1, -1) {
    std::vector<int> node(model.bodies() + 1, -1);
    int nodes = 0;
    for (int b = 0; b < model.bodies(); ++b)
        if (movable[b]) node[b] = nodes++;
    std::vector<std::pair<int, int>> couplings;
    for (const BlockLayout& block : rows.blocks())
        for (const BlockSide& s : rows.sides(block))
            for (const BlockSide& other : rows.sides(block))
                if (node[s.body] >= 0 && node[s.body] < node[other.body])
                    couplings.emplace_back(node[s.body], node[other.body]);
    const Elimination elimination = minimum_degree(nodes, couplings, std::vector<int>(nodes, 0));
    ldlt_ = std::make_unique<BlockLdlt>(std::vector<int>(nodes, kNode), elimination);
    for (int b = 0; b < model.bodies(); ++b)
        if (node[b] >= 0) step_[b] = elimination.position[node[b]];
    for (const BlockLayout& block : rows.blocks())
        for (const BlockSide& s : rows.sides(block))
            for (const BlockSide& other : rows.sides(block)) {
                const int a = step_[s.body], b = step_[other.body];
                if (a < 0 || b < a) continue;
                products_.push_back({s.rows, other.rows, block.row, ldlt_->block(a, b).offset});
            }
    formed_.assign(ldlt_->spill_offset(), 0.0);
    work_.assign(ldlt_->rows(), 0.0);
}

void NormalMatrix::form(const ConstraintRows& rows, std::span<const double> weight) {
    std::fill(formed_.begin(), formed_.end(), 0.0);
    double a[kNode], b[kNode];
    for (const Product& p : products_) {
        double* target = &formed_[p.offset];
        for (int r = 0; r < p.a.rows; ++r) {
            const double w = weight[p.row + r];
            if (w == 0.0) continue;
            p.a.read(rows.J.data(), r, a);
            p.b.read(rows.J.data(), r, b);
            for (int i = 0; i < kNode; ++i)
                for (int j = 0; j < kNode; ++j) target[kNode * i + j] += w * a[i] * b[j];
        }
    }
}

void NormalMatrix::add(int body, const double* block) {
    if (step_[body] < 0) return;
    double* target = &formed_[ldlt_->block(step_[body], step_[body]).offset];
    for (int k = 0; k < kNode * kNode; ++k) target[k] += block[k];
}

double NormalMatrix::largest_diagonal() const {
    double largest = 0.0;
    for_each_diagonal([&](size_t, double entry) { largest = std::max(largest, entry); });
    return largest;
}

void NormalMatrix::diagonal(std::span<double> out) const {
    std::fill(out.begin(), out.end(), 0.0);
    for_each_diagonal([&](size_t component, double entry) { out[component] = entry; });
}

// visit(component in a vector of records, entry)
template <class Visit>
void NormalMatrix::for_each_diagonal(Visit&& visit) const {
    for (size_t body = 0; body < step_.size(); ++body) {
        if (step_[body] < 0) continue;
        const double* block = &formed_[ldlt_->block(step_[body], step_[body]).offset];
        for (int k = 0; k < kNode; ++k) visit(kTwist * body + kComponent[k], block[(kNode + 1) * k]);
    }
}

void NormalMatrix::factor(std::span<const double> shift) {
    double* values = ldlt_->values();
    std::copy(formed_.begin(), formed_.end(), values);
    for (size_t body = 0; body < step_.size(); ++body) {
        if (step_[body] < 0) continue;
        double* diagonal = values + ldlt_->block(step_[body], step_[body]).offset;
        for (int k = 0; k < kNode; ++k) diagonal[(kNode + 1) * k] += shift[kTwist * body + kComponent[k]];
    }
    ldlt_->factor(kRounding, {});
}

void NormalMatrix::solve(double* v) {
    for (size_t body = 0; body < step_.size(); ++body)
        if (step_[body] >= 0)
            for (int k = 0; k < kNode; ++k) work_[ldlt_->row_start(step_[body]) + k] = v[kTwist * body + kComponent[k]];
    ldlt_->solve(work_.data());
    for (size_t body = 0; body < step_.size(); ++body)
        for (int k = 0; k < kNode; ++k)
            v[kTwist * body + kComponent[k]] = step_[body] >= 0 ? work_[ldlt_->row_start(step_[body]) + k] : 0.0;
}

}  // namespace bellcrank
