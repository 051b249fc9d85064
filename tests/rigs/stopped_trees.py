"""Random trees with stops along coordinates of their joints, by seed, and what convex sets give."""

from dataclasses import replace

import numpy as np
from rigs.adaptive_decisions import energy, is_free, locked_names, state_of
from rigs.locked_dynamics import begun, mask
from rigs.locked_motion import Locked, gauss_distance, held, locked, rms_error, squared_norm
from rigs.moving_trees import held_joints, moving_tree

import bellcrank as bc
from bellcrank.compile.compile import compile_mechanism

FAR = 0.7  # the most from where a joint is to its stop, rad; m: a third of it


def stopped_tree(seed, *, closed=0.5, restitution=0.5, **options):
    """A random tree, as `moving_tree` makes it, with stops, and its state.

    closed: how many of the stops a joint stands at, of the coordinates that have some.
    """
    mech, state = moving_tree(seed, **options)
    rng = np.random.default_rng([seed, 23])
    model = compile_mechanism(mech)
    values = model.coordinate_motion(state)[0]
    for joint in list(mech.joints.values()):
        numbers = dict(zip(joint.kind.free, model.joint(joint.name).coordinates, strict=False))
        limits = {}
        for name, number in numbers.items():
            if name.startswith("rot") or rng.random() < 0.3:
                continue
            limits[name] = _limit(
                rng, float(values[number]), 1.0 / 3.0 if name in "xyz" else 1.0, closed, restitution
            )
        if limits and joint.kind.name not in ("Free", "Screw"):
            mech.replace(joint, limits=limits)
    return mech, state


def _limit(rng, value, size, closed, restitution):
    below, above = (size * FAR * float(rng.uniform(0.05, 1.0)) for _ in range(2))
    side = rng.integers(3)
    stands = rng.random() < closed
    lower = value - (0.0 if stands and side == 0 else below)
    upper = value + (0.0 if stands and side == 1 else above)
    bounce = float(rng.uniform(0.0, restitution))
    if side == 2:
        return bc.Limit(lower, None, bounce)
    return bc.Limit(lower, upper, bounce)


def without_stops(mechanism):
    """The same tree."""
    bare = mechanism.copy()
    for joint in list(bare.joints.values()):
        if joint.limits:
            bare.replace(joint, limits=())
    return bare


def judged(mechanism, state, names):
    """What is known of a state in which these joints stand still and are locked, by welds in their place."""
    return Judged(
        Locked(mechanism, compile_mechanism(mechanism), held(mechanism, state, names), _plain(state), 0.0)
    )


def _plain(state):
    return replace(state, angles=None, contacts=None, source=None)


class Judged:
    """H, F and what bounds their distance, 2 (G_H - G_F), by another formulation.

    G of accelerations is half of their squared distance from those that there would be without any stop.
    """

    def __init__(self, found):
        none = replace(found, model=compile_mechanism(without_stops(found.mechanism)))
        self.found, self.held, self.free = found, found.accelerations(), found.free_accelerations()
        self.none = none.free_accelerations()
        held, free, self.distance = (
            self.apart(*two)
            for two in ((self.held, self.none), (self.free, self.none), (self.held, self.free))
        )
        self.bound = held - free
        self.whole = max(self.norm(self.held), self.norm(self.free), self.norm(self.none))

    def apart(self, one, two):
        return gauss_distance(self.found.model, self.found.state, one, two)

    def norm(self, of):
        return squared_norm(self.found.model, self.found.state, of.linear, of.angular)

    def off(self, run):
        """How far a run is from H, of all accelerations."""
        linear, angular = run.motions(self.found.model.core)
        change = linear - self.held.linear, angular - self.held.angular
        return float(np.sqrt(squared_norm(self.found.model, self.found.state, *change) / self.whole))


def gaps(model, state):
    """Of all stops and their rates (2, n), a gap negative where one is passed; rad, m."""
    values, rates = model.coordinate_motion(state)[:2]
    found = [(np.inf, 0.0)]
    for joint in model.source.joints.values():
        for name, limit in joint.limits:
            number = model.joint(joint.name).coordinates[joint.kind.free.index(name)]
            if limit.lower is not None:
                found.append((values[number] - limit.lower, rates[number]))
            if limit.upper is not None:
                found.append((limit.upper - values[number], -rates[number]))
    return np.array(found).T


def is_about_to_land(model, state):
    """Whether a stop is within its tolerance and approached: at a state alone, that counts as contact."""
    gap, rate = gaps(model, state)
    return bool(np.any((gap <= 1e-8) & (rate < -1e-7)))


DECISIONS = 8
STEP = 1e-3


def what_is_wrong(seed, decisions=DECISIONS, by_welds=DECISIONS):
    """What is wrong with decisions about a random tree with stops, in words; "" for nothing.

    The first so many are judged by welds.
    """
    rng = np.random.default_rng([seed, 31])
    mech, state = stopped_tree(seed, bodies=(2, 30), speed=float(rng.choice((0.0, 1.0, 10.0))))
    model = compile_mechanism(mech)
    run, part = begun(model, state), float(10.0 ** rng.uniform(-3.0, 0.0))
    is_relative = bool(rng.random() < 0.5)
    run.evaluate()
    norm = squared_norm(model, state_of(run, model), *run.motions(model.core))
    limit = part if is_relative else part * rms_error(model, norm)
    begin = energy(model, state) + model.mass.sum()
    loss = float(rng.choice((0.0, 0.1, 10.0))) * begin / (decisions * 5.0 * STEP)
    run.limit(limit, is_relative, loss, False, -1)
    for number in range(decisions):
        steps = int(rng.integers(1, 9))
        if run.advance(steps, STEP, str(rng.choice(("rk4", "symplectic")))) < steps:
            return ""  # the step is too long for its springs
        run.evaluate()
        before, lost = run.kinetic_energy, run.lost_energy
        run.decide()
        for fault in _faults(run, model, mech, number < by_welds, limit, before, lost):
            return f"limit {limit:.1e}, loss {loss:.1e} W, decision {number}: {fault}"
        if run.kinetic_energy > 100.0 * begin:
            return ""
    return ""


def _faults(run, model, mech, by_welds, limit, before, lost):
    state = state_of(run, model)
    if gaps(model, state)[0].min() < -1e-9:
        yield f"a stop is passed by {-gaps(model, state)[0].min():.1e}"
    taken, change = before - run.kinetic_energy, run.lost_energy - lost
    if abs(taken - change) > 1e-10 * before:
        yield f"{change:.6e} J are said to be lost, not {taken:.6e}, of {before:.1e}"
    norm = run.distance + squared_norm(model, state, *run.motions(model.core))
    if not np.all(is_free(run)) and run.distance > 1e-9 * norm and not run.error <= limit * (1.0 + 1e-12):
        yield f"the error is {run.error:.6e}"
    turned = np.abs(model.coordinate_motion(state)[0][model.angular]) > np.pi  # without stops, another turn
    if not by_welds or is_about_to_land(model, state) or np.any(turned):
        return
    found = judged(mech, state, locked_names(run, model))
    if not found.off(run) <= 1e-8:
        yield f"accelerations are off by {found.off(run):.1e} of all"
    for name, least in (("distance", found.distance), ("bound", found.bound)):
        if not run.distance >= least - 1e-9 * found.whole:
            yield f"the squared distance is {run.distance:.6e}, the {name} by welds {least:.6e}"


IMPACT_STEP = 1e-9  # so short that velocities change nothing in it


def wrong_impact(seed):
    """What is wrong with an impact of a random tree on its stops, in words; "" for nothing.

    Some joints are locked: H, where they stay, is what happens. The largest error that is told bounds the
    distance from F, where all move.
    """
    mech, state = stopped_tree(seed, closed=1.0, bodies=(2, 25), forces=False)
    names = held_joints(mech, seed)
    state = locked(without_stops(mech), state, names).state
    model, welded = compile_mechanism(mech), held(mech, state, names)
    fallen, moved = (bc.prepare(each, "lagrange").project(state) for each in (welded, mech))
    run = begun(model, state)
    run.set_free(mask(run, model, names))
    before = run.kinetic_energy
    run.limit(np.inf, False, 0.0, False, -1)
    if run.advance(1, IMPACT_STEP, "symplectic") != 1:
        return "it ended"
    after, size = state_of(run, model), max(np.sqrt(2.0 * before / model.mass.sum()), 1e-3)
    off = _speeds_apart(model, state, after, fallen)
    if not off <= 1e-7 * size + 1e-15:
        return f"speeds after it are off by {off:.1e} of {size:.1e} m/s, after {run.impacts}"
    taken = before - energy(model, fallen)
    if not abs(run.impact_energy - taken) <= 1e-6 * before + 1e-30:
        return f"{run.impact_energy:.6e} J are said to be taken, not {taken:.6e}, of {before:.1e}"
    off = _speeds_apart(model, state, fallen, moved)
    if not run.largest_error * IMPACT_STEP >= off - 1e-6 * size:
        return f"speeds after it are off by {off:.6e} m/s, not at most {run.largest_error * IMPACT_STEP:.6e}"
    return ""


def _speeds_apart(model, state, one, two):
    """By root mean square over the mass, m/s."""
    change = one.velocity - two.velocity, one.angular_velocity - two.angular_velocity
    return rms_error(model, squared_norm(model, state, *change))
