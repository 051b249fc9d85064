"""Reports of benchmarks: the same rows as tables for people and as JSON for programs."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Final

from rich.console import Console
from rich.table import Table as RichTable

from benchmarks.command_line import Form
from benchmarks.timing import Spread

Row = dict[str, Any]
WIDTH: Final = 200
"""Columns of text where there is no terminal."""


@dataclass(frozen=True)
class Column:
    """A column of a printed table. key: of the rows. digits: significant ones of numbers."""

    key: str
    title: str
    digits: int = 3


@dataclass(frozen=True)
class Table:
    """Rows by key, some keys of which are printed as columns. name: its key in the JSON."""

    name: str
    title: str
    columns: Sequence[Column]
    rows: Sequence[Row]


@dataclass(frozen=True)
class Report:
    """The results of a benchmark. settings: its arguments. notes: how to read the tables."""

    bench: str
    environment: dict[str, Any]
    settings: dict[str, Any]
    tables: Sequence[Table]
    notes: Sequence[str] = field(default=())

    def to_dict(self) -> dict[str, Any]:
        """Plain data; numbers that are not finite become None."""
        return {
            "bench": self.bench,
            "environment": self.environment,
            "settings": self.settings,
            "results": {table.name: [_plain(row) for row in table.rows] for table in self.tables},
            "notes": list(self.notes),
        }

    def print(self, console: Console | None = None) -> None:
        """Tables, preceded by the machine and followed by the notes."""
        console = console or _console()
        console.print(self.machine(), style="dim", highlight=False)
        for table in self.tables:
            console.print(_printed(table))
        for note in self.notes:
            console.print(note, style="dim", highlight=False)

    def machine(self) -> str:
        """The machine and software of the measurement, in one line."""
        facts = self.environment
        return (
            f"bellcrank {facts['versions']['bellcrank']}, core {facts['core']}, {facts['compiler']}, "
            f"{facts['cpu']}, core {facts['pinned_to_core']} of {facts['cores']}, load {facts['load']}, "
            f"{facts['date']}"
        )

    def to_markdown(self) -> str:
        """A section of a page: machine, tables and notes."""
        tables = [f"**{table.title}**\n\n{_markdown(table)}" for table in self.tables]
        notes = "\n".join(f"- {note}" for note in self.notes)
        return "\n\n".join([f"## {self.bench}", self.machine(), *tables, notes]) + "\n"


def publish(reports: Sequence[Report], form: Form) -> None:
    """Print reports as tables, as Markdown, or as one object of JSON (a list, if there are several)."""
    if form == "json":
        data = [report.to_dict() for report in reports]
        print(json.dumps(data[0] if len(data) == 1 else data, indent=1, allow_nan=False))
        return
    for report in reports:
        if form == "markdown":
            print(report.to_markdown())
        else:
            report.print()


def _plain(value: Any) -> Any:
    if isinstance(value, Spread):
        return _plain(asdict(value))
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def _console() -> Console:
    """The terminal; files and pipes get lines long enough for every table."""
    console = Console()
    return console if console.is_terminal else Console(width=WIDTH)


def _printed(table: Table) -> RichTable:
    rich = RichTable(title=table.title, title_justify="left", title_style="bold", padding=(0, 1, 0, 0))
    for column in table.columns:
        numeric = any(isinstance(row.get(column.key), int | float | Spread) for row in table.rows)
        rich.add_column(column.title, justify="right" if numeric else "left", overflow="fold")
    for row in table.rows:
        rich.add_row(*(_text(row.get(column.key), column.digits) for column in table.columns))
    return rich


def _markdown(table: Table) -> str:
    lines = [[column.title for column in table.columns], ["---"] * len(table.columns)]
    lines += [[_text(row.get(column.key), column.digits) for column in table.columns] for row in table.rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def _text(value: Any, digits: int) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Spread):
        low, high = _text(value.smallest, digits), _text(value.largest, digits)
        return f"{_text(value.median, digits)} ({low} .. {high})"
    if isinstance(value, float):
        return f"{value:.{digits}g}" if abs(value) < 1e4 else f"{value:.0f}"
    return str(value)
