"""The equations of the symbolic formulation as text and LaTeX.

A part is multiplied out if the result is short; otherwise the shared parts of its entries get names.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from bellcrank import _core
from bellcrank.expression.cleaning import cleaned
from bellcrank.expression.expression import Expression, fresh_symbol
from bellcrank.expression.printing import ATOM, LATEX, TEXT, Latex, Notation, Printed, listed
from bellcrank.expression.readable import Expansion, Sum, TooLongError, Writer
from bellcrank.formulations.export_c import Exported, Frame, Name
from bellcrank.formulations.prescribed import Driven, Elimination, Entries, added, driven

if TYPE_CHECKING:
    from bellcrank.formulations.symbolic import SymbolicSystem


_READABLE: Final = 400  # characters of an entry beyond which shared parts get names
_LISTED: Final = 6  # accelerations that are listed by name
_NODES: Final = 4000  # operations above which the result is too long to read
_TURNS: Final = ("sin", "cos")
_WIDE: Final = 3  # columns of a matrix that is shown in one piece, at most
_LONG: Final = 100  # characters of one of its rows, as text, at most
_INSTEAD: Final = {
    "M": "Mass", "b": "Rhs", "a": "Acc", "Q": "Applied", "qdot": "Rates", "C": "Closing", "J": "Jacobian",
    "gamma": "Drift", "lambda": "Multipliers", "tau": "Tau", "E": "Effort", "D": "Jacobian_d",
}  # fmt: skip
"""The letters of parts, and what they are called where a parameter or a joint has that name."""
_BOLD: Final = {
    other: f"\\mathbf{{{one}}}" if len(one) == 1 else f"\\boldsymbol{{{LATEX.symbol(one)}}}"
    for one, other in _INSTEAD.items()
}


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
        """A part by its letter, such as "M", even where a parameter has it; KeyError if there is none."""
        own = {part.letter: part for part in self.parts}
        return own[letter] if letter in own else own[_INSTEAD.get(letter, letter)]

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


def written_equations(
    system: SymbolicSystem, frames: Iterable[Any], longest: int, eliminate_driven: bool = False
) -> WrittenEquations:
    """See `SymbolicSystem.equations`."""
    return _Author(Exported(system, frames), longest, eliminate_driven).equations()


class _Author:
    """Derives the parts and writes them."""

    def __init__(self, exported: Exported, longest: int, eliminate_driven: bool) -> None:
        self.exported, self.longest = exported, longest
        names = exported.names()
        self.symbols = [fresh_symbol(one.name) for one in names]
        taken = {one.name for one in names}
        self.letters = {one: other if one in taken else one for one, other in _INSTEAD.items()}
        self.eliminated = self._elimination(eliminate_driven)
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
        if eliminate_driven and (kept := [exported.rows[k] for k in self.eliminated.rows]):
            self.left_out.append(
                f"the elimination of {', '.join(kept)}, which prescribe no single coordinate"
            )

    def _elimination(self, wanted: bool) -> Elimination:
        """What drives prescribe; nothing unless it is wanted."""
        exported = self.exported
        n, m, count = len(exported.speeds), len(exported.rows), len(exported.coordinates)
        symbol = {one.name: s for one, s in zip(exported.names(), self.symbols, strict=True)}
        laws: list[Driven] = []
        if wanted and m:
            error = self._draft("constraint_error", "C", "", (m,)).expressions
            jacobian = self._draft("constraint_jacobian", "J", "", (m, n)).expressions
            known = {symbol[one.name] for one in exported.parameters}
            laws = driven(error, jacobian, self.symbols[1 : 1 + count], self.symbols[0], known)
        images: dict[Expression, Any] = {}
        for one in laws:
            levels = (
                (exported.coordinates, one.coordinate),
                (exported.speeds, one.speed),
                (exported.accelerations, one.speed),
            )
            images |= {symbol[of[k].name]: law for (of, k), law in zip(levels, one.law, strict=True)}
        return Elimination(laws, n, m, images)

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
        left, l = self.eliminated, self.letters  # noqa: E741  (the letters of the equations)
        others, rows = left.others, left.rows
        n, m = len(self.exported.speeds), len(self.exported.rows)
        every, driven_speeds = list(range(n)), [one.speed for one in left.laws]
        half = self._known("mass_matrix", (n, n))
        mass = half | {(j, i): e for (i, j), e in half.items()}
        bias, jacobian = self._known("bias", (n,)), self._known("constraint_jacobian", (m, n)) if m else {}
        own = left.matrix(mass, others, others)
        yield _Draft(
            l["M"], "mass matrix", (len(others),) * 2, {k: e for k, e in own.items() if k[0] <= k[1]}, True
        )
        pushed = left.times(mass, left.accelerations, every)
        meaning = "right-hand side: applied forces, gravity and velocity terms"
        meaning += ", less what accelerations of driven coordinates take" if left.laws else ""
        yield _Draft(l["b"], meaning, (len(others),), left.vector(added(bias, pushed, -1.0), others))
        applied = left.vector(self._known("forces", (n,)), others)
        if applied:
            yield _Draft(l["Q"], "the applied forces in b, gravity aside", (len(others),), applied)
        if any(component for _, component in self.exported.system.core.coordinate_labels()):
            count = len(self.exported.coordinates)
            rates = left.vector(self._known("coordinate_rates", (count,)), self._coordinates)
            yield _Draft(l["qdot"], "rates of the coordinates", (len(self._coordinates),), rates)
        if rows:
            size = len(rows)
            error = left.vector(self._known("constraint_error", (m,)), rows)
            yield _Draft(l["C"], "closing rows, zero where loops are closed", (size,), error)
            own = left.matrix(jacobian, rows, others)
            yield _Draft(l["J"], "derivatives of the rate of C by u", (size, len(others)), own)
            drift = added(
                self._known("constraint_bias", (m,)), left.times(jacobian, left.accelerations, range(m))
            )
            yield _Draft(l["gamma"], "second rate of C at a = 0", (size,), left.vector(drift, rows))
        if left.laws:
            a = {k: self._symbol(self.exported.accelerations[k]) for k in others}
            efforts = added(added(left.times(mass, a, every), pushed), bias, -1.0)
            names = ", ".join(self.exported.rows[one.row] for one in left.laws)
            size = len(left.laws)
            yield _Draft(l["E"], f"efforts of {names}", (size,), left.vector(efforts, driven_speeds))
            if rows and (own := left.matrix(jacobian, rows, driven_speeds)):
                yield _Draft(l["D"], "derivatives of the rate of C by driven speeds", (len(rows), size), own)
        for frame in self.exported.frames:
            yield from self._of_frame(frame)

    def _of_frame(self, frame: Frame) -> Iterator[_Draft]:
        left, name, of, n = self.eliminated, frame.name, frame.meaning, len(self.exported.speeds)
        pose = self.exported.expressions("pose", self.symbols, frame)
        jacobian = left.known(
            _entered("", "", (6, n), self.exported.expressions("jacobian", self.symbols, frame)).expressions
        )
        meaning = f"derivatives by u of the velocity (3) and angular velocity (3) of {of}"
        carried = left.times(jacobian, left.velocities, range(6))
        drafts = [
            _entered(f"p_{name}", f"position of {of}, world axes", (3,), pose[:3]),
            _entered(f"R_{name}", f"rotation of {of}, its axes to the world's", (3, 3), pose[3:]),
        ]
        for draft in drafts:
            draft.expressions = left.known(draft.expressions)
        own = left.matrix(jacobian, range(6), left.others)
        drafts.append(_Draft(f"J_{name}", meaning, (6, len(left.others)), own))
        if carried:
            drafts.append(
                _Draft(f"v_{name}", f"velocity (3) and angular velocity (3) of {of} at u = 0", (6,), carried)
            )
        for draft in drafts:
            draft.of_frame = True
            yield draft

    def _known(self, form: str, shape: tuple[int, ...]) -> Entries:
        """A form, with functions of time for what drives prescribe."""
        return self.eliminated.known(self._draft(form, "", "", shape).expressions)

    def _symbol(self, name: Name) -> Expression:
        return self.symbols[[one.name for one in self.exported.names()].index(name.name)]

    @property
    def _coordinates(self) -> list[int]:
        """Numbers of the coordinates that are left."""
        gone = {one.coordinate for one in self.eliminated.laws}
        return [k for k in range(len(self.exported.coordinates)) if k not in gone]

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
            tried = listed(cleaned(expressions, 15), _NODES, self.notations)
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
        n = len(self.eliminated.others)
        if self.eliminated.rows or not 0 < n <= 2 or not mass.entries:
            return []
        M, b = mass.letter, bias.letter
        LM, Lb = _letter(M), _letter(b)
        out = _Draft(self.letters["a"], f"accelerations, {M}^-1 {b}", (n,), {})
        if (0, 1) in mass.expressions:
            below = f"({M}[1,1]*{M}[2,2] - {M}[1,2]^2)", f"{LM}_{{1,1}} {LM}_{{2,2}} - {LM}_{{1,2}}^{{2}}"
            for i, (other, own, far) in enumerate((("2,2", 1, 2), ("1,1", 2, 1))):
                above = f"{LM}_{{{other}}} {Lb}_{{{own}}} - {LM}_{{1,2}} {Lb}_{{{far}}}"
                text = f"({M}[{other}]*{b}[{own}] - {M}[1,2]*{b}[{far}])/{below[0]}"
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
        k, M, b = i + 1, mass.letter, bias.letter
        return f"{b}[{k}]/{M}[{k},{k}]", f"\\frac{{{_letter(b)}_{{{k}}}}}{{{_letter(M)}_{{{k},{k}}}}}"

    def _relations(self, solved: bool) -> Iterator[tuple[str, str]]:
        """The relations between the parts, as text and LaTeX."""
        l, left = self.letters, self.eliminated  # noqa: E741
        M, b, a, J, gamma, tau = (l[one] for one in ("M", "b", "a", "J", "gamma", "tau"))
        multipliers, E, D = l["lambda"], l["E"], l["D"]
        names = [self.exported.accelerations[k].name for k in left.others]
        if not names:
            yield f"{a}: empty, the drives prescribe all motion", f"&\\text{{{a}: empty}}"
        elif len(names) <= _LISTED:
            column = " \\\\ ".join(self.notations[1].symbol(name) for name in names)
            yield (
                f"{a} = ({', '.join(names)})",
                f"{_letter(a)} &= \\begin{{pmatrix}} {column} \\end{{pmatrix}}",
            )
        else:
            yield f"{a}: the rates of u", f"{_letter(a)} &= \\dot{{u}}"
        LM, Lb, La, LJ, Lg, Ll, Lt, LE, LD = map(_letter, (M, b, a, J, gamma, multipliers, tau, E, D))
        if left.rows:
            text = (
                f"{M} {a} = {b} + {J}^T {multipliers}, {J} {a} = -{gamma}, "
                f"with the multipliers {multipliers} of the closing rows"
            )
            yield text, f"{LM} {La} &= {Lb} + {LJ}^{{T}} {Ll}, \\quad {LJ} {La} = -{Lg}"
            inverse = f"{tau} = {M} {a} - {b} - {J}^T {multipliers}"
            latex = f"{Lt} &= {LM} {La} - {Lb} - {LJ}^{{T}} {Ll}"
            if left.laws:
                yield (
                    f"efforts of drives: {E} - {D}^T {multipliers}",
                    f"&\\text{{efforts of drives: }} {LE} - {LD}^{{T}} {Ll}",
                )
        else:
            if names:
                yield f"{M} {a} = {b}", f"{LM} {La} &= {Lb}"
            if names and not solved:
                yield f"forward dynamics: {a} = {M}^-1 {b}", f"{La} &= {LM}^{{-1}} {Lb}"
            inverse, latex = f"{tau} = {M} {a} - {b}", f"{Lt} &= {LM} {La} - {Lb}"
        if names:
            yield (
                f"inverse dynamics: {inverse}, the efforts along the speeds that {a} needs beside {b}",
                latex,
            )

    def _names(self) -> Iterator[str]:
        exported, left = self.exported, self.eliminated
        for title, names in (
            ("coordinates q", [exported.coordinates[k] for k in self._coordinates]),
            ("speeds u", [exported.speeds[k] for k in left.others]),
            ("parameters", exported.parameters),
            ("inputs", exported.inputs),
        ):
            if names:
                shown = [f"{one.name} ({one.unit})" if one.unit else one.name for one in names]
                yield f"{title}: {', '.join(shown)}"
        for law in left.laws:
            laws = listed(cleaned(law.law, 15), _NODES, self.notations[:1])
            written = laws[0][0] if laws is not None and not laws[1] else ["a function of time"] * 3
            of = (
                exported.coordinates[law.coordinate],
                exported.speeds[law.speed],
                exported.accelerations[law.speed],
            )
            line = ", ".join(f"{name.name} = {text}" for name, text in zip(of, written, strict=True))
            yield f"{exported.rows[law.row]}: {line}"
        for number, place in enumerate(left.rows):
            yield f"closing row {number + 1}: {exported.rows[place]}"


def _entered(letter: str, meaning: str, shape: tuple[int, ...], values: Sequence[Expression]) -> _Draft:
    """A draft of values in row-major order."""
    width = shape[-1]
    indices = [divmod(k, width) if len(shape) == 2 else (k,) for k in range(len(values))]
    entries = zip(indices, cleaned(list(values)), strict=True)
    return _Draft(letter, meaning, shape, {i: e for i, e in entries if e != 0.0})


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
    """The usual form of a name, with everything after the first "_" as an index; of parts, in bold."""
    if name in _BOLD:
        return _BOLD[name]
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
