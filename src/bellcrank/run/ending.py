"""Where and why a run ended, or does not get on, in words; what happened in it, and what was counted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from bellcrank import _core
from bellcrank.accuracy import Accuracy
from bellcrank.compile.contacts import holding
from bellcrank.compile.dependence import dead_points
from bellcrank.compile.formula_joints import poles_near
from bellcrank.compile.level import held_level
from bellcrank.compile.model import Model
from bellcrank.compile.report import limit_of_digits
from bellcrank.compile.state import State
from bellcrank.compile.stray_axes import stray_axes
from bellcrank.compile.undefined import forces_without_value, formulas_without_value, pole_text
from bellcrank.formulations.system import System
from bellcrank.run.advance import Outcome
from bellcrank.run.events import NOTHING, CompiledEvents
from bellcrank.run.plan import DEFAULT_STEP, MethodOptions

_SINGULAR: Final = (
    0.1  # part of its first value to which the smallest singular value falls near a singularity
)
_BESIDE: Final = 1e-9  # of the time: largest distance between the failure of an adaptive method and its cause
_RANK: Final = 1e-9  # singular values below this part of the largest are zero
_DENSE_ROWS: Final = 600  # with more rows than this no dense matrix is formed
_NAMED: Final = 4  # forces, drives
_STILL: Final = 1e-9  # m, m/s, rad/s: what moves less has not moved
_CUTS: Final = 50  # joints that a run lists by name
_AT_SINGULARITY: Final = (
    "the mechanism is at or near a singular configuration (a dead point, or links in line)"
)


@dataclass(frozen=True)
class Explanation:
    """A message for the user; body and row by name if one is the cause."""

    message: str
    body: str | None = None
    row: str | None = None


def explain(model: Model, core: Any, options: MethodOptions, outcome: Outcome) -> Explanation:
    """The message about the end of a run. `core` holds the last good state.

    That of a run that finished is empty, unless nothing could move since an axis points the wrong way.
    """
    if outcome.status == "finished":
        return Explanation(_stuck(model, core))
    if outcome.status == "interrupted":
        return Explanation(f"interrupted at t = {outcome.time:.6g} s; what was computed up to there is kept")
    return _Failure(model, core, options, outcome).explained()


def _stuck(model: Model, core: Any) -> str:
    """Why nothing moved that was not driven, if the axes of joints are the reason; else empty."""
    if model.drives or len(model.bodies) == 0:
        return ""
    start, end = model.initial, State(*core.state())
    still = np.abs(end.velocity).max() + np.abs(end.angular_velocity).max() < _STILL
    if not still or np.abs(end.position - start.position).max() > _STILL:
        return ""
    if stray := stray_axes(model, start):
        return f"nothing could move: {stray}"
    level = held_level(model, start)
    return f"nothing moved: {level}" if level else ""


def acting_on(model: Model, body: int) -> list[str]:
    """The names of the forces given by laws that act on a body."""
    along, pairs = model.arrays["law_coordinate"], model.coordinate_bodies
    return [force.name for force in model.forces if any(body in pairs[along[law]] for law in force.laws)]


class _Failure:
    """A run that failed. core: the system, in the last good state."""

    def __init__(self, model: Model, core: Any, options: MethodOptions, outcome: Outcome) -> None:
        self._model, self._core, self._options, self._outcome = model, core, options, outcome
        self._at = f"t = {outcome.time:.6g} s"

    def explained(self) -> Explanation:
        model, outcome, at = self._model, self._outcome, self._at
        if outcome.tyre >= 0:
            return Explanation(
                f"force {model.contacts[outcome.tyre].name!r} has no value after {at}: the tyre has come "
                "through an open mesh by more than its width, to its back, or past its end, where no depth "
                "is right; close the mesh (make it watertight), or extend it beyond where the tyre goes"
            )
        if outcome.status == "constraints_lost":
            return self._constraints_lost()
        if outcome.status == "pole_reached":
            pole = f"the motion comes to a pole at {at}: {pole_text(model, outcome.row)}"
            return Explanation(pole, None, model.row_text(outcome.row))
        if outcome.status == "energy_made":
            return self._energy_made()
        if outcome.status == "impulses_not_found":
            return self._impulses_not_found()
        if outcome.status == "friction_jams":
            name = next(force.name for force in model.forces if outcome.friction_law in force.laws)
            return Explanation(
                f"friction of {name!r} jams at {at}: it grows faster than what it resists, no acceleration "
                f"satisfies its law; one would up to {outcome.friction_part:.3g} of its coefficient"
            )
        if outcome.status == "friction_not_found":
            found = ", ".join(map(repr, holding(model)))
            return Explanation(
                f"which friction holds and which slips at {at} was not found: no state of {found} agrees "
                "with the accelerations; give them a regularisation_velocity"
            )
        if outcome.status == "step_vanished" and not self._options.method.adaptive:
            return self._no_step()
        body, reason = model.bodies[outcome.body], self._poles() or self._without_value()
        if outcome.status == "not_finite":
            return Explanation(
                f"the motion of body {body!r} is no longer a number after {at}{self._last_speed()}; "
                f"{reason or self._blow_up()}",
                body,
            )
        vanished = f"the step size fell below what time can resolve at {at}"
        if reason := reason or self._out_of_reach():
            return Explanation(f"{vanished}; {reason}", body)
        return Explanation(
            f"{vanished}, the error is largest around body "
            f"{body!r}; a force or drive there jumps, or the motion runs into a singularity; "
            "smooth the function, or use a fixed-step method such as method='rk4'",
            body,
        )

    def _constraints_lost(self) -> Explanation:
        model = self._model
        row, poles = model.row_text(self._outcome.row), self._poles()
        reasons, advice = [poles] if poles else [], []
        if dead := dead_points(model, model.initial):
            reasons.append(f"where it started {dead}")
        elif self._near_singular():
            reasons.append(_AT_SINGULARITY)
        if model.drives:
            reasons.append(self._asking())
            advice.append("look at the drives at this time")
        if not self._options.method.adaptive:
            reasons.append(f"the step of {self._options.step:g} s may be too long for this motion")
            advice.append("try a shorter step, or method='dopri5'")
        if not reasons:
            reasons.append("the motion may have run into the end of what the linkage can reach")
            advice.append("look at the configuration in error.trajectory")
        return Explanation(
            f"the constraints could no longer be met at {self._at}: {row} cannot be closed; "
            f"likely reason: {'; or '.join(reasons)}; {', '.join(advice) or 'look at error.trajectory'}",
            None,
            row,
        )

    def _energy_made(self) -> Explanation:
        outcome, body = self._outcome, self._model.bodies[self._outcome.body]
        reason = self._blow_up(acting_on(self._model, outcome.body))
        if self._model.drives:
            reason += f"; or {self._asking()}"
        return Explanation(
            f"the energy rises without a source in the step after {self._at}, from "
            f"{outcome.energy_before:.4g} J to {outcome.energy_after:.4g} J, most of all around body "
            f"{body!r}; shorter steps would not gain it; {reason}",
            body,
        )

    def _impulses_not_found(self) -> Explanation:
        outcome, names = self._outcome, [*self._model.bodies, "ground"]
        one, two = outcome.between
        row = "" if one >= 0 else self._model.row_text(outcome.row)
        where = row or f"in the contact of {names[one]!r} and {names[two]!r}"
        return Explanation(
            f"the impulses of the step after {self._at} were not found: a residual of "
            f"{outcome.residual:.1e} is left, most of all {where}; "
            f"take a shorter step than {self._options.step:g} s, or allow it with "
            f"tolerance={2.0 * outcome.residual:.0e}"
        )

    def _no_step(self) -> Explanation:
        """Why no step makes progress: time, or the bodies, stand still."""
        step, spin = self._options.step, np.abs(self._core.state()[4]).max(axis=1, initial=0.0)
        if spin.max(initial=0.0) * step > 1.0:
            number = int(np.argmax(spin))
            body, reason = self._model.bodies[number], self._blow_up(acting_on(self._model, number))
            return Explanation(
                f"no step follows the motion at {self._at}: body {body!r} turns at {spin[number]:.3g} rad/s, "
                f"and time has no part short enough; {reason}",
                body,
            )
        return Explanation(
            f"a step of {step:g} s changes nothing at {self._at}, though bodies move: positions and times "
            "have 16 digits; use a longer step, or describe the mechanism nearer to the origin and to t = 0"
        )

    def _poles(self) -> str:
        """The message about joints given by formulas that are near a pole; empty if there are none."""
        if not any(record.category == "joint" for record in self._model.custom):
            return ""
        values = self._core.coordinates()[0]
        found = poles_near(self._model, values) if np.isfinite(values).all() else []
        advice = "there its coordinates have no rates; describe it by others, or start so that it keeps away"
        return f"{'; '.join(found)}: {advice}" if found else ""

    def _without_value(self) -> str:
        """The message about forces without a value soon after the last good state; empty if there is none."""
        options, time = self._options, self._outcome.time
        reach = _BESIDE * max(1.0, abs(time)) if options.method.adaptive else options.step
        steps = [0.0, 0.5 * reach, reach]
        functions = forces_without_value(self._model, [time + step for step in steps])
        return "; ".join([*functions, *formulas_without_value(self._model, self._core, steps)])

    def _out_of_reach(self) -> str:
        """The message about drives whose values cannot be followed; empty if there are none."""
        if not self._model.drives or not self._near_singular():
            return ""
        return f"{_AT_SINGULARITY}, and {self._asking()}; look at the drives at this time"

    def _asking(self) -> str:
        names = ", ".join(repr(drive.name) for drive in self._model.drives[:_NAMED])
        return f"a drive ({names}) may ask for a position that cannot be reached"

    def _near_singular(self) -> bool:
        """Whether the rows that were independent at the start have come close to losing rank."""
        model = self._model
        if not 0 < model.row_count <= _DENSE_ROWS:
            return False
        first = _core.Bodies(model.core)
        first.set_state(*model.initial.arrays)
        matrices = [system.rows()[3][model.rigid_rows] for system in (first, self._core)]
        start, now = (np.linalg.svd(matrix, compute_uv=False) for matrix in matrices)
        rank = int(np.count_nonzero(start > _RANK * start[0]))
        return bool(now[rank - 1] < _SINGULAR * start[rank - 1])

    def _last_speed(self) -> str:
        _, _, _, velocity, spin = self._core.state()
        fastest = max(abs(part[self._outcome.body]).max() for part in (velocity, spin))
        return f" (it last moved at {fastest:.3g} m/s or rad/s)" if fastest < float("inf") else ""

    def _blow_up(self, forces: Sequence[str] = ()) -> str:
        stiff = "stiff springs or dampers" if len(self._model.arrays["law_kind"]) else "fast motion"
        if forces:
            stiff += f" ({', '.join(map(repr, forces[:_NAMED]))})"
        joints = [str(record) for record in self._model.custom if record.category == "joint"]
        if joints:
            stiff += f", or {' or '.join(joints[:3])} ran into a pole or a cusp of its formulas"
        if self._options.method.adaptive:
            reason = f"a force grows without bound, from a function or {stiff}"
            return f"{reason}; check the functions of forces there"
        return (
            f"the step of {self._options.step:g} s is likely too long for {stiff}; "
            "use a shorter step, or method='dopri5', which chooses its steps; for stiff forces method='bdf'"
        )


@dataclass(frozen=True)
class Slowness:
    """Why a run does not get on, in words: what its steps are spent on, and what to change.

    sampled: what is done at multiples of a period, s, in words.
    """

    model: Model
    options: MethodOptions
    watched: CompiledEvents
    sampled: Sequence[tuple[str, float]]

    def warning(self, outcome: Outcome) -> str:
        """The text for a run that is slow; empty if it gets on."""
        if np.isnan(outcome.slow_since):
            return ""
        return f"the run does not get on since t = {outcome.slow_since:.6g} s: {self._why(outcome)}"

    def ending(self, outcome: Outcome) -> Explanation:
        """Why a run was given up; body: the one that is accelerated most, if that is the trouble."""
        message = (
            f"the run was given up at t = {outcome.time:.6g} s, for it would not end: {self._why(outcome)}"
        )
        return Explanation(message, self.model.bodies[outcome.slow_body] if outcome.slow_body >= 0 else None)

    def _why(self, outcome: Outcome) -> str:
        left = f"{outcome.attempts_left:.1e} more"
        if outcome.slow_sample >= 0:
            what, period = self.sampled[outcome.slow_sample]
            advice = "give it a longer period, or let the run end earlier"
            return f"{what} every {period:g} s, {left} times; {advice}"
        if not self.options.method.adaptive:
            steps = f"{left} steps of {self.options.step:g} s are left"
            return f"{steps}; take longer steps, or let the run end earlier"
        pace = f"at the pace of the last {outcome.seen} steps {left} are left, of about {outcome.pace:.1e} s"
        return f"{pace}; {self._cause(outcome)}, or let the run end earlier"

    def _cause(self, outcome: Outcome) -> str:
        if outcome.slow_event[0] != NOTHING:
            name = self.watched.name_of(self.model, *outcome.slow_event)
            cut = f"{outcome.ended_by_event} of these were cut short, for {name!r}"
            return f"{cut}; make forces there softer, take method='moreau'"
        body = outcome.slow_body
        touching = [contact.name for contact in self.model.contacts if body in contact.bodies]
        acting = [*acting_on(self.model, body), *touching]
        forces = f" ({', '.join(map(repr, acting[:_NAMED]))})" if acting else ""
        implicit = self.options.method.name in ("auto", "bdf", "esdirk")
        advice = "allow a larger tolerance" if implicit else "take method='auto' or 'bdf'"
        most = f"body {self.model.bodies[body] if body >= 0 else None!r} is accelerated most"
        return f"{most}; forces there{forces} may be very stiff, or jump: make them softer, {advice}"


def happened(model: Model, watched: CompiledEvents, outcome: Outcome) -> list[str]:
    """Names of the recorded events: watched events, stops reached, contacts that changed."""
    return [watched.name_of(model, number, which) for number, which in outcome.events]


def counted(system: System, outcome: Outcome) -> dict[str, int]:
    """The counts of a system and a run so far."""
    samples = {"samples": outcome.samples} if outcome.samples else {}
    return {"steps": outcome.steps, "rejected_steps": outcome.rejected, **samples, **system.stats.counts}


def statistics(
    system: System, options: MethodOptions, outcome: Outcome, counts: Mapping[str, int]
) -> dict[str, Any]:
    """The statistics of a run or a part of it. counts: what was counted in it."""
    counts = dict(counts)
    found = {
        "formulation": system.formulation,
        "method": _method(options, outcome),
        **_choice(system, options, outcome),
        "step": outcome.last_step if options.method.adaptive else options.step or DEFAULT_STEP,
        **({"tolerance": options.rtol} if options.method.adaptive else {}),
        "steps": counts.pop("steps"),
        "rejected_steps": counts.pop("rejected_steps"),
        **(_of_adaptive(outcome) if options.method.adaptive else {}),
        **counts,
        "redundant_rows": ", ".join(map(str, system.stats.dropped)),
    }
    if not np.isnan(outcome.stiff_since):
        found["stiff_since"] = outcome.stiff_since
    if names := system.cut_joints:
        more = f" and {len(names) - _CUTS} more" if len(names) > _CUTS else ""
        found["cut_joints"] = ", ".join(names[:_CUTS]) + more
    if options.method.by_impulses:
        always = ("residual", "penetration", "lost_to_impacts", "lost_to_friction")
        found |= {name: getattr(outcome, name) for name in always}
        if outcome.weakened:
            found["weakened_impacts"] = outcome.weakened
        if outcome.halved:
            found["halved_steps"] = outcome.halved
    if limits := _limits_of_digits(outcome, system.accuracy()):
        found["accuracy"] = "; ".join(limits)
    return found


def _of_adaptive(outcome: Outcome) -> dict[str, float]:
    """Statistics of methods that choose their steps, and their order if they choose it."""
    names = ["next_step", "steps_since_restart", "evaluations_since_restart"]
    names += ["last_order", "highest_order"] if outcome.highest_order else []
    return {name: getattr(outcome, name) for name in names}


def _method(options: MethodOptions, outcome: Outcome) -> str:
    """The method in use, which "auto" may have chosen."""
    return options.method.name if options.method.name != "auto" else outcome.method or "adams"


def _choice(system: System, options: MethodOptions, outcome: Outcome) -> dict[str, str]:
    """Why this formulation and method were used, where "auto" chose them."""
    reasons = [system.reason] if system.reason else []
    if options.method.name == "auto" and outcome.gave_way not in ("", outcome.method):
        since = f"{outcome.gave_way} did not get on before t = {outcome.changed_since:.6g} s"
        reasons.append(f"{_method(options, outcome)}: {since}")
    elif options.method.name == "auto" and np.isnan(outcome.stiff_since):
        reasons.append("adams: no step is given, and the motion is not stiff")
    elif options.method.name == "auto":
        method, since = _method(options, outcome), f"from t = {outcome.stiff_since:.3g} s on, adams before"
        is_so = "something vibrates fast without damping" if method == "esdirk" else "the motion is stiff"
        reasons.append(f"{method}: {is_so} {since}")
    return {"choice": "; ".join(reasons)} if reasons else {}


def _limits_of_digits(outcome: Outcome, accuracy: Accuracy) -> list[str]:
    """Where double precision, not the tolerance, limited the accuracy of the run."""
    limits = []
    if outcome.rounding:
        steps = f"{outcome.rounding} of {outcome.steps} steps"
        limits.append(
            f"{steps} have errors above the tolerance that are rounding; shorter steps would not help"
        )
    limits.append(accuracy.limit() or limit_of_digits(accuracy.efforts, "reaction or effort"))
    return [limit for limit in limits if limit]
