"""Equations of motion in LaTeX: letters of names, sines of single angles, matrices that fit on a page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from bellcrank.expression.notation import ATOM, LATEX, Latex, Printed

_TURNS: Final = ("sin", "cos")
_WIDE: Final = 3  # columns of a matrix that is shown as one
_LONG: Final = 100  # characters of one of its rows, as text


class NamedLatex(Latex):
    """LaTeX with letters of its own for some names."""

    def __init__(self, letters: Mapping[str, str]) -> None:
        self.letters = letters

    def symbol(self, name: str) -> str:
        """The letter of a name, or what expressions make of it."""
        return self.letters.get(name) or super().symbol(name)

    def call(self, name: str, operands: list[Printed]) -> Printed:
        """A function; the sine of a single letter without parentheses."""
        (first, *_) = operands
        if name in _TURNS and first.level == ATOM and not first.text.startswith("\\mathrm"):
            return Printed(f"\\{name} {first.text}")
        return super().call(name, operands)

    def power(self, a: Printed, b: Printed) -> Printed:
        """A to the power of b, which stands behind "sin" and "cos"."""
        for name in _TURNS:
            if a.text.startswith((f"\\{name} ", f"\\{name}\\left(")) and a.level == ATOM:
                return Printed(a.text.replace(f"\\{name}", f"\\{name}^{{{b.text}}}", 1))
        return super().power(a, b)


def letters(names: Iterable[str], rates: Iterable[str]) -> dict[str, str]:
    """LaTeX of names; those of rates, "NAME_dot" and "NAME_ddot", are NAME with dots."""
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
    """As expressions have it, with all that follows the first "_" as an index."""
    stem, _, index = name.partition("_")
    shown = LATEX.symbol(stem)
    if not index:
        return shown
    below = index if index.isdigit() else f"\\mathrm{{{index.replace('_', ' ')}}}"
    return f"{shown[:-1]},{below}}}" if shown.endswith("}") and "_{" in shown else f"{shown}_{{{below}}}"


def plain(text: str) -> str:
    """A text inside of formulae."""
    return "\\text{" + "".join(f"\\{c}" if c in "_#$%&{}" else c for c in text) + "}"


def matrix(
    shape: tuple[int, ...], symmetric: bool, entries: Mapping[tuple[int, ...], tuple[str, str]]
) -> str | None:
    """A matrix or column in parentheses, of entries as text and LaTeX; None where it is too wide for that."""
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
