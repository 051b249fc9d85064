"""Adaptive runs: motion with inertia of trees of which few joints are free, with an error that is known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType, SimpleNamespace
from typing import Any, Final

import numpy as np

from bellcrank import _core
from bellcrank.compile.contacts import refuse_resistances
from bellcrank.compile.initial import assembled, refuse_misfits
from bellcrank.compile.model import Model
from bellcrank.compile.state import MEMORY, Floats, Ints, State, by_coordinate
from bellcrank.errors import SimulationError, Unsupported
from bellcrank.formulations.adaptive import named
from bellcrank.formulations.preparing import formulation_module
from bellcrank.formulations.system import with_own_inputs
from bellcrank.mechanism.checking import Check, nearest
from bellcrank.mechanism.marker import GROUND
from bellcrank.run.controllers import checked_controllers
from bellcrank.run.linkage_run import LinkageRun, Recording, error_bound
from bellcrank.run.linkage_steering import LinkageInputs, LinkageSteering
from bellcrank.run.plan import DEFAULT_STEP, FRAMES, check_resolved
from bellcrank.trajectory.own_file import check_recorded
from bellcrank.trajectory.trajectory import Status
from bellcrank.turns import in_turn

MEASURES: Final = ("rms_relative", "rms")
"""Of the difference of accelerations from those with all joints free, the root of its mean square over the
mass: as a part of what it is with no joint free, or in m/s^2."""

METHODS: Final = ("rk4", "symplectic")
"""The method of Runge and Kutta of order 4, or symplectic Euler."""

LARGE: Final = 100
"""Joints from which "auto" takes adaptive dynamics where an error is admitted (docs, decision 15)."""

_MOST_FREE: Final = 0.5  # of the joints, on average: with more, a run takes longer than an exact one
_DEFAULT_ERROR: Final = 1e-2
_DEFAULT_LOSS: Final = 0.01  # of the kinetic energy, per second
_NO_OUTPUTS: Final[Mapping[str, float]] = MappingProxyType({})
_WHOLE: Final = 1e-9  # of a ratio: that near to a whole number, it is one


@dataclass(frozen=True)
class Limits:
    """What an adaptive run may leave out.

    max_error: in the measure of the run. max_loss: of kinetic energy by locking, W; None for 1 % of it per
    second. max_joints: that may be free; None for as many as the error takes.
    """

    max_error: float
    max_loss: float | None = None
    max_joints: int | None = None

    @staticmethod
    def of(check: Check, max_error: Any, max_loss: Any, max_joints: Any) -> Limits:
        """The limits, checked."""
        if max_loss is not None and not (isinstance(max_loss, float) and max_loss == np.inf):
            max_loss = check.number("max_loss", max_loss, "W")
            if max_loss < 0.0:
                check.fault("max_loss must be at least 0", max_loss, "give it in W")
        if isinstance(max_joints, float) and max_joints == np.inf:
            max_joints = None
        if max_joints is not None:
            max_joints = check.integer("max_joints", max_joints, 1)
        return Limits(error_bound(check, max_error), max_loss, max_joints)

    def for_core(self, max_error: float, measure: str) -> tuple[float, bool, float, bool, int]:
        """The limits with another error, as the core takes them."""
        loss = (_DEFAULT_LOSS, True) if self.max_loss is None else (self.max_loss, False)
        return max_error, measure == MEASURES[0], *loss, -1 if self.max_joints is None else self.max_joints


@in_turn
class AdaptiveRun(LinkageRun):
    """A motion of which few joints are free, advanced step by step; `bc.start` with formulation="adaptive".

    Free joints move, locked ones stand still. In each step the error of that is known: the difference of the
    accelerations of all bodies from those with all joints free, by root mean square over the mass. Joints are
    locked by an inelastic impact, and the kinetic energy that it takes is counted. Limits of joints are
    stops, whose impacts free what they set in motion. Quasi-static runs with rule="lock" are of this kind;
    there all joints begin their steps at rest. A run serves one thread at a time; it cannot be copied or
    pickled.

    >>> run = bc.start(bc.gallery.chain(20), formulation="adaptive", step=0.01, max_error=0.1)
    >>> moved = run.advance(steps=20)
    >>> run.error <= 0.1, 0 < len(run.free) < 20
    (True, True)
    """

    def __init__(
        self,
        model: Model,
        limits: Limits,
        measure: str,
        method: str,
        recording: Recording,
        steering: LinkageSteering | None = None,
        max_error_of: Mapping[str, float] = _NO_OUTPUTS,
        choice: str = "",
    ) -> None:
        self._choice = choice
        model = with_own_inputs(model)
        core = _core.AdaptiveDynamics(model.core)
        self.method, self._limits = method, limits
        self._is_untold = True  # `moves` has not been called
        core.limit(*limits.for_core(limits.max_error, measure))  # before the start, which looks at the error
        core.limit_outputs(model.core, _outputs(model, "simulate", max_error_of))
        self._max_error_of = MappingProxyType(dict(max_error_of))
        self._steering = LinkageSteering((), {}) if steering is None else steering
        self._steering.preset(model, core)
        if model.contacts and model.initial.contacts is not None:
            core.remember(model.initial.contacts.view((np.float64, MEMORY.itemsize // 8)))
        core.start(model.core, *model.initial.arrays, by_coordinate(model, model.initial.angles))
        super().__init__(model, core, limits.max_error, measure, recording)

    def _begin(self) -> None:
        refuse = partial(self._refuse_ended, "inputs")
        self._steering.attach_core(self.model, self._core, self._turn, refuse, lambda: self.drive_efforts)

    @property
    def inputs(self) -> LinkageInputs:
        """The inputs by name; they can be set: `run.inputs["torque"] = 1.2`. See `bc.Input`."""
        inputs = self._steering.inputs
        assert isinstance(inputs, LinkageInputs)
        return inputs

    @property
    def drive_efforts(self) -> Mapping[str, float]:
        """What each drive exerts now, by name, N or N m."""
        rows = {record.blocks[0]: record.name for record in self.model.drives}
        of_block = self.model.row_block
        return {rows[of_block[row]]: e for row, e in self._core.drive_efforts() if of_block[row] in rows}

    @property
    def _is_at_rest(self) -> bool:
        return self.method == "at_rest"

    @property
    def error(self) -> float:
        """The error of the accelerations of the last step, in its measure; with stops an upper bound."""
        return float(self._core.error)

    def error_of(self, body: str, point: Sequence[float | str] = (0.0, 0.0, 0.0)) -> float:
        """What the acceleration of a point of a body is off at most from that with all joints free, m/s^2.

        point: in the body's frame, m. By the square root of its mobility, the most that a newton there would
        accelerate it, times the distance of all accelerations: so of light bodies it may be large.
        Raises MechanismError with close matches for an unknown name, and for a wrong point.

        >>> run = bc.start(bc.gallery.chain(20), formulation="adaptive", step=0.01, max_error=0.1)
        >>> moved = run.advance(steps=20)
        >>> near, far = (run.error_of(body) for body in (run.trajectory.bodies[0], run.trajectory.bodies[-1]))
        >>> near < far
        True
        """
        with Check("error_of") as check:
            at = check.vector("point", point, "m")
        number = self.model.body_number(body)
        return float(self._core.point_error(self.model.core, number, at))

    @property
    def output_errors(self) -> Mapping[str, float]:
        """What the acceleration of each point of `max_error_of` was off in the last step, m/s^2.

        It is the distance from the acceleration with all joints free, and not only a bound as `error_of`.
        """
        return dict(zip(self._max_error_of, self._core.output_errors.tolist(), strict=True))

    @property
    def max_error_of(self) -> Mapping[str, float]:
        """The largest errors of accelerations of points that were asked for, m/s^2, by body or marker."""
        return self._max_error_of

    @property
    def lost_energy(self) -> float:
        """The kinetic energy that locking joints has taken since the start, J."""
        return float(self._core.lost_energy)

    @property
    def impact_energy(self) -> float:
        """The kinetic energy that impacts on stops have taken since the start, J: motion, no error.

        >>> slide = block.replace(block.joints["guide"], limits=bc.Limit(lower=-0.5, restitution=0.5))
        >>> run = bc.start(block, formulation="adaptive", step=1e-3)
        >>> moved = run.advance(steps=400)
        >>> mass, speed = 2.0, np.sqrt(2.0 * 9.81 * 0.5)
        >>> np.isclose(run.impact_energy, 0.5 * mass * speed**2 * (1 - 0.5**2))
        True
        """
        return float(self._core.impact_energy)

    @property
    def kinetic_energy(self) -> float:
        """The kinetic energy now, J."""
        return float(self._core.kinetic_energy)

    @property
    def potential_energy(self) -> float:
        """The energy of the weight, from the world origin, and of springs now, J."""
        return float(self._core.potential_energy)

    @property
    def work(self) -> float:
        """What forces that have no potential, and drives, have done since the start, J."""
        return float(self._core.work)

    @property
    def free(self) -> tuple[str, ...]:
        """Names of the joints that are free."""
        return tuple(filter(None, self._names(self._core.free)))

    @property
    def moved(self) -> tuple[str, ...]:
        """Names of the free joints that move now; of steps from rest, those that moved in the last one."""
        moving = self.accelerations if self._is_at_rest else self.speeds
        return tuple(name for name, numbers in moving.items() if np.any(numbers))

    @property
    def speeds(self) -> Mapping[str, Floats]:
        """Speeds of the free joints, by name: rotations, then slides, rad/s, m/s."""
        return self._of_free(self._core.speeds())

    @property
    def accelerations(self) -> Mapping[str, Floats]:
        """Accelerations of the free joints in the last step: rotations, then slides, rad/s^2, m/s^2."""
        return self._of_free(self._core.accelerations())

    @property
    def state(self) -> State:
        """Poses and velocities of all bodies now, from which any other run can go on (`state=`).

        What contacts remember of friction is in it, whole turns of joints are not.
        """
        state = State(*self._core.state(self.model.core))
        memory = self._core.contact_memory().view(MEMORY).ravel() if self.model.contacts else None
        return replace(state, contacts=memory, source=self.model.state_source)

    @property
    def max_loss(self) -> float | None:
        """Kinetic energy that locking may take per second, W; None for 1 % of it."""
        return self._limits.max_loss

    @property
    def max_joints(self) -> int | None:
        """How many joints may be free; None for as many as the error takes."""
        return self._limits.max_joints

    @property
    def is_bounded(self) -> bool:
        """Whether max_joints keeps the error of the last step above max_error: more joints would lower it."""
        most = self.max_joints
        return most is not None and self.error > self.max_error and len(self._free_joints) >= most

    def limit(
        self,
        max_error: float | None = None,
        max_loss: float | None = None,
        max_joints: float | None = None,
        measure: str | None = None,
        max_error_of: Mapping[str, float] | None = None,
    ) -> None:
        """Change what the run may leave out from here on; None leaves a limit as it is.

        max_error: in the measure of the run. max_loss: kinetic energy that locking may take, W; `np.inf` for
        any. max_joints: that may be free, `np.inf` for as many as the error takes; locking those that are too
        many may take more energy. measure: "rms_relative" or "rms", of the error from here on.
        max_error_of: of accelerations of single points, m/s^2, by body or marker, in the place of those there
        were.
        Raises MechanismError for invalid limits, and once the run has ended.

        >>> run = bc.start(bc.gallery.chain(20), formulation="adaptive", step=0.01, max_error=1e-3)
        >>> moved = run.advance(steps=20)
        >>> run.limit(max_joints=5)
        >>> moved = run.advance()
        >>> len(run.free)
        5
        """
        self._refuse_ended("limit")
        given: dict[str, Any] = {"max_error": max_error, "max_loss": max_loss, "max_joints": max_joints}
        changed = replace(self._limits, **{name: one for name, one in given.items() if one is not None})
        with Check("limit") as check:
            limits = Limits.of(check, changed.max_error, changed.max_loss, changed.max_joints)
            measure = check.choice("measure", self.measure if measure is None else measure, MEASURES)
        self._limits, self.measure, self.max_error = limits, measure, limits.max_error
        self._core.limit(*limits.for_core(limits.max_error, measure))
        if max_error_of is not None:
            self._core.limit_outputs(self.model.core, _outputs(self.model, "limit", max_error_of))
            self._max_error_of = MappingProxyType(dict(max_error_of))
        self._core.evaluate()

    def advance(self, max_error: float | None = None, steps: int = 1) -> tuple[str, ...]:
        """Take steps; return the names of the joints that move after the last one.

        max_error: of these steps, by default that of the run. Raises MechanismError for invalid arguments,
        and once the run has ended; SimulationError where accelerations are no numbers any more, as with steps
        that are too long. Ctrl-C raises KeyboardInterrupt between steps; the run can be continued.

        >>> run = bc.start(bc.gallery.chain(20), formulation="adaptive", step=0.01, max_error=0.1)
        >>> moved = run.advance(steps=2)
        >>> round(run.time, 6), moved == run.moved
        (0.02, True)
        """
        self._bounded(max_error, steps)
        return self.moved

    def _steered(self) -> int:
        try:
            self._steering.sample_after(self._steps, self.time)
        except SimulationError as error:
            self._status = Status("failed", str(error))
            raise SimulationError(str(error), self.time, None, self._recorded(self._status)) from error
        left = self._steering.steps_left(self._steps)
        return super()._steered() if left is None else left

    def pull(
        self,
        body: str,
        target: Sequence[float | str],
        point: Sequence[float | str] = (0.0, 0.0, 0.0),
        stiffness: float = 0.0,
        damping: float = 0.0,
        max_force: float = np.inf,
    ) -> None:
        """Pull a point of a body towards a target by a damped spring, from the next step on: a hand on it.

        target: (3,), m, world axes. point: (3,), m, in the body's frame. stiffness: N/m, of a spring without
        length. damping: N s/m, against the velocity of the point. max_force: N, of the spring. A body has one
        hand; pulling it again moves the hand. Joints on its path are freed as the error asks.
        Raises MechanismError with close matches for an unknown name, for wrong numbers, and once the run has
        ended.

        >>> run = bc.start(bc.gallery.chain(20), formulation="adaptive", step=0.01, max_error=0.1)
        >>> end = run.trajectory.bodies[-1]
        >>> run.pull(end, target=(15, 5, 0), stiffness=200.0, damping=20.0)
        >>> moved = run.advance(steps=200)
        >>> bool(run.pose(end)[0][1] > 0)    # m; the others hang down from there
        True
        >>> run.let_go(end)
        """
        self._refuse_ended("pull")
        number = self.model.body_number(body)
        with Check("pull") as check:
            place, at = check.vector("target", target, "m"), check.vector("point", point, "m")
            firm = check.number("stiffness", stiffness, "N/m")
            slow = check.number("damping", damping, "N s/m")
            most = np.inf if max_force == np.inf else check.number("max_force", max_force, "N")
            for name, value in (("stiffness", firm), ("damping", slow), ("max_force", most)):
                if value < 0.0:
                    check.fault(f"{name} must be at least 0", value)
        self._core.pull(self.model.core, number, at, place, firm, slow, most)

    def let_go(self, body: str) -> None:
        """Take the hand of a body away, if it has one. Raises MechanismError for an unknown name.

        >>> run = bc.start(bc.gallery.chain(20), formulation="adaptive", step=0.01, max_error=0.1)
        >>> end = run.trajectory.bodies[-1]
        >>> run.pull(end, target=(25, 0, 0), stiffness=10.0)
        >>> run.let_go(end)
        >>> moved = run.advance(steps=20)
        >>> bool(run.pose(end)[0][0] < 20)    # m; nothing pulls it outwards
        True
        """
        self._core.let_go(self.model.body_number(body))

    def moves(self) -> tuple[Ints, Floats, Floats]:
        """What has moved since the last call, at first everything: for pictures that follow a run.

        Numbers of bodies (m,), in the order of the model; positions (m, 3), m, and rotations (m, 4) of their
        frames in those of the bodies that carry them (`carriers`), or in the world. All others stand where
        they were, relative to what carries them.

        >>> run = bc.start(bc.gallery.chain(20), formulation="adaptive", step=0.01, max_error=0.1)
        >>> len(run.moves()[0]), len(run.moves()[0])
        (20, 0)
        >>> moved = run.advance(steps=5)
        >>> 0 < len(run.moves()[0]) <= 20
        True
        """
        links = self._core.take_moved()
        if self._is_untold:
            self._is_untold, links = False, list(range(len(self._joints)))
        return self._core.bodies[0][links], *self._core.places(self.model.core, links)

    @property
    def carriers(self) -> Ints:
        """Per body the number of the one that carries it in the tree, (nb,); -1 for the ground."""
        own, carrier = self._core.bodies
        found: Ints = np.empty_like(carrier)
        found[own] = carrier
        return found

    @property
    def free_count(self) -> int:
        """How many joints are free."""
        return len(self._free_joints)

    @property
    def step(self) -> float:
        """The step, s."""
        return self._recording.step

    def use(self, method: str | None = None, step: float | None = None) -> None:
        """Go on by another method, "rk4" or "symplectic", or with another step, s; None leaves it.

        Frames are recorded at as many steps as before. Raises MechanismError for an unknown method, for a
        step that is not greater than zero, and once the run has ended.

        >>> run = bc.start(bc.gallery.chain(20), formulation="adaptive", step=0.01, max_error=0.1)
        >>> run.use(method="symplectic", step=0.005)
        >>> moved = run.advance(steps=4)
        >>> run.method, round(run.time, 6)
        ('symplectic', 0.02)
        """
        self._refuse_ended("use")
        with Check("use") as check:
            method = check.choice("method", self.method if method is None else method, METHODS)
            step = self.step if step is None else check.positive("step", step, "s")
        self.method, self._recording = method, replace(self._recording, step=step)

    def yielding(self, body: str, point: Sequence[float | str] = (0.0, 0.0, 0.0)) -> tuple[float, float]:
        """How a point of a body yields to a force there, with all joints free, 1/kg; of the last step.

        The largest acceleration of the point by a unit force; and a bound of those that such a force gives
        the centre of mass of the body, and its particles at its radius of gyration.

        >>> run = bc.start(bc.gallery.chain(20), formulation="adaptive", step=0.01, max_error=0.1)
        >>> most, swing = run.yielding(run.trajectory.bodies[-1])
        >>> 0 < most <= swing
        True
        """
        with Check("yielding") as check:
            at = check.vector("point", point, "m")
        core, model, number = self._core, self.model, self.model.body_number(body)
        most = float(core.mobility(model.core, number, at, False))
        centre = float(core.mobility(model.core, number, model.com[number], False))
        gyration = 0.5 * float(np.trace(model.inertia[number])) / float(model.mass[number])  # its square
        turning = gyration * float(core.mobility(model.core, number, at, True))
        # |Φ_ab| is at most the root of Φ_aa Φ_bb.
        return most, float(np.sqrt(most * max(most, centre, turning)))

    @property
    def free_bodies(self) -> Ints:
        """Numbers of the bodies behind free joints; one that hangs on nothing is always among them.

        Between free joints all bodies move as one: each with those that it carries by joints that are locked.

        >>> run = bc.start(bc.gallery.chain(20), formulation="adaptive", step=0.01, max_error=0.1)
        >>> len(run.free_bodies) == len(run.free)
        True
        """
        return np.asarray(self._core.bodies[0][self._core.free])

    @property
    def _free_joints(self) -> list[int]:
        """Links whose joints are free; a body that hangs on nothing has none."""
        return [link for link in self._core.free if self._joints[link]]

    def _take(self, steps: int, max_error: float) -> int:
        self._core.limit(*self._limits.for_core(max_error, self.measure))
        return int(self._core.advance(steps, self._recording.step, self.method))

    def _of_free(self, numbers: Floats) -> Mapping[str, Floats]:
        return self._along(numbers, self._free_joints)

    def _failure(self) -> tuple[str, str | None]:
        if not self._core.loops_are_closed:
            return (
                f"its loops cannot be closed, their rows are off by {self._core.loop_error:.1g} m or rad; "
                f"steps of {self._recording.step:g} s may be too long: give a shorter step="
            ), None
        numbers = self._core.accelerations()
        if np.all(np.isfinite(numbers)):
            return "bodies come at each other so fast that no step is short enough for their contacts", None
        link = int(np.searchsorted(self._first, int(np.argmax(~np.isfinite(numbers))), "right")) - 1
        where = f" of joint {self._joints[link]!r}" if self._joints[link] else ""
        return (
            f"those{where} are no numbers; the steps of {self._recording.step:g} s are too long for its "
            "springs, dampers or speed: give a shorter step="
        ), None

    def _counted(self) -> dict[str, str | int | float]:
        if self._is_at_rest:
            return {"mode": "quasistatic", "rule": "lock", "decisions": self._core.decisions}
        found: dict[str, str | int | float] = {"mode": "adaptive", "formulation": "adaptive"}
        found |= {"method": self.method, "lost_energy": self.lost_energy, "decisions": self._core.decisions}
        if np.any(self.model.arrays["block_unilateral"]):
            found |= {"impacts": self._core.impacts, "impact_energy": self.impact_energy}
        limits = {"max_loss": self.max_loss, "max_joints": self.max_joints}
        largest = zip(self._max_error_of, self._core.largest_output_errors.tolist(), strict=True)
        found |= {f"error of {name}": error for name, error in largest}
        found |= {"choice": self._choice} if self._choice else {}
        found |= {"note": note} if (note := self._too_many()) else {}
        return {**found, **{name: one for name, one in limits.items() if one is not None}}

    def _too_many(self) -> str:
        """That exact equations would have been faster, where they would."""
        share = float(self._core.mean_free) / max(len(self.joints), 1)
        other = _instead(self.model)
        if not share > _MOST_FREE or other != "recursive" or self._is_at_rest:
            return ""
        return (
            f"{100.0 * share:.0f} % of the joints were free on average: formulation='recursive' is exact, "
            f"and takes less time from about {100.0 * _MOST_FREE:.0f} % on"
        )


def _outputs(model: Model, what: str, given: Any) -> list[tuple[int, Sequence[float], float]]:
    """Bodies, points of them and largest errors, m/s^2, by names of bodies or markers; MechanismError."""
    with Check(what) as check:
        advice = "such as {'hand': 1e-3}"
        check.instance("max_error_of", given, Mapping, advice)
        check.faults.raise_any()
        every = {} if model.source is None else model.source.markers
        markers = {name: one for name, one in every.items() if one.body != GROUND}
        out: list[tuple[int, Sequence[float], float]] = []
        for name, limit in given.items():
            error = check.number(f"max_error_of {name!r}", limit, "m/s^2")
            if not error >= 0.0:
                check.fault(f"max_error_of {name!r} must be at least 0", limit)
            if name in markers:
                out.append((model.body_index[markers[name].body], markers[name].position, error))
            elif name in model.body_index:
                out.append((model.body_index[name], (0.0, 0.0, 0.0), error))
            else:
                known = nearest(str(name), [*model.bodies, *markers])
                check.fault(f"max_error_of {name!r}: there is no body or marker of this name", None, known)
        if out and np.any(model.arrays["block_unilateral"]):
            rule = (
                "max_error_of takes no mechanism with stops: of those the error of all bodies alone is known"
            )
            check.fault(rule, None, "give max_error=")
    return out


def refuse(model: Model) -> None:
    """Raise Unsupported if the model cannot be run adaptively, naming a formulation that takes it."""
    if reasons := _reasons(model):
        raise Unsupported(
            f"formulation 'adaptive' cannot take mechanism {model.name!r}: {'; '.join(reasons)}. "
            f"Use formulation={_instead(model)!r}."
        )
    refuse_resistances(model, "formulation 'adaptive'")


def _reasons(model: Model) -> list[str]:
    """Why a model cannot be run adaptively."""
    reasons = named(model, _core.AdaptiveDynamics.refusals(model.core))
    reasons += [f"it takes no tyres: force {contact.name!r}" for contact in model.contacts if contact.of_tyre]
    moving = [repr(one.name) for one, at in model.inputs.items() if at.constrains and at.formula >= 0]
    if moving:
        reasons.append(f"it takes no inputs in joints given by formulas: {', '.join(moving)}")
    return reasons


def _instead(model: Model) -> str:
    """The formulation that takes a model: joint coordinates for a tree without stops and contacts."""
    one_sided = np.any(model.arrays["block_unilateral"])
    loops = model.graph.closures or model.graph.couplings
    if model.contacts or one_sided or loops or formulation_module("recursive").refusals(model):
        return "lagrange"
    return "recursive"


def preferred(model: Model, given: Mapping[str, Any]) -> tuple[bool, str]:
    """Whether "auto" takes adaptive dynamics for a run that may have an error, and why it does or does not.

    given: the arguments of `bc.start`. How many joints will be free shows in the run alone.
    """
    joints = sum(bool(joint.blocks) for joint in model.joints)
    if not given["max_error"] > 0.0:
        return False, "no error is admitted"
    if joints < LARGE:
        return False, f"fewer than {LARGE} joints, of which too many would be free"
    method = given["method"]
    if method not in ("auto", *METHODS):
        return False, f"method {method!r} is none of adaptive runs"
    if model.source is not None and model.source.changes:
        return False, "the mechanism changes during the run"
    if reasons := _reasons(model):
        return False, reasons[0]
    if model.contacts or model.graph.closures or model.graph.couplings:
        return False, "it pays for trees without contacts, others were not measured"
    check = Check("simulate")
    _divided(check, model.initial.time, given["step"], given["output_step"], given["duration"])
    if len(check.faults):
        return False, "the duration is no whole number of steps"
    return True, f"adaptive: an error of {given['max_error']:g} is admitted in a tree of {joints} joints"


def begun(model: Model, given: Mapping[str, Any], records: bool = True, choice: str = "") -> AdaptiveRun:
    """A run at its start. given: the arguments of `bc.start`, checked here. Raises the same errors.

    records: whether frames are recorded after the first one. choice: why "auto" took this formulation.
    """
    a = SimpleNamespace(**given)
    state = a.state
    with Check("simulate") as check:
        error = _DEFAULT_ERROR if a.max_error is None else a.max_error
        limits = Limits.of(check, error, a.max_loss, a.max_joints)
        measure = check.choice("measure", MEASURES[0] if a.measure is None else a.measure, MEASURES)
        method = "rk4" if a.method == "auto" else a.method
        if method not in METHODS:
            advice = "'symplectic' is what others call 'semi_implicit_euler'; the step is fixed"
            check.fault("method must be 'rk4' or 'symplectic' in an adaptive run", a.method, advice)
        check.flag("assemble", a.assemble)
        check.instance("inputs", {} if a.inputs is None else a.inputs, Mapping)
        begin = model.initial.time if state is None else state.time
        step, steps, every = _divided(check, begin, a.step, a.output_step, a.duration)
        if steps is None and a.progress is not False:
            check.fault("progress is a part of a duration, which is missing", None, "give duration=")
    steering = LinkageSteering(checked_controllers(a.controllers), a.inputs or {})
    with Check("simulate") as check:
        named = [(one.name, one.period) for one in steering.controllers]
        steering.counts = [
            _count(check, f"the period of controller {n!r}", p, "step", step) for n, p in named
        ]
    check_recorded(a.path)
    model.refuse_unweighed()
    refuse(model)
    if state is not None:
        refuse_misfits(model, state, "the simulation cannot start", "leave out state=")
        model = model.starting(state, model.given)
    elif a.assemble:
        model, _ = assembled(model)
    recording = Recording(step, steps, every if records else 0, a.path, a.description, a.progress)
    return AdaptiveRun(model, limits, measure, method, recording, steering, a.max_error_of or {}, choice)


def _divided(
    check: Check, begin: float, step: Any, output_step: Any, duration: Any
) -> tuple[float, int | None, int]:
    """The step, s, the number of steps, None for an open end, and that from one frame to the next.

    By default about 1000 frames or more, the last of which is at the end; every step where that is open.
    """
    length = None if duration is None else check.positive("duration", duration, "s")
    output = None if output_step is None else check.positive("output_step", output_step, "s")
    if step is None:
        whole = output or length or DEFAULT_STEP
        step = whole / np.ceil(whole / DEFAULT_STEP * (1.0 - _WHOLE))
    step = check.positive("step", step, "s")
    if len(check.faults):
        return step, None, 1
    check_resolved(check, begin, length or step, output_step=output, step=step)
    every = None if output is None else _count(check, "output_step", output, "step", step)
    if length is None:
        return step, None, every or 1
    steps = _count(check, "duration", length, "step", step)
    if every is None:
        frames = max(1, steps // FRAMES)
        return step, steps, next(n for n in range(frames, 0, -1) if steps % n == 0)
    if steps % every:
        rule = f"duration must be a whole number of output steps, of {output:g} s"
        check.fault(rule, length, f"give duration={round(steps / every) * every * step or output:g}, say")
    return step, steps, every


def _count(check: Check, name: str, length: float, of: str, part: float) -> int:
    """How often a time, s, contains another one; a fault unless that is a whole number."""
    ratio = length / part
    count = max(1, round(ratio))
    if abs(ratio - count) > _WHOLE * ratio:
        rule = f"{name} must be a whole number of steps, of {part:g} s"
        check.fault(rule, length, f"give {of}={length / np.ceil(ratio):.6g}, say")
    return count
