// Force laws: an effort τ(φ, φ̇, t) along a coordinate φ; the generalized force on the bodies is τ ∇φ.
// One file per kind: a struct of its parameters, a template over their scalar, whose members are the effort and, if it
// has them, potential and check. With Expressions, formulations that derive their equations take the same formula.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "expression/expression.hpp"
#include "functions/function.hpp"
#include "spatial/dual.hpp"
#include "spatial/fields.hpp"

namespace bellcrank {

template <class S>
struct LawInput {
    S value, rate, time;  // φ, φ̇, t
    double sense = 0.0;   // of dry friction: 1 or −1, that of φ̇ at which it slips; 0: it holds
    double load = 0.0;    // and by what its effort grows with what rows exert
};

// The function of a law, or none.
template <class S>
class LawFunction;

template <>
class LawFunction<double> {
  public:
    LawFunction(const Function* function) : function_(function) {}
    explicit operator bool() const { return function_ != nullptr; }
    double operator()(double at) const { return (*function_)(at).f; }

  private:
    const Function* function_;
};

template <>
class LawFunction<Dual4> {
  public:
    // params: those of the function, with their derivatives; none: they have no derivatives.
    LawFunction(const Function* function, std::span<const Dual4> params = {}) : function_(function), params_(params) {}
    explicit operator bool() const { return function_ != nullptr; }
    Dual4 operator()(const Dual4& at) const {
        if (!params_.empty()) return function_->tangent(params_, at).f;
        const FunctionValue found = (*function_)(at.value);
        return Dual4::chain(at, found.f, found.d1);
    }

  private:
    const Function* function_;
    std::span<const Dual4> params_;
};

template <>
class LawFunction<Expression> {
  public:
    LawFunction(std::function<Expression(Expression)> function) : function_(std::move(function)) {}
    explicit operator bool() const { return function_ != nullptr; }
    Expression operator()(Expression at) const { return function_(at); }

  private:
    std::function<Expression(Expression)> function_;
};

template <class S>
using LawEffort = S (*)(const LawInput<S>& in, std::span<const S> params, const LawFunction<S>& function);

struct LawKind {
    std::string name;
    LawEffort<double> effort;
    LawEffort<Dual4> tangent;       // the same with derivatives along directions of input and parameters
    LawEffort<Expression> formula;  // null: formulations that derive their equations refuse the law
    // V(φ) with −dV/dφ the conservative part of the effort; null: none.
    double (*potential)(double value, std::span<const double> params, const Function* function);
    // Throws std::invalid_argument that says what is wrong with the parameters or the function; null: nothing can be.
    void (*check)(std::span<const double> params, const Function* function);
    std::vector<std::string> parameters;  // their names, in their order
    // Of dry friction: up to which effort it holds where it would begin to slip with a sense (its effort is of the
    // other one), infinite where it never would; null: others.
    double (*holds)(std::span<const double> params, const LawFunction<double>& function, double time,
                    double sense) = nullptr;
    // And the speed over which that falls to what slipping takes; null, or 0: it falls at once, or not at all.
    double (*fall)(std::span<const double> params) = nullptr;
};

template <class Law, class S>
const Law& law_at(std::span<const S> params) {
    return *reinterpret_cast<const Law*>(params.data());
}

// The kind whose parameters are the members of a struct, in their order.
template <template <class> class Law>
LawKind law_kind_of(std::string name) {
    using Numbers = Law<double>;
    static_assert(fields_fill<Numbers>());
    constexpr auto effort = []<class S>(const LawInput<S>& in, std::span<const S> p, const LawFunction<S>& function) {
        return law_at<Law<S>>(p).effort(in, function);
    };
    LawKind kind{std::move(name), effort, effort, nullptr, nullptr, nullptr, {}};
    if constexpr (requires { &Numbers::holds; })
        kind.holds = [](std::span<const double> p, const LawFunction<double>& function, double time, double sense) {
            return law_at<Numbers>(p).holds(function, time, sense);
        };
    else
        kind.formula = effort;
    if constexpr (requires { &Numbers::fall; })
        kind.fall = [](std::span<const double> p) { return law_at<Numbers>(p).fall(); };
    for_each_field<Numbers>([&](const auto& each) { kind.parameters.emplace_back(each.name); });
    if constexpr (requires { &Numbers::potential; })
        kind.potential = [](double value, std::span<const double> p, const Function* function) {
            return law_at<Numbers>(p).potential(value, function);
        };
    if constexpr (requires { &Numbers::check; })
        kind.check = [](std::span<const double> p, const Function* f) { law_at<Numbers>(p).check(f); };
    return kind;
}

// For efforts: functions of doubles beside those of expressions, and a smooth rise from 0 to 1, level outside.
using std::exp, std::log, std::max, std::min, std::sin, std::sqrt, std::tanh;

template <class S>
S smooth_step(const S& at) {
    const S u = min(max(at, 0.0), 1.0);
    return (3.0 - 2.0 * u) * u * u;
}

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

}  // namespace bellcrank
