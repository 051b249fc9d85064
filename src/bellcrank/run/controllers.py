"""Controllers: functions called at multiples of a period that set inputs from what they read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from bellcrank.compile.model import Model
from bellcrank.compile.state import Floats
from bellcrank.errors import Fault, MechanismError
from bellcrank.mechanism.checking import Check, nearest
from bellcrank.trajectory.layout import FrameLayout


@dataclass(frozen=True)
class BodyReading:
    """Pose and velocity of a body: origin of its frame and quaternion (w, x, y, z), world axes.

    position (3,), m. rotation (4,). velocity (3,), m/s. angular_velocity (3,), rad/s.
    """

    position: Floats
    rotation: Floats
    velocity: Floats
    angular_velocity: Floats


class Readings:
    """What a controller can read from a run at the time of a sample; valid only during the call."""

    def __init__(self, model: Model, layout: FrameLayout, core: Any, inputs: Mapping[str, float]) -> None:
        self.time = 0.0
        """s."""
        self.inputs = inputs
        """The inputs by name, with the values that they have."""
        columns, self._layout, self._core = layout.columns, layout, core
        self._first = {name: columns[name].start - 1 for name in ("coordinates", "rates")}
        every = (*layout.coordinates, *layout.angles, *layout.force_coordinates)
        self._motion = np.zeros(FrameLayout(layout.mechanism, layout.bodies, every).width)
        self._taken = False
        self._frame: Floats | None = None
        self._places = _places(model, layout)

    def at(self, time: float) -> Readings:
        """The readings at the run's current state."""
        self.time, self._taken, self._frame = time, False, None
        return self

    def coordinate(self, name: str) -> float:
        """A joint's coordinate, m or rad: "joint.coordinate", or the joint alone if it has no other."""
        return self._read("coordinates", name)

    def rate(self, name: str) -> float:
        """The rate of a joint's coordinate, m/s or rad/s."""
        return self._read("rates", name)

    def body(self, name: str) -> BodyReading:
        """Pose and velocity of a body."""
        number = self._layout.body_number.get(name)
        if number is None:
            raise _unknown("body", name, self._layout.bodies)
        motion, found = self._measured(), []
        for section in ("position", "rotation", "velocity", "angular_velocity"):
            begin, width = self._layout.columns[section].start - 1, self._layout.shapes[section][1]
            found.append(motion[begin + width * number : begin + width * (number + 1)].copy())
        return BodyReading(*found)

    def effort(self, name: str) -> float | Floats:
        """What a drive or a force exerts, as `run.drive(name).effort` and `run.force(name).effort` return it.

        N or N m; an array (k,) where there are several. Each call evaluates the equations of motion.
        """
        layout = self._layout
        numbers = layout.multiplier_numbers(name, "drive", "motor")
        if not numbers and name not in layout.forces:
            known = dict.fromkeys(c.element for c in layout.multipliers if c.kind in ("drive", "motor"))
            raise _unknown("drive or force", name, (*known, *layout.forces))
        if self._frame is None:
            self._frame = self._core.observe()[0]
        section = self._frame[layout.columns["multipliers" if numbers else "force_efforts"]]
        if numbers:
            efforts = np.array([layout.multipliers[n].sign * section[n] for n in numbers])
        else:
            efforts = section[layout.force_numbers[name]].copy()
        return float(efforts[0]) if len(efforts) == 1 else efforts

    def _read(self, section: str, name: str) -> float:
        place = self._places.get(name)
        if place is None:
            raise _unknown("coordinate", name, self._places)
        return float(self._measured()[self._first[section] + place])

    def _measured(self) -> Floats:
        if not self._taken:
            self._core.measure(self._motion)
            self._taken = True
        return self._motion


def _places(model: Model, layout: FrameLayout) -> dict[str, int]:
    """The index of each coordinate, by each of its names."""
    alone = {joint.name for joint in model.joints if len(joint.coordinates) == 1}
    named = {column.joint: place for place, column in enumerate(layout.coordinates) if column.joint in alone}
    return named | {str(column): place for place, column in enumerate(layout.coordinates)}


def _unknown(noun: str, name: object, known: Iterable[str]) -> MechanismError:
    return MechanismError(
        Fault(f"{noun} {name!r}", f"there is no {noun} of this name", None, nearest(name, known))
    )


@dataclass(frozen=True)
class Controller:
    """A function called at every multiple of a period from the start of a run, which sets inputs.

    function: takes the time, s, and `Readings`, and returns a dict of input values by name, which apply
        until they are set again. No step goes past a sample. Several controllers due at one time are
        called in their order.
    period: s.
    name: for messages; by default that of the function.

    Raises MechanismError if `function` is not callable or the period is not greater than zero.
    """

    function: Callable[[float, Readings], Mapping[str, float]]
    period: float
    name: str = ""

    def __post_init__(self) -> None:
        name = self.name or getattr(self.function, "__name__", type(self.function).__name__)
        with Check(f"controller {name!r}") as check:
            if not callable(self.function):
                check.fault("it must be a function of the time and of readings", self.function)
            if not isinstance(name, str):
                check.fault("name must be a text", name)
            check.store(self, period=check.positive("period", self.period, "s"), name=name)

    def sampled(self, readings: Readings) -> Mapping[str, float]:
        """The values it sets. Raises MechanismError if the result is not a dict."""
        found = self.function(readings.time, readings)
        if not isinstance(found, Mapping):
            advice = "such as {'torque': 1.2}; an empty one changes nothing"
            raise MechanismError(
                Fault(f"controller {self.name!r}", "it must return a dict of inputs", found, advice)
            )
        return found


def checked_controllers(controllers: Any) -> tuple[Controller, ...]:
    """The controllers. Raises MechanismError for anything that is not a controller."""
    listed = [controllers] if isinstance(controllers, Controller) else controllers
    listed = tuple(listed) if np.iterable(listed) else (listed,)
    strangers = [one for one in listed if not isinstance(one, Controller)]
    if strangers:
        advice = "such as bc.Controller(f, period=1e-3)"
        raise MechanismError(Fault("controllers", "they must be bc.Controller", strangers[0], advice))
    return listed
