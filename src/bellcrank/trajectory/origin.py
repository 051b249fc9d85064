"""The mechanism of a run: the one that was simulated, or the text in its file."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from bellcrank.compile.compile import compile_mechanism
from bellcrank.compile.model import Model
from bellcrank.compile.standing import EVERYTHING
from bellcrank.errors import BellcrankError, Fault, MechanismError
from bellcrank.mechanism.checking import Vec3
from bellcrank.mechanism.contents import point_in
from bellcrank.mechanism.mechanism import Mechanism


class Origin:
    """A mechanism by its text, or as it was simulated; the other form is made when needed.

    start: time of its initial configuration, s, at which drives are evaluated there.
    values: what its elements had taken from the start of the run (`state_source.start_values`); None if that
        is not known.
    changed: when it became another one during the run, in words; empty if it has not. It is the last one.
    """

    def __init__(
        self,
        text: str = "",
        source: Mechanism | None = None,
        start: float = 0.0,
        values: Mapping[str, float] | None = None,
        changed: str = "",
    ) -> None:
        self._given = text
        self._source = source
        self.start = start
        self.values = values
        self.changed = changed

    @staticmethod
    def of(given: str | Origin) -> Origin:
        """From either."""
        return given if isinstance(given, Origin) else Origin(given)

    @staticmethod
    def of_model(model: Model, text: str = "") -> Origin:
        """From the model that was simulated."""
        return Origin(text, model.source, model.initial.time, model.state_source.values)

    @staticmethod
    def of_part(model: Model, values: Mapping[str, float]) -> Origin:
        """Of a part between two changes of a mechanism, which is known by its model alone."""
        origin = Origin(start=model.initial.time, values=values)
        origin.model = model
        return origin

    def __reduce__(self) -> tuple[Any, ...]:
        return Origin, (self._given, self._source, self.start, self.values, self.changed)

    def changed_at(self, times: str) -> Origin:
        """The same, of a run during which it became this one, at these times."""
        return Origin(self._given, self._source, self.start, self.values, times)

    @property
    def changes(self) -> tuple[str, ...]:
        """Names of the changes that its mechanism has; none if it is not known."""
        try:
            has_some = self._source is not None or '"changes"' in self._given or "changes:" in self._given
            return tuple(self.mechanism.changes) if has_some else ()
        except MechanismError:
            return ()

    def begun_with(self, values: Mapping[str, float]) -> Origin:
        """The same, of a part of the run that begins with other values."""
        return Origin(self._given, self._source, self.start, values, self.changed)

    @property
    def known(self) -> bool:
        """Whether the mechanism is known."""
        return self._source is not None or bool(self._given)

    def point(self, element: str, value: Any, what: str = "the point") -> Vec3:
        """The numbers of a point, m, some of them maybe expressions of parameters. Raises MechanismError."""
        return point_in(self.mechanism if self.known else None, element, value, what)

    @cached_property
    def text(self) -> str:
        """The text of the mechanism's file, shapes included; empty if it is not known."""
        if self._given or self._source is None:
            return self._given
        from bellcrank.io.files import dumps

        return dumps(self._source, "json")

    @property
    def mechanism(self) -> Mechanism:
        """Raises MechanismError if it is not known, or the text is not that of a mechanism."""
        return self._read if self._source is None else self._source

    @cached_property
    def _read(self) -> Mechanism:
        if not self.text:
            rule, advice = "it does not contain its mechanism", "give the mechanism beside it"
            raise MechanismError(Fault("run", rule, None, advice))
        from bellcrank.io.files import loads

        try:
            return loads(self.text)
        except MechanismError as error:
            rule = f"what it holds of its mechanism cannot be read: {error}"
            raise MechanismError(Fault("run", rule, None, "give the mechanism beside it")) from error

    @cached_property
    def model(self) -> Model:
        """The compiled mechanism, with all elements in force if it has changes.

        Raises the errors of `mechanism`, and MechanismError if it was changed otherwise.
        """
        if self.changed:
            rule = f"its mechanism was changed at t = {self.changed}, and it contains the last one only"
            advice = "what is computed from the mechanism is known for runs between changes"
            raise MechanismError(Fault("run", rule, None, advice))
        try:
            return compile_mechanism(self.mechanism, self.start, EVERYTHING)
        except MechanismError:
            raise
        except BellcrankError as error:
            raise MechanismError(Fault("run", f"its mechanism cannot be compiled: {error}")) from error
