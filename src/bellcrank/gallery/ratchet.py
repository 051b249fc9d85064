"""A winch whose ratchet wheel turns one way; a pawl holds the load."""

from __future__ import annotations

from math import cos, pi, sin
from typing import Any, Final

import bellcrank as bc
from bellcrank.gallery.demands import Demands
from bellcrank.gallery.rods import planar

_STEEL: Final = (0.55, 0.60, 0.66)
_BRASS: Final = (0.80, 0.66, 0.36)
_LOAD: Final = (0.42, 0.36, 0.33)


def ratchet_winch(
    teeth: int = 16,
    radius: float = 0.068,
    depth: float = 0.008,
    *,
    drum_radius: float = 0.03,
    load: float = 20.0,
    pull: Any = None,
    spring: float = 0.05,
    droop: float = 0.5,
    width: float = 0.01,
    density: float = 7800.0,
    friction: float = 0.0,
    gravity: float = 9.81,
) -> bc.Mechanism:
    """A winch with a ratchet wheel: a hand lifts a load in pulls; between them a pawl holds it, by contact.

    Two degrees of freedom, wheel and pawl: rope and load follow the wheel. Whenever the hand lets go the load
    falls back to the last tooth that the pawl has passed, at most 2 pi drum_radius/teeth. The faces that hold
    are radial and push along a line through the pawl's pivot, at the mean height of a tooth, so that the pawl
    carries load gravity drum_radius/(radius - depth/2). To be simulated by steps of impulses,
    `method="moreau"`.

    teeth: six or more. radius: of the tips, m. depth: of the teeth, m. drum_radius: of the rope, m. load: kg.
    pull: torque of the hand on the wheel as a function of time, N m; by default half sines of 1 s, with as
    long a pause after each, of twice the load's torque. droop: how much the torque falls with speed,
    N m s/rad. spring: torque that presses the pawl on the wheel, N m. width: of wheel and pawl, m. density:
    of both, kg/m^3. friction: of pawl and teeth. gravity: along -y, m/s^2.

    Plane xy, the wheel's axis at the origin, the pawl above it. Bodies "wheel", "pawl", "load"; joints
    "shaft", "pawl pivot", "guide" (all 0 at the start, when the pawl holds; "guide": the load's rise, m);
    constraint "rope", forces "hand", "spring", "teeth". Raises ValueError for bad arguments, all at once.
    """
    demands = Demands("ratchet_winch")
    demands.whole("teeth", teeth, least=6)
    demands.positive(radius=radius, depth=depth, drum_radius=drum_radius, load=load, width=width)
    demands.positive(density=density)
    demands.not_negative(spring=spring, droop=droop, friction=friction, gravity=gravity)
    demands.check()
    demands.that(depth < 0.3 * radius, "depth must be less than 0.3 of the radius", depth)
    demands.that(drum_radius < radius - depth, "drum_radius must be less than that of the roots", drum_radius)
    demands.check()
    if pull is None:
        pull = f"{2.0 * load * gravity * drum_radius} * max(0, sin(pi*t))"
    mech = bc.Mechanism("ratchet winch", gravity=(0.0, -gravity, 0.0))
    shapes = _wheel_shapes(teeth, (radius, depth, drum_radius, width), density)
    wheel = mech.add_body("wheel", rotation=planar(pi / 2), shapes=shapes)
    height, reach = radius - 0.5 * depth, 1.03 * radius
    pawl = mech.add_body(
        "pawl", position=(reach, height, 0.0), shapes=_pawl_shapes(reach, depth, width, density)
    )
    weight = _add_load(mech, load, density, drum_radius, -2.0 * radius)
    mech.add_joint("shaft", bc.Revolute(), mech.ground.marker(rotation=planar(pi / 2)), wheel.marker())
    mech.add_joint("pawl pivot", bc.Revolute(), mech.ground.marker((reach, height, 0.0)), pawl.marker())
    _add_guide(mech, weight)
    mech.add_constraint("rope", bc.RackPinion(drum_radius), mech.joints["guide"], mech.joints["shaft"])
    mech.add_force("hand", bc.JointMotor(pull, droop=droop), mech.joints["shaft"])
    mech.add_force("spring", bc.JointMotor(spring), mech.joints["pawl pivot"])
    mech.add_force("teeth", bc.Contact(1e7, restitution=0.0, friction=friction), wheel, pawl)
    return mech


def _add_load(mech: bc.Mechanism, load: float, density: float, x: float, y: float) -> bc.Body:
    """A cube, and the rope above it as long as it is at the start."""
    side = 0.5 * (load / density) ** (1 / 3)
    rope = bc.Cylinder(radius=0.01 * abs(y), length=abs(y), position=(0.0, 0.5 * abs(y), 0.0),
                       rotation=_UPRIGHT, color=_LOAD, touches=False)  # fmt: skip
    cube = bc.Box(size=(2 * side,) * 3, position=(0.0, -side, 0.0), color=_LOAD, touches=False)
    return mech.add_body(
        "load", mass=load, inertia=(load * side**2,) * 3, position=(x, y, 0.0), shapes=[cube, rope]
    )


def _add_guide(mech: bc.Mechanism, weight: bc.Body) -> None:
    up = (0.0, 1.0, 0.0)
    low = mech.ground.marker(weight.position, axis=up)
    mech.add_joint("guide", bc.Prismatic(), low, weight.marker(axis=up))


_UPRIGHT: Final = (cos(pi / 4), -sin(pi / 4), 0.0, 0.0)


def _wheel_shapes(teeth: int, sizes: tuple[float, float, float, float], density: float) -> list[bc.Shape]:
    """Saw teeth, the faces that hold radial, on a disc; and the drum beside it."""
    tip, depth, drum, width = sizes
    root, pitch = tip - depth, 2 * pi / teeth
    tooth = [(0.0, 0.0), (tip, 0.0), (root * cos(pitch), root * sin(pitch))]
    shapes: list[bc.Shape] = [
        bc.Prism(outline=tooth, length=width, density=density, color=_BRASS, rotation=planar(number * pitch))
        for number in range(teeth)
    ]
    shapes.append(
        bc.Cylinder(radius=drum, length=2 * width, density=density, color=_STEEL, touches=False,
                    position=(0.0, 0.0, 0.9 * width))
    )  # fmt: skip
    return shapes


def _pawl_shapes(reach: float, depth: float, width: float, density: float) -> list[bc.Shape]:
    """A bar from the pivot at the origin to a flat end; below it stays clear of the next tooth."""
    outline = [
        (-reach, -0.44 * depth), (0.2 * depth, 1.1 * depth), (0.2 * depth, 1.7 * depth),
        (-reach, 0.75 * depth),
    ]  # fmt: skip
    return [
        bc.Prism(outline=outline, length=width, density=density, color=_STEEL),
        bc.Cylinder(radius=1.5 * depth, length=1.2 * width, density=density, color=_STEEL, touches=False),
    ]
