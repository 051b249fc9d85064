"""Scenes of one time step of contact, for benchmarks and tests: rigid bodies, contacts, joints.

Rows are velocities of the first body relative to the second along axes in the world; body -1 is the ground.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from bellcrank import _core

Floats = npt.NDArray[np.float64]
GRAVITY: Final = np.array([0.0, 0.0, -9.81])
_X, _Y, _Z = np.eye(3)


@dataclass
class Block:
    """Rows solved together: discs of a contact, None for an equality; (body, rows (k, 6)) it acts on.

    bounds: of the impulse of a row that is neither, N s.
    """

    discs: list[tuple[int, float]] | None
    sides: list[tuple[int, Floats]]
    bounds: tuple[float, float] | None = None

    @property
    def size(self) -> int:
        """The number of rows."""
        return len(self.sides[0][1])


@dataclass
class Scene:
    """Bodies with centres, roots of their mass matrices and velocities; blocks of rows."""

    step: float = 0.005
    centres: list[Floats] = field(default_factory=list)
    roots: list[Floats] = field(default_factory=list)
    velocities: list[Floats] = field(default_factory=list)
    forces: list[Floats] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)

    def add_body(self, mass: float, inertia: Sequence[float], centre: Any, turn: Floats | None = None) -> int:
        """A body at rest under its weight. inertia: (3,), principal; turn: (3, 3), its axes in the world."""
        axes = np.eye(3) if turn is None else turn
        root = np.zeros((6, 6))  # M^(-1/2), of velocity and angular velocity in the world
        root[:3, :3] = np.eye(3) / np.sqrt(mass)
        root[3:, 3:] = axes @ np.diag(1.0 / np.sqrt(inertia)) @ axes.T
        self.centres.append(np.asarray(centre, dtype=float))
        self.roots.append(root)
        self.velocities.append(np.zeros(6))
        self.forces.append(np.concatenate([mass * GRAVITY, np.zeros(3)]))
        return len(self.centres) - 1

    def add_box(self, mass: float, size: Sequence[float], centre: Any, turn: Floats | None = None) -> int:
        """A box of the edge lengths `size`."""
        square = np.square(size)
        return self.add_body(mass, mass / 12.0 * (square.sum() - square), centre, turn)

    def rows(self, a: int, b: int, point: Any, linear: Any, angular: Any) -> list[tuple[int, Floats]]:
        """Rows (k, 6) per body of axes for velocities at a point, then for angular velocities."""
        sides = []
        for body, sign in ((a, 1.0), (b, -1.0)):
            if body < 0:
                continue
            arm = np.asarray(point) - self.centres[body]
            top = [np.concatenate([axis, np.cross(arm, axis)]) for axis in linear]
            low = [np.concatenate([np.zeros(3), axis]) for axis in angular]
            sides.append((body, sign * np.array(top + low)))
        return sides

    def touch(
        self,
        a: int,
        b: int,
        point: Any,
        normal: Any,
        friction: float,
        rolling: float = 0.0,
        spinning: float = 0.0,
        plane: bool = False,
    ) -> None:
        """Add a contact whose normal points from b to a. plane: one tangent, in the plane x, z."""
        n = np.asarray(normal, dtype=float)
        n = n / np.linalg.norm(n)
        first = np.cross(_Y, n) if abs(n[1]) < 0.9 else np.cross(n, _X)
        first /= np.linalg.norm(first)
        tangents = [first] if plane else [first, np.cross(n, first)]
        discs, angular = [(len(tangents), friction)], []
        if rolling > 0.0:
            discs.append((2, rolling))
            angular += [first, np.cross(n, first)]
        if spinning > 0.0:
            discs.append((1, spinning))
            angular.append(n)
        self.blocks.append(Block(discs, self.rows(a, b, point, [n, *tangents], angular)))

    def join(self, a: int, b: int, point: Any, linear: Any = (_X, _Y, _Z), angular: Any = ()) -> None:
        """Add equality rows: no relative velocity at a point along `linear`, nor about `angular`."""
        self.blocks.append(Block(None, self.rows(a, b, point, linear, angular)))

    def limit(self, a: int, b: int, axis: Any) -> None:
        """Add a limit on the relative rotation about an axis, which must not decrease."""
        self.blocks.append(Block([], self.rows(a, b, np.zeros(3), (), [np.asarray(axis, dtype=float)])))

    def rub(self, a: int, b: int, axis: Any, lower: float, upper: float) -> None:
        """Add dry friction about an axis: a moment within bounds, against the relative rotation, N m."""
        rows = self.rows(a, b, np.zeros(3), (), [np.asarray(axis, dtype=float)])
        self.blocks.append(Block(None, rows, (self.step * lower, self.step * upper)))

    @property
    def count(self) -> int:
        """The number of rows."""
        return sum(block.size for block in self.blocks)

    def jacobian(self) -> Floats:
        """J M^(-1/2), (rows, 6 bodies)."""
        J = np.zeros((self.count, 6 * len(self.centres)))
        row = 0
        for block in self.blocks:
            for body, rows in block.sides:
                J[row : row + block.size, 6 * body : 6 * body + 6] = rows @ self.roots[body]
            row += block.size
        return J

    def free_velocity(self) -> Floats:
        """The velocities of the rows without impulses: q."""
        root = self.roots
        scaled = [
            np.linalg.solve(r, v) + self.step * (r @ f)
            for r, v, f in zip(root, self.velocities, self.forces, strict=True)
        ]
        return self.jacobian() @ np.concatenate(scaled)

    def advance(self, impulses: Floats) -> None:
        """Set the velocities at the end of the step; the geometry does not change."""
        change = (self.jacobian().T @ impulses).reshape(-1, 6)
        for i, root in enumerate(self.roots):
            free = self.velocities[i] + self.step * (root @ root @ self.forces[i])
            self.velocities[i] = free + root @ change[i]

    def problem(self, dense: bool = False) -> _core.ConeProblem:
        """The problem for the core, by bodies or with a dense S."""
        made = _core.ConeProblem()
        sides: list[tuple[int, int]] = []
        stacked: list[Floats] = []
        for number, block in enumerate(self.blocks):
            if block.bounds is not None:
                made.add_interval(*block.bounds)
            elif block.discs is None:
                made.add_equality(block.size)
            else:
                made.add_contact(block.discs)
            for body, rows in block.sides:
                sides.append((number, body))
                stacked.append(rows @ self.roots[body])
        if dense:
            J = self.jacobian()
            made.use_dense(J @ J.T)
        else:
            made.use_bodies(len(self.centres), sides, np.vstack(stacked), np.zeros(self.count))
        return made


def _face(scene: Scene, a: int, b: int, z: float, half: float, friction: float) -> None:
    for x in (-half, half):
        for y in (-half, half):
            scene.touch(a, b, (x, y, z), _Z, friction)


def tower(boxes: int, top: float = 1.0, push: float = 0.4, friction: float = 0.6) -> Scene:
    """Cubes of 1 kg and 0.5 m one on another, four points a face; the top one has mass `top`, kg.

    push: force on the middle box along x and a little y, as a part of the weight above its lower face, N/N.
    """
    scene = Scene()
    size = (0.5, 0.5, 0.5)
    for i in range(boxes):
        scene.add_box(top if i == boxes - 1 else 1.0, size, (0.0, 0.0, 0.25 + 0.5 * i))
        _face(scene, i, i - 1, 0.5 * i, 0.25, friction)
    middle = boxes // 2
    above = sum(-f[2] for f in scene.forces[middle:])
    scene.forces[middle][:2] += push * above * np.array([1.0, 0.3])
    return scene


def arch(voussoirs: int = 15, thickness: float = 0.15, friction: float = 0.6, push: float = 0.0) -> Scene:
    """A semicircle of mean radius 1 m of blocks with radial joints, 0.3 m deep, on fixed abutments."""
    scene = Scene()
    opening = np.pi / voussoirs
    outer, inner = 1.0 + 0.5 * thickness, 1.0 - 0.5 * thickness
    area = 0.5 * opening * (outer**2 - inner**2)
    centroid = (
        2.0 / 3.0 * np.sin(0.5 * opening) / (0.5 * opening) * (outer**3 - inner**3) / (outer**2 - inner**2)
    )
    for i in range(voussoirs):
        angle = np.pi - (i + 0.5) * opening
        radial = np.array([np.cos(angle), 0.0, np.sin(angle)])
        turn = np.column_stack([radial, _Y, np.cross(radial, _Y)])
        scene.add_box(1000.0 * area * 0.3, (thickness, 0.3, opening), centroid * radial, turn)
    for i in range(voussoirs + 1):
        angle = np.pi - i * opening
        radial = np.array([np.cos(angle), 0.0, np.sin(angle)])
        onward = np.array([np.sin(angle), 0.0, -np.cos(angle)])
        a, b = (i, i - 1) if i < voussoirs else (-1, i - 1)
        for r in (inner, outer):
            for y in (-0.15, 0.15):
                scene.touch(a, b, r * radial + y * _Y, onward, friction)
    if push:
        for f in scene.forces:
            f[0] += push * -f[2]
    return scene


def biped(friction: float = 0.8) -> Scene:
    """Twelve bodies of a walker, eleven hinges, two feet with four points each, knees at their limits."""
    scene = Scene()
    trunk = scene.add_box(35.0, (0.2, 0.3, 0.6), (0.0, 0.0, 1.25))
    head = scene.add_box(5.0, (0.2, 0.2, 0.2), (0.0, 0.0, 1.65))
    scene.join(head, trunk, (0.0, 0.0, 1.55), angular=(_X, _Z))
    for side in (-1.0, 1.0):
        y = 0.12 * side
        thigh = scene.add_box(8.0, (0.12, 0.12, 0.4), (0.0, y, 0.72))
        shank = scene.add_box(3.5, (0.1, 0.1, 0.4), (0.0, y, 0.3))
        foot = scene.add_box(1.0, (0.25, 0.1, 0.06), (0.05, y, 0.03))
        upper = scene.add_box(2.0, (0.08, 0.08, 0.3), (0.0, 0.25 * side, 1.35))
        lower = scene.add_box(1.5, (0.07, 0.07, 0.3), (0.0, 0.25 * side, 1.05))
        scene.join(thigh, trunk, (0.0, y, 0.92), angular=(_X, _Z))
        scene.join(shank, thigh, (0.0, y, 0.51), angular=(_X, _Z))
        scene.join(foot, shank, (0.0, y, 0.08), angular=(_X, _Z))
        scene.join(upper, trunk, (0.0, 0.25 * side, 1.5), angular=(_X, _Z))
        scene.join(lower, upper, (0.0, 0.25 * side, 1.2), angular=(_X, _Z))
        scene.limit(shank, thigh, _Y)
        for x in (-0.07, 0.17):
            for dy in (-0.05, 0.05):
                scene.touch(foot, -1, (x, y + dy, 0.0), _Z, friction)
    scene.velocities[trunk][:3] = (0.3, 0.1, -0.2)
    return scene


def spheres(count: int = 200, friction: float = 0.5, seed: int = 3) -> Scene:
    """A stirred pile: spheres of mixed sizes in a box without a lid, with random velocities."""
    rng = np.random.default_rng(seed)
    radii = rng.uniform(0.08, 0.12, count)
    side = 0.2 * (count / 1.6) ** (1.0 / 3.0)
    p = rng.uniform(0.0, side, (count, 3)) * [1.0, 1.0, 1.6]
    for _ in range(600):  # separate overlapping spheres, and push them down
        p[:, 2] -= 0.0005
        gap = p[:, None] - p[None]
        distance = np.linalg.norm(gap, axis=2) + np.eye(count)
        overlap = np.maximum(0.0, radii[:, None] + radii[None] - distance) * (1.0 - np.eye(count))
        p += 0.35 * ((overlap / distance)[:, :, None] * gap).sum(axis=1)
        p[:, :2] = np.clip(p[:, :2], radii[:, None], side - radii[:, None])
        p[:, 2] = np.maximum(p[:, 2], radii)
    scene = Scene()
    for r, centre in zip(radii, p, strict=True):
        mass = 1000.0 * 4.0 / 3.0 * np.pi * r**3
        scene.add_body(mass, [0.4 * mass * r * r] * 3, centre)
    near = 0.002
    for i in range(count):
        for j in range(i):
            d = p[i] - p[j]
            length = float(np.linalg.norm(d))
            if length < radii[i] + radii[j] + near:
                scene.touch(i, j, p[j] + d * radii[j] / length, d, friction)
        if p[i, 2] < radii[i] + near:
            scene.touch(i, -1, p[i] - radii[i] * _Z, _Z, friction)
        for axis in (0, 1):
            normal = np.eye(3)[axis]
            if p[i, axis] < radii[i] + near:
                scene.touch(i, -1, p[i] - radii[i] * normal, normal, friction)
            if p[i, axis] > side - radii[i] - near:
                scene.touch(i, -1, p[i] + radii[i] * normal, -normal, friction)
    for v in scene.velocities:
        v[:] = rng.normal(size=6) * np.repeat([0.3, 2.0], 3)
    return scene


def cloud(seed: int, bodies: int = 6, contacts: int = 12, rubbing: int = 0) -> Scene:
    """Random bodies with masses to 1e4, random contacts with friction to 1.5, random velocities.

    rubbing: rows of dry friction besides, of which one in four has a bound to one side alone.
    """
    rng = np.random.default_rng(seed)
    scene = Scene()
    for _ in range(bodies):
        mass = 10.0 ** rng.uniform(0.0, 4.0)
        scene.add_box(mass, rng.uniform(0.3, 1.5, 3).tolist(), rng.normal(size=3))
        scene.velocities[-1][:] = rng.normal(size=6)
    for _ in range(contacts):
        a, b = rng.choice(bodies + 1, 2, replace=False) - 1
        normal = rng.normal(size=3)
        point = rng.normal(size=3)
        scene.touch(int(a), int(b), point, normal, float(rng.uniform(0.0, 1.5)))
    for _ in range(rubbing):
        a, b = rng.choice(bodies + 1, 2, replace=False) - 1
        lower, upper = -(10.0 ** rng.uniform(0.0, 5.0)), 10.0 ** rng.uniform(0.0, 5.0)
        one_way = rng.uniform() < 0.25
        scene.rub(int(a), int(b), rng.normal(size=3), 0.0 if one_way else lower, np.inf if one_way else upper)
    return scene
