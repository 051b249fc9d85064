"""CasADi on trees of bodies: forward dynamics as generated C, by default at -O3 for this processor.

Two algorithms, of which the faster one is used: see casadi_trees_dynamics.py.
"""

# run as scripts, so siblings import by plain name; a checker that sees a package cannot find them
# mypy: disable-error-code="import-not-found,no-any-return"

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import casadi as ca
from casadi_trees_dynamics import Tree, articulated_bodies, composite_bodies
from trees import FOLDER, Job, compiled, main

FLAGS = "BELLCRANK_PEER_CFLAGS"
"""Environment variable with the compiler's flags."""

WRAPPER = """
static void generated_accelerations(const double* q, const double* v, const double* effort, double* out) {
    const double* arguments[] = {q, v, effort};
    double* results[] = {out};
    accelerations(arguments, results, 0, 0, 0);
}
"""

ALGORITHMS: dict[str, Callable[[Tree], Any]] = {
    "composite bodies": composite_bodies,
    "articulated bodies": articulated_bodies,
}


def operations(function: Any) -> dict[str, int]:
    """Instructions of a function by kind."""
    kinds = [function.instruction_id(k) for k in range(function.n_instructions())]
    sums = (ca.OP_ADD, ca.OP_SUB)
    products = (ca.OP_MUL, ca.OP_SQ, ca.OP_TWICE)
    return {
        "additions": sum(kind in sums for kind in kinds),
        "multiplications": sum(kind in products for kind in kinds),
        "divisions": sum(kind in (ca.OP_DIV, ca.OP_INV) for kind in kinds),
    }


def prepare(job: Job) -> dict[str, Any]:
    """See trees.main; "operations" and CPU "seconds" to derive, to write C and to compile it, by label."""
    if not job.compiles:
        raise SystemExit("generated C needs a compiler")
    executables, counts, seconds = {}, {}, {}
    for name, algorithm in ALGORITHMS.items():
        begun = time.thread_time()
        tree = Tree(job.bodies())
        expressions = algorithm(tree)
        function = ca.Function("accelerations", [tree.q, tree.v, tree.effort], [expressions], {"cse": True})
        source = job.tree.with_name(f"{job.tree.name}-casadi-{name.split()[0]}.c")
        generate(function, source)
        derived = time.thread_time() - begun
        flags = [
            *os.environ.get(FLAGS, "-O3 -march=native").split(),
            f'-DGENERATED="{source.name}"',
            f'-DNAME="{name}"',
        ]
        executables[name], compile_seconds = compiled(job, FOLDER / "generated_trees.c", flags, [source])
        counts[name] = operations(function)
        seconds[name] = {"derive": derived, "compile": compile_seconds}
    version = ca.__version__
    return {"version": version, "executables": executables, "operations": counts, "seconds": seconds}


def generate(function: Any, path: Path) -> None:
    """The function as C with the wrapper that the driver calls."""
    generator = ca.CodeGenerator("generated")
    generator.add(function)
    path.write_text(generator.dump() + WRAPPER, encoding="utf-8")


if __name__ == "__main__":
    main(prepare, __doc__)
