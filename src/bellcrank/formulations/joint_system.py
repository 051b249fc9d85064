"""What formulations in joint coordinates share: their options, and the rows that their trees leave."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from bellcrank import _core
from bellcrank.assembly.model import Model
from bellcrank.assembly.state import Floats
from bellcrank.errors import Unsupported
from bellcrank.formulations.cuts import cut_blocks, cut_joints
from bellcrank.formulations.options import option
from bellcrank.formulations.system import System, SystemStatistics

_UNEVEN = 1e6  # spread of mobilities from which on digits may be short
_HIDDEN = 1e-6  # part of a joint's inertia beside what it carries, below which digits may be short
_USELESS = 1e-3  # part of the largest acceleration
_STILL = 1e-3  # m/s^2, rad/s^2: where nothing exceeds this, nothing accelerates


@dataclass(frozen=True)
class JointSystemOptions:
    """Options of projections onto closing rows; the metadata of each field hold its meaning and unit."""

    rank_tolerance: float = option(
        1e-10, "A closing row whose pivot falls below this part of its own entry is redundant."
    )
    position_tolerance: float = option(1e-13, "Largest constraint error after a projection.", "m or rad/2")
    stage_pivot: float = option(
        1e-2, "Smallest relative pivot below which the stages of a step are projected."
    )
    doubt: float = option(10.0, "Angle between rows, in sizes of a correction, that tells nothing of them.")
    contact_tolerance: float = option(1e-8, "Gap of a stop that counts as closed.", "m or rad")
    rest_speed: float = option(
        1e-3, "Approach speed below which a stop does not bounce.", "m/s or rad/s", 0.0
    )
    max_corrections: int = option(25, "Position corrections before a projection gives up.", least=1)
    cut: tuple[str, ...] = option((), "Joints at which loops are cut, by name; the other cuts are chosen.")

    def for_core(self, model: Model, formulation: str) -> dict[str, Any]:
        """The options as the core takes them. Raises MechanismError for joints that cannot be cut."""
        return {**asdict(self), "cut": cut_blocks(model, formulation, self.cut)}


class JointSystem(System):
    """A model prepared for a formulation in joint coordinates.

    Where bodies are very uneven, or far from the joints that carry them, inertias that are carried along the
    tree hide those of light bodies. There the answer is compared with that of body coordinates in 32 digits,
    at the start and whenever statistics are wanted.

    Raises Unsupported where the two have nothing in common at the start.
    """

    def __init__(self, model: Model, formulation: str, core: Any, options: Any, reason: str = "") -> None:
        super().__init__(model, formulation, core, options, reason)
        self._is_uneven = _core.spread_of_mobility(model.core) > _UNEVEN
        self._missed = self._errors() if self._is_uneven else (0.0, 0.0)  # the most so far
        off = self._missed[0]
        if not off <= _USELESS:
            raise Unsupported(
                f"formulation {formulation!r} cannot take mechanism {model.name!r}: masses and inertias of "
                f"its bodies are so uneven that accelerations are off by {off:.1e} of the largest in joint "
                "coordinates. Use formulation='lagrange', which computes such mechanisms in 32 digits."
            )

    @property
    def stats(self) -> SystemStatistics:
        """What it did so far, with the redundant rows by name."""
        found = super().stats
        if not self._is_uneven and self.core.statistics()["smallest_inertia"] > _HIDDEN:
            return found
        accelerations, efforts = (max(pair) for pair in zip(self._missed, self._errors(), strict=True))
        self._missed = (accelerations, efforts)
        return replace(found, uncertainty=accelerations, effort_uncertainty=efforts)

    def _errors(self) -> tuple[float, float]:
        """Of accelerations and of what rows exert at this state, each relative to the largest.

        Where nothing accelerates, gravity and turns of the bodies say what would be large.
        """
        exact, state, arrays = _core.Lagrange(self.model.core), self.state(), self.model.arrays
        self.model.put(exact, state, False)
        linear, angular, efforts = zip(exact.accelerate(), self.core.accelerate(), strict=True)
        spin, speed = _largest(state.angular_velocity), _largest(state.velocity)
        moved = max(_largest(linear[0], angular[0], arrays["gravity"]), spin * max(spin, speed), _STILL)
        acted = moved * float(np.min(arrays["body_mass"]))
        off = _largest(linear[1] - linear[0], angular[1] - angular[0])
        which = [(blocks, pair) for _, blocks, pair in self.model.reactions]
        carried = [core.reactions(which)[0] for core in (exact, self.core)]
        missed = max(
            _ratio(_largest(found - known), max(acted, _largest(known)))
            for known, found in (efforts, carried)
        )
        return _ratio(off, moved), missed

    @property
    def closing_rows(self) -> tuple[str, ...]:
        """The rows that are met by multipliers; all others hold by the choice of coordinates."""
        return tuple(self.model.row_text(row) for row in self.core.closing_rows())

    @cached_property
    def cut_joints(self) -> tuple[str, ...]:
        """The joints left out of the tree: where loops are cut, and those that could carry nothing."""
        return cut_joints(self.model, self.core.closing_rows())


def _largest(*arrays: Floats) -> float:
    return float(np.max([np.abs(array).max(initial=0.0) for array in arrays]))  # not a number if one is not


def _ratio(off: float, scale: float) -> float:
    """A relative error; numbers that are not finite are infinitely far off."""
    if off == 0.0:
        return 0.0
    return off / scale if np.isfinite(off) and scale > 0.0 else np.inf
