"""Modes of linearized equations: small free motions of a mechanism about a state."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import ceil, pi
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

import numpy as np

from bellcrank import _core, views
from bellcrank.analysis.statics import Judged, Stability
from bellcrank.compile.model import Model
from bellcrank.compile.state import Floats, State
from bellcrank.errors import Fault, MechanismError
from bellcrank.formulations.preparing import prepare
from bellcrank.linear.differences import OutOfReach
from bellcrank.linear.linear_model import LinearModel
from bellcrank.mechanism.checking import Check
from bellcrank.mechanism.html import displayed
from bellcrank.overloads import overload
from bellcrank.scene.figure import check_matplotlib, check_picture, new_figure, write_figure
from bellcrank.scene.making import of
from bellcrank.scene.painter import Instant
from bellcrank.scene.still import picture
from bellcrank.slips import answering
from bellcrank.trajectory.observation import observation
from bellcrank.trajectory.origin import Origin
from bellcrank.trajectory.recorder import Recorder
from bellcrank.trajectory.trajectory import Trajectory

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_COURSES: Final = {"stable": "decays", "neutral": "stays", "unstable": "grows"}
_REAL: Final = 1e-9  # imaginary part below this part of the size of an eigenvalue is rounding
_REACH: Final = 0.22  # largest displacement of a point that is drawn, in parts of the mechanism's size
_TURN: Final = 0.6  # rad, the largest that a body is turned by
_HALVINGS: Final = 6  # of an amplitude that the constraints do not allow
_MOST: Final = 9  # modes that are drawn
_WIDTH, _HEIGHT = 2.9, 2.75  # inches, of the picture of a mode
_FAINT: Final = 0.28

Kind: TypeAlias = Literal["neutral", "oscillating", "monotonic"]


@answering
@dataclass(frozen=True, eq=False)
class Mode:
    """One mode:  x(t) = Re(state exp(eigenvalue t)).

    number: from 1, by increasing magnitude of the eigenvalue. kind: "neutral" if the mechanism stays wherever
        the mode moves it (rigid-body modes), "oscillating" for a pair of complex eigenvalues, "monotonic" for
        a real one.
    eigenvalue: 1/s, with positive imaginary part; zero for neutral modes. uncertainty: how far it may be off
        due to errors of derivatives, 1/s.
    state: eigenvector of all states, complex; the largest coordinate, relative to its typical size, is real
        and equal to that size.

    >>> mode = bc.modes(pendulum, state=bc.statics(pendulum).state).mode(1)
    >>> mode.kind, mode.stability, mode.coordinates
    ('oscillating', 'stays', {'hinge.theta_z': (1+0j)})
    >>> print(f"{mode.frequency:.4f} Hz, damping ratio {mode.damping:.4f}")
    0.6105 Hz, damping ratio 0.0000
    """

    number: int
    kind: Kind
    eigenvalue: complex
    uncertainty: float
    state: np.ndarray
    modes: Modes = field(repr=False)

    @property
    def frequency(self) -> float:
        """Natural frequency |eigenvalue| / (2 pi), Hz; zero unless it oscillates."""
        return abs(self.eigenvalue) / (2.0 * pi) if self.kind == "oscillating" else 0.0

    @property
    def damped_frequency(self) -> float:
        """Frequency of the oscillation, Im(eigenvalue) / (2 pi), Hz."""
        return self.eigenvalue.imag / (2.0 * pi)

    @property
    def damping(self) -> float:
        """Damping ratio, -Re(eigenvalue) / |eigenvalue|: negative if the mode grows; 0 if it stays."""
        return 0.0 if self.stability == "stays" else -self.eigenvalue.real / abs(self.eigenvalue)

    @property
    def stability(self) -> str:
        """Whether the mode "decays", "grows" or "stays", within the uncertainty of its eigenvalue."""
        return _COURSES[Judged(-self.eigenvalue.real, self.uncertainty).stability]

    @cached_property
    def shape(self) -> Mapping[str, np.ndarray]:
        """Shape by body, complex (6,): displacement of its frame, m, and rotation vector, rad, world axes."""
        chart = self.modes.linear.chart
        moved = self.modes.displacements @ self.state[: len(chart.coordinates)]
        return dict(zip(chart.model.bodies, moved, strict=True))

    @property
    def coordinates(self) -> Mapping[str, complex]:
        """Shares of the coordinates that are states, by name."""
        linear = self.modes.linear
        pairs = zip(linear.states[: linear.coordinates], self.state.tolist(), strict=False)
        return {name: complex(value) for name, value in pairs}

    @property
    def is_complex(self) -> bool:
        """Whether its coordinates are out of phase, as damping and gyroscopic effects make them."""
        scale = self.modes.linear.scale[: self.modes.linear.coordinates]
        return bool(np.max(np.abs(self.state[: len(scale)].imag / scale), initial=0.0) > 1e-7)

    def motion(self, frames: int = 60, amplitude: float | None = None) -> Trajectory:
        """One period of the mode as a run, undamped and enlarged, on the constraints, to draw or animate.

        frames: of the run. amplitude: a factor of the shape; by default one that makes it visible. Modes that
        do not oscillate swing between their ends in one second.

        >>> mode = bc.modes(pendulum, state=bc.statics(pendulum).state).mode(1)
        >>> run = mode.motion(frames=41)
        >>> swing = run.joint("hinge").position[:, 0]
        >>> print(len(run.time), swing[0].round(4) == swing[-1].round(4))    # one period
        41 True
        """
        return self._motion(frames, amplitude)

    def _motion(self, frames: int, amplitude: float | None, periods: int = 1) -> Trajectory:
        with Check("motion") as check:
            frames = check.integer("frames", frames, 2)
            periods = check.integer("periods", periods, 1)
            if amplitude is not None:
                amplitude = check.positive("amplitude", amplitude)
        phases = np.linspace(0.0, 2.0 * pi * periods, (frames - 1) * periods + 1)
        states = _fitting(self, phases, amplitude)
        model = self.modes.linear.chart.model
        what = observation(model, reactions=False)
        system = prepare(model, "lagrange")
        times = self.modes.linear.state.time + phases / (2.0 * pi) * self._period
        with Recorder(what.layout, description=Origin.of_model(model)) as recorder:
            for state, time in zip(states, times.tolist(), strict=True):
                system.set_state(state)
                frame = _core.observe(system.core, what.core)
                frame[0, 0] = time
                recorder.on_block(frame)
        return recorder.finish({"status": "finished", "formulation": "mode", "mode": self.number})

    @property
    def _period(self) -> float:
        """s; of modes that do not oscillate, in which they are shown to swing."""
        return 1.0 / self.damped_frequency if self.damped_frequency > 0.0 else 1.0

    def animate(self, path: str | Path, *, periods: int = 3, seconds: float = 1.5, **options: Any) -> None:
        """Write a film (MP4 or GIF) of some periods of some seconds each; options: of `run.animate`.

        Raises the errors of `Trajectory.animate`.

        >>> from pathlib import Path
        >>> mode = bc.modes(pendulum, state=bc.statics(pendulum).state).mode(1)
        >>> mode.animate("mode.gif", periods=1, fps=10, width=160)
        >>> Path("mode.gif").read_bytes()[:3]
        b'GIF'
        """
        with Check("film") as check:
            seconds = check.positive("seconds", seconds, "s")
        frames = max(9, round(30.0 * seconds) + 1)
        self._motion(frames, None, periods).animate(path, speed=self._period / seconds, **options)

    def to_dict(self) -> dict[str, Any]:
        """The mode as plain values.

        >>> mode = bc.modes(pendulum, state=bc.statics(pendulum).state).mode(1)
        >>> mode.to_dict()["kind"], round(mode.to_dict()["frequency"], 4)
        ('oscillating', 0.6105)
        """
        return {
            "number": self.number,
            "kind": self.kind,
            "frequency": self.frequency,
            "damped_frequency": self.damped_frequency,
            "damping": self.damping,
            "stability": self.stability,
            "eigenvalue": [self.eigenvalue.real, self.eigenvalue.imag],
            "uncertainty": self.uncertainty,
            "coordinates": {name: [z.real, z.imag] for name, z in self.coordinates.items()},
            "shape": {
                body: {"real": z.real.tolist(), "imaginary": z.imag.tolist()}
                for body, z in self.shape.items()
            },
        }

    def __str__(self) -> str:
        if self.kind == "neutral":
            what = "neutral"
        elif self.kind == "oscillating":
            what = f"{self.frequency:.6g} Hz, damping ratio {self.damping:.4g}, {self.stability}"
        else:
            what = f"{self.stability}, time constant {1.0 / abs(self.eigenvalue.real):.4g} s"
        return f"mode {self.number}: {what}; {self._largest()}"

    def _largest(self) -> str:
        """The coordinates that move most."""
        scale = self.modes.linear.scale
        shares = {
            name: abs(z) / size for (name, z), size in zip(self.coordinates.items(), scale, strict=False)
        }
        names = sorted(shares, key=lambda name: -shares[name])[:3]
        return ", ".join(f"{name} {shares[name]:.2g}" for name in names if shares[name] > 0.05)


@dataclass(frozen=True)
class _Found:
    """A mode as it is found: see `Mode`."""

    kind: Kind
    eigenvalue: complex
    uncertainty: float
    state: np.ndarray


@displayed("draw")
@answering
@dataclass(frozen=True, eq=False)
class Modes(Sequence[Mode]):
    """The modes of a mechanism about a state, neutral ones first, then by increasing |eigenvalue|.

    linear: the linearized equations. zeros: the number of zero eigenvalues; if there are more than neutral
    modes, some of these drift: a body that is pushed keeps moving.

    >>> modes = bc.modes(pendulum, state=bc.statics(pendulum).state)
    >>> modes.stable, len(modes)
    (True, 1)
    >>> print(modes.frequencies.round(4))    # Hz
    [0.6105]
    """

    linear: LinearModel
    values: tuple[_Found, ...] = field(repr=False)
    zeros: int

    @cached_property
    def _modes(self) -> tuple[Mode, ...]:
        return tuple(
            Mode(n, one.kind, one.eigenvalue, one.uncertainty, one.state, self)
            for n, one in enumerate(self.values, start=1)
        )

    @cached_property
    def displacements(self) -> Floats:
        """Displacements of the bodies for each coordinate (nb, 6, coordinates)."""
        return self.linear.chart.shapes()

    @property
    def neutral(self) -> tuple[Mode, ...]:
        """The neutral modes."""
        return tuple(mode for mode in self if mode.kind == "neutral")

    @property
    def frequencies(self) -> Floats:
        """Natural frequencies of the oscillating modes, increasing, Hz."""
        return np.array([mode.frequency for mode in self if mode.kind == "oscillating"])

    @property
    def stability(self) -> Stability:
        """Whether small motions die away or stay small, stay, or grow; see `LinearModel.stability`."""
        return self.linear.stability

    @property
    def stable(self) -> bool:
        """Whether no mode grows."""
        return all(mode.stability != "grows" for mode in self)

    def __len__(self) -> int:
        return len(self.values)

    @overload
    def __getitem__(self, index: int) -> Mode: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Mode, ...]: ...
    def __getitem__(self, index: int | slice) -> Mode | tuple[Mode, ...]:
        return self._modes[index]

    def __iter__(self) -> Iterator[Mode]:
        return iter(self._modes)

    def mode(self, number: int) -> Mode:
        """A mode by its number, from 1. Raises MechanismError if there is none.

        >>> modes = bc.modes(pendulum, state=bc.statics(pendulum).state)
        >>> print(f"{modes.mode(1).frequency:.4f} Hz")
        0.6105 Hz
        """
        if isinstance(number, bool) or not isinstance(number, int) or not 1 <= number <= len(self):
            rule = (
                f"there are modes 1 to {len(self)}" if len(self) else "there are no modes: nothing can move"
            )
            raise MechanismError(Fault("mode", rule, number))
        return self._modes[number - 1]

    def draw(
        self, path: str | Path | None = None, *, numbers: Sequence[int] = (), columns: int = 3, **options: Any
    ) -> Figure:
        """Draw the mode shapes over the mechanism, with frequencies and damping ratios.

        path: file to write the picture into. numbers: of the modes to draw; by default the first nine that
        are not neutral. columns: of pictures beside each other. options: of `Mechanism.draw`, such as view.

        Raises MechanismError for wrong options and numbers, Unsupported without matplotlib.

        >>> modes = bc.modes(pendulum, state=bc.statics(pendulum).state)
        >>> figure = modes.draw("modes.png")
        >>> len(figure.axes)
        1
        """
        if path is not None:
            check_picture(path)
        check_matplotlib()
        with Check("draw") as check:
            columns = check.integer("columns", columns, 1)
        moving = [mode for mode in self if mode.kind != "neutral"] or list(self)
        chosen = [self.mode(number) for number in numbers] if len(numbers) else moving[:_MOST]
        if not chosen:
            raise MechanismError(Fault("draw", "there are no modes: nothing can move"))
        linear = self.linear
        if linear.chart.model.source is None:
            raise MechanismError(Fault("draw", "the mechanism of these modes is not known any more"))
        scene = of(linear.chart.model.source, linear.state)
        wide = min(columns, len(chosen))
        high = ceil(len(chosen) / wide)
        figure: Figure = new_figure(
            (_WIDTH * wide, _HEIGHT * high), path is None, layout="none", facecolor="white"
        )
        for place, mode in enumerate(chosen):
            row, column = divmod(place, wide)
            box = (column / wide, 1.0 - (row + 1) / high, 1.0 / wide, 1.0 / high * 0.86)
            axes = figure.add_axes((box[0] + 0.01, box[1] + 0.01, box[2] - 0.02, box[3] - 0.02))
            (end,) = _fitting(mode, np.array([0.0]), None)  # of its swing
            shown = ((linear.state, _FAINT), (end, 1.0))
            instants = [Instant(s.position, s.rotation, strength) for s, strength in shown]
            style = {"scale": place == 0, "joints": True, **options}
            picture(scene, instants, axes=axes, options=style)
            figure.text(
                (column + 0.5) / wide,
                1.0 - (row + 0.04) / high,
                _caption(mode),
                ha="center",
                va="top",
                fontsize=8.5,
            )
        if path is not None:
            write_figure(figure, path)
        return figure

    def sensitivity(self, *, by: Iterable[str] | str, of: Iterable[str] | str = "frequency") -> Any:
        """How modes change with parameters and inputs: a `bc.Gradient`, with estimated errors.

        by: names of parameters and inputs; groups are "parameters" and "inputs".
        of: numbers of modes: "frequency 1" and "damped_frequency 1", Hz, "damping 1", the damping ratio, and
            "growth 1", 1/s, the real part of the eigenvalue, which monotonic modes have as well; without a
            number those of all modes. Neutral modes have none.

        The place of rest moves with the parameters; speeds that are states stay, as do values taken from the
        initial configuration. Derivatives of the linearized equations are extrapolated differences of exact
        first derivatives (docs/theory/linearization.md). Modes with one eigenvalue are named in `warnings`.

        Raises MechanismError for unknown names, for parameters that open a loop or push the mechanism where
        nothing holds it, and for states that are not steady.

        >>> modes = bc.modes(pendulum, state=bc.statics(pendulum).state)
        >>> found = modes.sensitivity(by="length")
        >>> print(f"{found.gradient[0, 0]:.4f} Hz/m, by hand {-modes.frequencies[0] / 2:.4f} Hz/m")
        -0.3053 Hz/m, by hand -0.3053 Hz/m
        """
        return views.mode_gradient(self, of, by)

    def to_dict(self) -> dict[str, Any]:
        """The modes as plain values, as `bellcrank modes --json` prints them.

        >>> values = bc.modes(pendulum, state=bc.statics(pendulum).state).to_dict()
        >>> len(values["modes"])
        1
        """
        return {
            "mechanism": self.linear.mechanism,
            "formulation": self.linear.formulation,
            "time": self.linear.state.time,
            "derived": self.linear.derived,
            "error": self.linear.error,
            "zero_eigenvalues": self.zeros,
            "stable": self.stable,
            "modes": [mode.to_dict() for mode in self],
            "notes": list(self.linear.notes),
        }

    def __str__(self) -> str:
        drifting = self.zeros - len(self.neutral)
        rest = f"; {drifting} more zero eigenvalues: steady drifts" if drifting > 0 else ""
        head = (
            f"{self.linear.mechanism!r}: {len(self)} modes at t = {self.linear.state.time:g} s, "
            f"{len(self.neutral)} neutral{rest}"
        )
        return "\n".join(
            [head, *(f"  {mode}" for mode in self), *(f"  note: {n}" for n in self.linear.notes)]
        )


def modes_of(linear: LinearModel) -> Modes:
    """The modes of linearized equations."""
    count, scale = linear.coordinates, linear.scale
    found = linear.eigen()
    listed = [
        _Found("neutral", 0j, found.zero, _normal(way.astype(complex), count, scale))
        for way in _neutral(found.null, count, scale).T
    ]
    order = np.argsort(np.abs(found.values), kind="stable")
    for number in order.tolist():
        value, vector = complex(found.values[number]), found.vectors[:, number]
        unsure = float(found.uncertainty[number])
        if abs(value.imag) <= _REAL * abs(value):
            real = vector.real if np.linalg.norm(vector.real) >= np.linalg.norm(vector.imag) else vector.imag
            state = _normal(real.astype(complex), count, scale)
            listed.append(_Found("monotonic", complex(value.real, 0.0), unsure, state))
        elif value.imag > 0.0:
            listed.append(_Found("oscillating", value, unsure, _normal(vector, count, scale)))
    return Modes(linear, tuple(listed), found.zeros)


def _neutral(null: Floats, count: int, scale: Floats) -> Floats:
    """Null directions, each with as few coordinates as possible: by reduction to echelon form."""
    ways = (null / scale[:, None]).T.copy()
    row = 0
    for column in range(count):
        if row == len(ways):
            break
        best = row + int(np.argmax(np.abs(ways[row:, column])))
        if abs(ways[best, column]) < 1e-6:
            continue
        ways[[row, best]] = ways[[best, row]]
        ways[row] /= ways[row, column]
        for other in range(len(ways)):
            if other != row:
                ways[other] -= ways[other, column] * ways[row]
        row += 1
    return (ways * scale).T


def _normal(state: np.ndarray, count: int, scale: Floats) -> np.ndarray:
    """Scaled so that the coordinate that moves most is real, and of its size."""
    parts = state[:count] / scale[:count]
    if not len(parts) or not np.max(np.abs(parts)) > 0.0:
        return state
    return np.asarray(state / parts[int(np.argmax(np.abs(parts) > (1.0 - 1e-9) * np.max(np.abs(parts))))])


def _amplitude(mode: Mode) -> float:
    """A factor for the shape so that it is visible and the mechanism can follow it."""
    chart = mode.modes.linear.chart
    shapes = np.array(list(mode.shape.values())).reshape(-1, 6)
    arms = _reaches(chart.model)
    turns = np.linalg.norm(np.abs(shapes[:, 3:]), axis=1)
    moves = np.linalg.norm(np.abs(shapes[:, :3]), axis=1) + arms * turns
    limits = [_REACH * chart.length / m for m in moves if m > 0.0] + [_TURN / t for t in turns if t > 0.0]
    return min(limits, default=1.0)


def _reaches(model: Model) -> Floats:
    """How far each body reaches from its frame: to its centre of mass, or to a marker (nb,)."""
    ends = model.arrays["pair_bodies"].ravel()
    far = np.linalg.norm(model.arrays["pair_positions"].reshape(-1, 3), axis=1)
    reaches = np.append(np.linalg.norm(model.com.reshape(-1, 3), axis=1), 0.0)
    np.maximum.at(reaches, ends, far)
    return np.asarray(reaches[:-1])


def _states(mode: Mode, phases: Floats, amplitude: float) -> list[State]:
    """States on the constraints at phases of an undamped period, rad. Raises OutOfReach."""
    chart, found = mode.modes.linear.chart, []
    circular = max(abs(mode.eigenvalue.imag), 0.0)
    for phase in phases.tolist():
        turned = mode.state * np.exp(1j * phase)
        moved = amplitude * turned[: len(chart.coordinates)].real
        speed = amplitude * (1j * circular * turned[: chart.speeds]).real
        found.append(chart.at(chart.position + moved, chart.speed + speed))
    return found


def _fitting(mode: Mode, phases: Floats, amplitude: float | None) -> list[State]:
    """The same with an amplitude that the mechanism can follow."""
    size = _amplitude(mode) if amplitude is None else amplitude
    for _ in range(_HALVINGS):
        try:
            return _states(mode, phases, size)
        except OutOfReach as error:
            if amplitude is not None:
                rule = f"mode {mode.number} cannot be drawn so large: {error}"
                raise MechanismError(Fault("amplitude", rule, amplitude, "choose a smaller one")) from error
            size *= 0.5
    raise MechanismError(Fault(f"mode {mode.number}", "the constraints let nothing follow its shape"))


def _caption(mode: Mode) -> str:
    """The caption over the picture of a mode."""
    if mode.kind == "neutral":
        return f"mode {mode.number}: neutral"
    if mode.kind == "oscillating":
        return f"mode {mode.number}: {mode.frequency:.4g} Hz, ζ = {100.0 * mode.damping:.3g} %"
    word = "grows" if mode.eigenvalue.real > 0.0 else "decays"
    return f"mode {mode.number}: {word}, T = {1.0 / abs(mode.eigenvalue.real):.3g} s"
