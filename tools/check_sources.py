"""Check what no other tool does: the size of files and functions, and that C++ includes go by layer.

A source file has at most 300 lines and a Python function at most 60; up to twice that is only reported,
beyond it is an error. An ``#include "../…"`` would pass by the include paths that keep the layers of cpp/
apart, and is an error.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FILE_LINES = 300
FUNCTION_LINES = 60
CPP_SUFFIXES = {".c", ".cpp", ".hpp"}
UPWARD_INCLUDE = re.compile(r'^\s*#\s*include\s*"[^"]*\.\./')


def sources() -> Iterator[Path]:
    """Yield every source file of the package, the core, the bindings, the tools and the benchmarks."""
    for folder in ("src", "cpp", "bindings", "tools", "benchmarks"):
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in CPP_SUFFIXES or path.suffix == ".py":
                yield path


def sizes(path: Path, text: str) -> Iterator[tuple[str, int, int]]:
    """Yield (what, lines, allowed lines) for the file and, in Python, for each of its functions."""
    yield str(path.relative_to(ROOT)), len(text.splitlines()), FILE_LINES
    if path.suffix == ".py":
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                lines = (node.end_lineno or node.lineno) - node.lineno + 1
                yield f"{path.relative_to(ROOT)}:{node.lineno} {node.name}", lines, FUNCTION_LINES


def upward_includes(path: Path, text: str) -> Iterator[str]:
    """Yield a message for each include that leaves its folder by a relative path."""
    if path.suffix in CPP_SUFFIXES:
        for number, line in enumerate(text.splitlines(), start=1):
            if UPWARD_INCLUDE.match(line):
                yield f'{path.relative_to(ROOT)}:{number}: write the include as "folder/header.hpp"'


def main() -> int:
    """Print what is wrong or too long; return 1 if any of it is an error."""
    errors: list[str] = []
    for path in sources():
        text = path.read_text(encoding="utf-8")
        errors += upward_includes(path, text)
        for what, lines, allowed in sizes(path, text):
            if lines > 2 * allowed:
                errors.append(f"{what}: {lines} lines, at most {allowed} wanted: split it")
            elif lines > allowed:
                print(f"long: {what}: {lines} lines, at most {allowed} wanted")
    for error in errors:
        print(f"error: {error}", file=sys.stderr)
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
