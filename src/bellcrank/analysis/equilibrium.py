"""Static equilibrium: where a mechanism rests."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from bellcrank import _core
from bellcrank.analysis.assembling import names_of, write
from bellcrank.assembly.compile import compile_mechanism
from bellcrank.assembly.initial import assembled, with_pinned
from bellcrank.assembly.model import Model
from bellcrank.assembly.positions import without_rows
from bellcrank.assembly.report import AssemblyReport, BodyMove, moves_between, untouched_kept
from bellcrank.assembly.state import State
from bellcrank.errors import AssemblyError
from bellcrank.mechanism.body import Body
from bellcrank.mechanism.checking import Check
from bellcrank.mechanism.joint_kinds import Fixed
from bellcrank.mechanism.mechanism import Mechanism


@dataclass(frozen=True)
class EquilibriumReport:
    """Where a mechanism came to rest.

    assembly: how its constraints were met before. energy_before: potential energy then, J; energy: at rest.
    acceleration: largest acceleration of a body let go there, m/s^2 (of its centre, or of a point at its
        radius of gyration). reference: the same without constraints, at the start. iterations: of the search.
    moves: from the description, those that went farthest first. notes: what was described and is no more.
    """

    mechanism: str
    assembly: AssemblyReport
    energy_before: float
    energy: float
    acceleration: float
    reference: float
    iterations: int
    moves: tuple[BodyMove, ...]
    notes: tuple[str, ...]

    def __str__(self) -> str:
        energies = f"potential energy {self.energy_before:.6g} -> {self.energy:.6g} J"
        left = f"acceleration left {self.acceleration:.2g} m/s^2"
        lines = [f"{self.mechanism!r} rests after {self.iterations} iterations: {energies}, {left}"]
        lines += [f"  {move}" for move in self.moves[:10]]
        return "\n".join([*lines, *(f"  note: {note}" for note in self.notes)])


def find_equilibrium(
    mechanism: Mechanism,
    time: float = 0.0,
    *,
    pinned: str | Body | Iterable[str | Body] = (),
    tolerance: float = 1e-10,
    iterations: int = 20000,
) -> EquilibriumReport:
    """Put a mechanism where it rests: assembled, at a minimum of its potential energy, all velocities zero.

    The minimum is that downhill of where the bodies are placed. Drives stand still as they are at `time`,
    dampers and friction exert nothing, stops push; forces without a potential (applied forces, follower
    loads) are balanced all the same.

    time: s. pinned: bodies, or their names, that keep their placement, as for `assemble`.
    tolerance: the acceleration left, relative to that of the bodies let go where they are placed.
    iterations: after which it gives up.

    Raises MechanismError for faults of the description and for bodies that there are not, AssemblyError where
    the constraints cannot be met or no rest is found (something falls or runs away, say); the mechanism is
    then left as it was.

    Method: quasi-Newton steps of limited memory on the constraints, see docs/theory/assembly.md.
    """
    with Check("find_equilibrium") as check:
        tolerance = check.positive("tolerance", tolerance)
        iterations = check.integer("iterations", iterations, 1)
    names = names_of(pinned)
    with_pinned(compile_mechanism(mechanism, time), names)
    described = compile_mechanism(_with_held(mechanism, names), time)
    model, assembly = assembled(described, names)
    start, held = model.initial, _held(model)
    found, count, left, reference, position, rotation = _core.equilibrium(
        held.core, time, start.position, start.rotation, tolerance, iterations
    )
    if not found:
        raise AssemblyError(
            f"mechanism {model.name!r} comes to no rest: after {count} iterations its bodies, let go, still "
            f"accelerate by {left:.3g} m/s^2; something may fall or run away without end"
        )
    still = np.zeros_like(start.velocity)
    rest = State(start.time, position, rotation, still, still)
    given = described.given.described
    before = described.initial if given is None else given
    rest = untouched_kept(before, rest)
    moves = moves_between(model.bodies, before, rest)
    notes = write(mechanism, before, model.body_index, rest, moves)
    if model.start.laws or model.start.rows:
        notes.append("what is as in the initial configuration (rest lengths, ...) is now as at rest")
    return EquilibriumReport(
        mechanism=model.name,
        assembly=assembly,
        energy_before=_potential(held, start),
        energy=_potential(held, rest),
        acceleration=left,
        reference=reference,
        iterations=count,
        moves=moves,
        notes=(*assembly.notes, *notes),
    )


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


def _held(model: Model) -> Model:
    """The model with drives that stand still, without inertances, which act on accelerations, and bounce."""
    arrays, time = model.arrays, model.initial.time
    values = np.zeros(model.row_count)
    for row in np.flatnonzero(arrays["row_function"] >= 0).tolist():
        values[row] = model.function_value(int(arrays["row_function"][row]), time)
    still = model.with_arrays(
        row_constant=arrays["row_constant"] + values,
        row_function=np.full_like(arrays["row_function"], -1),
        block_restitution=np.zeros_like(arrays["block_restitution"]),
    )
    compliant = np.flatnonzero((arrays["block_compliance"] > 0.0)[model.row_block])
    return without_rows(still, compliant) if len(compliant) else still


def _potential(model: Model, state: State) -> float:
    system = _core.Lagrange(model.core)
    system.set_state(*state.arrays)
    return float(system.energy()[1])
