#include "joints/pole.hpp"

#include <map>

namespace bellcrank {

namespace {

std::map<std::string, DirectionKind>& directions() {
    static std::map<std::string, DirectionKind> kinds;
    return kinds;
}

}  // namespace

DirectionRegistration::DirectionRegistration(const char* coordinate, DirectionKind kind) {
    directions().emplace(coordinate, kind);
}

const DirectionKind* direction_kind(const std::string& coordinate) {
    const auto found = directions().find(coordinate);
    return found == directions().end() ? nullptr : &found->second;
}

}  // namespace bellcrank
