// Where a rotation gets to with an angular velocity that is a polynomial of time.
#pragma once

#include "spatial/algebra.hpp"

namespace bellcrank {

inline constexpr int kMostRates = 20;  // coefficients of a polynomial

// q(1) of q̇ = ½ q ω, ω = Σ θʲ ω_j for j = 0 … degree, with ω in the axes that turn; of unit norm.
Quat advanced_along(const Quat& q, const Vec3* rates, int degree);

}  // namespace bellcrank
