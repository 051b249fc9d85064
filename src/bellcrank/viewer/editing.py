"""Commands that change what was built: values, names, sizes, copies; and elements of any kind.

Each composes lines of the command language, as those of `building` do, and is one step for `undo`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from bellcrank.errors import Fault, MechanismError
from bellcrank.mechanism.checking import Check
from bellcrank.mechanism.contents import ELEMENTS
from bellcrank.mechanism.marker import GROUND, Marker
from bellcrank.mechanism.rotation import between
from bellcrank.mechanism.rotation_arrays import conjugate, rotate
from bellcrank.shell.language import Reply
from bellcrank.shell.parsing import LONGEST
from bellcrank.viewer.building import done, editor_of, one_of, who
from bellcrank.viewer.built import OPEN
from bellcrank.viewer.editor import Editor
from bellcrank.viewer.ends import end_of, in_world, rotation_of
from bellcrank.viewer.engine import LiveEngine
from bellcrank.viewer.names import known
from bellcrank.viewer.pieces import End, body_lines, fresh_name, joint_line, word

_NOUNS: Final = ("joint", "constraint", "force", "drive", "sensor", "change", "marker", "parameter")
_DEPTH: Final = 12  # keys of a path
_CLOSE: Final = "assemble method=root_finding"
_STEM: Final = {"drive": "drive", "marker": "marker", "parameter": "p"}
_LEAST: Final = 1e-6  # m: what is shorter is no rod


def edit(engine: LiveEngine, path: Any, value: Any, by: Any = "") -> None:
    """Set a value at a path of the mechanism's file, such as ["bodies", "crank", "mass"]; None resets it.

    ["joints", name, "axis"] and ["joints", name, "at"] take an axis and a point of the world for both ends,
    ["bodies", name, "color"] a colour for all shapes, ["bodies", name, "name"] and the like another name.
    Time, state and record are kept where the change allows it; where joints no longer fit, the mechanism is
    assembled.
    """
    editor = editor_of(engine)
    if not isinstance(path, (list, tuple)) or not 0 < len(path) <= _DEPTH:
        raise MechanismError(Fault("edit", "a path is a list of names and numbers", path))
    if len(path) == 3 and path[0] in ELEMENTS and path[2] == "name":
        rename(engine, path[0], path[1], value, by)
        return
    lines = [_edit_line(keys, what) for keys, what in _whole(engine, list(path), value)]
    _fitted(editor, lines, by)


def rename(engine: LiveEngine, table: Any, name: Any, to: Any, by: Any = "") -> None:
    """Give an element another name."""
    editor = editor_of(engine)
    one_of("table", table, tuple(ELEMENTS))
    known(ELEMENTS[table], name, getattr(editor.mechanism, table))
    done(editor, [f"rename {table} {word(name)} {word(to)}"], by)


def add(
    engine: LiveEngine, noun: Any, kind: Any = "", name: Any = None, ends: Any = (), fields: Any = None,
    by: Any = "",
) -> str:  # fmt: skip
    """Add an element of any kind, in the words of mechanism files; return its name.

    ends: names of bodies, markers or joints, or points as `join` takes them. fields: values by name.
    """
    editor = editor_of(engine)
    one_of("noun", noun, _NOUNS)
    fields = {} if fields is None else fields
    if not isinstance(fields, Mapping) or not all(
        isinstance(key, str) and key.isidentifier() for key in fields
    ):
        raise MechanismError(Fault(noun, "fields are values by name", fields))
    if not isinstance(ends, (list, tuple)):
        raise MechanismError(Fault(noun, "the ends are a list", ends))
    taken = {n for table in (*ELEMENTS, "markers", "parameters") for n in getattr(editor.mechanism, table)}
    stem = _STEM.get(noun) or (kind[:1].lower() + kind[1:] if isinstance(kind, str) else "")
    name = fresh_name(stem, sorted(taken)) if name in (None, "") else name
    first = [word(kind)] if noun not in _STEM else []
    words = [noun, word(name), *first, *(_end_word(engine, end) for end in ends)]
    if noun == "parameter":
        fields = dict(fields)
        words.append(_value_word(fields.pop("value", 0.0)))
    words += [f"{key}={_value_word(value)}" for key, value in fields.items()]
    _fitted(editor, [" ".join(words)], by)
    return str(name)


def rod(
    engine: LiveEngine, start: Any, end: Any, width: Any = None, mass: Any = 1.0, name: Any = None,
    hinges: Any = (), by: Any = "",
) -> str:  # fmt: skip
    """Add a rod between two points (3,) of the world, m; return its name.

    hinges: [0 or 1, end, axis] each: which of its ends is hinged to a point of another body, as `join` takes
    it, about an axis of the world.
    """
    editor = editor_of(engine)
    with Check("rod") as check:
        first, last = check.array("start", start, (3,), "m"), check.array("end", end, (3,), "m")
        mass = check.positive("mass", mass, "kg")
    length = float(np.linalg.norm(last - first))
    if length < _LEAST:
        raise MechanismError(Fault("rod", "its ends are one point", first.tolist(), "click two points"))
    with Check("rod") as check:
        wide = float(f"{0.05 * length:.2g}") if width is None else check.positive("width", width, "m")
    turn = between((1.0, 0.0, 0.0), tuple(((last - first) / length).tolist()))
    name = fresh_name("rod", editor.mechanism.bodies) if name in (None, "") else name
    lines = body_lines("rod", name, [length, wide], mass, (0.5 * (first + last)).tolist(), "", turn)
    done(editor, [*lines, *_hinge_lines(engine, name, length, turn, hinges)], by)
    return str(name)


def _hinge_lines(engine: LiveEngine, name: str, length: float, turn: Any, hinges: Any) -> list[str]:
    """The lines of hinges at the ends of a rod that is added with them."""
    if not isinstance(hinges, (list, tuple)):
        raise MechanismError(Fault("rod", "hinges are a list", hinges))
    taken = [n for table in (*ELEMENTS, "markers") for n in getattr(editor_of(engine).mechanism, table)]
    lines = []
    for hinge in hinges:
        if not isinstance(hinge, (list, tuple)) or len(hinge) != 3 or hinge[0] not in (0, 1):
            rule = "a hinge is the number of an end, 0 or 1, a point of another body and an axis"
            raise MechanismError(Fault("rod", rule, hinge))
        with Check("rod") as check:
            axis = check.axis("axis", hinge[2])
        side, marker = (-0.5, "start") if hinge[0] == 0 else (0.5, "end")
        own = End(name, np.array([side * length, 0.0, 0.0]), np.array(turn), f"{name}.{marker}")
        taken.append(fresh_name("revolute", sorted(taken)))
        lines.append(joint_line("Revolute", taken[-1], end_of(engine, "hinge", hinge[1], 0.0), own, axis))
    return lines


def length(engine: LiveEngine, body: Any, first: Any, second: Any, value: Any, by: Any = "") -> None:
    """Give two points (3,) of a body, m, in its frame, another distance, m; the mechanism follows."""
    editor = editor_of(engine)
    known("body", body, editor.mechanism.bodies)
    with Check("length") as check:
        value = check.positive("the length", value, "m")
    line = f"length {word(body)} {_point('first', first)} {_point('second', second)} {value!r}"
    _fitted(editor, [line], by)


def reshape(engine: LiveEngine, body: Any, point: Any, to: Any, part: Any = False, by: Any = "") -> None:
    """Move a point (3,) of a body, m, in its frame, to another place on it; the mechanism follows.

    part: more comes, from the same point on; all of it is one step for `undo`, and the last part stands in
    the log.
    """
    editor = editor_of(engine)
    known("body", body, editor.mechanism.bodies)
    line = f"reshape {word(body)} {_point('point', point)} {_point('to', to)}"
    begun = editor.reshaping
    if begun is not None and begun[:2] == (body, line.partition("]")[0]):
        editor.back_to(begun[2])
    else:
        editor.note()
        begun = (body, line.partition("]")[0], editor.session.everything)
    editor.reshaping = begun if part is True else None
    _fitted(editor, [line], by, part is not True)


def copy(engine: LiveEngine, names: Any, offset: Any = (0.0, 0.0, 0.0), by: Any = "") -> dict[str, Any]:
    """Copy bodies with what is between them and what holds them to the ground; names of the new ones."""
    return _copied(engine, "copy", names, {"offset": offset}, by)


def mirror(
    engine: LiveEngine, names: Any, normal: Any, point: Any = (0.0, 0.0, 0.0), by: Any = ""
) -> dict[str, Any]:
    """Copy bodies to the other side of a plane; names of the new ones."""
    return _copied(engine, "mirror", names, {"normal": normal, "point": point}, by)


def array(
    engine: LiveEngine, names: Any, count: Any, offset: Any = (0.0, 0.0, 0.0), angle: Any = 0.0,
    axis: Any = (0.0, 0.0, 1.0), point: Any = (0.0, 0.0, 0.0), by: Any = "",
) -> dict[str, Any]:  # fmt: skip
    """Copy bodies in a row, a ring or a screw; names of the new ones."""
    given = {"count": count, "offset": offset, "angle": angle, "axis": axis, "point": point}
    return _copied(engine, "array", names, given, by)


def _copied(
    engine: LiveEngine, command: str, names: Any, given: Mapping[str, Any], by: Any
) -> dict[str, Any]:
    editor = editor_of(engine)
    if not isinstance(names, (list, tuple)) or not names:
        raise MechanismError(
            Fault(command, "the names of bodies are a list", names, "choose one or more bodies")
        )
    for name in names:
        known("body", name, editor.mechanism.bodies)
    fields = " ".join(f"{key}={_value_word(value)}" for key, value in given.items())
    reply = done(editor, [f"{command} {' '.join(map(word, names))} {fields}"], by)
    return {"names": reply.data["names"]}


def _whole(engine: LiveEngine, path: list[Any], value: Any) -> list[tuple[list[Any], Any]]:
    """The edits that an edit consists of."""
    mechanism = editor_of(engine).mechanism
    if len(path) == 3 and path[0] == "joints" and path[2] in ("axis", "at"):
        known("joint", path[1], mechanism.joints)
        joint = mechanism.joints[path[1]]
        ends = zip(("first", "second"), (joint.marker_1, joint.marker_2), strict=True)
        made = _on_axis if path[2] == "axis" else _at_point
        return [([*path[:2], key], made(engine, marker, value)) for key, marker in ends]
    if len(path) == 3 and path[0] == "bodies" and path[2] == "color":
        known("body", path[1], mechanism.bodies)
        count = len(mechanism.bodies[path[1]].shapes)
        if not count:
            advice = "it is drawn between its joints; give it a shape first"
            raise MechanismError(Fault(f"body {path[1]!r}", "it has no shape to colour", None, advice))
        return [([*path[:2], "shapes", k, "color"], value) for k in range(count)]
    return [(path, value)]


def _on_axis(engine: LiveEngine, marker: Marker, value: Any) -> dict[str, Any]:
    """An end of a joint with its z axis along an axis of the world, as bodies are now."""
    with Check("joint") as check:
        way = check.axis("axis", value)
    body = engine.numbers.bodies.get(marker.body)
    turn = rotation_of(engine, GROUND if body is None else marker.body)
    local = rotate(conjugate(turn), np.asarray(way, dtype=float))
    return {"body": marker.body, "position": _plain(marker.position), "axis": _plain(local)}


def _at_point(engine: LiveEngine, marker: Marker, value: Any) -> dict[str, Any]:
    """An end of a joint at a point of the world, as bodies are now."""
    with Check("joint") as check:
        point = check.array("at", value, (3,), "m")
    turn, origin = (
        rotation_of(engine, marker.body),
        in_world(engine, End(marker.body, np.zeros(3), np.zeros(4))),
    )
    local = rotate(conjugate(turn), point - origin)
    return {"body": marker.body, "position": _plain(local), "rotation": list(marker.rotation)}


def _plain(values: Any) -> list[Any]:
    return [float(value) + 0.0 if isinstance(value, (int, float)) else str(value) for value in values]


def _fitted(editor: Editor, lines: Sequence[str], by: Any, is_told: bool = True) -> Reply:
    """Execute lines, and assemble what no longer fits, as one step. Raises MechanismError if refused."""
    before, was_open = editor.session.everything, editor.engine.open
    reply = done(editor, lines, by, is_told)
    if editor.engine.open == OPEN and was_open != OPEN:
        editor.do([_CLOSE], who(by), may_fail=True, is_told=is_told)
        editor.combine(before)
    return reply


def _edit_line(path: list[Any], value: Any) -> str:
    if not all(isinstance(key, (str, int)) and not isinstance(key, bool) for key in path):
        raise MechanismError(Fault("edit", "a path is a list of names and numbers", path))
    return f"edit {json.dumps(path, ensure_ascii=False)} {_value_word(value)}"


def _value_word(value: Any) -> str:
    """A value as a word of a command line."""
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError):
        raise MechanismError(Fault("value", "it cannot stand in a file", repr(value)[:60])) from None
    if len(text) > LONGEST // 2:
        raise MechanismError(Fault("value", "it is too long", text[:40]))
    if isinstance(value, str):
        if '"' in value and "'" in value:
            raise MechanismError(Fault("value", "it has both kinds of quotes", value))
        return f"'{value}'" if '"' in value else f'"{value}"'
    return text


def _end_word(engine: LiveEngine, end: Any) -> str:
    """An end as a word of a command line."""
    if isinstance(end, str):
        return word(end)
    return end_of(engine, "end", end, 0.0).plain()


def _point(name: str, value: Any) -> str:
    with Check("point") as check:
        found = check.array(name, value, (3,), "m")
    return json.dumps([float(x) + 0.0 for x in found])
