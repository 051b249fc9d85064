"""The results of a formulation at a state: accelerations, reactions and efforts, by name."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bellcrank.compile.model import Model
from bellcrank.compile.state import Floats, State
from bellcrank.errors import Fault, MechanismError
from bellcrank.mechanism.checking import nearest


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
    """The efforts of a drive, a constraint or the limits of a joint along the coordinates they constrain.

    efforts: (rows,), N or N m, one for each driving function, each row or each limit. Of least norm,
        together with the reactions of joints, where redundant constraints leave them open.
    determined: (rows,), whether the equations of motion determine it.
    """

    efforts: Floats
    units: tuple[str, ...]
    determined: np.ndarray

    @property
    def effort(self) -> float | Floats:
        """The effort: a plain number if there is only one."""
        return float(self.efforts[0]) if len(self.efforts) == 1 else self.efforts

    @property
    def unique(self) -> bool:
        """Whether all of it is determined."""
        return bool(self.determined.all())


@dataclass(frozen=True, eq=False)
class Accelerations:
    """Accelerations of a model at a state.

    linear, angular: (nb, 3), of the frame origins, world axes.
    multipliers: (rows,), M a = f + J^T multipliers; of least norm where rows are redundant.
    reactions: (joints with rows, 6), as `Model.reactions` lists them.
    unique: (joints with rows, 2), whether moment and force are determined.
    determined: (rows,), whether a multiplier is.
    """

    model: Model
    state: State
    linear: Floats
    angular: Floats
    multipliers: Floats
    reactions: Floats
    unique: np.ndarray
    determined: np.ndarray

    def body(self, name: str) -> BodyAcceleration:
        """Acceleration of a body. Raises MechanismError for names that do not exist."""
        i = self.model.body_number(name)
        omega, alpha = self.state.angular_velocity[i], self.angular[i]
        arm = rotate(self.state.rotation[i], self.model.com[i])
        at_com = self.linear[i] + np.cross(alpha, arm) + np.cross(omega, np.cross(omega, arm))
        return BodyAcceleration(self.linear[i], alpha, PointAcceleration(at_com, alpha))

    def joint(self, name: str) -> JointReaction:
        """Reaction of a joint. Raises MechanismError for names that do not exist."""
        joint = self.model.joint(name)
        if not joint.blocks:
            return JointReaction(np.zeros(6), True, True)
        i = self.model.reaction_number[joint.name]
        return JointReaction(self.reactions[i], bool(self.unique[i, 0]), bool(self.unique[i, 1]))

    def drive(self, name: str) -> DriveEffort:
        """Effort of a drive. Raises MechanismError for names that do not exist."""
        return self._effort(self.model.drive(name).name, "drive")

    def constraint(self, name: str) -> DriveEffort:
        """Effort of a gear, belt, cable or another coupling, defined as for `Trajectory.constraint`.

        Raises MechanismError for names that do not exist, and for constraints given by formulas.
        """
        return self._effort(name, "constraint", "constraint with an effort")

    def limit(self, name: str) -> DriveEffort:
        """Efforts of the limits of a joint, one for each. Raises MechanismError for joints without limits."""
        return self._effort(name, "limit", "joint with limits")

    def _effort(self, name: str, kind: str, noun: str = "drive") -> DriveEffort:
        held = [m for m in self.model.multipliers if m.kind == kind and m.element == name]
        if not held and noun != "drive":
            names = dict.fromkeys(m.element for m in self.model.multipliers if m.kind == kind)
            rule = f"there is no {noun} of this name"
            raise MechanismError(Fault(f"{kind} {name!r}", rule, None, nearest(name, list(names))))
        rows = [m.row for m in held]
        efforts = np.array([m.sign * self.multipliers[m.row] for m in held])
        return DriveEffort(efforts, tuple(m.unit for m in held), self.determined[rows])


def rotate(quaternions: Floats, vectors: Floats) -> Floats:
    """Vectors (..., 3) turned by unit quaternions (..., 4), local to world."""
    w, axis = quaternions[..., :1], quaternions[..., 1:]
    across = 2.0 * np.cross(axis, vectors)
    return np.asarray(vectors + w * across + np.cross(axis, across))
