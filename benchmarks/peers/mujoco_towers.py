"""MuJoCo on towers of boxes: CPU time per step, and the settlement of the top box.

Elliptic cones, all other settings at their defaults:

  mujoco_towers.py STEP TIME REPEATS COUNT:TOP ...   prints JSON, an entry for each tower

STEP, TIME: s. COUNT boxes of 1 kg and 0.2 m, the top one of TOP kg, friction 0.5. The loop runs in C.
"""

from __future__ import annotations

import json
import sys
import time

import mujoco

SIDE = 0.2


def text(count: int, top: float, step: float) -> str:
    """The MJCF text."""
    box = f'<freejoint/><geom type="box" size="{SIDE / 2} {SIDE / 2} {SIDE / 2}" friction="0.5" mass='
    bodies = "".join(
        f'<body pos="0 0 {SIDE * (k + 0.5)!r}">{box}"{top if k == count - 1 else 1.0}"/></body>'
        for k in range(count)
    )
    floor = '<geom type="plane" size="5 5 1" friction="0.5"/>'
    return (
        f'<mujoco><option timestep="{step!r}" cone="elliptic"/><size memory="64M"/>'
        f"<worldbody>{floor}{bodies}</worldbody></mujoco>"
    )


def measured(count: int, top: float, step: float, duration: float, repeats: int) -> dict[str, object]:
    """Microseconds per step of each repetition, and the final settlement of the top box, m."""
    model = mujoco.MjModel.from_xml_string(text(count, top, step))
    steps = round(duration / step)
    times = []
    for _ in range(repeats):
        data = mujoco.MjData(model)
        begun = time.thread_time()
        mujoco.mj_step(model, data, nstep=steps)
        times.append(1e6 * (time.thread_time() - begun) / steps)
    sunk = SIDE * (count - 0.5) - float(data.xpos[count][2])
    return {"version": mujoco.__version__, "times": times, "sunk": sunk}


def main(step: str, duration: str, repeats: str, *towers: str) -> None:
    """Measure the towers."""
    found = []
    for tower in towers:
        count, top = tower.split(":")
        found.append(measured(int(count), float(top), float(step), float(duration), int(repeats)))
    print(json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
