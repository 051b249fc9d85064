"""What a program printed, and what is asked of it."""

from __future__ import annotations

import re

import pytest


class Printed:
    """What an example printed."""

    def __init__(self, text: str) -> None:
        self.text = text

    def numbers(self, pattern: str) -> list[float]:
        """The groups of every place where the pattern fits, as numbers; there must be one."""
        found = re.findall(pattern, self.text)
        assert found, f"{pattern!r} fits nothing in:\n{self.text}"
        return [float(n) for groups in found for n in (groups if isinstance(groups, tuple) else (groups,))]

    def below(self, pattern: str, bound: float) -> None:
        assert max(map(abs, self.numbers(pattern))) < bound

    def near(self, pattern: str, *values: float, within: float) -> None:
        assert self.numbers(pattern) == pytest.approx(list(values), abs=within, rel=0.0)

    def says(self, text: str) -> None:
        assert text in self.text
