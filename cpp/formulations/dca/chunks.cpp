#include "formulations/dca/chunks.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "spatial/body_state.hpp"

namespace bellcrank {

namespace {

// Bodies of a chunk at least, and chunks at most; bodies from which more than one thread pays (bellcrank bench dca).
// None depends on the number of threads, and so results do not.
constexpr int kLeastInChunk = 128, kMostChunks = 32, kLeastForThreads = 1000;

int chunks_of(const Model& model) { return std::clamp(model.bodies() / kLeastInChunk, 1, kMostChunks); }

}  // namespace

RowOrder in_chunks(const Model& model) {
    RowOrder order = order_of(model);
    order.stages = chunks_of(model);
    const size_t blocks = order.blocks.size();
    for (size_t i = 0; i < blocks; ++i)
        order.evaluated[i] = order.solved[i] = static_cast<int>(i * static_cast<size_t>(order.stages) / blocks);
    return order;
}

void Dca::divide() {
    const int count = chunks_of(*model_), bodies = model_->bodies();
    const auto blocks = rows_.blocks();
    const auto row_of = [&](size_t block) { return block < blocks.size() ? blocks[block].row : rows_.rows(); };
    const auto part = [&](size_t all, int c) { return static_cast<int>(all * static_cast<size_t>(c) / count); };
    for (int c = 0; c < count; ++c) {
        Chunk& chunk = chunks_.emplace_back();
        chunk.stage = c;
        chunk.body_begin = part(bodies, c), chunk.body_end = part(bodies, c + 1);
        chunk.block_begin = part(blocks.size(), c), chunk.block_end = part(blocks.size(), c + 1);
        chunk.row_begin = row_of(chunk.block_begin), chunk.row_end = row_of(chunk.block_end);
    }
    bodies_.resize(bodies);
    std::iota(bodies_.begin(), bodies_.end(), 0);
    const int threads = options_.threads > 0 ? options_.threads : processors();
    if (threads > 1 && bodies >= kLeastForThreads) {
        pool_ = std::make_unique<ThreadPool>(threads);
        assembly_.use(pool_.get());
    }
}

void Dca::evaluate_jacobians(double t, const double* x) {
    each_chunk([&](const Chunk& c) { rows_.evaluate_stage(c.stage, t, x, true, nullptr, nullptr, nullptr); });
}

// |Ĵ_r|² in a metric: factors of the components in records, or none.
void Dca::row_squares(const Chunk& chunk, std::span<const double> metric, std::vector<double>& out) const {
    for (int i = chunk.block_begin; i < chunk.block_end; ++i) {
        const BlockLayout& b = rows_.blocks()[i];
        for (int r = 0; r < b.size; ++r) {
            double square = 0.0, row[6];
            for (const BlockSide& side : rows_.sides(b)) {
                if (side.body == model_->ground()) continue;
                side.rows.read(rows_.J.data(), r, row);
                for (int k = 0; k < 6; ++k) {
                    const double e = metric.empty() ? row[k] : metric[kTwist * side.body + kComponent[k]] * row[k];
                    square += e * e;
                }
            }
            out[b.row + r] = square;
        }
    }
}

namespace {

double size_of(const double* motion, int begin, int end, double length) {
    double linear = 0.0, angular = 0.0;
    for (int b = begin; b < end; ++b) {
        const double* m = motion + kTwist * b;
        for (int k = 0; k < 3; ++k) {
            linear = std::max(linear, std::abs(m[k]));
            angular = std::max(angular, std::abs(m[4 + k]));
        }
    }
    return std::max(linear / length, angular);
}

}  // namespace

// step_ = M⁻¹ Jᵀ λ, which is added to a motion.
Dca::Sizes Dca::apply(const std::vector<double>& lambda, double* motion) {
    each_chunk([&](Chunk& c) {
        loads_.accelerate(c.body_begin, c.body_end, rows_.J.data(), lambda.data(), step_.data());
        c.sizes = {size_of(step_.data(), c.body_begin, c.body_end, length_), 0.0};
        if (motion == nullptr) return;
        for (int k = kTwist * c.body_begin; k < kTwist * c.body_end; ++k) motion[k] += step_[k];
        c.sizes.motion = size_of(motion, c.body_begin, c.body_end, length_);
    });
    Sizes sizes{0.0, 0.0};
    for (const Chunk& c : chunks_) sizes = {std::max(sizes.step, c.sizes.step), std::max(sizes.motion, c.sizes.motion)};
    return sizes;
}

double Dca::size(const double* motion) { return size_of(motion, 0, model_->bodies(), length_); }

}  // namespace bellcrank
