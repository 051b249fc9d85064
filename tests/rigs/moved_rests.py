"""Rests of random trees and loops with stops, and modes about them, that move with gravity and a load."""

import numpy as np
from rigs.joint_trees import add_forces, add_loop, described, random_tree
from rigs.resting_trees import KINDS, random_case

import bellcrank as bc
from bellcrank.linear.differences import derivatives

CLOSE = 1e-6  # of the largest derivative of a kind
ROUGH = 1e-4  # the same, of differences that say nothing
NAMED = (
    "does not push",
    "nothing holds the mechanism",
    "nothing holds it",
    "a stop is touched",
    "no mode that is not neutral",
    "rest anywhere along",
    "not smooth",
    "singular pose",
    "is at rest, slower than",
)  # what refusals say


class Refused(Exception):
    """Not to be judged."""


def moved_rest(seed):
    """A random mechanism at rest, with parameters for gravity, and for a load and its place."""
    rng = np.random.default_rng([seed, 12])
    if seed % 2:
        tree = random_tree(rng, int(rng.integers(1, 6)), KINDS)
        if rng.random() < 0.4:
            add_loop(tree, rng)
        add_forces(described(tree), rng, torsion=1.0)
    else:
        tree, _ = random_case(seed)
    mech = tree.mech
    weight, pull = mech.add_parameter("weight", 1.0), mech.add_parameter("pull", 1.0)
    arm = mech.add_parameter("arm", 0.2, "m")
    force = tuple(pull * one for one in rng.normal(size=3).tolist())
    mech.gravity = tuple(weight * one for one in mech.gravity)
    mech.add_force("pull", bc.Wrench(force=force), list(mech.bodies.values())[-1].marker((arm, 0.1, 0.0)))
    return bc.statics(mech, tolerance=1e-13)


def off(exact, error, anew, at, kinds):
    """By how much derivatives are off differences, in parts of the largest of a kind; "" if not."""

    def sample(points):
        return np.array([anew(point) for point in points])

    wanted = derivatives(sample, at, 0.02 * at)
    sizes = dict.fromkeys(kinds, 1e-3)
    for kind, row in zip(kinds, np.abs(wanted.matrix).max(axis=1, initial=0.0).tolist(), strict=True):
        sizes[kind] = max(sizes[kind], row)
    size = np.array([[sizes[kind]] for kind in kinds])
    if np.max(wanted.error / size, initial=0.0) > ROUGH:
        raise Refused("differences do not settle")
    far = np.abs(exact - wanted.matrix) - 10.0 * wanted.error - 2.0 * error
    worst = float(np.max(far / size, initial=0.0))
    return f"off by {worst:.2g}" if worst > CLOSE else ""


def wrong(seed):
    """What is wrong with the derivatives of a case; nothing if nothing is."""
    try:
        rest = moved_rest(seed)
        return "; ".join(filter(None, (_rest_wrong(rest), _modes_wrong(rest))))
    except bc.AssemblyError as error:
        raise Refused(str(error)) from error
    except bc.MechanismError as error:
        if any(text in str(error) for text in NAMED):
            raise Refused(str(error)) from error
        raise


def _changed(rest, point):
    values = dict(zip(("weight", "pull", "arm"), point.tolist(), strict=True))
    return bc.statics(rest.at.with_parameters(**values), tolerance=1e-13)


def _rest_wrong(rest):
    bodies = list(rest.at.bodies)
    of = [f"body.{name}.{axis}" for name in bodies for axis in "xyz"]
    found = rest.sensitivity([*of, "position"], ["weight", "pull", "arm"])
    joints = [name for name in rest.position if rest.at.joints[name].kind.free]
    kinds = [found.units[name] for name in found.outputs]

    def anew(point):
        moved = _changed(rest, point)
        return np.concatenate([moved.state.position.ravel(), *(moved.position[name] for name in joints)])

    text = off(found.array, 0.0, anew, np.array([1.0, 1.0, 0.2]), kinds)
    return text and f"rest: {text}"


def _modes_wrong(rest):
    if any(np.any(effort.efforts) for effort in rest.limits.values()):
        return ""
    modes = bc.modes(rest.at)
    found = modes.sensitivity(by=["weight", "pull", "arm"], of=["frequency", "damping"])
    if found.warnings:
        raise Refused("; ".join(found.warnings))

    def anew(point):
        again = bc.modes(_changed(rest, point).at)
        if [mode.kind for mode in again] != [mode.kind for mode in modes]:
            raise Refused("modes change their kind nearby")
        listed = [mode for mode in again if mode.kind == "oscillating"]
        return np.array([mode.frequency for mode in listed] + [mode.damping for mode in listed])

    kinds = [name.partition(" ")[0] for name in found.of]
    text = off(found.gradient, found.gradient_error, anew, found.at, kinds)
    return text and f"modes: {text}"
