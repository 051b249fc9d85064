#include "integrate/error_weights.hpp"

namespace bellcrank {

ErrorWeights::ErrorWeights(const System& system, const Tolerances& tolerances, int size) {
    for (int i = 0; i < size; ++i) {
        const bool turns = i < system.tangent_size() && system.turns(i);
        const Tolerance& x = turns ? tolerances.rotation : tolerances.translation;
        const Tolerance& u = turns ? tolerances.angular_velocity : tolerances.velocity;
        displacement_.push_back(1.0 / (x.absolute + x.relative));
        absolute_.push_back(u.absolute);
        relative_.push_back(u.relative);
    }
}

}  // namespace bellcrank
