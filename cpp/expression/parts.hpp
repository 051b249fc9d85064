// A nested sum or product opened into its terms or factors, and put together again without one of them.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include "expression/graph.hpp"

namespace bellcrank {

// Up to kMost leaves, the outermost first opened; leaves of sums carry their sign.
template <int kMost>
class Parts {
  public:
    Parts(const Graph& graph, Op op, Ref root) : op_(op) {
        entries_[0] = {root, -1, -1};
        int size = 1;
        for (int i = 0; i < size; ++i) {
            const Ref r = entries_[i].ref;
            const Node& n = graph.node(r);
            if (n.op == op && size + 2 > static_cast<int>(entries_.size())) complete_ = false;
            if (n.op != op || size + 2 > static_cast<int>(entries_.size())) {
                leaves_[count_++] = static_cast<std::int16_t>(i);
                continue;
            }
            const bool minus = op == Op::add && r.negative();
            entries_[size] = {minus ? -n.a : n.a, i, size + 1};
            entries_[size + 1] = {minus ? -n.b : n.b, i, size};
            size += 2;
        }
    }

    int count() const { return count_; }
    bool complete() const { return complete_; }  // no leaf could be opened further
    Ref operator[](int leaf) const { return entries_[leaves_[leaf]].ref; }

    // The whole with one leaf left out: only the partial results that held it are new.
    Ref without(Graph& graph, int leaf) const {
        const Entry* e = &entries_[leaves_[leaf]];
        if (e->parent < 0) return op_ == Op::add ? Ref() : graph.constant(1.0);
        Ref rest = entries_[e->sibling].ref;
        for (e = &entries_[e->parent]; e->parent >= 0; e = &entries_[e->parent]) {
            const Ref other = entries_[e->sibling].ref;
            rest = op_ == Op::add ? graph.add(rest, other) : graph.multiply(rest, other);
        }
        return rest;
    }

  private:
    struct Entry {
        Ref ref;
        int parent, sibling;
    };
    Op op_;
    std::array<Entry, 2 * kMost - 1> entries_;
    std::array<std::int16_t, kMost> leaves_;
    int count_ = 0;
    bool complete_ = true;
};

using Terms = Parts<8>;
using Factors = Parts<16>;

// A product as a number times a sorted multiset of factors that are not products. A product of too many factors is its
// own and only factor: it is not `open`.
struct Monomial {
    static constexpr int kMost = 32;
    double coefficient = 1.0;
    bool open = true;
    int count = 0;
    std::array<std::uint32_t, kMost> factors;

    // known: the number of factors, if the caller knows that there are many.
    Monomial(const Graph& graph, Ref product, int known = 0);
    std::span<const std::uint32_t> list() const { return {factors.data(), static_cast<std::size_t>(count)}; }
    bool same_factors(const Monomial& other) const {
        return std::equal(list().begin(), list().end(), other.list().begin(), other.list().end());
    }
};

// All factors of an open monomial, with the constants between them.
using AllFactors = Parts<3 * Monomial::kMost>;

// Rules that rebuild a part of what they changed call each other; this deep and no deeper.
struct Depth {
    static constexpr int kMost = 48;
    int& depth;

    explicit Depth(int& counter) : depth(++counter) {}
    ~Depth() { --depth; }
    Depth(const Depth&) = delete;
    Depth& operator=(const Depth&) = delete;
    bool allowed() const { return depth <= kMost; }
};

}  // namespace bellcrank
