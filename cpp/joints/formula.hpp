// Coordinates written once: a formula over a pose, evaluated in jets and kept as an expression.
#pragma once

#include "joints/jet.hpp"

namespace bellcrank {

inline Expression angle(Expression s, Expression c) { return atan2(s, c); }
inline Expression inverse_root(Expression a) { return 1.0 / sqrt(a); }

// The kind of a formula f(pose, params), callable for JetPose with numbers and for SymbolicPose with expressions.
template <auto formula>
CoordinateKind kind_of(std::string name, Angle angle = Angle::none, CoordinateCheck check = nullptr) {
    constexpr auto evaluate = []<class S>(const RelativeMotionT<S>& motion, std::span<const S> params,
                                          CoordinateValueT<S>& out) { assign(out, formula(JetPose(motion), params)); };
    return {
        std::move(name), evaluate,
        evaluate,        [](SymbolicPose& pose, std::span<const Expression> params) { return formula(pose, params); },
        angle,           check};
}

}  // namespace bellcrank
