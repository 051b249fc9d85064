"""What sensors measure at frames, before delay, noise and rounding: one function for each kind."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from bellcrank.compile.model import Model
from bellcrank.mechanism.marker import GROUND, Marker
from bellcrank.mechanism.rotation_arrays import conjugate, product, rotate
from bellcrank.mechanism.sensors import (
    IMU,
    DistanceSensor,
    Encoder,
    ForceSensor,
    Sensor,
    SensorKind,
    WrenchSensor,
)
from bellcrank.trajectory.layout import FrameLayout, SensorColumn
from bellcrank.trajectory.loads import exerted, wrench_on
from bellcrank.trajectory.observation import force_efforts
from bellcrank.trajectory.store import FloatArray, Store

_WRENCH: Final = tuple(
    (f"{what}_{axis}", unit) for what, unit in (("moment", "N m"), ("force", "N")) for axis in "xyz"
)
_INERTIAL: Final = tuple(
    (f"{what}_{axis}", unit)
    for what, unit in (("acceleration", "m/s^2"), ("angular_velocity", "rad/s"))
    for axis in "xyz"
)


@dataclass(frozen=True, eq=False)
class Frames:
    """Frames of a model's run, T of them."""

    model: Model
    layout: FrameLayout
    store: Store

    def pose(self, marker: Marker) -> tuple[FloatArray, FloatArray]:
        """Origin (T, 3), m, and axes (T, 4) of a marker in the world."""
        place, turn = np.asarray(marker.position, dtype=float), np.asarray(marker.rotation, dtype=float)
        count = self.store.frames
        if marker.body == GROUND:
            return np.tile(place, (count, 1)), np.tile(turn, (count, 1))
        number = self.layout.body_number[marker.body]
        rotation = self.store.read("rotation", number)
        return self.store.read("position", number) + rotate(rotation, place), product(rotation, turn)

    def in_axes(self, marker: Marker, point: FloatArray, moment: FloatArray, force: FloatArray) -> FloatArray:
        """A moment about a point and a force, world axes, about a marker's origin in its axes (T, 6)."""
        origin, axes = self.pose(marker)
        back = conjugate(axes)
        about = moment + np.cross(point - origin, force)
        return np.concatenate([rotate(back, about), rotate(back, force)], axis=1)


def channels(sensor: Sensor, model: Model, layout: FrameLayout) -> tuple[SensorColumn, ...]:
    """The channels of a sensor."""
    kind: Any = sensor.kind
    named: Any = _WRENCH
    if isinstance(kind, IMU):
        named = _INERTIAL
    elif isinstance(kind, DistanceSensor):
        named = [("distance", "m")]
    elif isinstance(kind, Encoder):
        column = layout.coordinates[_coordinate(sensor, model, layout)]
        per = "" if kind.measures == "position" else "/s"
        named = [(column.name, f"{column.unit}{per}")]
    elif isinstance(kind, ForceSensor) and not sensor.ends:
        named = [(c.name, c.unit) for c in layout.force_columns[layout.force_numbers[kind.of]]]
    return tuple(SensorColumn(sensor.name, name, unit) for name, unit in named)


def measured(sensor: Sensor, frames: Frames) -> FloatArray:
    """What a sensor measures at frames (T, channels)."""
    return _MEASURED[type(sensor.kind)](sensor, frames)


def _coordinate(sensor: Sensor, model: Model, layout: FrameLayout) -> int:
    end = sensor.joint_coordinates[0]
    joint = model.joint(end.joint)
    which = end.coordinate
    place = which if isinstance(which, int) else 0 if which is None else joint.coordinate_names.index(which)
    return int(layout.joint_coordinates[end.joint].start) + place


def _wrench(sensor: Sensor, at: Frames) -> FloatArray:
    kind: Any = sensor.kind
    joint = at.model.source.joints[kind.of]  # type: ignore[union-attr]
    point, _ = at.pose(joint.marker_2)
    reaction = at.store.read("reactions", at.layout.reaction_number[kind.of])
    marker = sensor.markers[0] if sensor.markers else joint.marker_2
    return at.in_axes(marker, point, reaction[:, :3], reaction[:, 3:])


def _force(sensor: Sensor, at: Frames) -> FloatArray:
    kind: Any = sensor.kind
    efforts = at.store.read("force_efforts", at.layout.force_numbers[kind.of])
    if not sensor.markers:
        return efforts
    marker = sensor.markers[0]
    entries = [effort.core for effort in force_efforts(at.model)[kind.of]]
    body = at.model.body_number(marker.body)
    wrench = wrench_on(body, exerted(at.model, at.layout, at.store, entries), efforts)
    return at.in_axes(marker, at.store.read("position", body), wrench[:, :3], wrench[:, 3:])


def _inertial(sensor: Sensor, at: Frames) -> FloatArray:
    marker = sensor.markers[0]
    number = at.layout.body_number[marker.body]
    position, spin, turned = (
        at.store.read(name, number) for name in ("position", "angular_velocity", "angular_acceleration")
    )
    origin, axes = at.pose(marker)
    arm, back = origin - position, conjugate(axes)
    acceleration = at.store.read("acceleration", number) + np.cross(turned, arm)
    acceleration = acceleration + np.cross(spin, np.cross(spin, arm)) - at.model.gravity
    return np.concatenate([rotate(back, acceleration), rotate(back, spin)], axis=1)


def _encoder(sensor: Sensor, at: Frames) -> FloatArray:
    kind: Any = sensor.kind
    section = "coordinates" if kind.measures == "position" else "rates"
    number = _coordinate(sensor, at.model, at.layout)
    return at.store.read(section, slice(number, number + 1))


def _distance(sensor: Sensor, at: Frames) -> FloatArray:
    (one, _), (two, _) = (at.pose(marker) for marker in sensor.markers)
    return np.asarray(np.linalg.norm(two - one, axis=1, keepdims=True))


_MEASURED: Final[dict[type[SensorKind], Callable[[Sensor, Frames], FloatArray]]] = {
    WrenchSensor: _wrench,
    ForceSensor: _force,
    IMU: _inertial,
    Encoder: _encoder,
    DistanceSensor: _distance,
}
