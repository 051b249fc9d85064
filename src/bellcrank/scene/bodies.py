"""Pieces of bodies: their shapes or, if there are none, substitutes made from markers and inertia."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from bellcrank.compile.state import Floats
from bellcrank.errors import Fault, MechanismError
from bellcrank.mechanism.joint import Joint
from bellcrank.mechanism.mesh import Mesh
from bellcrank.mechanism.rotation import between, from_matrix, matrix
from bellcrank.mechanism.shape import Box, Capsule, Cone, Cylinder, Ellipsoid, Plane, Prism, Shape, Sphere
from bellcrank.mechanism.terrain import Terrain
from bellcrank.scene import mesh as solids
from bellcrank.scene.mesh import TriangleMesh
from bellcrank.scene.scene import Color, Piece
from bellcrank.scene.setting import Setting

PALETTE: Final = (
    (0.33, 0.52, 0.71),
    (0.88, 0.62, 0.32),
    (0.47, 0.66, 0.47),
    (0.73, 0.50, 0.62),
    (0.58, 0.62, 0.67),
    (0.80, 0.73, 0.42),
    (0.42, 0.66, 0.69),
)
"""Colours of bodies that have none, in turn."""
GROUND_COLOR: Final = (0.72, 0.72, 0.70)
_SLAB: Final = 0.003  # of the size of a plane or terrain: its thickness
_FLAT: Final = 0.02  # points whose distance from a plane is below this part of their extent lie in it
_BESIDE: Final = 0.3  # a centre of mass farther from a rod than this part of its length is shown
_SLENDER: Final = 0.08  # a moment of inertia below this part of the others is that of a rod


def color_of(given: Sequence[float] | None, number: int) -> Color:
    """The colour of a shape, or else that of its body."""
    r, g, b, a = (*(given or PALETTE[number % len(PALETTE)]), 1.0)[:4]
    return (float(r), float(g), float(b), float(a))


def mesh_of(shape: Shape) -> TriangleMesh:
    """The surface of a shape in its own frame. Raises MechanismError for a mesh that cannot be read."""
    if isinstance(shape, Box):
        return solids.box(_rounded(shape.size))
    if isinstance(shape, Sphere):
        return solids.ellipsoid(_rounded([shape.radius] * 3))
    if isinstance(shape, Ellipsoid):
        return solids.ellipsoid(_rounded(shape.radii))
    if isinstance(shape, Cylinder):
        radius, length = _rounded([shape.radius, shape.length])
        return solids.cylinder(radius, length)
    if isinstance(shape, Capsule):
        return solids.capsule(*_rounded([shape.radius, shape.length]))
    if isinstance(shape, Cone):
        return solids.cone(*_rounded([shape.radius, shape.height]))
    if isinstance(shape, Prism):
        return solids.extruded(tuple(map(_rounded, shape.outline)), _rounded([shape.length])[0])
    if isinstance(shape, Plane):
        thick = round(_SLAB * shape.size, 12)  # seen from its edge a plane is a line
        return solids.moved(solids.box((shape.size, shape.size, thick)), (0.0, 0.0, -0.5 * thick))
    if isinstance(shape, Terrain):
        return solids.height_field(shape.x, shape.y, shape.samples, _SLAB)
    if isinstance(shape, Mesh):
        vertices, triangles = shape.surface()
        return solids.faceted(vertices, triangles)
    raise MechanismError(Fault(f"shape {type(shape).__name__}", "there is no picture of this kind"))


def _rounded(values: Sequence[float]) -> tuple[float, ...]:
    """Lengths rounded to remove the last digits, in which lengths of equal parts often differ."""
    return tuple(float(f"{value:.12g}") for value in values)


def shape_pieces(setting: Setting, faults: list[str]) -> list[list[Piece]]:
    """The shapes of each carrier. Meshes that cannot be read are left out, and reported as faults."""
    found = []
    for number, carrier in enumerate(setting.carriers):
        pieces: list[Piece] = []
        last = number == len(setting.carriers) - 1
        for count, shape in enumerate(carrier.shapes, start=1):
            if not shape.shown:
                continue
            color = (*(shape.color or GROUND_COLOR), 1.0)[:4] if last else color_of(shape.color, number)
            try:
                mesh = mesh_of(shape)
            except MechanismError as error:
                faults.append(str(error))
                continue
            name = f"{carrier.name}/{count}" if len(carrier.shapes) > 1 else carrier.name
            pieces.append(
                Piece(name, element_of(carrier), "shape", number, mesh, color, shape.position, shape.rotation)
            )
        found.append(pieces)
    return found


def hidden_pieces(setting: Setting, number: int) -> list[Piece]:
    """The shapes of a node of a beam, which are not drawn, but there."""
    if number not in setting.nodes:
        return []
    carrier = setting.carriers[number]
    return [
        Piece(
            carrier.name, element_of(carrier), "shape", number, mesh_of(one), color_of(one.color, number),
            one.position, one.rotation,
        )
        for one in carrier.shapes
        if not one.shown
    ]  # fmt: skip


def element_of(carrier: Any) -> str:
    """The name of a body in messages."""
    return "ground" if carrier.name == "ground" else f"body {carrier.name!r}"


def made_up(setting: Setting, number: int, unit: float, layer: int, seen: bool = False) -> list[Piece]:
    """A body without shapes: a link, a plate or rods between its markers, or a solid with its inertia.

    unit: radius of pins, m. layer: which of the planes side by side a flat link lies in. seen: whether an
    element already shows the body, such as a cam: then there is no solid for its inertia.
    """
    body = setting.carriers[number]
    builder = _Builder(body, number, unit)
    points, axes = _held(setting, number)
    if len(points) < 2 and seen:
        return []
    if len(points) < 2 and not body.mass_known:
        builder.add(solids.ball(1.5 * unit), points[0] if len(points) else np.zeros(3))
    elif len(points) < 2:
        builder.inertia(points)
    elif (normal := _normal(points, axes)) is not None:
        builder.plate(points, normal, layer)
    else:
        builder.rods(points)
    return builder.pieces


def _held(setting: Setting, number: int) -> tuple[Floats, list[Floats]]:
    """Points at which joints and forces act on a body (n, 3), without duplicates, and its hinge axes."""
    points: list[Floats] = []
    axes: list[Floats] = []
    least = 1e-6
    for marker, element in setting.holds[number]:
        at = np.asarray(marker.position, dtype=float)
        if isinstance(element, Joint) and (axis := hinge_axis(element)) is not None:
            axes.append(np.asarray(getattr(marker, f"{axis}_axis"), dtype=float))
        if not any(np.linalg.norm(at - other) < least for other in points):
            points.append(at)
    return np.reshape(points, (-1, 3)), axes


def hinge_axis(joint: Joint) -> str | None:
    """The marker axis about which a joint's bodies turn, "x" or "z", if there is only one."""
    turns = [name for name in joint.kind.free if name.startswith("theta_")]
    if joint.kind.name in ("ParallelLink", "PlungingParallelLink", "RevoluteSpherical"):
        return "z"
    others = {"rot_x", "rot_y", "rot_z", "universal_1", "azimuth_axis"} & set(joint.kind.free)
    return turns[0][-1] if len(turns) == 1 and not others else None


def _normal(points: Floats, axes: list[Floats]) -> Floats | None:
    """The normal of the plane of a plate through the points, or None if they form no plate."""
    middle = points.mean(axis=0)
    _, sizes, ways = np.linalg.svd(points - middle)
    if axes and all(abs(axis @ axes[0]) > 0.999 for axis in axes):
        off = (points - middle) @ axes[0]
        if np.max(np.abs(off)) < _FLAT * sizes[0]:
            return axes[0]
    flat = (
        len(points) > 2 and sizes[1] > 0.05 * sizes[0] and (len(points) == 3 or sizes[2] < _FLAT * sizes[0])
    )
    normal: Floats = ways[2]
    return normal if flat else None


class _Builder:
    """Makes the pieces of one body."""

    def __init__(self, body: Any, number: int, unit: float) -> None:
        self.body, self.number, self.unit = body, number, unit
        self.color = color_of(None, number)
        self.pieces: list[Piece] = []

    def add(self, mesh: TriangleMesh, position: Any, turn: Floats | None = None) -> None:
        x, y, z = np.asarray(position, dtype=float).tolist()
        rotation = from_matrix(np.eye(3) if turn is None else turn)
        name = f"{self.body.name}/{len(self.pieces) + 1}"
        piece = Piece(name, element_of(self.body), "body", self.number, mesh, self.color, (x, y, z), rotation)
        self.pieces.append(piece)

    def plate(self, points: Floats, normal: Floats, layer: int) -> None:
        """A flat link with an eye at each point."""
        normal = normal if normal[int(np.argmax(np.abs(normal)))] > 0.0 else -normal  # layers count one way
        turn = _frame(normal, points)
        flat = (points - points[0]) @ turn
        thick = 1.1 * self.unit
        corners = tuple(map(tuple, np.round(flat[:, :2] - flat[:, :2].mean(axis=0), 12).tolist()))
        mesh = solids.plate(corners, 2.1 * self.unit, thick)
        middle = points[0] + turn[:, :2] @ flat[:, :2].mean(axis=0)
        self.add(mesh, middle + normal * (1.25 * thick * layer), turn)

    def rods(self, points: Floats) -> None:
        """A rod between two points, or from a knob in the middle of several."""
        com, middle = np.asarray(self.body.com, dtype=float), points.mean(axis=0)
        if len(points) == 2:
            way = points[1] - points[0]
            beside = np.linalg.norm(np.cross(com - points[0], way)) / (way @ way)
            if beside < _BESIDE:
                self.rod(points[0], points[1], 0.95 * self.unit)
                return
            middle = com
        reach = np.max(np.linalg.norm(points - middle, axis=1))
        hub = com if np.linalg.norm(com - middle) < reach else middle
        self.add(solids.ball(1.5 * self.unit), hub)
        for point in points:
            self.rod(hub, point, 0.8 * self.unit)

    def rod(self, start: Floats, end: Floats, radius: float) -> None:
        length = float(np.linalg.norm(end - start))
        if length > radius:
            mesh = solids.cylinder(round(radius, 12), round(length, 12), 20)
            self.add(mesh, 0.5 * (start + end), _frame((end - start) / length, None))

    def inertia(self, points: Floats) -> None:
        """A solid with the body's inertia: a rod, a disc, or an ellipsoid; and a rod from where it hangs."""
        com = np.asarray(self.body.com, dtype=float)
        moments, ways = np.linalg.eigh(np.asarray(self.body.inertia, dtype=float))
        if np.linalg.det(ways) < 0.0:
            ways[:, 0] *= -1.0
        squares = np.maximum(0.5 * moments.sum() - moments, 0.0) / self.body.mass  # mean x^2, y^2, z^2
        least, most = 1.6 * self.unit, 14.0 * self.unit
        hung = len(points) > 0 and float(np.linalg.norm(points[0] - com)) > least
        arm = float(np.linalg.norm(points[0] - com)) if hung else 0.0
        if moments[0] < _SLENDER * moments[1]:
            length = float(
                np.clip(np.sqrt(12.0 * squares[0]), 3.0 * least, 2.0 * arm if hung else 3.0 * most)
            )
            self.add(
                solids.cylinder(round(self.unit, 12), round(length, 12), 20), com, _frame(ways[:, 0], None)
            )
            if hung and length > 1.5 * arm:
                return
        elif moments[2] > 1.5 * moments[1] and moments[1] < 1.25 * moments[0]:
            radius = float(np.clip(np.sqrt(2.0 * (squares[0] + squares[1])), least, most))
            thick = float(np.clip(np.sqrt(12.0 * squares[2]), self.unit, radius))
            self.add(solids.cylinder(round(radius, 12), round(thick, 12)), com, _frame(ways[:, 2], None))
        else:
            limit = min(most, 0.45 * arm) if hung else most
            radii = np.clip(np.sqrt(5.0 * squares), min(least, limit), limit).round(12)
            self.add(solids.ellipsoid(tuple(radii.tolist())), com, ways)
        if hung:
            self.rod(points[0], com, 0.6 * self.unit)


def _frame(axis: Floats, points: Floats | None) -> Floats:
    """A rotation matrix with z along the axis, and x towards the second point if there are points."""
    if points is None:
        x, y, z = axis.tolist()
        turned: Floats = matrix(between((0.0, 0.0, 1.0), (x, y, z)))
        return turned
    way = points[1] - points[0]
    way = way - (way @ axis) * axis
    way /= np.linalg.norm(way)
    return np.column_stack([way, np.cross(axis, way), axis])
