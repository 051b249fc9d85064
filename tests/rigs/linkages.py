"""Closed loops that are overconstrained in space, and twins of the same motion without redundant rows."""

from itertools import pairwise
from math import asin, atan, atan2, cos, pi, sin, sqrt, tan

import numpy as np
from rigs.machine import matrix

import bellcrank as bc
from bellcrank.gallery.rods import Z_AXIS, add_pin, add_rod

Y = (0.0, 1.0, 0.0)
THICKNESS = 0.1  # of bars, m


def bar(mech, name, start, end, mass=1.0, omega=0.0, velocity=(0.0, 0.0, 0.0), thickness=THICKNESS):
    """A bar from start to end in the xz plane, its frame in the middle and x along it."""
    start, end = np.asarray(start, dtype=float), np.asarray(end, dtype=float)
    along = end - start
    length = float(np.linalg.norm(along))
    angle = -np.arctan2(along[2], along[0])  # about +y
    across = mass * length**2 / 12.0  # as of a slender bar, whatever the thickness: plane motion is the same
    inertia = (mass * thickness**2 / 6.0, across, across)
    return mech.add_body(
        name,
        mass=mass,
        inertia=inertia,
        position=tuple(0.5 * (start + end)),
        rotation=(cos(angle / 2), 0.0, sin(angle / 2), 0.0),
        velocity=velocity,
        angular_velocity=(0.0, omega, 0.0),
    )


def pin(mech, name, first, second, point, kind=None, axis=Y):
    """A joint of this kind (a hinge by default) at a world point, z along the axis."""
    at = tuple(np.asarray(point, dtype=float).tolist())
    return mech.add_joint(
        name, kind or bc.Revolute(), first.world_marker(at, axis=axis), second.world_marker(at, axis=axis)
    )


def polygon(name, points, speeds, closing=None, thickness=THICKNESS):
    """A planar loop of bars along `points`, hinged to the ground at the first and the last.

    speeds: angular velocity about y of each bar; they must close. closing: the last hinge's kind. With hinges
    alone three rows of the loop are redundant; with PointOnLine none is.
    """
    mech = bc.Mechanism(name)
    bodies, velocity = [mech.ground], np.zeros(3)
    for number, (start, end) in enumerate(pairwise(points)):
        along = np.subtract(end, start)
        swing = np.cross([0.0, speeds[number], 0.0], along)
        middle = velocity + 0.5 * swing
        bodies.append(
            bar(mech, f"bar{number + 1}", start, end, 1.0, speeds[number], tuple(middle), thickness)
        )
        velocity = velocity + swing
    bodies.append(mech.ground)
    for number, (first, second) in enumerate(pairwise(bodies)):
        last = number == len(points) - 1
        pin(mech, f"pin{number + 1}", first, second, points[number], closing if last else None)
    return mech


def four_bar(closing=None, thickness=THICKNESS, speed=4.0):
    """A crank of 1 m that turns fully, coupler 3, rocker 2.5, base 3 m. Projection finds the other speeds."""
    tip, base = np.array([0.5, 0.0, sqrt(3.0) / 2.0]), np.array([3.0, 0.0, 0.0])
    gap = base - tip
    length = np.linalg.norm(gap)
    along = (3.0**2 - 2.5**2 + length**2) / (2.0 * length)
    side = np.array([-gap[2], 0.0, gap[0]]) / length
    knee = tip + along * gap / length + sqrt(9.0 - along**2) * side
    return polygon("four-bar", [np.zeros(3), tip, knee, base], [speed, 0.0, 0.0], closing, thickness)


def parallelogram(closing=None, speed=3.0):
    """Opposite bars equal; it starts flat, where it could also fold the other way, and passes flat poses."""
    return polygon(
        "parallelogram", [(0, 0, 0), (1, 0, 0), (3, 0, 0), (2, 0, 0)], [speed, 0.0, speed], closing
    )


def five_bar(closing=None):
    """Two freedoms."""
    points = [(0, 0, 0), (-0.5, 0, 1), (0.6, 0, 1.9), (1.6, 0, 1.1), (1.2, 0, 0)]
    return polygon("five-bar", points, [1.0, 0.5, -0.5, 0.2], closing)


def slider_crank(rail=bc.PrismaticX):
    """Crank and rod of equal length (A00 of the reference problems): both stand upright at angles of ±90°."""
    angle, rate = pi / 4, 2.0 * sqrt(2.0)
    mech = bc.Mechanism("slider-crank")
    tip = (cos(angle), 0.0, sin(angle))
    end = (2.0 * cos(angle), 0.0, 0.0)
    tip_velocity = rate * np.array([-sin(angle), 0.0, cos(angle)])
    end_velocity = np.array([-2.0 * rate * sin(angle), 0.0, 0.0])
    crank = bar(mech, "crank", (0, 0, 0), tip, 1.0, -rate, tuple(0.5 * tip_velocity))
    rod = bar(mech, "rod", tip, end, 1.0, rate, tuple(0.5 * (tip_velocity + end_velocity)))
    slider = mech.add_body(
        "slider", mass=0.5, inertia=(1e-3, 1e-3, 1e-3), position=end, velocity=tuple(end_velocity)
    )
    pin(mech, "pivot", mech.ground, crank, (0, 0, 0))
    pin(mech, "elbow", crank, rod, tip)
    pin(mech, "wrist", rod, slider, end)
    axes = {"z_axis": Y, "x_axis": (1.0, 0.0, 0.0)}
    mech.add_joint("rail", rail(), mech.ground.marker(**axes), slider.marker(**axes))
    return mech


def windows(count):
    """N coupled four-bars (A02): N + 1 parallel cranks, N couplers; flat poses have N + 1 freedoms."""
    mech = bc.Mechanism(f"{count} windows")
    cranks = [
        bar(mech, f"crank{k}", (k, 0, 0), (k, 0, 1), 1.0, 1.0, (0.5, 0.0, 0.0)) for k in range(count + 1)
    ]
    for k, crank in enumerate(cranks):
        pin(mech, f"pivot{k}", mech.ground, crank, (k, 0, 0))
    for k in range(count):
        coupler = bar(mech, f"coupler{k}", (k, 0, 1), (k + 1, 0, 1), 1.0, 0.0, (1.0, 0.0, 0.0))
        pin(mech, f"left{k}", cranks[k], coupler, (k, 0, 1))
        pin(mech, f"right{k}", coupler, cranks[k + 1], (k + 1, 0, 1))
    return mech


def bennett(closing=None):
    """Bennett's spatial four-bar: lengths a, b, a, b and twists α, β, α, β of its axes with a sin β = b sin
    α.

    Each link carries x along the common normal of its two axes. With half-angle tangents of the joint angles,
    tan(θ1/2) tan(θ2/2) = sin((β + α)/2)/sin((β − α)/2).
    """
    a, b, alpha = 1.0, 1.4, 0.6
    beta = asin(b / a * sin(alpha))
    first = 1.1
    ratio = sin(0.5 * (beta + alpha)) / sin(0.5 * (beta - alpha))
    angles = [first, 2.0 * atan(ratio / tan(0.5 * first))]
    angles += [-angles[0], -angles[1]]

    def turn(axis, angle):
        return matrix((cos(angle / 2), *(sin(angle / 2) * np.eye(3)[axis])))

    R, point = np.eye(3), np.zeros(3)
    axes, points = [], []
    for angle, length, twist in zip(angles, (a, b, a, b), (alpha, beta, alpha, beta), strict=True):
        axes.append(R[:, 2].copy())
        points.append(point.copy())
        R = R @ turn(2, angle)
        point = point + length * R[:, 0]
        R = R @ turn(0, twist)
    if np.linalg.norm(point) > 1e-12 or np.linalg.norm(R - np.eye(3)) > 1e-12:
        raise AssertionError("the linkage does not close")
    mech = bc.Mechanism("bennett", gravity=(1.0, 2.0, -9.81))
    bodies = [mech.ground]
    for k in range(3):
        middle = 0.5 * (points[k] + points[(k + 1) % 4])
        bodies.append(
            mech.add_body(f"link{k}", mass=1.0 + 0.3 * k, inertia=(0.02, 0.09, 0.1), position=tuple(middle))
        )
    for k in range(4):
        axis = axes[k] / np.linalg.norm(axes[k])
        last = k == 3
        pin(
            mech, f"pin{k}", bodies[k], bodies[(k + 1) % 4], points[k], closing if last else None, tuple(axis)
        )
    return mech


def door(hinges=3):
    """A body on coaxial hinges along a slanting axis."""
    axis = np.array([0.2, 0.1, 1.0]) / np.linalg.norm([0.2, 0.1, 1.0])
    mech = bc.Mechanism("door")
    leaf = mech.add_body(
        "leaf",
        mass=20.0,
        inertia=((1.4, 0.1, 0.2), (0.1, 1.2, -0.1), (0.2, -0.1, 0.6)),
        position=(0.5, 0.0, 0.9),
    )
    for k in range(hinges):
        pin(mech, f"hinge{k}", mech.ground, leaf, 0.4 * k * axis, None, tuple(axis))
    return mech


def carriage(rails=3):
    """A platform on parallel rails, with a pendulum that shakes it."""
    mech = bc.Mechanism("carriage", gravity=(0.5, 0.0, -9.81))
    table = mech.add_body("table", mass=5.0, inertia=(0.3, 0.5, 0.7), position=(0.0, 0.0, 1.0))
    for k in range(rails):
        at, along = (0.0, 0.3 * k, 1.0), (1.0, 0.0, 0.0)
        ends = mech.ground.world_marker(at, axis=along), table.world_marker(at, axis=along)
        mech.add_joint(f"rail{k}", bc.Prismatic(), *ends)
    weight = bar(mech, "weight", (0.1, 0.1, 1.0), (0.5, 0.1, 1.0), 2.0)
    pin(mech, "pivot", table, weight, (0.1, 0.1, 1.0))
    return mech


def upright_bar(mech, name, start, end):
    """A thin bar of 1 kg/m in the xz plane, x along it, its frame in the middle; its length."""
    start, end = np.array(start, dtype=float), np.array(end, dtype=float)
    length = float(np.linalg.norm(end - start))
    half = -atan2(end[2] - start[2], end[0] - start[0]) / 2
    body = mech.add_body(
        name,
        mass=length,
        inertia=(0.001, length**3 / 12, length**3 / 12),
        position=(start + end) / 2,
        rotation=(cos(half), 0.0, sin(half), 0.0),
    )
    return body, length


def rods_that_contradict():
    """A block on a rail, held by two rods of different lengths to the same point."""
    mech = bc.Mechanism("contradiction")
    block = mech.add_body("block", 1.0, (1, 1, 1), position=(1.0, 0, 0))
    mech.add_joint("rail", bc.Prismatic(), mech.ground.marker(axis=(1, 0, 0)), block.marker(axis=(1, 0, 0)))
    mech.add_joint("short", bc.Distance(1.0), mech.ground.marker(), block.marker())
    mech.add_joint("long", bc.Distance(1.2), mech.ground.marker(), block.marker())
    return mech


def nested(depth):
    """A chain of 2 depth + 1 rods, each of the first half tied to its mirror image by a massless rod.

    All loops are nested: the outermost tie closes first and encloses all others.
    """
    mech = bc.Mechanism(f"{depth} nested loops", gravity=(0.0, -9.81, 0.0))
    count = 2 * depth + 1
    points = [np.array([np.cos(a), np.sin(a), 0.0]) for a in np.linspace(0.1, np.pi - 0.1, count + 1)]
    carrier = mech.ground
    for k in range(count):
        rod = add_rod(mech, f"rod {k}", points[k], points[k + 1], mass=1.0)
        add_pin(mech, f"pin {k}", carrier, rod, points[k], Z_AXIS)
        carrier = rod
    for k in range(depth):
        mech.add_joint(f"tie {k}", bc.Distance(), f"rod {k}", f"rod {count - 1 - k}")
    return mech
