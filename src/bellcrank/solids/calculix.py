"""Matrices that CalculiX has stored:  *FREQUENCY, SOLVER=MATRIXSTORAGE.

It writes, beside the input JOB.inp, JOB.sti and JOB.mas, one triangle of stiffness and mass as lines "row
column value", and JOB.dof, for each row a line "node.direction". Positions and sets of nodes are those of
JOB.inp.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

from bellcrank.errors import MechanismError
from bellcrank.extras import needed
from bellcrank.mechanism.checking import required_path
from bellcrank.named_files import content_of
from bellcrank.slips import answered
from bellcrank.solids.reduced import Floats

_MOST_BYTES: Final = 2_000_000_000
_DEEPEST: Final = 10  # files that include each other
_KINDS: Final = (".sti", ".mas", ".dof", ".inp")


class FiniteElements(NamedTuple):
    """A model of another program, for `bc.reduce`: `bc.reduce(*model.matrices, interfaces, units=...)`.

    stiffness, mass: sparse matrices, by nodes, x, y, z of each, in the program's units. nodes: (n, 3).
    sets: numbers of nodes, from 0, by the names of node sets, in capitals.

    >>> model = bc.FiniteElements(*bar_matrices, {"LEFT": [0], "RIGHT": [10]})
    >>> bar = bc.reduce(*model.matrices, model.sets)
    >>> bar.names
    ('LEFT', 'RIGHT')
    """

    stiffness: Any
    mass: Any
    nodes: Floats
    sets: dict[str, Any]

    @property
    def matrices(self) -> tuple[Any, Any, Floats]:
        """Stiffness, mass and nodes: the first arguments of `bc.reduce`."""
        return self.stiffness, self.mass, self.nodes


@answered
def read_calculix(job: str | os.PathLike[str]) -> FiniteElements:
    """Read the matrices that CalculiX has stored by  *FREQUENCY, SOLVER=MATRIXSTORAGE.

    job: the name of the job, or one of its files: JOB.inp, JOB.sti, JOB.mas and JOB.dof are read. The model
        must have no supports: interfaces are held in the mechanism.

    Raises MechanismError for files that do not belong together, and degrees of freedom that are missing.

    >>> try:
    ...     bc.read_calculix("bracket")
    ... except bc.MechanismError as error:
    ...     print(error)
    file 'bracket.dof': there is no such file...
    """
    sparse = needed("scipy.sparse", "reading matrices", "solids")
    where = Path(required_path("job", job))
    stem = where.with_suffix("") if where.suffix.lower() in _KINDS else where
    paths = {kind: stem.with_name(stem.name + kind) for kind in _KINDS}
    nodes, directions = _freedoms(paths[".dof"])
    places, sets = _input(paths[".inp"])
    known = np.unique(nodes)
    count = 3 * len(known)
    if len(nodes) != count or not np.all((directions >= 1) & (directions <= 3)):
        rule = f"it has {len(nodes)} degrees of freedom of {len(known)} nodes, not x, y, z of each"
        advice = "leave out supports and equations: interfaces are held in the mechanism"
        raise MechanismError.of(f"file '{paths['.dof']}'", rule, None, advice)
    if missing := [int(node) for node in known if int(node) not in places]:
        rule = "it lacks nodes that the matrices have"
        raise MechanismError.of(f"file '{paths['.inp']}'", rule, missing[:5])
    number = np.searchsorted(known, nodes)
    order = np.argsort(3 * number + directions - 1)
    stiffness, mass = (
        _triangle(paths[kind], count, sparse)[order][:, order].tocsc() for kind in (".sti", ".mas")
    )
    inside = {name: np.searchsorted(known, np.intersect1d(members, known)) for name, members in sets.items()}
    return FiniteElements(
        stiffness,
        mass,
        np.array([places[int(node)] for node in known]),
        {name: members for name, members in inside.items() if members.size},
    )


def _text(path: Path) -> str:
    return content_of(path, f"file '{path}'", _MOST_BYTES).decode("latin-1")


def _freedoms(path: Path) -> tuple[Any, Any]:
    """Nodes and directions of the rows."""
    pairs = [line.split(".") for line in _text(path).split()]
    try:
        found = np.array([(int(node), int(direction)) for node, direction in pairs], dtype=np.int64)
    except ValueError as error:
        raise MechanismError.of(f"file '{path}'", "its lines must be node.direction") from error
    if len(found) == 0:
        raise MechanismError.of(f"file '{path}'", "it is empty")
    return found[:, 0], found[:, 1]


def _triangle(path: Path, count: int, sparse: Any) -> Any:
    """A symmetric matrix of which one triangle is stored."""
    element = f"file '{path}'"
    lines = _text(path).splitlines()
    try:
        rows, columns, values = np.loadtxt(lines, ndmin=2).T
    except ValueError as error:
        raise MechanismError.of(element, "its lines must be row, column, value") from error
    at = np.array([rows, columns], dtype=np.int64) - 1
    if at.min() < 0 or at.max() >= count:
        raise MechanismError.of(
            element, f"its rows must be 1 to {count}, as in the file .dof", int(at.max()) + 1
        )
    if np.any(at[0] < at[1]) and np.any(at[0] > at[1]):
        raise MechanismError.of(element, "it must hold one triangle of a symmetric matrix")
    half = sparse.csr_matrix((values, tuple(at)), shape=(count, count))
    return half + sparse.triu(half, 1).T + sparse.tril(half, -1).T


def _input(path: Path) -> tuple[dict[int, tuple[float, ...]], dict[str, list[int]]]:
    """Positions of nodes and members of node sets in an input file."""
    places: dict[int, tuple[float, ...]] = {}
    sets: dict[str, list[int]] = {}
    card, given = "", dict[str, str]()
    for line in _lines(path, 0):
        if line.startswith("*"):
            card, given = _card(line)
            continue
        words = [word.strip() for word in line.split(",") if word.strip()]
        try:
            if card == "NODE" and len(words) >= 4:
                node = int(words[0])
                places[node] = tuple(float(word.upper().replace("D", "E")) for word in words[1:4])
                if "NSET" in given:
                    sets.setdefault(given["NSET"], []).append(node)
            elif card == "NSET" and "NSET" in given:
                members = sets.setdefault(given["NSET"], [])
                if "GENERATE" in given:
                    first, last, *step = (int(word) for word in words)
                    members += range(first, last + 1, step[0] if step else 1)
                    continue
                for word in words:
                    members += [int(word)] if word.lstrip("-").isdigit() else sets.get(word.upper(), [])
        except ValueError as error:
            raise MechanismError.of(f"file '{path}'", f"a line after *{card} cannot be read", line) from error
    return places, sets


def _lines(path: Path, depth: int) -> Iterator[str]:
    """The lines of an input file and those that it includes, without comments."""
    if depth > _DEEPEST:
        raise MechanismError.of(f"file '{path}'", "files include each other too deep")
    for line in _text(path).splitlines():
        text = line.strip()
        if not text or text.startswith("**"):
            continue
        card, given = _card(text) if text.startswith("*") else ("", {})
        if card == "INCLUDE" and "INPUT" in given:
            own = text.partition("=")[2].strip().strip('"')
            yield from _lines(path.parent / own, depth + 1)
        else:
            yield text


def _card(line: str) -> tuple[str, dict[str, str]]:
    """The name of a keyword card and its parameters, in capitals."""
    name, *words = (word.strip() for word in line[1:].upper().split(","))
    pairs = (word.partition("=") for word in words)
    return name, {key.strip(): value.strip().strip('"') for key, _, value in pairs}
