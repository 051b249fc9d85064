"""Building commands: each composes lines of the command language, which the editor executes as one step.

So everything done on a page appears in the log as a line that can be typed, kept in a script, and undone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from bellcrank.errors import Fault, MechanismError
from bellcrank.io.files import loads
from bellcrank.mechanism import JOINT_KINDS
from bellcrank.mechanism.checking import Check, nearest
from bellcrank.mechanism.contents import ELEMENTS
from bellcrank.mechanism.marker import GROUND
from bellcrank.named_files import confined
from bellcrank.shell.language import Reply
from bellcrank.shell.parsing import LONGEST
from bellcrank.viewer.editor import Editor
from bellcrank.viewer.ends import end_of, free_place, in_world
from bellcrank.viewer.engine import LiveEngine
from bellcrank.viewer.names import file_in, known, path_word
from bellcrank.viewer.pieces import (
    FORCES,
    PALETTE,
    End,
    body_lines,
    force_line,
    fresh_name,
    is_loose,
    joint_line,
    word,
)  # fmt: skip

_SIZES: Final = (1e-6, 1e4)  # m
_TABLES: Final = (*ELEMENTS, "markers")
_TEXT: Final = 500_000  # characters of a mechanism that comes as a text
_CLOSING: Final = "method=constraint_forces"


def execute(engine: LiveEngine, line: Any, by: Any = "") -> Reply:
    """Execute a line of the command language; return its reply, even if it is refused."""
    if not isinstance(line, str) or len(line) > LONGEST:
        raise MechanismError(Fault("line", f"a command is a text of at most {LONGEST} characters"))
    return editor_of(engine).do([line], who(by))


def add_body(
    engine: LiveEngine, kind: Any, name: Any = None, size: Any = None, mass: Any = 1.0, position: Any = None,
    rotation: Any = None, file: Any = "", by: Any = "",
) -> str:  # fmt: skip
    """Add a body of the palette, with markers for attaching others; return its name.

    size: lengths, m, as `pieces.PALETTE` has them. mass: kg. position: (3,), m; by default above the others.
    rotation: (w, x, y, z). file: of a mesh, in the working folder.
    """
    editor = editor_of(engine)
    one_of("kind of body", kind, PALETTE)
    sizes = _sizes(kind, size)
    with Check(f"body {name!r}" if name else kind) as check:
        mass = check.positive("mass", mass, "kg")
        place = None if position is None else check.vector("position", position, "m")
        turn = None if rotation is None else check.quaternion("rotation", rotation)
    name = fresh_name(kind, editor.mechanism.bodies) if name in (None, "") else name
    if kind == "mesh":
        file = path_word(editor.folder, file_in(editor.folder, file, (".stl", ".obj", ".ply"), must_be=True))
    place = place or free_place(engine, kind, sizes)
    done(editor, body_lines(kind, name, sizes, mass, place, file, turn), by)
    return str(name)


def join(
    engine: LiveEngine, kind: Any, first: Any, second: Any, name: Any = None, axis: Any = (0.0, 1.0, 0.0),
    snap: Any = True, reach: Any = 0.0, by: Any = "", **given: Any,
) -> str:  # fmt: skip
    """Join two points by a joint, a spring, a string, a cable, a gas spring or a cylinder; return its name.

    first, second: {"body": ..., "point": (3,) in its frame, m} or {"marker": "body.name"}; "ground" is a
        body. axis: of a joint, world axes. reach: m, within which a point snaps to a marker of its body.
    snap: whether bodies come together at once, visibly. given: numbers of what is no joint.
    """
    editor = editor_of(engine)
    one_of("kind", kind, (*JOINT_KINDS, *FORCES))
    with Check("join") as check:
        close = check.not_negative("reach", reach, "m")
        way = check.axis("axis", axis)
    one, two = (end_of(engine, label, end, close) for label, end in (("first", first), ("second", second)))
    if one.body == two.body:
        advice = "click points of two bodies, or of a body and the ground"
        raise MechanismError(Fault(kind, "it connects a body with itself", one.body, advice))
    stem = kind.lower()
    taken = {n for table in _TABLES for n in getattr(editor.mechanism, table)}
    name = fresh_name(stem, sorted(taken)) if name in (None, "") else name
    if kind in FORCES:
        lines = [force_line(kind, name, one, two, _numbers(engine, kind, one, two, given))]
    elif given:
        raise MechanismError(Fault(kind, "a joint takes no such number", sorted(given)[0]))
    else:
        lines = [joint_line(kind, name, one, two, way)]
        if snap:
            pinned = _stays(editor, one.body, two.body)
            if (
                pinned
                and editor.do([*lines, f"assemble {word(pinned)} {_CLOSING}"], who(by), may_fail=True).ok
            ):
                return str(name)
            lines.append(f"assemble {_CLOSING}")
    done(editor, lines, by)
    return str(name)


def nail(engine: LiveEngine, body: Any, by: Any = "") -> None:
    """Fix a body where it is, as a part of the mechanism."""
    _ilc(engine, body, "nail", by)


def free(engine: LiveEngine, body: Any, by: Any = "") -> None:
    """Remove the nail of a body."""
    _ilc(engine, body, "free", by)


def motor(engine: LiveEngine, joint: Any, velocity: Any, by: Any = "") -> str:
    """Drive a joint at a constant rate, rad/s or m/s, or change its rate; return the name of the drive."""
    editor = editor_of(engine)
    known("joint", joint, editor.mechanism.joints)
    with Check("motor") as check:
        rate = check.number("velocity", velocity, "")
    name, lines = f"motor of {joint}", []
    if name in editor.mechanism.drives:
        lines.append(f"remove {word(name)}")
    done(editor, [*lines, f"drive {word(name)} {word(joint)} velocity={rate!r}"], by)
    return name


def remove(engine: LiveEngine, name: Any, by: Any = "") -> None:
    """Remove an element with all that refers to it."""
    editor = editor_of(engine)
    names = [n for table in _TABLES for n in getattr(editor.mechanism, table)]
    known("element", name, names)
    done(editor, [f"remove {word(name)} -all"], by)


def gravity(engine: LiveEngine, value: Any, by: Any = "") -> None:
    """Set the gravitational acceleration, (3,), m/s^2, or switch the usual one on (True) or off (False)."""
    if isinstance(value, bool):
        value = (0.0, 0.0, -9.81 if value else 0.0)
    with Check("gravity") as check:
        x, y, z = check.vector("it", value, "m/s^2")
    done(editor_of(engine), [f"gravity {x!r} {y!r} {z!r}"], by)


def undo(engine: LiveEngine, by: Any = "") -> None:
    """Undo the last step."""
    done(editor_of(engine), ["undo"], by)


def redo(engine: LiveEngine, by: Any = "") -> None:
    """Redo the step that was undone last."""
    done(editor_of(engine), ["redo"], by)


def assemble(engine: LiveEngine, method: Any = "constraint_forces", by: Any = "") -> str:
    """Bring the bodies together, so that all joints fit; return what was done, in words.

    method: "constraint_forces", which shows how, or "root_finding".
    """
    one_of("method", method, ("constraint_forces", "root_finding"))
    return done(editor_of(engine), [f"assemble method={method}"], by).text


def keep(engine: LiveEngine, file: Any, over: Any = False, by: Any = "") -> str:
    """Write the mechanism into a file (.yaml or .json) of the working folder; return what was done, in words.

    over: whether an existing file may be overwritten.
    """
    editor = editor_of(engine)
    path = file_in(editor.folder, file, (".yaml", ".json"))
    done(editor, [f"save {path_word(editor.folder, path)}{' -over' if over is True else ''}"], by)
    return f"written: {path.name}"


def open_file(engine: LiveEngine, file: Any, by: Any = "") -> str:
    """Read a mechanism from a file of the working folder, replacing this one; return its name."""
    editor = editor_of(engine)
    path = file_in(editor.folder, file, (".yaml", ".json"), must_be=True)
    done(editor, [f"load {path_word(editor.folder, path)}"], by)
    return editor.mechanism.name


def open_text(engine: LiveEngine, text: Any, by: Any = "") -> str:
    """Read a mechanism from a text, as files have it (JSON), replacing this one; return its name.

    Files that it names are read from the working folder alone.
    """
    editor = editor_of(engine)
    if not isinstance(text, str) or len(text) > _TEXT:
        raise MechanismError(Fault("text", f"it is a text of at most {_TEXT} characters", None))
    with confined(editor.folder):
        mechanism = loads(text, "json", editor.folder)
        editor.take(mechanism, f"; a mechanism from a link: {word(mechanism.name)}", who(by))
    return mechanism.name


def editor_of(engine: LiveEngine) -> Editor:
    """The editor of an engine. Raises MechanismError if it has none."""
    if engine.editor is None:
        raise MechanismError(Fault("session", "nothing can be built in it"))
    return engine.editor


def done(editor: Editor, lines: Sequence[str], by: Any, is_told: bool = True) -> Reply:
    """Execute lines. Raises MechanismError with the faults if they are refused."""
    reply = editor.do(lines, who(by), is_told=is_told)
    if not reply.ok:
        faults = [
            Fault(f["element"], f["rule"], f["value"], f["advice"]) for f in reply.data.get("faults", ())
        ]
        raise MechanismError(faults or [Fault(lines[-1].split()[0], reply.text)])
    return reply


def who(by: Any) -> str:
    """The author of a line."""
    return by[:40] if isinstance(by, str) else ""


def one_of(noun: str, value: Any, names: Any) -> None:
    """Raise MechanismError for anything but one of some names."""
    if not isinstance(value, str) or value not in names:
        raise MechanismError(
            Fault(noun, f"it is one of {', '.join(names)}", value, nearest(str(value), names))
        )


def _sizes(kind: str, size: Any) -> list[float]:
    usual = PALETTE[kind].sizes
    if size is None:
        return list(usual.values())
    with Check(kind) as check:
        found = check.array(f"size ({', '.join(usual)})", size, (len(usual),), "m").tolist()
    if not all(_SIZES[0] <= value <= _SIZES[1] for value in found):
        raise MechanismError(Fault(kind, f"lengths lie between {_SIZES[0]:g} and {_SIZES[1]:g} m", found))
    return [float(value) for value in found]


def _numbers(engine: LiveEngine, kind: str, one: End, two: End, given: Mapping[str, Any]) -> dict[str, float]:
    """The numbers of a force; lengths that are left out follow from the present distance."""
    between_ = FORCES[kind]
    strange = sorted(set(given) - set(between_.fields))
    if strange:
        raise MechanismError(Fault(kind, f"it takes {', '.join(between_.fields)}", strange[0]))
    with Check(kind) as check:
        found = {name: check.number(name, value, "") for name, value in given.items() if value is not None}
    apart = float(np.linalg.norm(in_world(engine, one) - in_world(engine, two)))
    lengths = {name: round(times * apart, 9) for name, times in between_.lengths.items()}
    return {**between_.usual, **lengths, **found}


def _stays(editor: Editor, first: str, second: str) -> str:
    """The body that stays in place because the other one is not yet connected; "" if both may move."""
    for comes, stays in ((second, first), (first, second)):
        if GROUND not in (comes, stays) and is_loose(editor.mechanism, comes, stays):
            return stays
    return ""


def _ilc(engine: LiveEngine, body: Any, what: str, by: Any) -> None:
    editor = editor_of(engine)
    known("body", body, editor.mechanism.bodies)
    done(editor, [f"ilc {word(body)} {what}"], by)
