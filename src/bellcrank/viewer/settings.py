"""The integration settings of a live session."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

import numpy as np

from bellcrank.compile.model import Model
from bellcrank.errors import Fault, MechanismError
from bellcrank.formulations.preparing import MOVING, check_request
from bellcrank.mechanism.mechanism import Mechanism
from bellcrank.run.plan import METHODS, find_method

LIVE_STEP: Final = 1e-3
"""s, of fixed-step methods where nothing else is said."""
_WITHOUT: Final = (
    "start", "duration", "output_step", "assemble", "controllers", "events", "mode", "path",
    "max_error", "measure", "max_loss", "max_joints",
)  # fmt: skip
FORMULATIONS: Final = ("auto", *MOVING)
"""The formulations of a session."""
FIXED: Final = tuple(name for name, method in METHODS.items() if not method.adaptive)
"""Methods of fixed steps."""


@dataclass(frozen=True)
class Settings:
    """Formulation and method by name, the step of fixed-step methods, s, other arguments of `simulate`."""

    formulation: str = "auto"
    method: str = "rk4"
    step: float = LIVE_STEP
    others: Mapping[str, Any] = field(default_factory=dict)

    @staticmethod
    def of(arguments: Mapping[str, Any]) -> Settings:
        """From arguments of `simulate`, such as a file has; those that have no meaning here are left out."""
        kept = {name: value for name, value in arguments.items() if name not in _WITHOUT}
        formulation, step = kept.pop("formulation", "auto"), kept.pop("step", None)
        tolerances = {"tolerance", "rtol", "atol", "max_step"} & set(kept)
        method = kept.pop("method", "auto")
        if method == "auto":
            method = "auto" if tolerances else "rk4"
        return _checked(Settings(formulation, method, LIVE_STEP, kept), step)

    def changed(self, formulation: Any = None, method: Any = None, step: Any = None) -> Settings:
        """With another formulation, method or step; None leaves them. Raises as `bc.start` for wrong ones."""
        given = {"formulation": formulation, "method": method}
        new = replace(self, **{name: value for name, value in given.items() if value is not None})
        if new.formulation != self.formulation or new.method != self.method:
            new = replace(new, others={})  # options are those of the former ones
        return _checked(new, step)

    @property
    def fixed_step(self) -> float:
        """s; 0 for a method that finds its own steps."""
        return 0.0 if METHODS[self.method].adaptive else self.step

    def arguments(self) -> dict[str, Any]:
        """The arguments for `bc.start`."""
        step = {"step": self.fixed_step} if self.fixed_step else {}
        return {"formulation": self.formulation, "method": self.method, **step, **self.others}


def ranges_of(model: Model, mechanism: Mechanism) -> dict[str, tuple[float, float]]:
    """Ranges of input and parameter sliders, by name: their bounds if they have any, else usual ranges."""
    found = {one.name: _range(one.value, one.unit, None, None) for one in model.inputs}
    for name, one in mechanism.parameters.items():
        found[name] = _range(one.value, one.unit, one.low, one.high)
    return found


def _range(value: float, unit: str, low: float | None, high: float | None) -> tuple[float, float]:
    reach = np.pi if unit == "rad" else 2.0 * abs(value) or 1.0
    usual = (
        (-reach, reach) if value == 0.0 or unit == "rad" else (min(0.0, 2.0 * value), max(0.0, 2.0 * value))
    )
    first, last = usual[0] if low is None else low, usual[1] if high is None else high
    return (float(min(first, value)), float(max(last, value, first + 1e-9)))


def _checked(settings: Settings, step: Any) -> Settings:
    """The settings with another step, s, unless it is None."""
    find_method(settings.method)
    check_request(settings.formulation, {})
    if settings.formulation == "adaptive":
        rule = "a session that can be built on does not go over to 'adaptive'"
        advice = "open another one with view(formulation='adaptive')"
        raise MechanismError(Fault("formulation", rule, None, advice))
    if step is None:
        return settings
    if isinstance(step, bool) or not isinstance(step, (int, float)) or not 1e-6 <= step <= 0.1:
        rule, advice = "the step of a live session lies between 1e-6 and 0.1 s", "such as 1e-3"
        raise MechanismError(Fault("step", rule, step, advice))
    return replace(settings, step=float(step))
