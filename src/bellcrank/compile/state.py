"""The State: poses and velocities of all bodies, independent of any formulation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bellcrank import _core
from bellcrank.errors import Fault, MechanismError

if TYPE_CHECKING:
    from bellcrank.compile.state_source import StateSource

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int32]

Points: TypeAlias = NDArray[np.void]
"""Records of touching points (n,); they have the fields of `MEMORY` at least."""


def record_type(fields: Sequence[tuple[Any, ...]]) -> np.dtype[np.void]:
    """The type of records of numbers whose fields the core declares."""
    return np.dtype([(name, "f8", (count,) if count > 1 else ()) for name, count, *_ in fields])


MEMORY: Final = record_type(_core.ContactMemory.fields())
"""The type of what a touching point remembers."""


def _numbers(name: str, value: Any) -> Floats:
    """An array of numbers. Raises MechanismError for anything else."""
    try:
        return np.ascontiguousarray(value, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise MechanismError(Fault("state", f"{name} must hold numbers", value)) from None


def _contacts(value: Any) -> Points:
    if not isinstance(value, np.ndarray) or value.dtype != MEMORY or value.ndim != 1:
        rule = f"contacts must be records (n,) of {', '.join(MEMORY.names or ())}"
        raise MechanismError(Fault("state", rule, value, "such as run.at(t).contacts"))
    return value.copy()


@dataclass(frozen=True, eq=False)
class State:
    """Poses and velocities of the body frames' origins in world axes, bodies in the model's order.

    time: s.
    position: (nb, 3), m. rotation: (nb, 4), unit quaternions (w, x, y, z), local to world.
    velocity: (nb, 3), m/s. angular_velocity: (nb, 3), rad/s.
    angles: the angular coordinates of the model (see `Model.angular`) with their whole turns, rad: what poses
        do not contain. None if unknown; then those with which drives, couplings, screws and limits hold, and
        the fewest otherwise (docs/theory/assembly.md, section 9).

    contacts: (n,), what points that touch remember of friction, world axes; records of the numbers of the two
        `shapes` and of their `features`, the elastic displacement `shear`, m, `position` and `normal` of the
        contact, and `slips`, 1 where it does. None if unknown; friction then starts without any displacement.
    source: names of the mechanism that the state is of, by which another mechanism goes on from it. None if
        unknown; bodies and angles are then those of whoever takes the state, in its order.

    Raises MechanismError for values that are not numbers, and if the shapes do not match.
    """

    time: float
    position: Floats
    rotation: Floats
    velocity: Floats
    angular_velocity: Floats
    angles: Floats | None = None
    contacts: Points | None = None
    source: StateSource | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.time, (int, float, np.integer, np.floating)):
            raise MechanismError(Fault("state", "time must be a number", self.time, "give it in s"))
        count = -1
        for name, columns in (("position", 3), ("rotation", 4), ("velocity", 3), ("angular_velocity", 3)):
            array = _numbers(name, getattr(self, name))
            if array.size == 0 and array.ndim and len(array) == 0:
                array = array.reshape(0, columns)
            count = len(array) if count < 0 and array.ndim else count
            if array.shape != (count, columns):
                rule = f"{name} must have shape ({max(count, 0)}, {columns})"
                raise MechanismError(Fault("state", rule, array.shape))
            object.__setattr__(self, name, array)
        if self.angles is not None:
            object.__setattr__(self, "angles", _numbers("angles", self.angles).ravel().copy())
        if self.contacts is not None:
            object.__setattr__(self, "contacts", _contacts(self.contacts))

    def at_time(self, time: float) -> State:
        """The same poses and velocities at another time."""
        return replace(self, time=time)

    @property
    def arrays(self) -> tuple[float, Floats, Floats, Floats, Floats]:
        """Time and arrays in the order in which the core takes them."""
        return (self.time, self.position, self.rotation, self.velocity, self.angular_velocity)
