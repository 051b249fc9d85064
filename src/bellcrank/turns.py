"""Objects with a state admit one thread at a time: a second one is refused, since results would be wrong."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property, wraps
from types import FunctionType
from typing import Any, TypeVar

from bellcrank.errors import Unsupported

Kind = TypeVar("Kind", bound=type)


class Turn:
    """Records which thread is using an object; that thread may call it again from within.

    what: of the error, such as "a System serves one thread at a time; prepare one for each".
    """

    __slots__ = ("_lock", "_what")

    def __init__(self, what: str) -> None:
        self._lock = threading.RLock()
        self._what = what

    @contextmanager
    def taken(self) -> Iterator[None]:
        """Hold the object for a while. Raises Unsupported if another thread is using it."""
        self.take()
        try:
            yield
        finally:
            self.give()

    def take(self) -> None:
        """Start using the object. Raises Unsupported if another thread is using it."""
        if not self._lock.acquire(blocking=False):
            raise Unsupported(f"{self._what}, and another thread is at work with this one now")

    def give(self) -> None:
        """Stop using the object."""
        self._lock.release()


def in_turn(kind: Kind) -> Kind:
    """Restrict the public methods and properties of a class to one thread at a time.

    Instances have a Turn, `_turn`. Inherited members stay as the base class has them.
    """
    for name, member in list(vars(kind).items()):
        if name.startswith("_"):
            continue
        if isinstance(member, FunctionType):
            setattr(kind, name, _taking_turns(member))
        elif isinstance(member, property) and member.fget is not None:
            setattr(kind, name, property(_taking_turns(member.fget)))
        elif isinstance(member, cached_property):
            member.func = _taking_turns(member.func)
    return kind


def _taking_turns(method: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(method)
    def called(self: Any, *arguments: Any, **named: Any) -> Any:
        turn: Turn = self._turn
        turn.take()
        try:
            return method(self, *arguments, **named)
        finally:
            turn.give()

    return called
