"""Points of a function from two columns of a text file, in SI units."""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final, TypeAlias

from bellcrank.errors import Fault, FaultList, Location, MechanismError
from bellcrank.mechanism.arguments import required_path
from bellcrank.mechanism.naming import nearest
from bellcrank.mechanism.units import UnitError, quantity
from bellcrank.named_files import content_of

Column: TypeAlias = str | int
Points: TypeAlias = tuple[tuple[float, ...], tuple[float, ...]]

_SIZE: Final = 100_000_000
_FAULTS: Final = 20  # rows that are named
_HEADING: Final = re.compile(r"(.*?)\s*(?:\[([^\]]*)\]|\(([^)]*)\))")


def points_of(
    path: str | os.PathLike[str], column: Column | None, x: Column, unit: str | None, x_unit: str | None
) -> Points:
    """The values of the columns `x` and `column`, by their headings or by their numbers from 0.

    Without `column`, the file must have two. Units are those of the headings, "angle [deg]", or as given.
    Columns are separated by semicolons, tabs, commas or blanks; where it is not by commas, or in quotes, a
    number may have a decimal comma.

    Raises MechanismError with all faults, each with its line; OSError if the file cannot be read.
    """
    required_path("points from CSV", path)
    name = os.fspath(path) if isinstance(os.fspath(path), str) else os.fsdecode(path)
    table = _Table(str(name), _text(path, str(name)))
    first = table.place(x, "x")
    second = table.place(_other(table, first) if column is None else column, "column")
    factors = table.factor(first, x_unit, "x_unit"), table.factor(second, unit, "unit")
    found = [table.numbers(place, factor) for place, factor in zip((first, second), factors, strict=True)]
    table.faults.raise_any()
    return found[0], found[1]


def _text(path: str | os.PathLike[str], name: str) -> str:
    content = content_of(path, f"table {name!r}", _SIZE)
    try:
        return content.decode("utf-16" if content[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        fault = Fault(
            f"table {name!r}", "it is not UTF-8", None, "save it as CSV in UTF-8", Location(name, line)
        )
        raise MechanismError(fault) from None


def _other(table: _Table, first: int) -> int:
    if table.width != 2:
        shown: list[str] | int = table.headings or table.width
        table.refuse(
            "which column is meant is not stated", shown, "give column=, a heading or a number from 0"
        )
    return 1 - first


@dataclass(frozen=True)
class _Row:
    line: int
    fields: list[str]


class _Table:
    """The rows of a text, and headings if it has any."""

    def __init__(self, name: str, text: str) -> None:
        self.name, self.faults = name, FaultList()
        lines = text.splitlines()
        first = next((line for line in lines if line.strip() and not line.lstrip().startswith("#")), "")
        self.separator = next((one for one in ";\t," if one in first), " ")
        rows = list(self._rows(lines))
        if not rows:
            self.refuse("it holds no rows")
        while all(len(row.fields) > 1 and not row.fields[-1] for row in rows):  # a separator at the end
            for row in rows:
                row.fields.pop()
        # numpy writes headings as a comment.
        if rows[0].fields[0].startswith("#"):
            rows[0].fields[0] = rows[0].fields[0].removeprefix("#").strip()
            rows[0] = _Row(rows[0].line, [field for field in rows[0].fields if field])
        self.headings = [] if all(_number(field) is not None for field in rows[0].fields) else rows[0].fields
        self.rows = rows[1:] if self.headings else rows
        if len(self.rows) < 2:
            self.refuse("it must hold 2 rows of numbers or more")
        self.width = len(rows[0].fields)
        for row in self.rows:
            if len(row.fields) != self.width and len(self.faults) < _FAULTS:
                advice = "decimal commas need semicolons between columns" if self.separator == "," else ""
                rule = f"this row has {len(row.fields)} fields, the first has {self.width}"
                self.faults.add(self.element, rule, None, advice, Location(name, row.line))
        self.faults.raise_any()

    @property
    def element(self) -> str:
        return f"table {self.name!r}"

    def _rows(self, lines: Iterable[str]) -> Iterator[_Row]:
        """Rows without empty lines and comments, but with a comment that precedes them directly."""
        heading: _Row | None = None
        started = False
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            fields = self._fields(line)
            if line.lstrip().startswith("#"):
                heading = _Row(number, fields)
                continue
            if not started and heading is not None and _fits(heading.fields, fields):
                yield heading
            started = True
            yield _Row(number, fields)

    def _fields(self, line: str) -> list[str]:
        if self.separator == " ":
            return line.split()
        fields = next(csv.reader([line], delimiter=self.separator, skipinitialspace=True), [])
        return [field.strip() for field in fields]

    def refuse(self, rule: str, value: object = None, advice: str = "", line: int | None = None) -> None:
        """Raise MechanismError."""
        raise MechanismError(Fault(self.element, rule, value, advice, Location(self.name, line)))

    def place(self, column: Column, argument: str) -> int:
        """The number of a column."""
        if isinstance(column, int) and not isinstance(column, bool):
            if not -self.width <= column < self.width:
                self.refuse(f"{argument}: there are {self.width} columns, counted from 0", column)
            return column % self.width
        if not isinstance(column, str):
            self.refuse(f"{argument}: a heading or a number is needed here", column)
        found = [k for k, heading in enumerate(self.headings) if column in (heading, _split(heading)[0])]
        if len(found) != 1:
            rule = "there is no column of this name" if not found else "several columns have this name"
            advice = (
                nearest(str(column), self.headings) if self.headings else "it has no headings: give numbers"
            )
            self.refuse(f"{argument}: {rule}", column, advice)
        return found[0]

    def factor(self, place: int, given: str | None, argument: str) -> float:
        """What a column is multiplied with to be in SI units."""
        stated = _split(self.headings[place])[1] if self.headings else None
        if stated is not None and given is not None and stated != given:
            self.refuse(f"{argument}: the heading states another unit, {stated!r}", given)
        unit = given if stated is None else stated
        if unit in (None, "", "1", "-"):
            return 1.0
        try:
            found = quantity(f"1 {unit}")
        except UnitError as error:
            self.refuse(f"{argument}: {error}", unit, error.advice or "give the unit of the column")
        else:
            if found is not None:
                return found.value
            self.refuse(f"{argument}: this is not a unit", unit)
        raise AssertionError

    def numbers(self, place: int, factor: float) -> tuple[float, ...]:
        """The values of a column in SI units; fields that are no numbers are noted."""
        found = []
        for row in self.rows:
            number = _number(row.fields[place])
            if number is None and len(self.faults) < _FAULTS:
                rule = f"column {self.headings[place] if self.headings else place}: a number is needed here"
                advice = "digits are not grouped" if re.search(r"\d[.,]\d+[.,]", row.fields[place]) else ""
                self.faults.add(self.element, rule, row.fields[place], advice, Location(self.name, row.line))
            found.append(factor * (0.0 if number is None else number))
        return tuple(found)


def _fits(heading: list[str], fields: list[str]) -> bool:
    return len([field for field in heading if field != "#"]) == len(fields) and _number(fields[0]) is not None


def _split(heading: str) -> tuple[str, str | None]:
    """Name and unit of a heading such as "angle [deg]"; brackets that hold no unit belong to the name."""
    found = _HEADING.fullmatch(heading)
    if found is None:
        return heading, None
    if found[2] is None and found[3] not in ("1", "-", ""):
        try:
            quantity(f"1 {found[3]}")
        except UnitError:
            return heading, None
    return found[1], found[2] if found[2] is not None else found[3]


def _number(field: str) -> float | None:
    """The number in a field; None if it is none, or not finite."""
    text = field.replace(",", ".") if field.count(",") == 1 and "." not in field else field
    try:
        number = float(text) if "_" not in text else None
    except ValueError:
        return None
    return number if number is not None and abs(number) < float("inf") else None
