#include "process_graph.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <limits>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "bindings.hpp"
#include "expression/part.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace bellcrank {

namespace {

constexpr std::size_t kFewNodes = 4096;  // not worth collecting

struct Process {
    std::shared_ptr<Graph> graph = std::make_shared<Graph>();
    std::unordered_map<std::uint32_t, HeldExpression::Entry> entries;  // by bits of the Ref
    std::unordered_map<std::string, Ref> symbols;                      // by key
    std::size_t entries_made = 0, symbols_made = 0, due = kFewNodes;
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
    std::erase_if(p.symbols, [&part](const auto& symbol) { return !part.contains(symbol.second); });
    for (auto& [key, symbol] : p.symbols) symbol = part.image(symbol);
    p.graph = part.graph();
    p.due = 2 * p.graph->size() + kFewNodes;
}

namespace {

// Without a key of its own: a symbol that differs from all others.
HeldExpression new_symbol(Symbol symbol) {
    Process& p = process();
    if (symbol.key.empty()) symbol.key.append("#").append(std::to_string(p.symbols_made++));
    const std::string key = symbol.key;
    const Ref made = p.graph->symbol(std::move(symbol));
    p.symbols[key] = made;
    return HeldExpression(made);
}

std::optional<HeldExpression> symbol_of(const std::string& key) {
    const auto found = process().symbols.find(key);
    if (found == process().symbols.end()) return std::nullopt;
    return HeldExpression(found->second);
}

}  // namespace

CollectWhenDue::CollectWhenDue() {
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
        [](std::string name, double low, double high, bool positive, const std::string& key, double value) {
            const Interval range{low, high, positive || low > 0.0 || high < 0.0};
            return new_symbol({std::move(name), range, key, value});
        },
        "name"_a, "low"_a, "high"_a, "positive"_a = false, "key"_a = "",
        "value"_a = std::numeric_limits<double>::quiet_NaN(), Writes(),
        "A new symbol whose value lies in [low, high] and, if it is positive, is not zero. key: by which it is found; "
        "without one it gets its own. value: that a parameter is made with.");
    m.def("expression_symbol_of", &symbol_of, "key"_a,
          "The symbol of that key; None unless it or anything made of it is in use.");
}

}  // namespace bellcrank
