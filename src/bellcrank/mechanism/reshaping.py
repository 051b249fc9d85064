"""Bodies of another size: their points, shapes and inertia move, and joints go with them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bellcrank.errors import MechanismError
from bellcrank.mechanism.body import Body
from bellcrank.mechanism.checking import Check, nearest
from bellcrank.mechanism.contents import ELEMENTS
from bellcrank.mechanism.marker import Marker
from bellcrank.mechanism.parameters import holds_expressions
from bellcrank.mechanism.references import markers_of, remapped
from bellcrank.mechanism.rotation import between, from_matrix, matrix, multiply
from bellcrank.mechanism.shape import Box, Capsule, Cylinder, Ellipsoid, Shape

if TYPE_CHECKING:
    from bellcrank.mechanism.mechanism import Mechanism

_SAME: Final = 1e-9  # m: points that are nearer to each other are one
_ALONG: Final = 1e-6  # of a right angle: axes are parallel
_LINE: Final = 1e-6  # of the length: points lie on a line
_ROUNDING: Final = 1e-9  # relative: numbers are the same


@dataclass(frozen=True)
class _Map:
    """Points r of a body go to  about + turn stretch (r - about),  where stretch acts along one direction."""

    about: np.ndarray
    along: np.ndarray
    factor: float
    turn: np.ndarray

    def linear(self) -> np.ndarray:
        """The matrix (3, 3)."""
        stretch = np.eye(3) + (self.factor - 1.0) * np.outer(self.along, self.along)
        return np.asarray(self.turn @ stretch)

    def point(self, given: Sequence[float]) -> tuple[float, float, float]:
        """Where a point goes."""
        x, y, z = (self.about + self.linear() @ (np.asarray(given, dtype=float) - self.about)).tolist()
        return (x, y, z)


def set_length(mechanism: Mechanism, body: str, first: Any, second: Any, length: Any) -> None:
    """Give two points of a body another distance: everything on it is stretched along their line.

    first, second: (3,), m, in its frame; the first stays. The inertia follows; the mass is kept, unless it is
    that of its shapes. Raises MechanismError for points that coincide, and for bodies that are given by
    parameters.
    """
    element = f"body {body!r}"
    with Check(element) as check:
        one, two = check.array("first", first, (3,), "m"), check.array("second", second, (3,), "m")
        length = check.positive("length", length, "m")
    apart = float(np.linalg.norm(two - one))
    if apart < _SAME:
        raise MechanismError.of(element, "the two points are one", one.tolist(), "give different ones")
    _mapped(mechanism, body, _Map(one, (two - one) / apart, length / apart, np.eye(3)))


def move_point(mechanism: Mechanism, body: str, point: Any, to: Any) -> None:
    """Move a point of a body, with the markers and ends of joints that are there, to another place on it.

    point, to: (3,), m, in its frame. Where all its points lie on a line, as those of a rod do, the whole body
    is turned and stretched about the point that is farthest; otherwise the rest of it stays.
    """
    element = f"body {body!r}"
    with Check(element) as check:
        old, new = check.array("point", point, (3,), "m"), check.array("to", to, (3,), "m")
    points = _points(mechanism, body)
    away = np.linalg.norm(points - old, axis=1)
    if not len(points) or away.min() > _SAME:
        raise MechanismError.of(
            element, "it has no marker and no joint there", old.tolist(), "take one of its points"
        )
    far = points[int(np.argmax(away))]
    reach, wanted = float(away.max()), float(np.linalg.norm(new - far))
    if reach > _SAME and _on_a_line(points, far, old, reach):
        if wanted < _SAME:
            raise MechanismError.of(element, "its length would be zero", None, "leave it some length")
        along, way = (old - far) / reach, (new - far) / wanted
        turn = matrix(between(tuple(along.tolist()), tuple(way.tolist())))
        _mapped(mechanism, body, _Map(far, along, wanted / reach, turn))
        return

    def moved(marker: Marker) -> Marker:
        here = marker.body == body and np.linalg.norm(np.asarray(marker.position) - old) <= _SAME
        return replace(marker, position=tuple(new.tolist())) if here else marker

    _markers_replaced(mechanism, body, moved)


def _on_a_line(points: np.ndarray, far: np.ndarray, old: np.ndarray, reach: float) -> bool:
    along = (old - far) / reach
    aside = points - far - np.outer((points - far) @ along, along)
    return bool(np.linalg.norm(aside, axis=1).max() < _LINE * reach)


def _points(mechanism: Mechanism, body: str) -> np.ndarray:
    """Points of a body at which there are markers, (n, 3), m."""
    _plain(mechanism, body)
    return np.array([m.position for m in _markers(mechanism, body)], dtype=float).reshape(-1, 3)


def _markers(mechanism: Mechanism, body: str) -> list[Marker]:
    known = list(mechanism.markers.values())
    for table in ELEMENTS:
        if table != "bodies":
            known += [marker for one in getattr(mechanism, table).values() for marker in markers_of(one)]
    return [marker for marker in known if marker.body == body]


def _plain(mechanism: Mechanism, body: str) -> Body:
    """The body. Raises MechanismError if there is none of this name, or if parameters say how large it is."""
    if body not in mechanism.bodies:
        advice = nearest(body, mechanism.bodies)
        raise MechanismError.of(f"body {body!r}", "there is no body of this name", None, advice)
    found = mechanism.bodies[body]
    if holds_expressions(found) or any(map(holds_expressions, _markers(mechanism, body))):
        advice = "change the parameters on which it depends"
        raise MechanismError.of(f"body {body!r}", "expressions say how large it is", None, advice)
    return found


def _mapped(mechanism: Mechanism, name: str, given: _Map) -> None:
    """Apply a map to everything on a body."""
    body = _plain(mechanism, name)
    turn = from_matrix(given.turn)

    def moved(marker: Marker) -> Marker:
        if marker.body != name:
            return marker
        return replace(
            marker, position=given.point(marker.position), rotation=multiply(turn, marker.rotation)
        )

    _markers_replaced(mechanism, name, moved)
    mechanism.replace(body, **_matter(body, given))


def _matter(body: Body, given: _Map) -> dict[str, Any]:
    """Shapes, mass, centre of mass and inertia of a body after a map."""
    changes: dict[str, Any] = {"shapes": tuple(_shape(shape, given) for shape in body.shapes)}
    if not body.mass_known:
        return changes
    source = mass_source(body)
    if source:
        mass = None if source == "shapes" else body.mass
        made = Body.described(body.name, mass, shapes=changes["shapes"])
        return {**changes, "mass": made.mass, "inertia": made.inertia, "com": made.com}
    inertia, linear = np.asarray(body.inertia, dtype=float), given.linear()
    spread = linear @ (0.5 * np.trace(inertia) * np.eye(3) - inertia) @ linear.T  # second moments of the mass
    spread = 0.5 * (spread + spread.T)
    changes["inertia"] = (np.trace(spread) * np.eye(3) - spread).tolist()
    return {**changes, "com": given.point(body.com)}


def mass_source(body: Body) -> str:
    """Where the mass properties of a body come from, as far as numbers show.

    "shapes": all of them are those of its shapes. "scaled": centre and inertia are, scaled to its mass.
    "": neither.
    """
    solids = [shape for shape in body.shapes if shape.density is not None]
    if not solids or not body.mass_known or holds_expressions(body):
        return ""
    own = Body.described(body.name, body.mass, shapes=solids)
    size = float(np.abs(own.inertia).max())
    same = np.allclose(own.inertia, body.inertia, rtol=0.0, atol=_ROUNDING * size)
    if not same or not np.allclose(own.com, body.com, rtol=0.0, atol=_SAME):
        return ""
    whole = Body.described(body.name, shapes=solids)
    return "shapes" if abs(whole.mass - body.mass) <= _ROUNDING * body.mass else "scaled"


def _shape(shape: Shape, given: _Map) -> Shape:
    """A shape after a map: longer if it lies along the direction, else as large as it was."""
    axes = matrix(shape.rotation)
    beside = np.abs(axes.T @ given.along)
    axis = int(np.argmax(beside))
    changes: dict[str, Any] = {}
    if beside[axis] > 1.0 - _ALONG:
        if isinstance(shape, (Capsule, Cylinder)) and axis == 2:
            changes["length"] = shape.length * given.factor
        elif isinstance(shape, (Box, Ellipsoid)):
            field = "size" if isinstance(shape, Box) else "radii"
            sizes = list(getattr(shape, field))
            sizes[axis] *= given.factor
            changes[field] = tuple(sizes)
    rotation = multiply(from_matrix(given.turn), shape.rotation)
    return replace(shape, position=given.point(shape.position), rotation=rotation, **changes)


def _markers_replaced(mechanism: Mechanism, body: str, marker: Callable[[Marker], Marker]) -> None:
    """Replace the markers of a body everywhere."""
    for key, known in mechanism.markers.items():
        if known.body == body:
            mechanism._markers[key] = marker(known)  # noqa: SLF001
    for table in ELEMENTS:
        stored = getattr(mechanism, f"_{table}")
        for name, element in list(stored.items()) if table != "bodies" else ():
            if any(one.body == body for one in markers_of(element)):
                stored[name] = remapped(element, name, marker, lambda _noun, inner: inner)
