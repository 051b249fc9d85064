"""Joints given by formulas that lose their meaning where a number changes its sign, watched along a run.

The edge of a disc touches a plane at one point as long as the disc does not lie flat. Past that its formulas
go on, with a disc that is below the plane; methods with long steps get there without noticing the
singularity between.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from bellcrank import _core
from bellcrank.assembly.model import Model
from bellcrank.assembly.state import Floats


class Regularity:
    """Watches the frames of a run.

    columns: of the coordinates of the model in a frame, by index; its first column is the time.
    inputs: columns of the model's inputs, in their order.
    lost: where a joint ceased to be regular, None as long as all are: the time, s, and what to say of it.
    """

    def __init__(self, model: Model, columns: Mapping[int, int], inputs: Iterable[int]) -> None:
        self.lost: tuple[float, str] | None = None
        self._watched: list[_Watched] = []
        steered = dict(zip(model.inputs, inputs, strict=True))
        kinds = {record.name: record.lowered.custom for record in model.custom if record.category == "joint"}
        for joint in model.joints:
            kind: Any = kinds.get(joint.name)
            regular = None if kind is None else kind.regular
            if regular is not None:
                places = [columns[c] for c in joint.coordinates]
                self._watched.append(_Watched(joint.name, kind, regular, places, steered))

    @property
    def watches(self) -> bool:
        """Whether there is anything to watch."""
        return bool(self._watched)

    def is_lost(self) -> bool:
        """Whether a joint has ceased to be regular."""
        return self.lost is not None

    def watching(self, sink: Callable[..., None]) -> Callable[..., None]:
        """A sink that passes frames on to `sink` up to where a joint ceases to be regular."""
        if not self._watched:
            return sink

        def take(frames: Floats, *contacts: Floats) -> None:
            if self.lost is not None:
                return
            count = len(frames)
            for watched in self._watched:
                bad = watched.first_bad(frames[:count])
                if bad is not None:
                    count = bad
                    self.lost = (float(frames[bad, 0]), watched.message)
            sink(frames[:count], *contacts)

        return take


class _Watched:
    def __init__(
        self, name: str, kind: Any, regular: Any, places: list[int], steered: Mapping[Any, int]
    ) -> None:
        changing = {symbol: steered[symbol] for symbol in kind.input_symbols}
        inputs = [*kind.own_symbols, *changing, *(symbol for symbol, _ in kind.values)]
        _, main = _core.lower_expressions([regular], inputs)
        self._program = _core.CompiledProgram(main)
        self._shared = np.array([value for _, value in kind.values], dtype=np.float64)
        self._places = [*places, *changing.values()]
        self._sign = 0.0
        advice = "describe what happens there by other joints, or end the run before"
        self.message = f"joint {name!r}: {kind.singular}; {advice}"

    def first_bad(self, frames: Floats) -> int | None:
        """The number of the first frame in which the sign is another than it was at the start."""
        out = np.empty((len(frames), 1))
        self._program.evaluate_batch(np.ascontiguousarray(frames[:, self._places]), self._shared, out)
        signs = np.sign(out[:, 0])
        if self._sign == 0.0 and len(signs):
            self._sign = float(signs[0])
        bad = np.flatnonzero(signs * self._sign <= 0.0)
        return int(bad[0]) if len(bad) else None
