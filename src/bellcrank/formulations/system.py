"""A model prepared for one formulation, to be evaluated at given states."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, NoReturn

import numpy as np

from bellcrank.accuracy import Accuracy, AccuracyJudge
from bellcrank.compile.contacts import refuse_resistances
from bellcrank.compile.model import Model
from bellcrank.compile.report import NamedRow
from bellcrank.compile.state import Floats, State
from bellcrank.errors import AssemblyError, Unsupported
from bellcrank.formulations.accelerations import Accelerations, rotate
from bellcrank.formulations.input_values import Inputs
from bellcrank.formulations.striking import Blow, Strike, StruckPoint, strike
from bellcrank.mechanism.checking import Check
from bellcrank.turns import Turn, in_turn

_REFINED = 1e-12  # rate error that one correction should leave [m/s or rad/s]
_MET = 1e-7  # largest constraint error after a projection, redundant rows included [m or rad/2]

ASSEMBLE: Final = "bc.assemble(mech) can come from farther away"
"""What to do about positions that are too far from the constraints."""


@dataclass(frozen=True)
class DroppedRow(NamedRow):
    """A redundant row, and its number in the model."""

    row: int


@dataclass(frozen=True)
class SystemStatistics:
    """What a system has computed so far.

    counts: by name: evaluations, factorizations, corrections, impacts, precise (evaluations in 32 digits).
    dropped: the rows that were redundant (or singular) at the last factorization.
    smallest_pivot: of the rows kept then, relative to its diagonal entry; small near singular configurations.
    """

    counts: dict[str, int]
    dropped: tuple[DroppedRow, ...]
    smallest_pivot: float


@dataclass(frozen=True, eq=False)
class Rows:
    """The constraint rows at a state: J (velocities of all bodies) = -Ct, and J (accelerations) = Qc.

    error: (rows,), C. drift: (rows,), the partial time derivative Ct. bias: (rows,), Qc.
    jacobian: (rows, nb, 6), against velocity of the frame's origin and angular velocity, world axes.
    names: "joint 'pivot' (e1)" and the like.
    """

    error: Floats
    drift: Floats
    bias: Floats
    jacobian: Floats
    names: tuple[str, ...]


@in_turn
class System:
    """A Model prepared for one formulation.

    model: the model. formulation: its name. reason: why this one, if "auto" chose it. options: all of them.
    core: the core's object, for `integrate`. judge: of its digits, where some may be lost. A System has one
    state and serves one thread at a time: a second concurrent thread is refused with Unsupported. It cannot
    be copied or pickled. A call aborted by Ctrl-C may leave any state: set it again.
    """

    def __init_subclass__(cls) -> None:
        in_turn(cls)

    def __init__(self, model: Model, formulation: str, core: Any, options: Any, reason: str = "") -> None:
        self.model = model
        self.formulation = formulation
        self.core = core
        self.options = options
        self.reason = reason
        self.judge: AccuracyJudge | None = None
        self._turn = Turn("a System holds one state and serves one thread at a time: prepare one for each")
        self.set_state(model.initial)

    def __reduce__(self) -> NoReturn:
        raise Unsupported(
            "a System is tied to this process and cannot be copied or pickled: send the Mechanism, and "
            "prepare it there"
        )

    def __repr__(self) -> str:
        return f"<System {self.model.name!r}, formulation {self.formulation!r}>"

    def _repr_html_(self) -> str:
        from bellcrank.scene.notebook import of_model

        dropped = ", ".join(map(str, self.stats.dropped))
        facts = {"formulation": self.formulation, "chosen because": self.reason, "rows left out": dropped}
        return of_model(self.model, self.state(), f"{self.model.name}, prepared", facts)

    @property
    def cut_joints(self) -> tuple[str, ...]:
        """The joints at which loops are cut; none in coordinates of bodies."""
        return ()

    @property
    def loses_digits(self) -> bool:
        """Whether it loses digits of light bodies beside heavy ones that `lagrange` keeps."""
        return False

    @cached_property
    def inputs(self) -> Inputs:
        """The inputs by name; after a change, `project` if a drive, constraint or joint depends on it."""
        return Inputs(self.model, self.core, self._turn)

    def state(self) -> State:
        """The current state; initially that of the model."""
        return self.model.state_of(self.core)

    def set_state(self, state: State, continued: bool = False) -> None:
        """Go to a state.

        Angles have the whole turns that the state contains; if it contains none (`State.angles` is None),
        they start with the turns that the constraints ask for, the fewest, or, with continued, continue from
        their current values.
        """
        self.model.put(self.core, state, continued)

    @contextmanager
    def displaced(self) -> Iterator[None]:
        """Change state and inputs within a `with` block: they are restored at its end, and after errors."""
        state, values = self.state(), dict(self.inputs)
        try:
            yield
        finally:
            self.inputs.update(values)
            self.set_state(state)

    def accelerate(self, state: State | None = None) -> Accelerations:
        """Accelerations, reactions and efforts at a state, by default the current one.

        Raises Unsupported for contacts that resist rolling or spinning: only impulse-based steps have these.
        """
        refuse_resistances(self.model, "accelerate")
        if state is not None:
            self.set_state(state)
        linear, angular, multipliers = self.core.accelerate()
        listed = self.model.reactions
        reactions, unique = self.core.reactions([(blocks, pair) for _, blocks, pair in listed])
        at = self.state() if state is None else state
        determined = self.core.determined_multipliers()
        return Accelerations(self.model, at, linear, angular, multipliers, reactions, unique, determined)

    def project(self, state: State | None = None, *, advice: str = ASSEMBLE) -> State:
        """Project the state onto the constraints, first positions, then velocities (with impacts on stops).

        advice: of the error, where positions cannot satisfy them.
        Raises AssemblyError, naming the worst row, if positions or velocities cannot satisfy the rows; the
        System then keeps the state it reached.
        """
        if state is not None:
            self.set_state(state)
        met = self.core.project()
        error, rate = self.core.violation()
        if met and rate > _REFINED:  # a large correction leaves rounding errors; a second one is small
            met = self.core.project()
            error, rate = self.core.violation()
        allowed = max(_MET, 1e3 * self.options.get("position_tolerance", 0.0))
        reached = self.state()
        moves = rate <= _MET * (1.0 + fastest(reached))
        if not error <= allowed or (moves and not met):
            row = self.core.worst_row()
            name = self.model.row_text(row) if row >= 0 else "the state"
            message = f"the constraints cannot be met from this state: {name} is off by {error:.3g}; {advice}"
            raise AssemblyError(message, [(name, error)])
        if not moves:
            message = (
                f"no velocities meet all constraints at this state: a row is missed by {rate:.3g} m/s or "
                "rad/s; drives that ask for different motions are the usual reason, and bc.assemble(mech) "
                "names them"
            )
            raise AssemblyError(message, [("the velocities", rate)])
        return reached

    def strike(self, what: Sequence[StruckPoint | Blow], state: State | None = None) -> Strike:
        """Apply simultaneous impulses at a state, by default the current one, and compute new velocities.

        Joints, drives, closed limits and taut cables, redundant ones included, transmit them; those that are
        one-sided only push, and bounce by their own restitution. Blows come first; then
        Newton's law of restitution and Coulomb's law of friction are satisfied exactly for all points
        together (docs/theory/impulses.md). Restitution with friction may gain energy, and with friction there
        may be several solutions, of which one is found. The System goes to the state after the impulses.
        Available for the formulations `lagrange` and `recursive`, for the latter in linear time. Raises
        Unsupported for others, MechanismError for bad input, AssemblyError if no impulses are found.
        """
        if state is not None:
            self.set_state(state)
        return strike(self, what)

    def retract(self, state: State, velocity: Floats, angular_velocity: Floats, time: float = 1.0) -> State:
        """The state moved along velocities (nb, 3) and (nb, 3) of the frames, world axes, for a time in s.

        The centres of mass move on straight lines, rotations advance by the exponential map. Raises
        MechanismError for arrays of other shapes.
        """
        self.set_state(state)
        count = len(self.model.bodies)
        with Check("retract") as check:
            time = check.number("time", time, "s")
            turn = check.array("angular_velocity", angular_velocity, (count, 3), "rad/s")
            linear = check.array("velocity", velocity, (count, 3), "m/s")
        arms = rotate(state.rotation, self.model.com)
        shift = linear + np.cross(turn, arms)
        inverse = self._principal_rotation(state) * np.array([1.0, -1.0, -1.0, -1.0])
        self.core.displace(
            np.ascontiguousarray(time * np.concatenate([shift, rotate(inverse, turn)], axis=1))
        )
        return self.state().at_time(state.time + time)

    def rows(self, state: State | None = None) -> Rows:
        """The constraint rows at a state, with a dense Jacobian."""
        if state is not None:
            self.set_state(state)
        at = self.state()
        error, drift, bias, jacobian = self.core.rows()
        count = len(at.position)
        per_body = jacobian.reshape(len(error), count, 6)
        linear = per_body[:, :, :3]
        arms, spin = rotate(at.rotation, self.model.com), at.angular_velocity
        angular = rotate(self._principal_rotation(at), per_body[:, :, 3:]) + np.cross(arms, linear)
        # The core's rows act on centres of mass, whose accelerations contain ω × (ω × arm).
        bias = bias - np.einsum("rbk,bk->r", linear, np.cross(spin, np.cross(spin, arms)))
        names = tuple(self.model.row_text(row) for row in range(len(error)))
        return Rows(error, drift, bias, np.concatenate([linear, angular], axis=2), names)

    def _principal_rotation(self, state: State) -> Floats:
        """Quaternions (nb, 4) from principal to world axes."""
        local = np.array(self.model.core.principal_rotation, dtype=np.float64).reshape(-1, 4)
        a, b = state.rotation, local
        real = a[:, :1] * b[:, :1] - np.sum(a[:, 1:] * b[:, 1:], axis=1, keepdims=True)
        rest = a[:, :1] * b[:, 1:] + b[:, :1] * a[:, 1:] + np.cross(a[:, 1:], b[:, 1:])
        return np.concatenate([real, rest], axis=1)

    @property
    def stats(self) -> SystemStatistics:
        """What the system has computed so far, with the redundant rows by name."""
        dropped = tuple(DroppedRow(*self.model.describe_row(row), row) for row in self.core.dropped_rows())
        counts = dict(self.core.statistics())
        pivot = float(counts.pop("smallest_pivot"))
        for told_elsewhere in ("uncertainty", "smallest_inertia", "dropped_rows"):
            counts.pop(told_elsewhere)
        for seldom in ("precise", "linearizations"):
            if not counts[seldom]:
                counts.pop(seldom)
        return SystemStatistics({name: int(value) for name, value in counts.items()}, dropped, pivot)

    def accuracy(self) -> Accuracy:
        """What double precision leaves open at the states so far.

        Formulations that lose digits of light bodies beside heavy ones are compared with `lagrange` in 32
        digits, at the current state and at the most doubtful one since the last call. The state stays.
        """
        known = Accuracy(float(self.core.statistics()["uncertainty"]))
        return known if self.judge is None else self.judge.accuracy(self.core, known)


def fastest(state: State) -> float:
    """The largest component of any velocity or angular velocity, m/s or rad/s."""
    return max(float(np.abs(v).max(initial=0.0)) for v in (state.velocity, state.angular_velocity))
