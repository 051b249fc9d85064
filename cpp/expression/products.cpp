// Products, reciprocals and powers, simplified as they are built.
#include <cmath>
#include <utility>

#include "expression/index.hpp"
#include "expression/parts.hpp"

namespace bellcrank {

namespace {

constexpr double kLargestPower = 1024.0;  // whole powers up to here become products

// Folding must not lose what a product of three would have kept: c₁ (c₂ x) with c₁ c₂ beyond the numbers.
bool keeps(double product) { return std::isnormal(product); }

Ref with_sign(Ref r, bool negative) { return negative ? -r : r; }

}  // namespace

Monomial::Monomial(const Graph& graph, Ref product, int known) {
    if (product.negative()) coefficient = -1.0;
    std::array<std::uint32_t, 2 * kMost + 8> pending;
    int waiting = 0;
    open = known <= kMost;
    if (open) pending[waiting++] = product.index();
    while (waiting > 0) {
        const std::uint32_t index = pending[--waiting];
        const Node& n = graph.node(index);
        if (n.op == Op::multiply) {
            open = waiting + 2 <= static_cast<int>(pending.size());
            if (!open) break;
            pending[waiting++] = n.a.index();
            pending[waiting++] = n.b.index();
        } else if (n.op == Op::constant) {
            coefficient *= n.value;
        } else {
            open = count < kMost;
            if (!open) break;
            factors[count++] = index;
        }
    }
    if (!open) {
        coefficient = product.negative() ? -1.0 : 1.0;
        count = 0;
        factors[count++] = product.index();
    }
    std::sort(factors.data(), factors.data() + count);
}

struct Graph::Products {
    Graph& graph;
    Ref a, b;

    const Facts& facts(Ref r) const { return graph.index_->facts[r.index()]; }
    bool nonzero(Ref r) const { return (facts(r).flags & kNonzero) != 0 || graph.range(r).is_nonzero(); }
    Ref product(Ref x, Ref y, Ref z) const { return graph.multiply(graph.multiply(x, y), z); }

    bool simplify(Ref& out) const {
        if (graph.is_constant(a) && undo_constant(out)) return true;
        const std::uint8_t p = facts(a).flags, q = facts(b).flags;
        if ((p & kReciprocal) != 0 && cancel(a, b, out)) return true;
        if ((q & kReciprocal) != 0 && cancel(b, a, out)) return true;
        if ((p & q & kRoot) != 0 && roots(out)) return true;
        return ((p | q) & kPower) != 0 && powers(out);
    }

    // c ((1/c x) y) → x y: a constant within the product that a undoes to the last bit but one.
    bool undo_constant(Ref& out) const {
        const Factors factors(graph, Op::multiply, b);
        for (int i = 0; i < factors.count(); ++i) {
            if (!graph.is_constant(factors[i])) continue;
            if (std::abs(graph.node(a).value * graph.node(factors[i]).value - 1.0) > 2.3e-16) continue;
            out = factors.without(graph, i);
            return true;
        }
        return false;
    }

    // A factor 1/k of x against a factor k of y.
    bool cancel(Ref x, Ref y, Ref& out) const {
        const Factors inverse(graph, Op::multiply, x), other(graph, Op::multiply, y);
        for (int i = 0; i < inverse.count(); ++i) {
            if (graph.node(inverse[i]).op != Op::reciprocal) continue;
            const Ref k = graph.node(inverse[i]).a;
            const bool safe = nonzero(k);
            for (int j = 0; j < other.count(); ++j) {
                Ref quotient;
                if ((!safe && !is_root(k, other[j])) || !ratio(other[j], k, quotient)) continue;
                out = product(inverse.without(graph, i), other.without(graph, j), quotient);
                return true;
            }
            if (!safe || graph.node(k).op != Op::multiply || !contained(k, x, y)) continue;
            Ref rest_x = inverse.without(graph, i), rest_y = y;
            if (!divide_out(k, rest_x, rest_y)) continue;
            out = graph.multiply(rest_x, rest_y);
            return true;
        }
        return false;
    }

    // Whether k = √y: then y/k has a limit where k is zero, and √y has it as its value.
    bool is_root(Ref k, Ref y) const { return graph.node(k).op == Op::square_root && graph.node(k).a == y; }

    // y / k where that is shorter: k/k, E/√E, √E/E.
    bool ratio(Ref y, Ref k, Ref& out) const {
        if (y == k) {
            out = graph.constant(1.0);
        } else if (is_root(k, y)) {
            out = k;
        } else if (graph.node(y).op == Op::square_root && graph.node(y).a == k) {
            out = graph.reciprocal(y);
        } else {
            return false;
        }
        return true;
    }

    // Whether x and y together have all factors of the product k, and y some of them.
    bool contained(Ref k, Ref x, Ref y) const {
        if (facts(k).factors > Monomial::kMost || facts(k).factors > facts(x).factors + facts(y).factors) return false;
        const Monomial wanted(graph, k), p(graph, x, facts(x).factors), q(graph, y, facts(y).factors);
        if (!wanted.open || !p.open || !q.open || wanted.coefficient != 1.0) return false;
        std::array<std::uint32_t, 2 * Monomial::kMost> both;
        const auto end = std::merge(p.list().begin(), p.list().end(), q.list().begin(), q.list().end(), both.begin());
        const auto any = [&](std::uint32_t f) { return std::binary_search(q.list().begin(), q.list().end(), f); };
        return std::includes(both.begin(), end, wanted.list().begin(), wanted.list().end()) &&
               std::any_of(wanted.list().begin(), wanted.list().end(), any);
    }

    // Takes the factors of k out of y and, where it has them not, out of x.
    bool divide_out(Ref k, Ref& x, Ref& y) const {
        const Monomial wanted(graph, k);
        for (const std::uint32_t factor : wanted.list()) {
            if (!take_out(factor, y) && !take_out(factor, x)) return false;
        }
        return true;
    }

    bool take_out(std::uint32_t factor, Ref& product) const {
        const AllFactors factors(graph, Op::multiply, product);
        for (int i = 0; i < factors.count(); ++i) {
            if (factors[i].index() != factor) continue;
            product = factors.without(graph, i);
            return true;
        }
        return false;
    }

    // √k √k → k and |k| |k| → k².
    bool roots(Ref& out) const {
        const Factors left(graph, Op::multiply, a), right(graph, Op::multiply, b);
        for (int i = 0; i < left.count(); ++i) {
            const Node n = graph.node(left[i]);
            if (n.op != Op::square_root && n.op != Op::absolute) continue;
            for (int j = 0; j < right.count(); ++j) {
                if (right[j] != left[i]) continue;
                const Ref square = n.op == Op::square_root ? n.a : graph.multiply(n.a, n.a);
                out = product(left.without(graph, i), right.without(graph, j), square);
                return true;
            }
        }
        return false;
    }

    // A factor as a power of a number.
    struct Power {
        Ref base;
        double exponent;
    };
    Power power_of(Ref r) const {
        const Node& n = graph.node(r);
        if (n.op == Op::power && graph.is_constant(n.b)) return {n.a, graph.constant_value(n.b)};
        if (n.op == Op::square_root) return {n.a, 0.5};
        if (n.op == Op::reciprocal) return {n.a, -1.0};
        return {r, 1.0};
    }

    // x^c x^d → x^(c + d), but for whole c + d, where x may be negative, and then only the result would be a number.
    bool powers(Ref& out) const {
        const Factors left(graph, Op::multiply, a), right(graph, Op::multiply, b);
        for (int i = 0; i < left.count(); ++i) {
            const Power one = power_of(left[i]);
            for (int j = 0; j < right.count(); ++j) {
                if (graph.node(left[i]).op != Op::power && graph.node(right[j]).op != Op::power) continue;
                const Power other = power_of(right[j]);
                const double exponent = one.exponent + other.exponent;
                if (one.base != other.base || exponent == std::floor(exponent)) continue;
                out = product(left.without(graph, i), right.without(graph, j),
                              graph.power(one.base, graph.constant(exponent)));
                return true;
            }
        }
        return false;
    }

    // 2, ½, 4 or ¼ in front of x.
    static bool halved(const Graph& graph, Ref x) {
        const Node& n = graph.node(x);
        if (n.op != Op::multiply || !graph.is_constant(n.a)) return false;
        const double c = graph.node(n.a).value;
        return c == 2.0 || c == 0.5 || c == 4.0 || c == 0.25;
    }
};

Ref Graph::multiply(Ref a, Ref b) {
    const bool negative = a.negative() != b.negative();
    a = a.unsigned_part();
    b = b.unsigned_part();
    if (a.index() == 0 || b.index() == 0) return Ref();
    if (is_constant(a) != is_constant(b) ? is_constant(b) : a.index() > b.index()) std::swap(a, b);
    Node node{.op = Op::multiply};
    node.a = a;
    node.b = b;
    if (is_constant(a)) {
        const double c = this->node(a).value;
        if (c == 1.0) return with_sign(b, negative);
        if (is_constant(b)) {
            const double value = c * this->node(b).value;
            return with_sign(keeps(value) ? constant(value) : intern(node), negative);
        }
        const Node inner = this->node(b);
        if (inner.op == Op::multiply && is_constant(inner.a) && keeps(c * this->node(inner.a).value)) {
            return with_sign(multiply(constant(c * this->node(inner.a).value), inner.b), negative);
        }
    } else if (rules.hoist_halves) {
        if (!Products::halved(*this, a)) std::swap(a, b);
        if (Products::halved(*this, a)) {
            const Node inner = this->node(a);
            return with_sign(multiply(inner.a, multiply(inner.b, b)), negative);
        }
    }
    Ref out;
    if (!find(node, out)) {
        const Depth depth(depth_);
        if (!depth.allowed() || !Products{*this, node.a, node.b}.simplify(out)) out = intern(node);
    }
    return with_sign(out, negative);
}

Ref Graph::divide(Ref a, Ref b) {
    if (is_constant(a) && is_constant(b) && b.index() != 0 && keeps(constant_value(a) / constant_value(b))) {
        return constant(constant_value(a) / constant_value(b));
    }
    return multiply(a, reciprocal(b));
}

Ref Graph::reciprocal(Ref a) {
    const bool negative = a.negative() && a.index() != 0;
    a = a.unsigned_part();
    const Node inner = node(a);
    Node node{.op = Op::reciprocal};
    node.a = a;
    if (inner.op == Op::constant && keeps(1.0 / inner.value)) return with_sign(constant(1.0 / inner.value), negative);
    if (inner.op == Op::reciprocal) return with_sign(inner.a, negative);
    const Depth depth(depth_);
    if (inner.op == Op::multiply && depth.allowed()) {
        for (const auto& [one, other] : {std::pair{inner.a, inner.b}, std::pair{inner.b, inner.a}}) {
            const Node n = this->node(one);
            if (n.op == Op::reciprocal) return with_sign(multiply(n.a, reciprocal(other)), negative);
            if (n.op == Op::constant && keeps(1.0 / n.value)) {
                return with_sign(multiply(constant(1.0 / n.value), reciprocal(other)), negative);
            }
        }
    }
    return with_sign(intern(node), negative);
}

Ref Graph::power(Ref a, Ref b) {
    Node node{.op = Op::power};
    node.a = a;
    node.b = b;
    if (!is_constant(b)) {
        if (a == constant(1.0)) return a;
        return intern(node);
    }
    const double exponent = constant_value(b);
    if (is_constant(a)) {
        const double value = std::pow(constant_value(a), exponent);
        if (keeps(value) || value == 0.0) return folded(value, node);
    }
    const double twice = 2.0 * std::abs(exponent);
    if (twice != std::floor(twice) || twice > 2.0 * kLargestPower) return intern(node);
    if (exponent < 0.0) return reciprocal(power(a, constant(-exponent)));
    const bool half = std::floor(exponent) != exponent;
    if (half && exponent > 1.0 && !a.negative() && this->node(a).op == Op::multiply && is_constant(this->node(a).a)) {
        const Ref rest = this->node(a).b;  // (c x)^n = c^n x^n, so that 1/√x meets x in its derivatives
        const double factor = std::pow(constant_value(this->node(a).a), exponent);
        if (keeps(factor)) return multiply(constant(factor), power(rest, b));
    }
    Ref result = half ? apply(Op::square_root, a) : constant(1.0);
    Ref square = a;
    for (auto n = static_cast<unsigned>(exponent); n != 0; n >>= 1) {
        if ((n & 1) != 0) result = multiply(result, square);
        if (n > 1) square = multiply(square, square);
    }
    return result;
}

}  // namespace bellcrank
