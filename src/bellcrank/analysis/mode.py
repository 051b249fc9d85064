"""One mode of small motions: its frequency, damping ratio and shape."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from math import pi
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np

from bellcrank.analysis.stability import Judged
from bellcrank.trajectory.trajectory import Trajectory

if TYPE_CHECKING:
    from bellcrank.analysis.modes import Modes

Kind = Literal["neutral", "oscillating", "monotonic"]
_COURSES: Final = {"stable": "decays", "neutral": "stays", "unstable": "grows"}


@dataclass(frozen=True, eq=False)
class Mode:
    """One mode:  x(t) = Re(state exp(eigenvalue t)).

    number: from 1, by increasing magnitude of the eigenvalue. kind: "neutral" if the mechanism stays wherever
        the mode moves it (rigid-body modes), "oscillating" for a pair of complex eigenvalues, "monotonic" for
        a real one.
    eigenvalue: 1/s, with positive imaginary part; zero for neutral modes. uncertainty: how far it may be off
    due to
        errors of derivatives, 1/s.
    state: eigenvector of all states, complex; the largest coordinate, relative to its typical size, is real
        and equal to that size.
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
        """
        from bellcrank.analysis.mode_pictures import motion_of

        return motion_of(self, frames, amplitude)

    def animate(self, path: str | Path, *, periods: int = 3, seconds: float = 1.5, **options: Any) -> None:
        """Write a film (MP4 or GIF) of some periods of some seconds each; options: of `run.animate`.

        Raises the errors of `Trajectory.animate`.
        """
        from bellcrank.analysis.mode_pictures import film_of

        film_of(self, path, periods, seconds, options)

    def to_dict(self) -> dict[str, Any]:
        """The mode as plain values."""
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
