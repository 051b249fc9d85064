"""The equations of the symbolic formulation as text and LaTeX."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from bellcrank.expression.expanded import Expansion, TooLongError
from bellcrank.expression.expression import Expression, fresh_symbol
from bellcrank.expression.notation import LATEX, TEXT, Latex, Notation
from bellcrank.expression.printing import listed
from bellcrank.expression.readable import Writer
from bellcrank.formulations.exported import FRAME, Exported, Frame, Name

if TYPE_CHECKING:
    from bellcrank.formulations.symbolic import SymbolicSystem

_READABLE: Final = 400  # characters of an entry beyond which shared parts get names
_NODES: Final = 4000  # operations beyond which nobody reads on
_SOLVED: Final = 2  # speeds up to which the accelerations are written out


@dataclass(frozen=True)
class Part:
    """A vector or matrix: its letter, what it is, its entries by index, those that are zero left out.

    shape: of all entries. symmetric: entries below the diagonal are left out too.
    """

    letter: str
    meaning: str
    shape: tuple[int, ...]
    symmetric: bool
    entries: dict[tuple[int, ...], tuple[str, str]] = field(repr=False)

    def named(self, index: tuple[int, ...]) -> str:
        """An entry's name, counted from one: "M[1,2]"."""
        return f"{self.letter}[{','.join(str(i + 1) for i in index)}]"

    def lines(self) -> Iterator[str]:
        """The entries as text."""
        for index, (text, _) in self.entries.items():
            yield f"{self.named(index)} = {text}"
        if not self.entries:
            yield f"{self.letter} = 0"

    def latex_lines(self) -> Iterator[str]:
        """The entries as LaTeX."""
        for index, (_, text) in self.entries.items():
            yield f"{self.letter}_{{{','.join(str(i + 1) for i in index)}}} &= {text}"
        if not self.entries:
            yield f"{self.letter} &= 0"


@dataclass(frozen=True)
class WrittenEquations:
    """Equations of motion as text (`str`) and as LaTeX (`latex`, and what notebooks show).

    title: what they are of. names: what the names in them mean. parts: vectors and matrices. relations:
    how these belong together, text and LaTeX. definitions: names of shared parts, text and LaTeX. left_out:
    what they do not contain, and parts that are too long.
    """

    title: str
    names: tuple[str, ...] = field(repr=False)
    relations: tuple[tuple[str, str], ...]
    parts: tuple[Part, ...] = field(repr=False)
    definitions: tuple[tuple[str, str, str], ...] = field(repr=False)
    left_out: tuple[str, ...]

    def part(self, letter: str) -> Part:
        """A part by its letter, such as "M"; KeyError if there is none."""
        return {part.letter: part for part in self.parts}[letter]

    def __str__(self) -> str:
        lines = [self.title, "", *self.names, "", *(text for text, _ in self.relations)]
        for part in self.parts:
            lines += ["", f"{part.letter}: {part.meaning}", *(f"  {line}" for line in part.lines())]
            if part.symmetric:
                lines[-len(part.entries) - 1] += "; symmetric"
        if self.definitions:
            lines += ["", "with", *(f"  {name} = {text}" for name, text, _ in self.definitions)]
        if self.left_out:
            lines += ["", "Not contained:", *(f"  {one}" for one in self.left_out)]
        return "\n".join(lines)

    __repr__ = __str__

    @property
    def latex(self) -> str:
        """All of it as an `aligned` block, for math mode."""
        lines = [text for _, text in self.relations]
        for part in self.parts:
            lines += part.latex_lines()
        lines += [f"{name} &= {text}" for name, _, text in self._latex_definitions()]
        lines += [f"&\\text{{{_plain(one)}}}" for one in self.left_out]
        return "\\begin{aligned}\n" + " \\\\\n".join(lines) + "\n\\end{aligned}"

    def _latex_definitions(self) -> Iterator[tuple[str, str, str]]:
        return ((LATEX.symbol(name), text, latex) for name, text, latex in self.definitions)

    def _repr_latex_(self) -> str:
        return f"$$\n{self.latex}\n$$"


class _NamedLatex(Latex):
    """LaTeX with letters of its own for some names."""

    def __init__(self, letters: dict[str, str]) -> None:
        self.letters = letters

    def symbol(self, name: str) -> str:
        return self.letters.get(name) or super().symbol(name)


@dataclass
class _Draft:
    """A part before it is written."""

    letter: str
    meaning: str
    shape: tuple[int, ...]
    symmetric: bool
    expressions: dict[tuple[int, ...], Expression]
    entries: dict[tuple[int, ...], tuple[str, str]] = field(default_factory=dict)


def written_equations(system: SymbolicSystem, frames: Iterable[Any], longest: int) -> WrittenEquations:
    """See `SymbolicSystem.equations`."""
    return _Author(Exported(system, frames), longest).equations()


class _Author:
    """Derives the parts, and writes each as the shortest of its forms."""

    def __init__(self, exported: Exported, longest: int) -> None:
        self.exported, self.longest = exported, longest
        names = exported.names()
        self.symbols = [fresh_symbol(one.name) for one in names]
        first = [*exported.parameters, *exported.inputs]
        rest = [one for one in names if one not in first]
        self.expansion = Expansion(one.name for one in (*first, *rest))
        self.notations: tuple[Notation, Notation] = (TEXT, _NamedLatex(_letters(exported)))
        self.left_out = list(exported.left_out)

    def equations(self) -> WrittenEquations:
        """Everything."""
        drafts = list(self._drafts())
        hard = [draft for draft in drafts if not self._expand(draft)]
        definitions = self._list(hard)
        solved = self._solved({draft.letter: draft for draft in drafts})
        kept = [draft for draft in drafts if draft.entries or not draft.expressions]
        return WrittenEquations(
            f"Equations of motion of mechanism {self.exported.model.name!r}, SI units",
            tuple(self._names()),
            tuple(self._relations(solved is not None)),
            tuple(
                Part(draft.letter, draft.meaning, draft.shape, draft.symmetric, draft.entries)
                for draft in (*kept, *([solved] if solved is not None else []))
            ),
            tuple(definitions),
            tuple(self.left_out),
        )

    def _drafts(self) -> Iterator[_Draft]:
        n, m = len(self.exported.speeds), len(self.exported.rows)
        yield self._draft("mass_matrix", "M", "mass matrix", (n, n), True)
        yield self._draft("bias", "b", "what acts, less what the motion at a = 0 and gravity need", (n,))
        forces = self._draft("forces", "Q", "what acts along the speeds beside gravity; a part of b", (n,))
        if forces.expressions:
            yield forces
        if any(component for _, component in self.exported.system.core.coordinate_labels()):
            count = len(self.exported.coordinates)
            yield self._draft("coordinate_rates", "qdot", "rates of the coordinates", (count,))
        if m:
            yield self._draft("constraint_error", "C", "closing rows, zero where loops are closed", (m,))
            yield self._draft("constraint_jacobian", "J", "derivatives of the rate of C by u", (m, n))
            yield self._draft("constraint_bias", "gamma", "second rate of C at a = 0", (m,))
        for frame in self.exported.frames:
            yield from self._frame(frame, n)

    def _frame(self, frame: Frame, n: int) -> Iterator[_Draft]:
        symbols, name = self.symbols, frame.name
        pose, velocity, jacobian = (self.exported.expressions(form, symbols, frame) for form in FRAME)
        drift = any(e.is_constant is False for e in velocity) and None
        del drift
        yield _entered(f"p_{name}", f"position of {frame.meaning}, world axes", (3,), pose[:3])
        yield _entered(f"R_{name}", f"rotation of {frame.meaning}: its axes to world", (3, 3), pose[3:])
        yield _entered(
            f"J_{name}", f"Jacobian of {frame.meaning}: velocity (3), angular velocity (3)", (6, n), jacobian
        )

    def _draft(
        self, form: str, letter: str, meaning: str, shape: tuple[int, ...], symmetric: bool = False
    ) -> _Draft:
        found = self.exported.expressions(form, self.symbols)
        return _entered(letter, meaning, shape, found, symmetric)

    def _expand(self, draft: _Draft) -> bool:
        """Write the entries multiplied out; whether they are short enough."""
        try:
            sums = {index: self.expansion.of(e) for index, e in draft.expressions.items()}
        except TooLongError:
            return False
        writers = [Writer(self.expansion, notation) for notation in self.notations]
        for index, found in sums.items():
            text, latex = (writer.written(found).text for writer in writers)
            if len(text) > _READABLE:
                draft.entries.clear()
                return False
            if text != "0":
                draft.entries[index] = (text, latex)
        if not draft.entries:
            draft.expressions.clear()
        return True

    def _list(self, drafts: list[_Draft]) -> list[tuple[str, str, str]]:
        """Write entries with names for what they share; parts that are too long are left out."""
        expressions = [e for draft in drafts for e in draft.expressions.values()]
        if not expressions:
            return []
        written = [listed(expressions, notation, _NODES) for notation in self.notations]
        text, latex = written
        size = None if text is None else sum(map(len, text[0])) + sum(len(t) for _, t in text[1])
        if text is None or latex is None or size is None or size > self.longest:
            letters = ", ".join(draft.letter for draft in drafts)
            length = "" if size is None else f" ({size} characters)"
            self.left_out.append(f"{letters}: too long to read{length}; system.export_c(...) writes them as C")
            return []
        texts = iter(zip(text[0], latex[0], strict=True))
        for draft in drafts:
            draft.entries = {index: next(texts) for index in draft.expressions}
        return [(name, t, u) for (name, t), (_, u) in zip(text[1], latex[1], strict=True)]

    def _solved(self, drafts: dict[str, _Draft]) -> _Draft | None:
        """The accelerations by Cramer's rule, where there are one or two."""
        n, M, b = len(self.exported.speeds), drafts["M"], drafts["b"]
        if self.exported.rows or n > _SOLVED or not M.entries:
            return None
        out = _Draft("a", "accelerations, M^-1 b", (n,), False, {})
        if n == 1:
            out.entries[0,] = self._quotient(b, M)
            return out

        def m(i: int, j: int) -> tuple[str, str]:
            return f"M[{i},{j}]", f"M_{{{i},{j}}}"

        def f(i: int) -> tuple[str, str]:
            return f"b[{i}]", f"b_{{{i}}}"

        rows = []
        for x, y in ((m(1, 1), m(2, 2)), (m(1, 2), m(1, 2))):
            rows.append((x, y))
        (a11, a22), (a12, _) = rows
        over = [
            (f"({a22[0]}*{f(1)[0]} - {a12[0]}*{f(2)[0]})", f"{a22[1]} b_{{1}} - {a12[1]} b_{{2}}"),
            (f"({a11[0]}*{f(2)[0]} - {a12[0]}*{f(1)[0]})", f"{a11[1]} b_{{2}} - {a12[1]} b_{{1}}"),
        ]
        under = f"({a11[0]}*{a22[0]} - {a12[0]}^2)", f"{a11[1]} {a22[1]} - {a12[1]}^{{2}}"
        for i, (text, latex) in enumerate(over):
            out.entries[i,] = (f"{text}/{under[0]}", f"\\frac{{{latex}}}{{{under[1]}}}")
        return out

    def _quotient(self, b: _Draft, M: _Draft) -> tuple[str, str]:
        if not b.entries:
            return "0", "0"
        try:
            over, under = (self.expansion.of(next(iter(d.expressions.values()))) for d in (b, M))
            found = self.expansion.product(over, self.expansion.reciprocal(under))
        except TooLongError:
            return "b[1]/M[1,1]", "\\frac{b_{1}}{M_{1,1}}"
        text, latex = (Writer(self.expansion, notation).written(found).text for notation in self.notations)
        return text, latex

    def _relations(self, solved: bool) -> Iterator[tuple[str, str]]:
        if self.exported.rows:
            yield (
                "M a = b + J^T lambda,  J a = -gamma  (lambda: multipliers of the closing rows)",
                "M a &= b + J^{T} \\lambda, \\quad J a = -\\gamma",
            )
        else:
            yield "M a = b", "M a &= b"
        yield (
            "inverse dynamics: tau = M a - b, efforts along the speeds beside those in b",
            "\\tau &= M a - b",
        )
        if not solved and not self.exported.rows:
            yield "forward dynamics: a = M^-1 b", "a &= M^{-1} b"

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
        yield "accelerations a: the rates of u"
        for number, row in enumerate(exported.rows):
            yield f"closing row {number + 1}: {row}"


def _entered(
    letter: str, meaning: str, shape: tuple[int, ...], values: Sequence[Expression], symmetric: bool = False
) -> _Draft:
    """A draft of values in row-major order."""
    width = shape[-1] if len(shape) == 2 else 1
    indices = [divmod(k, width) if len(shape) == 2 else (k,) for k in range(len(values))]
    kept = {
        index: value
        for index, value in zip(indices, values, strict=True)
        if value != 0.0 and not (symmetric and index[0] > index[-1])
    }
    return _Draft(letter, meaning, shape, symmetric, kept)


def _letters(exported: Exported) -> dict[str, str]:
    """LaTeX of names: rates are dots above their coordinates."""
    plain = {one.name: _letter(one.name) for one in (*exported.coordinates, *exported.speeds)}
    plain |= {one.name: _letter(one.name) for one in (*exported.parameters, *exported.inputs)}
    for suffix, dots in (("_dot", "\\dot"), ("_ddot", "\\ddot")):
        for one in (*exported.speeds, *exported.accelerations):
            stem = one.name.removesuffix(suffix)
            if stem != one.name and stem in plain:
                plain[one.name] = f"{dots}{{{plain[stem]}}}"
    return plain


def _letter(name: str) -> str:
    """As expressions have it, with all that follows the first "_" upright below."""
    stem, _, index = name.partition("_")
    shown = LATEX.symbol(stem)
    if not index:
        return shown
    return f"{shown}_{{{index}}}" if index.isdigit() else f"{shown}_{{\\mathrm{{{index.replace('_', ' ')}}}}}"


def _plain(text: str) -> str:
    return "".join(f"\\{c}" if c in "_#$%&{}" else c for c in text)


_ = Name
