"""The exceptions of bellcrank: what is wrong, where, with which value, and what to do about it.

A description is checked as a whole: all faults found are collected and reported in one `MechanismError`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from errno import ENOENT
from os import strerror
from traceback import extract_tb, format_exception_only, format_list
from typing import Any, ClassVar


class BellcrankError(Exception):
    """Base of every error that bellcrank raises on purpose. All of them can be pickled.

    >>> try:
    ...     bc.simulate(pendulum, duration=-1.0)
    ... except bc.BellcrankError as error:    # the base of all of them
    ...     print(type(error).__name__)
    MechanismError
    """

    # Exceptions are pickled by calling their class with `args`, which are not what every __init__ here takes.
    def __reduce__(self) -> tuple[Any, ...]:
        return restored, (type(self), self.args, self.__dict__)

    def _render_traceback_(self) -> list[str]:
        """What IPython and notebooks show: the user's lines and the message, without the lines in between."""
        found = extract_tb(self.__traceback__)
        own = [frame for frame in found if not re.search(r"\b(bellcrank|IPython)[/\\]", frame.filename)]
        shown = [*format_list(own), *format_exception_only(self)]
        cell = re.compile(r'File "[^"]*ipykernel_[^"]*"')
        return [
            "Traceback (most recent call last):",
            *(cell.sub("Cell", text).rstrip("\n") for text in shown),
        ]


def restored(kind: type[BellcrankError], args: tuple[Any, ...], fields: dict[str, Any]) -> BellcrankError:
    """An error from what was pickled of it."""
    error = kind.__new__(kind, *args)
    error.__dict__.update(fields)
    return error


@dataclass(frozen=True)
class Location:
    r"""Place in a source text: file, line, key path such as "bodies.crank.mass", column (both from 1).

    >>> text = "bellcrank: 1\nbodies: {ball: {mass: -2, inertia: [1, 1, 1]}}"
    >>> try:
    ...     bc.loads(text)
    ... except bc.MechanismError as error:
    ...     place = error.faults[0].location
    >>> place.line, place.key
    (2, 'bodies.ball.mass')
    """

    file: str | None = None
    line: int | None = None
    key: str | None = None
    column: int | None = None

    def __str__(self) -> str:
        place = self.file or ""
        if self.line is not None:
            place = f"{place}:{self.line}" if place else f"line {self.line}"
            if self.column is not None:
                place += f":{self.column}" if self.file else f", column {self.column}"
        return ", ".join(part for part in (place, self.key) if part)


@dataclass(frozen=True)
class Fault:
    """One broken rule of a description.

    element: what is at fault, e.g. "body 'crank'".
    rule: the rule it breaks, e.g. "mass must be greater than zero".
    value: the offending value as given (None where the fault is something missing).
    advice: what to do about it.
    location: its place in the file, if it came from one.
    excerpt: lines that show the place, such as a text with a caret below; they are printed after the rest.
    moves: of a part left out (`Mechanism.left_out`): it moves or weighs, and motion is not that of the file.

    >>> try:
    ...     bc.Sphere(radius=-0.1)
    ... except bc.MechanismError as error:
    ...     fault = error.faults[0]
    >>> fault.element, fault.rule, fault.value
    ('Sphere', 'radius must be greater than zero', -0.1)
    """

    element: str
    rule: str
    value: object = None
    advice: str = ""
    location: Location | None = None
    excerpt: str = ""
    moves: bool = False

    def __str__(self) -> str:
        text = f"{self.element}: {self.rule}"
        if self.value is not None:
            text += f", got {_shortened(self.value)}"
        if self.advice:
            text += f"; {self.advice}"
        where = str(self.location) if self.location is not None else ""
        lines = [f"{text} [{where}]" if where else text, *self.excerpt.splitlines()]
        return "\n    ".join(lines)


def _shortened(value: object) -> str:
    try:
        own = getattr(value, "__dict__", {}) if type(value).__module__.startswith("bellcrank") else {}
        named = isinstance(own.get("name"), str)
        text = f"{type(value).__name__} {own['name']!r}" if named else repr(value)
    except ValueError:  # a whole number of very many digits
        text = f"a {type(value).__name__}"
    return text if len(text) <= 200 else text[:197] + "..."


class MechanismError(BellcrankError, ValueError):
    """A description breaks rules. `faults` lists every fault; `str()` shows one line for each.

    >>> try:
    ...     bc.Sphere(radius=-0.1, density=0.0)
    ... except bc.MechanismError as error:
    ...     print(error)
    2 faults in the mechanism:
      1. Sphere: density must be greater than zero, got 0.0; give it in kg/m^3
      2. Sphere: radius must be greater than zero, got -0.1; give it in m
    """

    _several: ClassVar[str] = "faults in the mechanism"

    def __init__(self, faults: Fault | Iterable[Fault]) -> None:
        self.faults: list[Fault] = [faults] if isinstance(faults, Fault) else list(faults)
        if not self.faults:
            raise ValueError("MechanismError needs at least one Fault")
        super().__init__(self._text())

    @staticmethod
    def of(element: str, rule: str, value: object = None, advice: str = "") -> MechanismError:
        """The error of a single fault; arguments as for `Fault`.

        >>> error = bc.MechanismError.of("body 'crank'", "mass must be positive", -1.0, "give it in kg")
        >>> print(error)
        body 'crank': mass must be positive, got -1.0; give it in kg
        """
        return MechanismError(Fault(element, rule, value, advice))

    def _text(self) -> str:
        if len(self.faults) == 1:
            return str(self.faults[0])
        lines = [f"{len(self.faults)} {self._several}:"]
        lines += [f"  {number}. {fault}" for number, fault in enumerate(self.faults, start=1)]
        return "\n".join(lines)


class NotWritten(MechanismError, OSError):
    """A file cannot be written, and is what it was before; an OSError, so that it is caught as one.

    path: of the file. number: the system's error number, which is `errno`. reason: what failed, in words.
    """

    def __init__(self, path: str, number: int | None, reason: str) -> None:
        advice = "check the folder, its permissions and its room"
        super().__init__(Fault(f"file '{path}'", f"it cannot be written: {reason}", None, advice))
        self.errno, self.strerror, self.filename = number, reason, path

    def __str__(self) -> str:
        return self._text()

    def __reduce__(self) -> tuple[Any, ...]:
        return NotWritten, (self.filename, self.errno, self.strerror), self.__dict__


class NotFound(MechanismError, FileNotFoundError):
    """A file is not there; a FileNotFoundError, so that it is caught as one. path: of the file."""

    def __init__(self, path: str, advice: str) -> None:
        super().__init__(Fault(f"file {path!r}", "there is no such file", None, advice))
        self.errno, self.strerror, self.filename = ENOENT, strerror(ENOENT), path

    def __str__(self) -> str:
        return self._text()

    def __reduce__(self) -> tuple[Any, ...]:
        return NotFound, (self.filename, self.faults[0].advice), self.__dict__


class FaultList:
    """Collects faults from many checks so that one error can report them all.

    >>> faults = FaultList()
    >>> with faults.collect():
    ...     raise MechanismError(Fault("body 'a'", "mass must be greater than zero", -1.0))
    >>> len(faults)
    1
    """

    def __init__(self) -> None:
        self._faults: list[Fault] = []

    def __len__(self) -> int:
        return len(self._faults)

    def __iter__(self) -> Iterator[Fault]:
        return iter(self._faults)

    def add(
        self,
        element: str,
        rule: str,
        value: object = None,
        advice: str = "",
        location: Location | None = None,
    ) -> None:
        """Note one fault; the arguments are those of `Fault`."""
        self._faults.append(Fault(element, rule, value, advice, location))

    @contextmanager
    def collect(self, location: Location | None = None) -> Iterator[None]:
        """Collect the faults of a MechanismError raised inside; those without a location get `location`."""
        try:
            yield
        except MechanismError as error:
            for fault in error.faults:
                self._faults.append(replace(fault, location=fault.location or location))

    def raise_any(self) -> None:
        """Raise one MechanismError with all faults noted, or return if there are none."""
        if self._faults:
            raise MechanismError(self._faults)


class Unsupported(BellcrankError, NotImplementedError):
    """A formulation, method or file format cannot take this model; the message says why and what can.

    >>> try:
    ...     bc.prepare(pendulum, "newton")
    ... except bc.Unsupported as error:
    ...     print(str(error).partition(";")[0])
    there is no formulation 'newton'
    """

    def __init__(self, message: str) -> None:
        super().__init__(message)


class AssemblyError(BellcrankError):
    """No configuration was found that satisfies the constraints.

    violations: the worst constraints left, as (element, remaining violation), worst first.
    contradictions: rows that cannot be satisfied together there, such as "joint 'pivot' (x)", in groups that
        have no body in common; empty if the search merely ended too far away.

    >>> far = slider_crank.ground.marker((1.0, 0, 0), axis="x")
    >>> moved = slider_crank.replace(slider_crank.joints["guide"], kind=bc.Fixed(), marker_1=far)
    >>> try:
    ...     bc.assemble(slider_crank)    # crank and rod are 0.4 m long
    ... except bc.AssemblyError as error:
    ...     print(f"{max(size for name, size in error.violations):.3f} m")
    0.200 m
    """

    def __init__(
        self,
        message: str,
        violations: Iterable[tuple[str, float]] = (),
        contradictions: Iterable[tuple[str, ...]] = (),
    ) -> None:
        super().__init__(message)
        self.violations: list[tuple[str, float]] = list(violations)
        self.contradictions: list[tuple[str, ...]] = list(contradictions)


class Unreachable(BellcrankError):
    """A mechanism cannot reach the poses requested of its markers. nearest: the closest result found.

    >>> try:
    ...     bc.inverse_kinematics(arm, {"forearm.hand": (3, 0, 0)})
    ... except bc.Unreachable as error:
    ...     print(f"{error.nearest.misses[0][0]:.6f} m short")    # the arm is 2 m long
    1.000000 m short
    """

    def __init__(self, message: str, nearest: object) -> None:
        super().__init__(message)
        self.nearest: Any = nearest


class HintWarning(UserWarning):
    """A value is possible and hardly meant, such as an angle of 90 rad.

    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     turn = bc.rotation("z", 90)    # "90 deg" is meant
    >>> caught[0].category.__name__
    'HintWarning'
    """


class SlowRunWarning(UserWarning):
    """A run does not get on: its steps are so short that it needs a great many more.

    >>> import warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("error", bc.SlowRunWarning)    # an error, where a run hardly gets on
    ...     run = bc.simulate(pendulum, 0.5)
    >>> run
    <Trajectory of 'pendulum': 1001 frames, t = 0 to 0.5 s, finished>
    """


class SimulationError(BellcrankError):
    """A simulation could not go on.

    time: simulated time in s at which it stopped.
    body: name of the body where the problem appears first, if there is one.
    trajectory: what was simulated up to then, or None.
    row: the constraint row that cannot be satisfied, such as "joint 'pivot' (x)", if that is the cause.

    >>> def stop(time, readings):
    ...     return {} if time < 0.4 else 1 / 0
    >>> try:
    ...     bc.simulate(pendulum, 1.0, controllers=bc.Controller(stop, period=0.5))
    ... except bc.SimulationError as error:
    ...     print(error.time, error.trajectory)
    0.5 <Trajectory of 'pendulum': 501 frames, t = 0 to 0.5 s, failed>
    """

    def __init__(
        self,
        message: str,
        time: float,
        body: str | None = None,
        trajectory: Any = None,
        row: str | None = None,
    ) -> None:
        super().__init__(message)
        self.time = time
        self.body = body
        self.trajectory = trajectory
        self.row = row
