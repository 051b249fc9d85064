// The registry of law kinds. It lives inside a function, so that it exists before the first static registration,
// whatever the order in which the files are initialised.
#include <algorithm>
#include <cmath>
#include <map>
#include <stdexcept>

#include "forces/law.hpp"

namespace bellcrank {

namespace {

std::map<std::string, LawKind>& registry() {
    static std::map<std::string, LawKind> kinds;
    return kinds;
}

}  // namespace

LawRegistration::LawRegistration(LawKind kind) {
    const std::string name = kind.name;
    if (!registry().try_emplace(name, std::move(kind)).second)
        throw std::logic_error("law kind '" + name + "' is registered twice");
}

const LawKind& law_kind(const std::string& name) {
    const auto found = registry().find(name);
    if (found != registry().end()) return found->second;
    std::string known;
    for (const auto& entry : registry()) known += (known.empty() ? "" : ", ") + entry.first;
    throw std::invalid_argument("unknown law kind '" + name + "'; known: " + known);
}

std::vector<LawKind> law_kinds() {
    std::vector<LawKind> kinds;
    for (const auto& entry : registry()) kinds.push_back(entry.second);
    return kinds;
}

void check_law(const LawKind& kind, std::span<const double> params, const Function* function) {
    try {
        std::string names;
        for (const std::string& each : kind.parameters) names += (names.empty() ? "" : ", ") + each;
        if (params.size() != kind.parameters.size())
            throw std::invalid_argument(std::to_string(kind.parameters.size()) + " parameters (" + names + "), " +
                                        std::to_string(params.size()) + " given");
        if (!std::ranges::all_of(params, [](double value) { return std::isfinite(value); }))
            throw std::invalid_argument("a parameter is not finite (" + names + ")");
        if (kind.check != nullptr) kind.check(params, function);
    } catch (const std::invalid_argument& fault) {
        throw std::invalid_argument(kind.name + " law: " + fault.what());
    }
}

}  // namespace bellcrank
