"""Statics: the equilibrium of a mechanism, its stability, the efforts of its drives, joint reactions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

import numpy as np

from bellcrank import _core, views
from bellcrank.analysis.assemble import hold_values_of, names_of, write, write_positions
from bellcrank.analysis.friction_at_rest import FrictionAtRest, HeldFriction, friction_at_rest, locked
from bellcrank.compile.beam_watch import lost_beam, strained_beams
from bellcrank.compile.compile import compile_mechanism
from bellcrank.compile.contacts import holding, refuse_contacts
from bellcrank.compile.initial import assembled, with_pinned
from bellcrank.compile.model import Model
from bellcrank.compile.positions import without_rows
from bellcrank.compile.report import AssemblyReport, BodyMove, moves_between, untouched_kept
from bellcrank.compile.rope_watch import lost_rope
from bellcrank.compile.state import Floats, State
from bellcrank.errors import AssemblyError, Unsupported
from bellcrank.formulations.friction_notes import friction_notes
from bellcrank.formulations.preparing import prepare
from bellcrank.formulations.system import Accelerations, DriveEffort, JointReaction, System
from bellcrank.mechanism.body import Body
from bellcrank.mechanism.checking import Check
from bellcrank.mechanism.flywheels import flywheels_in
from bellcrank.mechanism.html import displayed
from bellcrank.mechanism.joint_kinds import Fixed
from bellcrank.mechanism.mechanism import Mechanism
from bellcrank.slips import Named, answered, answering
from bellcrank.trajectory.observation import observation

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from bellcrank.formulations.state_derivatives import StateDerivatives
    from bellcrank.trajectory.beams import BeamHistory
    from bellcrank.trajectory.solids import SolidHistory

_NOTHING: Final = 1e-12  # of the largest force: less is rounding, and shown as zero
_JUST: Final = 1e-9  # of a margin: what is as little below 1 holds

Stability: TypeAlias = Literal["stable", "neutral", "unstable"]


@dataclass(frozen=True)
class Judged:
    """An eigenvalue that decides about stability.

    value: positive where small displacements decay or come back, negative where they grow. uncertainty: how
    far it may be off, due to rounding and to errors of derivatives; not negative, in the same unit.
    """

    value: float
    uncertainty: float

    @property
    def stability(self) -> Stability:
        """What is certain: "stable", "unstable", or "neutral" if zero is within the uncertainty."""
        if abs(self.value) <= self.uncertainty:
            return "neutral"
        return "stable" if self.value > 0.0 else "unstable"

    def __str__(self) -> str:
        return f"0 ± {self.uncertainty:.1g}" if self.stability == "neutral" else f"{self.value:.6g}"


@displayed()
@answering
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
    degrees_of_freedom, unstable_directions, neutral_directions: the number of directions that the constraints
        allow, and of those with negative and with zero stiffness. Stops that push count as closed.
    moves: relative to the description, largest first. notes: what was described and no longer applies, and
        limitations of the result.

    >>> report = bc.find_equilibrium(pendulum)
    >>> report.stability, report.degrees_of_freedom
    ('stable', 1)
    >>> print(f"{np.sqrt(report.least_eigenvalue):.4f} rad/s, by hand {np.sqrt(1.5 * 9.81):.4f} rad/s")
    3.8360 rad/s, by hand 3.8360 rad/s
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
    degrees_of_freedom: int
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
        along = f" along {count} of {self.degrees_of_freedom} directions" if count else ""
        least = Judged(self.least_eigenvalue, self.uncertainty)
        return f"{self.stability}{along}, least eigenvalue {least} 1/s^2"


@answered
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

    >>> report = bc.find_equilibrium(pendulum)
    >>> report.stability
    'stable'
    >>> print(f"{report.energy_before - report.energy:.4f} J lower, by hand {9.81 / 2:.4f} J")
    4.9050 J lower, by hand 4.9050 J
    """
    with Check("find_equilibrium") as check:
        tolerance = check.positive("tolerance", tolerance)
        iterations = check.integer("iterations", iterations, 1)
        leave_unstable = check.flag("leave_unstable", leave_unstable)
    return _found(mechanism, time, names_of(pinned), tolerance, iterations, leave_unstable)


def _found(
    mechanism: Mechanism,
    time: float,
    names: tuple[str, ...],
    tolerance: float,
    iterations: int,
    leave_unstable: bool,
    friction_holds: bool = False,
) -> EquilibriumReport:
    """See `find_equilibrium`. friction_holds: where it can, as rows do, whatever that takes."""
    described = compile_mechanism(mechanism, time)
    with_pinned(described, names)
    if (held_twin := with_held(_resting(mechanism), names)) is not mechanism:
        described = compile_mechanism(held_twin, time)
    refuse_contacts(described, "find_equilibrium")
    described.refuse_unweighed()
    model, assembly = assembled(described, names)
    start, held = model.initial, _held(locked(model) if friction_holds else model)
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
    given = described.given.described
    before = described.initial if given is None else given
    rest = untouched_kept(before, rest)
    if lost := lost_rope(model, (start, rest)) or lost_beam(model, (start, rest)):
        raise AssemblyError(f"mechanism {model.name!r} comes to no rest that has a meaning: {lost}")
    moves = moves_between(model.bodies, before, rest)
    notes = write(mechanism, before, model.body_index, rest, moves)
    notes += hold_values_of(mechanism, model, rest)
    notes += write_positions(mechanism, described, values)
    notes += _slipping(mechanism, time)
    notes += strained_beams(model, (rest,))
    if not found.has_potential:
        notes.append(
            "some loads have no potential: their work is not in the energy, and stability goes by the "
            "symmetric part of the stiffness, which says nothing of flutter"
        )
    if friction_holds:
        notes += friction_notes(model)
    elif names_left := holding(model):
        notes.append(f"friction that holds is left out: {', '.join(map(repr, names_left))}")
    linear = prepare(held, "lagrange").accelerate(rest).linear
    acceleration = float(np.max(np.linalg.norm(linear, axis=1), initial=0.0))
    return _report(found, assembly, acceleration, moves, (*assembly.notes, *notes))


def _resting(mechanism: Mechanism) -> Mechanism:
    """The mechanism, or a copy in which flywheels of forces stand, and forces do without."""
    flywheels = flywheels_in(mechanism)
    if not flywheels:
        return mechanism
    twin = mechanism.copy()
    for force in mechanism.forces.values():
        if force.kind.missing_states(force.markers):
            twin._forces[force.name] = replace(force, ends=force.markers)  # noqa: SLF001  (without flywheels)
    for name in flywheels:
        twin.replace(twin.joints[name], kind=Fixed())
    return twin


def _slipping(mechanism: Mechanism, time: float) -> list[str]:
    """Notes on belts that do not hold on their wheels where the mechanism has come to rest."""
    if not flywheels_in(mechanism):
        return []
    model, _ = assembled(compile_mechanism(mechanism, time))
    values = model.coordinate_values(model.initial)
    return [
        f"force {record.name!r}: it slips there, since {name} is {used:.4g}"
        for record in model.custom
        if hasattr(custom := record.lowered.custom, "at_rest_used")
        for name, used in custom.at_rest_used(values[list(record.ends)]).items()
        if used > 1.0
    ]


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
        degrees_of_freedom=found.stability.freedoms,
        unstable_directions=found.stability.unstable,
        neutral_directions=found.stability.neutral,
        moves=moves,
        notes=notes,
    )


def _failure(model: Model, found: _core.Rest) -> str:
    body = model.bodies[found.worst_body]
    reason = "something may fall or run away without end: hold it, or raise iterations"
    if not found.has_potential:
        reason = "there are loads without a potential, which may run in circles: " + reason
    return (
        f"mechanism {model.name!r} comes to no rest: after {found.iterations} iterations forces of up to "
        f"{found.force:.3g} N are left (on body {body!r}) where {found.scale:.3g} N act; {reason}"
    )


def with_held(mechanism: Mechanism, names: Sequence[str]) -> Mechanism:
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


def standing_still(model: Model, rows: Iterable[int] | None = None) -> Model:
    """The model with drives held where they are, and stops that do not bounce. rows: by default all."""
    arrays, time = model.arrays, model.initial.time
    values, functions = np.zeros(model.row_count), arrays["row_function"].copy()
    for row in np.flatnonzero(functions >= 0).tolist() if rows is None else rows:
        values[row] = model.function_value(int(functions[row]), time)
        functions[row] = -1
    return model.with_arrays(
        row_constant=arrays["row_constant"] + values,
        row_function=functions,
        block_restitution=np.zeros_like(arrays["block_restitution"]),
    )


def _held(model: Model) -> Model:
    """The model that stands still, without inertances, which act on accelerations."""
    still = standing_still(model)
    compliant = np.flatnonzero((model.arrays["block_compliance"] > 0.0)[model.row_block])
    return without_rows(still, compliant) if len(compliant) else still


@answering
class ForceEfforts(dict[str, float]):
    """Efforts of a spring, a motor or another force by the coordinate or component, with unit."""

    @property
    def effort(self) -> float | Floats:
        """The effort, N or N m: a plain number if there is only one."""
        found = np.array(list(self.values()))
        return float(found[0]) if len(found) == 1 else found


@displayed("draw")
@answering
@dataclass(frozen=True, eq=False)
class Statics:
    """A mechanism at rest.

    equilibrium: the search, its energy and stability; see `EquilibriumReport`.
    state: of the bodies there, all velocities zero. position: by joint, its coordinates there.
    drives: by name, the effort that a drive must hold, along each coordinate that it drives. joints: by name,
        the reaction that the joint exerts on its second body: moment about marker 2, force, world axes.
        limits, constraints: efforts by the name of the joint, and of the gear, belt or cable. forces: by
        name, the efforts of springs and motors, by the coordinate or component that they act along.
    friction: by name, the effort of dry friction that holds, its limit, and how much of that is used.
    holds: whether friction exerts what the rest takes. slips: names of those that begin to slip if not.
    margin: by how much the limits of all friction could be less, at the share of loads that is best for it;
        less than 1 if it does not hold, 0 if no friction would, infinite where none is needed. load_margin:
        by how much all loads could be more; infinite if it locks itself.
    pinned: names of bodies that were held where they are; joints between them and the ground share the load.
    at: a copy of the mechanism in equilibrium; the given mechanism is not changed.

    >>> rest = bc.statics(arm)
    >>> print(f"{rest.drives['shoulder'].effort:.4f} N m, by hand {9.81 * (0.5 + 1.5):.4f} N m")
    19.6200 N m, by hand 19.6200 N m
    >>> print(rest.joints["shoulder"].force.round(4))    # N: the weight of both rods
    [0.   19.62  0.  ]
    """

    mechanism: str
    equilibrium: EquilibriumReport
    state: State
    position: Mapping[str, Floats]
    drives: Mapping[str, DriveEffort]
    joints: Mapping[str, JointReaction]
    limits: Mapping[str, DriveEffort]
    constraints: Mapping[str, DriveEffort]
    forces: Mapping[str, ForceEfforts]
    friction: Mapping[str, HeldFriction]
    holds: bool
    slips: tuple[str, ...]
    margin: float
    load_margin: float
    pinned: tuple[str, ...]
    at: Mechanism = field(repr=False)

    def sensitivity(
        self, of: Iterable[str] | str, by: Iterable[str] | str, *, states: Iterable[str] | str = ()
    ) -> StateDerivatives:
        """How the equilibrium changes with parameters and inputs: exact derivatives of quantities in it.

        of: quantities as in tables of runs: coordinates of joints ("joint.knee.theta_y"), positions of bodies
            and markers ("body.jib.x"), efforts of drives and constraints ("drive.hoist.effort"), components
            of reactions ("joint.knee.Fz"); groups are "position", "effort", "reaction".
        by: names of parameters and inputs, those that move drives among them; groups are "parameters" and
            "inputs".
        states: coordinates to be independent, by which neutral directions are named.

        The rest moves so that forces stay in balance (docs/theory/statics.md). Stops that push stay closed,
        drives stand still, bodies that were pinned stay. What is taken from the initial configuration, such
        as a rest length that is not given, is kept.

        Raises MechanismError, naming them, for neutral directions, in which nothing determines where the
        mechanism rests; for stops that are touched and do not push, and other kinks; for parameters that open
        a loop, or move a drive that moves at this time; for velocity constraints; for reactions that are not
        unique; and for unknown names. Unsupported for parameters on which other than numbers of the model
        depend.

        >>> spring = pendulum.add_force("spring", bc.TorsionSpring(100.0), "hinge")
        >>> found = bc.statics(pendulum).sensitivity(of="joint.hinge.theta_z", by="length")
        >>> print(found.array.round(6))    # rad/m: about -m g / (2 k), for a longer rod hangs lower
        [[-0.048874]]
        """
        found: StateDerivatives = views.rest_derivatives(self, of, by, states)
        return found

    def beam(self, name: str) -> BeamHistory:
        """Loads, stresses, deflections of a beam: results of one frame, as those of a run are.

        >>> mech = bc.Mechanism("boom")
        >>> bar = bc.Section.circle(0.02, E=210e9, nu=0.3, density=7850)
        >>> boom = mech.add_beam("boom", bar, start="ground", end=(2, 0, 0))
        >>> shear = bc.statics(mech).beam("boom").force(0.0)[0, 2]
        >>> print(f"{shear:.3f} N, by hand {-9.81 * 2 * bar.mass_per_length:.3f} N")
        -48.386 N, by hand -48.386 N
        """
        from bellcrank.trajectory.beams import beam_history

        known = {body: number for number, body in enumerate(self.at.bodies)}

        def poses(body: str) -> tuple[Floats, Floats]:
            return self.state.position[known[body]][None], self.state.rotation[known[body]][None]

        return beam_history(self.at, name, np.array([self.state.time]), poses)

    def flexible(self, name: str, solid: Any) -> SolidHistory:
        """Stresses inside a flexible solid: results of one frame, as those of a run are (`run.flexible`).

        Raises MechanismError for another solid than the mechanism's, or one without stresses.

        >>> mech, bar = pulled_bar
        >>> bc.statics(mech).flexible("bar", bar)
        <flexible solid 'bar': stresses at 138 nodes, 1 frames>
        """
        from bellcrank.trajectory.solids import solid_history

        def amplitude(joint: str) -> Floats:
            return np.asarray(self.position[joint], dtype=float)[:1]

        return solid_history(self.at, name, solid, np.array([self.state.time]), amplitude)

    def draw(self, path: str | Path | None = None, *, beams: str | None = None, **options: Any) -> Figure:
        """Draw the mechanism at rest, with joint forces on second bodies and the efforts that drives hold.

        path: file to write the picture into (PNG, PDF or SVG). beams: what beams are coloured by, as in
        `Trajectory.draw`. options: of `Mechanism.draw`.

        >>> figure = bc.statics(arm).draw("arm.png")
        >>> low, high = figure.axes[0].get_xlim()
        >>> print(2.0 < high - low < 6.0)    # m: the axes are lengths, and the arm is 2 m long
        True
        """
        from bellcrank.analysis.rest_picture import draw_rest

        return draw_rest(self, path, options, beams)

    def to_dict(self) -> dict[str, Any]:
        """The results as plain values, as `bellcrank statics --json` prints them.

        >>> values = bc.statics(arm).to_dict()
        >>> list(values["drives"])
        ['shoulder', 'elbow']
        """
        rest = self.equilibrium
        listed = {
            kind: {
                name: {"effort": e.effort if np.isscalar(e.effort) else np.asarray(e.effort).tolist(),
                       "units": list(e.units), "determined": e.unique}
                for name, e in getattr(self, kind).items()
            }
            for kind in ("drives", "limits", "constraints")
        }  # fmt: skip
        return {
            "mechanism": self.mechanism,
            "stability": rest.stability,
            "least_eigenvalue": rest.least_eigenvalue,
            "uncertainty": rest.uncertainty,
            "degrees_of_freedom": rest.degrees_of_freedom,
            "energy": rest.energy,
            "force_left": rest.force,
            "largest_force": rest.scale,
            "bodies": {
                name: {"position": p.tolist(), "rotation": q.tolist()}
                for name, p, q in zip(self.at.bodies, self.state.position, self.state.rotation, strict=True)
            },
            "position": {name: value.tolist() for name, value in self.position.items()},
            **listed,
            "joints": {
                name: {
                    "moment": r.moment.tolist(),
                    "force": r.force.tolist(),
                    "determined": r.reaction_unique,
                }
                for name, r in self.joints.items()
            },
            "forces": {name: dict(found) for name, found in self.forces.items()},
            "friction": {
                name: {
                    "effort": f.effort,
                    "limit": _finite(f.limit),
                    "unit": f.unit,
                    "utilisation": _finite(f.utilisation),
                    "determined": f.unique,
                }
                for name, f in self.friction.items()
            },
            "holds": self.holds,
            "slips": list(self.slips),
            "margin": _finite(self.margin),
            "load_margin": _finite(self.load_margin),
            "notes": list(rest.notes),
        }

    def __str__(self) -> str:
        rest = self.equilibrium
        where = "at rest, with friction that holds" if self.friction else "at rest"
        lines = [f"{self.mechanism!r} {where}: {rest.state_text}", f"  potential energy {rest.energy:.6g} J"]
        lines += self._friction_lines()
        efforts = [
            (f"{noun} {name}", _numbers(e.efforts, self._zero), " ".join(dict.fromkeys(e.units)), e.unique)
            for noun, found in (
                ("drive", self.drives),
                ("limit", self.limits),
                ("constraint", self.constraints),
            )
            for name, e in found.items()
        ]
        lines += _table("holds", efforts)
        pieces = {name for beam in self.at.beams.values() for name in beam.pieces}
        forces = [
            (f"force {name}", _numbers([value], self._zero), what, True)
            for name, found in self.forces.items()
            for what, value in found.items()
            if name not in self.friction and name not in pieces
        ]
        lines += _table("exerts", forces)
        lines += map(self._beam_line, self.at.beams)
        wide = max(map(len, self.joints), default=0)
        if self.joints:
            lines.append("  reactions on the second body, moment (N m) and force (N), world axes:")
        for name, reaction in self.joints.items():
            parts = f"{_numbers(reaction.moment, self._zero)}  {_numbers(reaction.force, self._zero)}"
            shared = "" if reaction.reaction_unique else "  shared with redundant constraints"
            lines.append(f"    {name:<{wide}} {parts}{shared}")
        return "\n".join([*lines, *(f"  note: {note}" for note in rest.notes)])

    def _beam_line(self, name: str) -> str:
        found = self.beam(name)
        force, moment = (np.linalg.norm(one, axis=-1).max() for one in (found.force(), found.moment()))
        line = f"  beam {name} carries up to {force:.5g} N and {moment:.5g} N m"
        try:
            return f"{line}, stressed up to {1e-6 * found.stress().max():.4g} MPa"
        except Unsupported:  # its sections have no sizes
            return line

    def _friction_lines(self) -> list[str]:
        if not self.friction:
            return []
        if self.holds:
            least = (
                f"{1.0 / self.margin:.4g} times as much would"
                if np.isfinite(self.margin)
                else "none is needed"
            )
            most = f"{self.load_margin:.4g} times the" if np.isfinite(self.load_margin) else "any"
            lines = [f"  friction holds it ({least}), and would under {most} load"]
        else:
            least = (
                f"{1.0 / self.margin:.4g} times as much"
                if self.margin > 0.0
                else "however much there were, none"
            )
            names = ", ".join(map(repr, self.slips))
            begins = "begins" if len(self.slips) == 1 else "begin"
            lines = [f"  friction does not hold it ({least} would): {names} {begins} to slip"]
        wide = max(map(len, self.friction))
        for name, f in self.friction.items():
            used = "" if np.isnan(f.utilisation) else f", {100.0 * f.utilisation:.3g} %"
            numbers = f"{_numbers([f.effort], self._zero)} {f.unit} of {f.limit:.5g}{used}"
            shared = "" if f.unique else "  one of many"
            lines.append(f"  friction {name:<{wide}} exerts {numbers}{shared}")
        return lines

    @property
    def _zero(self) -> float:
        return _NOTHING * self.equilibrium.scale


@answered
def statics(
    mechanism: Mechanism,
    time: float = 0.0,
    *,
    pinned: str | Body | Iterable[str | Body] = (),
    tolerance: float = 1e-12,
    iterations: int = 1000,
    leave_unstable: bool = True,
    friction: bool = True,
) -> Statics:
    """Find the static equilibrium of a mechanism, the efforts that drives must hold, and joint reactions.

    Drives are held where they are at `time`. Arguments and errors are those of `bc.find_equilibrium`; the
    mechanism itself is not changed.

    friction: dry friction that holds (`regularisation_velocity=None`, loads, clutches, transmissions with
        losses) keeps its coordinates where they are, and all else comes to rest about them; the result says
        whether it can, by what margin, and what each of them exerts. False: it is left out, and the
        mechanism goes where it would rest without.

    >>> rest = bc.statics(pendulum)
    >>> print(rest.joints["hinge"].force.round(6), rest.position["hinge"].round(6))    # N, rad: it hangs
    [0.   9.81 0.  ] [-1.570796]
    >>> print(f"{bc.statics(arm).drives['elbow'].effort:.4f} N m")    # m g L / 2
    4.9050 N m
    """
    with Check("statics") as check:
        tolerance = check.positive("tolerance", tolerance)
        iterations = check.integer("iterations", iterations, 1)
        leave_unstable = check.flag("leave_unstable", leave_unstable)
        friction = check.flag("friction", friction)
    twin = mechanism.copy() if isinstance(mechanism, Mechanism) else mechanism
    names = names_of(pinned)
    found = _found(twin, time, names, tolerance, iterations, leave_unstable, friction)
    model, _ = assembled(compile_mechanism(with_held(twin, names), time))
    rest = model.initial
    still = np.zeros_like(rest.velocity)
    at_rest = State(rest.time, rest.position, rest.rotation, still, still, rest.angles)
    held = standing_still(model)
    system = prepare(held, "lagrange")
    if friction and model.friction_rows:
        acting, rubbing = friction_at_rest(system, at_rest)
    else:
        acting, rubbing = system.accelerate(at_rest), FrictionAtRest({})
    values = model.coordinate_values(at_rest)
    return Statics(
        mechanism=model.name,
        equilibrium=found,
        state=at_rest,
        position=Named("joint", {j.name: values[list(j.coordinates)] for j in model.joints if j.coordinates}),
        drives=_efforts(model, acting, "drive"),
        joints=Named(
            "joint", {name: acting.joint(name) for name, _, _ in model.reactions if name in twin.joints}
        ),
        limits=_efforts(model, acting, "limit"),
        constraints=_efforts(model, acting, "constraint"),
        forces=_forces(held, system, rubbing),
        friction=rubbing.by_name,
        holds=not rubbing.slips and rubbing.margin >= 1.0 - _JUST,
        slips=rubbing.slips,
        margin=rubbing.margin,
        load_margin=rubbing.load_margin,
        pinned=names,
        at=twin,
    )


def _efforts(model: Model, acting: Accelerations, kind: str) -> Mapping[str, DriveEffort]:
    names = dict.fromkeys(m.element for m in model.multipliers if m.kind == kind)
    noun = "joint with limits" if kind == "limit" else kind
    return Named(noun, {name: getattr(acting, kind)(name) for name in names})


def _forces(model: Model, system: System, rubbing: FrictionAtRest) -> Mapping[str, ForceEfforts]:
    """Efforts by name of the force, and by the coordinate or component that they act along."""
    what = observation(model)
    frame = _core.observe(system.core, what.core)[0]
    values = frame[what.layout.columns["force_efforts"]]
    found: Named[ForceEfforts] = Named("force that exerts something")
    for name, places in what.layout.force_numbers.items():
        columns = what.layout.force_columns[places]
        held = rubbing.by_name.get(name)
        efforts = values[places].tolist() if held is None else [held.effort]
        pairs = zip(columns, efforts, strict=True)
        if columns:
            found[name] = ForceEfforts({f"{c.name} [{c.unit}]": value for c, value in pairs})
    return found


def _finite(value: float) -> float | None:
    return value if np.isfinite(value) else None


def _numbers(values: Any, zero: float) -> str:
    return " ".join(f"{0.0 if abs(v) <= zero else v:11.5g}" for v in np.ravel(values).tolist())


def _table(verb: str, rows: list[tuple[str, str, str, bool]]) -> list[str]:
    wide = max((len(name) for name, _, _, _ in rows), default=0)
    return [
        f"  {name:<{wide}} {verb} {numbers} {unit}"
        + ("" if unique else "  shared with redundant constraints")
        for name, numbers, unit, unique in rows
    ]
