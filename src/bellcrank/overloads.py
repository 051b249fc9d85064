"""`overload` for type checkers alone.

At run time `typing` keeps every overloaded function in a registry until after the interpreter has ended, and
with it the variables of its module: objects of the core among them, which the core then reports as leaked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__all__ = ["overload"]

if TYPE_CHECKING:
    from typing import overload
else:

    def overload(function: Any) -> Any:
        """Nothing: the implementation that follows replaces it."""
        return function
