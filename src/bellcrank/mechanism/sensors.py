"""Sensors: what they measure, how often they are sampled, and what is lost on the way. They move nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

from bellcrank.mechanism.attachment import Attached, AttachedKind, End
from bellcrank.mechanism.checking import Check
from bellcrank.mechanism.fields import checked, choice, described, quantity, whole
from bellcrank.mechanism.given import FloatField
from bellcrank.mechanism.rows import Lowered

SENSOR_KINDS: dict[str, type[SensorKind]] = {}
"""Every sensor kind by name. All are frozen dataclasses."""


def _of_channels(check: Check, name: str, value: Any) -> tuple[float, ...]:
    numbers = check.array(name, [value] if isinstance(value, (int, float)) else value, (None,))
    if name != "bias" and (numbers < 0.0).any():
        check.fault(f"{name} must not be negative", value)
    return tuple(numbers.tolist())


@dataclass(frozen=True, kw_only=True)
class SensorKind(AttachedKind):
    """Base of all sensor kinds.

    period: s between samples, counted from the start of a run; a reading is held until the next one.
    delay: s from a sample to when it can be read.
    bias, noise, resolution: what is added to every sample, the standard deviation of what is added at random,
        and the step to which the sum is rounded (0: it is not); a number for all channels, or one for each.
    seed: of the noise; the same seed gives the same noise.

    >>> encoder = bc.Encoder(period=0.01, resolution=0.1)
    >>> isinstance(encoder, bc.SensorKind), encoder.period
    (True, 0.01)
    >>> sensor = pendulum.add_sensor("angle", encoder, "hinge")
    >>> readings = bc.simulate(pendulum, 0.5).sensor("angle").value
    >>> print(np.unique(readings.round(6))[:3])    # rad, in steps of the resolution
    [-1.6 -1.5 -1.4]
    """

    period: FloatField = quantity("s", "positive", default=1e-3)  # noqa: RUF009  (a declaration)
    delay: FloatField = quantity("s", "not negative", default=0.0)  # noqa: RUF009
    bias: tuple[float, ...] | float = checked(_of_channels, default=(0.0,))
    noise: tuple[float, ...] | float = checked(_of_channels, default=(0.0,))
    resolution: tuple[float, ...] | float = checked(_of_channels, default=(0.0,))
    seed: int = whole(0, default=0)
    watches: ClassVar[str] = ""
    """Noun of the element whose name is in a field `of`; "" for kinds without one."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        SENSOR_KINDS[cls.__name__] = cls

    def renamed(self, named: Callable[[str, str], str]) -> Self:
        """The same with another name of what it watches, which follows from the noun and the present name."""
        own: Any = self
        return replace(own, of=named(own.watches, own.of)) if own.watches else own  # type: ignore[no-any-return]

    def lowered(self, _ends: tuple[End, ...]) -> Lowered:
        """Nothing."""
        return Lowered()


@dataclass(frozen=True)
class Sensor(Attached):
    """A sensor of some kind at its ends.

    >>> sensor = pendulum.add_sensor("angle", bc.Encoder(), "hinge")
    >>> sensor.kind.name, sensor.joint_coordinates[0].joint
    ('Encoder', 'hinge')
    >>> sensor.text
    'hinge.theta_z'
    """

    kind: SensorKind
    category: ClassVar[str] = "sensor"
    kind_class: ClassVar[type[AttachedKind]] = SensorKind

    @property
    def text(self) -> str:
        """What it is at, in words."""
        watched = [f"{self.kind.watches} {name!r}" for name in self.refers_to(self.kind.watches)]
        return " – ".join([*watched, *(str(getattr(end, "body", end)) for end in self.ends)])

    def refers_to(self, noun: str) -> tuple[str, ...]:
        """The name of the element that it watches, if that is of this kind."""
        return (self.kind.of,) if noun and self.kind.watches == noun else ()  # type: ignore[attr-defined]


def _element(check: Check, name: str, value: Any) -> str:
    if not isinstance(value, str) or not value:
        check.fault(f"{name} must be the name of an element", value)
    return str(value)


@described
class WrenchSensor(SensorKind):
    """The load that a joint transmits: moment and force on its second body.

    of: the name of the joint. At a marker the moment is about its origin, and all is in its axes; without
        one, these are those of the joint's second marker. What drives and springs exert is not in it.
    Channels: moment_x, moment_y, moment_z (N m), force_x, force_y, force_z (N).

    >>> gauge = arm.add_sensor("gauge", bc.WrenchSensor(of="elbow"))
    >>> run = bc.simulate(arm, 0.1)
    >>> print(f"{run.sensor('gauge').channel('force_y')[-1]:.3f} N")    # the weight of the forearm
    9.810 N
    """

    of: str = checked(_element)
    pattern: ClassVar[str] = "M|"
    ends_text: ClassVar[str] = "a marker, or nothing"
    meaning: ClassVar[str] = "Moment and force that a joint or weld transmits, about a marker in its axes."
    watches: ClassVar[str] = "joint"


@described
class ForceSensor(SensorKind):
    """What a spring, motor, friction, contact or another force exerts.

    of: the name of the force. At a marker on a body: moment about its origin and force on that body, in its
        axes (moment_x, ... in N m, force_x, ... in N); without one, the efforts that `run.force(name)` has.

    >>> spring = block.add_force("spring", bc.TorsionSpring(981.0), "guide")
    >>> sensor = block.add_sensor("load", bc.ForceSensor(of="spring", period=0.001))
    >>> bc.find_equilibrium(block).stability
    'stable'
    >>> print(bc.simulate(block, 0.1).sensor("load").value[-1].round(6))    # N, the weight of 2 kg
    19.62
    """

    of: str = checked(_element)
    pattern: ClassVar[str] = "M|"
    ends_text: ClassVar[str] = "a marker, or nothing"
    meaning: ClassVar[str] = "The effort of a force, or its moment and force on a body at a marker."
    watches: ClassVar[str] = "force"


@described
class IMU(SensorKind):
    """An inertial measurement unit at a marker, in its axes.

    Channels: acceleration_x, ... (m/s^2), the acceleration of the marker's origin less gravity, and
    angular_velocity_x, ... (rad/s).

    >>> imu = block.add_sensor("imu", bc.IMU(period=0.01), "block")
    >>> held = block.add_drive("hold", "guide", velocity=0.0)
    >>> run = bc.simulate(block, 0.1)
    >>> print(run.sensor("imu").channel("acceleration_z")[-1].round(6))    # m/s^2, as at rest
    9.81
    """

    pattern: ClassVar[str] = "M"
    ends_text: ClassVar[str] = "one marker"
    meaning: ClassVar[str] = "Acceleration less gravity and angular velocity of a marker, in its axes."


@described
class Encoder(SensorKind):
    """A free coordinate of a joint, or its rate.

    measures: "position" (rad or m, whole turns counted) or "velocity".

    >>> encoder = slider_crank.add_sensor("speed", bc.Encoder("velocity", period=0.01), "bearing")
    >>> print(bc.simulate(slider_crank, 0.1).sensor("speed").value[-1].round(6))    # rad/s
    10.0
    """

    measures: str = choice(("position", "velocity"), default="position")
    pattern: ClassVar[str] = "J"
    ends_text: ClassVar[str] = "one joint"
    meaning: ClassVar[str] = "A joint's coordinate or its rate."


@described
class DistanceSensor(SensorKind):
    """The distance between two markers; channel: distance (m).

    >>> above = block.ground.marker((0, 0, 1))
    >>> beam = block.add_sensor("beam", bc.DistanceSensor(period=0.1), above, "block")
    >>> run = bc.simulate(block, 0.5)
    >>> print(f"{run.sensor('beam').value[-1]:.4f} m, by hand {1 + 9.81 / 2 * 0.4**2:.4f} m")    # at 0.4 s
    1.7848 m, by hand 1.7848 m
    """

    pattern: ClassVar[str] = "MM"
    ends_text: ClassVar[str] = "two markers"
    meaning: ClassVar[str] = "The distance between the origins of two markers."
