"""The sensors of a run: sampled at their periods, read with their delay, recorded as they could be read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final
from zlib import crc32

import numpy as np

from bellcrank.compile.model import Model
from bellcrank.errors import FaultList
from bellcrank.mechanism.checking import nearest
from bellcrank.mechanism.contents import with_numbers
from bellcrank.mechanism.sensors import IMU, ForceSensor, Sensor, WrenchSensor
from bellcrank.trajectory.layout import FrameLayout
from bellcrank.trajectory.loads import sides_of
from bellcrank.trajectory.observation import force_efforts
from bellcrank.trajectory.sensing import Frames, channels, measured
from bellcrank.trajectory.store import FloatArray, MemoryStore

_TOGETHER: Final = 1000  # samples that are measured at once
_ROUNDING: Final = 1e-12  # of a time: by so much a reading may come before it is due


class Sensing:
    """The sensors of a run.

    layout: of frames with their channels. periods: of each, s.
    """

    def __init__(self, model: Model, sensors: Sequence[Sensor], layout: FrameLayout) -> None:
        self._probes = [_Probe(sensor, model, layout) for sensor in sensors]
        columns = tuple(column for sensor in sensors for column in channels(sensor, model, layout))
        self.layout = replace(layout, sensors=columns)
        faults = FaultList()
        for probe in self._probes:
            probe.check(faults)
        faults.raise_any()

    @staticmethod
    def of(model: Model, sensors: Sequence[Sensor], layout: FrameLayout) -> Sensing | None:
        """Those of a run whose frames have a layout; None without sensors.

        Raises MechanismError, naming them, for sensors of loads that are not there.
        """
        if not sensors:
            return None
        faults = FaultList()
        for sensor in sensors:
            _check_loads(faults, sensor, model, layout)
        faults.raise_any()
        return Sensing(model, sensors, layout)

    def begin(self, core: Any) -> None:
        """Sample all at the start of the core's run. core: it."""
        self._core, self._time = core, np.nan
        for number in range(len(self._probes)):
            self.sample(number)

    def go_on(self, core: Any) -> None:
        """Sample another run of the core that goes on with the first."""
        self._core, self._time = core, np.nan

    def sample(self, number: int, time: float = np.nan) -> None:
        """Sample one now. time: if it is known; what is sampled at one time is observed once."""
        if time != self._time:
            self._frame: FloatArray = self._core.observe()
            self._time = float(self._frame[0, 0])
        self._probes[number].sample(self._frame)

    def read(self, name: str, time: float) -> FloatArray | None:
        """What can be read of a sensor at a time (channels,); None if there is none of this name."""
        for probe in self._probes:
            if probe.sensor.name == name:
                found = probe.held(np.array([time * (1.0 + _ROUNDING) + _ROUNDING]))
                return np.asarray(found[0])
        return None

    @property
    def names(self) -> list[str]:
        """The names of the sensors."""
        return [probe.sensor.name for probe in self._probes]

    def with_readings(self, frames: FloatArray) -> FloatArray:
        """Frames (n, 1 + width) with what could be read just before each."""
        return np.concatenate([frames, *(probe.held(frames[:, 0]) for probe in self._probes)], axis=1)


class _Probe:
    """A sensor with all that it has read: when each reading became available, and its values.

    Samples are kept as frames until somebody reads, and then measured all at once.
    """

    def __init__(self, sensor: Sensor, model: Model, layout: FrameLayout) -> None:
        self.sensor, self._model, self._layout = sensor, model, layout
        self._count = len(channels(sensor, model, layout))
        kind = sensor.kind
        self._random = np.random.default_rng([kind.seed, crc32(sensor.name.encode())])
        self._sampled = -np.inf
        self._frames: list[FloatArray] = []
        self._readings = np.empty((64, 1 + self._count))
        self._used = 0

    def check(self, faults: FaultList) -> None:
        """Note numbers that do not suit the channels."""
        for name in ("bias", "noise", "resolution"):
            given: Any = getattr(self.sensor.kind, name)
            if len(given) not in (1, self._count):
                rule = f"{name} must be a number, or one for each of its {self._count} channels"
                faults.add(f"sensor {self.sensor.name!r}", rule, given)

    def sample(self, frame: FloatArray) -> None:
        """Take a sample of a frame (1, 1 + width), unless one was taken at its time."""
        if frame[0, 0] <= self._sampled:
            return
        self._sampled = float(frame[0, 0])
        self._frames.append(frame)
        if len(self._frames) == _TOGETHER:
            self._measure()

    def _measure(self) -> None:
        """Turn the frames that were sampled into readings."""
        kind: Any = self.sensor.kind
        frames = np.concatenate(self._frames)
        self._frames.clear()
        store = MemoryStore.from_frames(self._layout, frames)
        found = measured(self.sensor, Frames(self._model, self._layout, store)) + np.array(kind.bias)
        if any(kind.noise):
            found = found + np.array(kind.noise) * self._random.standard_normal(found.shape)
        step = np.broadcast_to(kind.resolution, found.shape)
        found = np.where(step > 0.0, np.round(found / np.where(step > 0.0, step, 1.0)) * step, found)
        first, self._used = self._used, self._used + len(found)
        while self._used > len(self._readings):
            self._readings = np.concatenate([self._readings, np.empty_like(self._readings)])
        self._readings[first : self._used] = np.column_stack([frames[:, 0] + kind.delay, found])

    def held(self, times: FloatArray) -> FloatArray:
        """What could be read just before times (n, channels); the first reading before any is available."""
        if self._frames:
            self._measure()
        if self._used == 0:  # bodies are still brought together
            return np.full((len(times), self._count), np.nan)
        readings = self._readings[: self._used]
        last = np.searchsorted(readings[:, 0], times, side="left") - 1
        return np.asarray(readings[np.maximum(last, 0), 1:])


def sensors_of(model: Model) -> list[Sensor]:
    """The sensors of the mechanism that a model is of."""
    if model.source is None or not model.source.sensors:
        return []
    return list(with_numbers(model.source).sensors.values())


def needs_accelerations(sensors: Sequence[Sensor]) -> bool:
    """Whether a sensor measures accelerations, which are recorded then."""
    return any(isinstance(sensor.kind, IMU) for sensor in sensors)


def _check_loads(faults: FaultList, sensor: Sensor, model: Model, layout: FrameLayout) -> None:
    """Note that the load that a sensor measures is not computed, or that there is none."""
    kind, element = sensor.kind, f"sensor {sensor.name!r}"
    left_out = "it measures loads, which reactions=False leaves out"
    if isinstance(kind, WrenchSensor) and kind.of not in layout.reaction_number:
        exists = any(name == kind.of for name, _, _ in model.reactions)
        rule, advice = (
            (left_out, "leave it out") if exists else ("its joint locks nothing", "name another one")
        )
        faults.add(element, rule, None if exists else kind.of, advice)
    elif isinstance(kind, ForceSensor) and kind.of not in layout.forces:
        faults.add(element, left_out, None, "leave it out")
    elif isinstance(kind, ForceSensor):
        entries = [effort.core for effort in force_efforts(model)[kind.of]]
        bodies = {side.body for side in sides_of(model, entries)}
        if not entries:
            faults.add(element, "its force exerts nothing", kind.of, "name another one")
        elif sensor.markers and model.body_index[body := sensor.markers[0].body] not in bodies:
            names = [name for name, number in model.body_index.items() if number in bodies]
            faults.add(
                element, "its force does not act on the body of its marker", body, nearest(body, names)
            )
