"""Pneumatic tyres on ground of any shape."""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil, pi, sqrt
from types import MappingProxyType
from typing import ClassVar, Final

from bellcrank.mechanism.attachment import Attachment, End, ForceKind, check_each_body_once, markers
from bellcrank.mechanism.checking import Check
from bellcrank.mechanism.fields import choice, described, fraction, quantity
from bellcrank.mechanism.given import FloatField, OptionalFloatField
from bellcrank.mechanism.rows import ContactLaw, Lowered, WheelSlices

ROAD_FRICTION: Final[Mapping[str, tuple[float, float]]] = MappingProxyType(
    {
        "asphalt": (0.97, 0.86),
        "wet asphalt": (0.90, 0.88),
        "stone": (0.68, 0.65),
        "wet stone": (0.62, 0.61),
        "steel rail": (0.45, 0.42),
        "wet steel rail": (0.38, 0.38),
        "dirty steel rail": (0.35, 0.34),
    }
)
"""Static and kinetic coefficients of a bicycle tyre 28-622 on roads, as measured by Tasora (2000), table 1.

A dirty steel rail is wet, too; its numbers are upper bounds.
"""

_MOST_SLICES: Final = 20_000


@described
class Tyre(ForceKind):
    """A pneumatic tyre of round section on a wheel: it carries, rolls, corners and bottoms on any ground.

    Its ends are the wheel's marker, at the centre of the wheel with z along the axle, and the bodies on which
    it rolls, such as the ground, with all their shapes: planes, terrains, meshes, boxes and other solids.

    radius: outer, m. width: of the section, m, less than the radius. height: of the section above the rim, m;
        by default the width. A tyre 205/55 R16 has the width 0.205 and the height 0.55 * 0.205. pressure:
        gauge, Pa.
    flattening: c of the force p c d per metre of tread pressed in by d. The contact width of an inextensible
        casing equals the loss of section height, times pi / 2 on a narrow rim. The flat tread of a car's tyre
        is wider from the start: choose c by its load, 4/3 p c sqrt(2 R) d^(3/2) at the deflection d.
    dissipation: c of the factor 1 + c v of that force, with the speed v at which d grows, s/m.
    rim_depth, rim_stiffness: fraction of the height at which the rim strikes flat ground, and its stiffness
        per metre of tread from there on, N/m^2. The rim is a ring as thick as the rest of the height.
    surface: what it rolls on, one of the roads whose friction Tasora (2000) measured ("asphalt",
        "wet asphalt", "stone", "wet stone", "steel rail", "wet steel rail", "dirty steel rail").
    friction, static_friction: coefficients, instead of those of the surface.
    shear_ratio: ratio of the tread's stiffness along the ground to that normal to it. A tyre of radius R
        pressed in by d has the cornering stiffness 2.1 shear_ratio sqrt(R / d) times its load, per radian.
    shear_damping: ratio of the tread's damping along the ground to that stiffness, s.
    resolution: spacing of slices along the tread, m.

    Depths are continuous at any attitude; an open mesh carries a tyre from its front only, up to its width
    deep, and a run in which it comes farther ends with an error. Defaults for stiffness, damping and rim are
    assumptions; those of the pressure are not.

    >>> mech = bc.Mechanism("wheel", gravity=(0, 0, 0))
    >>> floor = mech.replace(mech.ground, shapes=[bc.Plane()])
    >>> wheel = mech.add_body("wheel", 40.0, (1, 1, 2), position=(0, 0, 0.29))
    >>> axle = wheel.marker(axis="y")
    >>> force = mech.add_force("tyre", bc.Tyre(radius=0.3, width=0.1, pressure=2e5), axle, "ground")
    >>> load = bc.simulate(mech, 1e-3).force("tyre").wrench("wheel")[0, 5]
    >>> print(f"{load:.0f} N, about {4 / 3 * 2e5 * np.pi / 2 * np.sqrt(0.6) * 0.01**1.5:.0f} N")
    329 N, about 324 N
    """

    radius: FloatField = quantity("m", "positive")
    width: FloatField = quantity("m", "positive")
    pressure: FloatField = quantity("Pa", "positive")
    height: OptionalFloatField = quantity("m", "positive", default=None)
    flattening: FloatField = quantity("1", "positive", default=pi / 2)
    dissipation: FloatField = quantity("s/m", "not negative", default=0.3)
    rim_depth: FloatField = fraction(default=0.8)
    rim_stiffness: FloatField = quantity("N/m^2", "not negative", default=2e8)
    surface: str = choice(ROAD_FRICTION, default="asphalt")
    friction: OptionalFloatField = quantity("1", "not negative", default=None)
    static_friction: OptionalFloatField = quantity("1", "not negative", default=None)
    shear_ratio: FloatField = quantity("1", "positive", default=0.9)
    shear_damping: FloatField = quantity("s", "not negative", default=5e-4)
    resolution: FloatField = quantity("m", "positive", default=0.005)
    pattern: ClassVar[str] = "MM+"
    ends_text: ClassVar[str] = "a wheel and one or more bodies that it rolls on"
    meaning: ClassVar[str] = "A pneumatic tyre on ground of any shape."

    def _judge(self, check: Check) -> None:
        if len(check.faults):
            return
        if self.width >= self.radius:
            rule = "width must be less than radius, so that the section goes around the axle"
            check.fault(rule, (self.width, self.radius), "give the outer radius, not that of the rim, in m")
        if self._height() > self.width:
            check.fault("height must not be more than width", (self._height(), self.width))
        if self._slices() > _MOST_SLICES:
            rule = f"there must be at most {_MOST_SLICES} slices around the tyre"
            check.fault(rule, self._slices(), "take a larger resolution")
        if self.resolution > 0.1 * self.radius:
            check.fault("resolution must not be more than a tenth of the radius", self.resolution)
        if self.shear_damping > 0.1:
            check.fault("shear_damping must not be more than 0.1 s", self.shear_damping)
        static, kinetic = self._friction()
        if static < kinetic:
            check.fault(f"static_friction must not be less than friction, {kinetic:g}", static)

    def check_ends(self, check: Check, ends: tuple[Attachment, ...]) -> None:
        """Check that each body occurs once."""
        check_each_body_once(check, ends)

    def lowered(self, ends: tuple[End, ...]) -> Lowered:
        """The law of a slice."""
        wheel, *grounds = markers(ends)
        slices = self._slices()
        tread = 2.0 * pi * self.radius / slices
        static, kinetic = self._friction()
        numbers = {
            "stiffness": self.pressure * self.flattening * tread,
            "exponent": 1.0,
            "dissipation": self.dissipation,
            "static_friction": static,
            "kinetic_friction": kinetic,
            "shear_ratio": self.shear_ratio,
            "shear_time": self.shear_damping,
            "rim_stiffness": self.rim_stiffness * tread,
            **dict.fromkeys(("restitution", "rolling", "spinning", "by_impulse"), 0.0),
        }
        height = self._height()
        cut = WheelSlices(wheel, self.radius, self.width, height, slices, rim=self.rim_depth * height)
        names = (wheel.body, *(marker.body for marker in grounds))
        law = ContactLaw(names, numbers, impact_speed=1.0, joined=True, wheel=cut)
        return Lowered(contacts=(law,))

    def sunk(self, load: float) -> float:
        """The depth, m, to which a load, N, presses it into flat ground, provided the rim does not strike.

        The load is 4/3 p c sqrt(2 R) d^(3/2): a slice at x is pressed in by d - x^2 / 2 R.
        """
        of_depth = 4.0 / 3.0 * self.pressure * self.flattening * sqrt(2.0 * self.radius)
        return float((load / of_depth) ** (2.0 / 3.0))

    def _height(self) -> float:
        return self.width if self.height is None else self.height

    def _slices(self) -> int:
        return ceil(2.0 * pi * self.radius / self.resolution)

    def _friction(self) -> tuple[float, float]:
        """Static and kinetic coefficient."""
        static, kinetic = ROAD_FRICTION[self.surface]
        if self.friction is not None:
            static = kinetic = self.friction
        return (static if self.static_friction is None else self.static_friction), kinetic
