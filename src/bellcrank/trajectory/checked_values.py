"""Checks of names and numbers in a run's file; errors name the file and the data set."""

from __future__ import annotations

from typing import Any

import numpy as np

from bellcrank.trajectory.checked_file import CheckedFile


def check_distinct(file: CheckedFile, path: str, names: list[str]) -> tuple[str, ...]:
    """The names. Raises MechanismError where one is there twice."""
    double = [name for name, other in zip(sorted(names), sorted(names)[1:], strict=False) if name == other]
    if double:
        raise file.error(f"{path!r} has a name twice", double[0])
    return tuple(names)


def check_finite(file: CheckedFile, path: str, values: Any) -> None:
    """Raise MechanismError for numbers that are not finite."""
    wrong = np.asarray(values)[~np.isfinite(values)]
    if wrong.size:
        raise file.error(f"{path!r} must be finite", float(wrong.flat[0]))


def check_within(file: CheckedFile, path: str, numbers: list[int], least: int, end: int) -> None:
    """Raise MechanismError for numbers below `least`, and from `end` on."""
    for number in numbers:
        if not least <= number < end:
            raise file.error(f"{path!r} must be from {least} to {end - 1}", number)
