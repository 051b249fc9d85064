"""D01 two-link arm, D02 Puma 560: efforts of drives that lead all joints, accelerations from torques."""

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.gallery import puma560, rr_arm
from bellcrank.mechanism.rotation import matrix

# Rates, accelerations and gravity of the five cases of the Robotics Toolbox, at the pose qn.
CORKE_CASES = {
    "t0": (0.0, 0.0, 9.81),
    "t1": (0.0, 1.0, 9.81),
    "t2": (1.0, 1.0, 9.81),
    "t3": (1.0, 0.0, 9.81),
    "t4": (1.0, 1.0, 0.0),
}


def efforts(mechanism, formulation):
    found = bc.prepare(mechanism, formulation).accelerate()
    return np.array([found.drive(name).effort for name in mechanism.drives])


def motion(row):
    return list(zip(row["q"], row["v"], row["a"], strict=True))


@pytest.mark.parametrize("number", range(5))
def test_two_link_arm(number, load, check, formulation):
    problem = load("D01_rr_arm")
    p, row = problem["params"], problem["rows"][number]
    mechanism = rr_arm(
        motion(row),
        mass=(p["m1"], p["m2"]),
        com=(p["c1"], p["c2"]),
        inertia=(p["I1"], p["I2"]),
        length=p["l1"],
        gravity=p["g"],
    )
    check("efforts", efforts(mechanism, formulation), row["tau"], problem["tol_suggested"])


@pytest.mark.parametrize("number", range(6))
@pytest.mark.parametrize(("key", "motors"), [("tau_rigid", False), ("tau_full", True)])
def test_puma(number, key, motors, load, check, formulation):
    row = load("D02_puma560")["random_cases"][number]
    mechanism = puma560(motion(row), motors=motors, friction=motors)
    check("efforts", efforts(mechanism, formulation), row[key], 1e-10)


@pytest.mark.parametrize("case", CORKE_CASES)
def test_puma_published(case, load, check, formulation):
    """The published torques have six digits."""
    problem = load("D02_puma560")
    rate, acceleration, gravity = CORKE_CASES[case]
    mechanism = puma560([(q, rate, acceleration) for q in problem["qn"]], gravity=gravity)
    found = efforts(mechanism, formulation)
    check("efforts", found, problem["corke_cases"][case], 1e-10)
    check("published efforts", found, problem["published"][case], 1e-4)


@pytest.mark.parametrize("column_number", range(6))
def test_puma_inertia_matrix(column_number, load, check, formulation):
    """A column of the inertia matrix: the efforts of a unit acceleration at rest without gravity."""
    problem = load("D02_puma560")
    unit = np.eye(6)[column_number]
    mechanism = puma560(
        [(q, 0.0, a) for q, a in zip(problem["qn"], unit, strict=True)], friction=False, gravity=0.0
    )
    expected = np.array(problem["inertia_at_qn"])[:, column_number]
    check("inertia", efforts(mechanism, formulation), expected, 1e-10)


@pytest.mark.parametrize("friction", [True, False])
def test_puma_accelerations(friction, load, check, formulation):
    """Forward dynamics: joint torques are given, joint accelerations asked for."""
    problem = load("D02_puma560")
    case = problem["accel_case"]
    states = [(q, v, 0.0) for q, v in zip(problem["qn"], case["qd"], strict=True)]
    mechanism = puma560(states, driven=False, friction=friction)
    for number, torque in enumerate(case["torque"], start=1):
        mechanism.add_force(f"torque {number}", bc.JointMotor(torque), joint=f"joint {number}")
    found = joint_accelerations(mechanism, bc.prepare(mechanism, formulation).accelerate())
    key = "acc_with_viscous_and_coulomb_friction" if friction else "acc_without_friction"
    check("accelerations", found, case[key], 1e-10)
    if friction:
        check("published accelerations", found, case["published"], 1e-4)


def joint_accelerations(mechanism, found):
    """Angular accelerations of the joints of the arm from those of its links."""
    spin, turning, axis = np.zeros(3), np.zeros(3), np.array([0.0, 0.0, 1.0])
    accelerations = []
    for number in range(1, 7):
        body = mechanism.bodies[f"link {number}"]
        omega, alpha = np.array(body.angular_velocity), found.body(body.name).angular
        accelerations.append(axis @ (alpha - turning - np.cross(spin, omega - spin)))
        spin, turning = omega, alpha
        axis = matrix(body.rotation)[:, 2]
    return np.array(accelerations)
