"""The equations of the symbolic formulation as functions of named numbers, and their export as a C file."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from bellcrank import _core
from bellcrank.errors import Fault, FaultList, MechanismError, Unsupported
from bellcrank.expression.expression import Expression, as_expression
from bellcrank.expression.parser import RESERVED
from bellcrank.mechanism.checking import nearest
from bellcrank.mechanism.marker import Marker
from bellcrank.mechanism.mechanism import Mechanism
from bellcrank.mechanism.references import as_marker
from bellcrank.mechanism.rotation import matrix
from bellcrank.whole_files import write_together

if TYPE_CHECKING:
    from bellcrank.formulations.symbolic import SymbolicSystem


DYNAMICS: Final = (
    "mass_matrix",
    "bias",
    "forces",
    "forward_dynamics",
    "inverse_dynamics",
    "coordinate_rates",
)
ROWS: Final = ("constraint_error", "constraint_jacobian", "constraint_drift", "constraint_bias")
FRAME: Final = ("pose", "velocity", "jacobian")

_QUATERNION: Final = {"w": "qw", "x": "qx", "y": "qy", "z": "qz"}


@dataclass(frozen=True)
class Name:
    """A named number: its identifier, its meaning and its unit. value: of a parameter or input."""

    name: str
    meaning: str
    unit: str
    value: float = 0.0


@dataclass(frozen=True)
class Frame:
    """A frame on a body: its name, an identifier; the body's index; position (3) and rotation (9) in it."""

    name: str
    meaning: str
    body: int
    pose: tuple[Any, ...]


class Exported:
    """The forms of a system for users, with names for their inputs and outputs.

    coordinates, speeds, accelerations, efforts: of the tree. parameters, inputs: of the mechanism.
    rows: the closing rows. left_out: what the forms do not contain, by name.
    """

    def __init__(self, system: SymbolicSystem, frames: Iterable[Any] = ()) -> None:
        self.system = system
        self.model = system.model
        self._taken: set[str] = {"t"}
        self._name_parameters()
        self._name_coordinates()
        self.frames = self._frames(frames)

    def forms(self) -> tuple[str, ...]:
        """The names of the available forms, without those of frames."""
        if not self.rows:
            return DYNAMICS
        return (*(form for form in DYNAMICS if form != "forward_dynamics"), *ROWS)

    def program(self, form: str, frame: Frame | None = None) -> Any:
        """A form as a program of t, q, u, accelerations, efforts, parameters and inputs."""
        with _frames_checked():
            return self.system.core.exported_program(form, *self._asked(frame))

    def expressions(self, form: str, symbols: Sequence[Expression], frame: Frame | None = None) -> Any:
        """A form as expressions of these symbols."""
        with _frames_checked():
            return self.system.core.exported_expressions(form, *self._asked(frame), list(symbols))

    def names(self) -> tuple[Name, ...]:
        """The symbols of the inputs of forms, in their order."""
        time = Name("t", "time", "s")
        own = (*self.coordinates, *self.speeds, *self.accelerations, *self.efforts)
        return (time, *own, *self.parameters, *self.inputs)

    def _asked(self, frame: Frame | None) -> tuple[Any, ...]:
        if frame is None:
            return -1, [], self._open
        return frame.body, list(frame.pose), self._open

    @cached_property
    def rows(self) -> tuple[str, ...]:
        """The names of the rows that close loops, without stops."""
        return tuple(self.model.row_text(row) for row in self._closing if self.model.rigid_rows[row])

    @cached_property
    def _closing(self) -> list[int]:
        return list(self.system.core.closing_rows())

    @cached_property
    def left_out(self) -> tuple[str, ...]:
        """A description of each thing that the forms do not contain."""
        found = []
        if stops := [self.model.row_text(row) for row in self._closing if not self.model.rigid_rows[row]]:
            found.append(f"limits and their impacts: {_listed(stops)}")
        if self._fixed:
            found.append(
                f"parameters that are numbers here, with their present values: {_listed(self._fixed)}"
            )
        if start := self._from_start():
            found.append(
                f"numbers taken from the initial configuration, which stay as they are: {_listed(start)}"
            )
        if followed := self._with_turns():
            found.append(
                f"whole turns of angles that are no joint's of the tree (-pi to pi): {_listed(followed)}"
            )
        if places := self.model.arrays.get("input_offsets", ()):
            rows = self.model.arrays["row_function"]
            drives = [self.model.row_text(r) for f, _ in places for r, g in enumerate(rows) if g == f]
            found.append(f"what a prescribed position keeps when its input changes: {_listed(drives)}")
        return tuple(found)

    def _from_start(self) -> list[str]:
        """Numbers taken from the initial configuration in a mechanism with parameters."""
        if not self.parameters:
            return []
        rows = [self.model.row_text(row) for row in self.model.start.rows]
        starts = list(self.model.arrays["law_param_start"])
        laws = {max(k for k, at in enumerate(starts) if at <= place) for place, _ in self.model.start.laws}
        return rows + [f"force {one.name!r}" for one in self.model.forces if laws.intersection(one.laws)]

    def _with_turns(self) -> list[str]:
        owners = {c: joint.coordinate_text(k) for joint in self.model.joints
                  for k, c in enumerate(joint.coordinates)}  # fmt: skip
        kinds, pairs = self.model.arrays["coordinate_kind"], self.model.coordinate_bodies
        names = (*self.model.bodies, "ground")
        return [
            owners.get(c) or f"{kinds[c]} between {names[pairs[c][0]]!r} and {names[pairs[c][1]]!r}"
            for c in self.system.core.remembered_angles()
        ]

    def _name_parameters(self) -> None:
        followed = self.system.followed
        self._open: list[int] = []
        self._fixed: list[str] = []
        parameters, own = [], 0
        if followed is not None:
            own = len(followed.start)
            declared = self.model.described.parameters if self.model.described is not None else {}
            for number, (name, _, value) in enumerate(followed.parameters):
                if name in followed.fixed:
                    self._fixed.append(name)
                    continue
                self._open.append(number)
                one = declared[name]
                parameters.append(Name(self._free(name), one.doc or f"parameter {name!r}", one.unit, value))
            first = len(followed.parameters) + own
            self._open += range(first, first + len(self.model.inputs))
        self.parameters = tuple(parameters)
        self.inputs = tuple(
            Name(self._free(one.name), f"input {one.name!r}", one.unit, one.value)
            for one in self.model.inputs
        )

    def _name_coordinates(self) -> None:
        speeds = self.system.speeds
        counts = [sum((s.joint, s.body) == (o.joint, o.body) for o in speeds) for s in speeds]
        stems = []
        for speed, count in zip(speeds, counts, strict=True):
            owner = speed.body if speed.joint is None else speed.joint
            stems.append(owner if count == 1 else f"{owner}_{speed.kind}")
        names: list[Name] = []
        rated: dict[int, str] = {}  # speed → the coordinate of which it is the rate
        for first, component in self.system.core.coordinate_labels():
            speed = speeds[first]
            owner = speed.body if speed.joint is None else speed.joint
            if component:
                text = f"{component} of the quaternion of {owner}"
                names.append(Name(self._free(f"{owner}_{_QUATERNION[component]}"), text, "1"))
            else:
                rated[first] = self._free(stems[first])
                names.append(Name(rated[first], speed.name, self._unit(speed)))
        self.coordinates = tuple(names)
        given = [self._free(f"{rated[k]}_dot" if k in rated else stem) for k, stem in enumerate(stems)]
        units = [self._unit(speed) for speed in speeds]
        self.speeds = tuple(
            Name(name, f"rate of {s.name}" if k in rated else s.name, f"{unit}/s")
            for k, (name, s, unit) in enumerate(zip(given, speeds, units, strict=True))
        )
        self.accelerations = tuple(
            Name(
                self._free(f"{rated[k]}_ddot" if k in rated else f"{name}_dot"), f"of {s.name}", f"{unit}/s^2"
            )
            for k, (name, s, unit) in enumerate(zip(given, speeds, units, strict=True))
        )
        self.efforts = tuple(
            Name(self._free(f"{rated.get(k, name)}_effort"), f"along {s.name}", "N" if unit == "m" else "N m")
            for k, (name, s, unit) in enumerate(zip(given, speeds, units, strict=True))
        )

    def _unit(self, speed: Any) -> str:
        if speed.kind in ("x", "y", "z"):
            return "m"
        if speed.joint is not None:
            joint = self.model.joint(speed.joint)
            if speed.kind in joint.coordinate_names:
                return joint.units[joint.coordinate_names.index(speed.kind)]
        return "rad"

    def _free(self, text: str, taken: set[str] | None = None) -> str:
        """An identifier like the text that differs from those taken, by default from all other numbers."""
        taken = self._taken if taken is None else taken
        name = re.sub(r"\W+", "_", text, flags=re.ASCII).strip("_") or "q"
        if name[0].isdigit() or name in RESERVED:
            name = f"q_{name}"
        number, free = 2, name
        while free in taken:
            number, free = number + 1, f"{name}_{number}"
        taken.add(free)
        return free

    def _frames(self, asked: Iterable[Any]) -> tuple[Frame, ...]:
        if isinstance(asked, (str, Marker)) or not isinstance(asked, Iterable):
            asked = [asked]
        faults, found, taken = FaultList(), [], set[str]()
        for one in asked:
            with faults.collect():
                found.append(self._frame(one, taken))
        faults.raise_any()
        return tuple(found)

    def _frame(self, asked: Any, taken: set[str]) -> Frame:
        mechanism = self.model.source or Mechanism(self.model.name)
        if isinstance(asked, str) and asked not in mechanism.markers and asked not in self.model.body_index:
            advice = nearest(asked, [*mechanism.markers, *self.model.bodies])
            raise MechanismError(
                Fault("frames", "there is no body and no marker of this name", asked, advice)
            )
        if isinstance(asked, str) and asked in self.model.body_index:
            marker = Marker(asked)
        else:
            marker = as_marker(mechanism, "frames", asked)
        if marker.body not in self.model.body_index:
            raise MechanismError(Fault("frames", "there is no body of this name", marker.body))
        pose = [*marker.position, *matrix(marker.rotation).ravel()]
        name = marker.key or marker.body
        meaning = f"marker {marker.key!r}" if marker.key else f"body {marker.body!r}"
        expressions = tuple(as_expression(x) for x in pose)
        return Frame(self._free(name, taken), meaning, self.model.body_index[marker.body], expressions)


@contextmanager
def _frames_checked() -> Iterator[None]:
    """Convert the core's error for a frame that depends on anything but parameters of the mechanism."""
    try:
        yield
    except ValueError as error:
        raise MechanismError(Fault("frames", str(error))) from None


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(names[:8])
    return shown + (f" and {len(names) - 8} more" if len(names) > 8 else "")


_TAKES: Final = {
    "mass_matrix": "q",
    "bias": "q u",
    "forces": "q u",
    "forward_dynamics": "q u tau",
    "inverse_dynamics": "q u a",
    "coordinate_rates": "q u",
    "constraint_error": "q",
    "constraint_jacobian": "q u",
    "constraint_drift": "q u",
    "constraint_bias": "q u",
    "pose": "q",
    "velocity": "q u",
    "jacobian": "q",
}
"""The arrays that a form takes beside the time, parameters and inputs."""

_GIVES: Final = {
    "mass_matrix": ("M", "[SPEEDS * SPEEDS]: M, row by row"),
    "bias": ("b", "[SPEEDS]: right-hand side of M a = b + tau: applied forces, gravity and velocity terms"),
    "forces": ("Q", "[SPEEDS]: the applied forces in b, gravity aside"),
    "forward_dynamics": ("a", "[SPEEDS]: accelerations, M^-1 (b + tau)"),
    "inverse_dynamics": ("tau", "[SPEEDS]: efforts that the accelerations a need, M a - b"),
    "coordinate_rates": ("qdot", "[COORDINATES]: rates of the coordinates"),
    "constraint_error": ("C", "[ROWS]: what the closing rows are off by"),
    "constraint_jacobian": ("J", "[ROWS * SPEEDS]: J, row by row; the rate of C is J u + constraint_drift"),
    "constraint_drift": ("Ct", "[ROWS]: rate of C at u = 0"),
    "constraint_bias": ("gamma", "[ROWS]: the second rate of C is J a + gamma"),
    "pose": ("pose", "[12]: position (3), rotation matrix (9) row by row; axes to world"),
    "velocity": ("velocity", "[6]: velocity of the origin (3), angular velocity (3); world axes"),
    "jacobian": ("J", "[6 * SPEEDS]: derivatives of velocity by u, row by row; translation, then rotation"),
}
"""What a form gives: its name in the header, and its size and meaning."""


@dataclass(frozen=True)
class ExportedC:
    """The result of an export to C.

    source, header: the two files. functions: names of the C functions. coordinates, speeds, parameters,
    inputs: what the arrays q, u, p and in hold, in their order. left_out: what the functions do not contain.
    """

    source: Path
    header: Path
    functions: tuple[str, ...]
    coordinates: tuple[str, ...] = field(repr=False)
    speeds: tuple[str, ...] = field(repr=False)
    parameters: tuple[str, ...] = field(repr=False)
    inputs: tuple[str, ...] = field(repr=False)
    left_out: tuple[str, ...]


def export_c(
    system: SymbolicSystem, path: str | PathLike[str], frames: Iterable[Any] = (), name: str | None = None
) -> ExportedC:
    """See `SymbolicSystem.export_c`."""
    source_path = Path(path)
    stem = source_path.stem if name is None else name
    if not isinstance(stem, str) or re.fullmatch(r"[A-Za-z_]\w*", stem, re.ASCII) is None:
        rule = "the name that functions begin with must be letters, digits and '_', as C has them"
        raise MechanismError(Fault("export_c", rule, stem, "give another file name, or name=..."))
    exported = Exported(system, frames)
    writer = _Writer(exported, stem)
    header_path = source_path.with_suffix(".h")
    header, source = writer.header(), writer.source(header_path.name)
    write_together({source_path: source, header_path: header})
    names = (exported.coordinates, exported.speeds, exported.parameters, exported.inputs)
    coordinates, speeds, parameters, inputs = (tuple(one.name for one in some) for some in names)
    functions = tuple(function.name for function in writer.functions)
    return ExportedC(
        source_path, header_path, functions, coordinates, speeds, parameters, inputs, exported.left_out
    )


@dataclass(frozen=True)
class _Function:
    """A C function: its form, and the frame if it has one."""

    name: str
    form: str
    frame: Frame | None


class _Writer:
    """The texts of both files."""

    def __init__(self, exported: Exported, name: str) -> None:
        self.exported, self.name = exported, name
        self.functions = [_Function(f"{name}_{form}", form, None) for form in exported.forms()]
        self.functions += [
            _Function(f"{name}_{frame.name}_{form}", form, frame)
            for frame in exported.frames
            for form in FRAME
        ]

    def source(self, header: str) -> str:
        """The C file."""
        programs = [self.exported.program(one.form, one.frame) for one in self.functions]
        inputs = list(self._inputs())
        try:
            shared = _core.c_table_functions(programs)
        except ValueError as error:
            raise Unsupported(f"export_c: {error}") from None
        texts = [
            _core.c_function(program, one.name, self._signature(one, "out"), self._arguments(one), inputs)
            for program, one in zip(programs, self.functions, strict=True)
        ]
        return f'/* {self._title()} */\n#include "{header}"\n\n#include <math.h>\n{shared}' + "".join(texts)

    def header(self) -> str:
        """The header, whose first comment describes everything."""
        guard = f"{self.name.upper()}_H"
        counts = {
            "COORDINATES": len(self.exported.coordinates),
            "SPEEDS": len(self.exported.speeds),
            "ROWS": len(self.exported.rows),
            "PARAMETERS": len(self.exported.parameters),
            "INPUTS": len(self.exported.inputs),
        }
        lines = ["/*", *(f" * {line}".rstrip() for line in self._description()), " */"]
        lines += [f"#ifndef {guard}", f"#define {guard}", ""]
        lines += [f"#define {self.name.upper()}_{what} {count}" for what, count in counts.items() if count]
        lines += ["", "#ifdef __cplusplus", 'extern "C" {', "#endif", ""]
        for one in self.functions:
            gives, meaning = _GIVES[one.form]
            of = "" if one.frame is None else f"{_comment(one.frame.meaning)}; "
            lines += [f"/* {of}{gives}{meaning} */", f"void {one.name}({self._signature(one, gives)});", ""]
        lines += ["#ifdef __cplusplus", "}", "#endif", "", f"#endif /* {guard} */", ""]
        return "\n".join(lines)

    def _title(self) -> str:
        from bellcrank import __version__

        name = _comment(self.exported.model.name)
        return f"Equations of motion of mechanism '{name}', by bellcrank {__version__} (symbolic formulation)"

    def _description(self) -> Iterator[str]:
        exported = self.exported
        yield self._title()
        yield ""
        yield "SI units. Functions allocate nothing, use no globals and may run in several threads at once;"
        yield "the array written last in each list of arguments must not overlap the others. t: time, s."
        yield from _table("q, coordinates", exported.coordinates)
        if any(" of the quaternion of " in one.meaning for one in exported.coordinates):
            yield "  Quaternions have unit length; they turn axes of the formulation's own. joint_state"
            yield "  of a system gives q and u, and the functions of frames (frames=...) the poses of bodies."
        yield from _table("u, speeds", exported.speeds)
        yield from _table("tau, efforts along the speeds, beside those of the mechanism", exported.efforts)
        yield "a, accelerations: the rates of u, in its order, in its units over s"
        if exported.parameters:
            yield from _table("p, parameters", exported.parameters, values=True)
        if exported.inputs:
            yield from _table("in, inputs", exported.inputs, values=True)
        yield from self._equations()
        if exported.left_out:
            yield ""
            yield "Not contained:"
            for one in exported.left_out:
                yield f"  {_comment(one)}"

    def _equations(self) -> Iterator[str]:
        yield ""
        if not self.exported.rows:
            yield "M a = b + tau"
            return
        yield "M a = b + tau + J^T lambda,  J a = -gamma; with rows that close loops:"
        for number, row in enumerate(self.exported.rows):
            yield f"  [{number}] {_comment(row)}"
        yield "Solve  [M  -J^T; J  0] [a; lambda] = [b + tau; -gamma]  for the accelerations. J may lose rank"
        yield "(redundant rows, singular configurations): take a factorization that reveals it. There is no"
        yield "forward dynamics here, since straight-line code cannot judge ranks: bellcrank's system does."

    def _inputs(self) -> Iterator[str]:
        """The names of the inputs of programs in C."""
        exported = self.exported
        yield "t"
        for array, names in (
            ("q", exported.coordinates),
            ("u", exported.speeds),
            ("a", exported.accelerations),
            ("tau", exported.efforts),
            ("p", exported.parameters),
            ("in", exported.inputs),
        ):
            yield from (f"{array}[{k}]" for k in range(len(names)))

    def _arrays(self, one: _Function) -> list[str]:
        arrays = _TAKES[one.form].split()
        return [
            *arrays,
            *(["p"] if self.exported.parameters else []),
            *(["in"] if self.exported.inputs else []),
        ]

    def _signature(self, one: _Function, out: str) -> str:
        return ", ".join(
            ["double t", *(f"const double *{array}" for array in self._arrays(one)), f"double *{out}"]
        )

    def _arguments(self, one: _Function) -> list[str]:
        return ["t", *self._arrays(one), "out"]


def _comment(text: str) -> str:
    """The text as part of a comment: with comment delimiters and backslashes replaced."""
    return re.sub(r"\*/|/\*|\s|\\", lambda found: " " if found[0].isspace() else "-", text)


def _table(title: str, names: Sequence[Name], values: bool = False) -> Iterator[str]:
    yield f"{title}:"
    width = max((len(one.name) for one in names), default=0)
    for number, one in enumerate(names):
        value = f" = {one.value:.10g}" if values else ""
        unit = f", {one.unit}" if one.unit else ""
        yield f"  [{number}] {one.name:{width}}{value}  {_comment(one.meaning)}{unit}"
