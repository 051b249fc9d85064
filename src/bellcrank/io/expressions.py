"""Numbers and functions of time that stand in files as expressions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def expression(text: str, names: Mapping[str, Any], timed: bool, element: str) -> Any:
    """What a text means: an expression of what is named, and of the time t if `timed`, or a number.

    Raises ExpressionError for a text that is none.
    """
    from bellcrank.expression.reading import TIME, read

    known = {**names, "t": TIME} if timed else names
    return read(text, known, element)
