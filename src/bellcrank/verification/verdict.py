"""The result of a verification: checks with found and allowed deviations, and the faults behind failures."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from bellcrank.compile.state import Floats
from bellcrank.mechanism.html import displayed
from bellcrank.slips import answering

SKIPPED = "skipped"


@dataclass(frozen=True)
class CheckResult:
    """One check.

    value: the largest deviation found, as `meaning` says; None if it could not be judged.
    limit: the largest allowed.
    where: the element at which it was found, or why the check was left out.
    formulation: whose results it checks; empty for a given run, "all" for a comparison.
    time: of the frame at which it was found, s, if it concerns one frame.

    >>> check = bc.verify(pendulum, duration=0.2).checks[0]
    >>> check.name, check.passed
    ('agreement: acceleration', True)
    """

    name: str
    meaning: str
    value: float | None
    limit: float
    where: str = ""
    formulation: str = ""
    time: float | None = None

    @property
    def place(self) -> str:
        """The element and the time at which it was found, such as "body 'rod' at t = 0.25 s"."""
        when = "" if self.time is None or not self.value else f"t = {self.time:.6g} s"
        return " at ".join(part for part in (self.where, when) if part)

    @property
    def passed(self) -> bool:
        """Whether the value is within its limit; what could not be judged does not fail."""
        return self.value is None or self.value <= self.limit

    def __str__(self) -> str:
        whose = f"{self.formulation}: " if self.formulation else ""
        if self.value is None:
            return f"{SKIPPED:7} {whose}{self.name}: {self.where}"
        verdict = "ok" if self.passed else "FAILED"
        at = f" ({self.place})" if self.place else ""
        return f"{verdict:7} {whose}{self.name}: {self.value:.2e} of {self.limit:.0e}{at}: {self.meaning}"


class Worst:
    """The largest deviation in a check, and its place; NaN counts as the worst of all."""

    def __init__(self) -> None:
        self.value = 0.0
        self.where = ""
        self.time: float | None = None

    def meet(self, values: Any, place: str | Callable[[int], str], time: float | None = None) -> None:
        """Take account of a deviation, or several (n,). place: the element, or names by number. time: s."""
        known = np.nan_to_num(np.atleast_1d(values), nan=np.inf)
        if known.size and known.max() > self.value:
            k = int(np.argmax(known))
            self.value, self.time = float(known[k]), time
            self.where = place if isinstance(place, str) else place(k)

    def meet_all(self, values: Any, place: str | Callable[[int], str], times: Floats) -> None:
        """Take account of deviations (n,) or (n, m) at times (n,). place: the element, or those of the m."""
        known = np.nan_to_num(np.reshape(values, (len(times), -1)), nan=np.inf)
        if known.size and known.max() > self.value:
            frame, k = np.unravel_index(int(np.argmax(known)), known.shape)
            self.value, self.time = float(known[frame, k]), float(times[frame])
            self.where = place if isinstance(place, str) else place(int(k))

    def result(self, name: str, meaning: str, limit: float) -> CheckResult:
        """The check of this name."""
        return CheckResult(name, meaning, self.value, limit, self.where, time=self.time)


@dataclass(frozen=True)
class Finding:
    """A fault: what is wrong with one formulation's results.

    formulation: the one that disagrees with the others or with mechanics; several, with "or" between them,
        if that could not be decided.
    element: such as "force 'spring'" or "body 'rod'". quantity: of it. size: of the deviation, relative.
    where: the state.

    >>> run = bc.simulate(pendulum, 0.5)
    >>> bc.verify(pendulum, run).faults    # one finding for each fault; here nothing is wrong
    ()
    """

    formulation: str
    element: str
    quantity: str
    size: float
    where: str

    def __str__(self) -> str:
        return (
            f"{self.formulation}: {self.quantity} of {self.element} is off by {self.size:.1e} at {self.where}"
        )


@displayed()
@answering
@dataclass(frozen=True)
class Verification:
    """The verification of a run, or of all formulations of a mechanism.

    formulations: those that took part. refused: the others, each with its reason. judged: what was checked.
    faults: what is wrong, with its place, as far as it could be found.

    >>> report = bc.verify(pendulum, duration=0.2)
    >>> report.passed, report.faults
    (True, ())
    >>> [check.name for check in report.checks if not check.passed]
    []
    """

    mechanism: str
    subject: str
    checks: tuple[CheckResult, ...]
    formulations: tuple[str, ...] = ()
    refused: Mapping[str, str] = field(default_factory=dict)
    judged: str = ""
    faults: tuple[Finding, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether no check failed."""
        return all(check.passed for check in self.checks)

    def __bool__(self) -> bool:
        """Whether no check failed, as in `if bc.verify(run)`."""
        return self.passed

    def __getitem__(self, name: str) -> CheckResult:
        """The worst check of this name, over all formulations."""
        found = [check for check in self.checks if check.name == name]
        if not found:
            known = dict.fromkeys(check.name for check in self.checks)
            raise KeyError(f"there is no check {name!r}; there are {', '.join(known)}")
        return max(found, key=lambda c: -1.0 if c.value is None else c.value / max(c.limit, 1e-300))

    def __str__(self) -> str:
        judged = sum(check.value is not None for check in self.checks)
        failed = sum(not check.passed for check in self.checks)
        lines = [f"{self.mechanism}: {self.subject}: {judged} checks, {failed} failed"]
        if self.judged:
            lines.append(f"  judged at {self.judged}")
        lines += [f"  {name} took no part: {reason}" for name, reason in self.refused.items()]
        lines += [f"  fault: {fault}" for fault in self.faults]
        return "\n".join([*lines, *(f"  {line}" for line in self._lines())])

    def _lines(self) -> list[str]:
        """A line for each check; those of several formulations side by side."""
        if not self.formulations:
            return [str(check) for check in self.checks]
        named: dict[str, list[CheckResult]] = {}
        for check in self.checks:
            named.setdefault(check.name, []).append(check)
        return [_side_by_side(name, checks) for name, checks in named.items()]

    def to_dict(self) -> dict[str, Any]:
        """The verification as plain values, for JSON.

        >>> values = bc.verify(pendulum, duration=0.2).to_dict()
        >>> values["passed"]
        True
        """
        checks = [asdict(check) | {"passed": check.passed} for check in self.checks]
        return {
            "mechanism": self.mechanism,
            "subject": self.subject,
            "passed": self.passed,
            "judged": self.judged,
            "formulations": list(self.formulations),
            "refused": dict(self.refused),
            "faults": [asdict(fault) for fault in self.faults],
            "checks": checks,
        }


def not_known(judged: np.ndarray) -> str:
    """What to add to a meaning where not all bodies (nb,) could be judged."""
    unknown = np.count_nonzero(~judged)
    return f"; {unknown} of {len(judged)} bodies are not known well enough" if unknown else ""


def _side_by_side(name: str, checks: Sequence[CheckResult]) -> str:
    """The values of one check for all formulations, with the places of those that failed."""
    judged = [check for check in checks if check.value is not None]
    if not judged:
        return f"{SKIPPED:7} {name}: {checks[0].where}"
    failed = [check for check in judged if not check.passed]
    values = ", ".join(
        f"{'' if check.formulation == 'all' else check.formulation + ' '}{check.value:.1e}"
        for check in judged
    )
    places = "; ".join(f"{check.where} by {check.formulation}" for check in failed)
    limit = max(check.limit for check in judged)
    line = f"{'FAILED' if failed else 'ok':7} {name}: {values}; allowed {limit:.0e}"
    return line + (f" ({places})" if places else "")
