"""Detection of joints given by formulas whose pose is a chain of rotations and translations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from bellcrank import expression
from bellcrank.expression import poses
from bellcrank.expression.reading import symbols_of
from bellcrank.mechanism.custom_joints import CustomJoint
from bellcrank.mechanism.rotation import about, matrix

_UNIT: Final = 1e-12  # how near a rate must be to 1


@dataclass(frozen=True)
class Line:
    """The axis of a coordinate that rotates about it or translates along it.

    coordinate: its number. axis, point: a unit vector and a point (3), m, in the axes of marker 1, where all
    coordinates are zero.
    """

    coordinate: int
    turns: bool
    axis: np.ndarray
    point: np.ndarray


@dataclass(frozen=True)
class Chain:
    """A pose as a product of exponentials, exp(ξ₁ q₁) ... exp(ξₙ qₙ) T₀.

    lines: ξ, from the outside in. rotation (3, 3), position (3), m: T₀, marker 2 in marker 1.
    """

    lines: tuple[Line, ...]
    rotation: np.ndarray
    position: np.ndarray


def chain_of(kind: CustomJoint, known: Mapping[Any, float] | None = None) -> Chain | None:
    """The chain equivalent to a joint; None if its formulas are different.

    known: numbers for symbols other than its coordinates; if any is missing, the joint is no chain.
    R. W. Brockett, Robotic manipulators and the product of exponentials formula (1984).
    """
    rotation, position = np.eye(3), np.zeros(3)
    lines: list[Line] = []
    for factor in kind.pose:
        turned, shifted = np.eye(3), np.zeros(3)
        if isinstance(factor, poses.Turn):
            angle = _affine((factor.angle,), kind, known or {})
            if angle is None:
                return None
            axis = np.eye(3)["xyz".index(factor.axis)]
            turned = matrix(about(tuple(axis.tolist()), float(angle.zero[0])))
            if angle.coordinate is not None:
                lines.append(Line(angle.coordinate, True, rotation @ (angle.rate[0] * axis), position))
        else:
            if isinstance(factor, poses.General):
                entries = [entry for row in factor.rotation for entry in row]
                fixed = _affine(entries, kind, known or {})
                if fixed is None or fixed.coordinate is not None:
                    return None
                turned = fixed.zero.reshape(3, 3)
            offset = _affine(tuple(factor.offset), kind, known or {})
            if offset is None:
                return None
            shifted = offset.zero
            if offset.coordinate is not None:
                lines.append(Line(offset.coordinate, False, rotation @ offset.rate, position))
        rotation, position = rotation @ turned, rotation @ shifted + position
    each_once = sorted(line.coordinate for line in lines) == list(range(len(kind.own_symbols)))
    unit = all(abs(float(line.axis @ line.axis) - 1.0) <= _UNIT for line in lines)
    return Chain(tuple(lines), rotation, position) if each_once and unit else None


@dataclass(frozen=True)
class _Affine:
    """Formulas zero + rate * q of one coordinate at most."""

    zero: np.ndarray
    coordinate: int | None
    rate: np.ndarray


def _affine(formulas: Any, kind: CustomJoint, known: Mapping[Any, float]) -> _Affine | None:
    own = kind.own_symbols
    found = symbols_of(*formulas)
    moving = [symbol for symbol in own if symbol in found]
    if len(moving) > 1 or any(symbol not in own and symbol not in known for symbol in found):
        return None
    numbers = dict.fromkeys(moving, 0.0) | dict(known)
    zero = np.array([float(expression.substitute(formula, numbers)) for formula in formulas])
    if not moving:
        return _Affine(zero, None, np.zeros_like(zero))
    rates = [expression.derivative(formula, moving[0]) for formula in formulas]
    if any(symbol in own for symbol in symbols_of(*rates)):
        return None
    rate = np.array([float(expression.substitute(formula, numbers)) for formula in rates])
    return _Affine(zero, own.index(moving[0]), rate)
