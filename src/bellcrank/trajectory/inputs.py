"""The results of a trajectory for an input. T frames; arrays are read-only."""

from __future__ import annotations

from dataclasses import dataclass

from bellcrank.trajectory.efforts import unknown
from bellcrank.trajectory.layout import FrameLayout
from bellcrank.trajectory.store import FloatArray, Store


@dataclass(frozen=True, repr=False)
class InputHistory:
    """An input over time. unit: of the values, as declared for the input."""

    name: str
    number: int
    unit: str
    store: Store

    @staticmethod
    def of(name: str, layout: FrameLayout, store: Store) -> InputHistory:
        """The history of a named input. Raises MechanismError with close matches for an unknown one."""
        names = tuple(column.name for column in layout.inputs)
        if name not in names:
            raise unknown("input", name, names)
        number = names.index(name)
        return InputHistory(name, number, layout.inputs[number].unit, store)

    def __repr__(self) -> str:
        return f"<input {self.name!r}, {self.store.frames} frames>"

    @property
    def value(self) -> FloatArray:
        """(T,), the value that acted up to each frame: if it changes at a frame, the value before."""
        return self.store.read("inputs", self.number)
