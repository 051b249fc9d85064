// Sums, simplified as they are built.
#include <cmath>

#include "expression/index.hpp"
#include "expression/parts.hpp"

namespace bellcrank {

struct Graph::Sums {
    Graph& graph;
    Terms left, right;

    Sums(Graph& g, Ref a, Ref b) : graph(g), left(g, Op::add, a), right(g, Op::add, b) {}

    const Facts& facts(Ref r) const { return graph.index_->facts[r.index()]; }
    Monomial monomial(Ref r) const { return {graph, r, facts(r).factors}; }

    Ref rest(int i, int j, Ref merged) const {
        return graph.add(graph.add(left.without(graph, i), merged), right.without(graph, j));
    }

    // c₁ K + c₂ K → (c₁ + c₂) K, where K is any product: the terms i and j of the two sides, if they are such.
    bool combine(int i, int j, Ref& out) const {
        const Facts &p = facts(left[i]), &q = facts(right[j]);
        if (p.product != q.product || p.factors != q.factors) return false;
        const Monomial a = monomial(left[i]), b = monomial(right[j]);
        if (!a.same_factors(b)) return false;
        const double c = a.coefficient + b.coefficient;
        if (!std::isnormal(a.coefficient) || !std::isnormal(b.coefficient) || !std::isfinite(c)) return false;
        Ref merged;
        if (!scaled(left[i], a, c, merged)) return false;
        out = rest(i, j, merged);
        return true;
    }

    // The product, which is m, with its constants replaced by c.
    bool scaled(Ref product, const Monomial& m, double c, Ref& out) const {
        product = m.count == 0 ? graph.constant(1.0) : product.unsigned_part();
        while (c != 0.0 && m.open && m.count > 0) {
            const AllFactors factors(graph, Op::multiply, product);
            if (!factors.complete()) return false;
            int at = 0;
            while (at < factors.count() && !graph.is_constant(factors[at])) ++at;
            if (at == factors.count()) break;
            product = factors.without(graph, at);
        }
        out = graph.multiply(graph.constant(c), product);
        return true;
    }

    // K sin² + K cos² → K for some term of the left side and its partner on the right.
    bool trigonometric(Ref& out) const {
        for (int i = 0; i < left.count(); ++i) {
            if ((facts(left[i]).flags & kTrigonometricTwo) == 0) continue;
            const Monomial a = monomial(left[i]);
            for (int k = 0; k + 1 < a.count; ++k) {
                if (a.factors[k] != a.factors[k + 1] || (k > 0 && a.factors[k - 1] == a.factors[k])) continue;
                Ref partner;
                if (conjugate(a.factors[k], partner) && pair(i, a, a.factors[k], partner.index(), out)) return true;
            }
        }
        return false;
    }

    // cos x of sin x and the other way, if the graph has it.
    bool conjugate(std::uint32_t factor, Ref& out) const {
        Node n = graph.node(factor);
        if (n.op != Op::sine && n.op != Op::cosine) return false;
        n.op = n.op == Op::sine ? Op::cosine : Op::sine;
        return graph.find(n, out);
    }

    // Term i holds `factor` squared: a term of the right side that holds `partner` squared instead.
    bool pair(int i, const Monomial& a, std::uint32_t factor, std::uint32_t partner, Ref& out) const {
        const Facts& p = facts(left[i]);
        const std::uint32_t wanted = p.product + 2 * (factor_hash(partner) - factor_hash(factor));
        for (int j = 0; j < right.count(); ++j) {
            const Facts& q = facts(right[j]);
            if (q.product != wanted || q.factors != p.factors) continue;
            const Monomial b = monomial(right[j]);
            if (b.coefficient != a.coefficient || !exchanged(a, factor, partner).same_factors(b)) continue;
            Ref merged;
            if (!without_square(left[i], factor, merged)) return false;
            out = rest(i, j, merged);
            return true;
        }
        return false;
    }

    static Monomial exchanged(Monomial a, std::uint32_t factor, std::uint32_t partner) {
        auto* at = std::find(a.factors.data(), a.factors.data() + a.count, factor);
        at[0] = at[1] = partner;
        std::sort(a.factors.data(), a.factors.data() + a.count);
        return a;
    }

    // The term (which keeps its sign) divided by factor².
    bool without_square(Ref term, std::uint32_t factor, Ref& out) const {
        out = term.unsigned_part();
        for (int round = 0; round < 2; ++round) {
            const AllFactors factors(graph, Op::multiply, out);
            int at = 0;
            while (at < factors.count() && factors[at].index() != factor) ++at;
            if (at == factors.count()) return false;
            out = factors.without(graph, at);
        }
        if (term.negative()) out = -out;
        return true;
    }

    // a b + a c → a (b + c)
    static bool common_factor(Graph& graph, Ref a, Ref b, Ref& out) {
        const Node p = graph.node(a), q = graph.node(b);
        if (p.op != Op::multiply || q.op != Op::multiply) return false;
        for (const auto& [shared, first] : {std::pair{p.a, p.b}, std::pair{p.b, p.a}}) {
            if (shared != q.a && shared != q.b) continue;
            const Ref second = shared == q.a ? q.b : q.a;
            out = graph.multiply(shared, graph.add(a.negative() ? -first : first, b.negative() ? -second : second));
            return true;
        }
        return false;
    }
};

Ref Graph::add(Ref a, Ref b) {
    if (a.index() == 0) return b;
    if (b.index() == 0) return a;
    if (a.index() == b.index()) return a == b ? multiply(constant(2.0), a) : Ref();
    if (a.index() > b.index()) std::swap(a, b);
    if (a.negative()) return -add(-a, -b);
    Node node{.op = Op::add};
    node.a = a;
    node.b = b;
    if (is_constant(a) && is_constant(b)) return folded(constant_value(a) + constant_value(b), node);
    Ref out;
    if (find(node, out)) return out;
    const Depth depth(depth_);
    if (!depth.allowed()) return intern(node);
    const Sums sums(*this, a, b);
    for (int i = 0; i < sums.left.count(); ++i) {
        for (int j = 0; j < sums.right.count(); ++j) {
            if (sums.combine(i, j, out)) return out;
        }
    }
    if (rules.trigonometric && sums.trigonometric(out)) return out;
    if (rules.common_factors && Sums::common_factor(*this, a, b, out)) return out;
    return intern(node);
}

}  // namespace bellcrank
