"""The view of a scene: a parallel projection, chosen so that the motion is visible."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from bellcrank.compile.state import Floats
from bellcrank.errors import Fault, MechanismError
from bellcrank.mechanism.checking import Check, nearest
from bellcrank.mechanism.rotation_arrays import rotate
from bellcrank.scene.bodies import hinge_axis
from bellcrank.scene.mesh import hull
from bellcrank.scene.scene import Scene

NAMES: Final = ("front", "back", "left", "right", "top", "bottom", "oblique")
_OBLIQUE: Final = (32.0, 22.0)  # degrees from the front about the vertical, and above the horizon
_TURNS: Final = (32.0, -32.0, 58.0, -58.0, 122.0, -122.0, 148.0, -148.0)
_BEHIND: Final = 0.75  # factor on the area of a view from behind when views are compared
_FLAT: Final = 0.02  # points whose distance from a plane is below this part of their extent lie in it
_THIN: Final = 0.3  # a planar mechanism extends less than this part of its size out of its plane


@dataclass(frozen=True, eq=False)
class View:
    """A parallel projection. right, up, toward: unit vectors (3,) in the world; toward points at the viewer.

    plane: whether it looks perpendicularly at the plane of motion.

    >>> view = bc.scene.view_of(bc.scene.of(four_bar), "front")
    >>> print(view.right.round(6), view.up.round(6))
    [1. 0. 0.] [0.  1.  0.]
    """

    right: Floats
    up: Floats
    toward: Floats
    plane: bool = False

    def project(self, points: Any) -> Floats:
        """Points (..., 3) as lengths to the right and up, and the depth, which grows away from the eye, m.

        >>> view = bc.scene.view_of(bc.scene.of(four_bar), "top")
        >>> print(view.project((1.0, 2.0, 3.0)).round(6))    # to the right, up, and away from the eye, m
        [ 1. -3. -2.]
        """
        seen: Floats = np.asarray(points, dtype=float) @ np.column_stack([self.right, self.up, -self.toward])
        return seen


def looking(toward: Any, up: Any, plane: bool = False) -> View:
    """The view from a direction, with another direction upright in the picture as far as possible."""
    toward, up = np.asarray(toward, dtype=float), np.asarray(up, dtype=float)
    toward = toward / np.linalg.norm(toward)
    for upright in (up, np.array([0.0, 1.0, 0.0]), np.array([0.0, 0.0, 1.0])):
        rest = upright - (upright @ toward) * toward
        if (size := float(np.linalg.norm(rest))) > 1e-6:
            return View(np.cross(rest / size, toward), rest / size, toward, plane)
    raise AssertionError("two of three axes are not parallel to a direction")


def view_of(scene: Scene, given: Any = None) -> View:
    """The view of a scene.

    given: a View, one of NAMES, angles (about the vertical from the front, above the horizon) in degrees, the
        direction (3,) from which one looks, or None for the side that shows the motion.

    >>> view = bc.scene.view_of(bc.scene.of(four_bar))
    >>> view.plane, view.toward.round(6).tolist()    # a plane mechanism is seen straight on
    (True, [0.0, 0.0, 1.0])
    """
    if given is None:
        return _chosen(scene)
    if isinstance(given, View):
        return given
    right, front, up = _home(scene)
    if isinstance(given, str):
        ways = {"front": front, "back": -front, "right": right, "left": -right, "top": up, "bottom": -up,
                "oblique": _from(scene, *_OBLIQUE)}  # fmt: skip
        if given not in ways:
            raise MechanismError(Fault("view", "there is no view of this name", given, nearest(given, NAMES)))
        return looking(ways[given], front if given == "bottom" else -front if given == "top" else up)
    with Check("view") as check:
        numbers = check.array("it", given, (None,))
        if len(numbers) not in (2, 3) or (len(numbers) == 3 and not np.any(numbers)):
            advice = f"one of {', '.join(NAMES)}; two angles in degrees; or three components of a direction"
            check.fault("a view is a name, two angles or a direction", given, advice)
    return looking(_from(scene, *numbers) if len(numbers) == 2 else numbers, up)


def _home(scene: Scene) -> tuple[Floats, Floats, Floats]:
    """Right, towards the viewer, and up: x to the right as far as possible."""
    up = np.asarray(scene.up)
    right = np.eye(3)[0] - up[0] * up
    if np.linalg.norm(right) < 1e-6:
        right = np.array([0.0, 1.0, 0.0]) - up[1] * up
    right /= np.linalg.norm(right)
    return right, np.cross(right, up), up


def _from(scene: Scene, turn: float, height: float) -> Floats:
    """The direction at angles in degrees."""
    right, front, up = _home(scene)
    a, b = np.radians([turn, height])
    way: Floats = np.cos(b) * (np.cos(a) * front + np.sin(a) * right) + np.sin(b) * up
    return way


def _chosen(scene: Scene) -> View:
    """Perpendicular to the plane of a planar mechanism; else oblique, from where it spreads most."""
    points = marks(scene)
    if not scene.drawn:  # empty: as for planar mechanisms
        return looking(_home(scene)[1], scene.up, True)
    normal = _normal(scene)
    if normal is not None:
        right, _, _ = _home(scene)
        view = looking(normal, scene.up, True)
        weight = view.right @ (right if abs(normal @ right) < 0.9 else np.array([0.0, 1.0, 0.0]))
        return view if weight > -1e-9 else looking(-normal, scene.up, True)
    best = max(
        _TURNS, key=lambda turn: _spread(looking(_from(scene, turn, _OBLIQUE[1]), scene.up), points, turn)
    )
    return looking(_from(scene, best, _OBLIQUE[1]), scene.up)


def _spread(view: View, points: Floats, turn: float) -> float:
    """The area of the points in the picture; the view tried first counts slightly more."""
    flat = view.project(points)[:, :2]
    corners = hull(flat)
    x, y = corners.T
    area = 0.5 * abs(float(np.sum(x * np.roll(y, -1) - y * np.roll(x, -1))))
    return area * (_BEHIND if abs(turn) > 90.0 else 1.0) * (1.0 - 0.02 * _TURNS.index(turn))


def marks(scene: Scene) -> Floats:
    """Points of the scene at its start (n, 3): corners of the boxes about its pieces, ends of its links.

    The ground counts where there is nothing else.
    """
    placed = scene.placed()
    found = [scene.ends().reshape(-1, 3)]
    still = len(scene.carriers) - 1
    alone = all(piece.carrier == still for piece in scene.pieces)
    for number, piece in enumerate(scene.pieces):
        if piece.carrier == still and not alone:
            continue
        low, high = piece.mesh.corners
        box = np.array([[(low, high)[(k >> axis) & 1][axis] for axis in range(3)] for k in range(8)])
        found.append(rotate(placed.rotation[number][None], box) + placed.position[number])
    found += [vertices for vertices, _ in scene.bent().values()]
    points = np.concatenate(found)
    return points if len(points) else np.zeros((1, 3))


def _held(scene: Scene) -> Floats:
    """Positions of the joints, ends of the links and centres of mass at the start (n, 3)."""
    state, bodies = scene.state, list(scene.mechanism.bodies.values())
    coms = np.array([body.com for body in bodies], dtype=float).reshape(-1, 3)
    found = [scene.ends().reshape(-1, 3), state.position + rotate(state.rotation, coms)]
    for glyph in scene.joints.values():
        carrier, point = glyph.carriers[0], np.asarray(glyph.point, dtype=float)
        if carrier < len(bodies):
            point = state.position[carrier] + rotate(state.rotation[carrier], point)
        found.append(point[None])
    return np.concatenate(found)


def _normal(scene: Scene) -> Floats | None:
    """The normal of the plane in which everything moves, or None."""
    points = _held(scene)
    thin = _THIN  # if balls let bodies leave the plane, all must lie in it at the start
    hinges: list[Floats] = []
    slides: list[Floats] = []
    for name, glyph in scene.joints.items():
        if glyph.axis is None:
            thin = _FLAT if glyph.pieces else thin
            continue
        carrier = glyph.carriers[0]
        turn = scene.state.rotation[carrier] if carrier < len(scene.carriers) - 1 else np.eye(4)[0]
        axis = rotate(turn, np.asarray(glyph.axis))
        (hinges if hinge_axis(scene.mechanism.joints[name]) else slides).append(axis)
    if hinges:
        normal = hinges[0]
        parallel = all(abs(abs(axis @ normal) - 1.0) < 1e-3 for axis in hinges)
        across = all(abs(axis @ normal) < 0.05 for axis in slides)
        reach = np.ptp(points @ normal)
        return normal if parallel and across and reach < thin * scene.size else None
    if slides or len(points) < 3:
        return None
    _, sizes, ways = np.linalg.svd(points - points.mean(axis=0), full_matrices=False)
    return ways[2] if sizes[2] < _FLAT * sizes[0] and sizes[1] > 0.1 * sizes[0] else None
