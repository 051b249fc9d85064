"""What a run records, differentiated by parameters, inputs and the start: `bc.sensitivity`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bellcrank.compile.state import Floats
from bellcrank.linear.followed import FollowedRun
from bellcrank.mechanism.checking import Check, required_names
from bellcrank.mechanism.mechanism import Mechanism
from bellcrank.slips import answered, answering
from bellcrank.studies.exact import asked_for
from bellcrank.trajectory.trajectory import Trajectory

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@answering
@dataclass(frozen=True, eq=False, repr=False)
class Sensitivity:
    """Derivatives of quantities of a run at every frame.

    of, by: names of quantities, and of what they are differentiated by; of_units, by_units: their units.
    values: (T, of, by), in units of the quantity per unit of the parameter. at: (by,), values of the latter.
    run: the run. warnings: what makes derivatives large, one-sided or meaningless.

    >>> found = bc.sensitivity(pendulum, 0.1, of="joint.hinge.theta_z", by="length")
    >>> found.of, found.by, found.values.shape == (len(found.time), 1, 1)
    (('joint.hinge.theta_z',), ('length',), True)
    >>> print(found.values[-1, 0, 0].round(4))    # rad/m: about 3 g t^2 / (4 L^2)
    0.0735
    """

    of: tuple[str, ...]
    by: tuple[str, ...]
    of_units: tuple[str, ...]
    by_units: tuple[str, ...]
    at: Floats
    values: Floats
    run: Trajectory
    warnings: tuple[str, ...]

    @property
    def time(self) -> Floats:
        """Times of the frames (T,), s."""
        return self.run.time

    def __getitem__(self, names: tuple[str, str]) -> Floats:
        """The derivative (T,) of a quantity by a parameter: `s["joint.rocker.theta_z", "coupler"]`."""
        of, by = names
        return self.values[:, asked_for("quantity", self.of, of), asked_for("parameter", self.by, by)]

    def spread(self, deviations: Mapping[str, float]) -> Floats:
        """Standard deviations (T, of) by those of independent parameters, to first order.

        deviations: by name, in the parameters' units; parameters that are left out do not deviate.

        >>> found = bc.sensitivity(pendulum, 0.1, of="joint.hinge.theta_z", by="length")
        >>> print(found.spread({"length": 0.01})[-1].round(6))    # rad: 0.01 m times 0.0735 rad/m
        [0.000735]
        """
        given = np.zeros(len(self.by))
        for name, deviation in deviations.items():
            with Check(f"deviation of {name!r}") as check:
                given[asked_for("parameter", self.by, name)] = check.not_negative("it", deviation)
        found: Floats = np.sqrt(np.einsum("tmp,p->tm", np.square(self.values), np.square(given)))
        return found

    def plot(self, deviations: Mapping[str, float], path: str | Path | None = None) -> Figure:
        """Plot the quantities and, below each, two of their standard deviations (needs matplotlib).

        deviations: as for `spread`. path: PNG, PDF or SVG to write.

        >>> found = bc.sensitivity(pendulum, 0.3, of="joint.hinge.theta_z", by="length")
        >>> len(found.plot({"length": 0.01}, "spread.png").axes)    # the angle, and two standard deviations
        2
        """
        from bellcrank.studies.plots import plot_spread

        return plot_spread(self, deviations, path)

    def __repr__(self) -> str:
        return f"<Sensitivity of {len(self.of)} quantities by {len(self.by)}, {len(self.time)} frames>"


@answered
def sensitivity(
    mechanism: Mechanism,
    duration: float | None = None,
    *,
    of: Iterable[str] | str,
    by: Iterable[str] | str,
    **arguments: Any,
) -> Sensitivity:
    """Simulate a mechanism, and differentiate what the run records at every frame.

    of: quantities as in tables of runs: coordinates of joints ("joint.rocker.theta_z"), their ".rate" and
        ".acceleration", efforts ("drive.motor.effort"), and positions, velocities and accelerations of
        bodies ("body.rod.x", "body.rod.vx", "body.rod.ax", "body.rod.wz").
    by: names of parameters and inputs, and of the start's free coordinates and their rates:
        "crank.theta_z", "crank.theta_z.rate". Of an input that is held (`HeldInputs`), its name stands for
        all values, "torque[2]" for one.
    duration, arguments: those of `simulate`; formulations are `lagrange`, `recursive` and `dca`.

    The run is followed again, with the equations of motion along each direction
    (docs/theory/run-derivatives.md); impacts of stops change their times as well. Initial positions are those
    of the assembled mechanism, differenced where parameters move them.

    Raises MechanismError for unknown names and for parameters that open a loop; Unsupported for what has no
    derivatives: contacts, controllers that are functions, quantities and parameters that are not listed here;
    what `simulate` raises.

    >>> found = bc.sensitivity(pendulum, 0.1, of="joint.hinge.theta_z", by=["length", "hinge.theta_z"])
    >>> print(found.values[-1, 0].round(4))    # rad/m, rad/rad
    [0.0735 0.9991]
    """
    run = FollowedRun(
        mechanism, duration, required_names("of", of), required_names("by", by), dict(arguments)
    )
    values, _ = run.along()
    return Sensitivity(
        of=tuple(one.name for one in run.of),
        by=run.by,
        of_units=tuple(one.unit for one in run.of),
        by_units=run.units,
        at=run.values,
        values=values,
        run=run.run,
        warnings=run.warnings(),
    )
