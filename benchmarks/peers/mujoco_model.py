"""MuJoCo on a model: CPU time per step, the state at the end and the depth of its deepest contact.

It starts from the file's first key frame, if there is one.

  mujoco_model.py FILE STEPS REPEATS   prints JSON

The loop runs in C.
"""

from __future__ import annotations

import json
import sys
import time

import mujoco


def main(path: str, steps: str, repeats: str) -> None:
    """Measure the model from its start."""
    model = mujoco.MjModel.from_xml_path(path)
    times = []
    for _ in range(int(repeats)):
        data = mujoco.MjData(model)
        if model.nkey:
            mujoco.mj_resetDataKeyframe(model, data, 0)
        begun = time.thread_time()
        mujoco.mj_step(model, data, nstep=int(steps))
        times.append(1e6 * (time.thread_time() - begun) / int(steps))
    depth = max([0.0, *(-contact.dist for contact in data.contact)])
    state = {"qpos": data.qpos.tolist(), "qvel": data.qvel.tolist()}
    found = {"version": mujoco.__version__, "times": times, "depth": depth, "contacts": data.ncon, **state}
    print(json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
