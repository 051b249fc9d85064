"""An independent view of one instant: markers, coordinates and their gradients from recorded motion.

It uses the definitions of coordinates, but none of the solver's rows, Jacobians or frames.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from bellcrank import _core
from bellcrank.assembly.model import Model
from bellcrank.assembly.state import Floats, State


@dataclass(frozen=True, eq=False)
class CoordinateAt:
    """A coordinate at instants: value, rate, and what a unit effort along it exerts on the second body.

    value, rate: (n,). force (n, 3), moment (n, 3) about `point` (n, 3), the origin of its marker 2; world
    axes. The first body gets the opposite. curvature: (n,), what its second derivative has beyond force and
    moment times the accelerations of marker 2 seen from marker 1.
    """

    value: Any
    rate: Any
    force: Floats
    moment: Floats
    point: Floats
    bodies: tuple[int, int]
    curvature: Any

    def at(self, number: int) -> CoordinateAt:
        """The same at one of the instants, without their axis."""
        value, rate, force = self.value[number], self.rate[number], self.force[number]
        moment, point = self.moment[number], self.point[number]
        return CoordinateAt(value, rate, force, moment, point, self.bodies, self.curvature[number])


class Snapshots:
    """All bodies, the ground last, and all marker pairs at several States: first index the state.

    poses: position (n, nb, 3), rotation (n, nb, 4), velocity and angular_velocity (n, nb, 3), by name.
    """

    def __init__(self, model: Model, poses: Mapping[str, Floats]) -> None:
        self.model = model
        self._coordinates: dict[int, CoordinateAt] = {}
        still = np.zeros((len(poses["position"]), 1, 3))
        self.position = np.concatenate([poses["position"], still], axis=1)
        self.velocity = np.concatenate([poses["velocity"], still], axis=1)
        self.spin = np.concatenate([poses["angular_velocity"], still], axis=1)
        upright = np.broadcast_to([1.0, 0.0, 0.0, 0.0], (len(still), 1, 4))
        self.rotation = np.concatenate([poses["rotation"], upright], axis=1)
        self.turn = matrices(self.rotation)
        arms = np.einsum("nbij,bj->nbi", self.turn[:, :-1], model.com)
        self.com = self.position[:, :-1] + arms
        self.com_velocity = self.velocity[:, :-1] + np.cross(self.spin[:, :-1], arms)

    @cached_property
    def inertia(self) -> Floats:
        """Inertias (n, nb, 3, 3) of the bodies about their coms, world axes."""
        turn = self.turn[:, :-1]
        return turn @ self.model.inertia @ np.swapaxes(turn, 2, 3)

    @cached_property
    def pairs(self) -> tuple[Floats, ...]:
        """Per pair: origins, matrix of marker 1, then r, q, their rate and spin in marker-1 axes."""
        arrays = self.model.arrays
        bodies = arrays["pair_bodies"]
        turn, position, spin = self.turn[:, bodies], self.position[:, bodies], self.spin[:, bodies]
        arms = np.einsum("npmij,pmj->npmi", turn, arrays["pair_positions"])
        origins = position + arms
        speeds = self.velocity[:, bodies] + np.cross(spin, arms)
        quaternions = product(self.rotation[:, bodies], arrays["pair_rotations"])
        first = matrices(quaternions[:, :, 0])
        offset = origins[:, :, 1] - origins[:, :, 0]
        drift = speeds[:, :, 1] - speeds[:, :, 0] - np.cross(spin[:, :, 0], offset)
        r, rdot, omega = (
            np.einsum("npji,npj->npi", first, one) for one in (offset, drift, spin[:, :, 1] - spin[:, :, 0])
        )
        conjugate = quaternions[:, :, 0] * np.array([1.0, -1.0, -1.0, -1.0])
        return origins, first, r, product(conjugate, quaternions[:, :, 1]), rdot, omega

    def coordinate(self, index: int, near: Floats | None = None) -> CoordinateAt:
        """A coordinate of the model at all instants; angles between -pi and pi.

        near: of a component of a rotation vector that is followed, where the three of them are (n, 3).
        """
        if near is not None:
            return self._evaluated(index, near)
        found = self._coordinates.get(index)
        if found is None:
            found = self._coordinates[index] = self._evaluated(index)
        return found

    def _evaluated(self, index: int, near: Floats | None = None) -> CoordinateAt:
        arrays = self.model.arrays
        pair = int(arrays["coordinate_pair"][index])
        begin, end = arrays["coordinate_param_start"][index : index + 2]
        origins, first, r, q, rdot, omega = (table[:, pair] for table in self.pairs)
        value, by_r, by_turn, curvature = _core.evaluate_coordinates(
            arrays["coordinate_kind"][index],
            r,
            q / np.linalg.norm(q, axis=1, keepdims=True),
            rdot,
            omega,
            np.asarray(arrays["coordinate_params"][begin:end])[None] if near is None else near,
        )
        rate = np.einsum("ni,ni->n", by_r, rdot) + np.einsum("ni,ni->n", by_turn, omega)
        one, two = arrays["pair_bodies"][pair].tolist()
        force, moment = (np.einsum("nij,nj->ni", first, along) for along in (by_r, by_turn))
        return CoordinateAt(value, rate, force, moment, origins[:, 1], (one, two), curvature)

    def relative_motion(self, pair: int) -> tuple[Floats, Floats, Floats]:
        """Origin 2 of a pair (n, 3), and velocity and spin of body 2 there relative to body 1, world axes."""
        origins, first, _, _, rdot, omega = self.pairs
        drift, spin = (np.einsum("nij,nj->ni", first[:, pair], x[:, pair]) for x in (rdot, omega))
        return origins[:, pair, 1], drift, spin

    def speed(self, body: int, point: Floats) -> Floats:
        """The velocity (n, 3) of a body at points (n, 3)."""
        return self.velocity[:, body] + np.cross(self.spin[:, body], point - self.position[:, body])


class Snapshot:
    """All bodies, the ground last, and all marker pairs at one State; the one of that number among others."""

    def __init__(self, model: Model, state: State, among: Snapshots | None = None, number: int = 0) -> None:
        names = ("position", "rotation", "velocity", "angular_velocity")
        self.model, self.state = model, state
        self._among = among or Snapshots(model, {name: getattr(state, name)[None] for name in names})
        self._number = number
        self.position, self.velocity = self._among.position[number], self._among.velocity[number]
        self.rotation, self.turn = self._among.rotation[number], self._among.turn[number]
        self.spin, self.com = self._among.spin[number], self._among.com[number]
        self.com_velocity = self._among.com_velocity[number]

    @cached_property
    def _pairs(self) -> tuple[Floats, ...]:
        return tuple(table[self._number] for table in self._among.pairs)

    def coordinate(self, index: int) -> CoordinateAt:
        """A coordinate of the model; angles between -pi and pi."""
        return self._among.coordinate(index).at(self._number)

    def relative_pose(self, pair: int) -> tuple[Floats, Floats]:
        """Marker 2 of a pair seen from marker 1: position (3,) and quaternion (4,)."""
        _, _, r, q, _, _ = (table[pair] for table in self._pairs)
        return r, q / np.linalg.norm(q)

    def relative_twist(self, pair: int) -> Floats:
        """Velocity over spin (6,) of marker 2 seen from marker 1, in its axes."""
        _, _, _, _, rdot, omega = (table[pair] for table in self._pairs)
        return np.concatenate([rdot, omega])

    def marker_axes(self, pair: int) -> tuple[Floats, Floats]:
        """Origin of marker 2 of a pair in the world (3,), and the axes of marker 1 as columns (3, 3)."""
        origins, first, _, _, _, _ = (table[pair] for table in self._pairs)
        return origins[1], first


def matrices(quaternions: Floats) -> Floats:
    """Rotation matrices (..., 3, 3) of quaternions (..., 4)."""
    q = quaternions / np.linalg.norm(quaternions, axis=-1, keepdims=True)
    w, x, y, z = np.moveaxis(q, -1, 0)
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def product(p: Floats, q: Floats) -> Floats:
    """Quaternion products (..., 4)."""
    real = p[..., :1] * q[..., :1] - np.sum(p[..., 1:] * q[..., 1:], axis=-1, keepdims=True)
    rest = p[..., :1] * q[..., 1:] + q[..., :1] * p[..., 1:] + np.cross(p[..., 1:], q[..., 1:])
    return np.concatenate([real, rest], axis=-1)


def exponential(vectors: Floats) -> Floats:
    """Quaternions (..., 4) of rotation vectors (..., 3)."""
    half = 0.5 * np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.concatenate([np.cos(half), 0.5 * np.sinc(half / np.pi) * vectors], axis=-1)
