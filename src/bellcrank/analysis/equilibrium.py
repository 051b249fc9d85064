"""Static equilibrium of a mechanism."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from bellcrank import _core
from bellcrank.analysis.assembling import names_of, write
from bellcrank.analysis.stability import Judged
from bellcrank.analysis.start_values import hold_values_of, write_positions
from bellcrank.assembly.compile import compile_mechanism
from bellcrank.assembly.contacts import refuse_contacts
from bellcrank.assembly.initial import assembled, with_pinned
from bellcrank.assembly.model import Model
from bellcrank.assembly.positions import without_rows
from bellcrank.assembly.report import AssemblyReport, BodyMove, moves_between, untouched_kept
from bellcrank.assembly.state import Floats, State
from bellcrank.errors import AssemblyError
from bellcrank.formulations.preparing import prepare
from bellcrank.mechanism.body import Body
from bellcrank.mechanism.checking import Check
from bellcrank.mechanism.joint_kinds import Fixed
from bellcrank.mechanism.mechanism import Mechanism


@dataclass(frozen=True)
class EquilibriumReport:
    """The equilibrium of a mechanism, and whether it is stable.

    assembly: the report of the assembly that came first.
    energy_before, energy: potential energy after assembly and at rest, J: that of gravity, springs, forces of
        constant direction, and efforts that depend on time only.
    force: the largest residual force on a body, N; moments are scaled by the body's size. scale: the largest
        force that acts, constraints included, N. acceleration: the largest acceleration of a body released
        there, by `lagrange`, m/s^2 (of its frame's origin).
    iterations: of the search.
    stability: "stable" where the energy grows in all directions, "neutral" where it stays the same along
        some, "unstable" where it falls along some, "fixed" where nothing can move.
    least_eigenvalue: of stiffness relative to mass in the directions that the constraints allow, 1/s^2: the
        square of the lowest circular frequency if positive, of the fastest growth rate if negative.
        uncertainty: how far it may be off; what lies within it of zero is neutral.
    freedoms, unstable_directions, neutral_directions: the number of directions that the constraints allow,
        and of those with negative and with zero stiffness. Stops that push count as closed.
    moves: relative to the description, largest first. notes: what was described and no longer applies, and
        limitations of the result.
    """

    mechanism: str
    assembly: AssemblyReport
    energy_before: float
    energy: float
    force: float
    scale: float
    acceleration: float
    iterations: int
    stability: str
    least_eigenvalue: float
    uncertainty: float
    freedoms: int
    unstable_directions: int
    neutral_directions: int
    moves: tuple[BodyMove, ...]
    notes: tuple[str, ...]

    def __str__(self) -> str:
        energies = f"potential energy {self.energy_before:.6g} -> {self.energy:.6g} J"
        left = f"force left {self.force:.2g} of {self.scale:.4g} N"
        lines = [
            f"{self.mechanism!r} rests after {self.iterations} iterations: {energies}, {left}",
            f"  {self.state_text}",
        ]
        lines += [f"  {move}" for move in self.moves[:10]]
        return "\n".join([*lines, *(f"  note: {note}" for note in self.notes)])

    @property
    def state_text(self) -> str:
        """The stability, in words."""
        if self.stability == "fixed":
            return "fixed: the constraints let nothing move"
        counts = {"unstable": self.unstable_directions, "neutral": self.neutral_directions}
        count = counts.get(self.stability, 0)
        along = f" along {count} of {self.freedoms} directions" if count else ""
        least = Judged(self.least_eigenvalue, self.uncertainty)
        return f"{self.stability}{along}, least eigenvalue {least} 1/s^2"


def find_equilibrium(
    mechanism: Mechanism,
    time: float = 0.0,
    *,
    pinned: str | Body | Iterable[str | Body] = (),
    tolerance: float = 1e-10,
    iterations: int = 1000,
    leave_unstable: bool = True,
) -> EquilibriumReport:
    """Move a mechanism to static equilibrium: assembled, at a minimum of potential energy, at rest.

    The minimum is the one downhill of where the bodies are placed: the energy falls all the way there, and no
    barrier is passed. Forces of constant direction (`Wrench` in world axes) and efforts of motors belong to
    the energy, with their values at `time`. Loads without a potential (moments, forces that turn with a
    body, forces given by formulas) are balanced as well. Drives are held as they are at `time`, dampers and
    friction exert nothing, stops push and may open.

    Values taken from the initial configuration are kept: rest lengths and the lengths of cables that may go
    slack are written into the description as numbers, and joints with a given position get the one at rest.

    time: s. pinned: bodies, or their names, that keep their placement, as for `assemble`.
    tolerance: the residual force on a body, relative to the largest force that acts.
    iterations: the number after which the search gives up.
    leave_unstable: whether an equilibrium that is not a minimum, such as an inverted pendulum, is left for a
        lower one. False: it is accepted, and the report says that it is unstable.

    Raises MechanismError for faults of the description and for unknown bodies, AssemblyError if the
    constraints cannot be satisfied or no equilibrium is found (something falls or runs away, say); the
    mechanism is then left unchanged.

    Method: Newton's on the constraints with bounded steps, see docs/theory/statics.md.
    """
    with Check("find_equilibrium") as check:
        tolerance = check.positive("tolerance", tolerance)
        iterations = check.integer("iterations", iterations, 1)
        leave_unstable = check.flag("leave_unstable", leave_unstable)
    names = names_of(pinned)
    with_pinned(compile_mechanism(mechanism, time), names)
    described = _described(mechanism, names, time)
    described.refuse_unweighed()
    model, assembly = assembled(described, names)
    start, held = model.initial, _held(model)
    found, position, rotation, coordinates = _core.find_rest(
        held.core,
        time,
        start.position,
        start.rotation,
        model.coordinate_values(start).tolist(),
        tolerance,
        iterations,
        leave_unstable,
    )
    if not found.found:
        raise AssemblyError(_failure(model, found))
    values = np.asarray(coordinates)
    still = np.zeros_like(start.velocity)
    rest = State(start.time, position, rotation, still, still, values[model.angular])
    moves, notes = _written(mechanism, described, model, rest, values)
    said = (*assembly.notes, *notes, *_reservations(found))
    return _report(found, assembly, _acceleration(held, rest), moves, said)


def _written(
    mechanism: Mechanism, described: Model, model: Model, rest: State, values: Floats
) -> tuple[tuple[BodyMove, ...], list[str]]:
    """Write the equilibrium, and values taken from the former start, into the description; moves and notes.

    model: `described`, assembled. values: of all coordinates at rest.
    """
    given = described.given.described
    before = described.initial if given is None else given
    rest = untouched_kept(before, rest)
    moves = moves_between(model.bodies, before, rest)
    notes = write(mechanism, before, model.body_index, rest, moves)
    notes += hold_values_of(mechanism, model)
    notes += write_positions(mechanism, described, values)
    return moves, notes


def _report(
    found: _core.Rest,
    assembly: AssemblyReport,
    acceleration: float,
    moves: tuple[BodyMove, ...],
    notes: tuple[str, ...],
) -> EquilibriumReport:
    judged = Judged(found.stability.least, found.stability.uncertainty)
    return EquilibriumReport(
        mechanism=assembly.mechanism,
        assembly=assembly,
        energy_before=found.energy_before,
        energy=found.energy,
        force=found.force,
        scale=found.scale,
        acceleration=acceleration,
        iterations=found.iterations,
        stability="fixed" if found.stability.freedoms == 0 else judged.stability,
        least_eigenvalue=judged.value,
        uncertainty=judged.uncertainty,
        freedoms=found.stability.freedoms,
        unstable_directions=found.stability.unstable,
        neutral_directions=found.stability.neutral,
        moves=moves,
        notes=notes,
    )


def _reservations(found: _core.Rest) -> list[str]:
    if found.has_potential:
        return []
    work = "some loads have no potential: their work is not in the energy"
    return [
        f"{work}, and stability goes by the symmetric part of the stiffness, which says nothing of flutter"
    ]


def _failure(model: Model, found: _core.Rest) -> str:
    body = model.bodies[found.worst_body]
    reason = "something may fall or run away without end: hold it, or raise iterations"
    if not found.has_potential:
        reason = "there are loads without a potential, which may run in circles: " + reason
    return (
        f"mechanism {model.name!r} comes to no rest: after {found.iterations} iterations forces of up to "
        f"{found.force:.3g} N are left (on body {body!r}) where {found.scale:.3g} N act; {reason}"
    )


def _described(mechanism: Mechanism, names: tuple[str, ...], time: float) -> Model:
    model = compile_mechanism(_with_held(mechanism, names), time)
    refuse_contacts(model, "find_equilibrium")
    return model


def _with_held(mechanism: Mechanism, names: Sequence[str]) -> Mechanism:
    """The mechanism, or a copy of it in which bodies are fixed to the ground where they are described."""
    if not names:
        return mechanism
    twin = mechanism.copy()
    for name in names:
        body, joint = twin.bodies[name], f"{name} pinned"
        while joint in twin.joints:
            joint += "'"
        twin.add_joint(
            joint, Fixed(), twin.ground.world_marker(body.position), body.world_marker(body.position)
        )
    return twin


def standing_still(model: Model) -> Model:
    """The model with its drives held where they are, and stops that do not bounce."""
    arrays, time = model.arrays, model.initial.time
    values = np.zeros(model.row_count)
    for row in np.flatnonzero(arrays["row_function"] >= 0).tolist():
        values[row] = model.function_value(int(arrays["row_function"][row]), time)
    return model.with_arrays(
        row_constant=arrays["row_constant"] + values,
        row_function=np.full_like(arrays["row_function"], -1),
        block_restitution=np.zeros_like(arrays["block_restitution"]),
    )


def _held(model: Model) -> Model:
    """The model that stands still, without inertances, which act on accelerations."""
    still = standing_still(model)
    compliant = np.flatnonzero((model.arrays["block_compliance"] > 0.0)[model.row_block])
    return without_rows(still, compliant) if len(compliant) else still


def _acceleration(held: Model, state: State) -> float:
    linear = prepare(held, "lagrange").accelerate(state).linear
    return float(np.max(np.linalg.norm(linear, axis=1), initial=0.0))
