"""The State: where all bodies are and how they move, free of any formulation."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class State:
    """Poses and velocities of the body frames' origins in world axes, bodies in the model's order.

    time: s.
    position: (nb, 3), m. rotation: (nb, 4), unit quaternions (w, x, y, z), local to world.
    velocity: (nb, 3), m/s. angular_velocity: (nb, 3), rad/s.
    angles: the angular coordinates of the model (see `Model.angular`) with their whole turns, rad: what poses
        cannot tell. None if not known; angles then start within pi, or where a drive has them.

    Raises ValueError if the shapes do not match.
    """

    time: float
    position: Floats
    rotation: Floats
    velocity: Floats
    angular_velocity: Floats
    angles: Floats | None = None

    def __post_init__(self) -> None:
        count = len(self.position)
        for name, columns in (("position", 3), ("rotation", 4), ("velocity", 3), ("angular_velocity", 3)):
            array = np.ascontiguousarray(getattr(self, name), dtype=np.float64)
            if count == 0:
                array = array.reshape(0, columns)
            if array.shape != (count, columns):
                raise ValueError(f"state: {name} must have shape ({count}, {columns}), got {array.shape}")
            object.__setattr__(self, name, array)
        if self.angles is not None:
            object.__setattr__(self, "angles", np.array(self.angles, dtype=np.float64).ravel())

    def at_time(self, time: float) -> State:
        """The same poses and velocities at another time."""
        return replace(self, time=time)

    @property
    def arrays(self) -> tuple[float, Floats, Floats, Floats, Floats]:
        """Time and arrays in the order in which the core takes them."""
        return (self.time, self.position, self.rotation, self.velocity, self.angular_velocity)
