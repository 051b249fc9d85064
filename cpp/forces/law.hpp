// Force laws: an effort τ(φ, φ̇, t) along a coordinate φ; the generalized force on the bodies is τ ∇φ.
// One file per kind; each registers itself by name and states its parameters.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "functions/function.hpp"

namespace bellcrank {

struct LawInput {
    double value, rate, time;  // φ, φ̇, t
};

struct LawKind {
    std::string name;
    double (*effort)(const LawInput& in, std::span<const double> params, const Function* function);
    // V(φ) with −dV/dφ the conservative part of the effort; null: none.
    double (*potential)(const LawInput& in, std::span<const double> params, const Function* function);
    // Throws std::invalid_argument that says what is wrong with the parameters or the function.
    void (*check)(std::span<const double> params, const Function* function);
};

// Adds a kind to the registry; meant for static initialisation in the kind's own file. A name taken twice is a
// std::logic_error.
struct LawRegistration {
    explicit LawRegistration(LawKind kind);
};

// The kind of that name; throws std::invalid_argument that lists the known names.
const LawKind& law_kind(const std::string& name);

// All registered kinds, by name.
std::vector<LawKind> law_kinds();

// Throws std::invalid_argument if parameters or function do not suit the kind. To be called once, before any
// evaluation: effort and potential trust their arguments.
void check_law(const LawKind& kind, std::span<const double> params, const Function* function);

// For the checks of the kinds: a parameter list of that many finite numbers.
void require_parameters(std::span<const double> params, std::size_t count, const char* names);

}  // namespace bellcrank
