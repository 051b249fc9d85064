"""Accelerations along directions of state, time and numbers, by extrapolated differences: an oracle."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from bellcrank import _core as core
from bellcrank.linear.differences import derivatives
from bellcrank.mechanism.rotation_arrays import conjugate, exponential, product, rotate

RECORD = 8  # numbers of a body: com, world axes, 0, rotation or angular velocity, principal axes, 0
EXACT = core.RefinedClosingOptions(position_tolerance=1e-15)


def lagrange_at(model, state):
    """The core of `lagrange` at a state, on the rows."""
    system = core.Lagrange(model.core, EXACT)
    model.put(system, state)
    for _ in range(3):
        system.project()
    return system


class Path:
    """States of a model along a direction, each put onto the rows.

    dx, du: changes of state as the core has them. dt: of time. changes: array of the model, index of a number
    in it, its change.
    """

    def __init__(self, model, state, dx, du, dt=0.0, changes=()):
        self.model, self.state, self.dt, self.changes = model, state, dt, changes
        self.dx, self.du = (one.reshape(-1, RECORD)[: len(model.bodies)] for one in (dx, du))
        self.com = np.asarray(model.arrays["body_com"], dtype=float).reshape(-1, 3)
        self.principal = np.asarray(model.core.principal_rotation)

    def model_at(self, s):
        """The model with numbers changed."""
        arrays = {}
        for array, index, change in self.changes:
            whole = arrays.setdefault(array, np.array(self.model.arrays[array], dtype=float))
            whole.reshape(-1)[index] += s * change
        for name in {"pair_rotations", "wrench_rotation"} & set(arrays):
            arrays[name] /= np.linalg.norm(arrays[name], axis=-1, keepdims=True)
        return self.model.with_arrays(**arrays) if arrays else self.model

    def state_at(self, s):
        """The state of the frames, where points that were centres of mass have moved by s dx and s du."""
        start = self.state
        axes, arm = product(start.rotation, self.principal), rotate(start.rotation, self.com)
        com = start.position + arm + s * self.dx[:, :3]
        velocity = start.velocity + np.cross(start.angular_velocity, arm) + s * self.du[:, :3]
        spin = rotate(conjugate(axes), start.angular_velocity) + s * self.du[:, 4:7]
        axes = product(axes, exponential(s * self.dx[:, 4:7]))
        rotation, omega = product(axes, conjugate(self.principal)), rotate(axes, spin)
        arm = rotate(rotation, self.com)
        return replace(
            start.at_time(start.time + s * self.dt),
            position=com - arm,
            rotation=rotation,
            velocity=velocity - np.cross(omega, arm),
            angular_velocity=omega,
        )

    def at(self, s):
        """Accelerations of these points, as records, and multipliers."""
        system = lagrange_at(self.model_at(s), self.state_at(s))
        linear, angular, multipliers = system.accelerate()
        _, _, rotation, _, omega = system.state()
        arm = rotate(rotation, self.com)
        out = np.zeros((len(self.com) + 1, RECORD))
        out[:-1, :3] = linear + np.cross(angular, arm) + np.cross(omega, np.cross(omega, arm))
        out[:-1, 4:7] = rotate(conjugate(product(rotation, self.principal)), angular)
        return np.concatenate([out.ravel(), multipliers])

    def derivative(self, step=1e-2):
        """Of the accelerations, of the multipliers, and the estimated error of all of them."""

        def sample(points):
            return np.array([self.at(float(s)) for s in points[:, 0]])

        found = derivatives(sample, np.zeros(1), np.array([step]))
        size = self.dx.size + RECORD
        return found.matrix[:size, 0], found.matrix[size:, 0], found.error[:, 0]
