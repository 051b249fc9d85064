"""Rows, functions of time and formulas that have no value, or no meaning, where they are needed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from bellcrank import _core
from bellcrank.compile.model import Model
from bellcrank.compile.state import Floats
from bellcrank.errors import FaultList

_WHERE: Final = {
    "azimuth": "the origin of one marker lies on the z axis of the other: their line has no direction",
    "azimuth_axis": "the z axes of its markers are parallel",
    "theta": "the axes of its markers point against each other",
    "universal": "the axes of a cross are in line",
}
_ADVICE: Final = {
    "azimuth": "place the wheels apart, let joints hold their axes, or couple the angles of joints",
    "azimuth_axis": "place the axes at an angle, or couple the angles of joints",
}
_PARTS = ("value", "rate", "second derivative")
_OF_COORDINATE = ("table", "one_sided")  # kinds of laws whose function is one of their coordinate


def pole_text(model: Model, row: int) -> str:
    """The row by name, where it is not defined, and what to do."""
    kinds = dict.fromkeys(model.arrays["coordinate_kind"][c] for c, _ in model.terms(row))
    name = next((name for kind in kinds for name in (kind, kind.split("_")[0]) if name in _WHERE), "")
    where = _WHERE.get(name, "an angle in it has no direction")
    advice = _ADVICE.get(name, "describe the motion there by other coordinates")
    return f"{model.row_text(row)} says nothing where {where}; {advice}"


def check_driven_rows(model: Model) -> None:
    """Raise MechanismError for drives whose functions have no value or rate at the model's start."""
    faults = FaultList()
    functions = model.arrays["row_function"]
    for row in np.flatnonzero(functions >= 0).tolist():
        found = model.core_function(int(functions[row]))(np.array([model.initial.time]))[0]
        missing = [part for part, value in zip(_PARTS, found, strict=True) if not np.isfinite(value)]
        if missing:
            rule = f"its function of time has no finite {missing[0]} at t = {model.initial.time:g} s"
            advice = "give one that has, with its derivatives, from the start on"
            faults.add(model.block_owner[model.row_block[row]], rule, float(found[0]), advice)
    faults.raise_any()


def forces_without_value(model: Model, times: Sequence[float]) -> list[str]:
    """What forces have functions of time without a finite value at one of these times, as texts."""
    found = []
    for record in model.forces:
        laws = [law for law in record.laws if model.arrays["law_kind"][law] not in _OF_COORDINATE]
        used = {int(model.arrays["law_function"][law]) for law in laws}
        used |= {int(f) for wrench in record.wrenches for f in model.arrays["wrench_function"][wrench]}
        time = _first_without_value(model, used - {-1}, times)
        if time is not None:
            found.append(
                f"the function of time of force {record.name!r} has no finite value at t = {time:.6g} s"
            )
    return found


def formulas_without_value(model: Model, core: Any, steps: Sequence[float]) -> list[str]:
    """What forces given by formulas have no finite value so long after the state of a system, as texts."""
    names = [r.name for r in model.custom if r.category == "force" and r.lowered.custom is not None]
    if not names:
        return []
    bodies = _core.Bodies(model.core)
    bodies.set_state(*core.state())
    return [
        f"the formulas of force {names[number]!r} have no finite value at t = {time:.6g} s"
        for number, time in bodies.forces_without_value(list(steps))
    ]


def _first_without_value(model: Model, functions: Iterable[int], times: Sequence[float]) -> float | None:
    for function in functions:
        values = model.core_function(function)(np.array(times))[:, 0]
        bad = np.flatnonzero(~np.isfinite(values))
        if bad.size:
            return times[int(bad[0])]
    return None


class Regularity:
    """Watches the frames of a run for joints given by formulas, ropes, teeth, beams that lose their meaning.

    They do where a number changes its sign. The edge of a disc touches a plane at one point as long as the
    disc does not lie flat. Past that its formulas go on, with a disc that is below the plane; methods with
    long steps get there without noticing the singularity between.

    columns: of the coordinates of the model in a frame, by index; its first column is the time.
    inputs: columns of the model's inputs, in their order. further: watches of ropes, teeth and beams.
    lost: where something ceased to be regular, None as long as all is: the time, s, and what to say of it.
    """

    def __init__(
        self, model: Model, columns: Mapping[int, int], inputs: Iterable[int], further: Iterable[Any] = ()
    ) -> None:
        self.lost: tuple[float, str] | None = None
        self._watched: list[Any] = list(further)
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
