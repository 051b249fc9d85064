"""What rounding of poses makes of the forces of stiff laws: all that is left where they exert nothing."""

from __future__ import annotations

from typing import Final

import numpy as np

from bellcrank import _core
from bellcrank.analysis.state_coordinates import size_of
from bellcrank.assembly.model import Model
from bellcrank.assembly.state import Floats
from bellcrank.mechanism.coordinate import COORDINATE_KINDS

_ROUNDED: Final = 1e-6  # rad, or parts of the mechanism's size; a millionth of a hundredth of it is rounding
_STEP: Final = 1e-3  # rad or m, for slopes of laws


def force_sizes(model: Model) -> tuple[Floats, Floats]:
    """Sizes (nb,) of forces and of moments on bodies, such that 1e-8 of them is rounding.

    A law that should exert nothing exerts its stiffness, that at the initial state, times the rounding of its
    coordinate.
    """
    arrays = model.arrays
    force, moment = np.zeros(len(model.bodies) + 1), np.zeros(len(model.bodies) + 1)
    values = model.coordinate_values(model.initial)
    length = size_of(model, model.initial)
    for law, coordinate in enumerate(arrays["law_coordinate"].tolist()):
        stiffness = _stiffness(model, law, float(values[coordinate]))
        kind = COORDINATE_KINDS.get(str(arrays["coordinate_kind"][coordinate]))
        bodies = arrays["pair_bodies"].reshape(-1, 2)[int(arrays["coordinate_pair"][coordinate])]
        turns = kind is not None and kind.unit == "rad"
        force[bodies] += 0.0 if turns else _ROUNDED * stiffness * length
        moment[bodies] += _ROUNDED * stiffness * (1.0 if turns else length**2)
    return force[:-1], moment[:-1]


def acceleration_size(model: Model) -> float:
    """The size of accelerations, m/s^2 or rad/s^2, such that 1e-8 of it is rounding."""
    force, moment = force_sizes(model)
    lightest = np.array([np.linalg.eigvalsh(one)[0] for one in model.inertia])
    parts = [
        np.divide(size, inertia, out=np.zeros_like(size), where=inertia > 0.0)
        for size, inertia in ((force, np.asarray(model.mass)), (moment, lightest))
    ]
    return float(np.max(np.concatenate(parts), initial=0.0))


def _stiffness(model: Model, law: int, value: float) -> float:
    arrays = model.arrays
    params = arrays["law_params"][slice(*arrays["law_param_start"][law : law + 2])]
    number = int(arrays["law_function"][law])
    function = None if number < 0 else model.core_function(number)
    time = model.initial.time
    ahead, back = (
        _core.law_effort(arrays["law_kind"][law], value + step, 0.0, time, params, function)
        for step in (_STEP, -_STEP)
    )
    return abs(float(ahead - back)) / (2.0 * _STEP)
