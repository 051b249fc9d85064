"""Two spur gears whose teeth touch: no ratio is prescribed, the flanks make it."""

from __future__ import annotations

from math import atan, cos, pi, sqrt, tan

import numpy as np

import bellcrank as bc
from bellcrank.gallery.demands import Demands
from bellcrank.gallery.rods import planar

_STEEL, _BRASS = (0.55, 0.60, 0.66), (0.80, 0.66, 0.36)
_Color = tuple[float, float, float]


def spur_gears(
    pinion_teeth: int = 18,
    wheel_teeth: int = 36,
    module: float = 0.004,
    *,
    pressure_angle: float = pi / 9,
    facets: int = 8,
    backlash: float = 1e-4,
    speed: float = 2 * pi,
    load: float = 5.0,
    width: float = 0.01,
    density: float = 7800.0,
    stiffness: float = 1e8,
    friction: float = 0.0,
) -> bc.Mechanism:
    """Pinion and wheel with involute teeth, which drive each other by contact of their flanks.

    One degree of freedom, the wheel: a motor turns the pinion. Flanks are polygons with their corners on
    involutes at equal steps d of the roll angle t. Between its corners a facet lies below the involute by up to
    r t d^2/8, r the radius of the base circle; the wheel lags by no more than the facets of both flanks give
    way, and follows the ratio of the teeth in the mean. Without friction the force of the teeth is
    load/r of the wheel (J. E. Shigley, C. R. Mischke, Mechanical Engineering Design). To be simulated by
    steps of impulses, `method="moreau"`.

    pinion_teeth, wheel_teeth: their numbers, large enough for flanks that are not undercut. module: m; teeth
    are one module high above the pitch circle and 1.25 below it. pressure_angle: rad. facets: of each
    flank. backlash: along the pitch circle, m. speed: of the pinion, rad/s. load: torque against the motion of
    the wheel, N m; with it the flanks touch. width: m. density: kg/m^3. stiffness, friction: of the contact, N/m and
    1.

    Plane xy without gravity: the pinion's axis at the origin, the wheel's on +x. The flanks touch at the
    start, but for their facets. Bodies "pinion", "wheel"; joints "pinion shaft" and "wheel shaft" (both 0 at
    the start), drive "motor", forces "load", "contact". Raises ValueError for bad arguments, all of them
    at once.
    """
    demands = Demands("spur_gears")
    demands.whole("pinion_teeth", pinion_teeth, least=6)
    demands.whole("wheel_teeth", wheel_teeth, least=6)
    demands.whole("facets", facets, least=1)
    demands.positive(module=module, width=width, density=density, stiffness=stiffness)
    demands.within("pressure_angle", pressure_angle, 0.0, pi / 6 + 1e-9, "rad")
    demands.within("backlash", backlash, 0.0, 0.5 * module, "less than half of the module")
    demands.not_negative(load=load, friction=friction)
    demands.that(np.isfinite(speed) and speed != 0.0, "speed must be finite and not zero", speed)
    demands.check()
    gears = [_Gear(z, module, pressure_angle) for z in (pinion_teeth, wheel_teeth)]
    lowest = [gear.lowest(other) for gear, other in (gears, gears[::-1])]
    for name, low, teeth in zip(("pinion_teeth", "wheel_teeth"), lowest, (pinion_teeth, wheel_teeth), strict=True):
        demands.that(low > 0.0, f"{name} are so few that the other gear's tips undercut them", teeth)
    demands.check()
    mech = bc.Mechanism("spur gears", gravity=(0.0, 0.0, 0.0))
    distance, sense = 0.5 * module * (pinion_teeth + wheel_teeth), 1.0 if speed > 0.0 else -1.0
    places = ((0.0, pi / pinion_teeth), (distance, pi + sense * backlash / (module * wheel_teeth)))
    rates = (speed, -speed * pinion_teeth / wheel_teeth)
    for number, name in enumerate(("pinion", "wheel")):
        outline = gears[number].tooth(lowest[number], facets, backlash)
        shapes = _shapes(gears[number], outline, width, density, (_STEEL, _BRASS)[number])
        middle, turn = places[number]
        body = mech.add_body(name, position=(middle, 0.0, 0.0), rotation=planar(turn),
                             angular_velocity=(0.0, 0.0, rates[number]), shapes=shapes)  # fmt: skip
        axis = mech.ground.marker((middle, 0.0, 0.0), rotation=planar(turn))
        mech.add_joint(f"{name} shaft", bc.Revolute(), axis, body.marker())
    mech.add_drive("motor", joint="pinion shaft", velocity=speed)
    mech.add_force("load", bc.JointMotor(sense * load), mech.joints["wheel shaft"])
    mech.add_force("contact", bc.Contact(stiffness, restitution=0.0, friction=friction), *mech.bodies)
    return mech


class _Gear:
    """Radii (m) of a gear with standard teeth."""

    def __init__(self, teeth: int, module: float, pressure_angle: float) -> None:
        self.teeth, self.module, self.pressure_angle = teeth, module, pressure_angle
        self.pitch = 0.5 * module * teeth
        self.base = self.pitch * cos(pressure_angle)
        self.tip, self.root = self.pitch + module, self.pitch - 1.25 * module
        self.highest = sqrt((self.tip / self.base) ** 2 - 1.0)
        """Roll angle at the tip, rad."""

    def lowest(self, other: _Gear) -> float:
        """Roll angle of the point that the other gear's tips touch, rad; not positive if they undercut."""
        both = (self.base + other.base) * tan(self.pressure_angle)
        return (both - other.base * other.highest) / self.base

    def tooth(self, lowest: float, facets: int, backlash: float) -> list[tuple[float, float]]:
        """Outline of the tooth about x: radial feet, both flanks."""
        roll = np.linspace(lowest, self.highest, facets + 1)
        half = (0.25 * pi * self.module - 0.25 * backlash) / self.pitch
        half += tan(self.pressure_angle) - self.pressure_angle
        angle = half - (roll - np.arctan(roll))
        radius = self.base * np.sqrt(1.0 + roll**2)
        foot = half - (lowest - atan(lowest))
        angle, radius = np.append(foot, angle), np.append(min(self.root, 0.98 * radius[0]), radius)
        x, y = radius * np.cos(angle), radius * np.sin(angle)
        corners = [*zip(x, -y, strict=True), *zip(x[::-1], y[::-1], strict=True)]
        return [(float(a), float(b)) for a, b in corners]


def _shapes(
    gear: _Gear, outline: list[tuple[float, float]], width: float, density: float, color: _Color
) -> list[bc.Shape]:
    """A prism for each tooth on a disc, which touches nothing."""
    disc = bc.Cylinder(radius=gear.root, length=width, density=density, color=color, touches=False)
    teeth: list[bc.Shape] = [
        bc.Prism(outline=outline, length=width, density=density, color=color,
                 rotation=planar(2.0 * pi * number / gear.teeth))
        for number in range(gear.teeth)
    ]  # fmt: skip
    return [disc, *teeth]
