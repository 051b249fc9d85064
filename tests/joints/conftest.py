"""Random smooth relative motions with exact derivatives, and derivatives of sampled scalars."""

from dataclasses import dataclass

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

# Central stencils of eighth order on the points −4..4, from the Lagrange polynomial through them.
NODES = np.arange(-4, 5)
_POWERS = np.vander(NODES.astype(float), increasing=True).T
FIRST = np.linalg.solve(_POWERS, np.eye(9)[1])
SECOND = np.linalg.solve(_POWERS, 2.0 * np.eye(9)[2])


@dataclass(frozen=True)
class Motion:
    """r(t) a sum of a line and a sine; the rotation two turns about fixed axes n1, n2 after a constant one.

    With R = R0 exp(a1 n1) exp(a2 n2) the angular velocity in the fixed axes is, by adding up the turns,
    ω = R0 (a1' n1 + R1 a2' n2); it is differentiated by hand.
    """

    r0: np.ndarray
    r1: np.ndarray
    r2: np.ndarray
    q0: Rotation
    axes: np.ndarray
    speeds: np.ndarray
    bends: np.ndarray

    def angles(self, t):
        return self.speeds * t + self.bends * np.sin(t)

    def r(self, t):
        return self.r0 + self.r1 * t + self.r2 * np.sin(t)

    def rotation(self, t):
        a = self.angles(t)
        return self.q0 * Rotation.from_rotvec(a[0] * self.axes[0]) * Rotation.from_rotvec(a[1] * self.axes[1])

    def q(self, t):
        return np.roll(self.rotation(t).as_quat(), 1)

    def rdot(self, t):
        return self.r1 + self.r2 * np.cos(t)

    def rddot(self, t):
        return -self.r2 * np.sin(t)

    def omega(self, t):
        rate = self.speeds + self.bends * np.cos(t)
        second = Rotation.from_rotvec(self.angles(t)[0] * self.axes[0]).apply(rate[1] * self.axes[1])
        return self.q0.apply(rate[0] * self.axes[0] + second)

    def omega_dot(self, t):
        rate = self.speeds + self.bends * np.cos(t)
        accel = -self.bends * np.sin(t)
        turn = Rotation.from_rotvec(self.angles(t)[0] * self.axes[0])
        second = turn.apply(accel[1] * self.axes[1])
        carried = np.cross(rate[0] * self.axes[0], turn.apply(rate[1] * self.axes[1]))
        return self.q0.apply(accel[0] * self.axes[0] + second + carried)


@pytest.fixture(scope="session")
def random_motion():
    def make(rng, speed=1.0):
        axes = rng.normal(size=(2, 3))
        return Motion(
            r0=rng.normal(size=3),
            r1=speed * rng.normal(size=3),
            r2=speed * rng.normal(size=3),
            q0=Rotation.from_quat(rng.normal(size=4)),
            axes=axes / np.linalg.norm(axes, axis=1)[:, None],
            speeds=speed * rng.normal(size=2),
            bends=speed * rng.normal(size=2),
        )

    return make


@pytest.fixture(scope="session")
def derivatives():
    """f, f', f'' at t by stencils of eighth order; differences of angles are taken modulo 2π."""

    def of(f, t, step=0.01, angular=False):
        values = np.array([f(t + step * k) for k in NODES])
        differences = values - values[4]
        if angular:
            differences = (differences + np.pi) % (2.0 * np.pi) - np.pi
        return values[4], FIRST @ differences / step, SECOND @ differences / step**2

    return of
