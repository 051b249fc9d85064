# ruff: noqa: E501 (texts of files)
"""What actuators of files do, against MuJoCo: default classes that their shortcuts share, and ranges."""

from __future__ import annotations

import numpy as np
import pytest
from rigs import robot_oracles

import bellcrank as bc
from bellcrank.mechanism.collisions import NOTE

KINDS = ("general", "motor", "position", "velocity", "intvelocity", "damper")
CLASSES = ("", "a", "b", "c")
BODY = '<body pos="{0} 0 0"><joint name="j{0}" axis="0 1 0"{1}/><geom type="box" size=".1 .2 .3" pos=".1 .2 .3"/></body>'


def other_than_contacts(mech):
    """What is left out but for contacts, which are added on request."""
    return [fault for fault in mech.left_out if fault.rule != NOTE]


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


def model(classes, actuators, joints=None):
    """A file in which each actuator has a joint of its own."""
    bodies = "".join(BODY.format(k, joints[k] if joints else "") for k in range(len(actuators)))
    rest = "".join(
        f'<{kind} name="u{k}" joint="j{k}" ctrlrange="0 1"{given}/>'
        for k, (kind, given) in enumerate(actuators)
    )
    return f'<mujoco><option gravity="0 0 0"/>{classes}<worldbody>{bodies}</worldbody><actuator>{rest}</actuator></mujoco>'


def off_mujoco(tmp_path, text):
    """How far accelerations are from MuJoCo's at a random state with random inputs; None if it refuses the file."""
    path = tmp_path / "model.xml"
    path.write_text(text)
    return off_file(path, bc.load(path)) if is_taken(path) else None


def is_taken(path):
    mujoco = pytest.importorskip("mujoco")
    try:
        mujoco.MjModel.from_xml_path(str(path))
    except ValueError:
        return False
    return True


def off_file(path, mech, formulation="recursive"):
    answers = robot_oracles.mujoco(path, mech, np.random.default_rng(3))
    return robot_oracles.compared(robot_oracles.free_of_limits(mech), answers, formulation)[1]


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


def random_ranges(rng):
    """Ranges of an actuator's input and force, and the gear."""
    low, high = rng.uniform(-1.0, 0.0), rng.uniform(0.1, 1.0)
    most = rng.uniform(0.1, 3.0, 2).round(2)
    own = f' gear="{rng.choice([1, 3, -2])}"'
    own += f' ctrlrange="{low} {high}"' if rng.random() < 0.7 else ""
    own += f' forcerange="-{most[0]} {most[1]}"' if rng.random() < 0.6 else ""
    word = rng.choice(["", ' ctrllimited="false"', ' forcelimited="false"'], p=[0.7, 0.15, 0.15])
    return own + word


def random_limited(seed):
    """A file of actuators with ranges, on joints that have ranges of effort."""
    rng = np.random.default_rng(seed)
    actuators, joints = [], []
    for kind in np.tile(("general", "motor", "position", "velocity", "intvelocity"), 3):
        given = random_attributes(rng, kind).replace("dampratio", "kv")
        actuators.append((kind, given + random_ranges(rng)))
        most = rng.uniform(0.1, 3.0, 2).round(2)
        effort = f' actuatorfrcrange="-{most[0]} {most[1]}"' if rng.random() < 0.5 else ""
        joints.append(f'{effort} range="-30 {rng.integers(10, 90)}"')
    inherited = (
        '<default><position inheritrange="0.5"/></default>' if seed % 3 == 2 else ""
    )  # of servos alone
    text = model(inherited, actuators, joints).replace(' ctrlrange="0 1"', "")
    return text.replace("<position", '<position inheritrange="0.5"', 1) if seed % 3 == 1 else text


@pytest.mark.oracle
@pytest.mark.parametrize("seed", range(12))
def test_inputs_and_forces_are_held_in_their_ranges(tmp_path, seed):
    off = off_mujoco(tmp_path, random_limited(seed))
    assert off is None or off < 1e-12


@pytest.mark.oracle
@pytest.mark.parametrize("formulation", ["recursive", "lagrange", "symbolic", "dca"])
def test_ranges_hold_in_each_formulation(tmp_path, formulation):
    path = tmp_path / "model.xml"
    path.write_text(random_limited(2))
    assert is_taken(path)
    assert off_file(path, bc.load(path), formulation) < 1e-9


@pytest.mark.oracle
@pytest.mark.parametrize("seed", range(4))
def test_ranges_are_written(tmp_path, seed):
    """Motors and servos within ranges come back from MJCF as MuJoCo takes them."""
    path, again = tmp_path / "model.xml", tmp_path / "again.xml"
    rng = np.random.default_rng(seed)
    kinds = ["motor", "position", "velocity"] * 3
    actuators = [(kind, random_ranges(rng)) for kind in kinds]
    joints = [' actuatorfrcrange="-0.4 0.3"' if rng.random() < 0.5 else "" for _ in kinds]
    path.write_text(model("", actuators, joints).replace(' ctrlrange="0 1"', ""))
    mech = bc.load(path)
    assert other_than_contacts(mech) == []
    assert not [fault for fault in bc.save(mech, again) if "force" in fault.element]
    assert off_file(again, mech) < 1e-12
    assert off_file(path, bc.load(again)) < 1e-12


PAIR = """<mujoco><worldbody><site name="s"/>
  <body><joint name="a" axis="0 1 0" actuatorfrcrange="-.1 .2"/><geom size=".1" pos=".1 0 0"/>
    <body pos=".3 0 0"><joint name="b" axis="0 1 0" actuatorfrcrange="-.1 .2"/><geom size=".1" pos=".1 0 0"/></body></body></worldbody>
  <tendon><fixed name="t"><joint joint="a" coef="2"/></fixed></tendon>
  <actuator><motor name="u" joint="a"/><motor name="v" {second}/></actuator></mujoco>"""


@pytest.mark.oracle
@pytest.mark.parametrize(
    ("second", "listed"), [('joint="b"', []), ('joint="a"', ["a", "b"]), ('tendon="t"', ["a", "b"])]
)
def test_a_joint_that_several_actuators_move_has_its_range_listed(tmp_path, second, listed):
    path = tmp_path / "model.xml"
    path.write_text(PAIR.format(second=second))
    mech = bc.load(path)
    assert [fault.element for fault in other_than_contacts(mech)] == [f"joint {name!r}" for name in listed]
    assert off_file(path, mech) < 1e-12


URDF = """<robot name="r"><link name="a"/><link name="b">
  <inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="j" type="continuous"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/><limit effort="6" velocity="{speed}"/></joint>
  {motors}</robot>"""
MOTOR = '<transmission name="t{0}"><joint name="j"/><actuator name="m{0}"><mechanicalReduction>-3</mechanicalReduction></actuator></transmission>'


def test_the_effort_of_a_urdf_joint_holds_the_input_of_its_motor(tmp_path):
    path = tmp_path / "r.urdf"
    path.write_text(URDF.format(speed="0", motors=MOTOR.format(1)))
    mech = bc.load(path)
    assert other_than_contacts(mech) == []
    assert str(mech.forces["m1"].kind.torque) in ("max(-2, min(m1, 2))", "max(-2, min(2, m1))")
    assert not bc.save(mech, tmp_path / "again.urdf")
    again = bc.load(tmp_path / "again.urdf")
    assert again.forces["m1"].kind == mech.forces["m1"].kind
    two = path.with_name("two.urdf")
    two.write_text(URDF.format(speed="5", motors=MOTOR.format(1) + MOTOR.format(2)))
    assert [fault.rule for fault in other_than_contacts(bc.load(two))] == [
        "limits of effort and speed are not kept"
    ]
    path.write_text(URDF.format(speed="5", motors=MOTOR.format(1)))
    assert [fault.rule for fault in other_than_contacts(bc.load(path))] == ["its limit of speed is not kept"]
