"""Bodies as they are described, as arrays."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from bellcrank.assembly.state import State
from bellcrank.mechanism.body import Body


def body_arrays(bodies: Iterable[Body]) -> dict[str, Any]:
    """Mass, com and inertia of the bodies as the core takes them."""
    listed = list(bodies)
    return {
        "body_mass": np.array([body.mass for body in listed], dtype=np.float64),
        "body_com": np.array([body.com for body in listed], dtype=np.float64).reshape(-1, 3),
        "body_inertia": np.array([body.inertia for body in listed], dtype=np.float64).reshape(-1, 3, 3),
    }


def initial_state(bodies: Iterable[Body], time: float = 0.0) -> State:
    """The State in which bodies are described."""
    listed = list(bodies)

    def stacked(field: str, columns: int) -> np.ndarray:
        return np.array([getattr(body, field) for body in listed], dtype=np.float64).reshape(-1, columns)

    return State(
        time,
        stacked("position", 3),
        stacked("rotation", 4),
        stacked("velocity", 3),
        stacked("angular_velocity", 3),
    )
