"""Other engines on closed loops: their best settings, measured again by an interpreter that has them."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from benchmarks.loop_runs import BRANCH_BOUND, LoopProblem
from benchmarks.peers.loop_problems import ENERGY_BOUND, GAP_BOUND
from benchmarks.report import Row
from benchmarks.timing import Spread

PEERS: Final = ("mujoco", "exudyn", "pinocchio")
SCRIPTS: Final = Path(__file__).with_name("peers")
SETTINGS: Final = SCRIPTS / "best_settings.json"
EXPERT_FAMILIES: Final = {
    "RK4, hardened rows": "overwrites compiled inverse weights, to make loops harder than the format allows",
    "penalty": "replaces joints by stiff springs",
    "any explicit method": "brings an integrator of its own: Adams-Bashforth-Moulton, DOPRI5 or DOP853",
}
"""Families of settings that go beyond what a user of the engine sets up, and why. The others use documented
options, searched as well; for Pinocchio, which has no integrator, the classical Runge-Kutta method."""


@dataclass(frozen=True)
class PeerSettings:
    """Best settings of all peers, as stored by the search."""

    entries: Sequence[dict[str, Any]]

    @classmethod
    def stored(cls) -> PeerSettings:
        """The settings distributed with bellcrank."""
        return cls(json.loads(SETTINGS.read_text(encoding="utf-8")))

    def problems(self) -> list[LoopProblem]:
        """All problems with stored settings."""
        return list(dict.fromkeys(LoopProblem(e["problem"], e["n"], e["duration"]) for e in self.entries))

    def of(self, peer: str, problem: LoopProblem) -> list[dict[str, Any]]:
        """The settings of one peer for one problem, at the problem's duration."""
        wanted = (peer, problem.name, problem.n)
        found = [e for e in self.entries if (e["peer"], e["problem"], e["n"]) == wanted]
        return [{**e, "duration": problem.duration} for e in found]


def replay(
    peer: str, problem: LoopProblem, settings: PeerSettings, python: str, repeats: int, family: str = ""
) -> tuple[list[Row], str]:
    """Rows of a peer's families, or of one, and the reason if there are none (else empty)."""
    entries = [e for e in settings.of(peer, problem) if family in ("", e["family"])]
    if not entries:
        return [], f"{peer}: no settings are stored for {problem.name} {problem.n}"
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "settings.json", Path(folder) / "results.json"
        source.write_text(json.dumps(entries), encoding="utf-8")
        command = [python, str(SCRIPTS / "search.py"), "--peer", peer, "--replay", str(source)]
        command += ["--repeat", str(repeats), "--out", str(target)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0 or not target.exists():
            return [], f"{peer}: {_reason(done.stderr)} ({python})"
        results = json.loads(target.read_text(encoding="utf-8"))
    return [_row(result) for result in results], ""


def _reason(errors: str) -> str:
    lines = [line for line in errors.splitlines() if line.strip()]
    return lines[-1] if lines else "it failed without a message"


def _row(result: dict[str, Any]) -> Row:
    """The row in the form of bellcrank's own; without a solution if the search found no setting."""
    family = result["family"]
    row: Row = {
        "engine": result["peer"],
        "family": family,
        "level": "expert" if family in EXPERT_FAMILIES else "user",
        "setting": "",
        "within": False,
    }
    if "solution" in result:
        row |= _solution(result["solution"])
    at_1ms = result.get("at_1ms")
    if at_1ms is not None:
        row["version"] = at_1ms["version"]
        row["us_per_step_at_1ms"] = at_1ms["time_per_step_us"]
        row["energy_error_at_1ms"] = at_1ms["max_energy_error_J"]
        row["gap_at_1ms"] = at_1ms["max_gap_m"]
    return row


def _solution(found: dict[str, Any]) -> Row:
    energy, gap, tip = found["max_energy_error_J"], found["max_gap_m"], found["tip_error_m"]
    within = energy is not None and energy <= ENERGY_BOUND and gap is not None and gap <= GAP_BOUND
    options = ", ".join(f"{key} {value}" for key, value in found["options"].items() if key != "integrator")
    row: Row = {
        "version": found["version"],
        "setting": f"{found['integrator']}, step {found['step']:.3g}" + (f", {options}" if options else ""),
        "steps": found["steps"],
        "energy_error": energy,
        "gap": gap,
        "tip_error": tip,
        "within": within and (tip is None or tip < BRANCH_BOUND),
    }
    if found["cpu_seconds"] is not None:
        times = (found["cpu_seconds"], found["cpu_seconds_min"], found["cpu_seconds_max"])
        if all(time is not None for time in times):
            row["milliseconds"] = Spread(*(1e3 * time for time in times))
            row["us_per_step"] = Spread(*(1e6 * time / found["steps"] for time in times))
    return row


def default_python() -> str:
    """The interpreter that is running."""
    return sys.executable
