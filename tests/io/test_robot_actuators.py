# ruff: noqa: E501 (texts of files)
"""What actuators of MJCF do, against MuJoCo: default classes that their shortcuts share."""

from __future__ import annotations

import numpy as np
import pytest
from rigs import robot_oracles

import bellcrank as bc

KINDS = ("general", "motor", "position", "velocity", "intvelocity", "damper")
CLASSES = ("", "a", "b", "c")
BODY = '<body pos="{0} 0 0"><joint name="j{0}" axis="0 1 0"/><geom type="box" size=".1 .2 .3" pos=".1 .2 .3"/></body>'


def random_attributes(rng, kind):
    """Numbers of an actuator's law, each with some probability."""

    def some(probability, text):
        return f" {text}" if rng.random() < probability else ""

    a, b, c = rng.integers(1, 10, 3)
    if kind == "general":
        return (
            some(0.5, f'gainprm="{a} {b} {c}"')
            + some(0.4, f'biasprm="{b} -{c} -{a}"')
            + some(0.4, f'biastype="{rng.choice(["none", "affine"])}"')
            + some(0.3, f'gaintype="{rng.choice(["fixed", "affine"])}"')
        )
    if kind in ("velocity", "damper"):
        return some(0.5, f'kv="{a}"')
    if kind == "motor":
        return ""
    damped = some(0.1, f'dampratio="{a}"') or some(0.4, f'kv="{b}"')
    return some(0.5, f'kp="{c}"') + damped + (some(0.3, f'timeconst="{b}"') if kind == "position" else "")


def random_classes(rng, depth=0):
    """Nested default classes with some of the shortcuts in each."""
    kinds = rng.permutation(KINDS)[: rng.integers(0, 4)]
    own = "".join(f'<{kind}{random_attributes(rng, kind)} ctrlrange="0 1"/>' for kind in kinds)
    inner = random_classes(rng, depth + 1) if depth + 1 < len(CLASSES) else ""
    name = f' class="{CLASSES[depth]}"' if depth else ""
    return f"<default{name}>{own}{inner}</default>"


def model(classes, actuators):
    """A file in which each actuator has a joint of its own."""
    bodies = "".join(BODY.format(k) for k in range(len(actuators)))
    rest = "".join(
        f'<{kind} name="u{k}" joint="j{k}" ctrlrange="0 1"{given}/>'
        for k, (kind, given) in enumerate(actuators)
    )
    return f'<mujoco><option gravity="0 0 0"/>{classes}<worldbody>{bodies}</worldbody><actuator>{rest}</actuator></mujoco>'


def off_mujoco(tmp_path, text):
    """How far accelerations are from MuJoCo's at a random state with random inputs; None if it refuses the file."""
    mujoco = pytest.importorskip("mujoco")
    path = tmp_path / "model.xml"
    path.write_text(text)
    try:
        mujoco.MjModel.from_xml_path(str(path))
    except ValueError:
        return None
    mech = bc.load(path)
    answers = robot_oracles.mujoco(path, mech, np.random.default_rng(3))
    return robot_oracles.compared(robot_oracles.free_of_limits(mech), answers)[1]


@pytest.mark.oracle
@pytest.mark.parametrize(
    ("outer", "inner", "kind"),
    [
        ('<position kp="10" kv="3"/>', "<motor/>", "position"),
        ('<velocity kv="7"/>', "<motor/><velocity/>", "velocity"),
        ('<position kp="10"/><motor/>', "", "position"),
        ('<velocity kv="7"/>', "<general/>", "position"),
        ('<position kp="9"/>', '<general gaintype="affine"/>', "position"),
        ('<general dyntype="filter" gainprm="4"/>', "", "motor"),
    ],
)
def test_a_shortcut_takes_the_numbers_of_the_nearest_class_of_its_kind(tmp_path, outer, inner, kind):
    classes = f'<default>{outer}<default class="a">{inner}</default></default>'
    assert off_mujoco(tmp_path, model(classes, [(kind, ' class="a"')])) < 1e-12


@pytest.mark.oracle
@pytest.mark.parametrize("seed", range(20))
def test_shortcuts_in_nested_classes(tmp_path, seed):
    rng = np.random.default_rng(seed)
    classes = random_classes(rng)
    actuators = [
        (kind, random_attributes(rng, kind) + (f' class="{name}"' if name else ""))
        for kind in KINDS
        for name in CLASSES
    ]
    off = off_mujoco(tmp_path, model(classes, actuators))
    assert off is None or off < 1e-12
