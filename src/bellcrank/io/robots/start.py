"""The start of a mechanism that is written: coordinates and their rates, poses and velocities of bodies."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from bellcrank.compile.compile import compile_mechanism
from bellcrank.compile.initial import assembled
from bellcrank.compile.model import Model
from bellcrank.compile.state import Floats
from bellcrank.mechanism import GROUND, Mechanism
from bellcrank.mechanism.rotation import matrix

_FIELDS = ("position", "rotation", "velocity", "angular_velocity")


@dataclass(frozen=True)
class Start:
    """A model at its assembled start."""

    model: Model

    @cached_property
    def _coordinates(self) -> tuple[Floats, Floats]:
        return self.model.coordinate_motion(self.model.initial)

    def coordinate(self, joint: str, name: str) -> tuple[float, float]:
        """Value and rate of a free coordinate of a joint."""
        record = self.model.joint(joint)
        number = record.coordinates[record.coordinate_names.index(name)]
        values, rates = self._coordinates
        return float(values[number]), float(rates[number])

    def body(self, name: str) -> dict[str, Any]:
        """Pose and velocities of a body's frame as the fields of a Body."""
        if name == GROUND:
            return {"position": (0.0,) * 3, "rotation": (1.0, 0.0, 0.0, 0.0)} | dict.fromkeys(
                _FIELDS[2:], (0.0,) * 3
            )
        number = self.model.body_index[name]
        return {field: tuple(getattr(self.model.initial, field)[number].tolist()) for field in _FIELDS}

    def turning(self, inner: str, outer: str) -> Floats:
        """The angular velocity (3,) of a body relative to another one, in its own axes, rad/s."""
        one, two = self.body(inner), self.body(outer)
        spin = np.subtract(one["angular_velocity"], two["angular_velocity"])
        return np.asarray(matrix(one["rotation"]).T @ spin)


def start_of(mechanism: Mechanism) -> Start:
    """The start. Raises MechanismError for faults, AssemblyError if the mechanism cannot be assembled."""
    return Start(assembled(compile_mechanism(mechanism))[0])


def placed(mechanism: Mechanism, start: Start) -> Mechanism:
    """A copy whose bodies are at the start, which then needs no drives, values and guesses of joints."""
    copy = mechanism.copy()
    bodies, joints = vars(copy)["_bodies"], vars(copy)["_joints"]
    for name, body in bodies.items():
        changed = {key: value for key, value in start.body(name).items() if getattr(body, key) != value}
        if changed:
            bodies[name] = replace(body, **changed)
    for name, joint in joints.items():
        if joint.position or joint.velocity or joint.guess:
            named = [key for key, _ in joint.position if key in joint.kind.free]
            position = tuple((key, start.coordinate(name, key)[0]) for key in named)
            joints[name] = replace(joint, position=position, velocity=(), guess=())
    return copy
