"""Targets of benchmarks, compared with what was measured."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.report import Column, Row, Table


def target(text: str, limit: float, measured: float, *, is_time: bool = False) -> list[Row]:
    """A row: met where the measured value is at most the limit.

    is_time: it is a time of its own, which other machines take otherwise; not a ratio or a count.
    """
    return [
        {"target": text, "limit": limit, "measured": measured, "met": measured <= limit, "is_time": is_time}
    ]


def targets_tables(rows: Sequence[Row], factor: float | None = None) -> list[Table]:
    """The rows as a table, none for no rows.

    factor: how much slower this machine is than the one that times are asked of.
    """
    names = ["target", "limit", "measured", "met"]
    if factor is not None:
        names.append("scaled")
        for row in rows:
            row["scaled"] = row["measured"] / factor if row["is_time"] else row["measured"]
    columns = tuple(Column(name, name) for name in names)
    return [Table("targets", "Targets", columns, list(rows))] if rows else []
