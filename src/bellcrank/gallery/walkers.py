"""Passive walkers: a wheel without a rim and two straight legs go down a slope by themselves."""

from __future__ import annotations

from math import cos, pi, sin

import numpy as np

import bellcrank as bc
from bellcrank.gallery.demands import Demands
from bellcrank.gallery.rods import planar, vec
from bellcrank.mechanism.rotation import between

_WOOD, _LEFT, _RIGHT, _STONE = (0.78, 0.62, 0.42), (0.20, 0.42, 0.66), (0.85, 0.50, 0.20), (0.78, 0.76, 0.70)
_Color = tuple[float, float, float]


def rimless_wheel(
    spokes: int = 8,
    length: float = 1.0,
    *,
    slope: float = 0.1,
    speed: float = 1.5,
    mass: float = 1.0,
    gyration: float = 0.1,
    friction: float = 1.0,
    gravity: float = 9.81,
) -> bc.Mechanism:
    """Spokes without a rim roll down a slope from foot to foot: the simplest walker.

    3 degrees of freedom: the wheel moves in the plane xy. Let a = pi/spokes, l the spokes' length and k the
    radius of gyration. A foot that strikes without bounce leaves the wheel (k^2 + l^2 cos 2a)/(k^2 + l^2) = e
    of its angular speed; on a spoke it falls like a pendulum. On slopes that are steep enough it comes to
    roll at w^2 = 4 g l sin a sin slope/((k^2 + l^2)(1 - e^2)) just before each strike (T. McGeer, Passive
    dynamic walking, Int. J. Robotics Research 9, 1990). To be simulated by steps of impulses,
    `method="moreau"`.

    spokes: four or more. length: of a spoke, m. slope: downwards along x, rad. speed: angular speed at the
    start, rad/s, where the wheel stands upright on one spoke. mass: kg. gyration: radius of gyration, m.
    friction: at the feet; a must be within the cone of friction. gravity: along -y, m/s^2.

    The first foot stands at the origin. Body "wheel", with its frame at the hub; joint "plane", force "feet".
    Raises ValueError for bad arguments, all of them at once.
    """
    demands = Demands("rimless_wheel")
    demands.whole("spokes", spokes, least=4)
    demands.positive(length=length, mass=mass, gyration=gyration)
    demands.not_negative(friction=friction, gravity=gravity)
    demands.within("slope", slope, -pi / 2, pi / 2, "downwards along x")
    demands.that(np.isfinite(speed), "speed must be finite", speed)
    demands.check()
    mech = bc.Mechanism("rimless wheel", gravity=(0.0, -gravity, 0.0))
    thick = 0.03 * length
    along, up = _axes(slope)
    moment = mass * gyration**2
    wheel = mech.add_body(
        "wheel",
        mass=mass,
        inertia=(0.6 * moment, 0.6 * moment, moment),
        position=vec(length * up),
        rotation=planar(-slope),
        velocity=vec(speed * length * along),
        angular_velocity=(0.0, 0.0, -speed),
        shapes=_wheel_shapes(spokes, length, thick),
    )
    ground = bc.Plane(size=2.0 * length, rotation=between((0.0, 0.0, 1.0), vec(up)))
    middle = vec(2.5 * length * along - 0.5 * thick * up)
    board = bc.Box(size=(7.0 * length, thick, 6 * thick), position=middle,
                   rotation=planar(-slope), color=_STONE, touches=False)  # fmt: skip
    mech.replace(mech.ground, shapes=[ground, board])
    mech.add_joint("plane", bc.Planar(), mech.ground.marker(), wheel.marker())
    feet = bc.Contact(1e7, restitution=0.0, friction=friction, joined=True)
    mech.add_force("feet", feet, wheel, mech.ground)
    return mech


def _axes(slope: float) -> tuple[np.ndarray, np.ndarray]:
    """Unit vectors down the slope and normal to it."""
    return np.array([cos(slope), -sin(slope), 0.0]), np.array([sin(slope), cos(slope), 0.0])


def _wheel_shapes(spokes: int, length: float, thick: float) -> list[bc.Shape]:
    """Spokes that end in edges, and a hub that does not touch."""
    spoke = [(0.0, -thick), (length, 0.0), (0.0, thick)]
    shapes: list[bc.Shape] = [
        bc.Prism(
            outline=spoke, length=4 * thick, color=_WOOD, rotation=planar(2 * pi * number / spokes - pi / 2)
        )
        for number in range(spokes)
    ]
    shapes.append(bc.Cylinder(radius=3 * thick, length=5 * thick, color=_LEFT, touches=False))
    return shapes


def compass_walker(
    length: float = 1.0,
    *,
    slope: float = 0.009,
    angle: float = 0.200311,
    rate: float = -0.199832,
    mass: float = 1.0,
    foot_mass: float = 1e-3,
    steps: int = 12,
    friction: float = 1.0,
    gravity: float = 9.81,
) -> bc.Mechanism:
    """Two straight legs with a hinge at the hip walk down a slope, without motor or control.

    4 degrees of freedom: three of one leg in the plane xy and the angle between the legs. Masses lie at the
    hip and, small, at the feet. The walk repeats after each step if the slope is less than 0.0151; with feet
    of no mass and a slope of 0.009 a step takes 3.88 sqrt(length/gravity) from the default angle and rate
    (M. Garcia, A. Chatterjee, A. Ruina, M. Coleman, The simplest walking model, J. Biomech. Eng. 120, 1998).
    To be simulated by steps of impulses, `method="moreau"`.

    Straight legs would scuff the ground where they pass each other. The feet therefore walk on stepping
    stones, in one row for each foot, as McGeer's machines did: there is nothing below the foot that swings.

    length: of the legs, m. slope: downwards along x, rad. angle: of the leg that stands from the normal of
    the slope when the other foot has just left the ground, rad. rate: its rate by sqrt(gravity/length).
    mass: all at the hip, kg. foot_mass: of each foot, kg. steps: for which there are stones. friction: at the
    feet. gravity: along -y, m/s^2.

    The left foot stands at the origin, or rather beside it: the rows are apart along z. Bodies "left leg",
    "right leg", frames at the hip, -y along the leg; joints "plane" (ground, left leg), "hip" (0 where the
    legs coincide); forces "left foot", "right foot". Raises ValueError for bad arguments, all at once.
    """
    demands = Demands("compass_walker")
    demands.positive(length=length, mass=mass, foot_mass=foot_mass)
    demands.not_negative(friction=friction, gravity=gravity)
    demands.within("slope", slope, -pi / 2, pi / 2, "downwards along x")
    demands.within("angle", angle, 0.0, pi / 3, "from the normal of the slope")
    demands.that(np.isfinite(rate), "rate must be finite", rate)
    demands.whole("steps", steps, least=1)
    demands.check()
    mech = bc.Mechanism("compass walker", gravity=(0.0, -gravity, 0.0))
    along, up = _axes(slope)
    thick = 0.04 * length
    stones = _stones(slope, 2.0 * length * sin(angle), thick, steps)
    mech.replace(mech.ground, shapes=stones)
    turning = rate * (gravity / length) ** 0.5
    hip = length * (cos(angle) * up - sin(angle) * along)
    velocity = -length * turning * (cos(angle) * along + sin(angle) * up)
    swinging = turning - (1.0 - cos(2.0 * angle)) * turning
    legs = [
        _add_leg(mech, name, (mass, foot_mass, length, thick), (hip, velocity), turn - slope, spin)
        for name, turn, spin in (("left", angle, turning), ("right", -angle, swinging))
    ]
    mech.add_joint("plane", bc.Planar(), mech.ground.marker(), legs[0].marker())
    mech.add_joint("hip", bc.Revolute(), legs[0].marker(), legs[1].marker())
    for leg, name in zip(legs, ("left foot", "right foot"), strict=True):
        mech.add_force(
            name, bc.Contact(1e7, restitution=0.0, friction=friction, joined=True), leg, mech.ground
        )
    return mech


def _stones(slope: float, pace: float, thick: float, steps: int) -> list[bc.Shape]:
    """Stepping stones, those with even numbers in the row of the left foot."""
    along, up = _axes(slope)
    stones: list[bc.Shape] = []
    for number in range(-1, steps + 2):
        lane = 2.0 * thick * (1 if number % 2 == 0 else -1)
        middle = number * pace * along - thick * up + np.array([0.0, 0.0, lane])
        size = (0.8 * pace, 2.0 * thick, 3.0 * thick)
        stones.append(bc.Box(size=size, position=vec(middle), rotation=planar(-slope), color=_STONE))
    return stones


def _add_leg(
    mech: bc.Mechanism,
    name: str,
    sizes: tuple[float, float, float, float],
    hip: tuple[np.ndarray, np.ndarray],
    turn: float,
    spin: float,
) -> bc.Body:
    """A leg: half of the mass of the hip at its upper end, that of the foot at the lower one, in its lane."""
    mass, foot, length, thick = sizes
    whole = 0.5 * mass + foot
    across = 0.5 * mass * foot / whole * length**2
    lane, color = (2.0 * thick, _LEFT) if name == "left" else (-2.0 * thick, _RIGHT)
    outline = [(0.0, -length), (thick, 0.0), (-thick, 0.0)]
    return mech.add_body(
        f"{name} leg",
        mass=whole,
        inertia=(across, 0.1 * across, across),
        com=(0.0, -foot / whole * length, 0.0),
        position=vec(hip[0]),
        rotation=planar(turn),
        velocity=vec(hip[1]),
        angular_velocity=(0.0, 0.0, spin),
        shapes=[
            bc.Prism(outline=outline, length=2.0 * thick, position=(0.0, 0.0, lane), color=color),
            bc.Sphere(radius=1.5 * thick, position=(0.0, 0.0, 0.5 * lane), color=color, touches=False),
        ],
    )
