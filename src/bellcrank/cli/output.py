"""Output to the terminal: errors, tables, notes."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import click

from bellcrank.errors import AssemblyError, Fault, MechanismError
from bellcrank.shell.language import plain

if TYPE_CHECKING:
    from bellcrank.trajectory.trajectory import Trajectory


_MOST_FAULTS: Final = 50
_PIPED_WIDTH: Final = 140


def show(*renderables: Any) -> None:
    """Write rich tables and texts to standard output, as `text_of` gives them."""
    click.echo(text_of(*renderables))


def text_of(*renderables: Any) -> str:
    """Rich tables and texts as one text for standard output, texts unchanged, without trailing blanks.

    On a terminal they fit its width; elsewhere lines may be longer.
    """
    from rich.console import Console

    width = None if sys.stdout.isatty() else _PIPED_WIDTH
    console = Console(markup=False, highlight=False, emoji=False, width=width)
    with console.capture() as captured:
        for renderable in renderables:
            console.print(renderable)
    return "\n".join(line.rstrip() for line in captured.get().splitlines())


def report(error: Exception) -> None:
    """Write an error to standard error: every fault preceded by its location, as compilers do."""
    if isinstance(error, MechanismError):
        for fault in error.faults[:_MOST_FAULTS]:
            click.echo(_fault_text(fault), err=True)
        left = len(error.faults) - _MOST_FAULTS
        if len(error.faults) > 1:
            more = f", the first {_MOST_FAULTS} are shown" if left > 0 else ""
            click.echo(f"{len(error.faults)} faults{more}", err=True)
        return
    click.echo(f"{_red('error:')} {error}", err=True)
    if isinstance(error, AssemblyError):
        for element, violation in error.violations[:10]:
            click.echo(f"    {element}: {violation:.3g} left", err=True)


def note(text: str) -> None:
    """Write a remark to standard error."""
    click.echo(click.style("note: ", fg="yellow") + text, err=True)


def note_left_out(faults: Sequence[Fault]) -> None:
    """Report that a file contains more than was imported, if it does."""
    if faults:
        lost = sum(fault.moves for fault in faults)
        more = f", {lost} of which move or weigh" if lost else ""
        note(f"{len(faults)} things in the file are left out{more}; `bellcrank info` lists them")


def _fault_text(fault: Fault) -> str:
    place = ""
    if fault.location is not None and (fault.location.file or fault.location.line):
        parts = (fault.location.file, fault.location.line, fault.location.column)
        place = ":".join(str(part) for part in parts if part is not None) + ": "
    text = f"{place}{_red('error:')} {replace(fault, location=None, advice='')}"
    return f"{text}\n    {fault.advice}" if fault.advice else text


def _red(text: str) -> str:
    return click.style(text, fg="red", bold=True)


def heading(text: str) -> Any:
    """A title above a table."""
    from rich.text import Text

    return Text(text, style="bold")


def table(columns: Sequence[tuple[str, str]], rows: Sequence[Sequence[Any]]) -> Any:
    """A rich table. columns: heading and "left" or "right"; rows: texts."""
    from rich import box
    from rich.table import Table

    made = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name, side in columns:
        made.add_column(name, justify="right" if side == "right" else "left", overflow="fold")
    for row in rows:
        made.add_row(*map(str, row))
    return made


def facts(rows: Sequence[tuple[str, str]]) -> Any:
    """A table of facts: name and value."""
    from rich.table import Table

    made = Table(box=None, show_header=False, pad_edge=False)
    made.add_column(style="dim", no_wrap=True)
    made.add_column(overflow="fold")
    for row in rows:
        made.add_row(*row)
    return made


def wants_progress(asked: bool | None) -> bool:
    """Whether to show a bar: as requested, or if on a terminal."""
    return sys.stderr.isatty() if asked is None else asked


def balance_of(run: Trajectory) -> dict[str, Any]:
    """The entry "energy_balance": changes within the run, J, by account, and the relative error."""
    if not run.layout.works or len(run) == 0:
        return {}
    found = run.energy_balance()
    accounts = {name: getattr(found, name) for name in ("stored", "supplied", "lost")}
    single = {name: _change(getattr(found, name)) for name in ("kinetic", "weight", "residual")}
    each = {name: {key: _change(v) for key, v in kept.items()} for name, kept in accounts.items()}
    return {"energy_balance": {**single, **each, "error": found.error}}


def show_balance(run: Trajectory) -> None:
    """Print the balance; nothing without a ledger."""
    if run.layout.works and len(run):
        show(heading("Balance of energy"), str(run.energy_balance()))


def _change(values: Any) -> float:
    return float(values[-1] - values[0])


def show_json(content: Mapping[str, Any]) -> None:
    """Write an object to standard output; numbers that JSON cannot represent become null."""
    click.echo(json.dumps(plain(content), indent=2))
