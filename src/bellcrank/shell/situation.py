"""The situation of a session: everything that a command can change, as immutable values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from bellcrank.compile.state import State
from bellcrank.io.simulation import Simulation
from bellcrank.mechanism.attachment import Force
from bellcrank.mechanism.mechanism import Mechanism

if TYPE_CHECKING:
    from bellcrank._core import Expression
    from bellcrank.compile.model import Model
    from bellcrank.shell.axes import Frames
    from bellcrank.trajectory.trajectory import Trajectory

Compiled: TypeAlias = "tuple[Mechanism, float, Model] | None"
"""What was compiled of a mechanism that starts at a time, s."""


@dataclass(frozen=True)
class Settings:
    """The settings of time integration.

    method_options: step, max_step, max_order if they were given. stepsize: s from one frame to the next.
    """

    formulation: str = "auto"
    options: Mapping[str, Any] = field(default_factory=dict)
    method: str = "auto"
    method_options: Mapping[str, Any] = field(default_factory=dict)
    rtol: float = 1e-6
    atol: float = 1e-7
    stepsize: float = 1.0 / 30.0

    def arguments(self) -> dict[str, Any]:
        """The arguments for `simulate`."""
        from bellcrank.run.plan import find_method

        tolerances = {"rtol": self.rtol, "atol": self.atol} if find_method(self.method).adaptive else {}
        given = {"formulation": self.formulation, "method": self.method}
        return {**given, **self.options, **self.method_options, **tolerances}


@dataclass(frozen=True)
class Drawing:
    """The drawing after every step: convention "null", "bolio" or "corpus", and the file for the last one.

    over: whether existing files may be overwritten. contacts: whether the pictures show points and forces of
    contact. scale: of the forces, N/m, or None.
    """

    convention: str = "null"
    file: str = ""
    every: int = 1
    over: bool = False
    contacts: bool = False
    scale: float | None = None


@dataclass(frozen=True)
class Situation:
    """Everything that a command can change.

    mechanism: as it is at the time `start`; it is replaced, never changed. live: the current state of the
    bodies, or None as long as the clock is at `start`. off: forces that are switched off.
    frames: of links by joint, as `sl` set them; they are valid as long as the joint has their markers.
    idle_brakes: forces that are brakes with zero damping, which does not identify them.
    inputs: those that were created or set, with the values that runs continue with.
    history: completed runs, as consecutive pieces. closed: the model as constraint forces closed it at the
    beginning of a run, with the mechanism and the start for which it is valid.
    """

    mechanism: Mechanism
    start: float = 0.0
    live: State | None = None
    off: Mapping[str, Force] = field(default_factory=dict)
    frames: Mapping[str, Frames] = field(default_factory=dict)
    idle_brakes: frozenset[str] = frozenset()
    inputs: Mapping[Expression, float] = field(default_factory=dict)
    settings: Settings = Settings()
    drawing: Drawing = Drawing()
    history: tuple[Trajectory, ...] = ()
    simulation: Simulation = field(default_factory=Simulation)
    closed: Compiled = None

    @property
    def time(self) -> float:
        """The time shown by the clock, s."""
        return self.start if self.live is None else self.live.time


def fresh(name: str = "mechanism") -> Situation:
    """An empty mechanism without gravity."""
    return Situation(Mechanism(name, gravity=(0.0, 0.0, 0.0)))
