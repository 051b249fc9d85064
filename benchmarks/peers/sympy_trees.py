"""sympy.physics.mechanics on trees of revolute joints: Kane's method, common subexpressions, C code.

The C code, compiled at -O3, forms the mass matrix and the forcing and solves by a Cholesky factorization, so
that it ends where the other engines end: at accelerations from q, v and efforts.
"""

# run as scripts, so siblings import by plain name; a checker that sees a package cannot find them
# mypy: disable-error-code="import-not-found,no-any-return"

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import sympy
from sympy.physics import mechanics as me
from trees import FOLDER, GRAVITY, Body, Job, compiled, main

SOLVE = """
    for (int i = 0; i < N; ++i) {
        for (int k = 0; k < i; ++k) {
            double sum = m[i][k];
            for (int j = 0; j < k; ++j) sum -= m[i][j] * m[k][j];
            m[i][k] = sum / m[k][k];
            m[i][i] -= m[i][k] * m[i][k];
            out[i] -= m[i][k] * out[k];
        }
        m[i][i] = sqrt(m[i][i]);
        out[i] /= m[i][i];
    }
    for (int i = N - 1; i >= 0; --i) {
        for (int k = i + 1; k < N; ++k) out[i] -= m[k][i] * out[k];
        out[i] /= m[i][i];
    }
}
"""


class Equations:
    """Mass matrix and forcing of a tree, with plain symbols in place of functions of time."""

    def __init__(self, bodies: list[Body]) -> None:
        n = len(bodies)
        angles, speeds = me.dynamicsymbols(f"q:{n}"), me.dynamicsymbols(f"u:{n}")
        efforts = sympy.symbols(f"t:{n}")
        kane = self._kane(bodies, angles, speeds, efforts)
        plain = sympy.symbols(f"q:{n} v:{n}")
        images = dict(zip([*angles, *speeds], plain, strict=True))
        self.mass = me.msubs(kane.mass_matrix, images)
        self.forcing = me.msubs(kane.forcing, images)
        self.count = n

    @staticmethod
    def _kane(bodies: list[Body], angles: Any, speeds: Any, efforts: Any) -> Any:
        ground, origin = me.ReferenceFrame("N"), me.Point("O")
        origin.set_vel(ground, 0)
        frames: list[Any] = []
        joints: list[Any] = []
        loads, rigid = [], []
        for k, body in enumerate(bodies):
            before, start = (
                (ground, origin) if body.parent < 0 else (frames[body.parent], joints[body.parent])
            )
            c, s = sympy.cos(angles[k]), sympy.sin(angles[k])
            turn = sympy.Matrix(body.rotation.tolist()) * sympy.Matrix([[c, -s, 0], [s, c, 0], [0, 0, 1]])
            frame = me.ReferenceFrame(f"B{k}")
            frame.orient_explicit(before, turn)
            frame.set_ang_vel(before, speeds[k] * frame.z)
            joint = start.locatenew(f"J{k}", vector(before, body.position))
            joint.v2pt_theory(start, ground, before)
            com = joint.locatenew(f"C{k}", vector(frame, body.com))
            com.v2pt_theory(joint, ground, frame)
            (xx, xy, xz), (_, yy, yz), (_, _, zz) = body.inertia.tolist()
            inertia = me.inertia(frame, xx, yy, zz, xy, yz, xz)
            rigid.append(me.RigidBody(f"body{k}", com, frame, body.mass, (inertia, com)))
            loads.append((com, -body.mass * GRAVITY * ground.z))
            loads.append((frame, efforts[k] * frame.z))
            if body.parent >= 0:
                loads.append((before, -efforts[k] * frame.z))
            frames.append(frame)
            joints.append(joint)
        rates = [u - q.diff() for q, u in zip(angles, speeds, strict=True)]
        kane = me.KanesMethod(ground, q_ind=list(angles), u_ind=list(speeds), kd_eqs=rates)
        kane.kanes_equations(rigid, loads)
        return kane

    def code(self) -> str:
        """The C function that the driver calls."""
        n = self.count
        entries = [self.mass[i, k] for i in range(n) for k in range(i + 1)]
        names = sympy.numbered_symbols("x")
        shared, results = sympy.cse(
            [*entries, *self.forcing], symbols=names, optimizations=None, order="none"
        )
        places = [f"m[{i}][{k}]" for i in range(n) for k in range(i + 1)] + [f"out[{i}]" for i in range(n)]
        lines = [f"const double q{i} = q[{i}], v{i} = v[{i}], t{i} = effort[{i}];" for i in range(n)]
        lines += [f"const double {name} = {sympy.ccode(value)};" for name, value in shared]
        lines += [f"{place} = {sympy.ccode(value)};" for place, value in zip(places, results, strict=True)]
        head = (
            f"enum {{ N = {n} }};\nstatic void generated_accelerations("
            "const double* q, const double* v, const double* effort, double* out) {\n    double m[N][N];\n"
        )
        self.operations = sum(sympy.count_ops(value) for _, value in shared) + sympy.count_ops(results)
        return head + "".join(f"    {line}\n" for line in lines) + SOLVE


def vector(frame: Any, values: Any) -> Any:
    """A vector from its components."""
    x, y, z = (float(value) for value in values)
    return x * frame.x + y * frame.y + z * frame.z


def prepare(job: Job) -> dict[str, Any]:
    """See trees.main; "operations" of the code, the solve excluded; CPU "seconds" of each step, by label."""
    if not job.compiles:
        raise SystemExit("generated C needs a compiler")
    bodies = job.bodies()
    if any(body.free for body in bodies):
        raise SystemExit("free joints are not written for it")
    begun = time.thread_time()
    equations = Equations(bodies)
    derived = time.thread_time()
    source = write(job.tree, equations.code())
    written = time.thread_time()
    flags = ["-O3", "-march=native", f'-DGENERATED="{source.name}"', '-DNAME="Kane"']
    executable, compile_seconds = compiled(job, FOLDER / "generated_trees.c", flags, [source])
    seconds = {
        "derive": derived - begun,
        "common subexpressions": written - derived,
        "compile": compile_seconds,
    }
    return {
        "version": sympy.__version__,
        "executables": {"Kane": executable},
        "operations": {"Kane": {"all": int(equations.operations)}},
        "seconds": {"Kane": seconds},
    }


def write(tree: Path, code: str) -> Path:
    """Write the code to a file beside the tree's text."""
    path = tree.with_name(f"{tree.name}-sympy.c")
    path.write_text(code, encoding="utf-8")
    return path


if __name__ == "__main__":
    main(prepare, __doc__)
