"""The twin of a mechanism that a live session simulates: with hands on bodies, and with bodies pinned.

At the point r = p + R a of a body, which moves with v, a hand exerts

    F = k (target - r) - c v,

and so nothing while k = c = 0. As k, c, a and the target are inputs, a hand that a model has takes hold
anywhere on its body, moves and lets go without a new preparation.

The stiffness follows from the accelerations that a unit force at the point causes, all constraints included.
p is the largest acceleration of the point: the largest eigenvalue of its mobility W, (3, 3). s is the largest
acceleration of the centre of mass of any body, and of the body's own particles at its radius of gyration.

    k = w^2 / max(p, s),   c = 2 sqrt(k / p)

So the point swings about the target with the circular frequency w in the direction in which it yields most,
critically damped, and no body pulled by d accelerates by more than w^2 d. Near a hinge s is the larger one:
it falls with the arm, p with its square. The torque and the speed therefore stay bounded as the arm goes to
zero. All of it scales with the size of the mechanism, a watch or a bridge.

Without dynamics the nearest configuration is found in which grabbed points are where they are pulled, by
inverse kinematics with the drives of the mechanism held and those of a jog free. Constraints and limits are
satisfied, so the mechanism never comes apart; if a target is out of reach, the point comes as near as it can.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Final

import numpy as np

from bellcrank.analysis.assemble import hold_values_of
from bellcrank.analysis.inverse_kinematics import InverseKinematics
from bellcrank.analysis.mobility import DrivenCoordinate
from bellcrank.compile.compile import compile_mechanism
from bellcrank.compile.initial import assembled
from bellcrank.compile.model import Model
from bellcrank.compile.state import Floats, State
from bellcrank.expression.arrays import Vector, cross
from bellcrank.formulations.preparing import prepare
from bellcrank.mechanism.contents import with_numbers
from bellcrank.mechanism.formulas import CustomForce, EndPose
from bellcrank.mechanism.joint_kinds import Fixed
from bellcrank.mechanism.marker import GROUND, Marker
from bellcrank.mechanism.mechanism import Mechanism
from bellcrank.mechanism.parameters import Input
from bellcrank.mechanism.rotation_arrays import rotate
from bellcrank.viewer.names import known

_SLOWEST: Final = 12.0  # rad/s; the point follows within a quarter of a second
_SAG: Final = 0.05  # of the size of the mechanism, at most, under weight that hangs on a hand
_PER_STEP: Final = 0.3  # rad that a hand may swing in a step, so that fixed steps stay stable
_SUBFRAMES: Final = 16  # of a part, where the method finds its own steps
_PARTS: Final = ("stiffness", "damping", "x", "y", "z", "at_x", "at_y", "at_z")
_UNITS: Final = ("N/m", "N s/m", "m", "m", "m", "m", "m", "m")


@dataclass(frozen=True)
class Hand:
    """The hand of a body. number: among all hands of a mechanism, for the names of inputs."""

    body: str
    number: int

    @property
    def force(self) -> str:
        """Name of its force."""
        return f"hand on {self.body}"

    @property
    def inputs(self) -> tuple[str, ...]:
        """Names of its inputs: stiffness, damping, target, grabbed point in the body's frame."""
        return tuple(f"hand_{self.number}_{part}" for part in _PARTS)

    def add_to(self, mechanism: Mechanism) -> None:
        """Give a mechanism its force."""
        stiffness, damping, *rest = (
            Input(name, 0.0, unit) for name, unit in zip(self.inputs, _UNITS, strict=True)
        )
        target, point, pose = Vector(rest[:3]), Vector(rest[3:]), EndPose("body")
        arm = pose.rotation @ point
        velocity = pose.velocity + cross(pose.angular_velocity, arm)
        force = (target - pose.position - arm) * stiffness - velocity * damping
        kind = CustomForce(pose, force=force, moment=cross(arm, force))
        mechanism.add_force(self.force, kind, mechanism.bodies[self.body])


@dataclass(frozen=True, eq=False)
class Hold:
    """The action of a hand: how firmly it holds a point of its body, and where it pulls it.

    stiffness: N/m. damping: N s/m. point: (3,), m, in the body's frame. target: (3,), m, world axes.
    """

    stiffness: float
    damping: float
    point: Floats
    target: Floats

    def values(self, hand: Hand) -> dict[str, float]:
        """Of the inputs of a hand that holds like this."""
        numbers = (self.stiffness, self.damping, *self.target.tolist(), *self.point.tolist())
        return dict(zip(hand.inputs, numbers, strict=True))

    def reach(self, position: Floats, rotation: Floats) -> Floats:
        """(..., 3): where the point is on bodies at positions (..., 3) with rotations (..., 4)."""
        return position + rotate(rotation, np.broadcast_to(self.point, position.shape))

    def work(self, time: Floats, motion: tuple[Floats, Floats, Floats, Floats]) -> float:
        """What the hand does on its body over times, J.

        motion: position (T, 3), rotation (T, 4), velocity and angular velocity (T, 3) of the body's frame.
        The spring's part is exact. What the damper takes is added up by Simpson's rule over an odd number of
        evenly spaced times, and by trapezoids over others, of a part that has ended before its time.
        """
        position, rotation, velocity, spin = motion
        points = self.reach(position, rotation)
        moving = velocity + np.cross(spin, points - position)
        gaps = np.sum((self.target - points[[0, -1]]) ** 2, axis=1)
        speeds = np.sum(moving**2, axis=1)
        steps = np.diff(time)
        if len(time) % 2 == 1 and np.ptp(steps) < 1e-6 * steps[0]:
            weights = np.full(len(time), 2.0)
            weights[1::2], weights[[0, -1]] = 4.0, 1.0
            taken = float(np.mean(steps)) / 3.0 * (weights @ speeds)
        else:
            taken = 0.5 * steps @ (speeds[1:] + speeds[:-1])
        return float(0.5 * self.stiffness * (gaps[0] - gaps[1]) - self.damping * taken)


def times_of(begin: float, duration: float, step: float, held: bool) -> Floats:
    """The times of a part, s, to record: its ends and, where hands hold, enough to add up their work.

    step: s, of the method; 0 where it finds its own.
    """
    parts = 1
    if held:
        parts = max(round(duration / step), 1) if step else _SUBFRAMES
        parts += parts % 2
    if parts == 1:
        return np.array([begin, begin + duration])
    return np.linspace(begin, begin + duration, parts + 1)


def released(hand: Hand) -> Mapping[str, float]:
    """Values of the inputs of a hand that holds nothing."""
    return dict.fromkeys(hand.inputs, 0.0)


@dataclass(frozen=True, eq=False)
class Yielding:
    """The response to unit forces at a point of a body along x, y, z, all constraints included.

    mobility: (3, 3), 1/kg: the accelerations of the point, m/s^2 per N, world axes.
    swing: 1/kg: the largest acceleration, for any direction of the force, of the centre of mass of a body,
    and of the grabbed body's particles at its radius of gyration.
    """

    mobility: Floats
    swing: float

    @property
    def most(self) -> float:
        """The largest acceleration of the point, 1/kg."""
        return float(np.linalg.eigvalsh(0.5 * (self.mobility + self.mobility.T))[-1])


def yielding(model: Model, hand: Hand, state: State, values: Mapping[str, float], point: Floats) -> Yielding:
    """How a mechanism yields to a hand.

    model: has the hand. values: of the other inputs. point: (3,), m, in the body's frame.
    """
    body = model.body_number(hand.body)
    unit = max(float(model.mass[body]), 1e-9)  # N: so much that no digits are lost beside other loads
    system: Any = prepare(model, "lagrange")
    system.set_state(state)
    at = Hold(1.0, 0.0, point, np.zeros(3)).reach(state.position[body], state.rotation[body])
    found = []
    for pull in (np.zeros(3), *(unit * np.eye(3))):
        hold = Hold(1.0, 0.0, point, at + pull)
        system.inputs.update({**values, **hold.values(hand)})
        moving = system.accelerate()
        found.append((moving.linear, moving.angular))
    linear, angular = ((np.array(one[1:]) - one[0]) / unit for one in zip(*found, strict=True))  # (3, nb, 3)
    arms = rotate(state.rotation, model.com)
    centres = linear + np.cross(angular, arms)
    there = linear[:, body] + np.cross(angular[:, body], at - state.position[body])
    gyration = float(np.sqrt(0.5 * np.trace(model.inertia[body]) / model.mass[body]))
    swings = [*np.moveaxis(centres, 1, 0), gyration * angular[:, body]]
    return Yielding(there.T, max(float(np.linalg.norm(one, 2)) for one in swings))


def firmness(most: float, swing: float, size: float, gravity: float, step: float) -> tuple[float, float]:
    """Stiffness, N/m, and damping, N s/m, of a hand.

    most, swing: how the mechanism yields to it, 1/kg (`Yielding`). size: of the mechanism, m. gravity: m/s^2.
    step: s, of the method; 0 where it finds its own.
    """
    frequency = max(_SLOWEST, np.sqrt(gravity / (_SAG * size)))
    if step > 0.0:
        frequency = min(frequency, _PER_STEP / step)
    stiffness = frequency**2 / max(most, swing)
    return float(stiffness), float(2.0 * np.sqrt(stiffness / most))


def size_of(model: Model) -> float:
    """The size of a mechanism in its initial configuration, m."""
    state, pairs = model.initial, model.arrays["pair_bodies"].reshape(-1, 2)
    position = np.vstack([state.position, np.zeros(3)])
    rotation = np.vstack([state.rotation, [1.0, 0.0, 0.0, 0.0]])
    arms = np.reshape(model.arrays["pair_positions"], (-1, 2, 3))
    points = [state.position + rotate(state.rotation, model.com)]
    points += [position[pairs[:, k]] + rotate(rotation[pairs[:, k]], arms[:, k]) for k in (0, 1)]
    return float(np.linalg.norm(np.ptp(np.vstack(points), axis=0))) or 1.0


@dataclass(frozen=True)
class Twin:
    """A mechanism, hands on some of its bodies by name, and others that are pinned.

    base: what springs take from the initial configuration is written into it.
    pins: by name of the body, where its frame is held on the ground.
    driven: coordinates that are driven by hand; the drives of the mechanism are left out then.
    """

    base: Mechanism
    hands: Mapping[str, Hand] = field(default_factory=dict)
    pins: Mapping[str, Marker] = field(default_factory=dict)
    driven: tuple[DrivenCoordinate, ...] = ()

    @staticmethod
    def of(mechanism: Mechanism, start: float = 0.0) -> tuple[Twin, Model]:
        """The twin of a mechanism, nothing held yet, and its assembled model. Raises as `bc.assemble`."""
        model, _ = assembled(compile_mechanism(mechanism, start))
        base = mechanism.copy()
        hold_values_of(base, model)
        return Twin(base), model

    def with_hand(self, body: str) -> Twin:
        """With a hand on a body. Raises MechanismError for a body that there is not."""
        known("body", body, self.base.bodies)
        if body in self.hands:
            return self
        return replace(self, hands={**self.hands, body: Hand(body, len(self.hands) + 1)})

    def with_pin(self, body: str, state: State, number: int) -> Twin:
        """With a body pinned where it is at a state; number: its place there."""
        known("body", body, self.base.bodies)
        place = Marker(GROUND, state.position[number].tolist(), state.rotation[number].tolist())
        return replace(self, pins={**self.pins, body: place})

    def without_pin(self, body: str) -> Twin:
        """With a body released."""
        return replace(self, pins={name: place for name, place in self.pins.items() if name != body})

    def with_parameters(self, values: Mapping[str, float]) -> Twin:
        """With other values of parameters. Raises MechanismError as `Mechanism.with_parameters`."""
        return replace(self, base=self.base.with_parameters(**values))

    @cached_property
    def numbers(self) -> Mechanism:
        """The base with numbers in the place of expressions."""
        return with_numbers(self.base)

    def model(self, state: State) -> Model:
        """The twin compiled, from a state on."""
        return self._compiled.started(state)

    @cached_property
    def _compiled(self) -> Model:
        return compile_mechanism(self.mechanism())

    def mechanism(self) -> Mechanism:
        """The mechanism with its hands and pins."""
        copy = self.base.copy()
        for drive in list(copy.drives.values()) if self.driven else ():
            copy.remove(drive)
        for one in self.driven:
            one.add_to(copy)
        for hand in self.hands.values():
            hand.add_to(copy)
        for body, place in self.pins.items():
            copy.add_joint(f"pin of {body}", Fixed(), place, copy.bodies[body])
        return copy


_TOLERANCE: Final = 1e-8  # m
_STEPS: Final = 40


@dataclass(eq=False)
class Puller:
    """A twin without hands, prepared for inverse kinematics."""

    search: InverseKinematics

    @staticmethod
    def of(twin: Twin, state: State) -> Puller:
        """Of a twin, from a state on."""
        model = compile_mechanism(replace(twin, hands={}).mechanism(), state.time).started(state)
        if model.inputs:
            model = replace(model, core=model.core.copy())
        jogged = {one.name for one in twin.driven}  # which go where the bodies are dragged
        held = [drive.name for drive in model.drives if drive.name not in jogged]
        return Puller(InverseKinematics(model, held=held, tolerance=_TOLERANCE, steps=_STEPS, restarts=0))

    def pull(
        self, state: State, values: Mapping[str, float], targets: Mapping[str, tuple[Floats, Floats]]
    ) -> State:
        """The configuration near to a state, at rest, in which points come nearest to their targets.

        values: of inputs. targets: by body, a point (3,), m, in its frame, and a target (3,), m, world axes.
        Raises AssemblyError where the constraints cannot be met.
        """
        self.search.set_inputs(values)
        places = {(body, tuple(point.tolist())): target for body, (point, target) in targets.items()}
        if state.angles is not None and len(state.angles) != len(self.search.model.angular):
            state = replace(state, angles=None)
        return self.search.nearest(places, state).state
