"""Mechanisms whose small motions have closed forms."""

from math import pi

import numpy as np

import bellcrank as bc

G = 9.81
Y = (0.0, 1.0, 0.0)


def pendulum(length=0.7, mass=2.0, inertia=0.02, **joint):
    """A body on a hinge along y, hanging; its frame is at its centre of mass."""
    mech = bc.Mechanism("pendulum")
    body = mech.add_body("bob", mass=mass, inertia=(inertia, inertia, inertia), position=(0.0, 0.0, -length))
    mech.add_joint(
        "pivot", bc.Revolute(), mech.ground.marker(axis=Y), body.marker((0.0, 0.0, length), axis=Y), **joint
    )
    return mech


def pendulum_chain(lengths, masses, inertias):
    """Hanging links on hinges along y, centres of mass in their middles."""
    mech = bc.Mechanism("chain")
    last, height = mech.ground.marker(axis=Y), 0.0
    for number, (length, mass, inertia) in enumerate(zip(lengths, masses, inertias, strict=True), start=1):
        body = mech.add_body(
            f"link {number}",
            mass=mass,
            inertia=(inertia, inertia, 0.5 * inertia),
            position=(0, 0, height - length / 2),
        )
        mech.add_joint(f"joint {number}", bc.Revolute(), last, body.marker((0, 0, length / 2), axis=Y))
        last, height = body.marker((0, 0, -length / 2), axis=Y), height - length
    return mech


def pendulum_chain_matrices(lengths, masses, inertias):
    """Mass and stiffness by absolute angles: J. Wittenburg, Dynamics of Multibody Systems, section 5."""
    n = len(lengths)
    M, K = np.zeros((n, n)), np.zeros((n, n))
    for body in range(n):
        arms = np.array([*lengths[:body], lengths[body] / 2.0, *[0.0] * (n - body - 1)])
        M += masses[body] * np.outer(arms, arms)
        M[body, body] += inertias[body]
        K += masses[body] * G * np.diag(arms)
    return M, K


def parallelogram(arm=0.5, width=0.8, coupler=3.0, crank=1.0):
    """Two equal cranks that hang and a coupler between them: a closed loop with three rows too many."""
    mech = bc.Mechanism("parallelogram")
    beam = mech.add_body("coupler", mass=coupler, inertia=(0.1, 0.2, 0.2), position=(0, 0, -arm))
    for name, x in (("left", -width / 2), ("right", width / 2)):
        body = mech.add_body(name, mass=crank, inertia=(0.03, 0.03, 0.01), position=(x, 0, -arm / 2))
        mech.add_joint(
            f"{name} pivot",
            bc.Revolute(),
            mech.ground.marker((x, 0, 0), axis=Y),
            body.marker((0, 0, arm / 2), axis=Y),
        )
        mech.add_joint(
            f"{name} pin",
            bc.Revolute(),
            body.marker((0, 0, -arm / 2), axis=Y),
            beam.marker((x, 0, 0), axis=Y),
        )
    square = (coupler * arm + 2 * crank * arm / 2) * G / (coupler * arm**2 + 2 * (0.03 + crank * arm**2 / 4))
    return mech, np.sqrt(square) / (2 * pi)


def sleeping_top(spin, mass=1.5, height=0.3, across=0.02, along=0.015, gimbal=1e-3):
    """A symmetric top that stands on its tip and spins on a gimbal, and the eigenvalues of its wobble.

    The gimbal tilts as the top does and does not spin. With θ the tilt, a complex number:
    A θ'' − i C n θ' − m g h θ = 0.
    """
    mech = bc.Mechanism("top")
    ring = mech.add_body("gimbal", mass=0.1, inertia=(gimbal, gimbal, gimbal))
    place = {"position": (0, 0, height), "angular_velocity": (0, 0, spin)}
    body = mech.add_body("rotor", mass=mass, inertia=(across, across, along), **place)
    mech.add_joint("tip", bc.Universal(), mech.ground.marker(), ring.marker())
    mech.add_joint("axle", bc.Revolute(), ring.marker(), body.marker((0, 0, -height)))
    A = across + gimbal + mass * height**2
    return mech, 1j * np.roots([A, -along * spin, mass * G * height])
