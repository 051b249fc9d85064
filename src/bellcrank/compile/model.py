"""The Model: a mechanism as flat arrays, with records of its elements and its graph. It is immutable."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Literal, TypeVar

import numpy as np

from bellcrank import _core
from bellcrank.compile.standing import Standing
from bellcrank.compile.start_values import taken_from
from bellcrank.compile.state import MEMORY, Floats, Ints, State, StateSource, adopted, by_coordinate
from bellcrank.errors import Fault, MechanismError, Unsupported
from bellcrank.mechanism.checking import Check, nearest, required
from bellcrank.mechanism.coordinate import COORDINATE_KINDS, FORMULA_COORDINATE, OF_FORMULAS
from bellcrank.mechanism.rows import Lowered

if TYPE_CHECKING:
    from bellcrank.compile.contacts import ContactRecord
    from bellcrank.mechanism.mechanism import Mechanism


EFFORT_UNITS = {"m": "N", "rad": "N m", "1": "N m", "J^0.5": "J^0.5"}
"""Unit of the effort along a coordinate, by the coordinate's unit."""

EQUATION_UNIT = "J/1"
"""Unit of the multiplier of an equation: energy by the unit of what is kept at zero."""

MULTIPLIER_KINDS: dict[str, Literal["drive", "limit", "motor", "constraint"]] = {
    "drive": "drive",
    "limit_lower": "limit",
    "limit_upper": "limit",
    "inertance": "motor",
    "constraint": "constraint",
    "equations": "constraint",
}
"""What a multiplier is of, by the role of its block."""

_ROUNDING: Final = 1e-13  # m: a distance that is none
_SystemAt = TypeVar("_SystemAt", bound="_core.SystemAt")
_FOLLOWED = {*(name for name, kind in COORDINATE_KINDS.items() if kind.angular), FORMULA_COORDINATE}


@dataclass(frozen=True)
class JointRecord:
    """A joint in the model.

    bodies: indices of its first and second body, the ground being the number of bodies.
    pair: its pair of markers.
    coordinates, coordinate_names, units: its free coordinates.
    blocks: the blocks of its own rows, those of its limits included; what they exert is its reaction.
    """

    name: str
    kind: str
    bodies: tuple[int, int]
    pair: int
    coordinates: tuple[int, ...]
    coordinate_names: tuple[str, ...]
    units: tuple[str, ...]
    blocks: tuple[int, ...]

    def coordinate_text(self, which: int) -> str:
        """A coordinate for messages: "joint 'pivot'", or "joint 'slot' (z)" where there are several."""
        several = len(self.coordinate_names) > 1
        return f"joint {self.name!r}" + (f" ({self.coordinate_names[which]})" if several else "")


@dataclass(frozen=True)
class CustomRecord:
    """An element given by formulas, or one that acts on the coordinate of such a joint.

    category: "joint", "constraint", "force" or "drive". kind: name of its kind, such as "PathJoint".
    lowered: what it becomes: its formulas (`custom`), rows and laws on own coordinates.
    ends: of a constraint or force: its markers, and its coordinates by their numbers in the model.
    starts: what formulas take from the initial configuration: (place in the values of formulas, coordinate).
    """

    category: str
    name: str
    kind: str
    lowered: Lowered
    ends: tuple[Any, ...] = ()
    starts: tuple[tuple[int, int], ...] = ()

    def __str__(self) -> str:
        return f"{self.category} {self.name!r} ({self.kind})"

    def with_starts(self, values: Sequence[float]) -> CustomRecord:
        """The same, where values that are taken from the initial configuration are those of formulas."""
        if not self.starts:
            return self
        custom: Any = self.lowered.custom
        taken = {
            symbol: values[place] for (symbol, _), (place, _) in zip(custom.starts, self.starts, strict=True)
        }
        known = tuple((symbol, taken.get(symbol, value)) for symbol, value in custom.values)
        return replace(self, lowered=replace(self.lowered, custom=replace(custom, values=known)))


@dataclass(frozen=True)
class ElementRecord:
    """A constraint, force or drive in the model: indices of its blocks, laws and wrenches.

    labels: of its laws.
    """

    name: str
    blocks: tuple[int, ...] = ()
    laws: tuple[int, ...] = ()
    wrenches: tuple[int, ...] = ()
    labels: tuple[str, ...] = ()


@dataclass(frozen=True)
class MultiplierRecord:
    """A row whose multiplier is a result: of a drive, a limit, a motor's rotor inertia, or a constraint.

    element: name of the drive, of the joint that has the limit, of the motor, or of the constraint.
    row, coordinate: indices in the model; -1 for a relation of several coordinates.
    sign: effort = sign * multiplier.
    """

    element: str
    kind: Literal["drive", "limit", "motor", "constraint"]
    row: int
    coordinate: int
    coordinate_name: str
    unit: str
    sign: float


@dataclass(frozen=True)
class StartValues:
    """What is taken from the initial configuration.

    rows: rows whose constant gives them the values `offsets` there. laws: (place in law_params, coordinate)
    of rest values. formulas: (place in the values of formulas, coordinate). wraps: (load of friction, whole
    turns of the rope around its wheel).
    """

    rows: tuple[int, ...] = ()
    laws: tuple[tuple[int, int], ...] = ()
    offsets: tuple[float, ...] = ()
    formulas: tuple[tuple[int, int], ...] = ()
    wraps: tuple[tuple[int, int], ...] = ()

    def __bool__(self) -> bool:
        return bool(self.rows or self.laws or self.formulas or self.wraps)


@dataclass(frozen=True)
class GivenValue:
    """A joint coordinate whose initial value or rate is given.

    joint: number of the joint. coordinate: index in the model. name: for messages,
        "position of joint 'pivot'".
    """

    joint: int
    coordinate: int
    value: float
    name: str


@dataclass(frozen=True, eq=False)
class Given:
    """The initial values given for joints, and the State of the bodies as described, before applying them.

    guesses: values that are left where constraints do not allow them. unsaid: the other coordinates of joints
        given by formulas of which some are given, as described.
    """

    positions: tuple[GivenValue, ...] = ()
    velocities: tuple[GivenValue, ...] = ()
    guesses: tuple[GivenValue, ...] = ()
    unsaid: tuple[GivenValue, ...] = ()
    described: State | None = None


@dataclass(frozen=True)
class Graph:
    """Components, a spanning forest rooted at the ground where it can be, and the edges that close loops.

    elements: per edge its joint or constraint, with its noun; joints come first, then constraints between two
        bodies. What holds nothing is no edge.
    topology: of these edges between the bodies, the ground coming last.
    component: per body the number of its component. The ground does not connect what is attached to it.
    grounded: per component whether something connects it to the ground.
    couplings: constraints that act on joint coordinates of more than two bodies; they belong to no loop.
    """

    elements: tuple[str, ...]
    topology: _core.Topology
    component: tuple[int, ...]
    grounded: tuple[bool, ...]
    couplings: tuple[str, ...]

    @property
    def closures(self) -> list[int]:
        """The edges that are not in the forest; each closes one loop."""
        return self.topology.closures

    def components(self) -> list[list[int]]:
        """The bodies of each component."""
        groups: list[list[int]] = [[] for _ in self.grounded]
        for body, number in enumerate(self.component):
            groups[number].append(body)
        return groups

    def loop(self, closure: int) -> list[str]:
        """The elements of the loop that an edge of `closures` closes, that edge first, in order."""
        return [self.elements[edge] for edge in self.topology.loop(closure)]


@dataclass(frozen=True)
class InputPlaces:
    """Where the value of an input stands in a model.

    params: its places in the array function_params.
    formula: its place among the values of the core's formulas, -1 where it is in none.
    constrains: whether it is in a drive, a constraint or a joint: then a change moves bodies or their speeds.
    """

    params: tuple[int, ...]
    formula: int
    constrains: bool


@dataclass(frozen=True, eq=False)
class Model:
    """A mechanism compiled: arrays, indices and names.

    bodies: names without the ground, whose index is len(bodies).
    arrays: what the core was given (see cpp/model/model.hpp). core: the core's model.
    block_owner: per block what it belongs to, such as "joint 'pivot'".
    start: what was taken from the initial configuration.
    initial: the State that the simulation starts from.
    given: initial values of joints that assembly has yet to satisfy.
    custom: elements given by formulas, as they were described. inputs: what may change in a run, and where.
    contacts: forces of the kind `Contact`, which act between shapes.
    described: the mechanism, if numbers in it are expressions of parameters. source: the mechanism.
    standing: which of its elements are in force, where it has changes.

    >>> model = bc.prepare(pendulum).model
    >>> model.bodies, model.mass.tolist(), model.row_count
    (('rod',), [1.0], 5)
    """

    name: str
    bodies: tuple[str, ...]
    joints: tuple[JointRecord, ...]
    constraints: tuple[ElementRecord, ...]
    forces: tuple[ElementRecord, ...]
    drives: tuple[ElementRecord, ...]
    multipliers: tuple[MultiplierRecord, ...]
    block_owner: tuple[str, ...]
    start: StartValues
    initial: State
    arrays: Mapping[str, Any]
    core: _core.Model
    given: Given = Given()
    custom: tuple[CustomRecord, ...] = ()
    described: Mechanism | None = None
    source: Mechanism | None = None
    inputs: Mapping[_core.Expression, InputPlaces] = field(default_factory=dict)
    contacts: tuple[ContactRecord, ...] = ()
    standing: Standing | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        if what := "elements given by formulas" if self.custom else "contacts" if self.contacts else "":
            rule = f"the Model of {self.name!r} has {what} and cannot be copied or pickled"
            raise Unsupported(f"{rule}: send the Mechanism")
        kept = {field.name: getattr(self, field.name) for field in fields(self) if field.name != "core"}
        return _restored, (kept,)

    def refuse_custom(self, who: str, taken: Collection[str]) -> None:
        """Raise Unsupported, naming them, for elements given by formulas of kinds that are not accepted."""
        refused = [str(record) for record in self.custom if record.kind not in taken]
        if refused:
            named = ", ".join(refused[:5]) + (f" and {len(refused) - 5} more" if len(refused) > 5 else "")
            raise Unsupported(f"{who} cannot take what is given by formulas: {named}")

    @property
    def mass(self) -> Floats:
        """Masses (nb,), kg."""
        return _floats(self.arrays["body_mass"])

    @property
    def unweighed(self) -> tuple[str, ...]:
        """The bodies of which nobody stated a mass, whose `mass` and `inertia` are stand-ins."""
        bodies = () if self.source is None else self.source.bodies.values()
        return tuple(body.name for body in bodies if not body.mass_known)

    def refuse_unweighed(self) -> None:
        """Raise MechanismError, naming them, for bodies whose masses are not known."""
        if found := self.unweighed:
            named = ", ".join(map(repr, found[:8]))
            named += f" and {len(found) - 8} more" if len(found) > 8 else ""
            advice = (
                "give each a mass and an inertia, or a density where its file is loaded, as in "
                "bc.load(path, density=2700); kinematics, inverse kinematics and pictures need none"
            )
            rule = f"it has bodies whose masses are not known: {named}"
            raise MechanismError(Fault(f"mechanism {self.name!r}", rule, None, advice))

    @property
    def com(self) -> Floats:
        """Centres of mass (nb, 3) in body frames, m."""
        return _floats(self.arrays["body_com"])

    @property
    def inertia(self) -> Floats:
        """Inertias (nb, 3, 3) about the com in body axes, kg m^2."""
        return _floats(self.arrays["body_inertia"])

    @property
    def gravity(self) -> Floats:
        """Acceleration of free fall (3,), world axes, m/s^2."""
        return _floats(self.arrays["gravity"])

    @property
    def ground(self) -> int:
        """Index of the ground."""
        return len(self.bodies)

    @property
    def row_count(self) -> int:
        """Number of constraint rows."""
        return len(self.arrays["row_constant"])

    @cached_property
    def row_block(self) -> Ints:
        """The block of each row (rows,)."""
        starts = self.arrays["block_row_start"]
        return np.repeat(np.arange(len(starts) - 1, dtype=np.int32), np.diff(starts))

    @cached_property
    def rigid_rows(self) -> np.ndarray:
        """Which rows hold as equations at all times (rows,): neither stops nor inertances."""
        arrays = self.arrays
        rigid = (arrays["block_unilateral"] == 0) & (arrays["block_compliance"] == 0.0)
        return np.asarray(rigid[self.row_block])

    @cached_property
    def one_sided(self) -> np.ndarray:
        """Which rows may open (rows,): stops, and cables."""
        return np.asarray(((self.arrays["block_unilateral"] != 0) & (self._friction < 0))[self.row_block])

    @cached_property
    def friction_rows(self) -> dict[int, int]:
        """The rows that friction holds, by its law."""
        blocks = np.flatnonzero(self._friction >= 0).tolist()
        return {int(self._friction[block]): self.rows_of(block).start for block in blocks}

    def rubs_along(self, law: int) -> tuple[int, list[tuple[int, float]]]:
        """Of a law of friction that holds the one whose state it shares, and what that acts along.

        The coordinates by number, each with its factor and a law of its own, from that one on.
        """
        first = int(self.arrays["law_friction"][law])
        return first, self.terms(self.friction_rows[first])

    def is_friction_that_holds(self, law: int) -> bool:
        """Whether a law is friction that holds, or one of several of it along a sum of coordinates."""
        return int(self.arrays["law_friction"][law]) in self.friction_rows

    @property
    def _friction(self) -> np.ndarray:
        found = self.arrays.get("block_friction")
        return np.full(len(self.block_owner), -1) if found is None else np.asarray(found)

    @cached_property
    def stops(self) -> Mapping[str, list[int]]:
        """The rows that may open, by what they belong to."""
        found: dict[str, list[int]] = {}
        for row in np.flatnonzero(self.one_sided).tolist():
            found.setdefault(self.block_owner[self.row_block[row]], []).append(row)
        return found

    def rows_of(self, block: int) -> range:
        """The rows of a block."""
        return range(*self.arrays["block_row_start"][block : block + 2].tolist())

    def terms(self, row: int) -> list[tuple[int, float]]:
        """The coordinates in a row, by number, each with its coefficient."""
        part = slice(*self.arrays["row_term_start"][row : row + 2].tolist())
        coordinates, factors = (self.arrays[f"term_{name}"][part] for name in ("coordinate", "coefficient"))
        return list(zip(coordinates.tolist(), factors.tolist(), strict=True))

    def law(self, law: int) -> tuple[list[float], _core.Function | None]:
        """Parameters and function of a force law."""
        params = self.arrays["law_params"][slice(*self.arrays["law_param_start"][law : law + 2])]
        function = int(self.arrays["law_function"][law])
        return params.tolist(), None if function < 0 else self.core_function(function)

    @property
    def contact_shapes(self) -> tuple[int, ...]:
        """The bodies of the shapes that touch, by the numbers of the shapes."""
        return tuple(self.arrays["contacts"].bodies) if self.contacts else ()

    @cached_property
    def angular(self) -> Ints:
        """Coordinates that depend on their history: angles, by whole turns, and those given by formulas."""
        kinds = self.arrays["coordinate_kind"]
        found = [i for i, kind in enumerate(kinds) if kind in _FOLLOWED]
        return np.array(found, dtype=np.int32)

    @cached_property
    def coordinate_bodies(self) -> Ints:
        """The two bodies of each coordinate (coordinates, 2)."""
        return np.asarray(self.arrays["pair_bodies"][self.arrays["coordinate_pair"]])

    @cached_property
    def body_index(self) -> Mapping[str, int]:
        """Index of each body by name, "ground" included."""
        return {name: index for index, name in enumerate((*self.bodies, "ground"))}

    @cached_property
    def joint_index(self) -> Mapping[str, int]:
        """Index of each joint by name."""
        return _index(self.joints)

    @cached_property
    def drive_index(self) -> Mapping[str, int]:
        """Index of each drive by name."""
        return _index(self.drives)

    def body_number(self, name: str) -> int:
        """Index of a body other than the ground. Raises MechanismError with close matches."""
        return _lookup("body", self.body_index, name, self.bodies)

    def joint(self, name: str) -> JointRecord:
        """A joint by name. Raises MechanismError with close matches."""
        return self.joints[_lookup("joint", self.joint_index, name)]

    def drive(self, name: str) -> ElementRecord:
        """A drive by name. Raises MechanismError with close matches."""
        return self.drives[_lookup("drive", self.drive_index, name)]

    @cached_property
    def reactions(self) -> tuple[tuple[str, list[int], int], ...]:
        """For each joint with rows: its name, its blocks, and its pair; in the order of results."""
        return tuple((joint.name, list(joint.blocks), joint.pair) for joint in self.joints if joint.blocks)

    @cached_property
    def reaction_number(self) -> Mapping[str, int]:
        """Place of each joint's reaction in `reactions`, by name of the joint."""
        return {name: number for number, (name, _, _) in enumerate(self.reactions)}

    @cached_property
    def graph(self) -> Graph:
        """Components, spanning forest and loops of the mechanism."""
        touched = [
            (
                f"constraint {record.name!r}",
                sorted({b for block in record.blocks for b in self.core.bodies_of(block)}),
            )
            for record in self.constraints
        ]
        joints = [(f"joint {j.name!r}", list(j.bodies)) for j in self.joints if j.blocks]
        edges = [*joints, *((name, bodies) for name, bodies in touched if len(bodies) == 2)]
        nodes = len(self.bodies) + 1
        component, _, grounded = _core.components(nodes, [bodies for _, bodies in (*joints, *touched)])
        return Graph(
            tuple(name for name, _ in edges),
            _core.Topology(nodes, [(first, second) for _, (first, second) in edges], len(joints)),
            tuple(component[:-1]),
            tuple(map(bool, grounded)),
            tuple(name for name, bodies in touched if len(bodies) > 2),
        )

    def describe_row(self, row: int) -> tuple[str, str]:
        """What a row belongs to and what it is about: ("joint 'pivot'", "e1")."""
        names = [self._term_name(c) for c, _ in self.terms(row)]
        block = int(self.row_block[row])
        number = int(row - self.arrays["block_row_start"][block])
        return self.block_owner[block], " and ".join(dict.fromkeys(names)) or self._equation_name(
            block, number
        )

    @cached_property
    def _formula_joints(self) -> Mapping[int, tuple[JointRecord, Any]]:
        """Joints given by formulas and their kinds, by their pair of markers; none in a nameless model."""
        named = self.joint_index
        written = [r for r in self.custom if r.category == "joint" and r.name in named]
        joints = [(self.joint(record.name), record.lowered.custom) for record in written]
        return {joint.pair: (joint, kind) for joint, kind in joints}

    def _term_name(self, coordinate: int) -> str:
        """The name of a coordinate in a row; of a row of a joint given by formulas, what it demands."""
        kind: str = self.arrays["coordinate_kind"][coordinate]
        if kind not in OF_FORMULAS:
            return kind
        pair = int(self.arrays["coordinate_pair"][coordinate])
        if pair not in self._formula_joints:
            return kind
        joint, written = self._formula_joints[pair]
        number = int(self.arrays["coordinate_params"][self.arrays["coordinate_param_start"][coordinate] + 1])
        return joint.coordinate_names[number] if kind == FORMULA_COORDINATE else str(written.rule)

    def _equation_name(self, block: int, number: int) -> str:
        """What an equation without coordinates demands: of a joint, that it rolls."""
        for joint, written in self._formula_joints.values():
            if block in joint.blocks:
                return str(written.rolling_rules[number])
        return f"equation {number + 1}"

    def row_text(self, row: int) -> str:
        """The same as one text: "joint 'pivot' (e1)"."""
        owner, what = self.describe_row(row)
        return f"{owner} ({what})"

    def with_arrays(self, **arrays: Any) -> Model:
        """The same model with some arrays replaced."""
        changed = {**self.arrays, **arrays}
        return replace(self, arrays=changed, core=_core.Model(**changed))

    def put(self, core: _SystemAt, state: State, continued: bool = False) -> _SystemAt:
        """Take a system of this model to a state, with the whole turns of its angles if it contains them.

        Returns the system.

        continued: if it does not, angles continue from their current values.
        Raises MechanismError for anything but a finite state of this mechanism.
        """
        required("state", state, State, "such as run.at(t), or system.state()")
        with Check("state") as check:
            continued = check.flag("continued", continued)
        state = adopted(self, state)
        core.set_state(*state.arrays, continued, by_coordinate(self, state.angles))
        try:
            if state.contacts is not None and self.contacts:
                core.set_contact_memory(state.contacts.view((np.float64, MEMORY.itemsize // 8)))
        except ValueError as error:
            raise MechanismError(Fault("state", str(error))) from None
        return core

    def state_of(self, core: _core.SystemAt) -> State:
        """The state of a system of this model, with the turns of its angles."""
        memory = core.contact_memory().view(MEMORY).ravel() if self.contacts else None
        angles = core.coordinates()[0][self.angular]
        return State(*core.state(), angles=angles, contacts=memory, source=self.state_source)

    @cached_property
    def state_source(self) -> StateSource:
        """The names behind the numbers of this model's states."""
        return StateSource.of(self)

    def started(self, state: State) -> Model:
        """The same model starting from `state`, with values taken from the initial configuration.

        Initial values given for joints no longer apply.
        """
        return self.starting(state, Given())

    def starting(self, state: State, given: Given) -> Model:
        """The same, where `given` has yet to be satisfied."""
        model = replace(self, initial=state, given=given)
        return taken_from(model, state) if self.start else model

    def coordinate_values(self, state: State) -> Floats:
        """Values of all coordinates at a state; angles as it contains them, else as they would start."""
        return self.coordinate_motion(state)[0]

    def coordinate_motion(self, state: State) -> tuple[Floats, Floats]:
        """Values and rates of all coordinates at a state."""
        return self.put(_core.Bodies(self.core), state).coordinates()

    def size(self, state: State) -> float:
        """The size of the mechanism, m: how far markers are from their frames, and these from each other."""
        reach = float(np.max(np.abs(self.arrays["pair_positions"]), initial=0.0))
        spread = np.ptp(state.position, axis=0) if len(state.position) else np.zeros(3)
        found = max(reach, float(np.linalg.norm(spread)))
        return found if found > _ROUNDING else 1.0

    def function_value(self, function: int, x: float) -> float:
        """Value of one of the model's functions at x."""
        return float(self.core_function(function)(np.array([x]))[0, 0])

    def core_function(self, function: int) -> _core.Function:
        """One of the model's functions, as the core evaluates it."""
        begin, end = self.arrays["function_param_start"][function : function + 2]
        return _core.Function(
            self.arrays["function_kind"][function],
            self.arrays["function_params"][begin:end].tolist(),
            self.arrays["function_expressions"].get(function),
        )


def _restored(parts: dict[str, Any]) -> Model:
    return Model(**parts, core=_core.Model(**parts["arrays"]))


def _floats(array: Any) -> Floats:
    return np.asarray(array, dtype=np.float64)


def _index(records: Iterable[JointRecord | ElementRecord]) -> dict[str, int]:
    return {record.name: index for index, record in enumerate(records)}


def _lookup(noun: str, index: Mapping[str, int], name: str, known: Sequence[str] | None = None) -> int:
    """The index of a name. known: the names that count, the first ones of the index; by default all."""
    number = index.get(name) if isinstance(name, str) else None
    if number is not None and (known is None or number < len(known)):
        return number
    names = list(index if known is None else known)  # tens of thousands: not where there is no error
    raise MechanismError(
        Fault(f"{noun} {name!r}", f"there is no {noun} of this name", None, nearest(name, names))
    )
