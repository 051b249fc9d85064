// Derivatives in three forms, of which the least is kept.
#include "expression/derivative.hpp"

#include <limits>
#include <stdexcept>

#include "expression/linear.hpp"
#include "expression/part.hpp"
#include "expression/reach.hpp"
#include "interruption/interruption.hpp"

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

// Operations of expressions, and of derivatives whose paths share nothing.

OperationCount count_operations(const Graph& graph, std::span<const Ref> roots) {
    OperationCount count;
    const Reach reach(graph, roots);
    for (const std::uint32_t index : reach.nodes()) {
        look_for_interrupts();
        switch (graph.node(index).op) {
            case Op::constant:
            case Op::symbol:
                break;
            case Op::add:
                ++count.additions;
                break;
            case Op::multiply:
                ++count.multiplications;
                break;
            case Op::reciprocal:
                ++count.divisions;
                break;
            case Op::sine:
            case Op::cosine:
            case Op::tangent:
                ++count.trigonometric;
                break;
            default:
                ++count.other;
        }
    }
    return count;
}

namespace {

// The paths from a node down: how many, how many factors they have in all, how many have none.
struct Paths {
    double count = 0.0, factors = 0.0, bare = 0.0;
};

// Factors of the derivative of an operation by an operand: f′ of a function is one, −1/b² and ½/√a are two.
double edge_factors(Op op) {
    switch (op) {
        case Op::add:
        case Op::minimum:
        case Op::maximum:
        case Op::select:
            return 0.0;
        case Op::reciprocal:
        case Op::square_root:
        case Op::arctangent_2:
        case Op::power:
            return 2.0;
        default:
            return 1.0;
    }
}

void follow(Paths& paths, const Paths& below, double factors) {
    paths.count += below.count;
    paths.factors += below.factors + factors * below.count;
    if (factors == 0.0) paths.bare += below.bare;
}

std::vector<Paths> paths_to(const Graph& graph, const Reach& reach, Ref symbol) {
    std::vector<Paths> paths(reach.size());
    for (std::size_t i = 0; i < reach.size(); ++i) {
        const Node n = graph.node(reach.nodes()[i]);
        if (reach.nodes()[i] == symbol.index()) paths[i] = {1.0, 0.0, 1.0};
        for (int k = n.op == Op::select ? 1 : 0; k < operand_count(n.op); ++k) {
            follow(paths[i], paths[reach.place(operand(n, k))], edge_factors(n.op));
        }
    }
    return paths;
}

}  // namespace

PathCount count_path_operations(const Graph& graph, std::span<const Ref> outputs, std::span<const Ref> symbols) {
    const Reach reach(graph, outputs);
    const OperationCount function = count_operations(graph, outputs);
    PathCount total{static_cast<double>(function.additions), static_cast<double>(function.multiplications)};
    for (const Ref symbol : symbols) {
        const std::vector<Paths> paths = paths_to(graph, reach, symbol);
        for (const Ref output : outputs) {
            const Paths& p = paths[reach.place(output)];
            if (p.count == 0.0) continue;
            total.additions += p.count - 1.0;
            total.multiplications += p.factors - (p.count - p.bare);
        }
    }
    return total;
}

// The factor of a symbol in expressions that are linear in it.

namespace {

struct Linearity {
    Ref factor;
    bool depends = false;
};

[[noreturn]] void refuse(const Graph& graph, Ref symbol) {
    throw std::invalid_argument("the expression is not linear in '" + graph.symbol_of(symbol).name + "'");
}

// The factor in node `index` from those in its operands.
Linearity linearity(Graph& graph, std::uint32_t index, const Linearity (&in)[3], Ref symbol) {
    const Node n = graph.node(index);
    if (n.op == Op::add) return {graph.add(in[0].factor, in[1].factor), in[0].depends || in[1].depends};
    if (!in[0].depends && !in[1].depends && !in[2].depends) return {};
    if (n.op == Op::multiply && !(in[0].depends && in[1].depends)) {
        return {in[0].depends ? graph.multiply(in[0].factor, n.b) : graph.multiply(n.a, in[1].factor), true};
    }
    if (n.op == Op::select && !in[0].depends) return {graph.select(n.a, in[1].factor, in[2].factor), true};
    refuse(graph, symbol);
}

}  // namespace

std::vector<Ref> coefficients(Graph& graph, std::span<const Ref> roots, Ref symbol) {
    if (graph.node(symbol).op != Op::symbol || symbol.negative()) {
        throw std::invalid_argument("a coefficient is of a symbol, not of another expression");
    }
    const Reach reach(graph, roots);
    std::vector<Linearity> found(reach.size());
    const auto of = [&](Ref r) {
        const Linearity l = found[reach.place(r)];
        return Linearity{r.negative() ? -l.factor : l.factor, l.depends};
    };
    for (std::size_t i = 0; i < reach.size(); ++i) {
        const std::uint32_t index = reach.nodes()[i];
        const Node n = graph.node(index);
        if (index == symbol.index()) found[i] = {graph.constant(1.0), true};
        if (index <= symbol.index()) continue;  // older than the symbol, and so free of it
        Linearity in[3];
        for (int k = 0; k < operand_count(n.op); ++k) in[k] = of(operand(n, k));
        found[i] = linearity(graph, index, in, symbol);
    }
    std::vector<Ref> out;
    for (const Ref r : roots) out.push_back(of(r).factor);
    return out;
}

Ref coefficient(Graph& graph, Ref root, Ref symbol) {
    const Ref roots[] = {root};
    return coefficients(graph, roots, symbol)[0];
}

}  // namespace bellcrank
