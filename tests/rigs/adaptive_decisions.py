"""Adaptive dynamics of random moving trees that decides time after time; energies; distances."""

from dataclasses import replace

import numpy as np
from rigs.locked_dynamics import begun, mask
from rigs.locked_motion import locked, rms_error, squared_norm
from rigs.looped_trees import looped_tree
from rigs.machine import matrix
from rigs.moving_trees import moving_tree

from bellcrank.compile.compile import compile_mechanism

DECISIONS = 10
# Decades of mass and speeds of joints, rad/s, with a step, s, that springs of light bodies bear, and how far
# squared distances of two computations may be apart, of those of all accelerations.
WAYS = {
    "even": (0.5, 1.0, 1e-3, 1e-9),
    "fast": (0.5, 100.0, 1e-5, 1e-9),
    "uneven": (10.0, 1.0, 1e-8, 1e-5),
    "loops": (0.5, 1.0, 1e-3, 1e-8),
    "fast loops": (0.5, 100.0, 1e-5, 1e-8),
    "uneven loops": (3.0, 1.0, 1e-6, 1e-6),
}
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
    """What is wrong with decisions about a random tree, in words; "" for nothing.

    The first so many are judged by welds.
    """
    rng = np.random.default_rng([seed, 30])
    way = str(rng.choice(list(WAYS))) if way is None else way
    trial = _Trial(rng, seed, way, decisions)
    for number in range(decisions):
        if not trial.goes_on(rng):
            return ""  # the step is too long for its springs
        for fault in trial.faults(by_welds=number < by_welds):
            return f"{way}, {trial.kind} limit {trial.error:.1e}, loss {trial.loss:.1e} W, {number}: {fault}"
    return ""


class _Trial:
    """A random tree with random limits, in motion."""

    def __init__(self, rng, seed, way, decisions):
        decades, self.speed, self.step, self.digits = WAYS[way]
        make = looped_tree if "loops" in way else moving_tree
        self.mech, state = make(seed, decades=decades, speed=self.speed)
        self.model = model = compile_mechanism(self.mech)
        self.run = run = begun(model, state)
        self.kind = LIMITS[int(rng.choice(4, p=(0.4, 0.4, 0.15, 0.05)))]
        self.error, relative = self._limit(rng)
        self.joints = int(rng.integers(len(run.blocks) + 1)) if self.kind == "joints" else -1
        self.energy = energy(model, state)
        self.loss = float(rng.choice((0.0, 0.1, 10.0))) * self.energy / (decisions * 5.0 * self.step)
        self.begin = run.time
        run.limit(self.error, relative, self.loss, False, self.joints)

    def _limit(self, rng):
        """An error, and whether it is relative: most are parts of what it is with all joints locked."""
        if self.kind == "none":
            return 0.0, False
        part = float(10.0 ** rng.uniform(-4.0, 0.0))
        if self.kind != "absolute":
            return part, True
        self.run.evaluate()
        here = state_of(self.run, self.model)
        norm = squared_norm(self.model, here, *self.run.motions(self.model.core))
        return part * rms_error(self.model, norm), False

    def goes_on(self, rng):
        """Some steps; whether they end."""
        steps = int(rng.integers(1, 5))
        if self.run.advance(steps, self.step, ("symplectic", "rk4")[int(rng.integers(2))]) < steps:
            return False
        return self.run.kinetic_energy < 100.0 * (self.energy + self.model.mass.sum())

    def faults(self, by_welds):
        """Decides, and tells what is wrong with that."""
        run, model, digits = self.run, self.model, self.digits
        run.evaluate()
        before, lost, free = state_of(run, model), run.lost_energy, is_free(run)
        run.decide()
        after, change = state_of(run, model), run.lost_energy - lost
        whole = run.distance + squared_norm(model, after, *run.motions(model.core))
        yield from self._broken_limits(whole * digits)
        begun_with = energy(model, before)
        had = max(begun_with, 1e-9 * self.energy)  # loops may stop nearly all of it
        taken = begun_with - energy(model, after)
        if abs(taken - change) > 0.01 * digits * had:
            yield f"{change:.6e} J are said to be lost, not {taken:.6e}, of {had:.1e}"
        for link in np.flatnonzero(is_free(run) & ~free):
            own = slice(run.first_freedoms[link], run.first_freedoms[link + 1])
            if not np.allclose(run.speeds()[own], 0.0, rtol=0.0, atol=1e-12 * self.speed):
                yield f"link {link} is freed and moves at once"
        names = locked_names(run, model)
        fresh = begun(model, after)
        fresh.set_free(mask(fresh, model, names))
        fresh.evaluate()
        if abs(fresh.distance - run.distance) > digits * whole:
            yield f"squared distance {run.distance:.6e}, begun there {fresh.distance:.6e}, of {whole:.1e}"
        if not by_welds:
            return
        impact = locked(self.mech, before, names).loss  # of what stays locked
        if impact > change + digits * had:
            yield f"an impact loses {impact:.6e} J, not {change:.6e}, of {had:.1e}"
        distance = locked(self.mech, after, names).distance()
        if abs(distance - run.distance) > 10.0 * digits * whole:
            yield f"squared distance {run.distance:.6e}, by welds {distance:.6e}, of {whole:.1e}"
        least = rms_error(model, distance - 10.0 * digits * whole)
        if self.kind == "absolute" and least > self.error:
            yield f"by welds the error is {least:.3e}"

    def _broken_limits(self, noise):
        """noise: squared distance that is nothing but rounding."""
        run, loose = self.run, int(np.sum(self.run.blocks < 0))
        most, allowed = self.joints + loose, self.loss * (self.run.time - self.begin)
        if self.joints >= 0 and len(run.free) > most:
            yield f"{len(run.free)} links are free, {self.joints} allowed and {loose} on nothing"
        has_room = self.joints < 0 or len(run.free) < most
        if has_room and run.distance > noise and not run.error <= self.error * (1.0 + 1e-12):
            yield f"the error is {run.error:.6e}, with {len(run.free)} of {len(run.blocks)} free"
        if self.joints < 0 and run.lost_energy > allowed * (1.0 + 1e-9):
            yield f"{run.lost_energy:.3e} J are lost, {allowed:.3e} allowed"


class Ledger:
    """A run from the start of a mechanism, and its energy, with springs in all hinges and constant forces."""

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
