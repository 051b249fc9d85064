// The hash-consed graph of expressions. Equal expressions are one node; what can be simplified is simplified where it
// is built, never in a later pass. A sign is carried on the reference, so that −x is x seen through a minus.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace bellcrank {

enum class Op : std::uint8_t {
    constant,  // a non-negative number (its sign is on the reference)
    symbol,
    add,       // a + b
    multiply,  // a b, both unsigned
    reciprocal,
    square_root,
    sine,
    cosine,
    tangent,
    arcsine,
    arccosine,
    arctangent,
    arctangent_2,  // atan2(a, b)
    hyperbolic_sine,
    hyperbolic_cosine,
    hyperbolic_tangent,
    exponential,
    logarithm,
    power,  // a^b; whole and half powers become products, reciprocals and roots
    absolute,
    sign,
    minimum,
    maximum,
    floor,
    less,        // a < b, 1 or 0
    less_equal,  // a ≤ b, 1 or 0
    select,      // a ≠ 0 ? b : c
    table,       // derivative number `order` of function number `function` at a
};

// A node seen through a sign. Node 0 is the constant 0 and has none; node 1 is the constant 1.
struct Ref {
    std::uint32_t bits = 0;

    Ref() = default;
    Ref(std::uint32_t index, bool negative) : bits(index << 1 | (negative ? 1u : 0u)) {}
    std::uint32_t index() const { return bits >> 1; }
    bool negative() const { return bits & 1; }
    Ref operator-() const { return Ref(index(), index() != 0 && !negative()); }
    Ref unsigned_part() const { return Ref(index(), false); }
    friend bool operator==(Ref, Ref) = default;
};

struct Node {
    Op op;
    std::uint8_t order = 0;      // of a table's derivative
    std::uint16_t function = 0;  // number of the table
    Ref a{}, b{}, c{};           // operands; of a symbol: a.bits is its number
    double value = 0.0;          // of a constant
};

// What is known of a value wherever it is finite: it lies in [low, high], and perhaps is not zero.
struct Interval {
    double low = -std::numeric_limits<double>::infinity();
    double high = std::numeric_limits<double>::infinity();
    bool nonzero = false;

    bool is_nonzero() const { return nonzero || low > 0.0 || high < 0.0; }
    bool is_positive() const { return low >= 0.0 && is_nonzero(); }
    bool is_negative() const { return high <= 0.0 && is_nonzero(); }
    friend auto operator<=>(const Interval&, const Interval&) = default;
};

// Rewriting that may be switched; what is always done is told in docs/theory/expressions.md.
struct Rules {
    bool trigonometric = true;    // K sin² + K cos² → K
    bool common_factors = false;  // a b + a c → a (b + c)
    bool hoist_halves = false;    // 2, ½, 4 and ¼ move to the front of products
};

enum class SymbolKind : std::uint8_t {
    plain,
    parameter,  // of a mechanism
    input,      // a number that may change during a run
    offset,     // of the position that a drive prescribes: since an input last changed its velocity
};

// Symbols with equal fields are the same one, in whatever graph their copies lie.
struct Symbol {
    std::string name;
    Interval range = {};
    SymbolKind kind = SymbolKind::plain;
    double value = 0.0;       // that it was made with; not of a plain one
    std::string unit = {};    // of an input's value
    std::string origin = {};  // distinguishes a symbol from all that have its name
    friend auto operator<=>(const Symbol&, const Symbol&) = default;
};

struct Table {
    std::string kind;  // of cpp/functions
    std::vector<double> params;
};

class Graph {
  public:
    Graph();
    ~Graph();
    Graph(const Graph&) = delete;
    Graph& operator=(const Graph&) = delete;

    Rules rules;

    // Throws std::invalid_argument unless the value is finite.
    Ref constant(double value);
    // A new symbol; names need not differ, symbols do.
    Ref symbol(std::string name, Interval range = {});
    Ref symbol(Symbol symbol);
    std::uint16_t table(Table table);

    Ref add(Ref a, Ref b);
    Ref subtract(Ref a, Ref b) { return add(a, -b); }
    Ref multiply(Ref a, Ref b);
    Ref divide(Ref a, Ref b);
    Ref reciprocal(Ref a);
    Ref power(Ref a, Ref b);
    Ref apply(Op op, Ref a);         // functions of one operand
    Ref apply(Op op, Ref a, Ref b);  // of two: arctangent_2, minimum, maximum, less, less_equal
    Ref select(Ref condition, Ref yes, Ref no);
    Ref table_value(std::uint16_t function, int order, Ref a);  // order 0, 1 or 2; throws std::invalid_argument

    const Node& node(Ref r) const { return node(r.index()); }
    const Node& node(std::uint32_t index) const { return nodes_[index]; }
    std::size_t size() const { return nodes_.size(); }
    const Symbol& symbol_of(Ref r) const;
    const Table& table_of(std::uint16_t function) const;
    bool is_constant(Ref r) const { return node(r).op == Op::constant; }
    double constant_value(Ref r) const;  // signed
    // A range proven for r, from the ranges of its symbols.
    Interval range(Ref r) const;

    // Nodes that the roots need, ascending, and so every operand before its user.
    std::vector<std::uint32_t> reachable(std::span<const Ref> roots) const;

    // Drops the nodes made since the graph had that size. No Ref to them may be in use.
    void forget(std::size_t size);

    // Room for so many nodes, to save growing on the way.
    void reserve(std::size_t nodes);
    // What the graph occupies.
    std::size_t bytes() const;

  private:
    friend class GraphPart;
    struct Index;     // finds equal nodes; what is known of each
    struct Sums;      // rules of sums
    struct Products;  // rules of products

    Ref intern(const Node& node);  // the node that equals this one, made if there is none
    bool find(const Node& node, Ref& found) const;
    Ref folded(double value, const Node& otherwise);  // the constant if it is finite

    std::vector<Node> nodes_;
    std::unique_ptr<Index> index_;
    int depth_ = 0;  // of rules that rebuild what they changed
};

}  // namespace bellcrank
