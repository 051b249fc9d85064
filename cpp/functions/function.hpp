// Scalar functions of one variable with two derivatives: drives, forces in time, spring characteristics.
// One file per kind; each registers itself by name and states its parameter layout.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "spatial/dual.hpp"

namespace bellcrank {

template <class S>
struct FunctionValueT {
    S f, d1, d2;
};
using FunctionValue = FunctionValueT<double>;

struct FunctionKind {
    std::string name;
    FunctionValue (*evaluate)(std::span<const double> params, double x);
    // The same with derivatives along directions of x and of the parameters.
    FunctionValueT<Dual4> (*tangent)(std::span<const Dual4> params, const Dual4& x);
    double (*integral)(std::span<const double> params, double x);  // ∫ f from 0 to x; null: not available
    void (*check)(std::span<const double> params);                 // throws std::invalid_argument on a malformed list
    // Kinds that need more than numbers check and evaluate with what the function holds, in the place of
    // `check`, `evaluate` and `tangent`. Null for all others.
    void (*check_held)(const void* held, std::span<const double> params) = nullptr;
    FunctionValue (*evaluate_held)(const void* held, std::span<const double> params, double x) = nullptr;
    FunctionValueT<Dual4> (*tangent_held)(const void* held, std::span<const Dual4> params, const Dual4& x) = nullptr;
    // Appends the places between from and to, neither included, at which the function may not be smooth. Null: none.
    void (*breaks)(std::span<const double> params, double from, double to, std::vector<double>& out) = nullptr;
};

// Adds a kind to the registry; meant for static initialisation in the kind's own file. A name taken twice is a
// std::logic_error.
struct FunctionRegistration {
    explicit FunctionRegistration(FunctionKind kind);
};

// The kind of that name; throws std::invalid_argument that lists the known names.
const FunctionKind& function_kind(const std::string& name);

// All registered kinds, by name.
std::vector<FunctionKind> function_kinds();

// A view of a function stored in flat parameters, which must outlive it.
class Function {
  public:
    // held: what the kind needs beside numbers ("expression": its ExpressedFunction), kept as long as the function
    // lives. Throws std::invalid_argument for an unknown kind, a malformed parameter list, or where nothing is held.
    Function(const std::string& kind, std::span<const double> params, std::shared_ptr<const void> held = nullptr);

    FunctionValue operator()(double x) const {
        return evaluate_held_ == nullptr ? evaluate_(params_, x) : evaluate_held_(held_.get(), params_, x);
    }

    // The same along directions of x and of the parameters, whose values are those of the function.
    FunctionValueT<Dual4> tangent(std::span<const Dual4> params, const Dual4& x) const {
        return tangent_held_ == nullptr ? tangent_(params, x) : tangent_held_(held_.get(), params, x);
    }
    FunctionValueT<Dual4> tangent(const Dual4& x) const;

    // ∫ f from 0 to x, for potentials of tabulated springs. Throws std::invalid_argument if the kind has no integral
    // (rational); whoever needs integrals asks integrable() when the model is built.
    double integral(double x) const;
    bool integrable() const { return integral_ != nullptr; }

    // Appends the places between from and to, neither included, at which the function or one of its first two
    // derivatives jumps.
    void jumps(double from, double to, std::vector<double>& out) const;

  private:
    std::span<const double> params_;
    FunctionValue (*evaluate_)(std::span<const double>, double);
    FunctionValueT<Dual4> (*tangent_)(std::span<const Dual4>, const Dual4&);
    double (*integral_)(std::span<const double>, double);
    FunctionValueT<Dual4> (*tangent_held_)(const void*, std::span<const Dual4>, const Dual4&);
    FunctionValue (*evaluate_held_)(const void*, std::span<const double>, double);
    void (*breaks_)(std::span<const double>, double, double, std::vector<double>&);
    std::shared_ptr<const void> held_;
};

}  // namespace bellcrank
