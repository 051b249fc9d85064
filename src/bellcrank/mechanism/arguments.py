"""Type checks of function arguments: mechanisms, states, file paths."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from bellcrank.mechanism.checking import Check

T = TypeVar("T")


def required(element: str, value: Any, wanted: type[T], advice: str = "") -> T:
    """The value, if it is of that class. Raises MechanismError naming the `element` otherwise."""
    with Check(element) as check:
        if not isinstance(value, wanted):
            check.fault(f"a {wanted.__name__} is needed here", value, advice)
    found: T = value
    return found


def required_names(element: str, value: Any) -> tuple[str, ...]:
    """One name, or several, as names. Raises MechanismError naming the `element` otherwise."""
    listed = (value,) if isinstance(value, str) or not isinstance(value, Iterable) else tuple(value)
    with Check(element) as check:
        for name in listed:
            if not isinstance(name, str):
                check.fault("a name, or a list of names, is needed here", name)
    return listed


def required_path(element: str, value: Any) -> str | os.PathLike[str]:
    """The value, if it is a valid file path. Raises MechanismError otherwise."""
    with Check(element) as check:
        if not isinstance(value, (str, os.PathLike)):
            check.fault("a path is needed here", value)
        elif "\0" in os.fsdecode(value):
            check.fault("the name of a file must not contain the character NUL", str(value))
        elif not _is_encodable(value):
            check.fault("the system cannot write the name of this file", ascii(os.fspath(value)))
    found: str | os.PathLike[str] = value
    return found


def _is_encodable(path: str | os.PathLike[str]) -> bool:
    try:
        os.fsencode(path)
    except UnicodeEncodeError:
        return False
    return True


def required_progress(element: str, value: Any) -> bool | Callable[[float], None]:
    """The value, if it is a valid progress argument. Raises MechanismError naming the `element` otherwise."""
    with Check(element) as check:
        if not callable(value):
            check.flag("progress", value)
    found: bool | Callable[[float], None] = value
    return found
