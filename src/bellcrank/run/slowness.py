"""Why a run does not get on, in words: what its steps are spent on, and what to change."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from bellcrank.compile.model import Model
from bellcrank.integrate.advance import Outcome
from bellcrank.integrate.events import CompiledEvents
from bellcrank.integrate.failure import acting_on
from bellcrank.integrate.methods import MethodOptions
from bellcrank.run.happenings import NOTHING, name_of

_NAMES: Final = 4  # of forces


class Slowness:
    """The words for a run of a model. controllers: their names and periods, s."""

    def __init__(
        self,
        model: Model,
        options: MethodOptions,
        watched: CompiledEvents,
        controllers: Sequence[tuple[str, float]],
    ) -> None:
        self._model, self._options, self._watched = model, options, watched
        self._controllers = controllers

    def warning(self, outcome: Outcome) -> str:
        """The text for a run that is slow; empty if it gets on."""
        if np.isnan(outcome.slow_since):
            return ""
        return f"the run does not get on since t = {outcome.slow_since:.6g} s: {self._why(outcome)}"

    def ending(self, outcome: Outcome) -> str:
        """The text for a run that was ended because it would not end."""
        return f"the run was given up at t = {outcome.time:.6g} s, for it would not end: {self._why(outcome)}"

    def body(self, outcome: Outcome) -> str | None:
        """The name of the body that is accelerated most, if that is the trouble."""
        return self._model.bodies[outcome.slow_body] if outcome.slow_body >= 0 else None

    def _why(self, outcome: Outcome) -> str:
        if outcome.slow_sample >= 0:
            name, period = self._controllers[outcome.slow_sample]
            calls = (
                f"controller {name!r} is called every {period:g} s, {outcome.attempts_left:.1e} more times"
            )
            return f"{calls}; give it a longer period, or let the run end earlier"
        if not self._options.method.adaptive:
            steps = f"{outcome.attempts_left:.1e} more steps of {self._options.step:g} s are left"
            return f"{steps}; take longer steps, or let the run end earlier"
        left = f"at the pace of the last {outcome.seen} steps {outcome.attempts_left:.1e} more are left"
        return f"{left}, of about {outcome.pace:.1e} s; {self._cause(outcome)}"

    def _cause(self, outcome: Outcome) -> str:
        number, which = outcome.slow_event
        if number != NOTHING:
            name = name_of(self._model, self._watched, number, which)
            told = f"{outcome.ended_by_event} of these were cut short, for {name!r}"
            advice = "make forces there softer, take method='moreau', or let the run end earlier"
            return f"{told}; {advice}"
        acting = [*acting_on(self._model, outcome.slow_body), *self._contacts(outcome.slow_body)]
        forces = f" ({', '.join(map(repr, acting[:_NAMES]))})" if acting else ""
        implicit = self._options.method.name in ("auto", "bdf")
        advice = "allow a larger tolerance" if implicit else "take method='auto' or 'bdf'"
        most = f"body {self.body(outcome)!r} is accelerated most"
        return (
            f"{most}; forces there{forces} may be very stiff, or jump: make them softer, {advice}, "
            "or let the run end earlier"
        )

    def _contacts(self, body: int) -> list[str]:
        return [contact.name for contact in self._model.contacts if body in contact.bodies]
