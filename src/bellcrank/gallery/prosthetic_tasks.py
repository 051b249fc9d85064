"""Tasks of the prosthetic arm: the wrist driven along a path, by the path itself or by the four actuators."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import atan2, cos, sin
from typing import Final

import numpy as np

import bellcrank as bc
from bellcrank.gallery.prosthetic_arm import SIDES, ArmParameters, Posture, prosthetic_arm, reaching
from bellcrank.mechanism.checking import Vec3

ACTUATORS: Final = ("front motor", "rear motor", "elbow", "wrist")


@dataclass(frozen=True)
class Task:
    """A motion of the wrist from rest to rest, the hand held level.

    curve: path of the wrist, m. duration: of the motion, s; hold: rest before and after it, s.
    payload: mass in the hand, kg.
    """

    name: str
    curve: bc.NurbsCurve
    duration: float
    payload: float = 0.0
    hold: float = 0.25

    @property
    def path(self) -> bc.Path:
        """The wrist's position over time."""
        return bc.Path(self.curve, bc.Ramp(0.0, 1.0, self.hold, self.duration))

    @property
    def end(self) -> float:
        """When everything is over, s."""
        return self.duration + 2.0 * self.hold


def _curve(*points: Vec3, degree: int = 3, weights: tuple[float, ...] | None = None) -> bc.NurbsCurve:
    return bc.NurbsCurve(points, degree=degree, weights=weights)


STRAIGHT_LINE: Final = Task(
    "straight line", _curve((0.22, -0.02, -0.30), (0.46, -0.14, -0.02), degree=1), duration=5.0
)
TAKE_A_BOOK: Final = Task(
    "take a book",
    _curve(
        (0.24, -0.04, -0.34),
        (0.26, -0.16, -0.22),
        (0.34, -0.22, 0.06),
        (0.44, -0.20, 0.16),
        (0.50, -0.16, 0.15),
    ),
    duration=2.0,
    payload=0.5,
)
LIFT_A_BOTTLE: Final = Task(
    "lift a bottle",
    _curve(
        (0.45, -0.06, -0.26),
        (0.44, -0.06, -0.12),
        (0.42, 0.00, -0.02),
        (0.38, 0.08, 0.03),
        (0.36, 0.10, 0.00),
        weights=(1.0, 2.0, 1.0, 1.5, 1.0),
    ),
    duration=2.0,
    payload=1.0,
)


def level(posture: Posture) -> Posture:
    """The same posture with the wrist bent so that the hand is level."""
    whole = atan2(cos(posture.abduction) * cos(posture.flexion), sin(posture.flexion))
    return replace(posture, wrist=whole - posture.elbow)


def start(task: Task, parameters: ArmParameters | None = None) -> Posture:
    """The posture in which a task begins."""
    return level(reaching(task.curve.control_points[0], parameters or ArmParameters()))


def driven_by_path(task: Task, parameters: ArmParameters | None = None) -> bc.Mechanism:
    """The arm with its wrist driven along the path of a task, the hand held level: inverse kinematics.

    Drives "path" (three rows) and "level"; all joints follow. What moves the arm is a force on the wrist.
    """
    parameters = parameters or ArmParameters()
    mechanism = prosthetic_arm(start(task, parameters), parameters, task.payload)
    mechanism.add_drive("path", marker=mechanism.marker("hand.wrist"), path=task.path)
    mechanism.add_joint("hand", bc.Free(), mechanism.ground.marker(), mechanism.marker("hand.wrist"))
    mechanism.add_drive("level", joint="hand", coordinate="dot_zz", position=0.0)
    return mechanism


def actuator_angles(
    task: Task, times: np.ndarray, parameters: ArmParameters | None = None
) -> dict[str, np.ndarray]:
    """Angles (T,) of the four actuators along a task, in closed form, rad; the motors' from the start."""
    parameters = parameters or ArmParameters()
    points = np.column_stack([function(times) for function in task.path.functions])
    postures = [level(reaching((x, y, z), parameters)) for x, y, z in points.tolist()]
    first = start(task, parameters)
    angles = {
        f"{side} motor": np.array(
            [
                parameters.reduction * (p.gear_angle(side, parameters) - first.gear_angle(side, parameters))
                for p in postures
            ]
        )
        for side in SIDES
    }
    angles["elbow"] = np.array([posture.elbow for posture in postures])
    angles["wrist"] = np.array([posture.wrist for posture in postures])
    return angles


def driven_by_angles(
    task: Task,
    times: np.ndarray,
    angles: Mapping[str, np.ndarray],
    parameters: ArmParameters | None = None,
) -> bc.Mechanism:
    """The arm in the start of a task, its four actuators driven by splines: their efforts are the torques.

    times (T,), s: from rest to rest. angles (T,), rad: by actuator, the motors' from where they start.
    The drives have the names of the actuators.
    """
    parameters = parameters or ArmParameters()
    mechanism = prosthetic_arm(start(task, parameters), parameters, task.payload)
    for name in ACTUATORS:
        values = tuple(angles[name].tolist())
        spline = bc.CubicSpline(tuple(times.tolist()), values, ends="clamped", extrapolation="hold")
        mechanism.add_drive(name, joint=name, position=spline)
    return mechanism


def driven_by_motors(
    task: Task, parameters: ArmParameters | None = None, *, samples: int = 81
) -> bc.Mechanism:
    """The arm driven by its actuators along a task, from `samples` values of the closed form.

    Between them the wrist leaves the path of the task a little.
    """
    parameters = parameters or ArmParameters()
    times = np.linspace(task.hold, task.hold + task.duration, samples)
    return driven_by_angles(task, times, actuator_angles(task, times, parameters), parameters)


def demonstration() -> bc.Mechanism:
    """The complete arm taking a book, driven by its motors: the mechanism of examples/demo.yaml."""
    mechanism = driven_by_motors(TAKE_A_BOOK)
    mechanism.name = "prosthetic arm taking a book"
    return mechanism
