#include "contacts/contact_law.hpp"

#include <algorithm>
#include <cmath>

namespace bellcrank {

ContactForce contact_force(const ContactLaw& law, const TouchingPoint& at) {
    const bool linear = law.exponent == 1.0;
    const double slope = linear ? law.stiffness : law.stiffness * std::pow(at.depth, law.exponent - 1.0);
    const double elastic = slope * at.depth;
    ContactForce out{};
    out.normal = std::max(0.0, elastic * (1.0 + law.dissipation * at.approach));
    out.normal_energy = elastic * at.depth / (law.exponent + 1.0);
    out.shear_stiffness = law.shear_ratio * law.exponent * slope;
    const Vec3 wanted = -out.shear_stiffness * (at.shear + law.shear_time * at.slip);
    const double limit = (at.slips ? law.kinetic_friction : law.static_friction) * out.normal;
    const double size = norm(wanted);
    out.saturated = size > limit;
    out.friction = out.saturated ? (limit / size) * wanted : wanted;
    out.shear_energy = 0.5 * out.shear_stiffness * dot(at.shear, at.shear);
    return out;
}

}  // namespace bellcrank
