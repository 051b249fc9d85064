"""The equations of the symbolic formulation as text and LaTeX.

A part is multiplied out if the result is short; otherwise the shared parts of its entries get names.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from bellcrank import _core
from bellcrank.expression.expression import Expression, fresh_symbol
from bellcrank.expression.printing import ATOM, LATEX, TEXT, Latex, Notation, Printed, listed
from bellcrank.expression.readable import Expansion, Sum, TooLongError, Writer
from bellcrank.formulations.export_c import Exported

if TYPE_CHECKING:
    from bellcrank.formulations.symbolic import SymbolicSystem


_READABLE: Final = 400  # characters of an entry beyond which shared parts get names
_LISTED: Final = 6  # accelerations that are listed by name
_NODES: Final = 4000  # operations above which the result is too long to read
_TURNS: Final = ("sin", "cos")
_WIDE: Final = 3  # columns of a matrix that is shown in one piece, at most
_LONG: Final = 100  # characters of one of its rows, as text, at most


@dataclass(frozen=True)
class Part:
    """A vector or matrix of the equations.

    letter, meaning: its symbol and a description. shape: of all entries. symmetric: entries below the
    diagonal are left out. entries: text and LaTeX by index; zero entries are left out.
    """

    letter: str
    meaning: str
    shape: tuple[int, ...]
    symmetric: bool
    entries: dict[tuple[int, ...], tuple[str, str]] = field(repr=False)

    def __str__(self) -> str:
        notes = [self.meaning]
        if self.symmetric:
            notes.append("symmetric")
        if self.entries and len(self.entries) < self._count:
            notes.append("all other entries are zero")
        lines = [f"{self.letter}: {'; '.join(notes)}"]
        lines += [f"  {self.letter}[{_place(i)}] = {text}" for i, (text, _) in self.entries.items()]
        return "\n".join(lines if self.entries else [*lines, f"  {self.letter} = 0"])

    @property
    def latex(self) -> str:
        """The lines of the part in an `aligned` block."""
        name = _letter(self.letter)
        if not self.entries:
            return f"{name} &= 0"
        whole = _matrix(self.shape, self.symmetric, self.entries)
        if whole is not None:
            return f"{name} &= {whole}"
        return " \\\\\n".join(f"{_entry(name, i)} &= {text}" for i, (_, text) in self.entries.items())

    @property
    def _count(self) -> int:
        rows, columns = self.shape if len(self.shape) == 2 else (self.shape[0], 1)
        return rows * (rows + 1) // 2 if self.symmetric else rows * columns


@dataclass(frozen=True)
class WrittenEquations:
    """Equations of motion as text (`str`) and as LaTeX (`latex`, which notebooks show).

    title: of the equations. names: meanings of the letters. relations: between the parts, as text and LaTeX.
    parts: vectors and matrices. definitions: names of shared expressions, with text and LaTeX.
    left_out: what the equations do not contain, and parts that are too long to read.
    """

    title: str
    names: tuple[str, ...] = field(repr=False)
    relations: tuple[tuple[str, str], ...]
    parts: tuple[Part, ...] = field(repr=False)
    definitions: tuple[tuple[str, str, str], ...] = field(repr=False)
    left_out: tuple[str, ...]

    def __getitem__(self, letter: str) -> Part:
        """A part by its letter, such as "M"; KeyError if there is none."""
        return {part.letter: part for part in self.parts}[letter]

    def __str__(self) -> str:
        return "\n\n".join(self._paragraphs())

    __repr__ = __str__

    def _paragraphs(self) -> Iterator[str]:
        yield "\n".join([self.title, *self.names])
        yield "\n".join(text for text, _ in self.relations)
        yield from map(str, self.parts)
        if self.definitions:
            yield "\n".join(["with", *(f"  {name} = {text}" for name, text, _ in self.definitions)])
        if self.left_out:
            yield "\n".join(["Not contained:", *(f"  {one}" for one in self.left_out)])

    @property
    def latex(self) -> str:
        """All equations as an `aligned` block, for math mode."""
        lines = [text for _, text in self.relations]
        lines += [part.latex for part in self.parts]
        lines += [f"{_letter(name)} &= {text}" for name, _, text in self.definitions]
        lines += [f"&{_plain(one)}" for one in self.left_out]
        return "\\begin{aligned}\n" + " \\\\\n".join(lines) + "\n\\end{aligned}"

    def _repr_latex_(self) -> str:
        return f"$$\n{self.latex}\n$$"


def _place(index: tuple[int, ...]) -> str:
    return ",".join(str(i + 1) for i in index)


def _entry(name: str, index: tuple[int, ...]) -> str:
    place = _place(index)
    return f"{name[:-1]},{place}}}" if name.endswith("}") and "_{" in name else f"{name}_{{{place}}}"


@dataclass
class _Draft:
    """A part before it is written: its entries, zeros left out."""

    letter: str
    meaning: str
    shape: tuple[int, ...]
    expressions: dict[tuple[int, ...], Expression]
    symmetric: bool = False
    of_frame: bool = False
    entries: dict[tuple[int, ...], tuple[str, str]] = field(default_factory=dict)

    def part(self) -> Part:
        return Part(self.letter, self.meaning, self.shape, self.symmetric, self.entries)


class _Listed(NamedTuple):
    """The result of `listed`: texts of expressions by notation; names of shared parts with their texts."""

    texts: list[list[str]]
    named: list[tuple[str, ...]]


def written_equations(system: SymbolicSystem, frames: Iterable[Any], longest: int) -> WrittenEquations:
    """See `SymbolicSystem.equations`."""
    return _Author(Exported(system, frames), longest).equations()


class _Author:
    """Derives the parts and writes them."""

    def __init__(self, exported: Exported, longest: int) -> None:
        self.exported, self.longest = exported, longest
        names = exported.names()
        self.symbols = [fresh_symbol(one.name) for one in names]
        constants = [one.name for one in (*exported.parameters, *exported.inputs)]
        rest = [one.name for one in names if one.name not in constants]
        self.expansion = Expansion([*constants, *rest])
        rates = [one.name for one in (*exported.speeds, *exported.accelerations)]
        positions = [one.name for one in exported.coordinates]
        self.notations: tuple[Notation, Notation] = (
            TEXT,
            _NamedLatex(_letters([*constants, *positions], rates)),
        )
        self.left_out = list(exported.left_out)

    def equations(self) -> WrittenEquations:
        """All equations."""
        drafts = list(self._drafts())
        definitions = self._list([draft for draft in drafts if not self._expand(draft)])
        solved = self._solved(drafts[0], drafts[1])
        drafts[2:2] = solved
        kept = [draft for draft in drafts if draft.entries or not draft.expressions]
        return WrittenEquations(
            f"Equations of motion of mechanism {self.exported.model.name!r}, SI units",
            tuple(self._names()),
            tuple(self._relations(bool(solved))),
            tuple(draft.part() for draft in kept),
            tuple(definitions),
            tuple(self.left_out),
        )

    def _drafts(self) -> Iterator[_Draft]:
        n, m = len(self.exported.speeds), len(self.exported.rows)
        mass = self._draft("mass_matrix", "M", "mass matrix", (n, n))
        mass.symmetric = True
        mass.expressions = {(i, j): e for (i, j), e in mass.expressions.items() if i <= j}
        yield mass
        yield self._draft("bias", "b", "right-hand side: applied forces, gravity and velocity terms", (n,))
        applied = self._draft("forces", "Q", "the applied forces in b, gravity aside", (n,))
        if applied.expressions:
            yield applied
        if any(component for _, component in self.exported.system.core.coordinate_labels()):
            count = len(self.exported.coordinates)
            yield self._draft("coordinate_rates", "qdot", "rates of the coordinates", (count,))
        if m:
            yield self._draft("constraint_error", "C", "closing rows, zero where loops are closed", (m,))
            yield self._draft("constraint_jacobian", "J", "derivatives of the rate of C by u", (m, n))
            yield self._draft("constraint_bias", "gamma", "second rate of C at a = 0", (m,))
        for frame in self.exported.frames:
            name, of = frame.name, frame.meaning
            pose = self.exported.expressions("pose", self.symbols, frame)
            jacobian = self.exported.expressions("jacobian", self.symbols, frame)
            meaning = f"derivatives by u of the velocity (3) and angular velocity (3) of {of}"
            for draft in (
                _entered(f"p_{name}", f"position of {of}, world axes", (3,), pose[:3]),
                _entered(f"R_{name}", f"rotation of {of}, its axes to the world's", (3, 3), pose[3:]),
                _entered(f"J_{name}", meaning, (6, n), jacobian),
            ):
                draft.of_frame = True
                yield draft

    def _draft(self, form: str, letter: str, meaning: str, shape: tuple[int, ...]) -> _Draft:
        return _entered(letter, meaning, shape, self.exported.expressions(form, self.symbols))

    def _expand(self, draft: _Draft) -> bool:
        """Write the entries multiplied out; return whether they are short enough."""
        try:
            sums = {index: self.expansion.of(e) for index, e in draft.expressions.items()}
        except TooLongError:
            return False
        for index, found in sums.items():
            text, latex = self._texts(found)
            if len(text) > _READABLE:
                draft.entries.clear()
                return False
            if text != "0":
                draft.entries[index] = (text, latex)
        draft.expressions = {index: draft.expressions[index] for index in draft.entries}
        return True

    def _texts(self, found: Sum) -> tuple[str, str]:
        text, latex = (Writer(self.expansion, one).written(found).text for one in self.notations)
        return text, latex

    def _list(self, drafts: list[_Draft]) -> list[tuple[str, str, str]]:
        """Write entries with names for shared parts; dynamics and frames too long to read are left out."""
        kept: list[_Draft] = []
        dynamics = [draft for draft in drafts if not draft.of_frame]
        found = _Listed([[], []], [])
        long = []
        for group in (dynamics, *([draft] for draft in drafts if draft.of_frame)):
            expressions = [e for one in (*kept, *group) for e in one.expressions.values()]
            tried = listed(expressions, _NODES, self.notations)
            size = 0 if tried is None else sum(map(len, (*tried[0][0], *(text for _, text, *_ in tried[1]))))
            if tried is None or size > self.longest:
                long += [draft.letter for draft in group]
            else:
                found = _Listed(*tried)
                kept += group
        if long:
            self.left_out.append(f"{', '.join(long)}: too long to read; export_c writes them as C")
        both = iter(zip(*found.texts, strict=True))
        for draft in kept:
            draft.entries = {index: next(both) for index in draft.expressions}
        if tables := _tables([e for draft in kept for e in draft.expressions.values()]):
            self.left_out.append(f"the numbers of {', '.join(tables)}; export_c writes them")
        return [(name, text, latex) for name, text, latex in found.named]

    def _solved(self, mass: _Draft, bias: _Draft) -> list[_Draft]:
        """The accelerations, M^-1 b, of one or two speeds."""
        n = len(self.exported.speeds)
        if self.exported.rows or n > 2 or not mass.entries:
            return []
        out = _Draft("a", "accelerations, M^-1 b", (n,), {})
        if (0, 1) in mass.expressions:
            below = "(M[1,1]*M[2,2] - M[1,2]^2)", "M_{1,1} M_{2,2} - M_{1,2}^{2}"
            for i, (other, own, far) in enumerate((("2,2", 1, 2), ("1,1", 2, 1))):
                above = f"M_{{{other}}} b_{{{own}}} - M_{{1,2}} b_{{{far}}}"
                text = f"(M[{other}]*b[{own}] - M[1,2]*b[{far}])/{below[0]}"
                out.entries[i,] = (text, f"\\frac{{{above}}}{{{below[1]}}}")
        else:
            out.entries = {(i,): self._quotient(i, mass, bias) for i in range(n) if (i,) in bias.expressions}
        return [out]

    def _quotient(self, i: int, mass: _Draft, bias: _Draft) -> tuple[str, str]:
        try:
            over, under = (self.expansion.of(e) for e in (bias.expressions[i,], mass.expressions[i, i]))
            texts = self._texts(self.expansion.product(over, self.expansion.reciprocal(under)))
        except TooLongError:
            texts = ("", "")
        if 0 < len(texts[0]) <= _READABLE:
            return texts
        k = i + 1
        return f"b[{k}]/M[{k},{k}]", f"\\frac{{b_{{{k}}}}}{{M_{{{k},{k}}}}}"

    def _relations(self, solved: bool) -> Iterator[tuple[str, str]]:
        """The relations between the parts, as text and LaTeX."""
        names = [one.name for one in self.exported.accelerations]
        if len(names) <= _LISTED:
            column = " \\\\ ".join(self.notations[1].symbol(name) for name in names)
            yield f"a = ({', '.join(names)})", f"a &= \\begin{{pmatrix}} {column} \\end{{pmatrix}}"
        else:
            yield "a: the rates of u", "a &= \\dot{u}"
        if self.exported.rows:
            text = "M a = b + J^T lambda, J a = -gamma, with the multipliers lambda of the closing rows"
            yield text, "M a &= b + J^{T} \\lambda, \\quad J a = -\\gamma"
            tau, latex = "tau = M a - b - J^T lambda", "\\tau &= M a - b - J^{T} \\lambda"
        else:
            yield "M a = b", "M a &= b"
            if not solved:
                yield "forward dynamics: a = M^-1 b", "a &= M^{-1} b"
            tau, latex = "tau = M a - b", "\\tau &= M a - b"
        yield f"inverse dynamics: {tau}, the efforts along the speeds that a needs beside b", latex

    def _names(self) -> Iterator[str]:
        exported = self.exported
        for title, names in (
            ("coordinates q", exported.coordinates),
            ("speeds u", exported.speeds),
            ("parameters", exported.parameters),
            ("inputs", exported.inputs),
        ):
            if names:
                shown = [f"{one.name} ({one.unit})" if one.unit else one.name for one in names]
                yield f"{title}: {', '.join(shown)}"
        for number, row in enumerate(exported.rows):
            yield f"closing row {number + 1}: {row}"


def _entered(letter: str, meaning: str, shape: tuple[int, ...], values: Sequence[Expression]) -> _Draft:
    """A draft of values in row-major order."""
    width = shape[-1]
    indices = [divmod(k, width) if len(shape) == 2 else (k,) for k in range(len(values))]
    return _Draft(letter, meaning, shape, {i: e for i, e in zip(indices, values, strict=True) if e != 0.0})


def _tables(expressions: Sequence[Expression]) -> list[str]:
    nodes = _core.expression_nodes(list(expressions))
    return sorted({f"table_{node.table[0]}" for node in nodes if node.op == "table"})


class _NamedLatex(Latex):
    """LaTeX with special letters for some names."""

    def __init__(self, letters: Mapping[str, str]) -> None:
        self.letters = letters

    def symbol(self, name: str) -> str:
        """The letter of a name, or else its usual form."""
        return self.letters.get(name) or super().symbol(name)

    def call(self, name: str, operands: list[Printed]) -> Printed:
        """A function call; the sine of a single letter has no parentheses."""
        (first, *_) = operands
        if name in _TURNS and first.level == ATOM and not first.text.startswith("\\mathrm"):
            return Printed(f"\\{name} {first.text}")
        return super().call(name, operands)

    def power(self, a: Printed, b: Printed) -> Printed:
        """A to the power b, with the exponent directly after "sin" and "cos"."""
        for name in _TURNS:
            if a.text.startswith((f"\\{name} ", f"\\{name}\\left(")) and a.level == ATOM:
                return Printed(a.text.replace(f"\\{name}", f"\\{name}^{{{b.text}}}", 1))
        return super().power(a, b)


def _letters(names: Iterable[str], rates: Iterable[str]) -> dict[str, str]:
    """LaTeX of names; rates, "NAME_dot" and "NAME_ddot", are NAME with dots."""
    found = {name: _letter(name) for name in names}
    for rate in rates:
        for suffix, dots in (("_ddot", "\\ddot"), ("_dot", "\\dot")):
            stem = rate.removesuffix(suffix)
            if stem != rate and stem in found:
                found[rate] = f"{dots}{{{found[stem]}}}"
                break
        else:
            found[rate] = _letter(rate)
    return found


def _letter(name: str) -> str:
    """The usual form of a name, with everything after the first "_" as an index."""
    stem, _, index = name.partition("_")
    shown = LATEX.symbol(stem)
    if not index:
        return shown
    below = index if index.isdigit() else f"\\mathrm{{{index.replace('_', ' ')}}}"
    return f"{shown[:-1]},{below}}}" if shown.endswith("}") and "_{" in shown else f"{shown}_{{{below}}}"


def _plain(text: str) -> str:
    """A plain text within formulae."""
    return "\\text{" + "".join(f"\\{c}" if c in "_#$%&{}" else c for c in text) + "}"


def _matrix(
    shape: tuple[int, ...], symmetric: bool, entries: Mapping[tuple[int, ...], tuple[str, str]]
) -> str | None:
    """A matrix or column in parentheses, from entries as text and LaTeX; None if it is too wide."""
    columns = shape[1] if len(shape) == 2 else 1
    if columns > _WIDE:
        return None
    rows = []
    for i in range(shape[0]):
        places = [(i, j) if len(shape) == 2 else (i,) for j in range(columns)]
        row = [entries.get(tuple(sorted(p)) if symmetric else p, ("0", "0")) for p in places]
        if sum(len(text) for text, _ in row) > _LONG:
            return None
        rows.append(" & ".join(latex for _, latex in row))
    if len(rows) == columns == 1:
        return rows[0]
    return "\\begin{pmatrix} " + " \\\\ ".join(rows) + " \\end{pmatrix}"
