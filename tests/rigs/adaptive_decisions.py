"""Random moving trees in which adaptive dynamics decides time after time, and what has to hold after each decision."""

from dataclasses import replace

import numpy as np
from rigs.locked_dynamics import begun, mask
from rigs.locked_motion import locked, rms_error, squared_norm
from rigs.machine import matrix
from rigs.moving_trees import moving_tree

from bellcrank.compile.compile import compile_mechanism

DECISIONS = 10
# Decades of mass and speeds of joints, rad/s, with a step, s, that springs of light bodies bear, and how far squared
# distances of two computations may be apart, of those of all accelerations.
WAYS = {"even": (0.5, 1.0, 1e-3, 1e-9), "fast": (0.5, 100.0, 1e-5, 1e-9), "uneven": (10.0, 1.0, 1e-8, 1e-5)}
LIMITS = ("absolute", "relative", "joints", "none")


def energy(model, state):
    """Kinetic energy, J."""
    return 0.5 * squared_norm(model, state, state.velocity, state.angular_velocity)


def state_of(run, model):
    """Where a run is, as a state."""
    names = ("time", "position", "rotation", "velocity", "angular_velocity")
    return replace(model.initial, **dict(zip(names, run.state(model.core), strict=True)))


def is_free(run):
    """Per link."""
    return np.isin(np.arange(len(run.blocks)), run.free)


def locked_names(run, model):
    """The joints that are locked."""
    blocks = set(run.blocks[~is_free(run)].tolist())
    return [name for name in model.source.joints if blocks & set(model.joint(name).blocks)]


def what_is_wrong(seed, way=None, decisions=DECISIONS, by_welds=1):
    """What is wrong with decisions about a random tree, in words; "" for nothing. So many are judged by welds."""
    rng = np.random.default_rng([seed, 30])
    way = str(rng.choice(list(WAYS))) if way is None else way
    decades, speed, step, digits = WAYS[way]
    mech, state = moving_tree(seed, decades=decades, speed=speed)
    model = compile_mechanism(mech)
    run = begun(model, state)
    kind = LIMITS[int(rng.choice(4, p=(0.4, 0.4, 0.15, 0.05)))]
    loose = int(np.sum(run.blocks < 0))
    error, relative = _limit(rng, run, model, kind)
    joints = int(rng.integers(len(run.blocks) + 1)) if kind == "joints" else -1
    all_energy = energy(model, state)
    loss = float(rng.choice((0.0, 0.1, 10.0))) * all_energy / (decisions * 5.0 * step)
    limits = (error, relative, loss, False, joints)
    run.limit(*limits)
    begin = run.time
    for number in range(decisions):
        what = f"{way}, {kind} limit {error:.1e}, loss {loss:.1e} W, decision {number}"
        steps = int(rng.integers(1, 5))
        if run.advance(steps, step, ("symplectic", "rk4")[int(rng.integers(2))]) < steps:
            return ""  # the step is too long for its springs
        run.evaluate()
        if not run.kinetic_energy < 100.0 * (all_energy + model.mass.sum()):
            return ""  # likewise
        before, lost, free = state_of(run, model), run.lost_energy, is_free(run)
        has = energy(model, before)
        run.decide()
        after, change = state_of(run, model), run.lost_energy - lost
        whole = run.distance + squared_norm(model, after, *run.motions(model.core))
        done = is_free(run)
        if fault := _broken(run, limits, loose, whole * digits):
            return f"{what}: {fault}"
        if joints < 0 and run.lost_energy > loss * (run.time - begin) * (1.0 + 1e-9):
            return f"{what}: {run.lost_energy:.3e} J are lost, {loss * (run.time - begin):.3e} allowed"
        taken = has - energy(model, after)
        if abs(taken - change) > 0.01 * digits * has:
            return f"{what}: {change:.6e} J are said to be lost, not {taken:.6e}, of {has:.1e}"
        for link in np.flatnonzero(done & ~free):
            if not np.allclose(run.speeds()[run.first_freedoms[link] : run.first_freedoms[link + 1]], 0.0, rtol=0.0, atol=1e-12 * speed):
                return f"{what}: link {link} is freed and moves at once"
        fresh = begun(model, after)
        fresh.set_free(mask(fresh, model, locked_names(run, model)))
        fresh.evaluate()
        if abs(fresh.distance - run.distance) > digits * whole:
            return f"{what}: squared distance {run.distance:.6e}, from the start {fresh.distance:.6e}, of {whole:.1e}"
        if number >= by_welds:
            continue
        found = locked(mech, before, locked_names(run, model))
        if found.loss > change + digits * has:
            return f"{what}: an impact loses {found.loss:.6e} J, not {change:.6e}, of {has:.1e}"
        at = locked(mech, after, locked_names(run, model))
        if abs(at.distance() - run.distance) > 10.0 * digits * whole:
            return f"{what}: squared distance {run.distance:.6e}, by welds {at.distance():.6e}, of {whole:.1e}"
        if kind == "absolute" and rms_error(model, at.distance() - 10.0 * digits * whole) > error:
            return f"{what}: by welds the error is {rms_error(model, at.distance()):.3e}"
    return ""


def _limit(rng, run, model, kind):
    """An error, and whether it is relative: most are parts of what it is with all joints locked."""
    if kind == "none":
        return 0.0, False
    part = float(10.0 ** rng.uniform(-4.0, 0.0))
    if kind != "absolute":
        return part, True
    run.evaluate()
    return part * rms_error(model, squared_norm(model, state_of(run, model), *run.motions(model.core))), False


def _broken(run, limits, loose, noise):
    error, _, _, _, joints = limits
    links = len(run.blocks)
    if joints >= 0 and len(run.free) > joints + loose:
        return f"{len(run.free)} links are free, {joints} allowed and {loose} on nothing"
    has_room = joints < 0 or len(run.free) < joints + loose
    if has_room and run.distance > noise and not run.error <= error * (1.0 + 1e-12):
        return f"the error is {run.error:.6e}, with {len(run.free)} of {links} free"
    return ""


class Ledger:
    """A run at the start, every joint free, and the energy of constant forces, gravity and springs in all hinges."""

    def __init__(self, mechanism, stiffness=0.0):
        self.model, self.stiffness = compile_mechanism(mechanism), stiffness
        self.run, self.lost = begun(self.model, self.model.initial), 0.0
        self._pulls = np.outer(self.model.mass, mechanism.gravity)
        for force in mechanism.forces.values():
            if force.kind.name == "Wrench":
                self._pulls[self.model.body_number(force.markers[0].body)] += force.kind.force
        self._hinges = [self.model.joint(name).coordinates[0] for name in mechanism.joints]
        self._all = self._energy()

    def _energy(self):
        state = state_of(self.run, self.model)
        angles = self.model.coordinate_motion(state)[0][self._hinges] if self.stiffness else 0.0
        down = np.sum(self._pulls * centres(self.model, state))
        return energy(self.model, state) + 0.5 * self.stiffness * np.sum(np.square(angles)) - down

    def off(self):
        """What energy and losses do not explain, J."""
        return self._energy() + self.lost - self._all

    def off_with_given_sets(self, step, time, parts):
        """The largest of `off`, half of the joints being free in each of some parts of a run."""
        rng, largest, model = np.random.default_rng(0), 0.0, self.model
        self.run.start(model.core, *model.initial.arrays)
        self.lost = 0.0
        for _ in range(parts):
            self.lost += self.run.set_free(rng.random(len(self.run.blocks)) < 0.6)
            steps = round(time / step / parts)
            assert self.run.coast(steps, step) == steps
            largest = max(largest, abs(self.off()))
        return largest


def centres(model, state):
    """Centres of mass (n, 3)."""
    return state.position + np.einsum("bij,bj->bi", matrix(state.rotation), model.com)


def off_exact(mechanism, step, time, limits):
    """Distances of runs with relative errors from the exact run, m by root mean square over the mass.

    Without limits, how far the exact run moved.
    """
    model = compile_mechanism(mechanism)
    run = begun(model, model.initial)

    def end(error, loss):
        run.limit(error, True, loss, False, -1)
        run.start(model.core, *model.initial.arrays)
        steps = round(time / step)
        assert run.advance(steps, step) == steps
        return centres(model, state_of(run, model))

    def distance(one, two):
        return float(np.sqrt(model.mass @ np.sum(np.square(one - two), axis=1) / model.mass.sum()))

    exact = end(0.0, 0.0)
    power = 0.1 * run.kinetic_energy / time
    if not limits:
        return distance(exact, centres(model, model.initial))
    return [distance(end(limit, power * limit**2), exact) for limit in limits]
