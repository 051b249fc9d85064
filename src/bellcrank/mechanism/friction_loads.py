"""What friction in a joint grows with: the load on a journal, slide, thrust face, rolling bearing, thread.

Each kind gives the limit of the effort of friction as a sum of sizes of loads, times weights. The force and
the moment are those that the joint itself transmits, at its second marker; docs/theory/friction.md derives
the weights.
"""

from __future__ import annotations

from abc import abstractmethod
from math import atan, cos, pi, radians, sin, tan
from typing import Any, ClassVar, Final, Self

from bellcrank.mechanism.checking import IN_RADIANS, Check
from bellcrank.mechanism.fields import Description, described, quantity
from bellcrank.mechanism.given import FloatField, OptionalFloatField
from bellcrank.mechanism.joint import Joint
from bellcrank.mechanism.rows import FrictionLoad, LoadOf

FRICTION_LOAD_KINDS: dict[str, type[LoadKind]] = {}
"""Every kind of load by name. All are frozen dataclasses."""

_AXES: Final = "xyz"
_ROTATIONS: Final = ("e1", "e2", "e3")


class LoadKind(Description):
    """Base of all kinds of loads.

    coefficient: of friction while it slips. static_coefficient: while it holds; by default the same.

    >>> load = bc.Journal(radius=0.02, coefficient=0.1)
    >>> isinstance(load, bc.LoadKind), load.name
    (True, 'Journal')
    >>> bc.JointFriction(load=load).load.coefficient
    0.1
    """

    coefficient: FloatField
    static_coefficient: OptionalFloatField
    travels: ClassVar[bool] = False
    """Whether it is friction along an axis, not about one."""
    meaning: ClassVar[str] = ""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        FRICTION_LOAD_KINDS[cls.__name__] = cls

    def _judge(self, check: Check) -> None:
        static = self.static_coefficient
        if len(check.faults) == 0 and static is not None and static < self.coefficient:
            rule = "static_coefficient must not be less than coefficient"
            check.fault(rule, (static, self.coefficient))

    @property
    def name(self) -> str:
        """The kind's name, e.g. "Journal"."""
        return type(self).__name__

    @property
    def churned(self) -> tuple[float, float]:
        """The moment that lubricant takes whatever the load: c and m of  max(c |speed|^(2/3), m)."""
        return (0.0, 0.0)

    @property
    def both(self) -> tuple[float, float]:
        """The coefficients while it slips, and while it holds."""
        return (
            self.coefficient,
            self.coefficient if self.static_coefficient is None else self.static_coefficient,
        )

    def fault_of(self, joint: Joint, axis: str) -> str:
        """Why a joint does not carry the load, for friction along or about one of its axes; "" if it does."""
        missing = [name for name in self.carried(axis) if name not in joint.kind.locked]
        return f"a {joint.kind.name} joint leaves {', '.join(missing)} free" if missing else ""

    @abstractmethod
    def carried(self, axis: str) -> tuple[str, ...]:
        """The coordinates that a joint must lock to carry the load."""

    @abstractmethod
    def loads(self, axis: str, joint: Joint) -> tuple[FrictionLoad, ...]:
        """What the limit grows with."""


def _across(axis: str) -> tuple[int, int]:
    """The other two axes, in the order that makes them right-handed with it."""
    k = _AXES.index(axis)
    return (k + 1) % 3, (k + 2) % 3


def _form(**entries: float) -> tuple[float, ...]:
    """Six numbers: of m0, m1, m2, the moment, and f0, f1, f2, the force."""
    return tuple(entries.get(f"{of}{k}", 0.0) for of in "mf" for k in range(3))


def _weighed(joint: Joint, *forms: tuple[float, ...], by: tuple[float, float]) -> FrictionLoad:
    """Alike to both sides. by: weights while it slips and while it holds."""
    return FrictionLoad(LoadOf.JOINT, joint.name, forms, (by[0],) * 2, (by[1],) * 2)


@described
class Journal(LoadKind):
    """A plain bearing: a pin in a bush, whose friction grows with the force across its axis.

    radius: of the pin, m. length: between the ends that carry the joint's moment, each its share of the
        load, m; None: the moment makes no friction.

    The effort is radius sin(phi) F, tan(phi) = coefficient: the resultant touches the friction circle.

    >>> rub = bc.JointFriction(load=bc.Journal(radius=0.02, coefficient=0.1))
    >>> force = pendulum.add_force("rub", rub, "hinge")
    >>> run = bc.simulate(pendulum, 0.3)
    >>> load = np.linalg.norm(run.joint("hinge").force[-1]) * 0.02 * np.sin(np.arctan(0.1))
    >>> print(f"{run.force('rub').effort[-1]:.5f} N m, by hand {load:.5f} N m")
    0.02980 N m, by hand 0.02980 N m
    """

    radius: FloatField = quantity("m", "positive")
    coefficient: FloatField = quantity("1", "positive")
    static_coefficient: OptionalFloatField = quantity("1", "positive", default=None)
    length: OptionalFloatField = quantity("m", "positive", default=None)
    meaning: ClassVar[str] = "A pin in a bush: friction grows with the force across its axis."

    def carried(self, axis: str) -> tuple[str, ...]:
        """Both places across the axis, and with a length both turns."""
        one, two = _across(axis)
        turns = () if self.length is None else (_ROTATIONS[one], _ROTATIONS[two])
        return (_AXES[one], _AXES[two], *turns)

    def loads(self, axis: str, joint: Joint) -> tuple[FrictionLoad, ...]:
        """The force across, or the forces at both ends: F/2 + n x M/length, F/2 - n x M/length."""
        one, two = _across(axis)
        by = (self.radius * sin(atan(self.both[0])), self.radius * sin(atan(self.both[1])))
        if self.length is None:
            return (_weighed(joint, _form(**{f"f{one}": 1.0}), _form(**{f"f{two}": 1.0}), by=by),)
        arm = 1.0 / self.length
        return tuple(
            _weighed(
                joint,
                _form(**{f"f{one}": 0.5, f"m{two}": -side * arm}),
                _form(**{f"f{two}": 0.5, f"m{one}": side * arm}),
                by=by,
            )
            for side in (1.0, -1.0)
        )


@described
class ThrustFace(LoadKind):
    """A ring face that carries the force along the axis it turns about.

    outer_radius, inner_radius: of the ring, m. It is pressed evenly: the mean radius is 2/3 (ro^3 - ri^3) /
        (ro^2 - ri^2).

    >>> turn = cube.add_joint("turn", bc.Revolute(), "ground", "cube", velocity=9.0)
    >>> cube.gravity = (0, 0, -9.81)
    >>> rub = cube.add_force("rub", bc.JointFriction(load=bc.ThrustFace(0.03, 0.1)), "turn")
    >>> run = bc.simulate(cube, 1.0)
    >>> print(f"{run.force('rub').effort[-1]:.5f} N m, by hand {-0.1 * 6 * 9.81 * 2 / 3 * 0.03:.5f} N m")
    -0.11772 N m, by hand -0.11772 N m
    """

    outer_radius: FloatField = quantity("m", "positive")
    coefficient: FloatField = quantity("1", "positive")
    static_coefficient: OptionalFloatField = quantity("1", "positive", default=None)
    inner_radius: FloatField = quantity("m", "not negative", default=0.0)
    meaning: ClassVar[str] = "A ring face: friction grows with the force along the axis."

    def _judge(self, check: Check) -> None:
        super()._judge(check)
        if len(check.faults) == 0 and not self.inner_radius < self.outer_radius:
            check.fault("inner_radius must be less than outer_radius", (self.inner_radius, self.outer_radius))

    def carried(self, axis: str) -> tuple[str, ...]:
        """The place along the axis."""
        return (axis,)

    def loads(self, axis: str, joint: Joint) -> tuple[FrictionLoad, ...]:
        """The force along the axis."""
        outer, inner = self.outer_radius, self.inner_radius
        mean = 2.0 / 3.0 * (outer**2 + outer * inner + inner**2) / (outer + inner)
        form = _form(**{f"f{_AXES.index(axis)}": 1.0})
        return (_weighed(joint, form, by=(mean * self.both[0], mean * self.both[1])),)


@described
class RollingBearing(LoadKind):
    """A rolling bearing: its moment is 1/2 coefficient F bore, F the whole force on it, and its lubricant's.

    bore: diameter, m. coefficient: by the maker's catalogue; usual ones are 0.0010 to 0.0015 for ball
        bearings, 0.0017 to 0.0025 for tapered ones, 0.0025 to 0.0035 for needles.
    viscosity: of the oil, or of the oil in the grease, m^2/s, such as 46 mm^2/s. With it the lubricant takes
        Palmgren's moment whatever the load, 1e-7 f0 (viscosity n)^(2/3) d^3 in N mm, mm^2/s, 1/min and mm,
        and no less than 160e-7 f0 d^3, that below about viscosity n = 2000. mean_diameter: d, m.
        lubrication_factor: f0, by the maker's catalogue; usual ones are 1 to 2 for ball bearings, 2 to 4 for
        rollers, and twice that with a vertical shaft in an oil bath.

    >>> rub = bc.JointFriction(load=bc.RollingBearing(bore=0.02, coefficient=0.0015))
    >>> force = pendulum.add_force("rub", rub, "hinge")
    >>> run = bc.simulate(pendulum, 0.3)
    >>> moment = 0.5 * 0.0015 * 0.02 * np.linalg.norm(run.joint("hinge").force[-1])
    >>> print(f"{1e6 * run.force('rub').effort[-1]:.2f} mN mm, by hand {1e6 * moment:.2f} mN mm")
    225.32 mN mm, by hand 225.32 mN mm
    """

    bore: FloatField = quantity("m", "positive")
    coefficient: FloatField = quantity("1", "positive")
    static_coefficient: OptionalFloatField = quantity("1", "positive", default=None)
    viscosity: OptionalFloatField = quantity("m^2/s", "positive", default=None)
    mean_diameter: OptionalFloatField = quantity("m", "positive", default=None)
    lubrication_factor: FloatField = quantity("1", "positive", default=1.5)
    meaning: ClassVar[str] = "A rolling bearing: friction grows with the force on it."

    def _judge(self, check: Check) -> None:
        super()._judge(check)
        if len(check.faults) == 0 and (self.viscosity is None) != (self.mean_diameter is None):
            given = self.mean_diameter if self.viscosity is None else self.viscosity
            check.fault("lubricant needs both viscosity and mean_diameter", given)

    @property
    def churned(self) -> tuple[float, float]:
        """Palmgren's moment, with the speed in rad/s."""
        if self.viscosity is None or self.mean_diameter is None:
            return (0.0, 0.0)
        size = 0.1 * self.lubrication_factor * self.mean_diameter**3  # N m, of 1e-7 N mm/mm^3
        return size * (1e6 * self.viscosity * 30.0 / pi) ** (2.0 / 3.0), 160.0 * size

    def carried(self, axis: str) -> tuple[str, ...]:
        """Both places across the axis."""
        return tuple(_AXES[k] for k in _across(axis))

    def loads(self, axis: str, joint: Joint) -> tuple[FrictionLoad, ...]:  # noqa: ARG002
        """The force, as far as the joint carries it."""
        forms = [_form(**{f"f{k}": 1.0}) for k in range(3)]
        return (_weighed(joint, *forms, by=(0.5 * self.bore * self.both[0], 0.5 * self.bore * self.both[1])),)


@described
class Slide(LoadKind):
    """A carriage on a guide: friction grows with the force across the travel, and the moments that tilt it.

    length: of the carriage along its travel, m; in each plane a force N and a moment M press its ends with
        N/2 + M/length and N/2 - M/length. width: between its edges, m, which carry the moment about the
        travel; None: that makes no friction. The carriage is centred at the joint's second marker.

    >>> rail = cube.add_joint("rail", bc.PrismaticX(), "ground", "cube", velocity=5.0)
    >>> cube.gravity = (0, 0, -9.81)
    >>> rub = cube.add_force("rub", bc.JointFriction(load=bc.Slide(length=0.4, coefficient=0.2)), "rail")
    >>> speed = bc.simulate(cube, 1.0).joint("rail").velocity[-1, 0]
    >>> print(f"{speed:.3f} m/s, by hand {5 - 0.2 * 9.81:.3f} m/s")
    3.038 m/s, by hand 3.038 m/s
    """

    length: FloatField = quantity("m", "positive")
    coefficient: FloatField = quantity("1", "positive")
    static_coefficient: OptionalFloatField = quantity("1", "positive", default=None)
    width: OptionalFloatField = quantity("m", "positive", default=None)
    travels: ClassVar[bool] = True
    meaning: ClassVar[str] = "A carriage on a guide: friction grows with what acts across its travel."

    def carried(self, axis: str) -> tuple[str, ...]:
        """What is across the travel: both places, both turns, with a width the third turn."""
        one, two = _across(axis)
        turns = (_ROTATIONS[one], _ROTATIONS[two])
        about = () if self.width is None else (_ROTATIONS[_AXES.index(axis)],)
        return (_AXES[one], _AXES[two], *turns, *about)

    def loads(self, axis: str, joint: Joint) -> tuple[FrictionLoad, ...]:
        """What presses at the ends in both planes, and at the edges."""
        one, two = _across(axis)
        found = [
            _weighed(joint, _form(**{f"f{force}": 0.5, f"m{moment}": side / self.length}), by=self.both)
            for force, moment in ((one, two), (two, one))
            for side in (1.0, -1.0)
        ]
        if self.width is not None:
            found.append(_weighed(joint, _form(**{f"m{_AXES.index(axis)}": 2.0 / self.width}), by=self.both))
        return tuple(found)


@described
class Thread(LoadKind):
    """A thread: friction on its flanks, about the axis of a `Screw` joint.

    radius: mean one of the flanks, m. flank_angle: between a flank and the plane across the axis, rad; 15
        degrees for trapezoidal threads, 30 for metric ones, 0 for square ones. Of a ball screw by its
        efficiency: `Thread.from_efficiency`.

    Raising a load F takes the moment F r tan(gamma + rho), tan(gamma) the pitch over 2 pi r and tan(rho)
    the coefficient over cos(flank_angle); lowering it F r tan(rho - gamma).

    >>> screw = cube.add_joint("screw", bc.Screw(pitch=0.004), "ground", "cube")
    >>> cube.gravity = (0, 0, -9.81)
    >>> thread = bc.Thread(radius=0.01, coefficient=0.12)
    >>> rub = cube.add_force("rub", bc.JointFriction(load=thread), "screw")
    >>> bc.statics(cube).holds    # 0.12 is more than the slope 4/(2 pi 10): it locks itself
    True
    """

    radius: FloatField = quantity("m", "positive")
    coefficient: FloatField = quantity("1", "positive")
    static_coefficient: OptionalFloatField = quantity("1", "positive", default=None)
    flank_angle: FloatField = quantity("rad", "not negative", default=0.0)
    meaning: ClassVar[str] = "A thread: friction of its flanks."

    def _judge(self, check: Check) -> None:
        super()._judge(check)
        if len(check.faults) == 0 and not self.flank_angle < radians(60.0):
            check.fault("flank_angle must be less than 60 degrees", self.flank_angle, IN_RADIANS)

    @classmethod
    def from_efficiency(cls, efficiency: float, pitch: float, radius: float) -> Self:
        """A thread that turns power into travel with this efficiency, such as that of a ball screw.

        pitch: of the screw, m a turn. radius: of the thread, m; it hardly matters. Driven by the travel, its
        efficiency is about 2 - 1/efficiency.

        >>> ball = bc.Thread.from_efficiency(0.9, pitch=0.005, radius=0.01)
        >>> lead = np.arctan(0.005 / (2 * np.pi * 0.01))
        >>> print(f"{np.tan(lead) / np.tan(lead + np.arctan(ball.coefficient)):.4f}")
        0.9000
        """
        with Check("Thread.from_efficiency") as check:
            efficiency = check.fraction("efficiency", efficiency)
            pitch = check.not_zero("pitch", pitch, "m")
            radius = check.positive("radius", radius, "m")
            if len(check.faults) == 0 and efficiency in (0.0, 1.0):
                check.fault("efficiency must lie between 0 and 1", efficiency)
        lead = atan(abs(pitch) / (2.0 * pi * radius))
        return cls(radius, tan(atan(tan(lead) / efficiency) - lead))

    def carried(self, axis: str) -> tuple[str, ...]:  # noqa: ARG002
        """Nothing but the screw's own row."""
        return ()

    def fault_of(self, joint: Joint, axis: str) -> str:  # noqa: ARG002
        """It wants a screw, with a thread that is not so steep that friction alone stops it to one side."""
        pitch = getattr(joint.kind, "pitch", None)
        if pitch is None:
            return f"a {joint.kind.name} joint has no thread"
        return (
            ""
            if thread_weights(self, pitch) is not None
            else "its thread jams to one side, however little it bears"
        )

    def loads(self, axis: str, joint: Joint) -> tuple[FrictionLoad, ...]:
        """The force along the axis."""
        weights = thread_weights(self, joint.kind.pitch)  # type: ignore[attr-defined]
        # Its moment on the angle is -pitch/(2 pi) times it.
        sign = -1.0 if joint.kind.pitch > 0.0 else 1.0  # type: ignore[attr-defined]
        form = _form(**{f"f{_AXES.index(axis)}": sign})
        return () if weights is None else (FrictionLoad(LoadOf.JOINT, joint.name, (form,), *weights),)


def thread_weights(thread: Any, pitch: float) -> tuple[tuple[float, float], tuple[float, float]] | None:
    """Moments of friction for an axial force of one, while it slips and while it holds; None: it jams.

    Each where the turn does work on the force along the axis, and where it is driven by it. The normal force
    of the flanks bears the axial force together with friction itself: N (cos a cos g -+ mu sin g) = F, with
    the moment mu N r / cos g.
    """
    lead = atan(abs(pitch) / (2.0 * pi * thread.radius))
    found = []
    for coefficient in thread.both:
        sides = [cos(thread.flank_angle) * cos(lead) + side * coefficient * sin(lead) for side in (-1.0, 1.0)]
        if min(sides) <= 0.0:
            return None
        resisting, driven = (coefficient * thread.radius / (cos(lead) * side) for side in sides)
        found.append((resisting, driven))
    return found[0], found[1]
