// The registry of function kinds (inside a function, so that it exists before the first static registration), and the
// view that evaluates one.
#include "functions/function.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <stdexcept>

namespace bellcrank {

namespace {

std::map<std::string, FunctionKind>& registry() {
    static std::map<std::string, FunctionKind> kinds;
    return kinds;
}

}  // namespace

FunctionRegistration::FunctionRegistration(FunctionKind kind) {
    const std::string name = kind.name;
    if (!registry().try_emplace(name, std::move(kind)).second)
        throw std::logic_error("function kind '" + name + "' is registered twice");
}

const FunctionKind& function_kind(const std::string& name) {
    const auto found = registry().find(name);
    if (found != registry().end()) return found->second;
    std::string known;
    for (const auto& entry : registry()) known += (known.empty() ? "" : ", ") + entry.first;
    throw std::invalid_argument("unknown function kind '" + name + "'; known: " + known);
}

std::vector<FunctionKind> function_kinds() {
    std::vector<FunctionKind> kinds;
    for (const auto& entry : registry()) kinds.push_back(entry.second);
    return kinds;
}

Function::Function(const std::string& kind, std::span<const double> params, std::shared_ptr<const void> held)
    : params_(params), held_(std::move(held)) {
    const FunctionKind& found = function_kind(kind);
    if (found.check_held == nullptr)
        found.check(params);
    else if (held_ == nullptr)
        throw std::invalid_argument("a function of kind '" + kind + "' needs more than numbers");
    else
        found.check_held(held_.get(), params);
    evaluate_ = found.evaluate;
    tangent_ = found.tangent;
    tangent_held_ = found.tangent_held;
    integral_ = found.integral;
    evaluate_held_ = found.evaluate_held;
    breaks_ = found.breaks;
}

FunctionValueT<Dual4> Function::tangent(const Dual4& x) const {
    thread_local std::vector<Dual4> numbers;  // grows to the longest list of parameters and stays
    numbers.assign(params_.begin(), params_.end());
    return tangent(numbers, x);
}

double Function::integral(double x) const {
    if (integral_ == nullptr)
        throw std::invalid_argument("this kind of function has no integral in closed form; use a piecewise one");
    return integral_(params_, x);
}

namespace {

// Part of a value by which rounding may tell two sides of a break apart.
constexpr double kRounding = 1e-9;

bool jumps_by_more(double left, double right, double scale) {
    return std::abs(right - left) > kRounding * (std::abs(left) + std::abs(right)) + 1e-12 * scale;
}

}  // namespace

void Function::jumps(double from, double to, std::vector<double>& out) const {
    if (breaks_ == nullptr) return;
    const size_t first = out.size();
    breaks_(params_, from, to, out);
    const auto smooth = [this](double x) {
        const double beside = 1e-15 * std::max(1.0, std::abs(x));
        const FunctionValue left = (*this)(x - beside), right = (*this)(x + beside);
        const double scale = std::abs(left.f) + std::abs(left.d1) + std::abs(left.d2);
        return !jumps_by_more(left.f, right.f, scale) && !jumps_by_more(left.d1, right.d1, scale) &&
               !jumps_by_more(left.d2, right.d2, scale);
    };
    out.erase(std::remove_if(out.begin() + static_cast<std::ptrdiff_t>(first), out.end(), smooth), out.end());
}

}  // namespace bellcrank
