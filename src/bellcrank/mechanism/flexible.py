"""Flexible solids in mechanisms: the frames of interfaces, which move with the amplitudes of modes."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any, ClassVar, Final, NamedTuple

from bellcrank.mechanism.attachment import Attachment, Constraint, ConstraintKind, End, coordinates, markers
from bellcrank.mechanism.checking import Check
from bellcrank.mechanism.coordinate import Coordinate
from bellcrank.mechanism.fields import array, described
from bellcrank.mechanism.given import TableField
from bellcrank.mechanism.rows import Row, Term

if TYPE_CHECKING:
    from bellcrank.mechanism.body import Body
    from bellcrank.mechanism.joint import Joint
    from bellcrank.mechanism.mechanism import Mechanism

POSE: Final = ("log_x", "log_y", "log_z", "rot_x", "rot_y", "rot_z")
"""The coordinates of an interface against the solid: the twist that leads there in one unit of time."""


class Flexible(NamedTuple):
    """A flexible solid in a mechanism.

    body: its mean motion, with the frame of the solid. interfaces: the bodies on which joints, markers and
    forces stand, by name. modes: joints whose angles are the amplitudes: at 1 rad the root mean square of the
    displacement would be the radius of gyration of the solid, or an interface move as far, or turn by 1 rad.

    >>> bar = bc.reduce(*bar_matrices, {"left": [0], "right": [10]}, modes=2)
    >>> solid = bc.Mechanism("bar").add_flexible("bar", bar)
    >>> solid.body.name, [body.name for body in solid.interfaces.values()], len(solid.modes)
    ('bar', ['bar/left', 'bar/right'], 8)
    """

    body: Body
    interfaces: dict[str, Body]
    modes: tuple[Joint, ...]


@described
class FlexibleInterface(ConstraintKind):
    """The frame of an interface of a flexible solid:  pose - sum of shape_j q_j = 0,  in six rows.

    Marker 1 is on the body of the solid's mean motion, where the interface is while the solid is unstrained;
    marker 2 is the interface. The pose is the logarithm of that of marker 2 seen from marker 1: translation,
    m, and turn, rad, axes of marker 1. Joints are those whose positions are amplitudes of modes.

    shapes: what the interface does in each mode, (6, modes). `Mechanism.add_flexible` computes them.

    >>> plate = cube.add_body("plate", 0.1, (1e-3, 1e-3, 1e-3), position=(1, 0, 0))
    >>> wheel = cube.add_body("mode", 0.1, (1, 1, 1))
    >>> mode = cube.add_joint("mode", bc.Revolute(), "ground", wheel, velocity=0.2)
    >>> shapes = [[0], [0.5], [0], [0], [0], [0]]
    >>> face = cube.bodies["cube"].marker((1, 0, 0))
    >>> held = cube.add_constraint("face", bc.FlexibleInterface(shapes), face, plate, mode)
    >>> fixed = cube.add_joint("stand", bc.Fixed(), "ground", "cube")
    >>> print(bc.simulate(cube, 1.0).body("plate").position[-1].round(6))    # m: 0.5 times 0.2 to the side
    [1.  0.1 0. ]
    """

    shapes: TableField = array("", 6, None)
    pattern: ClassVar[str] = "MMJ+"
    ends_text: ClassVar[str] = "two markers (solid, interface), then the joint of each mode"
    meaning: ClassVar[str] = "The frame of an interface moves with the modes of its flexible solid."

    def check_ends(self, check: Check, ends: tuple[Attachment, ...]) -> None:
        """Check that there is a column for each mode."""
        if len(ends) - 2 != len(self.shapes[0]):
            modes = len(self.shapes[0])
            check.fault(
                f"its shapes have {modes} columns for {len(ends) - 2} joints", None, "one for each mode"
            )

    def effort_name(self, number: int) -> str:
        """The force or moment by which it holds the interface, axes of marker 1."""
        return ("force_x", "force_y", "force_z", "moment_x", "moment_y", "moment_z")[number]

    def effort_unit(self, units: Collection[str]) -> str:
        """Of forces N, of moments N m."""
        return "N" if "m" in units else "N m"

    def rows(self, ends: tuple[End, ...]) -> tuple[Row, ...]:
        """The six rows."""
        solid, interface = markers(ends[:2])
        modes = tuple(map(_within_a_turn, coordinates(ends[2:])))
        return tuple(
            Row((Term(1.0, Coordinate(kind, solid, interface)), *_moved(shape, modes)))
            for kind, shape in zip(POSE, self.shapes, strict=True)
        )


def amplitudes(mechanism: Mechanism) -> set[str]:
    """Names of bodies whose turns are amplitudes of modes: they have the inertia of a mode, and no weight."""
    joints = {end.joint for one in _interfaces(mechanism) for end in one.joint_coordinates}
    return {mechanism.joints[name].marker_2.body for name in joints if name in mechanism.joints}


def frames(mechanism: Mechanism) -> set[str]:
    """Names of bodies that are frames of interfaces."""
    return {one.markers[1].body for one in _interfaces(mechanism)}


def _interfaces(mechanism: Mechanism) -> list[Constraint]:
    return [one for one in mechanism.constraints.values() if isinstance(one.kind, FlexibleInterface)]


def _within_a_turn(amplitude: Coordinate) -> Coordinate:
    """An angle without whole turns, which poses do not tell: an amplitude has none."""
    if not amplitude.kind.startswith("theta_"):
        return amplitude
    return Coordinate(amplitude.kind.replace("theta", "rot"), amplitude.marker_1, amplitude.marker_2)


def _moved(shape: Any, modes: tuple[Coordinate, ...]) -> tuple[Term, ...]:
    return tuple(Term(-part, q) for part, q in zip(shape, modes, strict=True) if part != 0.0)
