"""The inputs, by name, of a System and of its runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from bellcrank.compile.model import Model
from bellcrank.mechanism.checking import Check, nearest
from bellcrank.turns import Turn


def with_own_inputs(model: Model) -> Model:
    """The model for one System alone, if there are inputs; compiled parts are shared."""
    return replace(model, core=model.core.copy()) if model.inputs else model


class Inputs(Mapping[str, float]):
    """Inputs by name with their values, which can be set: `inputs["torque"] = 1.2`, or several by `update`.

    Velocities that an input prescribes through a drive then change, and the drive's position goes on from its
    current value. Raises MechanismError for unknown names, and for values that are not finite numbers;
    Unsupported while another thread is using the owner of the inputs.
    """

    def __init__(self, model: Model, core: Any, turn: Turn) -> None:
        self._model = model
        self._core = core
        self._turn = turn
        self._values = {one.name: one.value for one in model.inputs}

    def __getitem__(self, name: str) -> float:
        self._check([name])
        return self._values[name]

    def __reduce__(self) -> tuple[Any, ...]:
        """Reduce to a plain dict for pickle."""
        return dict, (dict(self),)

    def __contains__(self, name: object) -> bool:
        return name in self._values

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        units = {one.name: one.unit for one in self._model.inputs}
        told = ", ".join(f"{name}: {value:g} {units[name]}".rstrip() for name, value in self._values.items())
        return f"<inputs {told}>" if told else "<no inputs>"

    def __setitem__(self, name: str, value: float) -> None:
        self.update({name: value})

    def update(self, values: Mapping[str, float]) -> None:
        """Change several inputs at once."""
        with self._turn.taken():
            if changed := self.changed(values):
                self.put(changed)

    def changed(self, values: Mapping[str, float]) -> dict[str, float]:
        """The values that differ from the current ones, all checked."""
        self._check(values)
        with Check("inputs") as check:
            found = {name: check.number(name, value) for name, value in values.items()}
        return {name: value for name, value in found.items() if value != self._values[name]}

    def put(self, changed: Mapping[str, float]) -> None:
        """Set values that have been checked."""
        values = {**self._values, **changed}
        self._core.set_inputs(self._model.core, list(values.values()))
        self._values = values

    def _check(self, names: Any) -> None:
        with Check("inputs") as check:
            for name in names:
                if name not in self._values:
                    advice = (
                        nearest(name, self._values) if self._values else "the mechanism has none: bc.Input"
                    )
                    check.fault("there is no input of this name", name, advice)
