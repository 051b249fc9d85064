// Nodes: made once, found by open addressing.
#include "expression/graph.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "expression/index.hpp"
#include "expression/numbers.hpp"
#include "expression/reach.hpp"
#include "interruption/interruption.hpp"

namespace bellcrank {

namespace {

bool same(const Node& x, const Node& y) {
    return x.op == y.op && x.order == y.order && x.function == y.function && x.a == y.a && x.b == y.b && x.c == y.c &&
           x.value == y.value;
}

// The last operand that was made; 0 for constants and symbols, which gathers them in few buckets: the others take what
// overflows.
std::uint32_t newest_operand(const Node& n) {
    const int count = operand_count(n.op);
    return count == 0 ? 0 : std::max({n.a.index(), count > 1 ? n.b.index() : 0, count > 2 ? n.c.index() : 0});
}

}  // namespace

std::uint32_t Graph::Index::hash(const Node& n) {
    const std::uint64_t head =
        static_cast<std::uint64_t>(n.op) | std::uint64_t{n.order} << 8 | std::uint64_t{n.function} << 16;
    std::uint64_t h = mix(head ^ std::uint64_t{n.a.bits} << 32);
    h = mix(h ^ (std::uint64_t{n.b.bits} | std::uint64_t{n.c.bits} << 32));
    if (n.op == Op::constant) h = mix(h ^ std::bit_cast<std::uint64_t>(n.value));
    return static_cast<std::uint32_t>(h);
}

Graph::Index::Slot& Graph::Index::slot_of(const std::vector<Node>& nodes, const Node& node, std::uint32_t hash) {
    const std::size_t mask = buckets.size() - 1;
    const std::size_t step = 2 * (hash >> 16) + 1;  // odd, and so it comes to every bucket
    std::size_t at = newest_operand(node) / 6 & mask;
    for (std::size_t next = hash;; next += step) {
        for (Slot& slot : buckets[at].slots) {
            if (slot.node == 0 || (slot.hash == hash && same(nodes[slot.node], node))) return slot;
        }
        at = next & mask;
    }
}

void Graph::Index::grow(const std::vector<Node>& nodes, std::size_t bucket_count) {
    buckets.assign(bucket_count, Bucket{});
    for (std::size_t i = 1; i < nodes.size(); ++i) {
        const std::uint32_t h = hash(nodes[i]);
        slot_of(nodes, nodes[i], h) = {h, static_cast<std::uint32_t>(i)};
    }
}

// Node 0 is the constant 0, so that a Ref made without arguments is zero.
Graph::Graph() : index_(std::make_unique<Index>()) {
    nodes_.push_back({.op = Op::constant});
    index_->facts.push_back(facts_of(*this, index_->facts, nodes_[0]));
    constant(1.0);
}

Graph::~Graph() = default;

Ref Graph::intern(const Node& node) {
    Index& index = *index_;
    const std::uint32_t hash = Index::hash(node);
    Index::Slot* slot = &index.slot_of(nodes_, node, hash);
    if (slot->node != 0) return Ref(slot->node, false);
    look_for_interrupts();  // before anything is changed
    if (nodes_.size() >= std::size_t{1} << 31) throw std::length_error("a graph holds at most 2^31 nodes");
    if (index.full(nodes_.size())) {
        index.grow(nodes_, 2 * index.buckets.size());
        slot = &index.slot_of(nodes_, node, hash);
    }
    const auto number = static_cast<std::uint32_t>(nodes_.size());
    index.facts.push_back(facts_of(*this, index.facts, node));
    nodes_.push_back(node);
    *slot = {hash, number};
    return Ref(number, false);
}

bool Graph::find(const Node& node, Ref& found) const {
    const Index::Slot& slot = index_->slot_of(nodes_, node, Index::hash(node));
    if (slot.node == 0) return false;
    found = Ref(slot.node, false);
    return true;
}

Ref Graph::constant(double value) {
    if (!std::isfinite(value)) throw std::invalid_argument("a constant of an expression must be a finite number");
    if (value == 0.0) return Ref();
    const Ref magnitude = intern({.op = Op::constant, .value = std::abs(value)});
    return value < 0.0 ? -magnitude : magnitude;
}

Ref Graph::folded(double value, const Node& otherwise) {
    return std::isfinite(value) ? constant(value) : intern(otherwise);
}

Ref Graph::symbol(std::string name, Interval range) { return symbol(Symbol{std::move(name), range}); }

Ref Graph::symbol(Symbol symbol) {
    if (!(symbol.range.low <= symbol.range.high))
        throw std::invalid_argument("symbol '" + symbol.name + "': its range is empty");
    Node node{.op = Op::symbol};
    node.a.bits = static_cast<std::uint32_t>(index_->symbols.size());
    index_->symbols.push_back(std::move(symbol));
    return intern(node);
}

std::uint16_t Graph::table(Table table) {
    std::vector<Table>& tables = index_->tables;
    for (std::size_t i = 0; i < tables.size(); ++i) {
        if (tables[i].kind == table.kind && tables[i].params == table.params) return static_cast<std::uint16_t>(i);
    }
    if (tables.size() == std::numeric_limits<std::uint16_t>::max()) {
        throw std::length_error("a graph holds at most 65,535 tables");
    }
    tables.push_back(std::move(table));
    return static_cast<std::uint16_t>(tables.size() - 1);
}

const Symbol& Graph::symbol_of(Ref r) const {
    if (node(r).op != Op::symbol) throw std::invalid_argument("the expression is not a symbol");
    return index_->symbols[node(r).a.bits];
}

const Table& Graph::table_of(std::uint16_t function) const { return index_->tables.at(function); }

double Graph::constant_value(Ref r) const { return r.negative() ? -node(r).value : node(r).value; }

Interval Graph::range(Ref r) const {
    const Node& n = node(r);
    const Facts& f = index_->facts[r.index()];
    Interval known{f.low, f.high, (f.flags & kNonzero) != 0};
    if (n.op == Op::constant) known = {n.value, n.value, n.value != 0.0};
    if (n.op == Op::symbol) known = index_->symbols[n.a.bits].range;
    return r.negative() ? Interval{-known.high, -known.low, known.nonzero} : known;
}

std::vector<std::uint32_t> Graph::reachable(std::span<const Ref> roots) const { return Reach(*this, roots).nodes(); }

// Buckets are filled from the first slot on, in the order in which nodes are made, and so is every search that passes a
// full bucket: taking out the last one leaves what it found.
void Graph::Index::drop_last(const std::vector<Node>& nodes) {
    slot_of(nodes, nodes.back(), hash(nodes.back())) = {0, 0};
}

void Graph::forget(std::size_t size) {
    for (; nodes_.size() > size; nodes_.pop_back(), index_->facts.pop_back()) {
        if (nodes_.back().op == Op::symbol) throw std::logic_error("a symbol is not forgotten");
        index_->drop_last(nodes_);
    }
}

void Graph::reserve(std::size_t count) {
    nodes_.reserve(count);
    index_->facts.reserve(count);
    const std::size_t wanted = std::bit_ceil(count / 6 + 1);
    if (wanted > index_->buckets.size()) index_->grow(nodes_, wanted);
}

std::size_t Graph::bytes() const {
    return nodes_.capacity() * sizeof(Node) + index_->facts.capacity() * sizeof(Facts) +
           index_->buckets.capacity() * sizeof(Index::Bucket);
}

// What is known of a node when it is made.

namespace {

float rounded_down(double x) {
    const float f = static_cast<float>(x);
    return static_cast<double>(f) > x ? std::nextafterf(f, -std::numeric_limits<float>::infinity()) : f;
}

float rounded_up(double x) { return -rounded_down(-x); }

Interval range_of(const Graph& graph, const Node& n) {
    switch (n.op) {
        case Op::constant:
            return {n.value, n.value, n.value != 0.0};
        case Op::symbol:
            return {};  // Graph::range asks the symbol
        case Op::add:
            return interval_sum(graph.range(n.a), graph.range(n.b));
        case Op::multiply:
            return interval_product(graph.range(n.a), graph.range(n.b), n.a == n.b);
        case Op::reciprocal:
            return interval_reciprocal(graph.range(n.a));
        case Op::select:
            return interval_union(graph.range(n.b), graph.range(n.c));
        case Op::arctangent_2:
        case Op::power:
        case Op::minimum:
        case Op::maximum:
        case Op::less:
        case Op::less_equal:
            return interval_of_function(n.op, graph.range(n.a), graph.range(n.b));
        case Op::table:
            return {};
        default:
            return interval_of_function(n.op, graph.range(n.a));
    }
}

// Flags of a node as a factor of products that it enters.
std::uint8_t factor_flags(Op op) {
    switch (op) {
        case Op::reciprocal:
            return kReciprocal;
        case Op::square_root:
        case Op::absolute:
            return kRoot;
        case Op::power:
            return kPower;
        case Op::sine:
        case Op::cosine:
            return kTrigonometric;
        default:
            return 0;
    }
}

}  // namespace

Facts facts_of(const Graph& graph, const std::vector<Facts>& facts, const Node& n) {
    const Interval range = range_of(graph, n);
    Facts f{rounded_down(range.low), rounded_up(range.high), 0, 1, factor_flags(n.op)};
    if (n.op == Op::multiply) {
        const Facts &a = facts[n.a.index()], &b = facts[n.b.index()];
        f.product = a.product + b.product;
        f.factors = static_cast<std::uint8_t>(std::min(255, a.factors + b.factors));
        f.flags = static_cast<std::uint8_t>((a.flags | b.flags) & ~kNonzero);
        if ((a.flags & b.flags & kTrigonometric) != 0) f.flags |= kTrigonometricTwo;
    } else if (n.op == Op::constant) {
        f.factors = 0;
    } else {
        f.product = factor_hash(static_cast<std::uint32_t>(facts.size()));
    }
    if (range.is_nonzero()) f.flags |= kNonzero;
    return f;
}

}  // namespace bellcrank
