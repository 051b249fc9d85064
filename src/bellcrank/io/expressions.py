"""Numbers and functions of time given as expressions in files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bellcrank.errors import Fault, MechanismError, Unsupported


def expression(text: str, names: Mapping[str, Any], timed: bool, element: str) -> Any:
    """The meaning of a text: an expression in the given names, and in the time t if `timed`, or a number.

    Raises ExpressionError for a text that is not an expression; MechanismError for one that could not be
    written again, as runs do, because it becomes too long in the form in which expressions are stored.
    """
    from bellcrank.expression.reading import TIME, read

    known = {**names, "t": TIME} if timed else names
    found = read(text, known, element)
    if not isinstance(found, float):
        try:
            written_expression(found)
        except Unsupported as error:
            shown = f"{text[:60]}..." if len(text) > 60 else text
            advice = "give parts of it names, as parameters, or split it"
            raise MechanismError(Fault(element, str(error), shown, advice)) from None
    return found


def written_expression(expression: Any) -> str:
    """The text of an expression, which reads back as the same expression.

    Raises Unsupported if there is no such text: it is too long, or the expression has a table of numbers.
    """
    from bellcrank.expression.printing import one_line

    try:
        return one_line(expression)
    except ValueError as error:
        raise Unsupported(f"an expression cannot be written into a file: {error}") from None
