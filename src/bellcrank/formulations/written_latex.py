"""Equations of motion in LaTeX: letters for names, sines of single angles, matrices that fit on a page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from bellcrank.expression.printing import ATOM, LATEX, Latex, Printed

_TURNS: Final = ("sin", "cos")
_WIDE: Final = 3  # columns of a matrix that is shown in one piece, at most
_LONG: Final = 100  # characters of one of its rows, as text, at most


class NamedLatex(Latex):
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


def letters(names: Iterable[str], rates: Iterable[str]) -> dict[str, str]:
    """LaTeX of names; rates, "NAME_dot" and "NAME_ddot", are NAME with dots."""
    found = {name: letter(name) for name in names}
    for rate in rates:
        for suffix, dots in (("_ddot", "\\ddot"), ("_dot", "\\dot")):
            stem = rate.removesuffix(suffix)
            if stem != rate and stem in found:
                found[rate] = f"{dots}{{{found[stem]}}}"
                break
        else:
            found[rate] = letter(rate)
    return found


def letter(name: str) -> str:
    """The usual form of a name, with everything after the first "_" as an index."""
    stem, _, index = name.partition("_")
    shown = LATEX.symbol(stem)
    if not index:
        return shown
    below = index if index.isdigit() else f"\\mathrm{{{index.replace('_', ' ')}}}"
    return f"{shown[:-1]},{below}}}" if shown.endswith("}") and "_{" in shown else f"{shown}_{{{below}}}"


def plain(text: str) -> str:
    """A plain text within formulae."""
    return "\\text{" + "".join(f"\\{c}" if c in "_#$%&{}" else c for c in text) + "}"


def matrix(
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
