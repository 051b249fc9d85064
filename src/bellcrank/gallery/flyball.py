"""A flyball governor whose slider hangs on stiff springs."""

from __future__ import annotations

from math import cos, pi, radians, sin, sqrt

import bellcrank as bc
from bellcrank.gallery.rods import planar
from bellcrank.mechanism.rotation import multiply


def flyball_governor(
    *,
    density: float = 3000.0,
    ball_mass: float = 5.0,
    stiffness: float = 8e5,
    damping: float = 4e4,
    rest_length: float = 0.5,
    angle: float = radians(30.0),
    speed: float = 2 * pi,
    gravity: float = 9.81,
) -> bc.Mechanism:
    """Flyball governor: a shaft about z, two rods hinged to it with balls at their ends, a slider below.

    Four degrees of freedom: shaft, slider and the two rods, which only springs join to the slider.

    IFToMM benchmark A05, variant with spring-dampers ("compliant"). They act between the middle of each rod
    and the side of the slider, overdamped: the fast time constant is about 1e-4 s, the motion takes seconds.

    density: of shaft, rods and slider, kg/m^3. ball_mass: point mass at a rod's end, 1 m from its hinge, kg.
    stiffness, damping, rest_length: of the couplers, N/m, N s/m, m.
    angle: of the rods below the horizontal, rad; the slider starts where the couplers are at rest length.
    speed: of everything about the vertical, rad/s. gravity: along -z, m/s^2.

    Bodies "shaft", "slider", "rod 1", "rod 2"; joints "bearing", "slide" (position: height of the slider,
    m), "hinge 1", "hinge 2" (position: angle of the rod below the horizontal). The ball counts as a point in
    the rod's mass, com and inertia.
    """
    mech = bc.Mechanism("flyball governor", gravity=(0.0, 0.0, -gravity))
    spin = (0.0, 0.0, speed)
    shaft = mech.add_body(
        "shaft",
        position=(0.0, 0.0, 0.5),
        angular_velocity=spin,
        shapes=[bc.Box(size=(0.01, 0.01, 1.0), density=density)],
    )
    height = _HINGE - _REACH * sin(angle) - sqrt(rest_length**2 - (_REACH * cos(angle)) ** 2)
    slider = mech.add_body(
        "slider",
        position=(0.0, 0.0, height),
        angular_velocity=spin,
        shapes=[bc.Box(size=(0.1, 0.1, 0.1), density=density)],
    )
    mech.add_joint("bearing", bc.Revolute(), mech.ground.marker(), shaft.marker((0.0, 0.0, -0.5)))
    mech.add_joint("slide", bc.Prismatic(), shaft.marker((0.0, 0.0, -0.5)), slider.marker())
    coupler = bc.SpringDamper(stiffness, damping, rest_length)
    for number, side in ((1, 0.0), (2, pi)):
        place = (_RADIUS * cos(side), _RADIUS * sin(side))
        rod = _add_rod_with_ball(mech, number, side, density, ball_mass, angle, speed)
        mech.add_joint(
            f"hinge {number}",
            bc.Revolute(),
            shaft.marker((*place, _HINGE - 0.5), rotation=multiply(planar(side), _Y_UP)),
            rod.marker(rotation=_Y_UP),
        )
        ends = (slider.marker((*place, 0.0)), rod.marker((_REACH, 0.0, 0.0)))
        mech.add_force(f"coupler {number}", coupler, *ends)
    return mech


# Distance of the hinges from the axis and their height; where along the rods the couplers act, m.
_RADIUS, _HINGE, _REACH = 0.05, 1.0, 0.5
# A marker with its z along the y of what carries it.
_Y_UP = (sqrt(0.5), -sqrt(0.5), 0.0, 0.0)


def _add_rod_with_ball(
    mech: bc.Mechanism, number: int, side: float, density: float, ball: float, angle: float, speed: float
) -> bc.Body:
    """A rod on one side of the shaft, which turns with it at `speed`, at an angle below the horizontal."""
    mass, com, moments = _rod_with_ball(density, ball)
    place = (_RADIUS * cos(side), _RADIUS * sin(side))
    tilt = (cos(angle / 2), 0.0, sin(angle / 2), 0.0)  # a turn about y lowers the end of x
    return mech.add_body(
        f"rod {number}",
        mass=mass,
        inertia=moments,
        com=(com, 0.0, 0.0),
        position=(*place, _HINGE),
        rotation=multiply(planar(side), tilt),
        velocity=(-speed * place[1], speed * place[0], 0.0),
        angular_velocity=(0.0, 0.0, speed),
        shapes=[
            bc.Box(size=(1.0, 0.01, 0.01), position=(0.5, 0.0, 0.0)),
            bc.Sphere(radius=0.08, position=(1.0, 0.0, 0.0)),
        ],
    )


def _rod_with_ball(density: float, ball: float) -> tuple[float, float, tuple[float, float, float]]:
    """Mass, distance of the com from the hinge, and moments about the com (kg, m, kg m^2)."""
    rod = density * 1e-4
    mass = rod + ball
    com = (0.5 * rod + ball) / mass
    along = rod * (0.01**2 + 0.01**2) / 12
    across = rod * (1.0 + 0.01**2) / 12 + rod * (com - 0.5) ** 2 + ball * (1.0 - com) ** 2
    return mass, com, (along, across, across)
