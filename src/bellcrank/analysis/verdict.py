"""The form of a judgement: checks with what was found and what is allowed."""

from __future__ import annotations

from dataclasses import dataclass

SKIPPED = "skipped"


@dataclass(frozen=True)
class CheckResult:
    """One check.

    value: the largest deviation found, as `meaning` says; None if it could not be judged.
    limit: the largest allowed.
    where: the element at which it was found, or why the check was left out.
    """

    name: str
    meaning: str
    value: float | None
    limit: float
    where: str = ""

    @property
    def passed(self) -> bool:
        """Whether the value is within its limit; what could not be judged does not fail."""
        return self.value is None or self.value <= self.limit

    def __str__(self) -> str:
        if self.value is None:
            return f"{SKIPPED:7} {self.name}: {self.where}"
        verdict = "ok" if self.passed else "FAILED"
        at = f" ({self.where})" if self.where else ""
        return f"{verdict:7} {self.name}: {self.value:.2e} of {self.limit:.0e}{at}: {self.meaning}"


@dataclass(frozen=True)
class Verification:
    """The judgement of a run."""

    mechanism: str
    subject: str
    checks: tuple[CheckResult, ...]

    @property
    def passed(self) -> bool:
        """Whether no check failed."""
        return all(check.passed for check in self.checks)

    def __getitem__(self, name: str) -> CheckResult:
        for check in self.checks:
            if check.name == name:
                return check
        raise KeyError(f"there is no check {name!r}; there are {', '.join(c.name for c in self.checks)}")

    def __str__(self) -> str:
        judged = sum(check.value is not None for check in self.checks)
        failed = sum(not check.passed for check in self.checks)
        head = f"{self.mechanism}: {self.subject}: {judged} checks, {failed} failed"
        return "\n".join([head, *(f"  {check}" for check in self.checks)])
