"""Export of functions as C files."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

from bellcrank import _core
from bellcrank.expression.compiled import CompiledFunction
from bellcrank.whole_files import write_together

__all__ = ["export_c"]


def export_c(
    function: CompiledFunction, path: str | PathLike[str], name: str | None = None
) -> tuple[Path, Path]:
    """Write a compiled function as a C99 file and its header, which need nothing but the C library.

    path: of the C file; the header is written beside it. name: of the C function, by default the file's name
    without its suffix. With parameters, two functions are written: NAME_prologue takes the parameters and
    returns the last of the inputs of NAME. The header identifies each input.

    Compiled with contraction off (-ffp-contract=off), the C functions agree with bellcrank bit for bit.

    Returns the paths of both files. Raises ValueError if the name is not a C identifier, OSError if a file
    cannot be written.
    """
    source_path = Path(path)
    name = source_path.stem if name is None else name
    shared = function.prologue.program
    header, source = _core.c_source(
        function.main.program,
        name,
        [symbol.name for symbol in function.inputs]
        + [f"{name}_prologue {k}" for k in range(len(shared.outputs))],
        [],
    )
    header_path = source_path.with_name(f"{name}.h")
    files: dict[Path, str | bytes] = {source_path: source, header_path: header}
    if function.parameters:
        parts = _core.c_source(
            shared, f"{name}_prologue", [symbol.name for symbol in function.parameters], []
        )
        for text, suffix in zip(parts, (".h", ".c"), strict=True):
            files[source_path.with_name(f"{name}_prologue{suffix}")] = text
    write_together(files)
    return source_path, header_path
