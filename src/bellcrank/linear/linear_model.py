"""Linearized equations of a mechanism about a state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bellcrank.analysis.statics import Judged, Stability
from bellcrank.compile.state import Floats, State
from bellcrank.errors import Fault, MechanismError, Unsupported
from bellcrank.linear.differences import Eigen, eigen
from bellcrank.linear.state_chart import StateChart
from bellcrank.mechanism.checking import nearest
from bellcrank.mechanism.html import displayed
from bellcrank.slips import answering

if TYPE_CHECKING:
    from bellcrank.linear.modes import Modes

_SHOWN: Final = 12  # states of a matrix that is printed


@displayed()
@answering
@dataclass(frozen=True, eq=False)
class LinearModel:
    """The equations  x' = A x + B u,  y = C x + D u  of small changes about a state.

    A (states, states), B (states, inputs), C (outputs, states), D (outputs, inputs), SI units.
    states: first position coordinates, such as "pivot.theta_z" (joint and coordinate), then the speeds,
        "pivot.theta_z.rate". With velocity constraints (rolling) there are more coordinates than speeds.
        inputs, outputs: their names. units: of all of them, by name.
    state: the state of linearization. value: of the states there. rate: their rates there; those of speeds
        are zero in an equilibrium and along a steady motion.
    error: the largest estimated error of an entry, relative to the largest of all states, or of outputs in
        the same unit, by typical sizes. A_error: the estimated error of each entry of A.
    derived: whether A comes from exact derivatives; else it comes from differences. Those of `symbolic` are
        compared with differences: what these do not explain counts as an error.
    formulation: the one that computed the accelerations.
    notes: limitations of the matrices.

    >>> model = bc.linearize(pendulum, state=bc.statics(pendulum).state)
    >>> model.states
    ('hinge.theta_z', 'hinge.theta_z.rate')
    >>> print(model.A.round(4), 3 * 9.81 / 2)
    [[  0.      1.   ]
     [-14.715   0.   ]] 14.715
    """

    mechanism: str
    A: Floats
    B: Floats
    C: Floats
    D: Floats
    states: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    units: Mapping[str, str]
    state: State
    value: Floats
    rate: Floats
    error: float
    A_error: Floats
    derived: bool
    formulation: str
    notes: tuple[str, ...] = ()
    chart: StateChart = field(repr=False, kw_only=True)

    @property
    def coordinates(self) -> int:
        """The number of states that are coordinates; the others are speeds."""
        return len(self.chart.coordinates)

    @property
    def scale(self) -> Floats:
        """Typical sizes of the states, by which matrices are balanced: 1 rad, or the mechanism's size."""
        return np.concatenate([self.chart.scale, self.chart.scale[: self.chart.speeds]])

    def eigen(self) -> Eigen:
        """Nonzero eigenvalues of A with their uncertainties and eigenvectors, and how many are zero.

        >>> eigen = bc.linearize(pendulum, state=bc.statics(pendulum).state).eigen()
        >>> print(abs(eigen.values).round(4), eigen.zeros)    # 1/s
        [3.836 3.836] 0
        """
        return eigen(self.A, self.scale, self.A_error)

    @property
    def decisive(self) -> Judged:
        """What decides about stability, in 1/s: the eigenvalue with the largest real part, as a decay rate.

        Where it oscillates and neither grows nor decays for certain, it is the size of the least eigenvalue.
        """
        found = self.eigen()
        rates = [
            Judged(-float(v.real), float(u)) for v, u in zip(found.values, found.uncertainty, strict=True)
        ]
        worst = min(rates, key=lambda one: one.value + one.uncertainty, default=Judged(np.inf, 0.0))
        if worst.stability == "unstable":
            return worst
        if found.zeros:
            return Judged(0.0, found.zero)
        if worst.stability == "stable":
            return worst
        least = int(np.argmin(np.abs(found.values)))
        return Judged(float(abs(found.values[least])), float(found.uncertainty[least]))

    @property
    def stability(self) -> Stability:
        """Whether small changes die away or stay small ("stable"), stay ("neutral") or grow ("unstable").

        As far as linear equations and the errors of their derivatives allow to say.
        """
        return self.decisive.stability

    def eigenvalues(self) -> np.ndarray:
        """All eigenvalues of A, complex, by falling real part, in 1/s.

        >>> model = bc.linearize(pendulum, state=bc.statics(pendulum).state)
        >>> print(model.eigenvalues().round(4), np.sqrt(3 * 9.81 / 2).round(4))    # 1/s
        [0.-3.836j 0.+3.836j] 3.836
        """
        found = self.eigen()
        values = np.concatenate([found.values, np.zeros(found.zeros)])
        return values[np.lexsort((values.imag, -values.real))]

    def modes(self) -> Modes:
        """Natural frequencies, damping ratios and shapes; see `bc.modes`.

        >>> modes = bc.linearize(pendulum, state=bc.statics(pendulum).state).modes()
        >>> print(modes.frequencies.round(4))    # Hz
        [0.6105]
        """
        from bellcrank.linear.modes import modes_of

        return modes_of(self)

    def part(self, states: Sequence[str]) -> Floats:
        """The rows and columns of A that belong to given states.

        >>> model = bc.linearize(pendulum, state=bc.statics(pendulum).state)
        >>> print(model.part(["hinge.theta_z"]).round(4), model.part(model.states).shape)
        [[0.]] (2, 2)
        """
        at = [self._place(name) for name in states]
        return np.asarray(self.A[np.ix_(at, at)])

    def _place(self, name: str) -> int:
        if name not in self.states:
            rule = "there is no state of this name"
            raise MechanismError(Fault(f"state {name!r}", rule, None, nearest(str(name), self.states)))
        return self.states.index(name)

    def to_control(self) -> Any:
        """A `control.StateSpace` with the same names, of the package python-control (extra `control`).

        >>> system = bc.linearize(pendulum, inputs="hinge", state=bc.statics(pendulum).state).to_control()
        >>> print(system.B.round(4).tolist())    # one over m L^2 / 3
        [[0.0], [3.0]]
        """
        try:
            control: Any = import_module("control")
        except ModuleNotFoundError as error:
            raise Unsupported("this needs python-control: pip install 'bellcrank[control]'") from error
        # Names of signals there have no dots, which mean parts of systems.
        plain = {
            name: name.replace(".", "_").replace(" ", "_")
            for name in (*self.states, *self.inputs, *self.outputs)
        }
        return control.ss(
            self.A,
            self.B,
            self.C,
            self.D,
            states=[plain[name] for name in self.states],
            inputs=[plain[name] for name in self.inputs],
            outputs=[plain[name] for name in self.outputs],
            name=self.mechanism.replace(".", "_").replace(" ", "_"),
        )

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain values, as `bellcrank linearize --json` prints it.

        >>> values = bc.linearize(pendulum, state=bc.statics(pendulum).state).to_dict()
        >>> values["states"]
        ['hinge.theta_z', 'hinge.theta_z.rate']
        """
        matrices = {name: getattr(self, name).tolist() for name in "ABCD"}
        names = {"states": self.states, "inputs": self.inputs, "outputs": self.outputs}
        values = self.eigenvalues()
        return {
            "mechanism": self.mechanism,
            "formulation": self.formulation,
            "time": self.state.time,
            **{key: list(value) for key, value in names.items()},
            "units": dict(self.units),
            **matrices,
            "value": self.value.tolist(),
            "rate": self.rate.tolist(),
            "eigenvalues": np.stack([values.real, values.imag], axis=1).tolist(),
            "derived": self.derived,
            "error": self.error,
            "notes": list(self.notes),
        }

    def __str__(self) -> str:
        speeds = self.chart.speeds
        how = "exact derivatives" if self.derived else "extrapolated differences"
        counts = (
            f"{len(self.states)} states ({self.coordinates} coordinates, {speeds} speeds), "
            f"{len(self.inputs)} inputs, {len(self.outputs)} outputs"
        )
        lines = [
            f"{self.mechanism!r} linearized at t = {self.state.time:g} s: {counts}",
            f"  by {self.formulation}, {how}; estimated error {self.error:.1e} of the largest entry",
            *self._matrix("A", self.A, self.states),
            *(self._matrix("B", self.B, self.inputs) if self.inputs else ()),
        ]
        return "\n".join([*lines, *(f"  note: {note}" for note in self.notes)])

    def _matrix(self, name: str, matrix: Floats, columns: tuple[str, ...]) -> list[str]:
        if max(matrix.shape) > _SHOWN:
            return [f"  {name}: {matrix.shape[0]} x {matrix.shape[1]}"]
        wide = max(map(len, self.states), default=0)
        lines = [f"  {name}, by {', '.join(columns)}:"]
        for state, row in zip(self.states, matrix, strict=True):
            lines.append(f"    {state:<{wide}} " + " ".join(f"{value + 0.0:12.6g}" for value in row))
        return lines
