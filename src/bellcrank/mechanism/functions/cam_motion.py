"""Motion laws of cams: what a follower does while the cam turns once, by segments of standard laws."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from math import pi
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from bellcrank.mechanism.checking import Check
from bellcrank.mechanism.fields import array, checked, described
from bellcrank.mechanism.functions.function import FlatFunction, Function, Harmonic
from bellcrank.mechanism.functions.nurbs import _RationalFunction
from bellcrank.mechanism.functions.piecewise import (
    EXTRAPOLATIONS,
    Pieces,
    _PiecewiseFunction,
    extrapolated,
    increasing,
    smoothness,
)
from bellcrank.mechanism.given import FloatsField

if TYPE_CHECKING:
    from bellcrank.mechanism.given import Declared

    _LawsField: TypeAlias = "Declared[tuple[str, ...], str | tuple[str, ...] | list[str]]"
else:
    _LawsField = str | tuple[str, ...]

TURN: Final = 2.0 * pi
_ROUND: Final = 1e-9  # of a turn, and of numbers that should be the same


@dataclass(frozen=True, eq=False)
class Waves:
    """Polynomials and a sine on neighbouring intervals, as cpp/functions/waves.hpp has them.

    sines: (n, 3), amplitude, omega and phase of each piece: A sin(omega (x - break) + phase).
    """

    pieces: Pieces
    sines: np.ndarray

    def evaluate(self, x: np.ndarray, order: int, piece: np.ndarray) -> np.ndarray:
        """The derivative of that order at x (any shape), each by the given piece."""
        amplitude, omega, phase = np.moveaxis(self.sines[piece], -1, 0)
        turn = omega * (x - self.pieces.breaks[piece]) + phase + order * pi / 2
        return np.asarray(self.pieces.evaluate(x, order, piece) + amplitude * omega**order * np.sin(turn))

    def derivative(self, x: Any, order: int = 1) -> np.ndarray:
        """The derivative of that order at x, periodically."""
        return extrapolated(self.pieces, self.evaluate, "periodic", x, order)

    def flat(self) -> tuple[float, ...]:
        """The numbers that C++ takes."""
        count, order = self.pieces.coefficients.shape
        head = np.array([order, count, EXTRAPOLATIONS.index("periodic")], dtype=float)
        parts = [head, self.pieces.breaks, self.pieces.coefficients.ravel(), self.sines.ravel()]
        return tuple(np.concatenate(parts).tolist())


_Piece: TypeAlias = tuple[float, tuple[float, ...], tuple[float, float, float]]
"""Of a segment from 0 to 1 that rises by 1: where the piece begins, its polynomial and its sine there."""

_NONE: Final = (0.0, 0.0, 0.0)
_MODIFIED: Final = 1.0 / (4.0 + pi)
LAWS: Final[dict[str, tuple[_Piece, ...]]] = {
    "cycloidal": ((0.0, (0.0, 1.0), (-1.0 / TURN, TURN, 0.0)),),
    "harmonic": ((0.0, (0.5,), (-0.5, pi, pi / 2)),),
    "parabolic": ((0.0, (0.0, 0.0, 2.0), _NONE), (0.5, (0.5, 2.0, -2.0), _NONE)),
    "3-4-5": ((0.0, (0.0, 0.0, 0.0, 10.0, -15.0, 6.0), _NONE),),
    "4-5-6-7": ((0.0, (0.0, 0.0, 0.0, 0.0, 35.0, -84.0, 70.0, -20.0), _NONE),),
    "modified sine": (
        (0.0, (0.0, pi * _MODIFIED), (-0.25 * _MODIFIED, 2 * TURN, 0.0)),
        (0.125, ((2.0 + pi / 8) * _MODIFIED, pi * _MODIFIED), (-2.25 * _MODIFIED, 2 * TURN / 3, pi / 2)),
        (0.875, ((4.0 + 7 * pi / 8) * _MODIFIED, pi * _MODIFIED), (-0.25 * _MODIFIED, 2 * TURN, -pi / 2)),
    ),
}
"""The standard laws (R. L. Norton, Cam Design and Manufacturing Handbook, chapters 2 and 3)."""


def _laws(check: Check, field: str, value: Any) -> tuple[str, ...]:
    given = (value,) if isinstance(value, str) else value
    listed = tuple(given) if isinstance(given, (tuple, list)) else (given,)
    return tuple(str(check.choice(field, one, tuple(LAWS))) for one in listed)


@described
class CamMotion(Function):
    """What a follower does over one turn of a cam, in segments: where its lift changes, by a standard law.

    angles: n + 1 of the cam, increasing over one turn, 2 pi, rad. It repeats with every turn.
    lifts: n + 1, of the follower at these angles, m or rad; the last is the first. Where two neighbours are
        the same, it dwells.
    laws: of the segments: "cycloidal", "harmonic", "parabolic", "3-4-5", "4-5-6-7" or "modified sine"; one
        for all, or one for each segment.

    >>> law = bc.CamMotion([0, np.pi, 2 * np.pi], [0.0, 0.01, 0.0], laws="cycloidal")
    >>> print(law.derivative([np.pi / 2, np.pi], 0).round(6))    # m: half the lift, the lift
    [0.005 0.01 ]
    """

    angles: FloatsField = checked(increasing, "rad", parametric=True, followed=False)
    lifts: FloatsField = array("m or rad", None, followed=False)
    laws: _LawsField = checked(_laws, default="cycloidal", followed=False)

    def _judge(self, check: Check) -> None:
        segments, turn = len(self.angles) - 1, self.angles[-1] - self.angles[0]
        if abs(turn - TURN) > _ROUND * TURN:
            check.fault("the angles must span one turn of the cam, 2 pi", turn)
        if len(self.lifts) != len(self.angles):
            check.fault("there must be one lift for each angle", (len(self.lifts), len(self.angles)))
        elif abs(self.lifts[-1] - self.lifts[0]) > _ROUND * max(map(abs, self.lifts)):
            ends = (self.lifts[0], self.lifts[-1])
            check.fault("the lift must come back to where it began", ends, "repeat the first lift")
        if len(self.laws) not in (1, segments):
            check.fault("there must be one law for all segments, or one for each", len(self.laws))

    @cached_property
    def waves(self) -> Waves:
        """The law in pieces."""
        laws = self.laws if len(self.laws) > 1 else self.laws * (len(self.angles) - 1)
        breaks: list[float] = []
        rows, sines = np.zeros((0, 8)), []
        edges = zip(self.angles, self.angles[1:], self.lifts, self.lifts[1:], laws, strict=False)
        for begin, end, low, high, law in edges:
            span, height = end - begin, high - low
            for at, polynomial, sine in LAWS[law] if height != 0.0 else ((0.0, (0.0,), _NONE),):
                breaks.append(begin + at * span)
                row = np.zeros(8)
                row[: len(polynomial)] = height * np.array(polynomial) / span ** np.arange(len(polynomial))
                row[0] += low
                rows = np.vstack([rows, row])
                sines.append((height * sine[0], sine[1] / span, sine[2]))
        most = 1 + max((k for k in range(8) if np.any(rows[:, k])), default=0)
        return Waves(Pieces(np.array([*breaks, self.angles[-1]]), rows[:, :most].copy()), np.array(sines))

    def derivative(self, x: Any, order: int = 1) -> np.ndarray:
        """See Function.derivative."""
        return self.waves.derivative(x, order)

    @cached_property
    def smoothness(self) -> int:
        """See Function.smoothness."""
        return smoothness(self.waves.pieces, self.waves.evaluate, "periodic")

    def flat(self) -> FlatFunction:
        """See Function.flat."""
        return FlatFunction("waves", self.waves.flat())

    def scaled(self, factor: float) -> CamMotion:
        """See Function.scaled."""
        return replace(self, lifts=tuple(factor * lift for lift in self.lifts))


def waves_of(law: Function) -> Waves | None:
    """A function of one turn of a cam, in pieces, which repeat; None of any other.

    Also splines, tables, polynomials in pieces and B-splines over 2 pi, and harmonics of the turn.
    """
    if isinstance(law, CamMotion):
        return law.waves
    if isinstance(law, Harmonic):
        whole = law.slope == 0.0 and law.omega != 0.0 and abs(law.omega - round(law.omega)) <= _ROUND
        sine = np.array([[law.amplitude, law.omega, law.phase]])
        return Waves(Pieces(np.array([0.0, TURN]), np.array([[law.offset]])), sine) if whole else None
    if isinstance(law, _PiecewiseFunction):
        pieces = law.pieces
    elif isinstance(law, _RationalFunction):
        above, below = law.fraction
        if np.max(np.abs(below.coefficients[:, 1:]), initial=0.0) > _ROUND * np.min(below.coefficients[:, 0]):
            return None  # its weights differ
        pieces = Pieces(above.breaks, above.coefficients / below.coefficients[:, :1])
    else:
        return None
    if abs(pieces.breaks[-1] - pieces.breaks[0] - TURN) > _ROUND * TURN:
        return None
    return Waves(pieces, np.zeros((len(pieces.coefficients), 3)))
