"""Closed loops beside MuJoCo, EXUDYN and Pinocchio: time to a solution of given accuracy, time per step.

All engines solve the same problems with the best settings that the same kind of search found for each; every
setting is measured again, on one core, in the same run: first the peers', then bellcrank's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import click

from bellcrank.errors import Fault, MechanismError
from bellcrank.run.plan import METHODS
from benchmarks import loop_search
from benchmarks.command_line import Form, form_option, invoke, repeats_option
from benchmarks.environment import environment
from benchmarks.loop_duels import duel, duels_tables
from benchmarks.loop_runs import LoopProblem, Setting, judge, measure
from benchmarks.peer_replay import EXPERT_FAMILIES, PEERS, PeerSettings, default_python, replay
from benchmarks.peers.loop_problems import ENERGY_BOUND, GAP_BOUND, PROBLEMS
from benchmarks.report import Column, Report, Row, Table, publish
from benchmarks.timing import Spread

OWN: Final = "bellcrank"
STEP: Final = 1e-3

_COLUMNS: Final = (
    Column("problem", "problem"),
    Column("engine", "engine"),
    Column("family", "method or family"),
    Column("level", "level"),
    Column("setting", "setting"),
    Column("milliseconds", "solution, ms"),
    Column("within", "ok"),
    Column("energy_error", "error, J", 2),
    Column("gap", "gap, m", 2),
    Column("steps", "steps"),
    Column("us_per_step_at_1ms", "us at 1 ms"),
    Column("energy_error_at_1ms", "error, J", 2),
)
_RATIO_COLUMNS: Final = (
    Column("problem", "problem"),
    Column("own_ms", "bellcrank, ms"),
    Column("own_method", "by"),
    Column("user_ms", "peer as a user sets it up, ms"),
    Column("user_peer", "which"),
    Column("user_ratio", "ratio"),
    Column("expert_ms", "any peer, ms"),
    Column("expert_peer", "which"),
    Column("expert_ratio", "ratio"),
)


def run(
    problems: Sequence[LoopProblem] | None = None,
    *,
    peers: Sequence[str] = PEERS,
    peer_python: str | None = None,
    repeats: int = 5,
    search: bool = False,
) -> Report:
    """Measure the engines on closed loops.

    problems: by default all with stored settings. peer_python: the interpreter that has the peers, by
    default this one. repeats: number of measurements, of which the median is used. search: first search
    bellcrank's own settings again and store them.
    """
    facts = environment()
    settings, python = PeerSettings.stored(), peer_python or default_python()
    chosen = list(problems) if problems else settings.problems()
    rows, ratios, duels, missing = [], [], [], []
    for problem in chosen:
        mine: list[Row] = []
        for peer in peers:
            found, reason = replay(peer, problem, settings, python, repeats)
            mine += found
            missing += [reason] if reason else []
        mine += own_rows(problem, repeats, search)
        for row in mine:
            row["problem"], row["n"], row["duration"] = (
                f"{problem.name} {problem.n}",
                problem.n,
                problem.duration,
            )
        rows += mine
        best = fastest(mine)
        ratios.append({"problem": f"{problem.name} {problem.n}", **ratios_of(best)})
        own = best.pop("own", None)
        if own is not None:
            setting = stored_setting(problem, own["family"])
            for peer_row in {id(row): row for row in best.values()}.values():
                duels += duel(problem, setting, peer_row, settings, python, repeats)
    facts["versions"] |= {row["engine"]: row["version"] for row in rows if row.get("version")}
    return Report(
        "loops",
        facts,
        {"repeats": repeats, "peers": list(peers), "peer_python": python, "energy_bound": ENERGY_BOUND,
         "gap_bound": GAP_BOUND, "expert_families": EXPERT_FAMILIES},
        [
            Table("settings", "Closed loops: best settings of all engines", _COLUMNS, rows),
            Table("ratios", "Time to solution: bellcrank's and the peers' best", _RATIO_COLUMNS, ratios),
            *duels_tables(duels),
        ],
        [*_notes(repeats), *dict.fromkeys(missing)],
    )  # fmt: skip


def _notes(repeats: int) -> list[str]:
    return [
        f"Solution: energy error <= {ENERGY_BOUND:g} J and gap <= {GAP_BOUND:g} m at every step or ms.",
        f"Medians of {repeats} (smallest .. largest). At 1 ms: the same options, for bellcrank the defaults.",
        "Ratio: the peer's time by bellcrank's, more than 1 where bellcrank is faster.",
        "In turns: in every round bellcrank is timed before and after the peer.",
        "Settings of every engine come from the same kind of search; bellcrank's are all documented options.",
        "Not counted: Pinocchio's Python loop and calls through its binding; bellcrank's one call as such.",
        "Expert settings: " + "; ".join(f"{name} ({why})" for name, why in EXPERT_FAMILIES.items()) + ".",
    ]


def stored_entries(problem: LoopProblem) -> list[Row]:
    """Bellcrank's stored settings for a problem; rk4 at 1 ms if none were searched."""
    wanted = (problem.name, problem.n)
    return [e for e in loop_search.stored() if (e["problem"], e["n"]) == wanted] or [
        {"method": "rk4", "value": STEP, "options": {}}
    ]


def stored_setting(problem: LoopProblem, method: str) -> Setting:
    """The stored setting of a method."""
    entry = next(e for e in stored_entries(problem) if e["method"] == method)
    return Setting(method, entry["value"], entry["options"])


def own_rows(problem: LoopProblem, repeats: int, search: bool) -> list[Row]:
    """Bellcrank's methods at their best settings, and at steps of 1 ms."""
    if search:
        found = [(name, loop_search.search(problem, name)) for name in loop_search.RANGES]
        loop_search.store([loop_search.entry(problem, name, best) for name, best in found])
    rows = []
    for entry in stored_entries(problem):
        method = entry["method"]
        row: Row = {"engine": OWN, "family": method, "level": "user", "setting": "", "within": False}
        if entry["value"] is not None:
            setting = Setting(method, entry["value"], entry["options"])
            row |= {"setting": setting.text(), **measure(problem, setting, repeats)}
        if not METHODS[method].adaptive:
            row |= _at_1ms(problem, Setting(method, STEP), repeats)
        rows.append(row)
    return rows


def _at_1ms(problem: LoopProblem, setting: Setting, repeats: int) -> Row:
    """Time per step and errors with the default options."""
    verdict = judge(problem, setting)
    runs = setting.timed_again(problem, repeats)
    per_step = Spread.of([run.seconds / max(1, run.outcome.steps) for run in runs], 1e6)
    return {
        "status_at_1ms": runs[0].outcome.status,
        "us_per_step_at_1ms": per_step.median,
        "energy_error_at_1ms": verdict.energy_error,
        "gap_at_1ms": verdict.gap,
    }


def fastest(rows: Sequence[Row]) -> dict[str, Row]:
    """The fastest solutions: bellcrank's (own), of peers as users set them up (user), of any (expert)."""
    good = [row for row in rows if row["within"] and isinstance(row.get("milliseconds"), Spread)]
    peers = [row for row in good if row["engine"] != OWN]
    among = {
        "own": [row for row in good if row["engine"] == OWN],
        "user": [row for row in peers if row["level"] == "user"],
        "expert": peers,
    }
    return {
        who: min(some, key=lambda row: float(row["milliseconds"].median))
        for who, some in among.items()
        if some
    }


def ratios_of(best: Mapping[str, Row]) -> Row:
    """Ratios for the fastest: bellcrank's time, and the peers' times relative to it, by level."""
    ms = {who: row["milliseconds"].median for who, row in best.items()}
    result: Row = {"own_ms": ms.get("own"), "own_method": best["own"]["family"] if "own" in best else None}
    for level in ("user", "expert"):
        peer = best.get(level)
        result[f"{level}_ms"] = ms.get(level)
        result[f"{level}_peer"] = f"{peer['engine']}, {peer['family']}" if peer else None
        result[f"{level}_ratio"] = ms[level] / ms["own"] if peer and "own" in ms else None
    return result


def parse_problem(text: str, duration: float | None = None) -> LoopProblem:
    """A problem from text such as "four_bar:10"; its duration is that of the stored settings, else 10 s.

    Raises MechanismError for names that do not exist and for sizes that are not numbers.
    """
    name, _, size = text.partition(":")
    if name not in PROBLEMS or not size.isdigit():
        advice = "give four_bar:N or ring:N, such as four_bar:10"
        raise MechanismError(Fault("bench loops", "there is no such problem", text, advice))
    for known in PeerSettings.stored().problems():
        if (known.name, known.n) == (name, int(size)):
            return LoopProblem(name, int(size), duration or known.duration)
    return LoopProblem(name, int(size), duration or 10.0)


@click.command
@click.option(
    "--problem", "texts", multiple=True, metavar="NAME:N",
    help="four_bar:N or ring:N (repeatable); default: all that settings are stored for.",
)  # fmt: skip
@click.option("--duration", type=click.FloatRange(0.0, min_open=True), help="Simulated time, s.")
@click.option("--peer", "peers", multiple=True, type=click.Choice([*PEERS, "none"]), help="Only these.")
@click.option("--peer-python", help="Interpreter that has the peers; default: this one.")
@click.option("--search", is_flag=True, help="Search bellcrank's own best settings again and store them.")
@repeats_option(5)
@form_option
def command(
    texts: tuple[str, ...],
    duration: float | None,
    peers: tuple[str, ...],
    peer_python: str | None,
    search: bool,
    repeats: int,
    form: Form,
) -> None:
    """Closed loops, time to a solution of given accuracy, beside MuJoCo, EXUDYN and Pinocchio."""
    problems: list[Any] = [parse_problem(text, duration) for text in texts]
    chosen = tuple(peer for peer in peers if peer != "none") if peers else PEERS
    publish([run(problems, peers=chosen, peer_python=peer_python, repeats=repeats, search=search)], form)


def main(arguments: list[str]) -> int:
    """The command line of `bellcrank bench loops`."""
    return invoke(command, "loops", arguments)
