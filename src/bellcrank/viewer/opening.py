"""Pages of mechanisms and of recorded runs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bellcrank.errors import Fault, MechanismError
from bellcrank.mechanism.mechanism import Mechanism
from bellcrank.trajectory.moves import MoveTrajectory
from bellcrank.trajectory.trajectory import Trajectory
from bellcrank.viewer.session import live, played

if TYPE_CHECKING:
    from bellcrank.viewer.page.page import Page


def view(
    what: Mechanism | Trajectory | MoveTrajectory,
    arguments: Mapping[str, Any] | None = None,
    host: str = "localhost",
    port: int = 8080,
    token: str | None = None,
    folder: str | Path | None = None,
) -> Page:
    """Open a page that shows a mechanism live, for editing, or plays a recorded run, until it is closed.

    arguments: of `bc.simulate`, for a mechanism. The rest is as for `Page`. Raises Unsupported if what the
    page needs is not there (extra `viewer`), MechanismError for anything that cannot be shown, and the errors
    of `bc.start`.
    """
    from bellcrank import scene
    from bellcrank.viewer.adaptive_engine import is_adaptive
    from bellcrank.viewer.page.bundle import check_page
    from bellcrank.viewer.page.page import Page
    from bellcrank.viewer.page.tree_picture import drawn

    check_page()
    place = None if folder is None else Path(folder)
    if isinstance(what, Mechanism):
        pictured = drawn(what, is_adaptive(what, arguments or {}))
        return Page(live(what, arguments, folder=place), pictured, host, port, token, place)
    if not isinstance(what, (Trajectory, MoveTrajectory)):
        raise MechanismError(Fault("view", "a page shows a Mechanism or a Trajectory", what))
    return Page(played(what), scene.of(what.origin.mechanism), host, port, token, place)


__all__ = ["view"]
