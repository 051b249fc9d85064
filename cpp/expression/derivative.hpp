// Differentiation of expressions: forward, reverse, factored (B. Guenter, Efficient symbolic differentiation for
// graphics applications, 2007: D*), by elimination of vertices, or by whichever of these needs the fewest operations.
#pragma once

#include <span>
#include <vector>

#include "expression/graph.hpp"
#include "spatial/fields.hpp"

namespace bellcrank {

enum class DerivativeForm { forward, reverse, factored, eliminated, least };

// Row by row ∂ outputs[i] / ∂ symbols[j]. `factored` builds both its orders and `least` all forms; kept is the one
// whose outputs and derivatives together need the fewest operations. Throws std::invalid_argument unless the symbols
// are symbols, and for a fourth derivative of a table.
std::vector<Ref> derivative(Graph& graph, std::span<const Ref> outputs, std::span<const Ref> symbols,
                            DerivativeForm form = DerivativeForm::least);

// d/dt of the roots, where symbols[i] changes at rates[i]: one forward pass.
std::vector<Ref> rate(Graph& graph, std::span<const Ref> roots, std::span<const Ref> symbols,
                      std::span<const Ref> rates);

// The factor of `symbol` in an expression that is linear in it; throws std::invalid_argument if it is not.
Ref coefficient(Graph& graph, Ref root, Ref symbol);
// The same of several roots, in one pass.
std::vector<Ref> coefficients(Graph& graph, std::span<const Ref> roots, Ref symbol);

// The roots with symbols[i] replaced by values[i], simplified anew.
std::vector<Ref> substitute(Graph& graph, std::span<const Ref> roots, std::span<const Ref> symbols,
                            std::span<const Ref> values);

struct OperationCount {
    int additions = 0, multiplications = 0, divisions = 0, trigonometric = 0, other = 0;

    BELLCRANK_FIELDS(OperationCount, (additions), (multiplications), (divisions), (trigonometric), (other))
    int total() const { return additions + multiplications + divisions + trigonometric + other; }
};

// One for each binary sum and product; signs are free; constants' own arithmetic is folded (counting rule of the docs).
OperationCount count_operations(const Graph& graph, std::span<const Ref> roots);

// Sums and products that the outputs and their derivatives would take if every path from an output to a symbol were
// multiplied out by itself and no two shared anything: the sum that D* factors. Beyond 2^53 the count is rounded.
struct PathCount {
    double additions = 0.0, multiplications = 0.0;

    BELLCRANK_FIELDS(PathCount, (additions), (multiplications))
    double total() const { return additions + multiplications; }
};
PathCount count_path_operations(const Graph& graph, std::span<const Ref> outputs, std::span<const Ref> symbols);

}  // namespace bellcrank
