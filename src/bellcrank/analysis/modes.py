"""Modes: the small free motions of a mechanism about a state."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Unpack

import numpy as np

from bellcrank.analysis.linear_model import LinearModel
from bellcrank.analysis.linearize import linearize
from bellcrank.analysis.mode import Kind, Mode
from bellcrank.analysis.stability import Stability
from bellcrank.assembly.state import Floats, State
from bellcrank.errors import Fault, MechanismError
from bellcrank.formulations.options import FormulationOptions
from bellcrank.mechanism.mechanism import Mechanism

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_REAL: Final = 1e-9  # imaginary part below this part of the size of an eigenvalue is rounding


@dataclass(frozen=True)
class _Found:
    """A mode as it is found: see `Mode`."""

    kind: Kind
    eigenvalue: complex
    uncertainty: float
    state: np.ndarray


@dataclass(frozen=True, eq=False)
class Modes(Sequence[Mode]):
    """The modes of a mechanism about a state, neutral ones first, then by increasing |eigenvalue|.

    linear: the linearized equations. zeros: the number of zero eigenvalues; if there are more than neutral
    modes, some of these drift: a body that is pushed keeps moving.
    """

    linear: LinearModel
    values: tuple[_Found, ...] = field(repr=False)
    zeros: int

    @cached_property
    def _modes(self) -> tuple[Mode, ...]:
        return tuple(
            Mode(n, one.kind, one.eigenvalue, one.uncertainty, one.state, self)
            for n, one in enumerate(self.values, start=1)
        )

    @cached_property
    def displacements(self) -> Floats:
        """Displacements of the bodies for each coordinate (nb, 6, coordinates)."""
        return self.linear.chart.shapes()

    @property
    def neutral(self) -> tuple[Mode, ...]:
        """The neutral modes."""
        return tuple(mode for mode in self if mode.kind == "neutral")

    @property
    def frequencies(self) -> Floats:
        """Natural frequencies of the oscillating modes, increasing, Hz."""
        return np.array([mode.frequency for mode in self if mode.kind == "oscillating"])

    @property
    def stability(self) -> Stability:
        """Whether small motions die away or stay small, stay, or grow; see `LinearModel.stability`."""
        return self.linear.stability

    @property
    def stable(self) -> bool:
        """Whether no mode grows."""
        return all(mode.stability != "grows" for mode in self)

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, index: Any) -> Any:
        return self._modes[index]

    def __iter__(self) -> Iterator[Mode]:
        return iter(self._modes)

    def mode(self, number: int) -> Mode:
        """A mode by its number, from 1. Raises MechanismError if there is none."""
        if isinstance(number, bool) or not isinstance(number, int) or not 1 <= number <= len(self):
            rule = (
                f"there are modes 1 to {len(self)}" if len(self) else "there are no modes: nothing can move"
            )
            raise MechanismError(Fault("mode", rule, number))
        return self._modes[number - 1]

    def draw(
        self, path: str | Path | None = None, *, numbers: Sequence[int] = (), columns: int = 3, **options: Any
    ) -> Figure:
        """Draw the mode shapes over the mechanism, with frequencies and damping ratios.

        path: file to write the picture into. numbers: of the modes to draw; by default the first nine that
        are not neutral. columns: of pictures beside each other. options: of `Mechanism.draw`, such as view.

        Raises MechanismError for wrong options and numbers, Unsupported without matplotlib.
        """
        from bellcrank.analysis.mode_pictures import draw_modes

        return draw_modes(self, path, numbers, columns, options)

    def to_dict(self) -> dict[str, Any]:
        """The modes as plain values, as `bellcrank modes --json` prints them."""
        return {
            "mechanism": self.linear.mechanism,
            "formulation": self.linear.formulation,
            "time": self.linear.state.time,
            "derived": self.linear.derived,
            "error": self.linear.error,
            "zero_eigenvalues": self.zeros,
            "stable": self.stable,
            "modes": [mode.to_dict() for mode in self],
            "notes": list(self.linear.notes),
        }

    def __str__(self) -> str:
        drifting = self.zeros - len(self.neutral)
        rest = f"; {drifting} more zero eigenvalues: steady drifts" if drifting > 0 else ""
        head = (
            f"{self.linear.mechanism!r}: {len(self)} modes at t = {self.linear.state.time:g} s, "
            f"{len(self.neutral)} neutral{rest}"
        )
        return "\n".join(
            [head, *(f"  {mode}" for mode in self), *(f"  note: {n}" for n in self.linear.notes)]
        )


def modes(
    mechanism: Mechanism,
    *,
    state: State | None = None,
    time: float = 0.0,
    states: Iterable[str] | str = (),
    steady: bool = True,
    formulation: str = "auto",
    **options: Unpack[FormulationOptions],
) -> Modes:
    """Natural frequencies, damping ratios and shapes of small motions about an equilibrium or steady motion.

    The mechanism is linearized as `bc.linearize` does it, with the same arguments and errors.
    """
    made = linearize(
        mechanism,
        inputs=(),
        state=state,
        time=time,
        states=states,
        steady=steady,
        formulation=formulation,
        **options,
    )
    return modes_of(made)


def modes_of(linear: LinearModel) -> Modes:
    """The modes of linearized equations."""
    count, scale = linear.coordinates, linear.scale
    found = linear.eigen()
    listed = [
        _Found("neutral", 0j, found.zero, _normal(way.astype(complex), count, scale))
        for way in _neutral(found.null, count, scale).T
    ]
    order = np.argsort(np.abs(found.values), kind="stable")
    for number in order.tolist():
        value, vector = complex(found.values[number]), found.vectors[:, number]
        unsure = float(found.uncertainty[number])
        if abs(value.imag) <= _REAL * abs(value):
            real = vector.real if np.linalg.norm(vector.real) >= np.linalg.norm(vector.imag) else vector.imag
            state = _normal(real.astype(complex), count, scale)
            listed.append(_Found("monotonic", complex(value.real, 0.0), unsure, state))
        elif value.imag > 0.0:
            listed.append(_Found("oscillating", value, unsure, _normal(vector, count, scale)))
    return Modes(linear, tuple(listed), found.zeros)


def _neutral(null: Floats, count: int, scale: Floats) -> Floats:
    """Null directions, each with as few coordinates as possible: by reduction to echelon form."""
    ways = (null / scale[:, None]).T.copy()
    row = 0
    for column in range(count):
        if row == len(ways):
            break
        best = row + int(np.argmax(np.abs(ways[row:, column])))
        if abs(ways[best, column]) < 1e-6:
            continue
        ways[[row, best]] = ways[[best, row]]
        ways[row] /= ways[row, column]
        for other in range(len(ways)):
            if other != row:
                ways[other] -= ways[other, column] * ways[row]
        row += 1
    return (ways * scale).T


def _normal(state: np.ndarray, count: int, scale: Floats) -> np.ndarray:
    """Scaled so that the coordinate that moves most is real, and of its size."""
    parts = state[:count] / scale[:count]
    if not len(parts) or not np.max(np.abs(parts)) > 0.0:
        return state
    return np.asarray(state / parts[int(np.argmax(np.abs(parts) > (1.0 - 1e-9) * np.max(np.abs(parts))))])
