"""The efforts in a trajectory, and whether they are determined. T frames; arrays are read-only."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bellcrank.errors import Fault, MechanismError
from bellcrank.mechanism.checking import nearest
from bellcrank.trajectory.layout import ForceColumn, FrameLayout, MultiplierColumn
from bellcrank.trajectory.store import FloatArray, Store, read_only


def unknown(noun: str, name: object, known: tuple[str, ...]) -> MechanismError:
    """The fault of a name that a run does not contain, with close matches."""
    if isinstance(name, str) and name == "ground":
        return MechanismError(Fault(f"{noun} 'ground'", "the ground does not move and has no results"))
    advice = nearest(name, known) if known else f"it {'records' if noun == 'force' else 'has'} none"
    return MechanismError(Fault(f"{noun} {name!r}", f"the run has no {noun} of this name", None, advice))


class Efforts(ABC):
    """Efforts along coordinates, or components at markers."""

    @property
    @abstractmethod
    def columns(self) -> Sequence[MultiplierColumn | ForceColumn]:
        """The efforts."""

    @property
    def coordinates(self) -> tuple[str, ...]:
        """Names of the coordinates, and of components at markers, along which it acts."""
        return tuple(column.name for column in self.columns)

    @property
    def units(self) -> tuple[str, ...]:
        """Unit of each effort, "N" or "N m"."""
        return tuple(column.unit for column in self.columns)


@dataclass(frozen=True, repr=False)
class EffortHistory(Efforts):
    """Efforts of a drive, of a geared motor's inertia or of a joint's limits, along the coordinates.

    Usually there is one coordinate; a drive along a path has three or six, and a joint may limit several.
    numbers: for each coordinate, the indices of its multipliers; the two limits of a coordinate are added.
    """

    name: str
    numbers: tuple[tuple[int, ...], ...]
    layout: FrameLayout
    store: Store

    @staticmethod
    def of(name: str, numbers: tuple[int, ...], layout: FrameLayout, store: Store) -> EffortHistory:
        """From the indices of all its multipliers."""
        groups: dict[str, list[int]] = {}
        for number in numbers:
            groups.setdefault(layout.multipliers[number].name, []).append(number)
        return EffortHistory(name, tuple(map(tuple, groups.values())), layout, store)

    def __repr__(self) -> str:
        along = ", ".join(self.coordinates)
        return f"<effort of {self.name!r} along {along}, {self.store.frames} frames>"

    @property
    def columns(self) -> tuple[MultiplierColumn, ...]:
        """The multipliers, one for each coordinate."""
        return tuple(self.layout.multipliers[group[0]] for group in self.numbers)

    @property
    def unit(self) -> str:
        """Unit of the effort along the first, and usually the only, coordinate."""
        return self.units[0]

    @property
    def effort(self) -> FloatArray:
        """(T,), or (T, k) for k > 1 coordinates; N or N m, positive where it drives the coordinate up."""
        efforts = [self._along(group) for group in self.numbers]
        return read_only(efforts[0] if len(efforts) == 1 else np.stack(efforts, axis=1))

    @property
    def unique(self) -> np.ndarray:
        """(T,) or (T, k), whether the equations of motion determine the effort; if not, it has least norm."""
        found = [
            np.all([flags(self.store.read("unique_multipliers", n)) for n in group], axis=0)
            for group in self.numbers
        ]
        return found[0] if len(found) == 1 else np.stack(found, axis=1)

    @property
    def power(self) -> FloatArray:
        """(T,), W: efforts times the rates of the coordinates they act along.

        Raises MechanismError if these coordinates were not recorded.
        """
        if any(column.coordinate is None for column in self.columns):
            rule, advice = "the rate of its coordinate was not recorded", "take a free coordinate of a joint"
            raise MechanismError(Fault(f"drive {self.name!r}", rule, None, advice))
        powers = [
            self._along(group) * self.store.read("rates", column.coordinate)
            for group, column in zip(self.numbers, self.columns, strict=True)
        ]
        return read_only(np.sum(powers, axis=0))

    @property
    def work(self) -> FloatArray:
        """(T,), J: work of a drive, multiplier times prescribed rate, integrated along the run's steps.

        Zero for elements that move only with the bodies. Raises MechanismError for a run without it
        (`simulate(..., ledger=True)`).
        """
        kind = self.layout.multipliers[self.numbers[0][0]].kind
        return work_of(f"{kind} {self.name!r}", self.layout, self.store)

    def _along(self, group: tuple[int, ...]) -> FloatArray:
        signed = [self.layout.multipliers[n].sign * self.store.read("multipliers", n) for n in group]
        total: FloatArray = np.sum(signed, axis=0)
        return total


def work_of(account: str, layout: FrameLayout, store: Store) -> FloatArray:
    """The recorded work (T,) of an account, J; zero if there is none of this name."""
    if not layout.works:
        rule, advice = "its work was not added up", "simulate with ledger=True"
        raise MechanismError(Fault(account, rule, None, advice))
    if account not in layout.works:
        return read_only(np.zeros(store.frames))
    return store.read("works", layout.works.index(account))


def flags(values: FloatArray) -> np.ndarray:
    """Flags recorded as 1 or 0; between frames a flag is true if it is true at both."""
    return np.asarray(values > 1.0 - 1e-9)
