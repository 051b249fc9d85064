"""Poses of bodies, and the values of coordinates and rows at them."""

from dataclasses import dataclass

import numpy as np
import pytest

from bellcrank import _core as core
from bellcrank.mechanism import Coordinate, Row
from bellcrank.mechanism.rotation import conjugate, from_rotation_vector, matrix, multiply


@dataclass
class Configuration:
    """Poses of bodies by name: (position, quaternion); the ground is at the origin."""

    poses: dict

    def marker(self, marker):
        position, rotation = self.poses.get(marker.body, (np.zeros(3), (1.0, 0.0, 0.0, 0.0)))
        return np.asarray(position) + matrix(rotation) @ marker.position, multiply(rotation, marker.rotation)

    def coordinate(self, coordinate: Coordinate):
        p1, q1 = self.marker(coordinate.marker_1)
        p2, q2 = self.marker(coordinate.marker_2)
        r, q = matrix(q1).T @ (p2 - p1), multiply(conjugate(q1), q2)
        return core.evaluate_coordinate(coordinate.kind, r, q, params=coordinate.params)[0]

    def row(self, row: Row, time: float = 0.0):
        """The sum of the row's terms, less its function and its constant (none for FROM_START)."""
        total = sum(term.coefficient * self.coordinate(term.coordinate) for term in row.terms)
        led = 0.0 if row.function is None else float(row.function(time))
        return total - led - (row.constant or 0.0)

    def moved(self, body, step):
        """The configuration with a body moved by six numbers: translation and rotation vector, world axes."""
        position, rotation = self.poses[body]
        pose = (np.add(position, step[:3]), multiply(from_rotation_vector(tuple(step[3:])), rotation))
        return Configuration({**self.poses, body: pose})

    def gradient(self, row: Row, body, h=1e-6):
        """The row's derivatives against the six motions of a body, by central differences."""
        return np.array(
            [
                (self.moved(body, h * s).row(row) - self.moved(body, -h * s).row(row)) / (2 * h)
                for s in np.eye(6)
            ]
        )


@pytest.fixture
def configuration():
    return Configuration
