"""The recorded times, the end and the method of a run, from the arguments of `bc.simulate`."""

from __future__ import annotations

from typing import Any

import numpy as np

from bellcrank.compile.state import Floats
from bellcrank.integrate.advance import check_resolved, output_times
from bellcrank.integrate.methods import MethodOptions, find_method, method_options
from bellcrank.mechanism.checking import Check


def times_and_method(
    method: str,
    duration: Any,
    begin: Any,
    output_step: Any,
    times: Any,
    given: tuple[Any, ...],
) -> tuple[Floats | None, MethodOptions]:
    """The times to record, if an end is given, and the options of the method. Raises MechanismError."""
    find_method(method)
    with Check("simulate") as check:
        begin = check.number("start", begin, "s")
        recorded = None if times is None else _checked_times(check, times, begin)
        if recorded is not None:
            for name, value in (("duration", duration), ("output_step", output_step)):
                if value is not None:
                    check.fault(
                        f"times determine it, so {name} has no meaning", value, "leave one of them out"
                    )
            duration = max(float(recorded[-1]) - begin, 0.0) or 1.0
        else:
            if duration is not None:
                duration = check.positive("duration", duration, "s")
            if output_step is not None:
                output_step = check.positive("output_step", output_step, "s")
    if duration is None:
        return None, method_options(method, np.inf, *given)
    chosen = method_options(method, duration, *given)
    with Check("simulate") as check:
        apart = output_step if recorded is None or len(recorded) == 1 else float(np.diff(recorded).min())
        steps = {"step": chosen.step or None, "max_step": chosen.max_step or None}
        check_resolved(check, begin, duration, output_step=apart, **steps)
    return output_times(begin, duration, output_step, chosen) if recorded is None else recorded, chosen


def _checked_times(check: Check, times: Any, begin: float) -> Floats:
    """Times (n,) to record, increasing from the beginning of the run or later."""
    recorded: Floats = check.array("times", times, (None,), "s")
    if len(check.faults) == 0:
        steps = np.diff(recorded)
        if np.any(steps <= 0.0):
            at = int(np.argmax(steps <= 0.0))
            check.fault("times must increase", recorded[at : at + 2].tolist(), "sort them, drop doubles")
        elif recorded[0] < begin:
            check.fault(f"times must not lie before the start at {begin:g} s", float(recorded[0]))
        elif recorded[-1] <= begin:
            check.fault(f"times must go beyond the start at {begin:g} s", float(recorded[-1]))
    return recorded
