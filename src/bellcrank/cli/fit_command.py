"""`bellcrank fit`: identifies the parameters with which a run matches recorded data."""

from __future__ import annotations

from typing import Any

import click

from bellcrank.cli.study_options import (
    EXISTING,
    arguments_of,
    check_pictures,
    conclude,
    guess_of,
    study_options,
    table_of,
    values_of,
)
from bellcrank.errors import Fault, MechanismError
from bellcrank.mechanism.checking import nearest


@click.command("fit")
@click.argument("file", type=EXISTING)
@click.argument("data", type=EXISTING)
@click.option(
    "--free", multiple=True, required=True, metavar="NAME[=LOW:HIGH]", help="A parameter, and its bounds."
)
@click.option("--use", multiple=True, metavar="QUANTITY", help="Columns of the data (default: all).")
@click.option("--noise", multiple=True, metavar="QUANTITY=SIGMA", help="Standard deviation of the data.")
@click.option(
    "--guess", multiple=True, metavar="NAME=VALUE", help="Start values (default: the present values)."
)
@click.option(
    "--loss",
    default="linear",
    show_default=True,
    metavar="NAME",
    help="Loss: linear, soft_l1, huber, cauchy or arctan.",
)
@click.option("--budget", type=int, metavar="N", help="Largest number of runs, not counting derivatives.")
@click.option(
    "--save", type=click.Path(dir_okay=False), metavar="FILE", help="Write the mechanism that was found."
)
@study_options
def command(
    file: str,
    data: str,
    free: tuple[str, ...],
    use: tuple[str, ...],
    noise: tuple[str, ...],
    guess: tuple[str, ...],
    save: str | None,
    plot: str | None,
    as_json: bool,
    **given: Any,
) -> None:
    """Find the parameters with which a run of the mechanism in FILE best matches the table DATA (CSV).

    The table has a column "time [s]" and columns named by quantities, as `bellcrank convert RUN.h5 TABLE.csv`
    writes them. Prints the parameters with their standard deviations.
    """
    from bellcrank.io import read
    from bellcrank.studies.fit import fit

    content = read(file)
    check_pictures(plot)
    quiet = given["quiet"]
    arguments = arguments_of(content.simulation.arguments(), given, as_fit=True)
    report = fit(
        content.mechanism,
        values_of(free, content.mechanism, False),
        _columns(data, use),
        noise=_noise(noise),
        guess=guess_of(guess),
        **given,
        **arguments,
    )
    conclude(report, content.simulation, save, plot, as_json, quiet)


def _columns(path: str, use: tuple[str, ...]) -> dict[str, Any]:
    from bellcrank.studies.data import TIMES

    table = table_of(path)
    found = {str(name): table[name].to_numpy() for name in table.columns}
    times = next((name for name in TIMES if name in found), None)
    if times is None:
        raise MechanismError(Fault(f"file '{path}'", "it has no column 'time [s]'", list(found)[:8]))
    for name in use:
        if name not in found:
            raise MechanismError(
                Fault("--use", f"the table has no column {name!r}", None, nearest(name, found))
            )
    return {name: found[name] for name in (times, *use)} if use else found


def _noise(texts: tuple[str, ...]) -> Any:
    if not texts:
        return None
    found = {}
    for text in texts:
        name, _, value = text.rpartition("=")
        try:
            found[name.strip()] = float(value)
        except ValueError:
            advice = "such as joint.pivot.theta_z=0.01"
            raise MechanismError(Fault("--noise", "it is written as QUANTITY=SIGMA", text, advice)) from None
    return found.get("") or found
