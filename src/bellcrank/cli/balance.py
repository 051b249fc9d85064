"""The energy balance of a run with recorded work, for the commands that show runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bellcrank.trajectory.trajectory import Trajectory


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
    from bellcrank.cli.messages import heading, show

    if run.layout.works and len(run):
        show(heading("Balance of energy"), str(run.energy_balance()))


def _change(values: Any) -> float:
    return float(values[-1] - values[0])
