"""Targets of benchmarks, compared with measured values."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.report import Column, Row, Table


def target(text: str, limit: float, measured: float, *, is_time: bool = False) -> list[Row]:
    """A row: met if the measured value is at most the limit.

    is_time: it is a time, which depends on the machine; not a ratio or a count.
    """
    return [
        {"target": text, "limit": limit, "measured": measured, "met": measured <= limit, "is_time": is_time}
    ]


def targets_tables(rows: Sequence[Row], factor: float | None = None) -> list[Table]:
    """The rows as a table, none for no rows.

    factor: how much slower this machine is than the one for which the time limits are set.
    """
    names = ["target", "limit", "measured", "met"]
    if factor is not None:
        names.append("scaled")
        for row in rows:
            row["scaled"] = row["measured"] / factor if row["is_time"] else row["measured"]
    columns = tuple(Column(name, name) for name in names)
    return [Table("targets", "Targets", columns, list(rows))] if rows else []
