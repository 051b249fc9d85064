"""Numbers as people write them in model files: with commas between them, or with units."""

from __future__ import annotations

from bellcrank.mechanism.units import UnitError, read_quantity


def plain_numbers(text: str) -> tuple[float, ...] | None:
    """The numbers of a text, separated by blanks; None if there is anything else."""
    try:
        return tuple(float(word) if "_" not in word else float("x") for word in text.split())
    except ValueError:
        return None


def meant_numbers(text: str, most: int, units: bool) -> tuple[tuple[float, ...], str] | None:
    """Numbers that are clear though they are not plain, and what is peculiar about them; None if unclear.

    most: how many there may be: with one, a comma may be a decimal point. units: whether units are clear.
    """
    spaced = tuple(part.strip() for part in text.strip().strip("()[]").split(","))
    if 1 < len(spaced) <= most and (found := plain_numbers(" ".join(spaced))) is not None:
        return (found, "its numbers are separated by commas") if len(found) == len(spaced) else None
    words = (text,) if most == 1 else tuple(text.split())
    try:
        numbers = tuple(_number(word) for word in words) if units and len(words) <= most else ()
    except (ValueError, UnitError):
        return None
    return (numbers, "it is written with units, which become SI") if numbers else None


def _number(word: str) -> float:
    if (plain := plain_numbers(word)) is not None and len(plain) == 1:
        return plain[0]
    found = read_quantity(word)
    if found is None:
        raise ValueError(word)
    return found.value
