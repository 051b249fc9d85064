"""Expressions as functions of numbers: evaluated, compiled, and exported as C files."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from copy import copy
from functools import lru_cache
from os import PathLike
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bellcrank import _core
from bellcrank.errors import Unsupported
from bellcrank.expression import native as native_code
from bellcrank.expression.expression import Expression, as_expression
from bellcrank.expression.native import Native
from bellcrank.expression.reading import symbols_of
from bellcrank.whole_files import write_together


def evaluate(expressions: Sequence[Expression], known: Mapping[Expression, float]) -> list[float]:
    """The values of expressions, computed by one program, for given values of their symbols.

    The program is cached: further values cost only its evaluation.
    """
    symbols = symbols_of(*expressions)
    program = _program(tuple(expressions), symbols)
    out = np.empty(len(expressions))
    program.evaluate(np.array([known[symbol] for symbol in symbols], dtype=np.float64), out)
    found: list[float] = out.tolist()
    return found


def slopes(
    expressions: Sequence[Expression], known: Mapping[Expression, float], by: Sequence[Expression]
) -> NDArray[np.float64]:
    """Derivatives (symbols, expressions) by some of the known symbols, at known values of all."""
    symbols = symbols_of(*expressions)
    at = {symbol: place for place, symbol in enumerate(symbols)}
    changes = np.zeros((len(by), len(symbols)))
    for row, symbol in enumerate(by):
        if symbol in at:
            changes[row, at[symbol]] = 1.0
    out = np.zeros((len(by), len(expressions)))
    values = np.array([known[symbol] for symbol in symbols], dtype=np.float64)
    _program(tuple(expressions), symbols).evaluate_tangents(values, changes, out)
    return out


@lru_cache(maxsize=256)
def _program(outputs: tuple[Expression, ...], inputs: tuple[Expression, ...]) -> _core.CompiledProgram:
    _, main = _core.lower_expressions(list(outputs), list(inputs))
    return _core.CompiledProgram(main)


Array = NDArray[np.float64]

# native="auto". Below this number of instructions the call from Python takes longer than the interpreter.
_WORTH_COMPILING = 200
# With this many points the interpreter takes longer than compilation does, whatever the program.
_WORTH_WAITING = 500_000


def _flattened(outputs: Any) -> tuple[list[Expression], tuple[int, ...]]:
    """The expressions of a nested sequence, and its shape."""
    if isinstance(outputs, Expression | int | float):
        return [as_expression(outputs)], ()
    if not np.iterable(outputs):
        raise TypeError(f"outputs are expressions or sequences of them, not {type(outputs).__name__}")
    parts = [_flattened(item) for item in outputs]
    shapes = {shape for _, shape in parts}
    if len(shapes) > 1:
        raise ValueError("outputs that are nested must be so regularly, like the rows of a matrix")
    inner = shapes.pop() if shapes else ()
    return [expression for items, _ in parts for expression in items], (len(parts), *inner)


class CompiledFunction:
    """Expressions as a function of numbers; made by `compile_function`.

    Interpreted at first and native later, with bit-identical results. Several threads may call it.

    >>> x, k = bc.symbols("x k")
    >>> energy = bc.expression.compile_function([k * x**2 / 2], [x], {k: 100.0})
    >>> print(energy(0.2))    # J
    [2.]
    """

    inputs: tuple[Expression, ...]
    """The symbols, in the order of the numbers of a call."""
    parameters: tuple[Expression, ...]
    """The symbols with values of their own."""
    shape: tuple[int, ...]
    """Shape of the results of one point."""
    prologue: _core.CompiledProgram
    """From the parameters to what depends on nothing else."""
    main: _core.CompiledProgram
    """From the inputs, and after them what the prologue gave, to the results."""

    def __init__(
        self,
        outputs: Any,
        inputs: Sequence[Expression],
        parameters: Mapping[Expression, float] | Sequence[Expression],
        native: Native,
    ) -> None:
        expressions, self.shape = _flattened(outputs)
        self.inputs, self.parameters = tuple(inputs), tuple(parameters)
        prologue, main = _core.lower_expressions(expressions, list(inputs), list(parameters))
        self.prologue, self.main = _core.CompiledProgram(prologue), _core.CompiledProgram(main)
        self._native = native
        self._native_code: list[threading.Event] = []
        self._batch_begun = False
        self._shared: Array | None = None
        if isinstance(parameters, Mapping) or not self.parameters:
            values = parameters.values() if isinstance(parameters, Mapping) else ()
            self._set_parameters(np.array(list(values), dtype=np.float64))
        if native is True:
            native_code.attach(self.main)
        elif native == "auto" and len(main.steps) >= _WORTH_COMPILING:
            self._attach_soon(batch=False)

    def __copy__(self) -> CompiledFunction:
        other = object.__new__(CompiledFunction)
        other.__dict__.update(self.__dict__)
        return other

    def __reduce__(self) -> NoReturn:
        raise Unsupported(
            "a CompiledFunction is tied to this process and cannot be copied or pickled: send its "
            "expressions, and compile them there"
        )

    def __call__(
        self, values: ArrayLike, *, out: Array | None = None, threads: int = 0, interpret: bool = False
    ) -> Array:
        """The results at one point or at many.

        values: one number for each of `inputs`, (n,), or (points, n). out: array for the results, in C order,
        not overlapping the values; one is created if none is given. threads: for many points; 0 selects a
        suitable number. interpret: never by native code (the results do not differ).

        Returns an array of `shape`, or (points, *shape). Raises ValueError for a wrong number of values and
        for parameters without values.
        """
        if self._shared is None:
            raise ValueError("the parameters have no values yet: use what with_parameters(values) returns")
        points = np.ascontiguousarray(values, dtype=np.float64)
        if points.ndim not in (1, 2) or points.shape[-1] != len(self.inputs):
            raise ValueError(
                f"{len(self.inputs)} inputs: values of shape ({len(self.inputs)},) or (points, "
                f"{len(self.inputs)}) are needed, got {points.shape}"
            )
        shape = (*points.shape[:-1], *self.shape)
        if out is None:
            out = np.empty(shape)
        elif out.shape != shape or out.dtype != np.float64 or not out.flags.c_contiguous:
            raise ValueError(f"out must be an array of float64 of shape {shape} in C order, got {out.shape}")
        if points.ndim == 1:
            full = np.concatenate((points, self._shared)) if self._shared.size else points
            self.main.evaluate(full, out.reshape(-1), interpret)
        else:
            if not interpret:
                self._prepare_batch(len(points))
            size = len(self.main.program.outputs)
            self.main.evaluate_batch(points, self._shared, out.reshape(len(points), size), threads, interpret)
        return out

    def with_parameters(self, values: Mapping[Expression, float] | ArrayLike) -> CompiledFunction:
        """The same function with other parameter values; nothing is recompiled.

        values: by symbol, or in the order of `parameters`. Raises ValueError if their number is wrong.

        >>> x, k = bc.symbols("x k")
        >>> energy = bc.expression.compile_function([k * x**2 / 2], [x], {k: 100.0})
        >>> print(energy.with_parameters({k: 200.0})(0.2))    # J
        [4.]
        """
        if isinstance(values, Mapping):
            missing = [symbol.name for symbol in self.parameters if symbol not in values]
            if missing or len(values) != len(self.parameters):
                raise ValueError(f"one value for each parameter is needed; missing: {missing}")
            values = [values[symbol] for symbol in self.parameters]
        other = copy(self)
        other._set_parameters(np.ascontiguousarray(values, dtype=np.float64))  # noqa: SLF001 (of this class)
        return other

    @property
    def operations(self) -> dict[str, int]:
        """The number of operations of each kind in one evaluation, without the prologue."""
        return _core.program_operations(self.main.program)

    @property
    def is_native(self) -> bool:
        """Whether native code for one point is in use now."""
        return self.main.native

    def wait(self) -> None:
        """Wait until the native code that is being compiled is in use.

        >>> x = bc.symbol("x")
        >>> f = bc.expression.compile_function([bc.expression.sin(x)], [x])
        >>> f.wait()
        >>> print(f(np.pi / 2))
        [1.]
        """
        for done in self._native_code:
            done.wait()

    def _set_parameters(self, values: Array) -> None:
        if values.shape != (len(self.parameters),):
            raise ValueError(
                f"{len(self.parameters)} parameters need as many values, got shape {values.shape}"
            )
        self._shared = np.empty(len(self.prologue.program.outputs))
        self.prologue.evaluate(values, self._shared)

    def _prepare_batch(self, points: int) -> None:
        if self._native is False or self.main.native_lanes or points <= 1:
            return
        if self._native is True or (points >= _WORTH_WAITING and native_code.available()):
            native_code.attach(self.main, batch=True)
        elif not self._batch_begun:
            self._batch_begun = True
            self._attach_soon(batch=True)

    def _attach_soon(self, *, batch: bool) -> None:
        self._native_code.append(native_code.attach_soon([self.main], batch=batch))


def compile_function(
    outputs: Any,
    inputs: Sequence[Expression],
    parameters: Mapping[Expression, float] | Sequence[Expression] = (),
    *,
    native: Native = "auto",
) -> CompiledFunction:
    """Expressions as a function of numbers.

    outputs: an expression, a vector, a matrix or any regular nesting of them. inputs: the symbols that calls
    give numbers for. parameters: symbols with their values, or symbols whose values `with_parameters` gives
    later; what depends on them alone is computed once. native: "auto", interpreted at first and native once
    that has been compiled beside, if llvmlite is installed; True, compiled before this returns; False, never.

    Raises ValueError for symbols in the outputs that are neither inputs nor parameters, or are given twice;
    Unsupported for native=True without llvmlite.

    >>> x = bc.symbol("x")
    >>> f = bc.expression.compile_function([x**2, x + 1], [x])
    >>> f([3.0]).tolist(), f([[0.0], [2.0]]).tolist()    # at one point, and at two
    ([9.0, 4.0], [[0.0, 1.0], [4.0, 3.0]])
    """
    return CompiledFunction(outputs, inputs, parameters, native)


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

    >>> x = bc.symbol("x")
    >>> f = bc.expression.compile_function([x**2 + 1], [x])
    >>> source, header = bc.expression.export_c(f, "parabola.c")
    >>> source.name, header.name, "void parabola(" in header.read_text()
    ('parabola.c', 'parabola.h', True)
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
