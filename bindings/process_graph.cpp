#include "process_graph.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <stdexcept>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "bindings.hpp"
#include "expression/part.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace bellcrank {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::size_t kFewNodes = 4096;  // not worth collecting

struct Process {
    std::shared_ptr<Graph> graph = std::make_shared<Graph>();
    std::unordered_map<std::uint32_t, HeldExpression::Entry> entries;  // by bits of the Ref
    std::map<Symbol, Ref> symbols;
    std::size_t entries_made = 0, due = kFewNodes;
};

// Never destroyed: expressions may outlive the module, at the end of the interpreter.
Process& process() {
    static Process& all = *new Process;
    return all;
}

}  // namespace

const std::shared_ptr<Graph>& process_graph() { return process().graph; }

HeldExpression::HeldExpression(Ref ref) {
    const auto [it, is_new] = process().entries.try_emplace(ref.bits);
    entry_ = &it->second;
    if (is_new) *entry_ = {ref, 0, process().entries_made++};
    ++entry_->uses;
}

HeldExpression::~HeldExpression() {
    if (--entry_->uses == 0) process().entries.erase(entry_->ref.bits);
}

std::vector<Ref> refs(const HeldExpressions& expressions) {
    std::vector<Ref> out;
    for (const HeldExpression& e : expressions) out.push_back(e.ref());
    return out;
}

HeldExpressions held(const std::vector<Ref>& refs) {
    HeldExpressions out;
    for (const Ref r : refs) out.emplace_back(r);
    return out;
}

void collect_expressions() {
    Process& p = process();
    std::vector<Ref> roots;
    for (const auto& [bits, entry] : p.entries) roots.push_back(entry.ref);
    const GraphPart part(*p.graph, roots);
    decltype(p.entries) entries;
    while (!p.entries.empty()) {  // the entries themselves stay where they are
        auto entry = p.entries.extract(p.entries.begin());
        entry.mapped().ref = part.image(entry.mapped().ref);
        entry.key() = entry.mapped().ref.bits;
        entries.insert(std::move(entry));
    }
    p.entries = std::move(entries);
    std::erase_if(p.symbols, [&part](const auto& entry) { return !part.contains(entry.second); });
    for (auto& [symbol, ref] : p.symbols) ref = part.image(ref);
    p.graph = part.graph();
    p.due = 2 * p.graph->size() + kFewNodes;
}

namespace {

constexpr std::array<std::string_view, 4> kSymbolKinds = {"plain", "parameter", "input", "offset"};

SymbolKind symbol_kind(const std::string& name) {
    const auto found = std::find(kSymbolKinds.begin(), kSymbolKinds.end(), name);
    if (found == kSymbolKinds.end()) throw std::invalid_argument("unknown kind of symbol " + name);
    return static_cast<SymbolKind>(found - kSymbolKinds.begin());
}

HeldExpression held_symbol(const Symbol& symbol) {
    Process& p = process();
    auto found = p.symbols.find(symbol);
    if (found == p.symbols.end()) found = p.symbols.emplace(symbol, p.graph->symbol(symbol)).first;
    return HeldExpression(found->second);
}

const Symbol& symbol_of(const HeldExpression& e) {
    if (process_graph()->node(e.ref()).op != Op::symbol) throw nb::type_error("not a symbol");
    return process_graph()->symbol_of(e.ref());
}

std::string kind_name(const HeldExpression& e) {
    return std::string(kSymbolKinds[static_cast<size_t>(symbol_of(e).kind)]);
}

}  // namespace

Writing::Writing() {
    std::fegetexceptflag(&flags_, FE_ALL_EXCEPT);
    if (process().graph->size() >= process().due) collect_expressions();
}

void bind_process_graph(nb::module_& m) {
    m.def("collect_expressions", &collect_expressions,
          "Drops from the process' graph what is not in use; it happens by itself when the graph has doubled.");
    m.def(
        "expression_graph_size", [] { return std::tuple(process_graph()->size(), process_graph()->bytes()); },
        "Nodes in the process' graph, and the bytes that it occupies.");
    m.def(
        "expression_symbol",
        [](std::string name, double low, double high, bool positive, const std::string& kind, double value,
           std::string unit, std::string origin) {
            const Interval range{low, high, positive || low > 0.0 || high < 0.0};
            return held_symbol({std::move(name), range, symbol_kind(kind), value, std::move(unit), std::move(origin)});
        },
        "name"_a, "low"_a = -kInfinity, "high"_a = kInfinity, "positive"_a = false, "kind"_a = "plain", "value"_a = 0.0,
        "unit"_a = "", "origin"_a = "", Writes(),
        "The symbol of these fields, whose value lies in [low, high] and, if it is positive, is not zero. kind: "
        "'plain', 'parameter', 'input' or 'offset'. value, unit: that a parameter or an input is made with. origin: "
        "distinguishes it from symbols of the same name.");
}

void bind_symbol(nb::class_<HeldExpression>& c) {
    c.def_prop_ro(
         "name", [](const HeldExpression& a) { return symbol_of(a).name; }, "Of a symbol.")
        .def_prop_ro("kind", &kind_name, "Of a symbol: 'plain', 'parameter', 'input' or 'offset'.")
        .def_prop_ro(
            "value",
            [](const HeldExpression& a) {
                const Symbol& symbol = symbol_of(a);
                if (symbol.kind == SymbolKind::plain) throw nb::type_error("neither a parameter nor an input");
                return symbol.value;
            },
            "Of a parameter or an input: the value that it was made with.")
        .def_prop_ro(
            "unit", [](const HeldExpression& a) { return symbol_of(a).unit; }, "Of an input: that of its value.")
        .def_prop_ro(
            "symbol_data",
            [](const HeldExpression& a) {
                const Symbol& s = symbol_of(a);
                nb::dict out;
                out["name"] = s.name, out["low"] = s.range.low, out["high"] = s.range.high;
                out["positive"] = s.range.nonzero, out["kind"] = kind_name(a), out["value"] = s.value;
                out["unit"] = s.unit, out["origin"] = s.origin;
                return out;
            },
            nb::sig("def symbol_data(self) -> dict[str, typing.Any]"),
            "Of a symbol: the arguments of expression_symbol that give it again.");
}

}  // namespace bellcrank
