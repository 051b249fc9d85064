"""Closed-loop benchmark problems and the judge that measures every peer (needs numpy only).

These files run in the peers' own interpreter (see benchmarks/requirements.txt), so nothing here imports
bellcrank. Each peer reports the planar poses and velocities of all rods; energy and gaps are then computed
here, by one formula.
Problems are planar in the vertical xy-plane, gravity 9.81 m/s² along −y; every rod is uniform, 1 m, 1 kg.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

GRAVITY = 9.81
LENGTH = 1.0
MASS = 1.0
INERTIA = MASS * LENGTH**2 / 12.0
ENERGY_BOUND = 1e-3
GAP_BOUND = 1e-7


@dataclass
class Problem:
    """Rods with a spanning tree of revolute joints and loop joints.

    A rod's frame sits at its start, x along the rod. `parent[i]` is the rod whose end carries the start of
    rod i, or −1 where the start is pinned to the ground point `anchor[i]`. `loops` lists (a, b): the ends of
    rods a and b coincide. `angle` and `rate` are the initial absolute angles (rad, from x, anticlockwise) and
    rates (rad/s).
    """

    name: str
    n: int
    parent: list[int]
    anchor: Array
    loops: list[tuple[int, int]]
    angle: Array
    rate: Array
    path: Array = field(init=False)
    carriers: Array = field(init=False)
    ground: Array = field(init=False)

    def __post_init__(self) -> None:
        count = len(self.parent)
        self.path = np.eye(count)
        for rod, parent in enumerate(self.parent):
            if parent >= 0:
                self.path[rod] += self.path[parent]
        self.carriers = self.path - np.eye(count)
        root = [int(np.flatnonzero(row)[0]) for row in self.path]
        self.ground = self.anchor[root]

    @property
    def rods(self) -> int:
        """Number of rods."""
        return len(self.parent)

    def joint_angles(self) -> Array:
        """Initial angles of the tree joints: rod relative to its parent (rad)."""
        return np.array(
            [self.angle[i] - (self.angle[p] if p >= 0 else 0.0) for i, p in enumerate(self.parent)]
        )

    def joint_rates(self) -> Array:
        """Initial rates of the tree joints (rad/s)."""
        return np.array([self.rate[i] - (self.rate[p] if p >= 0 else 0.0) for i, p in enumerate(self.parent)])

    def starts(self, angle: Array) -> Array:
        """Start points (rods, 2) of all rods if the tree joints are satisfied exactly (m)."""
        return self.ground + self.carriers @ _axes(angle)

    def start_velocities(self, angle: Array, rate: Array) -> Array:
        """Velocities (rods, 2) of those points (m/s)."""
        return self.carriers @ (_normals(angle) * rate[:, None])


def _axes(angle: Array) -> Array:
    return LENGTH * np.stack((np.cos(angle), np.sin(angle)), axis=1)


def _normals(angle: Array) -> Array:
    return LENGTH * np.stack((-np.sin(angle), np.cos(angle)), axis=1)


def four_bar(n: int) -> Problem:
    """N-four-bar (IFToMM benchmark A02): n + 1 upright cranks pivoting at (k, 0), n couplers at their tips.

    Rods 0..n are the cranks, n + 1.. the couplers. Crank tips start with velocity 1 m/s along +x.
    """
    cranks = n + 1
    parent = [-1] * cranks + list(range(n))
    anchor = np.array([[float(k), 0.0] for k in range(cranks)] + [[0.0, 0.0]] * n)
    loops = [(cranks + k, k + 1) for k in range(n)]
    angle = np.array([math.pi / 2] * cranks + [0.0] * n)
    rate = np.array([-1.0 / LENGTH] * cranks + [0.0] * n)
    return Problem("four_bar", n, parent, anchor, loops, angle, rate)


def ring(n: int) -> Problem:
    """Closed ring of n rods (n even): a regular polygon at rest, hung from ground at its top vertex (0, 0).

    Modelled as two chains of n/2 rods from the top joint, closed at the bottom vertex.
    It collapses like a whip about 1.2 s (n = 20) or 1.7 s (n = 40) after release: the difference between
    runs with steps h and h/2 leaps twenty- to hundredfold within 100 ms. Compare over 1.0 s and 1.5 s.
    """
    if n % 2 or n < 4:
        raise ValueError(
            f"ring: the number of rods must be even and at least 4, got {n}; choose an even number"
        )
    half = n // 2
    left = np.array([math.pi + (k + 0.5) * 2.0 * math.pi / n for k in range(half)])
    right = math.pi - left
    parent = [-1, *range(half - 1), -1, *range(half, n - 1)]
    angle = np.concatenate((left, right))
    return Problem("ring", n, parent, np.zeros((n, 2)), [(half - 1, n - 1)], angle, np.zeros(n))


PROBLEMS: dict[str, Callable[[int], Problem]] = {"four_bar": four_bar, "ring": ring}


def four_bar_tip(n: int, instant: float) -> Array:
    """Tip B0 of crank 0 at a time (s) on the branch where all cranks stay parallel.

    There the mechanism is one pendulum, θ̈ = a sin θ, a = g ((n+1)/2 + n) / ((n+1)/3 + n), θ from the upright.
    Integrated by classical Runge–Kutta with 0.1 ms steps (error below 1e-10 m over 10 s).
    """
    a = GRAVITY * ((n + 1) / 2 + n) / ((n + 1) / 3 + n)
    steps = max(1, round(instant / 1e-4))
    h = instant / steps
    theta, omega = 0.0, 1.0
    for _ in range(steps):
        k1 = a * math.sin(theta)
        w2 = omega + 0.5 * h * k1
        k2 = a * math.sin(theta + 0.5 * h * omega)
        w3 = omega + 0.5 * h * k2
        k3 = a * math.sin(theta + 0.5 * h * w2)
        w4 = omega + h * k3
        k4 = a * math.sin(theta + h * w3)
        theta += h / 6 * (omega + 2 * w2 + 2 * w3 + w4)
        omega += h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return np.array([math.sin(theta), math.cos(theta)])


class Judge:
    """Collects a run's largest energy error (J), largest gap (m) and, on request, poses.

    Energy errors are against the exact initial energy. Set `keep` to a list to have all sampled angles kept.
    """

    def __init__(self, problem: Problem, energy_bound: float = math.inf, gap_bound: float = math.inf) -> None:
        self.problem = problem
        self.bounds = (energy_bound, gap_bound)
        self.energy_error = 0.0
        self.gap = 0.0
        self.last = problem.angle
        self.time = 0.0
        self.keep: list[tuple[float, Array]] | None = None
        start = problem.starts(problem.angle)
        self.energy = self._energy(
            problem.angle, problem.rate, start, problem.start_velocities(problem.angle, problem.rate)
        )

    def _energy(self, angle: Array, rate: Array, start: Array, velocity: Array) -> float:
        centre = velocity + 0.5 * _normals(angle) * rate[:, None]
        kinetic = 0.5 * MASS * float(np.sum(centre * centre)) + 0.5 * INERTIA * float(rate @ rate)
        height = start[:, 1] + 0.5 * LENGTH * np.sin(angle)
        return kinetic + MASS * GRAVITY * float(np.sum(height))

    def _gap(self, angle: Array, start: Array) -> float:
        end = start + _axes(angle)
        gaps = [float(np.hypot(*(end[a] - end[b]))) for a, b in self.problem.loops]
        gaps += [
            float(np.hypot(*(start[i] - (end[p] if p >= 0 else self.problem.anchor[i]))))
            for i, p in enumerate(self.problem.parent)
        ]
        return max(gaps)

    def accept(
        self,
        instant: float,
        angle: Array,
        rate: Array,
        start: Array | None = None,
        velocity: Array | None = None,
    ) -> bool:
        """Take one sample; False if the run may stop: it is beyond the bounds or no longer finite.

        Args:
            instant: time (s).
            angle: absolute angles (rods,) (rad).
            rate: angular velocities (rods,) (rad/s).
            start: start points (rods, 2) (m); None where the coordinates hold the tree joints exactly.
            velocity: their velocities (rods, 2) (m/s).
        """
        if start is None or velocity is None:
            start = self.problem.starts(angle)
            velocity = self.problem.start_velocities(angle, rate)
        energy_error = abs(self._energy(angle, rate, start, velocity) - self.energy)
        gap = self._gap(angle, start)
        if not (math.isfinite(energy_error) and math.isfinite(gap)):
            energy_error = gap = math.inf
        self.energy_error = max(self.energy_error, energy_error)
        self.gap = max(self.gap, gap)
        self.last, self.time = angle.copy(), instant
        if self.keep is not None:
            self.keep.append((instant, self.last))
        finite = math.isfinite(energy_error)
        return finite and self.energy_error <= self.bounds[0] and self.gap <= self.bounds[1]

    def tip_error(self) -> float | None:
        """Distance (m) of B0 at the last sample from the reference; None for a problem without one."""
        if self.problem.name != "four_bar":
            return None
        tip = np.array([math.cos(self.last[0]), math.sin(self.last[0])])
        return float(np.hypot(*(tip - four_bar_tip(self.problem.n, self.time))))
