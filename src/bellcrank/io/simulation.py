"""The simulation settings of a mechanism file: defaults for a run, not part of the mechanism."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, field, fields
from typing import Any

from bellcrank.mechanism.checking import Check
from bellcrank.mechanism.fields import Description, checked, described, flag, quantity


def _name(check: Check, name: str, value: Any) -> str:
    if not isinstance(value, str) or not value:
        check.fault(f"{name} must be a name", value)
    return str(value)


@described
class Simulation(Description):
    """Arguments for `bellcrank.run.simulate`; None leaves the choice to it.

    start, duration, step, output_step, max_step: s.
    formulation, method: by name.
    tolerance, rtol, atol: of the integrator.
    reactions, accelerations: whether to record them.
    ledger: whether to record the work of every force and drive.
    assemble: whether to correct the initial configuration.
    options: further arguments by name, for the formulation or the method.
    """

    start: float | None = quantity("s", default=None)
    duration: float | None = quantity("s", "positive", default=None)
    formulation: str | None = checked(_name, default=None)
    method: str | None = checked(_name, default=None)
    step: float | None = quantity("s", "positive", default=None)
    output_step: float | None = quantity("s", "positive", default=None)
    max_step: float | None = quantity("s", "positive", default=None)
    tolerance: float | None = quantity(sign="positive", default=None)
    rtol: float | None = quantity(sign="positive", default=None)
    atol: float | None = quantity(sign="positive", default=None)
    reactions: bool | None = flag(default=None)
    accelerations: bool | None = flag(default=None)
    ledger: bool | None = flag(default=None)
    assemble: bool | None = flag(default=None)
    options: Mapping[str, Any] = field(default_factory=dict)

    def _element(self) -> str:
        return "simulation"

    def _judge(self, check: Check) -> None:
        if known := sorted(set(self.options) & {f.name for f in fields(self)}):
            check.fault(f"{known[0]} does not belong among the options", None, "put it beside them")
        self._store(options=dict(self.options))

    def arguments(self) -> dict[str, Any]:
        """The arguments that are set, including options, in the form that `simulate` takes."""
        given = {name: value for name, value in asdict(self).items() if value is not None}
        return {**given.pop("options"), **given}
