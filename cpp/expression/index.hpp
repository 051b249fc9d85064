// What a graph keeps beside its nodes: a table with open addressing that finds equal nodes, and per node the facts
// that the rules of simplification ask for, known when the node is made.
//
// The table is of buckets as large as a cache line. A node is sought first in a bucket that follows from its newest
// operand, neighbours of which were touched a moment ago, then in buckets all over the table. Work stays in the cache
// however large the graph; hashing alone would miss it at every node.
#pragma once

#include <vector>

#include "expression/graph.hpp"

namespace bellcrank {

// 16 bytes a node. The range is rounded outwards to single precision; of constants and symbols the exact one is known.
struct Facts {
    float low, high;
    std::uint32_t product;  // hash of the factors, whatever their order; constants do not count
    std::uint8_t factors;   // that are not constant; 255 is that many or more
    std::uint8_t flags;
};

enum FactFlag : std::uint8_t {
    kNonzero = 1,
    kReciprocal = 2,         // 1/x is a factor
    kRoot = 4,               // √x or |x| is a factor
    kTrigonometric = 8,      // sin x or cos x is a factor
    kTrigonometricTwo = 16,  // at least two such factors
    kPower = 32              // x^c is a factor
};

inline std::uint64_t mix(std::uint64_t x) {  // the finalizer of MurmurHash3 (A. Appleby, public domain)
    x = (x ^ (x >> 33)) * 0xff51afd7ed558ccdULL;
    x = (x ^ (x >> 33)) * 0xc4ceb9fe1a85ec53ULL;
    return x ^ (x >> 33);
}

// The share of a factor in Facts::product.
inline std::uint32_t factor_hash(std::uint32_t index) { return static_cast<std::uint32_t>(mix(index + 1)); }

struct Graph::Index {
    struct Slot {
        std::uint32_t hash, node;  // node 0 is never looked up, so that 0 is an empty slot
    };
    struct alignas(64) Bucket {
        Slot slots[8];  // filled from the first on
    };

    std::vector<Bucket> buckets = std::vector<Bucket>(8);
    std::vector<Facts> facts;
    std::vector<Symbol> symbols;
    std::vector<Table> tables;

    static std::uint32_t hash(const Node& node);
    // The slot of the node that equals this one, or the empty slot where it belongs.
    Slot& slot_of(const std::vector<Node>& nodes, const Node& node, std::uint32_t hash);
    // Empties the slot of the node made last.
    void drop_last(const std::vector<Node>& nodes);
    bool full(std::size_t nodes) const { return nodes >= 6 * buckets.size(); }
    void grow(const std::vector<Node>& nodes, std::size_t bucket_count);
};

// Facts of a node whose operands are in the graph.
Facts facts_of(const Graph& graph, const std::vector<Facts>& facts, const Node& node);

}  // namespace bellcrank
