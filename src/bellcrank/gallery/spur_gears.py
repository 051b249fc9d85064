"""Two spur gears whose involute teeth touch: nothing else connects them."""

from __future__ import annotations

from math import cos, pi, sin, sqrt, tan
from typing import Final

import numpy as np

import bellcrank as bc
from bellcrank.gallery.demands import Demands
from bellcrank.gallery.rods import planar

_STEEL: Final = (0.55, 0.60, 0.66)
_BRASS: Final = (0.80, 0.66, 0.36)
_Color = tuple[float, float, float]


def spur_gears(
    teeth: tuple[int, int] = (20, 30),
    module: float = 0.004,
    *,
    pressure_angle: float = pi / 9,
    backlash: float = 2e-5,
    facets: int = 12,
    width: float = 0.02,
    density: float = 7800.0,
    speed: float = 2 * pi,
    torque: float = 10.0,
    stiffness: float = 1e7,
    friction: float = 0.0,
) -> bc.Mechanism:
    """Two spur gears with involute teeth; the contact of their flanks alone turns the second one.

    One degree of freedom, the wheel: a motor turns the pinion, and a torque on the wheel keeps the same
    flanks in contact. On involutes the ratio of speeds is that of the teeth at every instant and the normal
    force torque/(wheel's base radius). The contact ratio, the mean number of pairs of teeth that touch, is
    (sqrt(ra1^2 - rb1^2) + sqrt(ra2^2 - rb2^2) - a sin v)/(pi module cos v), with radii ra of the tips and
    rb of the base circles, the centre distance a and v = pressure_angle (J. E. Shigley, J. J. Uicker, Theory
    of Machines and Mechanisms). Flanks are polygons whose corners lie on involutes; they miss these by a few
    micrometres, which `flank_error` computes.

    teeth: of pinion and wheel. module: pitch diameter by teeth, m; teeth are as high above the pitch circle.
    pressure_angle: rad. backlash: normal to the flanks, m. facets: of a flank. width: along z, m. density:
    kg/m^3. speed: of the pinion, rad/s. torque: on the wheel against its motion, N m. stiffness, friction: of
    the contacts, N/m and 1; the stiffness counts unless the run takes steps of impulses, `method="moreau"`.

    Plane xy without gravity: the pinion's axis at the origin, the wheel's at x = module (z1 + z2)/2. Bodies
    "pinion", "wheel"; joints "pinion shaft", "wheel shaft" (both 0 at the start), drive "motor", forces
    "load", "teeth". Raises ValueError for bad arguments, all at once, and for teeth that would be undercut.
    """
    demands = Demands("spur_gears")
    for number, count in enumerate(teeth):
        demands.whole(f"teeth[{number}]", count, least=6)
    demands.positive(module=module, width=width, density=density, stiffness=stiffness)
    demands.not_negative(backlash=backlash, friction=friction)
    demands.within("pressure_angle", pressure_angle, 0.17, 0.55, "of the rack")
    demands.whole("facets", facets, least=2)
    for name, value in (("speed", speed), ("torque", torque)):
        demands.that(np.isfinite(value), f"{name} must be finite", value)
    demands.check()
    least = 2.0 / sin(pressure_angle) ** 2
    demands.that(min(teeth) >= least, f"teeth must be at least {least:.1f}, or they are undercut", min(teeth))
    demands.that(backlash < 0.3 * module, "backlash must be small by the module", backlash)
    demands.check()
    gears = [_Wheel(count, module, pressure_angle, 0.5 * backlash) for count in teeth]
    looks = zip(gears, (_BRASS, _STEEL), strict=True)
    shapes = [gear.shapes(facets, width, density, color) for gear, color in looks]
    mech = bc.Mechanism("spur gears", gravity=(0.0, 0.0, 0.0))
    # A tooth of the pinion on the line of centres in a gap of the wheel; flanks touch on the driving side.
    forwards = 1.0 if speed >= 0.0 else -1.0
    turn = pi + pi / teeth[1] + 0.5 * forwards * backlash / gears[1].base
    _add_wheel(mech, "pinion", 0.0, 0.0, speed, shapes[0])
    _add_wheel(mech, "wheel", 0.5 * module * sum(teeth), turn, -speed * teeth[0] / teeth[1], shapes[1])
    mech.add_drive("motor", joint="pinion shaft", velocity=speed)
    mech.add_force("load", bc.JointMotor(forwards * torque), mech.joints["wheel shaft"])
    mech.add_force("teeth", bc.Contact(stiffness, restitution=0.0, friction=friction), "pinion", "wheel")
    return mech


def _add_wheel(
    mech: bc.Mechanism, name: str, x: float, turn: float, spin: float, shapes: list[bc.Shape]
) -> None:
    body = mech.add_body(
        name,
        position=(x, 0.0, 0.0),
        rotation=planar(turn),
        angular_velocity=(0.0, 0.0, spin),
        shapes=shapes,
    )
    axis = mech.ground.marker((x, 0.0, 0.0), rotation=planar(turn))
    mech.add_joint(f"{name} shaft", bc.Revolute(), axis, body.marker())


class _Wheel:
    """Radii (m) of a wheel and the outline of its tooth along x."""

    def __init__(self, teeth: int, module: float, angle: float, thinner: float) -> None:
        self.teeth = teeth
        self.pitch = 0.5 * module * teeth
        self.base, self.tip, self.root = (
            self.pitch * cos(angle),
            self.pitch + module,
            self.pitch - 1.25 * module,
        )
        # Half of the tooth's angle on the base circle; thinner: of a flank along its normal.
        self.half = pi / (2 * teeth) + tan(angle) - angle - 0.5 * thinner / self.base

    def flank(self, facets: int) -> np.ndarray:
        """Corners (facets + 1, 2) of the upper flank from the base circle to the tip; equal chord errors.

        An involute is x = rb (cos t + t sin t), ...; its radius of curvature rb t makes the error of a chord
        rb t dt^2/8, so that equal steps of t^1.5 give equal errors.
        """
        last = sqrt((self.tip / self.base) ** 2 - 1.0)
        roll = last * (np.arange(facets + 1) / facets) ** (2.0 / 3.0)
        angle = self.half - (roll - np.arctan(roll))
        radius = self.base * np.sqrt(1.0 + roll**2)
        return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])

    def shapes(self, facets: int, width: float, density: float, color: _Color) -> list[bc.Shape]:
        """A prism for each tooth, and the disc that carries them, which does not touch."""
        flank = self.flank(facets)
        foot = max(self.root, 0.5 * self.base)
        below = foot * np.array([cos(self.half), sin(self.half)])
        upper = np.vstack([below, flank]) if foot < self.base else flank
        outline = np.vstack([upper[:1] * [1.0, -1.0], (upper * [1.0, -1.0])[1:], upper[::-1]])
        shapes: list[bc.Shape] = [
            bc.Prism(outline=outline, length=width, density=density, color=color,
                     rotation=planar(2.0 * pi * number / self.teeth))
            for number in range(self.teeth)
        ]  # fmt: skip
        shapes.append(
            bc.Cylinder(radius=1.002 * foot, length=0.99 * width, density=density, color=color, touches=False)
        )
        return shapes


def flank_error(teeth: int, module: float, facets: int, pressure_angle: float = pi / 9) -> float:
    """By how much a flank of `spur_gears` lies within its involute at most, m, along the normal.

    teeth: of the wheel. module: m. facets: of a flank. pressure_angle: rad.
    """
    tip = 0.5 * module * (teeth + 2)
    base = 0.5 * module * teeth * cos(pressure_angle)
    last = sqrt((tip / base) ** 2 - 1.0)
    return base * last**3 / (18.0 * facets**2)
