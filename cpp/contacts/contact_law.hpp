// Compliant contact at a point: the normal force of Hunt and Crossley, and Coulomb friction that is elastic until it
// slips (docs/theory/contact.md).
#pragma once

#include "spatial/algebra.hpp"
#include "spatial/fields.hpp"

namespace bellcrank {

template <class S>
struct ContactLawT {
    S stiffness = 0.0;         // k of F = k δⁿ (1 + χ δ̇) [N/mⁿ]
    S exponent = 1.0;          // n
    S dissipation = 0.0;       // χ [s/m]
    S static_friction = 0.0;   // coefficient while the point sticks
    S kinetic_friction = 0.0;  // while it slips
    S shear_ratio = 0.0;       // tangential stiffness by dF/dδ
    S shear_time = 0.0;        // tangential damping by tangential stiffness [s]
    S restitution = 0.0;       // of rigid contacts, instead of what stiffness and dissipation make of it
    S rim_stiffness = 0.0;     // of the points of a tyre's rim, instead of the first [N/m]
    S rolling = 0.0;           // of rigid contacts: the largest moment across the normal by the normal force [m],
    S spinning = 0.0;          // and that about the normal
    S by_impulse = 0.0;        // 1: restitution is Poisson's, of impulses; 0: Newton's, of speeds

    BELLCRANK_FIELDS(ContactLawT, (stiffness, "N/m^n"), (exponent), (dissipation, "s/m"), (static_friction),
                     (kinetic_friction), (shear_ratio), (shear_time, "s"), (restitution), (rim_stiffness, "N/m"),
                     (rolling, "m"), (spinning, "m"), (by_impulse))

    // That of the rim's points. What is sheared is as stiff as elsewhere.
    ContactLawT of_rim() const {
        ContactLawT law = *this;
        law.stiffness = rim_stiffness;
        law.shear_ratio = rim_stiffness > 0.0 ? shear_ratio * stiffness / rim_stiffness : shear_ratio;
        return law;
    }
};
using ContactLaw = ContactLawT<double>;
inline constexpr int kContactNumbers = sizeof(ContactLaw) / sizeof(double);
static_assert(fields_fill<ContactLaw>());

// Elastic displacement by its limit where a point begins to slip; its friction is at its limit from 1 on: so none goes
// to and fro between the two for rounding.
inline constexpr double kReach = 1.001;
inline constexpr double kReached = 1e-9;  // part of it that is left where it is reached

// What the law needs of a touching point.
template <class S>
struct TouchingPointT {
    S depth, approach;   // δ > 0 [m] and δ̇ [m/s]
    Vec3T<S> shear;      // elastic displacement s at the last commit, carried along [m]
    Vec3T<S> way, slip;  // displacement since then [m] and velocity [m/s] of a relative to b, across the normal
    bool slips;          // since the last commit
};
using TouchingPoint = TouchingPointT<double>;

template <class S>
struct ContactForceT {
    S normal;           // F ≥ 0 [N]
    Vec3T<S> friction;  // on a [N]
    bool sticks;        // whether friction is within its limit
    Vec3T<S> shear;     // s now
    S reach;            // |s| in parts of its limit; 0 without friction
    S sliding;          // speed at which s exceeds it, where it does [m/s]
    S stored_energy;    // elastic [J]
};
using ContactForce = ContactForceT<double>;

// Over double and Dual4. Where the derivative jumps, it is that of the side on which the point is.
template <class S>
ContactForceT<S> contact_force(const ContactLawT<S>& law, const TouchingPointT<S>& at);

}  // namespace bellcrank
