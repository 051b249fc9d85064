"""Explanation of a run's failure: what happened where, the likely reason, and what to try."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bellcrank import _core
from bellcrank.compile.dependence import dead_points
from bellcrank.compile.formula_joints import poles_near
from bellcrank.compile.model import Model
from bellcrank.compile.undefined import forces_without_value, formulas_without_value, pole_text
from bellcrank.integrate.advance import Outcome
from bellcrank.integrate.methods import MethodOptions

_SINGULAR = (
    0.1  # part of its first value to which the smallest singular value falls near a singular configuration
)
_BESIDE = 1e-9  # of the time: largest distance between the failure of an adaptive method and its cause
_RANK = 1e-9  # singular values below this part of the largest are zero
_DENSE_ROWS = 600  # with more rows than this no dense matrix is formed


@dataclass(frozen=True)
class Explanation:
    """A message for the user; body and row by name if one is the cause."""

    message: str
    body: str | None = None
    row: str | None = None


def explain(model: Model, core: Any, options: MethodOptions, outcome: Outcome) -> Explanation:
    """The message about the end of a run, empty if it finished. `core` holds the last good state."""
    if outcome.status == "finished":
        return Explanation("")
    instant = f"t = {outcome.time:.6g} s"
    if outcome.status == "interrupted":
        return Explanation(f"interrupted at {instant}; what was computed up to there is kept")
    if outcome.tyre >= 0:
        return Explanation(
            f"force {model.contacts[outcome.tyre].name!r} has no value after {instant}: the "
            "tyre has come through an open mesh by more than its width, to its back, or past its end, where "
            "no depth is right; close the mesh (make it watertight), or extend it beyond where the tyre goes"
        )
    poles = _poles(model, core)
    if outcome.status == "constraints_lost":
        return _constraints_lost(model, core, options, outcome, poles)
    if outcome.status == "pole_reached":
        row = model.row_text(outcome.row)
        return Explanation(
            f"the motion comes to a pole at {instant}: {pole_text(model, outcome.row)}",
            None,
            row,
        )
    if outcome.status == "energy_made":
        return _energy_made(model, options, outcome)
    if outcome.status == "impulses_not_found":
        return _impulses_not_found(model, options, outcome)
    if outcome.status == "step_vanished" and not options.method.adaptive:
        return _no_step(model, core, options, outcome)
    body = model.bodies[outcome.body]
    if outcome.status == "not_finite":
        reason = (
            poles or _without_value(model, core, options, outcome.time) or _blow_up_reason(model, options)
        )
        return Explanation(
            f"the motion of body {body!r} is no longer a number after {instant}"
            f"{_speed_text(core, outcome.body)}; {reason}",
            body,
        )
    if reason := poles or _without_value(model, core, options, outcome.time) or _out_of_reach(model, core):
        return Explanation(f"the step size fell below what time can resolve at {instant}; {reason}", body)
    return Explanation(
        f"the step size fell below what time can resolve at {instant}, the error is largest around body "
        f"{body!r}; a force or drive there jumps, or the motion runs into a singularity; "
        "smooth the function, or use a fixed-step method such as method='rk4'",
        body,
    )


def _without_value(model: Model, core: Any, options: MethodOptions, time: float) -> str:
    """The message about forces without a value soon after the last good state; empty if there are none."""
    reach = _BESIDE * max(1.0, abs(time)) if options.method.adaptive else options.step
    steps = [0.0, 0.5 * reach, reach]
    functions = forces_without_value(model, [time + step for step in steps])
    return "; ".join([*functions, *formulas_without_value(model, core, steps)])


def _out_of_reach(model: Model, core: Any) -> str:
    """The message about drives whose values cannot be followed; empty if there are none."""
    if not model.drives or not _near_singular(model, core):
        return ""
    return (
        "the mechanism is at or near a singular configuration (a dead point, or links in line), and "
        f"{_asking(model)}; look at the drives at this time"
    )


def _asking(model: Model) -> str:
    names = ", ".join(repr(drive.name) for drive in model.drives[:4])
    return f"a drive ({names}) may ask for a position that cannot be reached"


def _poles(model: Model, core: Any) -> str:
    """The message about joints given by formulas that are near a pole; empty if there are none."""
    if not any(record.category == "joint" for record in model.custom):
        return ""
    values = core.coordinates()[0]
    found = poles_near(model, values) if np.isfinite(values).all() else []
    advice = "there its coordinates have no rates; describe it by others, or start so that it keeps away"
    return f"{'; '.join(found)}: {advice}" if found else ""


def _constraints_lost(
    model: Model, core: Any, options: MethodOptions, outcome: Outcome, poles: str
) -> Explanation:
    row = model.row_text(outcome.row)
    reasons, advice = [poles] if poles else [], []
    if dead := dead_points(model, model.initial):
        reasons.append(f"where it started {dead}")
    elif _near_singular(model, core):
        reasons.append(
            "the mechanism is at or near a singular configuration (a dead point, or links in line)"
        )
    if model.drives:
        reasons.append(_asking(model))
        advice.append("look at the drives at this time")
    if not options.method.adaptive:
        reasons.append(f"the step of {options.step:g} s may be too long for this motion")
        advice.append("try a shorter step, or method='dopri5'")
    if not reasons:
        reasons.append("the motion may have run into the end of what the linkage can reach")
        advice.append("look at the configuration in error.trajectory")
    return Explanation(
        f"the constraints could no longer be met at t = {outcome.time:.6g} s: {row} cannot be closed; "
        f"likely reason: {'; or '.join(reasons)}; {', '.join(advice) or 'look at error.trajectory'}",
        None,
        row,
    )


def _energy_made(model: Model, options: MethodOptions, outcome: Outcome) -> Explanation:
    body, forces = model.bodies[outcome.body], acting_on(model, outcome.body)
    reason = _blow_up_reason(model, options, forces)
    if model.drives:
        reason += f"; or {_asking(model)}"
    return Explanation(
        f"the energy rises without a source in the step after t = {outcome.time:.6g} s, from "
        f"{outcome.energy_before:.4g} J to {outcome.energy_after:.4g} J, most of all around body {body!r}; "
        f"shorter steps would not gain it; {reason}",
        body,
    )


def _impulses_not_found(model: Model, options: MethodOptions, outcome: Outcome) -> Explanation:
    names = [*model.bodies, "ground"]
    one, two = outcome.between
    where = (
        f"in the contact of {names[one]!r} and {names[two]!r}" if one >= 0 else model.row_text(outcome.row)
    )
    return Explanation(
        f"the impulses of the step after t = {outcome.time:.6g} s were not found: a residual of "
        f"{outcome.residual:.1e} is left, most of all {where}; "
        f"take a shorter step than {options.step:g} s, or allow it with "
        f"tolerance={2.0 * outcome.residual:.0e}"
    )


def _no_step(model: Model, core: Any, options: MethodOptions, outcome: Outcome) -> Explanation:
    """The message if no step makes progress: because time, or the bodies, stand still."""
    at, spin = f"at t = {outcome.time:.6g} s", np.abs(core.state()[4]).max(axis=1, initial=0.0)
    if spin.max(initial=0.0) * options.step > 1.0:
        body = int(np.argmax(spin))
        return Explanation(
            f"no step follows the motion {at}: body {model.bodies[body]!r} turns at {spin[body]:.3g} rad/s, "
            f"and time has no part short enough; {_blow_up_reason(model, options, acting_on(model, body))}",
            model.bodies[body],
        )
    return Explanation(
        f"a step of {options.step:g} s changes nothing {at}, though bodies move: positions and times have "
        "16 digits; use a longer step, or describe the mechanism nearer to the origin and to t = 0"
    )


def acting_on(model: Model, body: int) -> list[str]:
    """The names of the forces given by laws that act on a body."""
    along, pairs = model.arrays["law_coordinate"], model.coordinate_bodies
    return [force.name for force in model.forces if any(body in pairs[along[law]] for law in force.laws)]


def _near_singular(model: Model, core: Any) -> bool:
    """Whether the rows that were independent at the start have come close to losing rank."""
    if not 0 < model.row_count <= _DENSE_ROWS:
        return False
    first = _core.Bodies(model.core)
    first.set_state(*model.initial.arrays)
    values = [np.linalg.svd(system.rows()[3][model.rigid_rows], compute_uv=False) for system in (first, core)]
    rank = int(np.count_nonzero(values[0] > _RANK * values[0][0]))
    return bool(values[1][rank - 1] < _SINGULAR * values[0][rank - 1])


def _speed_text(core: Any, body: int) -> str:
    _, _, _, velocity, spin = core.state()
    fastest = max(abs(velocity[body]).max(), abs(spin[body]).max())
    return f" (it last moved at {fastest:.3g} m/s or rad/s)" if fastest < float("inf") else ""


def _blow_up_reason(model: Model, options: MethodOptions, forces: Sequence[str] = ()) -> str:
    stiff = "stiff springs or dampers" if len(model.arrays["law_kind"]) else "fast motion"
    if forces:
        stiff += f" ({', '.join(map(repr, forces[:4]))})"
    joints = [str(record) for record in model.custom if record.category == "joint"]
    if joints:
        stiff += f", or {' or '.join(joints[:3])} ran into a pole or a cusp of its formulas"
    if options.method.adaptive:
        return f"a force grows without bound, from a function or {stiff}; check the functions of forces there"
    return (
        f"the step of {options.step:g} s is likely too long for {stiff}; "
        "use a shorter step, or method='dopri5', which chooses its steps; for stiff forces method='bdf'"
    )
