"""Commands that change what is there: values of elements, their names, sizes of bodies, copies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from bellcrank.errors import Fault, MechanismError
from bellcrank.io.decode import AXES
from bellcrank.io.encode import encoded
from bellcrank.io.files import loads
from bellcrank.io.json_format import write
from bellcrank.io.node import plain as plain_of
from bellcrank.mechanism.checking import nearest
from bellcrank.mechanism.contents import ELEMENTS
from bellcrank.mechanism.copying import array_bodies, copy_bodies, mirror_bodies
from bellcrank.mechanism.marker import GROUND
from bellcrank.mechanism.mechanism import Mechanism
from bellcrank.mechanism.parameters import inputs_of
from bellcrank.mechanism.reshaping import mass_source, move_point, set_length
from bellcrank.shell.description import node_of
from bellcrank.shell.language import BODY, Argument, Command, Given, Reply
from bellcrank.shell.parsing import plain_fields
from bellcrank.shell.session import Session

GROUP: Final = "Changes"
_FIXED: Final = ("bellcrank",)
_TABLES: Final = tuple(ELEMENTS)
_NAMES: Final = Argument("names", "body", repeated=True)


def _edit(session: Session, given: Given) -> Reply:
    path, value = plain_of(node_of(given["path"])), plain_of(node_of(given["value"]))
    if not isinstance(path, list) or not path or not all(isinstance(key, (str, int)) for key in path):
        advice = "such as [bodies, crank, mass] or [bodies, rod, shapes, 0, radius]"
        raise MechanismError(Fault("edit", "the path is a list of names and numbers", given["path"], advice))
    changed = edited(session.mechanism, path, value)
    known = {one.name: now for one, now in session.now.inputs.items()}
    kept = {one: known[name] for name, one in inputs_of(changed).items() if name in known}
    unused = {one: now for one, now in session.now.inputs.items() if one.name not in inputs_of(changed)}
    session.set(mechanism=changed, inputs={**unused, **kept})
    return Reply(data={"path": path})


def edited(mechanism: Mechanism, path: list[Any], value: Any) -> Mechanism:
    """A mechanism with another value at a path of its file; None goes back to the usual value.

    Raises MechanismError for a path that leads nowhere, and for values that files may not have there.
    """
    element = ".".join(map(str, path))
    data: Any = encoded(mechanism)
    at = data
    for depth, key in enumerate(path[:-1]):
        at = _inside(mechanism, at, key, element, depth)
    _set(at, path[-1], value, element)
    _weigh_again(mechanism, data, path)
    if path[0] in _FIXED:
        raise MechanismError(Fault(element, "this cannot be edited"))
    made = loads(write(data), "json")
    made.left_out, made.collisions = mechanism.left_out, mechanism.collisions
    return made


def _weigh_again(mechanism: Mechanism, data: Any, path: list[Any]) -> None:
    """Leave out what follows from shapes, where the shapes of a body were changed, or its mass."""
    if len(path) < 3 or path[0] != "bodies" or path[1] not in mechanism.bodies:
        return
    source = mass_source(mechanism.bodies[path[1]]) if path[2] in ("mass", "shapes") else ""
    if source:
        weighed = source == "shapes" and path[2] == "shapes"
        for key in ("inertia", "com", *(["mass"] if weighed else [])):
            data["bodies"][path[1]].pop(key, None)


def _inside(mechanism: Mechanism, at: Any, key: Any, element: str, depth: int) -> Any:
    """What is under a key; references are written out, so that there is something inside them."""
    if isinstance(at, dict) and isinstance(key, str):
        if depth == 0 and key not in at:
            raise MechanismError(Fault(element, "there is nothing there", key, nearest(key, at)))
        if key not in at:
            at[key] = {}  # fields that were left out
        if isinstance(at[key], str) and (found := _written_out(mechanism, at[key])) is not None:
            at[key] = found
        if isinstance(at[key], (dict, list)):
            return at[key]
        raise MechanismError(Fault(element, "there is nothing inside of this", key))
    if isinstance(at, list) and isinstance(key, int) and 0 <= key < len(at):
        if isinstance(at[key], str) and (found := _written_out(mechanism, at[key])) is not None:
            at[key] = found
        return at[key]
    known = list(at) if isinstance(at, dict) else [f"0 to {len(at) - 1}"]
    raise MechanismError(Fault(element, "there is nothing there", key, nearest(str(key), known)))


def _written_out(mechanism: Mechanism, text: str) -> dict[str, Any] | None:
    """A reference to a marker or to the frame of a body, in numbers."""
    if text in mechanism.markers:
        marker = mechanism.markers[text]
        return {"body": marker.body, "position": list(marker.position), "rotation": list(marker.rotation)}
    return {"body": text} if text == GROUND or text in mechanism.bodies else None


def _set(at: Any, key: Any, value: Any, element: str) -> None:
    if isinstance(at, list):
        if not isinstance(key, int) or not 0 <= key <= len(at):
            raise MechanismError(Fault(element, f"a number from 0 to {len(at)} is needed here", key))
        if value is None and key < len(at):
            del at[key]
        elif key == len(at):
            at.append(value)
        else:
            at[key] = value
        return
    if not isinstance(key, str):
        raise MechanismError(Fault(element, "a name is needed here", key))
    if value is None:
        at.pop(key, None)
        return
    if key in ("rotation", *AXES):
        for other in ("rotation", *AXES):
            at.pop(other, None)
    at[key] = value


def _rename(session: Session, given: Given) -> Reply:
    table, name, to = given["table"], given["name"], given["to"]

    def change(mechanism: Mechanism) -> None:
        elements: Mapping[str, Any] = getattr(mechanism, table)
        if name not in elements:
            rule = f"there is no {ELEMENTS[table]} of this name"
            raise MechanismError(Fault("rename", rule, name, nearest(name, elements)))
        mechanism.replace(elements[name], name=to)

    session.edit(change, structure=False)
    return Reply(data={"name": to})


def _vector(given: Given, name: str) -> Any:
    return plain_of(node_of(given[name]))


def _length(session: Session, given: Given) -> Reply:
    ends = (_vector(given, "first"), _vector(given, "second"))
    session.edit(lambda m: set_length(m, given["body"], *ends, given["length"]), structure=False)
    return Reply(data={"body": given["body"], "length": given["length"]})


def _reshape(session: Session, given: Given) -> Reply:
    ends = (_vector(given, "point"), _vector(given, "to"))
    session.edit(lambda m: move_point(m, given["body"], *ends), structure=False)
    return Reply(data={"body": given["body"]})


def _options(given: Given, known: tuple[str, ...], where: str) -> dict[str, Any]:
    """Fields: lists in brackets, numbers with their units."""
    plain_fields(given.fields, known, where)
    return {name: plain_of(node_of(text)) for name, text in given.fields.items()}


def _copy(session: Session, given: Given) -> Reply:
    options = _options(given, ("offset",), "copy")
    names = session.edit(lambda m: copy_bodies(m, given["names"], **options))
    return Reply(data={"names": list(names)})


def _mirror(session: Session, given: Given) -> Reply:
    options = {"normal": (1.0, 0.0, 0.0)} | _options(given, ("normal", "point"), "mirror")
    names = session.edit(lambda m: mirror_bodies(m, given["names"], **options))
    return Reply(data={"names": list(names)})


def _array(session: Session, given: Given) -> Reply:
    options = {"count": 2} | _options(given, ("count", "offset", "angle", "axis", "point"), "array")
    names = session.edit(lambda m: array_bodies(m, given["names"], **options))
    return Reply(data={"names": list(names)})


COMMANDS: Final = (
    Command(
        "edit",
        "Set a value of an element, at its path in the mechanism file; null goes back to the usual value. "
        "Time and state go on where the change allows it.",
        _edit,
        (Argument("path", "text"), Argument("value", "text")),
        example="edit [bodies, rod, mass] 2.5",
    ),
    Command(
        "rename",
        "Give an element another name; what refers to it follows.",
        _rename,
        (Argument("table", "choice", choices=_TABLES), Argument("name", "text"), Argument("to", "text")),
        example="rename bodies rod lever",
    ),
    Command(
        "length",
        "Give two points of a body another distance: all of it is stretched along their line; the first "
        "stays.",
        _length,
        (BODY, Argument("first", "text"), Argument("second", "text"), Argument("length", "number", unit="m")),
        example="length rod [0, 0, 0] [0, 0, 1] 1.2",
    ),
    Command(
        "reshape",
        "Move a point of a body with the markers and ends of joints that are there; a rod follows it.",
        _reshape,
        (BODY, Argument("point", "text"), Argument("to", "text")),
        example="reshape stick1 [0, 0, 1] [0, 0, 1.2]",
    ),
    Command(
        "copy",
        "Copy bodies with what is between them and what holds them to the ground.",
        _copy,
        (_NAMES,),
        fields="offset=[...]",
        example="copy rod offset=[0.5, 0, 0]",
    ),
    Command(
        "mirror",
        "Copy bodies to the other side of a plane.",
        _mirror,
        (_NAMES,),
        fields="normal=[...] point=[...]",
        example="mirror rod normal=[1, 0, 0] point=[0.5, 0, 0]",
    ),
    Command(
        "array",
        "Copy bodies until there are so many of each, in a row, in a ring or along a screw.",
        _array,
        (_NAMES,),
        fields="count=... offset=[...] angle=... axis=[...] point=[...]",
        example="array rod count=4 offset=[0.3, 0, 0]",
    ),
)
