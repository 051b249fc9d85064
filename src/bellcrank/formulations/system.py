"""A model prepared for one formulation, to be evaluated at given states."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, NoReturn

import numpy as np

from bellcrank import _core, views
from bellcrank.accuracy import Accuracy, AccuracyJudge
from bellcrank.compile.contacts import refuse_resistances
from bellcrank.compile.model import Model
from bellcrank.compile.report import NamedRow
from bellcrank.compile.state import Floats, State
from bellcrank.errors import AssemblyError, Fault, MechanismError, Unsupported
from bellcrank.mechanism.checking import Check, nearest
from bellcrank.mechanism.contact import IMPACT_LAWS
from bellcrank.mechanism.marker import GROUND
from bellcrank.mechanism.rotation_arrays import conjugate, product, rotate
from bellcrank.slips import answering
from bellcrank.turns import Turn, in_turn

if TYPE_CHECKING:
    from bellcrank.compile.parametric_numbers import ParametricNumbers
    from bellcrank.formulations.state_derivatives import StateDerivatives

_TOLERANCE = 1e-12  # of the residual, relative to the largest speed
_ACCEPTED = 1e-8


@dataclass(frozen=True)
class Blow:
    """An impulse on a body, such as a hammer blow: position (3,), m, and impulse (3,), N s, world axes.

    >>> blow = bc.Blow("cube", position=(0, 0, 0.5), impulse=(6.0, 0, 0))    # a hammer on its top
    >>> state = bc.prepare(cube).strike([blow]).state
    >>> print(state.velocity[0].round(6), state.angular_velocity[0].round(6))    # m/s, rad/s
    [1. 0. 0.] [0. 3. 0.]
    """

    body: str
    position: Sequence[float]
    impulse: Sequence[float]


@dataclass(frozen=True)
class StruckPoint:
    """A point at which one body is struck by another.

    body, other: their names; "ground" is one. position: (3,), m, world axes. normal: (3,), towards `body`, of
    any length. friction: Coulomb's coefficient. restitution: 0 to 1. impact_law: "newton": bodies that
    approach separate at this fraction of the speed; "poisson": the impulse that stops their approach is
    followed by this fraction of it.

    >>> point = bc.StruckPoint("cube", position=(0.5, 0, -0.5), normal=(0, 0, 1))
    >>> falling = cube.replace(cube.bodies["cube"], velocity=(0, 0, -2.0))
    >>> state = bc.prepare(cube).strike([point]).state    # one edge hits the ground
    >>> print(state.velocity[0].round(4), state.angular_velocity[0].round(4))
    [0.   0.  -1.2] [0.  -2.4  0. ]
    """

    body: str
    position: Sequence[float]
    normal: Sequence[float]
    other: str = GROUND
    restitution: float = 0.0
    friction: float = 0.0
    impact_law: str = "newton"


@dataclass(frozen=True, eq=False)
class Strike:
    """A state after blows and impulses at n points.

    state: with the velocities after them. impulse: (n, 3), N s, on `body` of each StruckPoint, in order,
    world axes. residual: of the laws of impact and friction, relative to the largest speed.

    >>> point = bc.StruckPoint("cube", position=(0, 0, -0.5), normal=(0, 0, 1), restitution=0.5)
    >>> falling = cube.replace(cube.bodies["cube"], velocity=(0, 0, -2.0))
    >>> strike = bc.prepare(cube).strike([point])
    >>> print(strike.impulse.round(6), strike.state.velocity[0].round(6))    # N s: 6 kg x 3 m/s; m/s
    [[ 0.  0. 18.]] [0. 0. 1.]
    """

    state: State
    impulse: Floats
    residual: float


def strike(system: System, what: Sequence[StruckPoint | Blow]) -> Strike:
    """See `System.strike`."""
    bodies = dict(system.model.body_index) | {GROUND: len(system.model.bodies)}
    blows: list[dict[str, Any]] = []
    points: list[dict[str, Any]] = []
    with Check("strike") as check:
        for i, given in enumerate(what):
            field = f"what[{i}]"
            if isinstance(given, Blow):
                blows.append(
                    {
                        "body": _number(check, field, given.body, bodies),
                        "impulse": check.vector(f"{field}.impulse", given.impulse),
                        "position": check.vector(f"{field}.position", given.position, "m"),
                    }
                )
            elif isinstance(given, StruckPoint):
                pair = [_number(check, field, name, bodies) for name in (given.body, given.other)]
                if given.body == given.other:
                    check.fault(
                        f"{field}: a body does not strike itself",
                        given.body,
                        "name another body, or the ground",
                    )
                points.append({"bodies": pair, **_numbers_of(check, field, given)})
            else:
                check.fault(f"{field} must be a StruckPoint or a Blow", given)
    try:
        impulses, residual = system.core.strike(
            [_core.Blow(**one) for one in blows], [_core.StruckPoint(**one) for one in points], _TOLERANCE
        )
    except Unsupported as error:
        raise Unsupported(f"{error}; use formulation='recursive' or 'lagrange'") from None
    if residual > _ACCEPTED:
        raise AssemblyError(
            f"the impulses at these points were not found: a residual of {residual:.1e} of the largest speed "
            f"is left; {_ACCEPTED:g} is allowed",
            [("the impulses", residual)],
        )
    return Strike(system.state(), impulses, residual)


def _number(check: Check, field: str, name: str, bodies: Mapping[str, int]) -> int:
    if name not in bodies:
        check.fault(f"{field}: there is no such body", name, nearest(str(name), bodies))
    return bodies.get(name, 0)


def _numbers_of(check: Check, field: str, point: StruckPoint) -> dict[str, Any]:
    return {
        "position": check.vector(f"{field}.position", point.position, "m"),
        "normal": check.axis(f"{field}.normal", point.normal),
        "friction": check.not_negative(f"{field}.friction", point.friction),
        "restitution": check.fraction(f"{field}.restitution", point.restitution),
        "by_impulse": check.choice(f"{field}.impact_law", point.impact_law, IMPACT_LAWS) == IMPACT_LAWS[1],
    }


@dataclass(frozen=True, eq=False)
class PointAcceleration:
    """Acceleration of a point: linear (3,), m/s^2; of its body: angular (3,), rad/s^2; world axes."""

    linear: Floats
    angular: Floats


@dataclass(frozen=True, eq=False)
class BodyAcceleration(PointAcceleration):
    """Acceleration of a body's frame, linear at its origin; `com`: the same at the centre of mass.

    >>> rod = bc.prepare(pendulum).accelerate().body("rod")
    >>> print(rod.linear.round(6), rod.angular.round(4), rod.com.linear.round(4))
    [0. 0. 0.] [  0.      0.    -14.715] [0.     -7.3575  0.    ]
    """

    com: PointAcceleration


@answering
@dataclass(frozen=True, eq=False)
class JointReaction:
    """What a joint, its limits included, exerts on its second body.

    reaction: (6,), moment about marker 2's origin, N m, then force, N; world axes. Of least norm where
        redundant constraints leave it open.
    moment_unique, force_unique: whether the equations of motion determine it.

    >>> reaction = bc.prepare(arm).accelerate().joint("elbow")
    >>> print(reaction.force.round(4), reaction.reaction_unique)    # N
    [0.   9.81 0.  ] True
    """

    reaction: Floats
    moment_unique: bool
    force_unique: bool

    @property
    def moment(self) -> Floats:
        """The moment (3,), N m."""
        return self.reaction[:3]

    @property
    def force(self) -> Floats:
        """The force (3,), N."""
        return self.reaction[3:]

    @property
    def reaction_unique(self) -> bool:
        """Whether all of it is determined."""
        return self.moment_unique and self.force_unique


@answering
@dataclass(frozen=True, eq=False)
class DriveEffort:
    """The efforts of a drive, a constraint or the limits of a joint along the coordinates they constrain.

    efforts: (rows,), N or N m, one for each driving function, each row or each limit. Of least norm,
        together with the reactions of joints, where redundant constraints leave them open.
    determined: (rows,), whether the equations of motion determine it.

    >>> effort = bc.prepare(arm).accelerate().drive("elbow")
    >>> print(f"{effort.effort:.4f} {effort.units[0]}, {effort.unique}")    # m g L / 2
    4.9050 N m, True
    """

    efforts: Floats
    units: tuple[str, ...]
    determined: np.ndarray

    @property
    def effort(self) -> float | Floats:
        """The effort: a plain number if there is only one."""
        return float(self.efforts[0]) if len(self.efforts) == 1 else self.efforts

    @property
    def unique(self) -> bool:
        """Whether all of it is determined."""
        return bool(self.determined.all())


@answering
@dataclass(frozen=True, eq=False, repr=False)
class Accelerations:
    """Accelerations of a model at a state.

    linear, angular: (nb, 3), of the frame origins, world axes.
    multipliers: (rows,), M a = f + J^T multipliers; of least norm where rows are redundant.
    reactions: (joints with rows, 6), as `Model.reactions` lists them.
    unique: (joints with rows, 2), whether moment and force are determined.
    determined: (rows,), whether a multiplier is.

    >>> found = bc.prepare(pendulum).accelerate()
    >>> print(found.angular[0].round(4))    # rad/s^2: -3 g / (2 L)
    [  0.      0.    -14.715]
    >>> print(found.joint("hinge").force.round(4))    # N: m g / 4
    [0.     2.4525 0.    ]
    """

    model: Model
    state: State
    linear: Floats
    angular: Floats
    multipliers: Floats
    reactions: Floats
    unique: np.ndarray
    determined: np.ndarray

    def __repr__(self) -> str:
        return f"<Accelerations of {self.model.name!r} at t = {self.state.time:.9g} s>"

    def body(self, name: str) -> BodyAcceleration:
        """Acceleration of a body. Raises MechanismError for names that do not exist.

        >>> rod = bc.prepare(pendulum).accelerate().body("rod")
        >>> print(rod.com.linear.round(4))    # m/s^2: 3/4 g
        [0.     -7.3575  0.    ]
        """
        i = self.model.body_number(name)
        omega, alpha = self.state.angular_velocity[i], self.angular[i]
        arm = rotate(self.state.rotation[i], self.model.com[i])
        at_com = self.linear[i] + np.cross(alpha, arm) + np.cross(omega, np.cross(omega, arm))
        return BodyAcceleration(self.linear[i], alpha, PointAcceleration(at_com, alpha))

    def joint(self, name: str) -> JointReaction:
        """Reaction of a joint. Raises MechanismError for names that do not exist.

        >>> hinge = bc.prepare(pendulum).accelerate().joint("hinge")
        >>> print(hinge.force.round(4), hinge.force_unique)    # N: m g / 4
        [0.     2.4525 0.    ] True
        """
        joint = self.model.joint(name)
        if not joint.blocks:
            return JointReaction(np.zeros(6), True, True)
        i = self.model.reaction_number[joint.name]
        return JointReaction(self.reactions[i], bool(self.unique[i, 0]), bool(self.unique[i, 1]))

    def drive(self, name: str) -> DriveEffort:
        """Effort of a drive. Raises MechanismError for names that do not exist.

        >>> shoulder = bc.prepare(arm).accelerate().drive("shoulder")
        >>> print(f"{shoulder.effort:.4f} N m, by hand {9.81 * (0.5 + 1.5):.4f} N m")
        19.6200 N m, by hand 19.6200 N m
        """
        return self._effort(self.model.drive(name).name, "drive")

    def constraint(self, name: str) -> DriveEffort:
        """Effort of a gear, belt, cable or another coupling, defined as for `Trajectory.constraint`.

        Raises MechanismError for names that do not exist, and for constraints given by formulas.

        >>> gear = shafts.add_constraint("gear", bc.Gear(radii=(0.1, 0.2)), "input shaft", "output shaft")
        >>> motor = shafts.add_force("motor", bc.JointMotor(5.0), "input")
        >>> effort = bc.prepare(shafts).accelerate().constraint("gear").effort
        >>> print(f"{abs(effort):.4f} N, by hand {5 / 1.25 * 0.5 / 0.2:.4f} N")    # it accelerates the output
        10.0000 N, by hand 10.0000 N
        """
        return self._effort(name, "constraint", "constraint with an effort")

    def limit(self, name: str) -> DriveEffort:
        """Efforts of the limits of a joint, one for each. Raises MechanismError for joints without limits.

        >>> stop = block.replace(block.joints["guide"], limits=bc.Limit(lower=0.0))
        >>> print(bc.prepare(block).accelerate().limit("guide").effort)    # N: the stop carries the weight
        19.62
        """
        return self._effort(name, "limit", "joint with limits")

    def _effort(self, name: str, kind: str, noun: str = "drive") -> DriveEffort:
        held = [m for m in self.model.multipliers if m.kind == kind and m.element == name]
        if not held and noun != "drive":
            names = dict.fromkeys(m.element for m in self.model.multipliers if m.kind == kind)
            rule = f"there is no {noun} of this name"
            raise MechanismError(Fault(f"{kind} {name!r}", rule, None, nearest(name, list(names))))
        rows = [m.row for m in held]
        efforts = np.array([m.sign * self.multipliers[m.row] for m in held])
        return DriveEffort(efforts, tuple(m.unit for m in held), self.determined[rows])


def with_own_inputs(model: Model) -> Model:
    """The model for one System alone, if there are inputs; compiled parts are shared."""
    return replace(model, core=model.core.copy()) if model.inputs else model


class Inputs(Mapping[str, float]):
    """Inputs by name with their values, which can be set: `inputs["torque"] = 1.2`, or several by `update`.

    Velocities that an input prescribes through a drive then change, and the drive's position goes on from its
    current value. Raises MechanismError for unknown names, and for values that are not finite numbers;
    Unsupported while another thread is using the owner of the inputs.
    """

    def __init__(self, model: Model, core: Any, turn: Turn) -> None:
        self._model = model
        self._core = core
        self._turn = turn
        self._values = {one.name: one.value for one in model.inputs}

    def __getitem__(self, name: str) -> float:
        self._check([name])
        return self._values[name]

    def __reduce__(self) -> tuple[Any, ...]:
        """Reduce to a plain dict for pickle."""
        return dict, (dict(self),)

    def __contains__(self, name: object) -> bool:
        return name in self._values

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        units = {one.name: one.unit for one in self._model.inputs}
        listed = [f"{name}: {value:g} {units[name]}".rstrip() for name, value in self._values.items()]
        return f"<inputs {', '.join(listed)}>" if listed else "<no inputs>"

    def __setitem__(self, name: str, value: float) -> None:
        self.update({name: value})

    def update(self, values: Mapping[str, float]) -> None:
        """Change several inputs at once."""
        with self._turn.taken():
            if changed := self.changed(values):
                self.put(changed)

    def changed(self, values: Mapping[str, float]) -> dict[str, float]:
        """The values that differ from the current ones, all checked."""
        self._check(values)
        with Check("inputs") as check:
            found = {name: check.number(name, value) for name, value in values.items()}
        return {name: value for name, value in found.items() if value != self._values[name]}

    def put(self, changed: Mapping[str, float]) -> None:
        """Set values that have been checked."""
        values = {**self._values, **changed}
        self._core.set_inputs(self._model.core, list(values.values()))
        self._values = values

    def _check(self, names: Any) -> None:
        with Check("inputs") as check:
            for name in names:
                if name not in self._values:
                    missing = "the mechanism has none: bc.Input"
                    advice = nearest(name, self._values) if self._values else missing
                    check.fault("there is no input of this name", name, advice)


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

    >>> system = bc.prepare(four_bar, "lagrange")
    >>> _ = system.accelerate()
    >>> len(system.stats.dropped)    # a plane loop of hinges has three rows too many
    3
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

    >>> rows = bc.prepare(pendulum).rows()
    >>> rows.names[0], rows.jacobian.shape
    ("joint 'hinge' (x)", (5, 1, 6))
    >>> print(rows.jacobian[0, 0].round(6))    # the hinge holds x: velocity, angular velocity of the body
    [1. 0. 0. 0. 0. 0.]
    """

    error: Floats
    drift: Floats
    bias: Floats
    jacobian: Floats
    names: tuple[str, ...]


@answering
@in_turn
class System:
    """A Model prepared for one formulation.

    model: the model. formulation: its name. reason: why this one, if "auto" chose it. options: all of them.
    core: the core's object, for `integrate`. judge: of its digits, where some may be lost. A System has one
    state and serves one thread at a time: a second concurrent thread is refused with Unsupported. It cannot
    be copied or pickled. A call aborted by Ctrl-C may leave any state: set it again.

    >>> system = bc.prepare(arm, "lagrange")
    >>> system.formulation, system.model.bodies
    ('lagrange', ('upper arm', 'forearm'))
    >>> print(f"{system.accelerate().drive('shoulder').effort:.4f} N m, by hand {9.81 * (0.5 + 1.5):.4f} N m")
    19.6200 N m, by hand 19.6200 N m
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

    @cached_property
    def followed(self) -> ParametricNumbers | None:
        """The numbers that follow parameters or inputs; None if there are none."""
        from bellcrank.compile.parametric_numbers import parametric_numbers

        return parametric_numbers(self.model)

    def state(self) -> State:
        """The current state; initially that of the model.

        >>> state = bc.prepare(arm).state()
        >>> state.position.tolist()    # m, of the frames of both bodies
        [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]]
        """
        return self.model.state_of(self.core)

    def set_state(self, state: State, continued: bool = False) -> None:
        """Go to a state.

        Angles have the whole turns that the state contains; if it contains none (`State.angles` is None),
        they start with the turns that the constraints ask for, the fewest, or, with continued, continue from
        their current values.

        >>> system = bc.prepare(pendulum)
        >>> hanging = bc.statics(pendulum).state
        >>> system.set_state(hanging)
        >>> print(system.accelerate().joint("hinge").force.round(6))    # N: it carries the weight
        [0.   9.81 0.  ]
        """
        self.model.put(self.core, state, continued)

    @contextmanager
    def displaced(self) -> Iterator[None]:
        """Change state and inputs within a `with` block: they are restored at its end, and after errors.

        >>> system = bc.prepare(pendulum)
        >>> with system.displaced():
        ...     system.set_state(bc.statics(pendulum).state)
        ...     print(f"{abs(system.accelerate().body('rod').angular[2]):.6f}")
        0.000000
        >>> print(f"{system.accelerate().body('rod').angular[2]:.4f} rad/s^2")    # back at the start
        -14.7150 rad/s^2
        """
        state, values = self.state(), dict(self.inputs)
        try:
            yield
        finally:
            self.inputs.update(values)
            self.set_state(state)

    def accelerate(self, state: State | None = None) -> Accelerations:
        """Accelerations, reactions and efforts at a state, by default the current one.

        Raises Unsupported for contacts that resist rolling or spinning: only impulse-based steps have these.

        >>> found = bc.prepare(pendulum).accelerate()
        >>> print(found.joint("hinge").force.round(4))    # N: a quarter of the weight
        [0.     2.4525 0.    ]
        >>> print(f"{found.body('rod').angular[2]:.4f} rad/s^2")    # -3 g / (2 L)
        -14.7150 rad/s^2
        """
        refuse_resistances(self.model, "accelerate")
        if state is not None:
            self.set_state(state)
        return self._accelerations(state, settles=True)

    def held(self, state: State) -> tuple[Accelerations, float, float]:
        """What acts at a state at which dry friction holds all that rests, whatever that takes.

        Returns with it how much of its limits friction uses at the share of loads for which that is least: of
        all of them, and of the parts that do not grow with loads; infinite if no such limits would do.

        >>> rub = pendulum.add_force("rub", bc.JointFriction(coulomb=6.0), "hinge")
        >>> system = bc.prepare(pendulum)
        >>> found, used, fixed = system.held(system.state())
        >>> print(f"{used:.4f}, by hand {9.81 / 2 / 6.0:.4f}")    # of its limit
        0.8175, by hand 0.8175
        """
        self.set_state(state)
        of_all, of_constant = self.core.friction_use()
        return self._accelerations(state, settles=False), of_all, of_constant

    def _accelerations(self, state: State | None, settles: bool) -> Accelerations:
        """settles: which friction holds is found first."""
        linear, angular, multipliers = self.core.accelerate(settles)
        listed = [(blocks, pair) for _, blocks, pair in self.model.reactions]
        reactions, unique = self.core.reactions(listed)
        at = self.state() if state is None else state
        determined = self.core.determined_multipliers()
        rows, wrenches = self.core.left_open(listed)
        unique, determined = unique & ~wrenches, determined & ~rows
        return Accelerations(self.model, at, linear, angular, multipliers, reactions, unique, determined)

    def project(self, state: State | None = None, *, advice: str = ASSEMBLE) -> State:
        """Project the state onto the constraints, first positions, then velocities (with impacts on stops).

        advice: of the error, where positions cannot satisfy them.
        Raises AssemblyError, naming the worst row, if positions or velocities cannot satisfy the rows; the
        System then keeps the state it reached.

        >>> system = bc.prepare(arm)
        >>> state = system.state()
        >>> state.position[1, 1] += 0.01    # the elbow is apart
        >>> print(system.project(state).position[1].round(6))    # m
        [1. 0. 0.]
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

        >>> system = bc.prepare(pendulum)
        >>> blow = bc.Blow("rod", position=(2 / 3, 0, 0), impulse=(0, 1.0, 0))
        >>> after = system.strike([blow]).state
        >>> print(f"{after.angular_velocity[0, 2]:.4f} rad/s")    # 1 N s x 2/3 m / (1/3 kg m^2)
        2.0000 rad/s
        """
        if state is not None:
            self.set_state(state)
        return strike(self, what)

    def derivatives(
        self,
        state: State | None = None,
        *,
        of: Iterable[str] | str,
        by: Iterable[str] | str = ("states", "inputs"),
        mode: str = "auto",
        states: Iterable[str] | str = (),
    ) -> StateDerivatives:
        """Exact derivatives of quantities at a state, by default the current one.

        of: names as in tables of runs: "joint.pivot.theta_z" with ".rate" and ".acceleration",
            "body.rod.x", "body.rod.vx", "body.rod.ax", "body.rod.wz", "body.rod.alphaz", the same of named
            markers ("marker.rod.tip.vx"), "joint.pivot.Fx", "drive.motor.effort"; or groups of all that are
            of joints: "position", "velocity", "acceleration", "reaction"; and "effort" of drives and
            constraints.
        by: names of states, of inputs, of parameters, and "time"; or groups: "states", "inputs",
            "parameters". States are independent coordinates and their rates, as those of `bc.linearize`.
            Along each, all others stay, and what the constraints determine follows: where the length of a
            coupler changes, the loop stays closed. What was taken from the initial configuration, such as
            rest lengths, stays.
        mode: "forward" goes along each input, "backward" from each output; "auto" takes what is less work.
        states: names of coordinates to prefer as states.

        Points of compliant contact stick or slip on from the state, as `bc.linearize` has them.
        At a kink of a law or a formula the derivative is that of the side on which the state lies. Reactions
        and efforts that redundant constraints leave open are refused, or, in groups, marked in `unique`.

        Raises MechanismError for unknown names, for parameters that open a loop, for quantities that are not
        unique, where a stop is touched, and where contacts have kinks; AssemblyError if the state does not
        satisfy the constraints; Unsupported for `adaptive`, tyres,
        parameters on which other than numbers of the model depend (places of splines), and more than 500
        bodies.

        >>> found = bc.prepare(pendulum).derivatives(of="joint.hinge.theta_z.acceleration", by="parameters")
        >>> print(found.array.round(4), 3 * 9.81 / 2)    # of -3 g / (2 L) by L = 1 m
        [[14.715]] 14.715
        """
        found: StateDerivatives = views.derivatives(self, state, of, by, mode, states)
        return found

    def retract(self, state: State, velocity: Floats, angular_velocity: Floats, time: float = 1.0) -> State:
        """The state moved along velocities (nb, 3) and (nb, 3) of the frames, world axes, for a time in s.

        The centres of mass move on straight lines, rotations advance by the exponential map. Raises
        MechanismError for arrays of other shapes.

        >>> system = bc.prepare(block)
        >>> moved = system.retract(system.state(), np.array([[0, 0, 2.0]]), np.zeros((1, 3)), time=0.5)
        >>> print(moved.position[0])    # m
        [0. 0. 1.]
        """
        self.set_state(state)
        count = len(self.model.bodies)
        with Check("retract") as check:
            time = check.number("time", time, "s")
            turn = check.array("angular_velocity", angular_velocity, (count, 3), "rad/s")
            linear = check.array("velocity", velocity, (count, 3), "m/s")
        arms = rotate(state.rotation, self.model.com)
        shift = linear + np.cross(turn, arms)
        local = rotate(conjugate(self._principal_rotation(state)), turn)
        self.core.displace(np.ascontiguousarray(time * np.concatenate([shift, local], axis=1)))
        return self.state().at_time(state.time + time)

    def rows(self, state: State | None = None) -> Rows:
        """The constraint rows at a state, with a dense Jacobian.

        >>> rows = bc.prepare(pendulum).rows()
        >>> rows.names[0], rows.jacobian.shape    # rows, bodies, velocity and angular velocity
        ("joint 'hinge' (x)", (5, 1, 6))
        >>> print(rows.jacobian[0, 0].round(6))    # the hinge holds x
        [1. 0. 0. 0. 0. 0.]
        """
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
        return product(state.rotation, local)

    @property
    def stats(self) -> SystemStatistics:
        """What the system has computed so far, with the redundant rows by name."""
        dropped = tuple(DroppedRow(*self.model.describe_row(row), row) for row in self.core.dropped_rows())
        counts = dict(self.core.statistics())
        pivot = float(counts.pop("smallest_pivot"))
        for reported_elsewhere in ("uncertainty", "smallest_inertia", "dropped_rows"):
            counts.pop(reported_elsewhere)
        for seldom in ("precise", "linearizations", "difference_evaluations"):
            if not counts[seldom]:
                counts.pop(seldom)
        return SystemStatistics({name: int(value) for name, value in counts.items()}, dropped, pivot)

    def accuracy(self) -> Accuracy:
        """What double precision leaves open at the states so far.

        Formulations that lose digits of light bodies beside heavy ones are compared with `lagrange` in 32
        digits, at the current state and at the most doubtful one since the last call. The state stays.

        >>> system = bc.prepare(four_bar)
        >>> _ = system.accelerate()
        >>> system.accuracy().limit() == "", system.accuracy().accelerations < 1e-9
        (True, True)
        """
        known = Accuracy(float(self.core.statistics()["uncertainty"]))
        return known if self.judge is None else self.judge.accuracy(self.core, known)


def fastest(state: State) -> float:
    """The largest component of any velocity or angular velocity, m/s or rad/s."""
    return max(float(np.abs(v).max(initial=0.0)) for v in (state.velocity, state.angular_velocity))
