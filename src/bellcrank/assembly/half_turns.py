"""The sign of quaternions in formulas: a function of the pose, the same in all formulations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from bellcrank.expression.derivatives import substitute
from bellcrank.expression.functions import piecewise
from bellcrank.mechanism.coordinate import Coordinate
from bellcrank.mechanism.custom_ends import EndPose
from bellcrank.mechanism.marker import Marker
from bellcrank.mechanism.parametric import is_expression
from bellcrank.mechanism.rotation import IDENTITY, multiply


def on_described_side(kind: Any, ends: Sequence[Marker | Coordinate], rotation: Callable[[str], Any]) -> Any:
    """A constraint or force whose formulas see quaternions on the side of those described.

    q and -q are the same rotation. Of the two, formulas see the one within half a turn of the marker's
    rotation as it
    is described, with the sign that it has there. Formulas that are the same for both, such as those of
    rotation matrices and axes, stay as they are.

    rotation: of a body, by name, as it is described.
    """
    for end, held in zip(kind.ends, ends, strict=True):
        if isinstance(end, EndPose) and isinstance(held, Marker):
            kind = kind.with_formulas(_on_side(end, _described(held, rotation)), symbols=True)
    return kind


def _described(marker: Marker, rotation: Callable[[str], Any]) -> Any:
    """The rotation of a marker in the world; of expressions of parameters, none."""
    body = IDENTITY if marker.body == "ground" else rotation(marker.body)
    if any(is_expression(x) for x in (*body, *marker.rotation)):
        return IDENTITY
    return multiply(body, marker.rotation)


def _on_side(end: EndPose, described: Any) -> Callable[[Any], Any]:
    symbols = end.quaternion
    opposite = {symbol: -symbol for symbol in symbols}
    beside = sum((float(x) * symbol for x, symbol in zip(described, symbols, strict=True)), start=0.0)
    chosen = {symbol: piecewise(beside < 0.0, -symbol, symbol) for symbol in symbols}

    def change(formula: Any) -> Any:
        return formula if substitute(formula, opposite) == formula else substitute(formula, chosen)

    return change
