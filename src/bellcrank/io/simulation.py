"""What a mechanism file says about how to simulate: defaults for a run, no part of the mechanism."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from bellcrank.mechanism.checking import Check


@dataclass(frozen=True)
class Simulation:
    """Arguments for `bellcrank.simulate`; None leaves the choice to it.

    start, duration, step, output_step, max_step: s.
    formulation, method: by name.
    tolerance, rtol, atol: of the integrator.
    reactions, accelerations: whether to record them.
    assemble: whether to mend the initial configuration.
    options: further arguments by name, for the formulation or the method.
    """

    start: float | None = None
    duration: float | None = None
    formulation: str | None = None
    method: str | None = None
    step: float | None = None
    output_step: float | None = None
    max_step: float | None = None
    tolerance: float | None = None
    rtol: float | None = None
    atol: float | None = None
    reactions: bool | None = None
    accelerations: bool | None = None
    assemble: bool | None = None
    options: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        with Check("simulation") as check:
            values: dict[str, object] = {}
            for name in ("duration", "step", "output_step", "max_step", "tolerance", "rtol", "atol"):
                if (value := getattr(self, name)) is not None:
                    unit = "" if name in ("tolerance", "rtol", "atol") else "s"
                    values[name] = check.positive(name, value, unit)
            if self.start is not None:
                values["start"] = check.number("start", self.start, "s")
            for name in ("reactions", "accelerations", "assemble"):
                if (value := getattr(self, name)) is not None:
                    values[name] = check.flag(name, value)
            for name in ("formulation", "method"):
                value = getattr(self, name)
                if value is not None and (not isinstance(value, str) or not value):
                    check.fault(f"{name} must be a name", value)
            if known := sorted(set(self.options) & {f.name for f in fields(self)}):
                check.fault(f"{known[0]} does not belong among the options", None, "put it beside them")
            check.settle(self, options=dict(self.options), **values)

    def arguments(self) -> dict[str, Any]:
        """The arguments that are given, options among them, as `simulate` takes them."""
        given = {name: value for name, value in asdict(self).items() if value is not None}
        return {**given.pop("options"), **given}
