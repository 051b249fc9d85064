// The registry of coordinate kinds. It lives inside a function, so that it exists before the first static
// registration, whatever the order in which the files are initialised.
#include <map>
#include <stdexcept>

#include "joints/coordinate.hpp"

namespace bellcrank {

namespace {

std::map<std::string, CoordinateKind>& registry() {
    static std::map<std::string, CoordinateKind> kinds;
    return kinds;
}

}  // namespace

CoordinateRegistration::CoordinateRegistration(CoordinateKind kind) {
    if (!registry().try_emplace(kind.name, kind).second)
        throw std::logic_error("coordinate kind '" + kind.name + "' is registered twice");
}

const CoordinateKind& coordinate_kind(const std::string& name) {
    const auto found = registry().find(name);
    if (found != registry().end()) return found->second;
    std::string known;
    for (const auto& entry : registry()) known += (known.empty() ? "" : ", ") + entry.first;
    throw std::invalid_argument("unknown coordinate kind '" + name + "'; known: " + known);
}

void check_coordinate(const CoordinateKind& kind, std::span<const double> params) {
    if (kind.check != nullptr) {
        kind.check(params);
    } else if (!params.empty()) {
        throw std::invalid_argument("coordinate kind '" + kind.name + "' takes no parameters, " +
                                    std::to_string(params.size()) + " given");
    }
}

std::vector<CoordinateKind> coordinate_kinds() {
    std::vector<CoordinateKind> kinds;
    for (const auto& entry : registry()) kinds.push_back(entry.second);
    return kinds;
}

}  // namespace bellcrank
