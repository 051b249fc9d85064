"""Commands that add elements in the form of mechanism files, assemble them, and show what they make."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from bellcrank.errors import Fault, FaultList, MechanismError
from bellcrank.io import yaml_format
from bellcrank.io.document import Document, DocumentReader
from bellcrank.io.node import Entries, Items, Node, Place, Scalar, resolved
from bellcrank.mechanism.checking import nearest
from bellcrank.mechanism.contents import ELEMENTS
from bellcrank.mechanism.mechanism import Mechanism
from bellcrank.mechanism.parameters import Input, inputs_of
from bellcrank.shell.forces import weights_following
from bellcrank.shell.language import Argument, Command, Given, Option, Reply
from bellcrank.shell.parsing import plain_fields
from bellcrank.shell.pictures import drawn
from bellcrank.shell.session import Session, fresh

if TYPE_CHECKING:
    from bellcrank._core import Expression
    from bellcrank.analysis.info import MechanismInfo


GROUP: Final = "Elements"
NAME: Final = Argument("name", "name")
KIND: Final = Argument("kind", "text")
_TABLES = (*ELEMENTS, "markers")


def node_of(text: str) -> Node:
    """The node of a value: a list or mapping in brackets as in YAML, or a scalar."""
    if text[:1] in ("[", "{"):
        found = yaml_format.parse(text)
        assert found is not None
        return found
    return Scalar(1, 1, resolved(text), text)


def entries_of(values: Mapping[str, Node]) -> Entries:
    """A mapping of nodes."""
    return Entries(1, 1, tuple((Scalar(1, 1, key, key), node) for key, node in values.items()))


def added(session: Session, noun: str, name: str, values: dict[str, Node], structure: bool = True) -> Reply:
    """Add an element, named by its noun, with the reader of mechanism files."""

    def add(mechanism: Mechanism) -> None:
        faults = FaultList()
        reader = DocumentReader(faults, Path.cwd(), lambda _node, _place: None, Document(mechanism))
        known = {n: parameter.symbol for n, parameter in mechanism.parameters.items()}
        reader.names = _inputs(session) | known
        adder: Callable[..., object] = getattr(reader, f"add_{noun}")
        adder(name, entries_of(values), Place(element=f"{noun} {name!r}"))
        if len(faults) > 0:
            raise MechanismError(
                [Fault(f.element, f.rule, f.value, f.advice, None, f.excerpt) for f in faults]
            )

    session.edit(add, structure)
    return Reply(data={noun: name})


def fields_of(given: Given) -> dict[str, Node]:
    """The fields of a line as nodes."""
    return {key: node_of(text) for key, text in given.fields.items()}


def _body(session: Session, given: Given) -> Reply:
    return added(session, "body", given["name"], fields_of(given))


def _marker(session: Session, given: Given) -> Reply:
    return added(session, "marker", given["name"], fields_of(given), structure=False)


def _joint(session: Session, given: Given) -> Reply:
    ends = {"first": node_of(given["first"]), "second": node_of(given["second"])}
    return added(
        session, "joint", given["name"], {"type": node_of(given["kind"]), **ends, **fields_of(given)}
    )


def _join(session: Session, given: Given) -> Reply:
    bodies = Items(1, 1, tuple(map(node_of, given["bodies"])))
    return added(
        session,
        "joint",
        given["name"],
        {"type": node_of(given["kind"]), "bodies": bodies, **fields_of(given)},
    )


def _member(session: Session, given: Given) -> Reply:
    return added(session, "member", given["name"], {"type": node_of(given["kind"]), **fields_of(given)})


def _attached(noun: str, example: str) -> Command:
    """The command that adds a constraint, a force, a sensor or a change."""

    def add(session: Session, given: Given) -> Reply:
        name = given["name"]
        if noun == "force" and name in session.now.off:
            raise MechanismError(Fault(f"force {name!r}", "this name is taken by a force that is off"))
        ends = Items(1, 1, tuple(map(node_of, given["ends"])))
        values = {
            "type": node_of(given["kind"]),
            **({"ends": ends} if given["ends"] else {}),
            **fields_of(given),
        }
        return added(session, noun, name, values, structure=noun not in ("force", "sensor"))

    return Command(
        noun,
        f"Add a {noun} of a kind {'at' if noun in ('sensor', 'change') else 'between'} its ends.",
        add,
        (NAME, KIND, Argument("ends", "end", repeated=True)),
        fields="parameter=...",
        example=example,
    )


def _drive(session: Session, given: Given) -> Reply:
    driven = {"joint": node_of(given["joint"])} if given.get("joint") is not None else {}
    return added(session, "drive", given["name"], {**driven, **fields_of(given)})


def _inputs(session: Session) -> dict[str, Expression]:
    """The inputs of the mechanism, and those created for it that nothing follows yet."""
    return {**{one.name: one for one in session.now.inputs}, **inputs_of(session.mechanism)}


def _input(session: Session, given: Given) -> Reply:
    name, value, known = given["name"], given.get("value"), _inputs(session)
    if name not in known and value is not None:
        known[name] = Input(name, value, **plain_fields(given.fields, ("unit",), "input"))
    elif name not in known:
        raise MechanismError(
            Fault(f"input {name!r}", "there is none of this name", None, nearest(name, known))
        )
    elif given.fields:
        raise MechanismError(Fault(f"input {name!r}", "it is there already: only its value can be set"))
    one = known[name]
    now = session.now.inputs.get(one, one.value)
    if value is not None:
        session.set(inputs={**session.now.inputs, one: value})
        now = value
    return Reply(f"{now:.9g} {one.unit}".rstrip(), {"input": name, "value": now})


def _parameter(session: Session, given: Given) -> Reply:
    name = given["name"]
    if name in session.mechanism.parameters:
        if given.fields:
            raise MechanismError(
                Fault(f"parameter {name!r}", "it is there already: only its value can be set")
            )
        with weights_following(session):
            session.set(mechanism=session.mechanism.with_parameters(**{name: given["value"]}))
        return Reply(data={"parameter": name, "value": given["value"]})
    value = Scalar(1, 1, given["value"], repr(given["value"]))
    return added(session, "parameter", name, {"value": value, **fields_of(given)}, structure=False)


def _gravity(session: Session, given: Given) -> Reply:
    session.edit(lambda m: setattr(m, "gravity", given["gravity"]), structure=False)
    return Reply(data={"gravity": given["gravity"]})


def _remove(session: Session, given: Given) -> Reply:
    name, mechanism = given["name"], session.mechanism
    if name in session.now.off:
        session.set(off={n: f for n, f in session.now.off.items() if n != name})
        return Reply(data={"removed": name})
    tables = [table for table in _TABLES if name in getattr(mechanism, table)]
    if not tables:
        known = [n for table in _TABLES for n in getattr(mechanism, table)]
        raise MechanismError(Fault("remove", "there is no element of this name", name, nearest(name, known)))
    cascade = "-all" in given.options
    if len(tables) > 1 and not cascade:
        advice = "-all takes out all of them and what refers to them"
        rule = f"there is one in each of {', '.join(tables)}"
        raise MechanismError(Fault("remove", rule, name, advice))

    def take(mechanism: Mechanism) -> None:
        for table in tables:
            if (element := getattr(mechanism, table).get(name)) is not None:
                mechanism.remove(element, cascade=cascade)

    session.edit(take, structure=not set(tables) <= {"forces", "sensors"})
    gone = {n: f for n, f in session.now.off.items() if not _stands(session.mechanism, f)}
    session.set(off={n: f for n, f in session.now.off.items() if n not in gone})
    return Reply(data={"removed": name})


def _stands(mechanism: Mechanism, force: Any) -> bool:
    """Whether everything that a force acts on still exists."""
    bodies = all(marker.body in ("ground", *mechanism.bodies) for marker in force.markers)
    return bodies and all(end.joint in mechanism.joints for end in force.joint_coordinates)


def _new(session: Session, given: Given) -> Reply:
    name = given.get("name") or "mechanism"
    session.now = fresh(name)
    return Reply(data={"name": name})


def _info(session: Session, given: Given) -> Reply:  # noqa: ARG001
    from bellcrank.analysis.info import info

    if not session.mechanism.bodies:
        return Reply(repr(session.mechanism), {"name": session.mechanism.name, "bodies": 0})
    found = info(session.mechanism)
    rows = _rows(found)
    return Reply(
        "\n".join(f"{name:16} {value}" for name, value in rows.items()), {"name": found.name, **rows}
    )


def _rows(found: MechanismInfo) -> dict[str, Any]:
    return {
        "bodies": found.bodies,
        "joints": found.joints,
        **({"beams": found.beam_text} if found.beams else {}),
        "rows": found.rows,
        "freedom": found.freedom,
        "redundant": ", ".join(map(str, found.redundant)) or "none",
        "loops": found.loops,
        "mass": found.mass,
    }


def _assemble(session: Session, given: Given) -> Reply:
    from bellcrank.analysis.assemble import assemble

    options = plain_fields(given.fields, ("method", "time_constant"), "assemble")
    session.commit()
    pinned = given["pinned"]
    report = session.edit(lambda m: assemble(m, session.now.start, pinned=pinned, **options))
    data = {"changed": report.changed, "report": str(report)}
    if report.motion is None:
        return Reply(str(report), data)
    session.set(history=(report.motion,))
    frames = drawn(session, report.motion)
    text = "\n".join([*frames.pop("lines", ()), str(report)])
    return Reply(text, {**data, "frames": len(report.motion), **frames})


COMMANDS: Final = (
    Command(
        "new",
        "Begin an empty mechanism, without gravity.",
        _new,
        (Argument("name", "name", optional=True),),
        example="new linkage",
    ),
    Command(
        "gravity",
        "Set the acceleration of free fall for all bodies, world axes.",
        _gravity,
        (Argument("gravity", "number", 3, "m/s^2"),),
        example="gravity 0 0 -9.81",
    ),
    Command(
        "parameter",
        "Make a parameter, on which numbers may depend, or give one another value.",
        _parameter,
        (NAME, Argument("value", "number")),
        fields="unit=... low=... high=... doc=...",
        example="parameter reach 0.4 unit=m low=0.1",
    ),
    Command(
        "input",
        "Make an input, on which drives, forces and formulas may depend, or set one, for what is run from "
        "now on; without a value, show it.",
        _input,
        (NAME, Argument("value", "number", optional=True)),
        fields="unit=...",
        example="input torque 1.2",
    ),
    Command(
        "body",
        "Add a body.",
        _body,
        (NAME,),
        fields="mass=... inertia=[...] shapes=[...] ...",
        example='body crank mass="500 g" inertia=[1e-3, 1e-3, 1e-3] com=[0.1, 0, 0]',
    ),
    Command(
        "marker",
        "Add a marker with a name, body.name.",
        _marker,
        (NAME,),
        fields="position=[...] axis=[...] ...",
        example="marker stick0.tip position=[0, 0, 5]",
    ),
    Command(
        "joint",
        "Add a joint of a kind between two markers or bodies.",
        _joint,
        (NAME, KIND, Argument("first", "end"), Argument("second", "end")),
        fields="parameter=... limits={...} position=...",
        example="joint pivot Revolute {body: rod, position: [0, 0, 1], axis: [0, 1, 0]} stick0",
    ),
    Command(
        "join",
        "Join bodies by joints of a kind at a point of the world, where they meet now: each to the first.",
        _join,
        (NAME, KIND, Argument("bodies", "carrier", repeated=True)),
        fields="at=[...] axis=[...] limits={...} ...",
        example="join knee Revolute rod stick0 at=[0, 0, 2] axis=[0, 1, 0]",
    ),
    Command(
        "member",
        "Add a rod, or a gas spring or cylinder with its bodies, between two points of the world.",
        _member,
        (NAME, KIND),
        fields="start=[...] end=[...] between=[...] axis=[...] ...",
        example="member stay Rod start=[0, 0, 0] end=[1, 0, 0] radius=0.02 between=[ground, rod]",
    ),
    _attached("constraint", "constraint rope Cable rod stick0 length=9 slack=true"),
    _attached("force", 'force spring SpringDamper rod stick0 stiffness="200 N/m" rest_length=1'),
    Command(
        "drive",
        "Drive a joint's coordinate as a function of time, or a marker along a path.",
        _drive,
        (NAME, Argument("joint", "end", optional=True)),
        fields="position=... velocity=... marker=... path=...",
        example='drive servo swing position="0.2*sin(2*t)"',
    ),
    _attached("sensor", 'sensor imu IMU rod period="5 ms" noise=0.01'),
    _attached("change", 'change cut Release of=swing when="t > 0.5"'),
    Command(
        "remove",
        "Take out an element.",
        _remove,
        (Argument("name", "element"),),
        (Option("-all", "With all that refers to it."),),
        example="remove stringM1",
    ),
    Command(
        "assemble",
        "Move the bodies until all joints and constraints fit; those that are named stay where they are. "
        "With method=constraint_forces they come together as if critically damped, in about 24 time "
        "constants; the motion is drawn as steps are, and plot shows it until something is run.",
        _assemble,
        (Argument("pinned", "body", repeated=True),),
        fields="method=... time_constant=...",
        example="assemble stick0 method=constraint_forces",
    ),
    Command(
        "info",
        "Show what the mechanism consists of, its degrees of freedom, redundant constraints and loops.",
        _info,
        example="info",
        keeps=True,
    ),
)
