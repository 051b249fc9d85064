"""How mechanisms, systems and runs do what rooms above their own are for; `bellcrank.facade` puts it in here.

It lies at the bottom, so that they can call what they must not import.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Self

    from matplotlib.figure import Figure
    from numpy import float64
    from numpy.typing import NDArray


class Poses(Protocol):
    """Where the bodies are, as a `State` says it."""

    @property
    def position(self) -> NDArray[float64]:
        """Positions of the bodies' frames, (nb, 3), m, world axes."""

    @property
    def rotation(self) -> NDArray[float64]:
        """Their unit quaternions, (nb, 4)."""


class Page(Protocol):
    """An open page, which threads of its own serve until it is closed; `with` closes it."""

    @property
    def url(self) -> str:
        """Its address, including the token."""

    @property
    def session(self) -> Any:
        """What it shows: `session.do(command, ...)` controls it, `session.snapshot` is its present state."""

    def wait(self) -> None:
        """Serve until Ctrl-C or `close`."""

    def close(self) -> None:
        """Close the page and its session."""

    def __enter__(self) -> Self: ...
    def __exit__(self, *_: object) -> None: ...


draw: Callable[..., Figure]
add_flexible: Callable[..., Any]
view: Callable[..., Page]
html: Callable[[Any], str]
derivatives: Callable[..., Any]
rest_derivatives: Callable[..., Any]
friction_again: Callable[..., Any]
mode_gradient: Callable[..., Any]
