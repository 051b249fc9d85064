"""Random trees of bodies, to any size, with any mixture of joints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

import bellcrank as bc
from bellcrank.gallery.trees import FREEDOMS, POSITIONS, TreeBody, TreeJoint, tree
from bellcrank.mechanism.checking import Quat

TOPOLOGIES = ("chain", "branch", "bush", "binary")
"""How parents are chosen: the body before; one of the four before; any, the ground too; a binary tree."""


def random_tree(
    n: int = 10,
    topology: str = "branch",
    types: Sequence[str] = tuple(POSITIONS),
    *,
    seed: int = 0,
    floating: bool = False,
    efforts: bool = True,
    gravity: Sequence[float] = (0.0, 0.0, -9.81),
) -> bc.Mechanism:
    """A tree of n random bodies, joined and moving at random.

    Degrees of freedom: those of its joints together, 1 to 6 each by FREEDOMS.

    topology: one of TOPOLOGIES. types: joint types to draw from, keys of POSITIONS; a "free" joint is drawn
    as a spherical one where the parent is not the ground. seed: the same seed gives the same tree.
    floating: no joint but the first one is on the ground, and that is free. gravity: m/s^2.
    efforts: random constant efforts act in all joints but free ones.

    Each body is six random point masses; the numbers are like those of the reference oracle (masses of about
    2 kg, lengths of about 0.3 m, rates of about 1 rad/s).
    Raises ValueError for an unknown topology or joint type.
    """
    if topology not in TOPOLOGIES:
        raise ValueError(
            f"random_tree: there is no topology {topology!r}; use one of {', '.join(TOPOLOGIES)}"
        )
    unknown = sorted(set(types) - set(POSITIONS))
    if unknown:
        raise ValueError(
            f"random_tree: there are no joint types {unknown}; use some of {', '.join(POSITIONS)}"
        )
    rng = np.random.default_rng(seed)
    parents = [_parent(rng, topology, k) for k in range(n)]
    joints = [_random_joint(rng, parent, types) for parent in parents]
    if floating:
        joints = [replace(joint, parent=max(joint.parent, 0)) for joint in joints]
        joints = [replace(j, type="spherical") if j.type == "free" else j for j in joints]
        joints[0] = TreeJoint("free", -1)
    acting = [FREEDOMS[joint.type] if efforts and joint.type != "free" else 0 for joint in joints]
    return tree(
        [_random_body(rng) for _ in range(n)],
        joints,
        [_random_position(rng, joint.type) for joint in joints],
        [rng.normal(size=FREEDOMS[joint.type]).tolist() for joint in joints],
        [(2.0 * rng.normal(size=count)).tolist() for count in acting],
        gravity=gravity,
        name=f"random {topology} of {n}",
    )


def _parent(rng: np.random.Generator, topology: str, number: int) -> int:
    if number == 0 or topology == "chain":
        return number - 1
    if topology == "branch":
        return int(rng.integers(max(0, number - 4), number))
    if topology == "bush":
        return int(rng.integers(-1, number))
    return (number - 1) // 2


def _random_body(rng: np.random.Generator) -> TreeBody:
    points, masses = rng.uniform(-0.3, 0.3, size=(6, 3)), rng.uniform(0.1, 0.6, size=6)
    arms = points - masses @ points / masses.sum()
    inertia = sum(
        (m * ((d @ d) * np.eye(3) - np.outer(d, d)) for m, d in zip(masses, arms, strict=True)),
        np.zeros((3, 3)),
    )
    return TreeBody(float(masses.sum()), rng.uniform(-0.3, 0.3, 3).tolist(), inertia.tolist())


def _random_joint(rng: np.random.Generator, parent: int, types: Sequence[str]) -> TreeJoint:
    kind = types[int(rng.integers(len(types)))]
    axis = _unit(rng)
    second = np.cross(axis, _unit(rng))
    return TreeJoint(
        "spherical" if kind == "free" and parent >= 0 else kind,
        parent,
        rng.uniform(-0.4, 0.4, 3).tolist(),
        _random_rotation(rng),
        axis.tolist(),
        (second / np.linalg.norm(second)).tolist(),
        float(rng.uniform(0.05, 0.3)) if kind == "helical" else 0.0,
    )


def _random_position(rng: np.random.Generator, kind: str) -> list[float]:
    if kind == "spherical":
        return list(_random_rotation(rng))
    if kind == "free":
        return [*rng.uniform(-1.0, 1.0, 3).tolist(), *_random_rotation(rng)]
    return rng.uniform(-1.0, 1.0, size=POSITIONS[kind]).tolist()  # type: ignore[no-any-return]


def _unit(rng: np.random.Generator) -> np.ndarray:
    vector = rng.normal(size=3)
    return np.asarray(vector / np.linalg.norm(vector))


def _random_rotation(rng: np.random.Generator) -> Quat:
    w, x, y, z = rng.normal(size=4)
    norm = float(np.sqrt(w * w + x * x + y * y + z * z))
    return (float(w) / norm, float(x) / norm, float(y) / norm, float(z) / norm)
