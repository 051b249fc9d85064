"""What mechanisms, systems and runs do by rooms above their own: all of it, and which room does it.

`import bellcrank` imports this module, which loads those rooms when they are needed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bellcrank.publishing as publishing
import bellcrank.views as views

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from matplotlib.figure import Figure

    from bellcrank.analysis.statics import Statics
    from bellcrank.compile.state import State
    from bellcrank.formulations.state_derivatives import StateDerivatives
    from bellcrank.formulations.system import System
    from bellcrank.linear.modes import Modes
    from bellcrank.mechanism.flexible import Flexible
    from bellcrank.mechanism.mechanism import Mechanism
    from bellcrank.studies.gradient import Gradient
    from bellcrank.trajectory.moves import MoveTrajectory
    from bellcrank.trajectory.rubbing import FoundAgain
    from bellcrank.trajectory.trajectory import Trajectory
    from bellcrank.viewer.page.page import Page


def draw(
    mechanism: Mechanism, path: str | Path | None, state: State | None, axes: Any, options: Mapping[str, Any]
) -> Figure:
    """`Mechanism.draw`."""
    from bellcrank.scene import still

    return still.draw(mechanism, path, state, axes, options)


def view(
    what: Mechanism | Trajectory | MoveTrajectory,
    arguments: Mapping[str, Any] | None,
    host: str,
    port: int,
    token: str | None,
) -> Page:
    """`Mechanism.view` and `Trajectory.view`."""
    from bellcrank.viewer import opening

    return opening.view(what, arguments, host, port, token)


def add_flexible(mechanism: Mechanism, *arguments: Any) -> Flexible:
    """`Mechanism.add_flexible`."""
    from bellcrank.solids import in_mechanisms

    return in_mechanisms.add_flexible(mechanism, *arguments)


def html(mechanism: Mechanism) -> str:
    """The display of a mechanism in notebooks."""
    from bellcrank.scene import notebook

    return notebook.of_mechanism(mechanism)


def derivatives(
    system: System, state: State | None, of: Any, by: Any, mode: str, states: Any
) -> StateDerivatives:
    """`System.derivatives`."""
    from bellcrank.linear import system_derivatives

    return system_derivatives.system_derivatives(system, state, of, by, mode, states)


def rest_derivatives(rest: Statics, of: Any, by: Any, states: Any) -> StateDerivatives:
    """`Statics.sensitivity`."""
    from bellcrank.linear import rest_derivatives

    return rest_derivatives.rest_derivatives(rest, of, by, states)


def friction_again(run: Trajectory) -> Mapping[str, FoundAgain]:
    """`FrictionHistory.unique` and `jam_margin`."""
    from bellcrank.analysis import friction_again

    return friction_again.friction_again(run)


def mode_gradient(modes: Modes, of: Any, by: Any) -> Gradient:
    """`Modes.sensitivity`."""
    from bellcrank.studies import mode_gradient

    return mode_gradient.mode_gradient(modes, of, by)


def answering(cls: type) -> type:
    """A class that is published, made to answer slips."""
    from bellcrank.slips import answering as made

    return made(cls)


def close(name: str, known: list[str]) -> str:
    """What a name may have meant that a package does not publish."""
    from bellcrank.slips import published

    return published(name, known)


publishing.Package._answering = staticmethod(answering)  # noqa: SLF001
publishing.Package._close = staticmethod(close)  # noqa: SLF001
views.draw, views.view, views.html, views.derivatives = draw, view, html, derivatives
views.rest_derivatives, views.mode_gradient = rest_derivatives, mode_gradient
views.friction_again, views.add_flexible = friction_again, add_flexible
