"""Operations of the symbolic formulation: arms beside published figures, growth with coordinates.

The rule: one for each binary sum or difference, one for each binary product; signs are free; divisions, sines
and cosines apart; parameters are numbers, gravity acts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, cast

import numpy as np

import bellcrank as bc
from bellcrank import _core
from bellcrank.errors import MechanismError, Unsupported
from benchmarks.report import Column, Row, Table
from benchmarks.symbolic_chains import CHAINS
from benchmarks.symbolic_robots import ARMS, Robot

Counts = dict[str, int]
PUBLISHED: Final = (
    {"geometry": "Guenter and Lee, best", "inverse": (328, 365), "forward": (818, 943)},
    {"geometry": "Guenter and Lee, worst", "inverse": (509, 971), "forward": (1875, 2389)},
    {"geometry": "Balafoutis and Patel", "inverse": (386, 450), "forward": (790, 956)},
)
"""B. Guenter, S.-H. Lee, Symbolic Lagrangian Multibody Dynamics, Table 1: six revolute joints of a
geometry that is not told; the last row quotes C. Balafoutis, R. Patel, Dynamic Analysis of Robot Manipulators
(1991)."""
_SIMPLE, _FULL, _GENERAL = ((165, 200), (315, 370)), ((255, 270), (450, 490)), ((360, 425), (720, 890))
TARGETS: Final = {
    "PUMA, simple": _SIMPLE,
    "PUMA, full": _FULL,
    "UR5, simple": _SIMPLE,
    "UR5, full": _FULL,
    "general axes, full": _GENERAL,
}
"""Sums and products, inverse and forward, that an arm may have at most."""
PER_JOINT_TARGET: Final = (79, 90)
"""Sums and products that a joint adds to the inverse dynamics of a chain at most, from four joints on."""
FORMS: Final = {"inverse": "inverse", "forward": "accelerations"}
"""Columns, and the generated forms that they count: our recipe."""
LITERAL: Final = {"inverse_literal": "efforts", "forward_literal": "accelerations"}
"""Columns, and the forms of the paper's equation 13 as it stands, which the oracle of the tests gives."""
FIT_FORMS: Final = {"recipe": "", "equation 13": "_literal"}
"""The endings of the columns of each."""

_ARM_COLUMNS: Final = (
    Column("geometry", "six revolute joints"),
    Column("inverse_literal", "inverse: equation 13"),
    Column("inverse", "recipe"),
    Column("inverse_target", "at most"),
    Column("forward_literal", "forward: equation 13"),
    Column("forward", "recipe"),
    Column("forward_target", "at most"),
    Column("others", "div, sin and cos"),
    Column("method", "by"),
)
_GROWTH_COLUMNS: Final = (
    Column("chain", "chain"),
    Column("coordinates", "coordinates"),
    Column("inverse_published", "inverse: published"),
    Column("inverse_literal", "equation 13"),
    Column("inverse", "recipe"),
    Column("forward_published", "forward: published"),
    Column("forward_literal", "equation 13"),
    Column("forward", "recipe"),
    Column("method", "by"),
)
_FIT_COLUMNS: Final = (
    Column("chain", "chain"),
    Column("figures", "figures"),
    Column("form", "form"),
    Column("inverse_sums", "inverse: sums n + const", 4),
    Column("inverse_products", "products n + const", 4),
    Column("inverse_residual", "largest residual of the line", 2),
    Column("forward_total", "forward: total n^2, n, const", 4),
    Column("forward_residual", "largest residual, relative", 2),
)


def pair(counts: Counts | None) -> str | None:
    """Sums and products as "239/255"."""
    return None if counts is None else f"{counts['additions']}/{counts['multiplications']}"


def total(counts: Counts) -> int:
    """Sums and products together."""
    return counts["additions"] + counts["multiplications"]


def counted(
    mechanism: bc.Mechanism, columns: Sequence[str] = (*FORMS, *LITERAL)
) -> tuple[dict[str, Counts | None], str]:
    """Operations by column, None for a form that is not generated, and the method for the accelerations.

    Equation 13 is counted if the core contains it: in development builds.
    """
    system = cast(Any, bc.prepare(mechanism, "symbolic"))
    literal = getattr(_core, "Equation13", lambda _: None)(system.model.core)
    found: dict[str, Counts | None] = {}
    for column in columns:
        counter, form = (system, FORMS[column]) if column in FORMS else (literal, LITERAL[column])
        try:
            found[column] = counter and counter.operations(form)
        except (MechanismError, ValueError):
            found[column] = None
    return found, str(system.core.method())


def arm_row(name: str, robot: Robot) -> Row:
    """Operations of an arm; in forward dynamics an effort acts on each joint."""
    counts, _ = counted(robot.mechanism(), ("inverse", "inverse_literal"))
    forward_counts, method = counted(robot.mechanism(robot.states(1)), ("forward", "forward_literal"))
    counts |= forward_counts
    forward = counts["forward"] or {}
    row: Row = {
        "geometry": name,
        "method": method,
        "others": f"{forward.get('divisions')}, {forward.get('trigonometric')}",
        "counts": counts,
        **{column: pair(found) for column, found in counts.items()},
    }
    if name in TARGETS:
        for column, allowed in zip(("inverse", "forward"), TARGETS[name], strict=True):
            row[f"{column}_target"] = f"{allowed[0]}/{allowed[1]}"
            row[f"{column}_met"] = within(counts[column], allowed)
    return row


def within(counts: Counts | None, allowed: tuple[int, int]) -> bool:
    """Whether neither sums nor products exceed the limits."""
    return (
        counts is not None and counts["additions"] <= allowed[0] and counts["multiplications"] <= allowed[1]
    )


def published_rows() -> list[Row]:
    """The arms in the literature."""
    return [
        {
            "geometry": known["geometry"],
            "inverse": f"{known['inverse'][0]}/{known['inverse'][1]}",
            "forward": f"{known['forward'][0]}/{known['forward'][1]}",
            "method": "published",
        }
        for known in PUBLISHED
    ]


def growth_rows(name: str, sizes: Sequence[int]) -> list[Row]:
    """Operations of a chain at several sizes; with six revolute joints, those of the paper's Table 1."""
    rows = []
    for size in sizes:
        counts, method = counted(CHAINS[name].make(size))
        row: Row = {
            "chain": name,
            "coordinates": size,
            "method": method,
            "counts": counts,
            **{column: pair(found) for column, found in counts.items()},
        }
        if size == 6 and name == "revolute":
            best, worst = PUBLISHED[0], PUBLISHED[1]
            for column in ("inverse", "forward"):
                ends = [f"{known[column][0]}/{known[column][1]}" for known in (best, worst)]
                row[f"{column}_published"] = " .. ".join(ends)
        rows.append(row)
    return rows


def fit_rows(name: str, rows: Sequence[Row]) -> list[Row]:
    """Linear fits of the inverse and quadratic fits of the forward dynamics, as in the paper.

    There is one row for bellcrank's method and one for equation 13 if it was counted. The fits are to chains
    of four coordinates and more: joints at the base cost less.
    """
    later = [row for row in rows if row["coordinates"] >= 4]
    return [
        _fit_row(name, later, form, ending)
        for form, ending in FIT_FORMS.items()
        if all(row["counts"].get(f"inverse{ending}") for row in later)
    ]


def _fit_row(name: str, rows: Sequence[Row], form: str, ending: str) -> Row:
    row: Row = {"chain": name, "figures": CHAINS[name].figures, "form": form}
    if len({r["coordinates"] for r in rows}) < 3:
        return row
    inverse, forward = f"inverse{ending}", f"forward{ending}"
    n = np.array([r["coordinates"] for r in rows], dtype=float)
    residual = 0.0
    for key, kind in (("inverse_sums", "additions"), ("inverse_products", "multiplications")):
        values = np.array([r["counts"][inverse][kind] for r in rows], dtype=float)
        slope, constant = np.polyfit(n, values, 1)
        row[f"{key}_per_coordinate"] = float(slope)
        row[key] = f"{slope:.4g} n {constant:+.4g}"
        residual = max(residual, float(np.max(abs(np.polyval((slope, constant), n) - values))))
    row["inverse_residual"] = residual
    values = np.array([total(r["counts"][forward]) for r in rows], dtype=float)
    parabola = np.polyfit(n, values, 2)
    row["forward_total"] = "{:.4g} n^2 {:+.4g} n {:+.4g}".format(*parabola)
    row["forward_coefficients"] = parabola.tolist()
    row["forward_residual"] = float(np.max(abs(np.polyval(parabola, n) / values - 1.0)))
    return row


def arms_table(names: Sequence[str] = tuple(ARMS)) -> Table:
    """Table 1."""
    rows = [arm_row(name, ARMS[name]()) for name in names] + published_rows()
    return Table("arms", "Operations, + and - / *", _ARM_COLUMNS, rows)


def growth_tables(names: Sequence[str], largest: int) -> tuple[Table, Table, list[str]]:
    """Figures 6 and 7, chains of up to the given number of coordinates; and why others are not counted."""
    rows, fits, notes = [], [], []
    for name in names:
        try:
            mine = growth_rows(name, [size for size in CHAINS[name].sizes if size <= largest])
        except Unsupported as error:
            notes.append(f"{name} chain: {error}")
            continue
        rows += mine
        fits += fit_rows(name, mine)
    return (
        Table("growth", "Operations against coordinates, + and - / *", _GROWTH_COLUMNS, rows),
        Table("fits", "Fitted from four coordinates on", _FIT_COLUMNS, fits),
        notes,
    )
