"""What a formulation answers at a state: accelerations, reactions and efforts, by name."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bellcrank.assembly.model import Model
from bellcrank.assembly.state import Floats, State


@dataclass(frozen=True, eq=False)
class PointAcceleration:
    """Acceleration of a point: linear (3,), m/s^2; of its body: angular (3,), rad/s^2; world axes."""

    linear: Floats
    angular: Floats


@dataclass(frozen=True, eq=False)
class BodyAcceleration(PointAcceleration):
    """Acceleration of a body's frame, linear at its origin; `com`: the same at the centre of mass."""

    com: PointAcceleration


@dataclass(frozen=True, eq=False)
class JointReaction:
    """What a joint, its limits included, exerts on its second body.

    reaction: (6,), moment about marker 2's origin, N m, then force, N; world axes. Of least norm where
        redundant constraints leave it open.
    moment_unique, force_unique: whether the equations of motion determine it.
    """

    reaction: Floats
    moment_unique: bool
    force_unique: bool

    @property
    def moment(self) -> Floats:
        """The moment (3,), N m."""
        return self.reaction[:3]

    @property
    def force(self) -> Floats:
        """The force (3,), N."""
        return self.reaction[3:]

    @property
    def reaction_unique(self) -> bool:
        """Whether all of it is determined."""
        return self.moment_unique and self.force_unique


@dataclass(frozen=True, eq=False)
class DriveEffort:
    """What a drive exerts along what it leads: (rows,), N or N m, one for each function that leads."""

    efforts: Floats
    units: tuple[str, ...]

    @property
    def effort(self) -> float | Floats:
        """The effort: a number where the drive leads one coordinate."""
        return float(self.efforts[0]) if len(self.efforts) == 1 else self.efforts


@dataclass(frozen=True, eq=False)
class Accelerations:
    """Accelerations of a model at a state.

    linear, angular: (nb, 3), of the frame origins, world axes.
    multipliers: (rows,), M a = f + J^T multipliers.
    reactions: (joints with rows, 6), as `Model.reactions` lists them.
    unique: (joints with rows, 2), whether moment and force are determined.
    """

    model: Model
    state: State
    linear: Floats
    angular: Floats
    multipliers: Floats
    reactions: Floats
    unique: np.ndarray

    def body(self, name: str) -> BodyAcceleration:
        """Of one body. Raises MechanismError for names that do not exist."""
        i = self.model.body_number(name)
        omega, alpha = self.state.angular_velocity[i], self.angular[i]
        arm = rotate(self.state.rotation[i], self.model.com[i])
        at_com = self.linear[i] + np.cross(alpha, arm) + np.cross(omega, np.cross(omega, arm))
        return BodyAcceleration(self.linear[i], alpha, PointAcceleration(at_com, alpha))

    def joint(self, name: str) -> JointReaction:
        """Of one joint. Raises MechanismError for names that do not exist."""
        joint = self.model.joint(name)
        if not joint.blocks:
            return JointReaction(np.zeros(6), True, True)
        i = self.model.reaction_number[joint.name]
        return JointReaction(self.reactions[i], bool(self.unique[i, 0]), bool(self.unique[i, 1]))

    def drive(self, name: str) -> DriveEffort:
        """Of one drive. Raises MechanismError for names that do not exist."""
        drive = self.model.drive(name)
        led = [m for m in self.model.multipliers if m.kind == "drive" and m.element == drive.name]
        efforts = np.array([m.sign * self.multipliers[m.row] for m in led])
        return DriveEffort(efforts, tuple(m.unit for m in led))


def rotate(quaternions: Floats, vectors: Floats) -> Floats:
    """Vectors (..., 3) turned by unit quaternions (..., 4), local to world."""
    w, axis = quaternions[..., :1], quaternions[..., 1:]
    across = 2.0 * np.cross(axis, vectors)
    return np.asarray(vectors + w * across + np.cross(axis, across))
