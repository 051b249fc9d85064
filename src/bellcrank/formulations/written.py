"""The equations of the symbolic formulation as text and LaTeX, as returned to users."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from bellcrank.formulations.written_latex import letter, matrix, plain


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
        name = letter(self.letter)
        if not self.entries:
            return f"{name} &= 0"
        whole = matrix(self.shape, self.symmetric, self.entries)
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
        lines += [f"{letter(name)} &= {text}" for name, _, text in self.definitions]
        lines += [f"&{plain(one)}" for one in self.left_out]
        return "\\begin{aligned}\n" + " \\\\\n".join(lines) + "\n\\end{aligned}"

    def _repr_latex_(self) -> str:
        return f"$$\n{self.latex}\n$$"


def _place(index: tuple[int, ...]) -> str:
    return ",".join(str(i + 1) for i in index)


def _entry(name: str, index: tuple[int, ...]) -> str:
    place = _place(index)
    return f"{name[:-1]},{place}}}" if name.endswith("}") and "_{" in name else f"{name}_{{{place}}}"
