// Compliant contact at a point: the normal force of Hunt and Crossley, and Coulomb friction that is elastic until it
// slips (docs/theory/contact.md).
#pragma once

#include "spatial/algebra.hpp"

namespace bellcrank {

struct ContactLaw {
    double stiffness = 0.0;            // k of F = k δⁿ (1 + χ δ̇) [N/mⁿ]; 0: rigid, for impulses alone
    double exponent = 1.0;             // n
    double dissipation = 0.0;          // χ [s/m]
    double static_friction = 0.0;      // coefficient while the point sticks
    double kinetic_friction = 0.0;     // while it slips
    double shear_ratio = 0.0;          // tangential stiffness by dF/dδ
    double shear_time = 0.0;           // tangential damping by tangential stiffness [s]
    double restitution = 0.0;          // of impacts between rigid bodies
};

// What the law needs of a touching point.
struct TouchingPoint {
    double depth, approach;  // δ > 0 [m] and δ̇ [m/s]
    Vec3 shear, slip;        // elastic displacement s [m] and velocity [m/s] of a relative to b, across the normal
    bool slips;              // whether it slipped where it was last seen
};

struct ContactForce {
    double normal;         // F ≥ 0 [N]
    Vec3 friction;         // on a [N]
    double shear_stiffness;
    double shear_energy, normal_energy;  // elastic [J]
    bool saturated;        // whether the friction is at its limit
};

ContactForce contact_force(const ContactLaw& law, const TouchingPoint& at);

}  // namespace bellcrank
