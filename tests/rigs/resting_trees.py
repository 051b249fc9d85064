"""Rests of random chains, trees and loops of joints with stops, against the same energy in joint coordinates.

The energy, its gradient and its second derivatives come from textbook mechanics (`rigs.joint_trees`), bounds
are bounds of coordinates, and scipy finds the least (R. Byrd, P. Lu, J. Nocedal, C. Zhu, 1995).
"""

import numpy as np
from rigs.joint_trees import add_forces, add_loop, described, random_tree
from scipy.linalg import eigh, null_space
from scipy.optimize import minimize, nnls

import bellcrank as bc

KINDS = ("Revolute", "Prismatic", "Universal", "Cylindrical")
STEEP = 1e-7  # of forces: what may be left
FALL = 1e-8  # of the energy's size: what scipy may still find below a rest


def random_case(seed):
    """A hanging chain or tree, flat or in space, with stops at many of its coordinates and springs."""
    rng = np.random.default_rng([seed, 9])
    flat = bool(rng.random() < 0.4)
    kinds = ("Revolute",) if flat or rng.random() < 0.4 else KINDS
    branching = 0.0 if rng.random() < 0.5 else 0.4
    tree = random_tree(rng, int(rng.integers(1, 7)), kinds, flat, branching=branching)
    stopped = 1.0 if rng.random() < 0.4 else 0.6
    limits, wide = [], float(rng.choice([0.1, 0.6, 1.5]))
    for name, value in zip(tree.names, tree.position, strict=True):
        turns = name.endswith(("theta_z", "universal_1", "universal_2"))
        low, high = value - rng.uniform(0.01, 1.0) * wide, value + rng.uniform(0.01, 1.0) * wide
        if rng.random() < 0.15:  # starts on a stop
            low, high = (value, high) if rng.random() < 0.5 else (low, value)
        free = rng.random() > stopped
        limits.append(None if turns and free else (float(low), float(high)))
    if rng.random() < 0.3:
        add_loop(tree, rng, flat)
    described(tree, limits=limits)
    add_forces(tree, rng, damping=False)
    return tree, np.array([(-np.inf, np.inf) if one is None else one for one in limits])


def reached(tree, found):
    """Joint coordinates of a rest."""
    values = []
    for hinge in tree.hinges:
        values += list(found.position[hinge.name])
    return np.array(values)


def wrong(seed):
    """What is wrong with the rest of a case; nothing if nothing is."""
    tree, bounds = random_case(seed)
    start = np.array(tree.position)
    found = bc.statics(tree.mech)
    q = reached(tree, found)
    size = np.sum(np.abs(tree.mass)) * np.linalg.norm(tree.mech.gravity) + abs(np.real(tree.energy(q))) + 1.0
    slope = np.real(tree.slope(q))
    scale = found.equilibrium.scale
    at_low, at_high = q <= bounds[:, 0] + 1e-8, q >= bounds[:, 1] - 1e-8
    efforts, left, J = pushes(tree, q, slope, at_low, at_high)
    faults = []
    if np.any(q < bounds[:, 0] - 1e-8) or np.any(q > bounds[:, 1] + 1e-8):
        faults.append("a stop is passed")
    if left > STEEP * scale:
        faults.append(f"a force of {left:.2g} of {scale:.3g} is left")
    if np.real(tree.energy(q)) > np.real(tree.energy(start)) + 1e-9 * size:
        faults.append("the energy has risen")
    lower = q if tree.loops else least(tree, q, bounds)
    if np.real(tree.energy(lower)) < np.real(tree.energy(q)) - FALL * size:
        fall = np.real(tree.energy(q)) - np.real(tree.energy(lower))
        faults.append(f"no minimum: scipy goes on by {fall:.2g} J of {size:.3g}")
    pushing = np.abs(efforts) > 1e-7 * scale
    return "; ".join([*faults, *judged_otherwise(tree, q, J, pushing, found)])


def least(tree, start, bounds):
    """Where the energy is least, downhill from a start within bounds, by scipy."""
    made = minimize(
        lambda q: (float(np.real(tree.energy(q))), np.real(tree.slope(q))),
        np.clip(start, bounds[:, 0], bounds[:, 1]),
        jac=True,
        bounds=bounds,
        method="L-BFGS-B",
        options={"ftol": 1e-15, "gtol": 1e-10},
    )
    return made.x


def pushes(tree, q, slope, at_low, at_high):
    """Efforts of stops that leave least of a slope, what they leave, and the rows of loops.

    Lower stops push up and upper ones down; rows of loops push both ways.
    """
    count = len(q)
    _, J, _ = tree.closure(q)
    J = np.real(J).reshape(-1, count)
    low, high = np.eye(count)[:, at_low], -np.eye(count)[:, at_high]
    sides = np.hstack([J.T, -J.T, low, high])
    found, left = nnls(sides, slope) if sides.shape[1] else (np.zeros(0), float(np.linalg.norm(slope)))
    stops = found[2 * len(J) :]
    efforts = np.zeros(count)
    efforts[at_low] += stops[: low.shape[1]]
    efforts[at_high] -= stops[low.shape[1] :]
    return efforts, left, J


def judged_otherwise(tree, q, J, pushing, found):
    """Where the stability is judged otherwise than by second derivatives along what nothing holds."""
    report = found.equilibrium
    free = null_space(np.vstack([J, np.eye(len(q))[pushing]])) if len(J) or pushing.any() else np.eye(len(q))
    if report.degrees_of_freedom != free.shape[1]:
        yield f"{report.degrees_of_freedom} directions where {free.shape[1]} are free"
        return
    if not free.shape[1] or tree.loops:  # with loops, their curvature counts as well
        return
    H, M = free.T @ tree.hessian(q) @ free, free.T @ np.real(tree.mass_matrix(q)) @ free
    values = eigh(H, M, eigvals_only=True)
    off = abs(values[0] - report.least_eigenvalue)
    if off > 1e-8 * np.max(np.abs(values)) + report.uncertainty:
        mine = f"{report.least_eigenvalue:.6g} ± {report.uncertainty:.1g}"
        yield f"least eigenvalue {mine}, right is {values[0]:.6g}"


def balanced_arm(rng, angle):
    """A perfectly balanced arm, by a spring of no length: k a b = m g l. It rests anywhere."""
    m, reach, a, b, inertia = rng.uniform(0.1, 2.0, 5)
    mech = bc.Mechanism("balance")
    arm = mech.add_body("arm", m, (inertia / 2, inertia, inertia), com=(reach, 0, 0))
    axis = (0.0, 1.0, 0.0)
    mech.add_joint("J", bc.Revolute(), mech.ground.marker(axis=axis), arm.marker(axis=axis), position=angle)
    spring = bc.SpringDamper(stiffness=m * 9.81 * reach / (a * b), rest_length=0.0)
    mech.add_force("s", spring, mech.ground.marker((0, 0, a)), arm.marker((b, 0, 0)))
    return mech
