"""Matrices that Nastran has written as DMIG entries, to a punch file or a bulk file, and its grid points.

An entry stands in fields of 8 columns, of 16 where its name ends in *, or between commas. A column of a
matrix lists its rows:  DMIG, NAME, GJ, CJ, , G1, C1, A1, , G2, C2, A2, ...: grid point, component 1 to 6
(0: a scalar point), number. Of a symmetric matrix (form 6) one of each pair of numbers is there.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np

from bellcrank.errors import MechanismError
from bellcrank.extras import needed
from bellcrank.mechanism.checking import Check, nearest, required_path
from bellcrank.mechanism.rotation import IDENTITY
from bellcrank.named_files import content_of
from bellcrank.slips import answered
from bellcrank.solids.calculix import FiniteElements
from bellcrank.solids.reduced import Floats, ReducedSolid
from bellcrank.solids.reduction import sizes_of_units

_MOST_BYTES: Final = 2_000_000_000
_MOST_REDUCED: Final = 2000
_WITHOUT_E: Final = re.compile(r"(?<=[\d.])([+-]\d+)$")
_GROUP: Final = 4  # fields of one number: grid point, component, real part, imaginary part
_SQUARE, _SYMMETRIC = 1, 6
_TAKEN: Final = ("DMIG", "GRID", "SPOINT", "SET1")


@answered
def read_nastran(
    *files: str | os.PathLike[str],
    names: tuple[str, str] | None = None,
    interfaces: Mapping[str, int] | None = None,
    units: tuple[str, str] = ("m", "kg"),
) -> FiniteElements | ReducedSolid:
    """Read the matrices that Nastran has written as DMIG, and the places of their grid points.

    files: one or several that hold DMIG, GRID, SPOINT and SET1 entries, such as a punch file (.pch) and the
        input; other entries are left out. Grid points lie in the basic coordinate system.
    names: of stiffness and mass, such as ("KAAX", "MAAX"); by default the only ones that begin with K and M.
    interfaces: for matrices that Nastran has reduced itself (by Craig and Bampton, with scalar points for the
        modes): their grid points by name. It then returns a `ReducedSolid`, as `bc.reduce` does; else
        matrices for `bc.reduce`, with x, y, z of each grid point, or x, y, z and three turns, in the order of
        their numbers, and its sets by their numbers as texts.
    units: of length and mass in reduced matrices, as of `bc.reduce`, to which they are given otherwise.

    Raises MechanismError for files that cannot be read, matrices that are not there, rectangular or complex,
    grid points that are missing or lie in another coordinate system.

    >>> try:
    ...     bc.read_nastran("bracket.pch", "bracket.bdf")
    ... except bc.MechanismError as error:
    ...     print(error)
    file 'bracket.pch': there is no such file...
    """
    if not files:
        raise MechanismError.of("read_nastran", "no file is given", None, "such as a .pch and a .bdf")
    sparse = needed("scipy.sparse", "reading matrices", "solids")
    deck = _Deck()
    for file in files:
        deck.read(Path(required_path("file", file)))
    stiffness, mass = _named(deck, names)
    used = sorted({point for matrix in (stiffness, mass) for point, _ in matrix.freedoms()})
    scalars = [point for point in used if point in deck.scalars]
    grids = [point for point in used if point not in deck.scalars]
    if missing := [point for point in grids if point not in deck.grids]:
        rule, advice = "grid points of its matrices have no GRID entry", "give the file that holds them too"
        raise MechanismError.of(_together(files), rule, missing[:5], advice)
    if interfaces is not None:
        return _reduced(_together(files), deck, (stiffness, mass), interfaces, scalars, grids, units)
    if scalars:
        rule = "its matrices have scalar points, as those that Nastran has reduced"
        raise MechanismError.of(_together(files), rule, scalars[:5], "name their grid points by interfaces=")
    six = any(component > 3 for _, component in stiffness.freedoms())
    of_node, number = 6 if six else 3, {point: k for k, point in enumerate(grids)}
    found = []
    for matrix in (stiffness, mass):
        rows, columns, values = matrix.triplets(
            lambda point, component: of_node * number[point] + component - 1 if component <= of_node else -1
        )
        size = of_node * len(grids)
        found.append(sparse.csc_matrix((values, (rows, columns)), shape=(size, size)))
    places = np.array([deck.grids[point] for point in grids])
    inside = {name: sorted(number[one] for one in ones if one in number) for name, ones in deck.sets.items()}
    sets = {name: np.array(ones) for name, ones in inside.items() if ones}
    return FiniteElements(found[0], found[1], places, sets)


def _reduced(
    element: str,
    deck: _Deck,
    matrices: tuple[_Matrix, _Matrix],
    interfaces: Mapping[str, int],
    scalars: list[int],
    grids: list[int],
    units: Any,
) -> ReducedSolid:
    """A solid whose freedoms are those of its grid points, in the order of interfaces, and scalar points."""
    with Check(element) as check:
        length, weight = sizes_of_units(check, units)
        if not isinstance(interfaces, Mapping) or not interfaces:
            check.fault("interfaces must be grid points by name", interfaces, "such as {'hub': 101}")
        elif sorted(interfaces.values()) != grids:
            rule = f"interfaces must name each of its grid points {grids[:8]} once"
            check.fault(rule, dict(interfaces), "matrices that are not reduced are for bc.reduce")
    order = list(interfaces.values())
    size = 6 * len(order) + len(scalars)
    if size > _MOST_REDUCED:
        raise MechanismError.of(element, f"it has {size} freedoms, more than {_MOST_REDUCED}")
    at = {point: 6 * k for k, point in enumerate(order)}
    at |= {point: 6 * len(order) + k for k, point in enumerate(scalars)}
    per = np.concatenate([np.tile([length] * 3 + [1.0] * 3, len(order)), np.ones(len(scalars))])
    found: list[Floats] = []
    for matrix in matrices:
        rows, columns, values = matrix.triplets(lambda point, component: at[point] + max(component - 1, 0))
        whole = np.zeros((size, size))
        np.add.at(whole, (rows, columns), values)
        found.append(weight * length**2 * whole / np.outer(per, per))
    positions = length * np.array([deck.grids[point] for point in order])
    return ReducedSolid(tuple(interfaces), positions, np.tile(IDENTITY, (len(order), 1)), found[1], found[0])


def _together(files: Any) -> str:
    return f"file{'s' if len(files) > 1 else ''} {', '.join(repr(os.fspath(file)) for file in files)}"


def _named(deck: _Deck, names: Any) -> tuple[_Matrix, _Matrix]:
    """Stiffness and mass."""
    known = sorted(deck.matrices)
    if names is not None:
        given = tuple(str(name).upper() for name in names) if isinstance(names, (tuple, list)) else ()
        if len(given) != 2:
            rule = "names must be those of stiffness and mass"
            raise MechanismError.of("read_nastran", rule, names, 'such as ("KAAX", "MAAX")')
    else:
        given = tuple(_only(known, letter) for letter in "KM")
    for name in given:
        if name not in deck.matrices:
            rule = "there is no matrix of this name"
            raise MechanismError.of("read_nastran", rule, name, nearest(name, known) or "there is none")
    return deck.matrices[given[0]], deck.matrices[given[1]]


def _only(known: list[str], letter: str) -> str:
    found = [name for name in known if name.startswith(letter)]
    if len(found) != 1:
        listed = ", ".join(known) or "none"
        rule = f"{len(found) or 'no'} matrices begin with {letter}, of {listed}"
        raise MechanismError.of("read_nastran", rule, None, 'name both, such as names=("KAAX", "MAAX")')
    return found[0]


@dataclass
class _Matrix:
    """A matrix of grid points and components. form: 1 square, 6 symmetric."""

    name: str
    form: int
    columns: list[tuple[int, int]] = field(default_factory=list)
    rows: list[tuple[int, int]] = field(default_factory=list)
    values: list[float] = field(default_factory=list)

    def freedoms(self) -> set[tuple[int, int]]:
        """Grid points and components of all numbers but zeros."""
        kept = [(one, two) for one, two, v in zip(self.rows, self.columns, self.values, strict=True) if v]
        return {one for pair in kept for one in pair}

    def triplets(self, place: Callable[[int, int], int]) -> tuple[Any, Any, Any]:
        """Rows, columns and values, both halves. place: of a grid point and a component; -1 leaves it out."""
        known = {one: place(*one) for one in self.freedoms()}
        found = [
            (known[one], known[two], v)
            for one, two, v in zip(self.rows, self.columns, self.values, strict=True)
            if v and known[one] >= 0 and known[two] >= 0
        ]
        rows = np.array([row for row, _, _ in found], dtype=int)
        columns = np.array([column for _, column, _ in found], dtype=int)
        values = np.array([value for _, _, value in found], dtype=float)
        if self.form == _SYMMETRIC and len(values):
            pairs = np.sort([rows, columns], axis=0)
            if len(np.unique(pairs, axis=1).T) < len(values):
                rule = f"matrix {self.name!r} is said to be symmetric, and holds numbers of both halves"
                raise MechanismError.of("read_nastran", rule)
            across = rows != columns
            rows, columns, values = (
                np.concatenate([rows, columns[across]]),
                np.concatenate([columns, rows[across]]),
                np.concatenate([values, values[across]]),
            )
        return rows, columns, values


class _Deck:
    """What is read of files: matrices, grid points, scalar points and sets."""

    def __init__(self) -> None:
        self.matrices: dict[str, _Matrix] = {}
        self.grids: dict[int, tuple[float, float, float]] = {}
        self.scalars: set[int] = set()
        self.sets: dict[str, list[int]] = {}

    def read(self, path: Path) -> None:
        """Add what is in a file."""
        element = f"file '{path}'"
        text = content_of(path, element, _MOST_BYTES).decode("latin-1")
        for number, name, fields in _entries(text):
            try:
                getattr(self, f"_{name.lower()}")(fields)
            except (ValueError, IndexError) as error:
                if isinstance(error, MechanismError):
                    raise
                rule = f"the entry {name} in line {number} cannot be read"
                raise MechanismError.of(element, rule, ", ".join(fields[:8])) from error

    def _dmig(self, fields: list[str]) -> None:
        name = fields[0].upper()
        if fields[1] == "0":
            form, kind = int(fields[2]), int(fields[3])
            if form not in (_SQUARE, _SYMMETRIC):
                rule = (
                    f"matrix {name!r} has the form {form}; only square and symmetric ones are taken, 1 and 6"
                )
                raise MechanismError.of("read_nastran", rule)
            if kind not in (1, 2):
                raise MechanismError.of("read_nastran", f"matrix {name!r} has complex numbers")
            if name in self.matrices:
                raise MechanismError.of("read_nastran", f"there are two matrices {name!r}")
            self.matrices[name] = _Matrix(name, form)
            return
        if name not in self.matrices:
            raise MechanismError.of("read_nastran", f"matrix {name!r} has columns before its first line")
        matrix, column = self.matrices[name], (int(fields[1]), int(fields[2] or 0))
        for at in range(4, len(fields), _GROUP):
            if at + 2 < len(fields) and fields[at]:
                matrix.rows.append((int(fields[at]), int(fields[at + 1] or 0)))
                matrix.columns.append(column)
                matrix.values.append(_number(fields[at + 2]))

    def _grid(self, fields: list[str]) -> None:
        fields = fields + [""] * (6 - len(fields))
        point = int(fields[0])
        for place, what in ((1, "lies"), (5, "has its displacements")):
            if fields[place] not in ("", "0"):
                rule = f"grid point {point} {what} in the coordinate system {fields[place]}"
                advice = "write it in the basic one: as Nastran's own translation does"
                raise MechanismError.of("read_nastran", rule, None, advice)
        x, y, z = (_number(one) if one else 0.0 for one in fields[2:5])
        self.grids[point] = (x, y, z)

    def _spoint(self, fields: list[str]) -> None:
        self.scalars |= set(_listed(fields))

    def _set1(self, fields: list[str]) -> None:
        self.sets[str(int(fields[0]))] = _listed(fields[1:])


def _listed(fields: list[str]) -> list[int]:
    """Numbers, and those from one THRU another."""
    words = [word.upper() for word in fields if word]
    if len(words) == 3 and words[1] == "THRU":
        return list(range(int(words[0]), int(words[2]) + 1))
    return [int(word) for word in words]


def _number(text: str) -> float:
    """A real number, which may lack its E, or have D: 1.7-4, 2.5D+10."""
    plain = text.upper().replace("D", "E")
    return float(plain if "E" in plain else _WITHOUT_E.sub(r"E\1", plain))


def _entries(text: str) -> Iterator[tuple[int, str, list[str]]]:
    """The entries that are taken: number of their first line, name, and fields behind it."""
    begun, name, fields = 0, "", list[str]()
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("$") or not line.strip():
            continue
        head, given = _fields(line.partition("$")[0])
        if head.strip("*") == "" or head.startswith("+"):
            if name:
                fields += given
            continue
        if name:
            yield begun, name, fields
        begun, name, fields = number, head.rstrip("*").upper(), given
        if name not in _TAKEN:
            name = ""
    if name:
        yield begun, name, fields


def _fields(line: str) -> tuple[str, list[str]]:
    """The first field of a line, and the eight, or four of double width, behind it."""
    if "," in line:
        head, *given = (word.strip() for word in line.split(","))
        count = 4 if head.endswith("*") else 8
        if any(word and not word.startswith(("+", "*")) for word in given[count:]):
            return head, [f"more than {count} fields"]  # which no entry can have
        return head, (given + [""] * count)[:count]
    line = line.expandtabs(8)
    head = line[:8].strip()
    wide = "*" in head
    width, count = (16, 4) if wide else (8, 8)
    return head, [line[8 + width * k : 8 + width * (k + 1)].strip() for k in range(count)]
