"""MuJoCo on trees of bodies: from kinematics to the solve, in a C driver on its wheel's library."""

# run as scripts, so siblings import by plain name; a checker that sees a package cannot find them
# mypy: disable-error-code="import-not-found,no-any-return"

from __future__ import annotations

from pathlib import Path
from typing import Any

import mujoco
import numpy as np
from trees import FOLDER, GRAVITY, Array, Body, Job, compiled, loop, main, read_states


def numbers(values: Array) -> str:
    """Numbers in the format of MuJoCo's files."""
    return " ".join(repr(float(value)) for value in np.ravel(values))


def quaternion(rotation: Array) -> Array:
    """The quaternion of a rotation matrix, scalar first."""
    result = np.zeros(4)
    mujoco.mju_mat2Quat(result, rotation.ravel())
    return result


def element(bodies: list[Body], number: int) -> str:
    """A body and its children, as XML."""
    body = bodies[number]
    moments, axes = np.linalg.eigh(body.inertia)
    axes = axes * np.sign(np.linalg.det(axes))
    children = [element(bodies, k) for k, other in enumerate(bodies) if other.parent == number]
    joint = "<freejoint/>" if body.free else '<joint type="hinge" axis="0 0 1"/>'
    return (
        f'<body pos="{numbers(body.position)}" quat="{numbers(quaternion(body.rotation))}">{joint}'
        f'<inertial mass="{body.mass!r}" pos="{numbers(body.com)}" quat="{numbers(quaternion(axes))}" '
        f'diaginertia="{numbers(moments)}"/>{"".join(children)}</body>\n'
    )


def document(bodies: list[Body]) -> str:
    """The tree as an XML model: no contacts, no damping, nothing but masses, joints and gravity."""
    roots = "".join(element(bodies, k) for k, body in enumerate(bodies) if body.parent < 0)
    return (
        f'<mujoco><option gravity="0 0 {-GRAVITY}"><flag contact="disable" constraint="disable"/></option>'
        f"<worldbody>{roots}</worldbody></mujoco>\n"
    )


class Calls:
    """The driver's calls, made from Python; only for trees without free joints."""

    def __init__(self, bodies: list[Body]) -> None:
        self.model = mujoco.MjModel.from_xml_string(document(bodies))
        self.data = mujoco.MjData(self.model)

    def __call__(self, q: Array, v: Array, effort: Array) -> Array:
        """The accelerations."""
        model, data = self.model, self.data
        data.qpos[:], data.qvel[:] = q, v
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        mujoco.mj_crb(model, data)
        mujoco.mj_factorM(model, data)
        mujoco.mj_comVel(model, data)
        mujoco.mj_rne(model, data, 0, data.qfrc_bias)
        found = np.empty((1, model.nv))
        mujoco.mj_solveM(model, data, found, (effort - data.qfrc_bias)[np.newaxis])
        return found[0]


def looped(job: Job) -> dict[str, Any]:
    """Times from Python calls, less the cost of the same calls for the first body alone."""
    bodies = job.bodies()
    if any(body.free for body in bodies):
        raise SystemExit("free joints need the driver, and there is no compiler")
    states = read_states(job.states, bodies)
    q, v, effort = list(states.q), list(states.v), list(states.effort)
    calls, single = Calls(bodies), Calls([bodies[0]])
    zero = np.zeros(1)
    rows = [calls(*state).tolist() for state in zip(q, v, effort, strict=True)]
    times = loop(job, lambda s: calls(q[s], v[s], effort[s]), lambda _: single(zero, zero, zero))
    return {"kinematics to solve, from Python": {"accelerations": rows, "nanoseconds": times}}


def prepare(job: Job) -> dict[str, Any]:
    """See trees.main; writes the model beside the tree's text, where the driver looks for it."""
    if not job.compiles:
        return {"version": mujoco.__version__, "results": looped(job)}
    job.tree.with_name(job.tree.name + ".xml").write_text(document(job.bodies()), encoding="utf-8")
    folder = Path(mujoco.__file__).parent
    library = next(folder.glob("libmujoco.so*"))
    flags = ["-O2", f"-I{folder / 'include'}", str(library), f"-Wl,-rpath,{folder}"]
    executable, _ = compiled(job, FOLDER / "mujoco_trees.c", flags)
    return {"version": mujoco.__version__, "executables": {"": executable}}


if __name__ == "__main__":
    main(prepare, __doc__)
