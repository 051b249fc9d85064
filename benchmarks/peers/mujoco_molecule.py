"""MuJoCo on a tree of hinges from arrays: CPU time of its forward dynamics.

  mujoco_molecule.py FILE REPEATS   prints JSON

FILE: .npz with parent, position, rotation, mass, com, moments.

Hinges turn about z of the frames. Bodies are added one by one: files of such deep trees are not read.
"""

from __future__ import annotations

import json
import sys
import time

import mujoco
import numpy as np


def main(path: str, repeats: str) -> None:
    """Measure the tree at rest."""
    given = np.load(path)
    spec = mujoco.MjSpec()
    spec.option.gravity = (0.0, 0.0, 0.0)
    spec.option.disableflags = mujoco.mjtDisableBit.mjDSBL_CONTACT | mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    bodies: list[object] = []
    for k, parent in enumerate(given["parent"].tolist()):
        carrier = spec.worldbody if parent < 0 else bodies[parent]
        body = carrier.add_body(pos=given["position"][k], quat=given["rotation"][k])
        body.mass, body.ipos, body.inertia = given["mass"][k], given["com"][k], given["moments"][k]
        body.explicitinertial = True
        body.add_joint(type=mujoco.mjtJoint.mjJNT_HINGE, axis=(0.0, 0.0, 1.0))
        bodies.append(body)
    model = spec.compile()
    data = mujoco.MjData(model)
    times = []
    for _ in range(int(repeats) + 1):
        begun = time.thread_time()
        mujoco.mj_forward(model, data)
        times.append(1e6 * (time.thread_time() - begun))
    found = {"version": mujoco.__version__, "times": times[1:], "elements": int(model.nM), "size": model.nv}
    print(json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
