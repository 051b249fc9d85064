"""Derivatives of quantities of a system at a state, by name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np

from bellcrank.compile.state import Floats, State
from bellcrank.errors import Fault, MechanismError
from bellcrank.mechanism.checking import Check, nearest
from bellcrank.mechanism.html import displayed
from bellcrank.slips import answering

_SHOWN: Final = 12  # rows and columns that are printed


@answering
@displayed()
@dataclass(frozen=True, eq=False)
class StateDerivatives:
    """Derivatives of quantities at a state.

    array: (outputs, inputs), SI units; nan in rows of outputs that are not unique. value: of the outputs.
    outputs, inputs: their names. units: of all of them, by name.
    unique: (outputs,), whether the equations of motion determine an output; redundant constraints may leave
        open how they share a load.
    mode: "forward", along each input, or "backward", from each output; they agree to rounding.
    state: where they are taken. formulation: the one whose equations of motion were differentiated.

    >>> acceleration = "joint.hinge.theta_z.acceleration"
    >>> found = bc.prepare(pendulum).derivatives(of=acceleration, by=["states", "length"])
    >>> found.inputs
    ('hinge.theta_z', 'hinge.theta_z.rate', 'length')
    >>> print(found.array.round(4))    # of -3 g cos(q) / (2 L) at q = 0
    [[0.     0.    14.715]]
    """

    array: Floats
    value: Floats
    outputs: tuple[str, ...]
    inputs: tuple[str, ...]
    units: Mapping[str, str]
    unique: np.ndarray
    mode: Literal["forward", "backward"]
    state: State
    formulation: str

    def __getitem__(self, names: tuple[str, str]) -> float:
        """The derivative of an output by an input: `d["drive.motor.effort", "coupler"]`."""
        of, by = names
        return float(
            self.array[self._place("output", self.outputs, of), self._place("input", self.inputs, by)]
        )

    def jvp(self, direction: Mapping[str, float] | Iterable[float]) -> Floats:
        """What the outputs change by, to first order, (outputs,).

        direction: changes of inputs by name, zero for those left out; or of all of them, (inputs,).

        >>> found = bc.prepare(pendulum).derivatives(of="joint.hinge.theta_z.acceleration", by="length")
        >>> print(found.jvp({"length": 0.1}).round(4))    # rad/s^2, where the rod is 0.1 m longer
        [1.4715]
        """
        return np.asarray(self.array @ self._vector("direction", direction, self.inputs))

    def vjp(self, weights: Mapping[str, float] | Iterable[float]) -> Floats:
        """The gradient (inputs,) of a sum of the outputs.

        weights: of outputs by name, zero for those left out; or of all of them, (outputs,).

        >>> found = bc.prepare(pendulum).derivatives(of="joint.hinge.theta_z.acceleration", by="length")
        >>> print(found.vjp([2.0]).round(4))    # by the length, of twice the acceleration
        [29.43]
        """
        return np.asarray(self._vector("weights", weights, self.outputs) @ self.array)

    def column(self, name: str) -> Floats:
        """The derivatives (outputs,) by an input. Raises MechanismError with close matches for others.

        >>> found = bc.prepare(pendulum).derivatives(of="joint.hinge.theta_z.acceleration", by="length")
        >>> print(found.column("length").round(4))    # 3 g / (2 L^2)
        [14.715]
        """
        return np.asarray(self.array[:, self._place("input", self.inputs, name)])

    def row(self, name: str) -> Floats:
        """The derivatives (inputs,) of an output. Raises MechanismError with close matches for others.

        >>> acceleration = "joint.hinge.theta_z.acceleration"
        >>> found = bc.prepare(pendulum).derivatives(of=acceleration, by=["states", "length"])
        >>> print(found.row(acceleration).round(4))    # by angle, rate and length
        [0.     0.    14.715]
        """
        return np.asarray(self.array[self._place("output", self.outputs, name)])

    @staticmethod
    def _place(noun: str, names: Sequence[str], name: str) -> int:
        if name not in names:
            rule = f"there is no {noun} of this name"
            raise MechanismError(Fault(f"{noun} {name!r}", rule, None, nearest(str(name), names)))
        return list(names).index(name)

    def _vector(self, field: str, given: Any, names: Sequence[str]) -> Floats:
        with Check("derivatives") as check:
            if not isinstance(given, Mapping):
                return np.asarray(check.array(field, given, (len(names),)))
            out = np.zeros(len(names))
            for name, value in given.items():
                if name not in names:
                    check.fault(f"{field}: there is none of this name", name, nearest(str(name), names))
                    continue
                out[list(names).index(name)] = check.number(f"{field}[{name!r}]", value)
        return out

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain values, as `bellcrank gradient --json` prints it; null for nan.

        >>> found = bc.prepare(pendulum).derivatives(of="joint.hinge.theta_z.acceleration", by="length")
        >>> found.to_dict()["inputs"], found.to_dict()["mode"]
        (['length'], 'forward')
        """

        def plain(values: Floats) -> list[Any]:
            return [None if np.isnan(one) else float(one) for one in values]

        return {
            "formulation": self.formulation,
            "time": self.state.time,
            "mode": self.mode,
            "outputs": list(self.outputs),
            "inputs": list(self.inputs),
            "units": dict(self.units),
            "value": plain(self.value),
            "array": [plain(row) for row in self.array],
            "unique": self.unique.tolist(),
        }

    def __str__(self) -> str:
        counts = f"{len(self.outputs)} outputs by {len(self.inputs)} inputs"
        lines = [f"derivatives at t = {self.state.time:g} s: {counts}, {self.formulation}, {self.mode}"]
        if len(self.outputs) <= _SHOWN and len(self.inputs) <= _SHOWN:
            wide = max(map(len, self.outputs), default=0)
            lines.append(f"  by {', '.join(self.inputs)}:")
            for name, row in zip(self.outputs, self.array, strict=True):
                lines.append(f"    {name:<{wide}} " + " ".join(f"{value + 0.0:12.6g}" for value in row))
        return "\n".join(lines)
