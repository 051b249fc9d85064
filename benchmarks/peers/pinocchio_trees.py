"""Pinocchio on trees of bodies: forward dynamics by `aba`, in a C++ driver on the headers of its wheel.

The algorithm is compiled with the driver, once for any processor of the family, as the wheel's own library
is, and once for this one; neither is always the faster one.
"""

# run as scripts, so siblings import by plain name; a checker that sees a package cannot find them
# mypy: disable-error-code="import-not-found,no-any-return"

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
from trees import FOLDER, GRAVITY, Body, Job, compiled, loop, main, read_states

DEFINITIONS = (
    "-DBOOST_MPL_LIMIT_LIST_SIZE=30",
    "-DBOOST_MPL_LIMIT_VECTOR_SIZE=30",
    "-DBOOST_MPL_CFG_NO_PREPROCESSED_HEADERS",
    "-DBOOST_FUSION_INVOKE_MAX_ARITY=12",
)
"""Those of the wheel's CMake target; the headers do not compile without."""
VARIANTS = {"any processor": (), "this processor": ("-march=native",)}


def include_flags() -> list[str]:
    """Folders of Pinocchio's and Eigen's headers, which lie under the prefix of cmeel's wheels."""
    prefix = Path(pin.__file__).parents[4] / "include"
    return [f"-I{prefix}", f"-I{prefix / 'eigen3'}"]


def model_of(bodies: list[Body]) -> Any:
    """The tree as a Pinocchio model."""
    model = pin.Model()
    model.gravity.linear[:] = (0.0, 0.0, -GRAVITY)
    joints: list[int] = []
    for body in bodies:
        kind = pin.JointModelFreeFlyer() if body.free else pin.JointModelRZ()
        parent = 0 if body.parent < 0 else joints[body.parent]
        place = pin.SE3(body.rotation, body.position)
        joints.append(model.addJoint(parent, kind, place, f"joint {len(joints)}"))
        inertia = pin.Inertia(body.mass, body.com, body.inertia)
        model.appendBodyToJoint(joints[-1], inertia, pin.SE3.Identity())
    return model


def looped(job: Job) -> dict[str, Any]:
    """Times from Python calls, less the cost of the same calls for the first body alone."""
    bodies = job.bodies()
    states = read_states(job.states, bodies)
    model, single = model_of(bodies), model_of(bodies[:1])
    data, single_data = model.createData(), single.createData()
    configurations = states.q.copy()
    first = 0
    for body in bodies:
        if body.free:  # x, y, z, w
            configurations[:, first + 3 : first + 7] = np.roll(states.q[:, first + 3 : first + 7], -1, axis=1)
        first += 7 if body.free else 1
    q, v, effort = list(configurations), list(states.v), list(states.effort)
    zero = np.zeros(single.nv)
    neutral = pin.neutral(single)
    rows = [pin.aba(model, data, *state).tolist() for state in zip(q, v, effort, strict=True)]
    times = loop(
        job,
        lambda s: pin.aba(model, data, q[s], v[s], effort[s]),
        lambda _: pin.aba(single, single_data, neutral, zero, zero),
    )
    return {"aba, from Python": {"accelerations": rows, "nanoseconds": times}}


def prepare(job: Job) -> dict[str, Any]:
    """See trees.main."""
    if not job.compiles:
        return {"version": pin.__version__, "results": looped(job)}
    return {"version": pin.__version__, "executables": executables(job, "pinocchio_trees.cpp")}


def executables(job: Job, driver: str) -> dict[str, str]:
    """A driver for any processor of the family, and for this one."""
    common = ["-std=c++17", "-O3", "-DNDEBUG", *DEFINITIONS, *include_flags()]
    source, reads = FOLDER / driver, [FOLDER / "pinocchio_engine.h"]
    return {name: compiled(job, source, [*common, *flags], reads)[0] for name, flags in VARIANTS.items()}


if __name__ == "__main__":
    main(prepare, __doc__)
