"""`bellcrank verify`: check formulations of a mechanism, or a run, against mechanics alone."""

from __future__ import annotations

import sys
from typing import Any

import click

from bellcrank.cli.values import SECONDS, show_json
from bellcrank.trajectory.own_file import is_run

_EXISTING = click.Path(exists=True, dir_okay=False)


@click.command("verify")
@click.argument("file", type=_EXISTING)
@click.option("--run", "recorded", type=_EXISTING, metavar="RUN.h5", help="Check this run of the mechanism.")
@click.option("--duration", "-d", type=SECONDS, metavar="T", help="Duration of the runs that are made, s.")
@click.option(
    "--formulation",
    "-f",
    metavar="NAME",
    help="Check this one alone; by default all that accept the mechanism.",
)
@click.option("--method", "-m", metavar="NAME", help="Method of the runs that are made.")
@click.option("--samples", type=int, metavar="N", help="Instants of a run that are examined closely.")
@click.option("--states", type=int, metavar="N", help="Random states at which formulations are compared.")
@click.option("--tolerance", type=float, metavar="EPS", help="Allowed relative error of energy and momentum.")
@click.option("--json", "as_json", is_flag=True, help="Print the judgement as JSON.")
def command(file: str, recorded: str | None, as_json: bool, **given: Any) -> None:
    """Check every formulation of the mechanism in FILE, or a run, against mechanics.

    FILE is a mechanism (YAML, JSON) or a recorded run (HDF5), which is checked against the mechanism it
    contains.

    Formulations are compared with each other at random states, and each of them is checked there and along a
    run: constraints, equations of motion, energy, momentum. Everything is computed from the motion and the
    description, independently of the solver. Exit status 1 if a check failed.
    """
    from bellcrank.trajectory.trajectory import Trajectory
    from bellcrank.verification.verify import verify

    arguments = {name: value for name, value in given.items() if value is not None}
    alone = is_run(file)
    if alone or recorded is not None:
        _refuse(recorded if alone else None, arguments)
    if alone:
        judgement = verify(Trajectory.load(file), **arguments)
    else:
        from bellcrank.io import load

        if recorded is not None:
            arguments["run"] = Trajectory.load(recorded)
        judgement = verify(load(file), **arguments)
    if as_json:
        show_json(judgement.to_dict())
    else:
        _show(judgement)
    if not judgement.passed:
        sys.exit(1)


def _refuse(recorded: str | None, arguments: dict[str, Any]) -> None:
    """Refuse a second run, `recorded`, and options of runs that are made."""
    if recorded is not None:
        raise click.UsageError("FILE is a run and carries its mechanism: leave out --run")
    if of_made := sorted({"duration", "formulation", "method", "states"} & set(arguments)):
        named = ", ".join(f"--{name}" for name in of_made)
        raise click.UsageError(f"a recorded run is judged as it is: leave out {named}")


def _show(judgement: Any) -> None:
    from bellcrank.cli.messages import heading, show, table

    if judgement.formulations:
        click.echo(str(judgement))
    else:
        rows = []
        for check in judgement.checks:
            if check.value is None:
                rows.append(("skipped", check.name, "", "", check.where))
                continue
            verdict = "ok" if check.passed else "FAILED"
            remark = f"{check.meaning} ({check.place})" if check.place else check.meaning
            rows.append((verdict, check.name, f"{check.value:.1e}", f"{check.limit:.0e}", remark))
        columns = (
            ("", "left"),
            ("check", "left"),
            ("found", "right"),
            ("allowed", "right"),
            ("what", "left"),
        )
        show(heading(f"{judgement.mechanism}: {judgement.subject}"), table(columns, rows))
        for fault in judgement.faults:
            click.echo(f"fault: {fault}")
    failed = dict.fromkeys(check.name for check in judgement.checks if not check.passed)
    click.echo(f"{len(failed)} checks failed: {', '.join(failed)}" if failed else "all checks passed")
