"""How a run is started: assembled, set to a state, or closed by constraint forces during the run.

Constraint forces make the constraint errors decay, critically damped: P. Schröder, The Virtual Erector Set
(1990), chapter 5.2.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from bellcrank import _core
from bellcrank.compile.compile import compile_mechanism
from bellcrank.compile.contacts import refuse_deep_starts, refuse_resistances, refuse_tyres
from bellcrank.compile.initial import PLACE_IT, asked, assembled, misfit, pulled_to, refuse_misfits
from bellcrank.compile.model import Model
from bellcrank.compile.positions import Found
from bellcrank.compile.report import AssemblyReport
from bellcrank.compile.standing import Standing
from bellcrank.compile.start_values import refuse_driven_elsewhere
from bellcrank.compile.state import Floats, State, adopted
from bellcrank.errors import AssemblyError, Fault, MechanismError, Unsupported
from bellcrank.formulations.preparing import prepare
from bellcrank.formulations.system import ASSEMBLE, System, fastest
from bellcrank.mechanism.checking import Check
from bellcrank.mechanism.collisions import refuse_left_out
from bellcrank.mechanism.mechanism import Mechanism
from bellcrank.run.advance import Outcome, advance
from bellcrank.run.plan import Method, Plan, method_options
from bellcrank.trajectory.observation import Observation
from bellcrank.trajectory.store import points_of

PROJECTION: Final = "projection"
"""As `assemble`: the start, also a given state, is only projected, from wherever it has the bodies."""

TIME_CONSTANT: Final = 0.1
"""Of the errors that constraint forces take away, s, unless it is given."""

_NEAR: Final = 1e-7  # m or rad, relative in rates: a run's states are that near to the constraints
_MOVED: Final = 1e-4  # m or rad: a state that is written down with few digits may be moved by as much
_CLOSED: Final = 1e-9  # largest error after a motion that closes a mechanism, m or rad/2
_HEAVY: Final = 1e6  # masses of bodies that are to stay in it, times their own
_ELSE: Final = (
    "leave out state= (bc.assemble(mech) poses the description), or let the bodies be moved there: "
    f"assemble={PROJECTION!r}"
)
_STARTS: Final = "the simulation cannot start"
_BY_IMPULSES: Final = ("lagrange", "recursive")
"""Formulations that step by impulses; "auto" takes the first."""


def described(mechanism: Mechanism | Model, start: float, left_out: str, state: State | None = None) -> Model:
    """The model in its initial configuration at a time, s.

    state: that the run goes on from, which says what is in force in a mechanism that changes.

    Raises MechanismError for a mechanism without what moves or weighs in its file, unless that is allowed.
    """
    if isinstance(mechanism, Mechanism):
        refuse_left_out(mechanism, left_out)
    given = mechanism.source if isinstance(mechanism, Model) else mechanism
    values = None if state is None or state.source is None else state.source.values
    standing = None if given is None or not given.changes or values is None else Standing.of(values)
    if isinstance(mechanism, Model) and standing in (None, mechanism.standing):
        model = mechanism
    else:
        source: Any = mechanism if given is None else given  # what is no mechanism is refused there
        model = compile_mechanism(source, start, standing)
    if model.initial.time != start:
        model = model.starting(model.initial.at_time(start), model.given)
    return model


def assembled_for(model: Model, state: State | None) -> tuple[Model, AssemblyReport | None]:
    """The model assembled, for what it takes from its initial configuration, and the report.

    A run that goes on from a state needs none of that if the state comes with it: elements that hold where
    the state is need not hold where the bodies are described.
    """
    try:
        return assembled(model)
    except AssemblyError:
        if state is None or state.source is None or state.source.values is None:
            raise
        return model, None


def prepared(model: Model, plan: Plan) -> System:
    """The model in the formulation of a run."""
    method, name = plan.method.method, plan.formulation
    if not method.by_impulses:
        refuse_resistances(model, f"method {method.name!r}")
        return prepare(model, name, **plan.options)
    name = _BY_IMPULSES[0] if name == "auto" else name
    if name not in _BY_IMPULSES:
        raise Unsupported(
            f"method {method.name!r} steps by impulses, which formulation {name!r} does not; "
            f"use one of {', '.join(_BY_IMPULSES)}"
        )
    refuse_tyres(model, f"method {method.name!r}")
    system = prepare(model, name, **plan.options)
    if plan.formulation == "auto":
        system.reason = f"{name}: method {method.name!r} steps by impulses"
    return system


def refuse_ledger(method: Method, assemble: bool | str) -> None:
    """Raise Unsupported or MechanismError for runs in which work cannot be summed."""
    if method.by_impulses:
        raise Unsupported(
            f"method {method.name!r} steps by impulses, whose work ledger=True cannot add up: "
            "its statistics have lost_to_impacts and lost_to_friction"
        )
    if isinstance(assemble, str):
        advice = "assemble first (bc.assemble), or leave out ledger=True"
        rule = "a ledger begins where the mechanism is closed"
        raise MechanismError(Fault("simulate", rule, assemble, advice))


def set_start(system: System, state: State | None, steer: Callable[[], None], moves: bool) -> None:
    """Go to the start, which must satisfy the constraints to this formulation's own tolerance.

    steer: sets the inputs there. moves: whether a given state may be moved to satisfy them.
    """
    if state is not None:
        if not moves:
            allowed = system.options.get("position_tolerance", 0.0)
            refuse_misfits(system.model, state, _STARTS, _ELSE, allowed)
        system.set_state(state)
    steer()
    if state is not None:
        _bring(system, state)
    try:
        system.project(advice=ASSEMBLE if state is None else PLACE_IT)
    except AssemblyError as error:
        raise AssemblyError(f"{_STARTS}: {error}", error.violations) from None
    if state is not None and not moves:
        _refuse_moved(system, adopted(system.model, state))
    if system.model.contacts and state is None:
        refuse_deep_starts(system.model, points_of(system.core.contacts()))


def go_on(system: System, state: State, inputs: Mapping[str, float], steer: Callable[[], None]) -> None:
    """Take a system to where another mechanism has come, by the least impulses.

    inputs: their values. steer: sets them.
    """
    system.set_state(state)
    steer()
    _bring(system, state, inputs)
    system.project()


def move(system: System, state: State, time: float) -> None:
    """Take a system to a state on the constraints, or leave it unchanged and raise an error.

    time: the current time of the run, s; the state must not be earlier.
    """
    if isinstance(state, State) and state.time < time:
        advice = "start another run from it, bc.start(..., state=state), or use state.at_time(run.time)"
        raise MechanismError(Fault("state", f"the run is at t = {time:g} s", state.time, advice))
    before = system.state()
    try:
        refuse_driven_elsewhere(system.model, state)
        system.set_state(state)
        _bring(system, state)
        system.project()
    except Exception:
        system.set_state(before)
        raise


def _bring(system: System, state: State, inputs: Mapping[str, float] | None = None) -> None:
    """Take a system to a state that need not satisfy its constraints: by the least impulses, in bodies.

    Coordinates of joints leave out what the joints do not allow, whatever has mass.
    """
    model = system.model
    if _same(adopted(model, state), system.state()):
        return
    moved = model.put(_core.Closing(model.core), state)
    if inputs:
        moved.set_inputs(model.core, list(inputs.values()))
    moved.project()
    error, rate = moved.violation()
    reached = model.state_of(moved)
    if error <= _NEAR and rate <= _NEAR * (1.0 + fastest(reached)):
        system.set_state(reached)


def _same(one: State, other: State) -> bool:
    """Whether bodies are at the same place and move alike, but for rounding."""
    turned = np.abs(np.sum(one.rotation * other.rotation, axis=1))
    slow = _NEAR * (1.0 + fastest(one))
    return bool(
        np.allclose(one.position, other.position, rtol=_NEAR, atol=_NEAR)
        and (turned > 1.0 - _NEAR**2).all()
        and np.allclose(one.velocity, other.velocity, rtol=0.0, atol=slow)
        and np.allclose(one.angular_velocity, other.angular_velocity, rtol=0.0, atol=slow)
    )


def _refuse_moved(system: System, given: State) -> None:
    """Raise AssemblyError where bodies were moved onto a stop or rope that they are beyond at the state."""
    at, model = system.state(), system.model
    turned = 2.0 * np.sqrt(np.maximum(0.0, 1.0 - np.abs(np.sum(given.rotation * at.rotation, axis=1))))
    if max(np.max(np.abs(at.position - given.position), initial=0.0), np.max(turned, initial=0.0)) <= _MOVED:
        return
    bodies = _core.Bodies(model.core)
    bodies.set_state(*given.arrays)
    one_sided = model.arrays["block_unilateral"][model.row_block] != 0
    errors = np.where(one_sided, np.minimum(bodies.rows()[0], 0.0), 0.0)
    if np.max(np.abs(errors), initial=0.0) > _MOVED:
        raise misfit(model, errors, _STARTS, f"{PLACE_IT}; or {_ELSE}")


@dataclass(frozen=True, eq=False)
class Closing:
    """A motion that closes a mechanism by constraint forces.

    asked: the model with all rows to be satisfied, including given positions of joints.
    pinned: indices of bodies that stay.
    begin, end: s; at the end only rounding errors are left, if the rows can be satisfied.
    time_constant: s. released: whether velocities and applied forces are those of the model.
    core: the system, for `advance`.
    """

    asked: Model
    pinned: Sequence[int]
    begin: float
    end: float
    time_constant: float
    released: bool
    core: _core.ConstraintForces

    def advance(
        self,
        times: Floats,
        observed: _core.Observation,
        on_block: Callable[[Floats], None],
        on_progress: Callable[[float], None],
    ) -> Outcome:
        """Advance through the times, the first of which is the beginning."""
        method = method_options("dopri5", self.end - self.begin, rtol=1e-7, atol=1e-9)
        return advance(self.core, method, times, observed, on_block, on_progress)

    def found(self) -> Found:
        """The final configuration, with the remaining errors removed."""
        reached, start, fixed = State(*self.core.state()), self.asked.initial, list(self.pinned)
        position, rotation = reached.position.copy(), reached.rotation.copy()
        position[fixed], rotation[fixed] = start.position[fixed], start.rotation[fixed]
        reached = replace(reached, position=position, rotation=rotation)
        if not self.released:
            reached = replace(
                reached, time=start.time, velocity=start.velocity, angular_velocity=start.angular_velocity
            )
        found = pulled_to(self.asked, reached, fixed)
        return replace(found, method="constraint forces", steps=self.core.counts()[0], restarts=0)


def closing(
    model: Model, time_constant: float = TIME_CONSTANT, pinned: Sequence[int] = (), released: bool = False
) -> Closing:
    """The motion that closes a model from its initial state.

    time_constant: τ of  C'' + 2/τ C' + C/τ² = 0, s. pinned: indices of bodies that stay.
    released: velocities and applied forces are those of the model, and time advances; else the bodies start
        at rest, only the constraints and a drag act on them, and drives are held.
    """
    whole = asked(model)
    start, held = whole.initial, whole
    if not released:
        still = np.zeros_like(start.velocity)
        start = replace(start, velocity=still, angular_velocity=still)
    if pinned:  # so heavy that constraints hardly move them
        mass, inertia = whole.mass.copy(), whole.inertia.copy()
        mass[list(pinned)] *= _HEAVY
        inertia[list(pinned)] *= _HEAVY
        held = whole.with_arrays(body_mass=mass, body_inertia=inertia)
    core = _core.ConstraintForces(held.core, time_constant, released, start.time)
    core.set_state(*start.arrays)
    error, rate = core.violation()
    lasts = time_constant * _constants(error, rate * time_constant)
    return Closing(whole, pinned, start.time, start.time + lasts, time_constant, released, core)


def _constants(error: float, rate: float) -> float:
    """The number s of time constants after which  (C + (C' τ + C) s) exp(-s)  counts as closed."""
    s = 1.0
    for _ in range(60):  # converges like exp(-s): a few iterations are enough
        s = max(1.0, float(np.log(max(error + (rate + error) * s, 1e-300) / _CLOSED)))
    return s


def opening_motion(model: Model, assemble: str, state: State | None, end: float | None) -> Closing:
    """The motion that closes the mechanism before it is simulated. end: of the run, s, if it is known."""
    with Check("simulate") as check:
        if not isinstance(assemble, str) or assemble != "constraint_forces":
            rule = f"assemble must be True, False, {PROJECTION!r} or 'constraint_forces'"
            check.fault(rule, assemble)
        elif state is not None:
            check.fault("a state to go on from is not assembled", None, "leave out state or assemble=")
    motion = closing(model, released=True)
    if end is not None:
        check_closed(motion, end)
    return motion


def check_closed(motion: Closing, end: float) -> None:
    """Raise MechanismError unless the motion is over before an end, s."""
    if not end > motion.end:
        rule = f"constraint forces take {motion.end - motion.begin:.3g} s to close the mechanism"
        raise MechanismError(Fault("simulate", rule, end, "let the run last longer"))


def close_on_the_way(
    motion: Closing,
    times: list[float],
    what: Observation,
    record: Callable[[Floats], None],
    progress: Callable[[float], None],
) -> Outcome:
    """Run through the motion, and record the frames at the requested times, s."""
    inside = [t for t in times if motion.begin < t < motion.end]
    first = min(times[0], motion.end)
    return motion.advance(
        np.array([motion.begin, *inside, motion.end]),
        what.core,
        lambda f: record(f[(f[:, 0] >= first) & (f[:, 0] < motion.end)]),
        progress,
    )
