// Compliant contact at a point: the normal force of Hunt and Crossley, and Coulomb friction that is elastic until it
// slips (docs/theory/contact.md).
#pragma once

#include "spatial/algebra.hpp"
#include "spatial/fields.hpp"

namespace bellcrank {

struct ContactLaw {
    double stiffness = 0.0;         // k of F = k δⁿ (1 + χ δ̇) [N/mⁿ]
    double exponent = 1.0;          // n
    double dissipation = 0.0;       // χ [s/m]
    double static_friction = 0.0;   // coefficient while the point sticks
    double kinetic_friction = 0.0;  // while it slips
    double shear_ratio = 0.0;       // tangential stiffness by dF/dδ
    double shear_time = 0.0;        // tangential damping by tangential stiffness [s]
    double restitution = 0.0;       // of rigid contacts, instead of what stiffness and dissipation make of it
    double rim_stiffness = 0.0;     // of the points of a tyre's rim, instead of the first [N/m]
    double rolling = 0.0;           // of rigid contacts: the largest moment across the normal by the normal force [m],
    double spinning = 0.0;          // and that about the normal
    double by_impulse = 0.0;        // 1: restitution is Poisson's, of impulses; 0: Newton's, of speeds

    BELLCRANK_FIELDS(ContactLaw, (stiffness, "N/m^n"), (exponent), (dissipation, "s/m"), (static_friction),
                     (kinetic_friction), (shear_ratio), (shear_time, "s"), (restitution), (rim_stiffness, "N/m"),
                     (rolling, "m"), (spinning, "m"), (by_impulse))

    // That of the rim's points. What is sheared is as stiff as elsewhere.
    ContactLaw of_rim() const {
        ContactLaw law = *this;
        law.stiffness = rim_stiffness;
        law.shear_ratio = rim_stiffness > 0.0 ? shear_ratio * stiffness / rim_stiffness : shear_ratio;
        return law;
    }
};

// Elastic displacement by its limit where a point begins to slip; its friction is at its limit from 1 on: so none goes
// to and fro between the two for rounding.
inline constexpr double kReach = 1.001;
inline constexpr double kReached = 1e-9;  // part of it that is left where it is reached

// What the law needs of a touching point.
struct TouchingPoint {
    double depth, approach;  // δ > 0 [m] and δ̇ [m/s]
    Vec3 shear;              // elastic displacement s at the last commit, carried along [m]
    Vec3 way, slip;          // displacement since then [m] and velocity [m/s] of a relative to b, across the normal
    bool slips;              // since the last commit
};

struct ContactForce {
    double normal;         // F ≥ 0 [N]
    Vec3 friction;         // on a [N]
    bool sticks;           // whether friction is within its limit
    Vec3 shear;            // s now
    double reach;          // |s| in parts of its limit; 0 without friction
    double sliding;        // speed at which s exceeds it, where it does [m/s]
    double stored_energy;  // elastic [J]
};

ContactForce contact_force(const ContactLaw& law, const TouchingPoint& at);

}  // namespace bellcrank
