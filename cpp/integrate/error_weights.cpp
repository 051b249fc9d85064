#include "integrate/error_weights.hpp"

#include <algorithm>
#include <cmath>

namespace bellcrank {

ErrorWeights::ErrorWeights(const Manifold& manifold, const Tolerances& tolerances, int size) {
    for (int i = 0; i < size; ++i) {
        const bool turns = i < manifold.tangent_size() && manifold.turns(i);
        const Tolerance& x = turns ? tolerances.rotation : tolerances.translation;
        const Tolerance& u = turns ? tolerances.angular_velocity : tolerances.velocity;
        displacement_.push_back(1.0 / (x.absolute + x.relative));
        absolute_.push_back(u.absolute);
        relative_.push_back(u.relative);
    }
}

double first_step_of_order_1(const Tolerances& tolerances, double acceleration) {
    return 0.25 * std::sqrt((tolerances.relative + tolerances.absolute) / (acceleration + 1e-3));
}

double step_factor(double error, double aim, int order) {
    return std::pow(aim / std::max(error, 1e-30), 1.0 / (order + 1));
}

}  // namespace bellcrank
