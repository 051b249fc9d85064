// Derivatives in three forms, of which the least is kept.
#include "expression/derivative.hpp"

#include <limits>

#include "expression/linear.hpp"
#include "expression/reach.hpp"
#include "expression/transfer.hpp"

namespace bellcrank {

namespace {

// The order in which a form goes through the linearised graph; factored_up expands each node by its operands,
// factored_down by its users.
enum class Order { forward, reverse, factored_up, factored_down, elimination };

class HoistHalves {
  public:
    explicit HoistHalves(Graph& graph) : rules_(graph.rules), before_(graph.rules.hoist_halves) {
        rules_.hoist_halves = true;
    }
    ~HoistHalves() { rules_.hoist_halves = before_; }
    HoistHalves(const HoistHalves&) = delete;
    HoistHalves& operator=(const HoistHalves&) = delete;

  private:
    Rules& rules_;
    bool before_;
};

std::vector<std::uint32_t> mirrored(const std::vector<std::uint32_t>& places, std::size_t size) {
    std::vector<std::uint32_t> out(places);
    for (std::uint32_t& p : out) p = p == kNowhere ? p : static_cast<std::uint32_t>(size - 1 - p);
    return out;
}

std::vector<Ref> turned(const std::vector<Ref>& matrix, std::size_t rows, std::size_t columns) {
    std::vector<Ref> out(matrix.size());
    for (std::size_t i = 0; i < rows; ++i) {
        for (std::size_t j = 0; j < columns; ++j) out[j * rows + i] = matrix[i * columns + j];
    }
    return out;
}

std::vector<Ref> build(Graph& graph, const Linearised& l, Order order) {
    if (order == Order::elimination) return eliminated_path_sums(graph, l);
    const bool up = order == Order::forward || order == Order::factored_up;
    const auto sums = order == Order::forward || order == Order::reverse ? path_sums : factored_path_sums;
    if (up) return sums(graph, l.linear, l.outputs, l.symbols);
    const std::size_t n = l.linear.size();
    return turned(sums(graph, transposed(l.linear), mirrored(l.symbols, n), mirrored(l.outputs, n)), l.symbols.size(),
                  l.outputs.size());
}

int total(const Graph& graph, std::span<const Ref> outputs, const std::vector<Ref>& derivatives) {
    std::vector<Ref> all(outputs.begin(), outputs.end());
    all.insert(all.end(), derivatives.begin(), derivatives.end());
    return count_operations(graph, all).total();
}

// Orders that go through the whole graph once for each output, or for each symbol, where the other is much less.
// Elimination keeps lists by node, which is too much for very large graphs.
bool hopeless(Order order, const Linearised& l) {
    if (order == Order::elimination) return l.linear.edges.size() > 200'000;
    const double visits = static_cast<double>(l.linear.edges.size());
    const bool by_symbols = order == Order::forward || order == Order::factored_up;
    const double mine = visits * static_cast<double>(by_symbols ? l.symbols.size() : l.outputs.size());
    const double other = visits * static_cast<double>(by_symbols ? l.outputs.size() : l.symbols.size());
    return mine > 2e6 && mine > 32.0 * other;
}

std::vector<Ref> least(Graph& graph, const Linearised& l, std::span<const Ref> outputs, std::span<const Order> orders) {
    const std::size_t before = graph.size();
    Order best = orders[0];
    int fewest = std::numeric_limits<int>::max();
    for (const Order order : orders) {
        if (hopeless(order, l)) continue;
        const std::vector<Ref> matrix = build(graph, l, order);
        const int count = total(graph, outputs, matrix);
        if (count < fewest && matrix.size() == l.outputs.size() * l.symbols.size()) {
            fewest = count;
            best = order;
        }
        graph.forget(before);
    }
    return build(graph, l, best);
}

}  // namespace

std::vector<Ref> derivative(Graph& graph, std::span<const Ref> outputs, std::span<const Ref> symbols,
                            DerivativeForm form) {
    const HoistHalves hoist(graph);
    const Linearised linearised = linearise(graph, outputs, symbols);
    constexpr Order all[] = {Order::forward, Order::reverse, Order::factored_up, Order::factored_down,
                             Order::elimination};
    std::vector<Ref> matrix;
    switch (form) {
        case DerivativeForm::forward:
            matrix = build(graph, linearised, Order::forward);
            break;
        case DerivativeForm::reverse:
            matrix = build(graph, linearised, Order::reverse);
            break;
        case DerivativeForm::factored:
            matrix = least(graph, linearised, outputs, std::span(all).subspan(2, 2));
            break;
        case DerivativeForm::eliminated:
            matrix = build(graph, linearised, Order::elimination);
            break;
        default:
            matrix = least(graph, linearised, outputs, all);
    }
    if (matrix.size() != outputs.size() * symbols.size()) {  // elimination filled up
        matrix = build(graph, linearised, Order::forward);
    }
    for (std::size_t k = 0; k < matrix.size(); ++k) {
        if (outputs[k / symbols.size()].negative()) matrix[k] = -matrix[k];
    }
    return matrix;
}

std::vector<Ref> rate(Graph& graph, std::span<const Ref> roots, std::span<const Ref> symbols,
                      std::span<const Ref> rates) {
    const HoistHalves hoist(graph);
    const Linearised l = linearise(graph, roots, symbols);
    const std::vector<Ref> rate_of = accumulate(graph, l.linear, l.symbols, rates);
    std::vector<Ref> out;
    for (std::size_t i = 0; i < roots.size(); ++i) {
        if (l.outputs[i] == kNowhere) {
            out.emplace_back();
        } else {
            out.push_back(roots[i].negative() ? -rate_of[l.outputs[i]] : rate_of[l.outputs[i]]);
        }
    }
    return out;
}

std::vector<Ref> substitute(Graph& graph, std::span<const Ref> roots, std::span<const Ref> symbols,
                            std::span<const Ref> values) {
    std::vector<std::pair<Ref, Ref>> images;
    for (std::size_t i = 0; i < symbols.size(); ++i) images.emplace_back(symbols[i], values[i]);
    return transfer(graph, roots, graph, images);
}

}  // namespace bellcrank
