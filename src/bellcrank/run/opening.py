"""How a run is started: assembled, set to a state, or closed by constraint forces during the run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from bellcrank import _core
from bellcrank.compile.contacts import refuse_deep_starts, refuse_resistances, refuse_tyres
from bellcrank.compile.initial import PLACE_IT, assembled, misfit, refuse_misfits
from bellcrank.compile.model import Model
from bellcrank.compile.report import AssemblyReport
from bellcrank.compile.start_values import refuse_driven_elsewhere
from bellcrank.compile.state import Floats, State, adopted
from bellcrank.compile.undefined import Regularity
from bellcrank.errors import AssemblyError, Fault, MechanismError, Unsupported
from bellcrank.formulations.preparing import prepare
from bellcrank.formulations.system import ASSEMBLE, System, fastest
from bellcrank.integrate.advance import Outcome
from bellcrank.integrate.closing import Closing, closing
from bellcrank.integrate.methods import Method
from bellcrank.mechanism.checking import Check
from bellcrank.run.plan import Plan
from bellcrank.trajectory.observation import Observation
from bellcrank.trajectory.store import points_of

PROJECTION: Final = "projection"
"""As `assemble`: the start, also a given state, is only projected, from wherever it has the bodies."""
_NEAR: Final = 1e-7  # m or rad, relative in rates: a run's states are that near to the constraints
_MOVED: Final = 1e-4  # m or rad: a state that is written down with few digits may be moved by as much
_ELSE: Final = (
    "leave out state= (bc.assemble(mech) poses the description), or let the bodies be moved there: "
    f"assemble={PROJECTION!r}"
)
_STARTS: Final = "the simulation cannot start"
_BY_IMPULSES: Final = ("lagrange", "recursive")
"""Formulations that step by impulses; "auto" takes the first."""


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


def refuse_ledger(method: Method, assemble: bool | str) -> None:
    """Raise Unsupported or MechanismError for runs in which work cannot be summed."""
    if method.by_impulses:
        raise Unsupported(
            f"method {method.name!r} steps by impulses, whose work ledger=True cannot add up: "
            "its statistics have lost_to_impacts and lost_to_friction"
        )
    if isinstance(assemble, str):
        with Check("simulate") as check:
            rule = "a ledger begins where the mechanism is closed"
            check.fault(rule, assemble, "assemble first (bc.assemble), or leave out ledger=True")


def check_closed(motion: Closing, end: float) -> None:
    """Raise MechanismError unless the motion is over before an end, s."""
    if not end > motion.end:
        with Check("simulate") as check:
            rule = f"constraint forces take {motion.end - motion.begin:.3g} s to close the mechanism"
            check.fault(rule, end, "let the run last longer")


def regularity(model: Model, what: Observation) -> Regularity:
    """The monitor of joints whose formulas become singular."""
    first = what.layout.columns["coordinates"].start
    listed = dict.fromkeys(index for joint in model.joints for index in joint.coordinates)
    inputs = what.layout.columns["inputs"]
    places = {c: first + place for place, c in enumerate(listed)}
    return Regularity(model, places, range(inputs.start, inputs.stop))


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
    if not plan.method.method.by_impulses:
        refuse_resistances(model, f"method {plan.method.method.name!r}")
        return prepare(model, plan.formulation, **plan.options)
    method = plan.method.method.name
    name = _BY_IMPULSES[0] if plan.formulation == "auto" else plan.formulation
    if name not in _BY_IMPULSES:
        raise Unsupported(
            f"method {method!r} steps by impulses, which formulation {name!r} does not; "
            f"use one of {', '.join(_BY_IMPULSES)}"
        )
    refuse_tyres(model, f"method {method!r}")
    system = prepare(model, name, **plan.options)
    if plan.formulation == "auto":
        system.reason = f"{name}: method {method!r} steps by impulses"
    return system


def set_start(system: System, state: State | None, steer: Callable[[], None], moves: bool = False) -> None:
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


def _bring(system: System, state: State) -> None:
    """Take a system to a state that need not satisfy its constraints: by the least impulses, in bodies.

    Coordinates of joints leave out what the joints do not allow, whatever has mass.
    """
    model = system.model
    if _same(adopted(model, state), system.state()):
        return
    moved = model.put(_core.Closing(model.core), state)
    moved.project()
    error, rate = moved.violation()
    reached = model.state_of(moved)
    if error <= _NEAR and rate <= _NEAR * (1.0 + fastest(reached)):
        system.set_state(reached)


def _refuse_moved(system: System, given: State) -> None:
    """Raise AssemblyError where bodies were moved onto a stop or rope that they are beyond at the state."""
    at, model = system.state(), system.model
    turned = 2.0 * np.sqrt(np.maximum(0.0, 1.0 - np.abs(np.sum(given.rotation * at.rotation, axis=1))))
    if max(np.max(np.abs(at.position - given.position), initial=0.0), np.max(turned, initial=0.0)) <= _MOVED:
        return
    bodies = _core.Bodies(model.core)
    bodies.set_state(*given.arrays)
    one_sided = model.arrays["block_unilateral"][model.row_block] != 0
    errors = np.array(bodies.rows()[0])
    errors = np.where(one_sided, np.minimum(errors, 0.0), 0.0)
    if np.max(np.abs(errors), initial=0.0) <= _MOVED:
        return
    raise misfit(model, errors, _STARTS, f"{PLACE_IT}; or {_ELSE}")


def _same(one: State, other: State) -> bool:
    """Whether bodies are at the same place and move alike, but for rounding."""
    turned = np.abs(np.sum(one.rotation * other.rotation, axis=1))
    speed = 1.0 + fastest(one)
    return bool(
        np.allclose(one.position, other.position, rtol=_NEAR, atol=_NEAR)
        and (turned > 1.0 - _NEAR**2).all()
        and np.allclose(one.velocity, other.velocity, rtol=0.0, atol=_NEAR * speed)
        and np.allclose(one.angular_velocity, other.angular_velocity, rtol=0.0, atol=_NEAR * speed)
    )


def refuse_after_end(time: float, going: bool, ended: bool) -> None:
    """Raise MechanismError if the run has ended, at a time, s, or is in progress."""
    if going:
        advice = "a controller returns what it sets; all else is for the time after run.advance"
        raise MechanismError(Fault("run", "it is on its way", None, advice))
    if ended:
        advice = "start another one: bc.start(..., state=run.state)"
        raise MechanismError(Fault("run", f"it has ended at t = {time:g} s", None, advice))


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
