"""The lock formulation's joint kinds, one line each: name, locked coordinates, free coordinates, meaning.

x, y, z is the position of marker 2 seen from marker 1; e1, e2, e3 the imaginary part of its quaternion.
Locking e1 and e2 leaves only the turn about z; locking e3 alone ("no turn about z") keeps the axis of the
relative rotation perpendicular to z, and so on. A name that ends in X says of marker axis x what the plain
name says of z.
"""

from __future__ import annotations

from typing import Final

from bellcrank.mechanism.joint import JointKind, joint_kind


def _kind(name: str, locked: str, free: str, meaning: str) -> type[JointKind]:
    return joint_kind(name, locked, free, meaning, __name__)


_ALL: Final = "rot_x rot_y rot_z"

# Position free.
Free = _kind("Free", "", f"x y z {_ALL}", "Nothing is held; the relative pose is measured.")
NoTwist = _kind("NoTwist", "e3", "x y z rot_x rot_y", "No turn about z; everything else is free.")
NoTwistX = _kind("NoTwistX", "e1", "x y z rot_y rot_z", "No turn about x; everything else is free.")
ParallelAxes = _kind("ParallelAxes", "e1 e2", "x y z theta_z", "The z axes stay parallel.")
ParallelAxesX = _kind("ParallelAxesX", "e2 e3", "x y z theta_x", "The x axes stay parallel.")
Orientation = _kind(
    "Orientation", "e1 e2 e3", "x y z", "No relative turn; translation is free in all directions."
)

# A point in a plane.
PointOnPlane = _kind("PointOnPlane", "z", f"x y {_ALL}", "Origin 2 stays in the xy plane of marker 1.")
KeyedPointOnPlane = _kind(
    "KeyedPointOnPlane", "z e3", "x y rot_x rot_y", "A point in the xy plane, no turn about z."
)
GuidedPointOnPlane = _kind(
    "GuidedPointOnPlane", "z e1", "x y rot_y rot_z", "A point in the xy plane, no turn about x."
)
Planar = _kind(
    "Planar", "z e1 e2", "x y theta_z", "The xy planes coincide: slides along x and y, turns about z."
)
PlanarHinge = _kind(
    "PlanarHinge", "z e2 e3", "x y theta_x", "Slides in the xy plane and turns about x, which lies in it."
)
Oldham = _kind(
    "Oldham", "z e1 e2 e3", "x y", "Slides in the xy plane without any turn, as in an Oldham coupling."
)
PointOnPlaneX = _kind("PointOnPlaneX", "x", f"y z {_ALL}", "Origin 2 stays in the yz plane of marker 1.")
KeyedPointOnPlaneX = _kind(
    "KeyedPointOnPlaneX", "x e1", "y z rot_y rot_z", "A point in the yz plane, no turn about x."
)
GuidedPointOnPlaneX = _kind(
    "GuidedPointOnPlaneX", "x e3", "y z rot_x rot_y", "A point in the yz plane, no turn about z."
)
PlanarX = _kind(
    "PlanarX", "x e2 e3", "y z theta_x", "The yz planes coincide: slides along y and z, turns about x."
)
PlanarHingeX = _kind(
    "PlanarHingeX", "x e1 e2", "y z theta_z", "Slides in the yz plane and turns about z, which lies in it."
)
OldhamX = _kind("OldhamX", "x e1 e2 e3", "y z", "Slides in the yz plane without any turn.")

# A point on a line.
PointOnLine = _kind(
    "PointOnLine", "x y", f"z {_ALL}", "Origin 2 stays on the z axis of marker 1: a ball in a tube."
)
PlungingConstantVelocity = _kind(
    "PlungingConstantVelocity",
    "x y e3",
    "z rot_x rot_y",
    "A constant velocity joint that slides along z (tripod).",
)
GuidedPointOnLine = _kind(
    "GuidedPointOnLine", "x y e1", "z rot_y rot_z", "A point on the z axis, no turn about x."
)
Cylindrical = _kind("Cylindrical", "x y e1 e2", "z theta_z", "Slides along z and turns about z.")
RevolutePrismatic = _kind(
    "RevolutePrismatic", "x y e2 e3", "z theta_x", "Slides along z and turns about x, across it."
)
Prismatic = _kind("Prismatic", "x y e1 e2 e3", "z", "Slides along z.")
SphericalSlot = _kind("SphericalSlot", "y z", f"x {_ALL}", "A ball in a straight slot along x.")
PlungingConstantVelocityX = _kind(
    "PlungingConstantVelocityX",
    "y z e1",
    "x rot_y rot_z",
    "A constant velocity joint about x that slides along x.",
)
GuidedPointOnLineX = _kind(
    "GuidedPointOnLineX", "y z e3", "x rot_x rot_y", "A point on the x axis, no turn about z."
)
CylindricalX = _kind("CylindricalX", "y z e2 e3", "x theta_x", "Slides along x and turns about x.")
PinInSlot = _kind("PinInSlot", "y z e1 e2", "x theta_z", "A pin along z in a slot along x of marker 1.")
PrismaticX = _kind("PrismaticX", "y z e1 e2 e3", "x", "Slides along x.")

# A point held.
Spherical = _kind("Spherical", "x y z", _ALL, "The origins coincide; turns in all directions.")
ConstantVelocity = _kind(
    "ConstantVelocity", "x y z e3", "rot_x rot_y", "Transmits the turn about z at equal speed at any bend."
)
ConstantVelocityX = _kind(
    "ConstantVelocityX", "x y z e1", "rot_y rot_z", "Transmits the turn about x at equal speed at any bend."
)
Revolute = _kind("Revolute", "x y z e1 e2", "theta_z", "Turns about z.")
RevoluteX = _kind("RevoluteX", "x y z e2 e3", "theta_x", "Turns about x.")
Fixed = _kind("Fixed", "x y z e1 e2 e3", "", "Holds the markers together: no motion.")

# In a plane mechanism: only what acts in the plane, so that plane loops close without redundant rows.
PlanarSlider = _kind(
    "PlanarSlider", "y e3", "x z rot_x rot_y", "In the xy plane: slides along x without a turn about z."
)
PlanarSlot = _kind(
    "PlanarSlot", "y", f"x z {_ALL}", "In the xy plane: origin 2 stays on the x axis of marker 1."
)
