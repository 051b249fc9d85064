"""The one call into the core that makes a run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from bellcrank import _core
from bellcrank.assembly.state import Floats
from bellcrank.integrate.methods import MethodOptions

FRAMES: Final = 1000
"""About how many frames a run records unless its output step is given."""


@dataclass(frozen=True)
class Observed:
    """What a run records of a model: indices as `_core.simulate` takes them.

    coordinates: of the model. rows: whose multipliers. reactions: (blocks, pair) each.
    """

    coordinates: Sequence[int]
    rows: Sequence[int]
    reactions: Sequence[tuple[Sequence[int], int]]
    accelerations: bool


@dataclass(frozen=True)
class Outcome:
    """How a run ended.

    status: "finished", "interrupted", "not_finite", "constraints_lost" or "step_vanished".
    time: reached, s. steps, rejected: counts. last_step: s.
    body, row: index of the first body that is not finite, of the worst row; -1 where that is not the trouble.
    """

    status: str
    time: float
    steps: int
    rejected: int
    last_step: float
    body: int
    row: int


def output_times(start: float, duration: float, output_step: float | None, options: MethodOptions) -> Floats:
    """The times (n,) at which frames are recorded, both ends included.

    output_step: s; None for about FRAMES frames, with a fixed step every so many steps. The last interval may
    be shorter.
    """
    if output_step is None:
        output_step = duration / FRAMES
        if not options.method.adaptive:
            output_step = max(1.0, round(output_step / options.step)) * options.step
    count = int(np.floor(duration / output_step * (1.0 + 1e-12) + 1e-9))
    times: Floats = start + output_step * np.arange(count + 1, dtype=np.float64)
    end = start + duration
    if end - times[-1] > 1e-9 * output_step:
        return np.append(times, end)
    times[-1] = end
    return times


def advance(
    core: _core.Lagrange,
    options: MethodOptions,
    times: Floats,
    observed: Observed,
    on_block: Callable[[Floats], None],
    on_progress: Callable[[float], None],
) -> Outcome:
    """Take a system, whose state must satisfy the constraints, through the output times.

    on_block: takes frames (n, 1 + width), valid during the call.
    on_progress: takes the time reached, about twenty times a second.
    Ctrl-C ends the run with the status "interrupted".
    """
    ended: dict[str, Any] = _core.simulate(
        core,
        options.method.name,
        times.tolist(),
        options.step,
        options.max_step,
        options.rtol,
        options.atol,
        list(observed.coordinates),
        list(observed.rows),
        list(observed.reactions),
        observed.accelerations,
        on_block,
        on_progress,
    )
    return Outcome(**ended)
