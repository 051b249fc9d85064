"""A mechanism on the core: compiled, at a state, run through time, and what its equations say there."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from bellcrank import _core
from bellcrank.compile.compile import compile_mechanism
from bellcrank.compile.model import Model


def matrix(q):
    """Rotation matrices of quaternions (..., 4), scalar first."""
    return Rotation.from_quat(np.roll(np.asarray(q), -1, axis=-1)).as_matrix()


def quaternion(rotation):
    """Quaternion (w, x, y, z) of a scipy Rotation."""
    return tuple(np.roll(rotation.as_quat(), 1).tolist())


def random_quaternion(rng, angle=None):
    """A random orientation; with `angle`, turned by that much about a random axis."""
    if angle is None:
        return quaternion(Rotation.from_quat(rng.normal(size=4)))
    axis = rng.normal(size=3)
    return quaternion(Rotation.from_rotvec(angle * axis / np.linalg.norm(axis)))


SECTIONS = (
    "position", "rotation", "velocity", "angular_velocity", "coordinates", "rates", "multipliers",
    "reactions", "unique_multipliers", "unique_reactions", "kinetic", "potential", "position_violation",
    "velocity_violation", "acceleration", "angular_acceleration",
)  # fmt: skip


@dataclass
class Run:
    """Recorded frames, field by field (T, ...), and how the run ended."""

    time: np.ndarray
    position: np.ndarray
    rotation: np.ndarray
    velocity: np.ndarray
    angular_velocity: np.ndarray
    q: np.ndarray
    qd: np.ndarray
    multipliers: np.ndarray
    reactions: np.ndarray
    unique_multipliers: np.ndarray
    unique_reactions: np.ndarray
    kinetic: np.ndarray
    potential: np.ndarray
    C: np.ndarray
    Cdot: np.ndarray
    linear: np.ndarray
    angular: np.ndarray
    outcome: dict[str, Any]

    @property
    def energy(self):
        """Total energy."""
        return self.kinetic + self.potential

    @property
    def drift(self):
        """Largest departure of the total energy from its first value."""
        return float(np.ptp(np.append(self.energy - self.energy[0], 0.0)))


class Machine:
    """A mechanism, or a model, held at its described state by the lagrange formulation."""

    def __init__(self, mechanism, core=_core, **options):
        self.mechanism = mechanism
        self.model = mechanism if isinstance(mechanism, Model) else compile_mechanism(mechanism)
        self.core = core
        self.core_model = self.model.core if core is _core else core.Model(**self.model.arrays)
        self.system = core.Lagrange(self.core_model, core.RefinedClosingOptions(**options))
        self.set(self.model.initial.arrays)

    def set(self, state, continued=False):
        """Take a state: time, position, rotation, velocity, angular velocity."""
        self.system.set_state(*state, continued)

    @property
    def count(self):
        return len(self.model.bodies)

    @property
    def joints(self):
        """What `reactions` asks for: every joint that holds something."""
        return [(list(joint.blocks), joint.pair) for joint in self.model.joints if joint.blocks]

    @property
    def drives(self):
        """The same for every drive."""
        pairs = self.model.arrays["coordinate_pair"]
        row_start, term = self.model.arrays["block_row_start"], self.model.arrays["term_coordinate"]
        first = self.model.arrays["row_term_start"]
        return [
            (list(drive.blocks), int(pairs[term[first[row_start[drive.blocks[0]]]]]))
            for drive in self.model.drives
        ]

    @property
    def coordinates(self):
        """The free coordinates of all joints, in order."""
        return [c for joint in self.model.joints for c in joint.coordinates]

    def coordinate(self, joint, which=0):
        """Value and rate of a free coordinate of a joint."""
        index = self.model.joint(joint).coordinates[which]
        values, rates = self.system.coordinates()
        return values[index], rates[index]

    def multiplier_rows(self, element):
        """Model rows of the drive, limits or rotor that belong to an element."""
        return [m.row for m in self.model.multipliers if m.element == element]

    def at(self, time):
        """The same poses and velocities at another time."""
        self.set((time, *self.system.state()[1:]), continued=True)

    def set_twists(self, u):
        """Velocities (nb, 6) as in the columns of `rows()`: of the com, world axes; angular, principal."""
        time, position, rotation, _, _ = self.system.state()
        R = matrix(rotation)
        principal = R @ matrix(self.core_model.principal_rotation)
        omega = np.einsum("bij,bj->bi", principal, u[:, 3:])
        arm = np.einsum("bij,bj->bi", R, self.model.com)
        self.set((time, position, rotation, u[:, :3] - np.cross(omega, arm), omega), continued=True)

    def twists(self):
        """The inverse of `set_twists`."""
        _, _, rotation, velocity, omega = self.system.state()
        R = matrix(rotation)
        principal = R @ matrix(self.core_model.principal_rotation)
        arm = np.einsum("bij,bj->bi", R, self.model.com)
        return np.hstack([velocity + np.cross(omega, arm), np.einsum("bji,bj->bi", principal, omega)])

    def run(
        self, duration, *, method="rk4", step=1e-3, frames=101, rtol=1e-9, atol=1e-9, rows=None, wrenches=None
    ):
        """Simulate from the state at hand, which should be projected; frames at equal intervals.

        rows: whose multipliers are recorded, by default those of drives, limits and rotors. wrenches: what
        `reactions` asks for, by default every joint.
        """
        start = self.system.state()[0]
        rows = [m.row for m in self.model.multipliers] if rows is None else rows
        wrenches = self.joints if wrenches is None else wrenches
        blocks: list[np.ndarray] = []
        what = self.core.Observation(
            coordinates=self.coordinates, rows=rows, reactions=wrenches, accelerations=True
        )
        made = self.core.Run(
            self.system, method=method, step=step, max_step=duration, rtol=rtol, atol=atol, what=what
        )
        times = np.linspace(start, start + duration, frames).tolist()
        made.advance(times, times[-1], True, True, lambda f: blocks.append(f.copy()), lambda _: None)
        outcome = made.outcome()
        return self._run(np.vstack(blocks), len(rows), len(wrenches), outcome)

    def _run(self, frames, rows, nj, outcome):
        counts = self.core.FrameCounts(
            bodies=self.count,
            coordinates=len(self.coordinates),
            multipliers=rows,
            reactions=nj,
            accelerations=True,
        )
        sections = self.core.frame_sections(counts)
        parts = {
            name: frames[:, 1 + begin : 1 + begin + int(np.prod(shape))].reshape(len(frames), *shape)
            for name, begin, shape in sections
        }
        return Run(frames[:, 0], *(parts[name] for name in SECTIONS), outcome)
