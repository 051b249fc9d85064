"""Export of the equations of the symbolic formulation as a C file."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from bellcrank import _core
from bellcrank.errors import Fault, MechanismError, Unsupported
from bellcrank.formulations.exported import FRAME, Exported, Frame, Name
from bellcrank.whole_files import write_together

if TYPE_CHECKING:
    from bellcrank.formulations.symbolic import SymbolicSystem

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
