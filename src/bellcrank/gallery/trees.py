"""Trees of bodies from joint coordinates: nine joint types, any topology.

The conventions are those of the usual textbooks of recursive dynamics (R. Featherstone, Rigid Body Dynamics
Algorithms, 2008): a body's frame is the child frame of the joint that carries it, and that joint's frame has
a fixed pose in the parent's frame.

==============  =====================================  ==============================================
joint type      position q                             rate v; effort tau is dual to it
==============  =====================================  ==============================================
revolute        angle                                  rate
prismatic       travel                                 rate
helical         angle (travel = pitch * angle)         rate
cylindrical     travel, angle                          rates
universal       angles about axis, then second_axis    rates
spherical       quaternion w, x, y, z                  relative angular velocity, child axes
planar          x, y, angle about z of the joint       velocity x, y in child axes; rate of the angle
free            x, y, z, quaternion                    velocity and angular velocity, child axes
fixed           nothing                                nothing
==============  =====================================  ==============================================
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import pi
from typing import Final

import numpy as np
from numpy.typing import NDArray

import bellcrank as bc
from bellcrank.gallery.rods import Z_AXIS, Vector, bars, vec
from bellcrank.mechanism.body import Ground
from bellcrank.mechanism.checking import Quat, Vec3
from bellcrank.mechanism.joint import JointKind
from bellcrank.mechanism.rotation import from_matrix, from_rotation_vector, matrix, multiply

Array = NDArray[np.float64]
Numbers = Sequence[float]

POSITIONS: Final = {
    "revolute": 1, "prismatic": 1, "helical": 1, "cylindrical": 2, "universal": 2, "spherical": 4,
    "planar": 3, "free": 7, "fixed": 0,
}  # fmt: skip
"""Numbers in q, by joint type."""
FREEDOMS: Final = {**POSITIONS, "spherical": 3, "free": 6}
"""Numbers in v, by joint type."""
_MOTORS: Final = {
    "revolute": ("theta_z",),
    "prismatic": ("z",),
    "helical": ("theta_z",),
    "cylindrical": ("z", "theta_z"),
    "universal": ("universal_1", "universal_2"),
    "planar": ("x", "y", "theta_z"),
}


@dataclass(frozen=True)
class TreeJoint:
    """The joint that carries one body of a tree.

    type: one of POSITIONS. parent: number of the body before it, -1 for the ground.
    position, rotation: pose of the joint's frame in the parent's frame, m and quaternion (w, x, y, z).
    axis, second_axis: unit vectors in the joint's frame, where the type needs them. pitch: m/rad.
    """

    type: str
    parent: int
    position: Vector = (0.0, 0.0, 0.0)
    rotation: Quat = (1.0, 0.0, 0.0, 0.0)
    axis: Vector = Z_AXIS
    second_axis: Vector = (1.0, 0.0, 0.0)
    pitch: float = 0.0

    def relative(self, q: Numbers, v: Numbers) -> tuple[Quat, Array, Array, Array]:
        """Rotation, position of the child in the joint's frame; angular, linear velocity in child axes."""
        turn, place = (1.0, 0.0, 0.0, 0.0), np.zeros(3)
        spin, moving = np.zeros(3), np.zeros(3)
        axis = np.asarray(self.axis, dtype=float)
        if self.type in ("revolute", "helical"):
            turn, spin = _about(axis, q[0]), axis * v[0]
            place, moving = self.pitch * q[0] * axis, self.pitch * v[0] * axis
        elif self.type == "prismatic":
            place, moving = axis * q[0], axis * v[0]
        elif self.type == "cylindrical":
            turn, place, moving, spin = _about(axis, q[1]), axis * q[0], axis * v[0], axis * v[1]
        elif self.type == "universal":
            second = np.asarray(self.second_axis, dtype=float)
            inner = _about(second, q[1])
            turn = multiply(_about(axis, q[0]), inner)
            spin = matrix(inner).T @ axis * v[0] + second * v[1]
        elif self.type == "spherical":
            turn, spin = _quaternion(q), np.array(v)
        elif self.type == "planar":
            turn, place = _about(np.array(Z_AXIS), q[2]), np.array([q[0], q[1], 0.0])
            moving, spin = np.array([v[0], v[1], 0.0]), np.array([0.0, 0.0, v[2]])
        elif self.type == "free":
            turn, place = _quaternion(q[3:]), np.array(q[:3])
            moving, spin = np.array(v[:3]), np.array(v[3:])
        return turn, place, spin, moving

    def of_coordinates(self, q: Numbers, effort: Numbers) -> Numbers:
        """An effort, dual to v, as one on the joint's coordinates: differs for planar joints only."""
        if self.type != "planar":
            return effort
        c, s = np.cos(q[2]), np.sin(q[2])
        return (c * effort[0] - s * effort[1], s * effort[0] + c * effort[1], effort[2])

    def kind(self) -> JointKind:
        """The joint as bellcrank describes it."""
        if self.type == "helical":
            return bc.Screw(2 * pi * self.pitch)
        return _KINDS[self.type]()

    def marker_rotation(self) -> Quat:
        """The markers in both of the joint's frames: z on the axis; x and y on a universal joint's axes."""
        if self.type == "universal":
            axis, second = np.asarray(self.axis, dtype=float), np.asarray(self.second_axis, dtype=float)
            return from_matrix(np.column_stack((axis, second, np.cross(axis, second))))
        if self.type in _MOTORS and self.type != "planar":
            return _z_onto(vec(self.axis))
        return (1.0, 0.0, 0.0, 0.0)


_KINDS: Final[dict[str, type[JointKind]]] = {
    "revolute": bc.Revolute,
    "prismatic": bc.Prismatic,
    "cylindrical": bc.Cylindrical,
    "universal": bc.Universal,
    "spherical": bc.Spherical,
    "planar": bc.Planar,
    "free": bc.Free,
    "fixed": bc.Fixed,
}


def _cross(a: Array, b: Array) -> Array:
    """Of two vectors alone, many times as fast as numpy's."""
    (ax, ay, az), (bx, by, bz) = a.tolist(), b.tolist()
    return np.array([ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx])


def _about(axis: Array, angle: float) -> Quat:
    return from_rotation_vector(vec(axis * angle))


def _quaternion(values: Numbers) -> Quat:
    w, x, y, z = values
    return (w, x, y, z)


@lru_cache
def _z_onto(direction: Vec3) -> Quat:
    axis = np.array(direction)
    helper = np.eye(3)[int(np.argmin(np.abs(axis)))]
    x = np.cross(helper, axis)
    x /= np.linalg.norm(x)
    return from_matrix(np.column_stack((x, np.cross(axis, x), axis)))


@dataclass(frozen=True)
class TreeBody:
    """A body: mass in kg, com in m, inertia (3 x 3, about the com) in kg m^2, in its frame."""

    mass: float
    com: Vector
    inertia: Sequence[Vector]


def tree(
    bodies: Sequence[TreeBody],
    joints: Sequence[TreeJoint],
    q: Sequence[Numbers],
    v: Sequence[Numbers],
    efforts: Sequence[Numbers] | None = None,
    *,
    gravity: Vector = (0.0, 0.0, -9.81),
    name: str = "tree",
) -> bc.Mechanism:
    """A tree in the configuration q, moving with the rates v; joint k carries body k, parents come first.

    Bodies "body 0", ...; joints "joint 0", ... with the joint types' numbers as in the table above.
    efforts: dual to v at the start. They are joint motors on the coordinates; for spherical and free joints
    wrenches on both bodies in the axes that the child has at the start. They stay constant.
    """
    mech = bc.Mechanism(name, gravity=vec(gravity))
    added: list[bc.Body] = []
    places: dict[int, list[Vector]] = {number: [] for number in range(-1, len(joints))}
    for joint in joints:
        places[joint.parent].append(joint.position)
    for number, (body, joint) in enumerate(zip(bodies, joints, strict=True)):
        carrier: bc.Body | Ground = mech.ground if joint.parent < 0 else added[joint.parent]
        added.append(_add_body(mech, number, body, joint, carrier, q[number], v[number], places[number]))
        turn = joint.marker_rotation()
        mech.add_joint(
            f"joint {number}",
            joint.kind(),
            carrier.marker(vec(joint.position), rotation=multiply(joint.rotation, turn)),
            added[-1].marker(rotation=turn),
        )
        if efforts is not None and len(efforts[number]) > 0:
            _add_effort(
                mech, number, joint, carrier, added[-1], joint.of_coordinates(q[number], efforts[number])
            )
    return mech


def _add_body(
    mech: bc.Mechanism,
    number: int,
    body: TreeBody,
    joint: TreeJoint,
    carrier: bc.Body | Ground,
    q: Numbers,
    v: Numbers,
    carried_joints: Sequence[Vector],
) -> bc.Body:
    """Place a body by the kinematics of its joint; `carried_joints` are the places of joints on it."""
    turn, place, spin, moving = joint.relative(q, v)
    frame = multiply(carrier.rotation, joint.rotation)
    rotation = multiply(frame, turn)
    axes = matrix(rotation)
    shift = matrix(carrier.rotation) @ np.asarray(joint.position) + matrix(frame) @ place
    carried, turning = np.zeros(3), np.zeros(3)
    if isinstance(carrier, bc.Body):
        carried, turning = np.array(carrier.velocity), np.array(carrier.angular_velocity)
    return mech.add_body(
        f"body {number}",
        mass=body.mass,
        inertia=body.inertia,
        com=vec(body.com),
        position=vec(np.asarray(carrier.position) + shift),
        rotation=rotation,
        velocity=vec(carried + _cross(turning, shift) + axes @ moving),
        angular_velocity=vec(turning + axes @ spin),
        shapes=[
            bc.Sphere(radius=0.06, position=vec(body.com)),
            *(bar for place in (body.com, *carried_joints) for bar in bars([(0.0, 0.0, 0.0), place], 0.02)),
        ],
    )


def _add_effort(
    mech: bc.Mechanism,
    number: int,
    joint: TreeJoint,
    carrier: bc.Body | Ground,
    child: bc.Body,
    effort: Numbers,
) -> None:
    """Joint motors, or opposite wrenches at the child's origin; effort by the joint's coordinates."""
    if joint.type in _MOTORS:
        for coordinate, value in zip(_MOTORS[joint.type], effort, strict=True):
            mech.add_force(
                f"motor {number} {coordinate}",
                bc.JointMotor(value),
                joint=f"joint {number}",
                coordinate=coordinate,
            )
        return
    force, moment = np.zeros(3), np.zeros(3)
    if joint.type == "spherical":
        moment[:] = effort
    else:
        force[:], moment[:] = effort[:3], effort[3:]
    axes = matrix(child.rotation)
    force, moment = axes @ force, axes @ moment
    mech.add_force(f"effort {number}", bc.Wrench(vec(force), vec(moment)), child.marker())
    if isinstance(carrier, bc.Body):
        opposite = bc.Wrench(vec(-force), vec(-moment))
        mech.add_force(f"counter-effort {number}", opposite, carrier.world_marker(child.position))
