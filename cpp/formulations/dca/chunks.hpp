// Loops over bodies and rows in chunks, which threads share.
#pragma once

#include "formulations/dca.hpp"

namespace bellcrank {

// Blocks in the order of the model; their rows are evaluated in as many stages as there are chunks.
RowOrder in_chunks(const Model& model);

template <class Visit>
void Dca::each_chunk(const Visit& visit) {
    const int count = static_cast<int>(chunks_.size());
    if (pool_) return pool_->run(count, [&](int c) { visit(chunks_[c]); });
    for (Chunk& chunk : chunks_) visit(chunk);
}

}  // namespace bellcrank
