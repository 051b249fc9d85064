"""The linkages of S. Redon and M. Lin (2005), from a seed: a bicycle chain, a millipede, a molecule."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

import bellcrank as bc
from bellcrank import _core
from bellcrank.compile.flat import FlatBuilder
from bellcrank.mechanism.rotation import from_matrix, matrix

Array = np.ndarray

_LIGHT: Final = 0.4
"""Of the atoms at the ends of branches so many are small and light, as hydrogen is."""
_SMALL: Final = 1e-4
"""Mass and radius of these, beside those of the others."""


@dataclass(frozen=True, eq=False)
class HingeTree:
    """Bodies on hinges, each frame at its hinge, which turns about the frame's z.

    parent: index of a body listed earlier, -1 for the ground. position (n, 3), rotation (n, 4): of the hinge
    in the parent's frame. mass (n,). com (n, 3). inertia: about the com, in the axes of the frame, (n, 3, 3),
    or principal moments along these axes, (n, 3).
    loads: bodies with forces of their own, world axes, at the centre of mass: indices (m,), forces (m, 3).
    floats: whether bodies without a parent are free, instead of on a hinge of the ground.
    """

    name: str
    parent: Array
    position: Array
    rotation: Array
    mass: Array
    com: Array
    inertia: Array
    loads: tuple[Array, Array]
    floats: bool = False

    def loaded(self, bodies: Array, forces: Array) -> HingeTree:
        """The linkage with other forces."""
        return HingeTree(**{**self.__dict__, "loads": (bodies, forces)})

    def mechanism(self) -> bc.Mechanism:
        """The linkage as a mechanism with names, for figures and checks."""
        mech = bc.Mechanism(self.name, gravity=(0.0, 0.0, 0.0))
        positions, rotations = self.poses()
        bodies: list[Any] = [
            mech.add_body(
                f"link {k}", mass=float(self.mass[k]), position=positions[k], rotation=rotations[k],
                com=self.com[k], inertia=self.inertia[k],
            )
            for k in range(len(self.mass))
        ]  # fmt: skip
        for k, body in enumerate(bodies):
            if self.floats and self.parent[k] < 0:
                continue
            carrier = bodies[self.parent[k]] if self.parent[k] >= 0 else mech.ground
            before = carrier.marker(self.position[k], rotation=self.rotation[k])
            mech.add_joint(f"hinge {k}", bc.Revolute(), before, body.marker())
        for k, force in zip(*self.loads, strict=True):
            marker = bodies[k].marker(self.com[k])
            mech.add_force(f"force on link {k}", bc.Wrench(force=tuple(force)), marker)
        return mech

    def poses(self) -> tuple[Array, Array]:
        """Positions (n, 3) and rotations (n, 4) with all hinges at zero."""
        positions, rotations = self.position.tolist(), self.rotation.tolist()
        for k, parent in enumerate(self.parent.tolist()):
            if parent < 0:
                continue
            (x, y, z), (e, f, g, h) = positions[k], rotations[k]
            (px, py, pz), (w, a, b, c) = positions[parent], rotations[parent]
            tx, ty, tz = 2.0 * (b * z - c * y), 2.0 * (c * x - a * z), 2.0 * (a * y - b * x)
            positions[k] = (
                px + x + w * tx + b * tz - c * ty,
                py + y + w * ty + c * tx - a * tz,
                pz + z + w * tz + a * ty - b * tx,
            )
            rotations[k] = (
                w * e - a * f - b * g - c * h, w * f + a * e + b * h - c * g,
                w * g - a * h + b * e + c * f, w * h + a * g - b * f + c * e,
            )  # fmt: skip
        return np.array(positions), np.array(rotations)

    def core(self) -> _core.Model:
        """The core's model, without names: the result that compilation would give."""
        n, (loaded, forces) = len(self.mass), self.loads
        held = np.flatnonzero(self.parent >= 0) if self.floats else np.arange(n)
        joints = len(held)
        carrier = np.where(self.parent < 0, n, self.parent)[held]
        rows = np.arange(5 * joints)
        inertia = self.inertia if self.inertia.ndim == 3 else self.inertia[:, :, None] * np.eye(3)
        wrench = np.zeros((len(loaded), 6))
        wrench[:, 3:] = forces
        given = {
            "gravity": np.zeros(3),
            "body_mass": self.mass,
            "body_com": self.com,
            "body_inertia": inertia,
            "pair_bodies": _whole(np.stack([carrier, held], axis=1)),
            "pair_positions": np.stack([self.position[held], np.zeros((joints, 3))], axis=1),
            "pair_rotations": np.stack([self.rotation[held], _no_turns(joints)], axis=1),
            "coordinate_kind": ["x", "y", "z", "e1", "e2", "theta_z"] * joints,
            "coordinate_pair": _whole(np.repeat(np.arange(joints), 6)),
            "coordinate_param_start": _whole(np.zeros(6 * joints + 1)),
            "block_row_start": _whole(np.arange(0, 5 * joints + 1, 5)),
            "block_unilateral": np.zeros(joints, np.uint8),
            "block_compliance": np.zeros(joints),
            "block_restitution": np.zeros(joints),
            "block_formula": _whole(np.full(joints, -1)),
            "row_term_start": _whole(np.arange(5 * joints + 1)),
            "term_coordinate": _whole(rows + rows // 5),
            "term_coefficient": np.ones(5 * joints),
            "row_function": _whole(np.full(5 * joints, -1)),
            "row_constant": np.zeros(5 * joints),
            "wrench_body": _whole(loaded),
            "wrench_position": np.ascontiguousarray(self.com[loaded]),
            "wrench_rotation": _no_turns(len(loaded)),
            "wrench_local": np.zeros(len(loaded), np.uint8),
            "wrench_function": _whole(np.full((len(loaded), 6), -1)),
            "wrench_constant": wrench,
        }
        return _core.Model(**FlatBuilder({}, False).arrays() | given)


def _whole(numbers: Array) -> Array:
    return np.ascontiguousarray(numbers, dtype=np.int32)


def _no_turns(count: int) -> Array:
    return np.tile([1.0, 0.0, 0.0, 0.0], (count, 1))


def relative_poses(parent: Array, position: Array, rotation: Array) -> tuple[Array, Array]:
    """Poses in the frames of the parents, from poses in the world."""
    from bellcrank.mechanism.rotation_arrays import rotate

    held = np.flatnonzero(parent >= 0)
    w, x, y, z = rotation[parent[held]].T
    a, b, c, d = rotation[held].T
    back = np.stack([w, -x, -y, -z], axis=1)
    place, turn = position.copy(), rotation.copy()
    place[held] = rotate(back, position[held] - position[parent[held]])
    turn[held] = np.stack(
        [w * a + x * b + y * c + z * d, w * b - x * a - y * d + z * c,
         w * c + x * d - y * a - z * b, w * d - x * c + y * b - z * a], axis=1,
    )  # fmt: skip
    return place, turn


def no_loads() -> tuple[Array, Array]:
    """No forces."""
    return np.zeros(0, np.intp), np.zeros((0, 3))


def _directions(rng: np.random.Generator, count: int) -> Array:
    vectors = rng.normal(size=(count, 3))
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1)[:, None])


def _turned_to(axes: Array) -> Array:
    """Quaternions (n, 4) that take z to axes (n, 3)."""
    half = np.column_stack([1.0 + axes[:, 2], -axes[:, 1], axes[:, 0], 0.0 * axes[:, 0]])
    half[half[:, 0] < 1e-9] = [0.0, 1.0, 0.0, 0.0]
    return np.asarray(half / np.linalg.norm(half, axis=1)[:, None])


def molecule(joints: int = 50_000, seed: int = 0, *, even: bool = False) -> HingeTree:
    """Atoms at distance one, each bonded to one of the two before it: long, with branches.

    Hinges have random axes, masses are spread over decades. Four of ten atoms at ends are small and light.
    even: all are alike, and their places are the same.
    The paper gives neither masses nor the choice of forces. These parameters are the one set of some twenty
    whose counts of computed joints came closest to its Table 1 (docs/benchmarks.md).
    """
    rng = np.random.default_rng(seed)
    parent, bonds = np.full(joints, -1), np.zeros(joints, int)
    for k in range(1, joints):
        parent[k] = rng.integers(max(0, k - 2), k)
        bonds[parent[k]] += 1
    light = (bonds == 0) & (rng.uniform(size=joints) < _LIGHT)
    bond = _directions(rng, joints)
    position = np.zeros((joints, 3))
    position[1:] = bond[parent[1:]]
    mass = np.where(light, _SMALL, 1.0) * np.exp(2.0 * rng.normal(size=joints))
    radius = np.where(light, _SMALL * np.exp(2.0 * rng.normal(size=joints)), 0.7)
    inertia = np.tile(0.4 * (mass * radius**2)[:, None], 3)
    com = np.where(light[:, None], radius[:, None] * rng.normal(size=(joints, 3)), 0.5 * bond)
    rotation = _turned_to(_directions(rng, joints))
    if even:
        mass, com = np.ones(joints), 0.5 * bond
        inertia = np.full((joints, 3), 0.4 * 0.7**2)
    return HingeTree("molecule", parent, position, rotation, mass, com, inertia, no_loads())


def random_forces(linkage: HingeTree, count: int, seed: int = 0) -> HingeTree:
    """The linkage with forces of about 1 N on some of its bodies, every tenth on one of the lightest."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(linkage.mass))
    is_light = linkage.mass[order] <= np.quantile(linkage.mass, 0.05)
    light, others = order[is_light].tolist(), order[~is_light].tolist()
    bodies = [light.pop() if k % 10 == 0 and light else others.pop() for k in range(count)]
    return linkage.loaded(np.array(bodies), rng.normal(size=(count, 3)))


def millipede(legs: int = 1000, leg: int = 10, spine: int = 3000) -> HingeTree:
    """A floating spine of rods along x, with legs on alternate sides; a foot in the middle is pulled.

    Hinges of the spine are alternately vertical and horizontal, those of legs lie along x.
    """
    parent, axis, at, centre, size = [], [], [], [], []
    for k in range(spine):
        parent.append(k - 1)
        axis.append((0.0, 1.0, 0.0) if k % 2 else (0.0, 0.0, 1.0))
        at.append((0.1 * k, 0.0, 0.0))
        centre.append((0.1 * k + 0.05, 0.0, 0.0))
        size.append((0.02, 0.1, 0.1))
    for k in range(legs):
        side, hip = (1.0 if k % 2 else -1.0), k * spine // legs
        for link in range(leg):
            parent.append(len(parent) - 1 if link else hip)
            axis.append((1.0, 0.0, 0.0))
            at.append((0.1 * hip + 0.05, side * (0.02 + 0.03 * link), 0.0))
            centre.append((0.1 * hip + 0.05, side * (0.035 + 0.03 * link), 0.0))
            size.append((0.03, 0.01, 0.03))
    mass = np.where(np.arange(len(parent)) < spine, 0.1, 0.02)
    made = _hinged("millipede", parent, axis, at, centre, mass, np.array(size))
    foot = spine + leg * (legs // 2 + 1) - 1
    return replace(made, floats=True, loads=(np.array([foot]), np.array([[0.05, 0.2, 0.1]])))


def bicycle_chain(links: int = 30, pitch: float = 0.0127) -> HingeTree:
    """Links along x with pins along y, the first one on the ground; the last is pulled sideways."""
    numbers = np.arange(links)
    at = pitch * np.column_stack([numbers, 0 * numbers, 0 * numbers])
    axis, size = np.tile([0.0, 1.0, 0.0], (links, 1)), np.tile([0.008, pitch, pitch], (links, 1))
    centre = at + np.array([pitch / 2.0, 0.0, 0.0])
    made = _hinged("bicycle chain", numbers - 1, axis, at, centre, np.full(links, 2.7e-3), size)
    return made.loaded(np.array([links - 1]), np.array([[0.0, 0.0, 0.05]]))


def _hinged(name: str, parent: Any, axis: Any, at: Any, centre: Any, mass: Array, size: Array) -> HingeTree:
    """A tree from hinges and centres of mass in the world, with hinge axes along world axes.

    Inertias are m size^2 / 12 about axes of the world.
    """
    parent, at = np.array(parent), np.array(at, dtype=float)
    turns = _turned_to(np.array(axis, dtype=float))
    own = np.array([matrix(tuple(turn.tolist())) for turn in turns])
    carrier = np.array([own[p] if p >= 0 else np.eye(3) for p in parent])
    origin = np.where(parent[:, None] < 0, 0.0, at[parent])
    rotation = np.array([from_matrix(a.T @ b) for a, b in zip(carrier, own, strict=True)])
    inertia = mass[:, None] * np.einsum("kij,ki->kj", own**2, size**2) / 12.0
    return HingeTree(
        name,
        parent,
        np.einsum("kij,ki->kj", carrier, at - origin),
        rotation,
        mass,
        np.einsum("kij,ki->kj", own, np.array(centre) - at),
        inertia,
        no_loads(),
    )
