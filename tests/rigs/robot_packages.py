# ruff: noqa: E501 (lists of files)
"""Models of robots in packages of PyPI, with what can be compared of each, and how well."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path


@dataclass(frozen=True)
class Model:
    """A file of a package. oracle: "pinocchio" or "mujoco".

    mass, acceleration: relative errors that are allowed, None where the other program reckons with something else;
    why says what.
    """

    package: str
    path: str
    oracle: str
    mass: float | None = 1e-12
    acceleration: float | None = 1e-9
    why: str = ""

    @property
    def file(self) -> Path | None:
        """Where it is installed; None if it is not."""
        try:
            found = Path(str(distribution(self.package).locate_file(self.path)))
        except PackageNotFoundError:
            return None
        return found if found.is_file() else None

    @property
    def name(self) -> str:
        """Package and file, short."""
        return f"{self.package}/{Path(self.path).name}"


VERSIONS = {
    "example-robot-data": "6.0.0",
    "dm-control": "1.0.50",
    "gymnasium": "1.4.0",
    "gymnasium-robotics": "1.4.2",
    "pybullet": "3.2.7",
}
"""With which the lists below were made."""

_RAISED = "moments that are zero or negative are raised"
_AXES = "MuJoCo turns the principal axes of meshes to 1e-9 only"
_LIGHT = "a disc of 1e-8 kg behind a rotor of 0.04 kg m^2, in which `recursive` loses digits"
_SPRINGS = "springdamper is not taken"

_ROBOTS = "cmeel.prefix/share/example-robot-data/robots/"
_EXAMPLES = """
a1_description/urdf/a1 alex_description/urdf/alex_nub_hands alex_description/urdf/alex_psyonic_hands
alex_description/urdf/alex_sake_hands alexander_description/urdf/alexander_v1.lowerBodyOnly
allegro_hand_description/urdf/allegro_left_hand allegro_hand_description/urdf/allegro_right_hand
anymal_b_simple_description/robots/anymal-kinova anymal_b_simple_description/robots/anymal
anymal_c_simple_description/urdf/anymal asr_twodof_description/urdf/TwoDofs b1_description/urdf/b1-z1
b1_description/urdf/b1 baxter_description/urdf/baxter bolt_description/robots/bolt
borinot_description/urdf/borinot_flying_arm_2 centauro_description/urdf/centauro
double_pendulum_description/urdf/double_pendulum double_pendulum_description/urdf/double_pendulum_continuous
double_pendulum_description/urdf/double_pendulum_simple finger_edu_description/robots/finger_edu
g1_description/urdf/g1_29dof_rev_1_0 g1_description/urdf/g1_29dof_with_hand_rev_1_0 go1_description/urdf/go1
go2_description/urdf/go2 hector_description/robots/quadrotor_base hextilt_description/urdf/hextilt_flying_arm_5
human_description/robots/human hyq_description/robots/hyq_no_sensors iris_description/robots/iris
iris_description/robots/iris_simple kinova_description/robots/kinova laikago_description/urdf/laikago
panda_description/urdf/panda panda_description/urdf/panda_collision pr2_description/urdf/pr2
quadruped_description/urdf/quadruped romeo_description/urdf/romeo romeo_description/urdf/romeo_small
simple_humanoid_description/urdf/simple_humanoid simple_humanoid_description/urdf/simple_humanoid_classical
so_arm_description/urdf/so100 so_arm_description/urdf/so101 solo_description/robots/solo
solo_description/robots/solo12 talos_data/robots/talos_full_v2 talos_data/robots/talos_full_v2_box
talos_data/robots/talos_left_arm talos_data/robots/talos_reduced talos_data/robots/talos_reduced_box
talos_data/robots/talos_reduced_corrected tiago_description/robots/tiago tiago_description/robots/tiago_dual
tiago_description/robots/tiago_no_hand tiago_pro_description/robots/tiago_pro
ur_description/urdf/ur10_joint_limited_robot ur_description/urdf/ur10_robot ur_description/urdf/ur3_gripper
ur_description/urdf/ur3_joint_limited_robot ur_description/urdf/ur3_robot ur_description/urdf/ur5_gripper
ur_description/urdf/ur5_joint_limited_robot ur_description/urdf/ur5_robot xarm_description/urdf/xarm7
z1_description/urdf/z1
"""
_CONTROL = """
suite/acrobot suite/ball_in_cup suite/cartpole suite/cheetah suite/finger suite/fish suite/hopper suite/humanoid
suite/humanoid_CMU suite/manipulator suite/pendulum suite/point_mass suite/quadruped suite/reacher suite/stacker
suite/swimmer suite/walker locomotion/soccer/assets/boxhead/boxhead
locomotion/walkers/assets/humanoid_CMU_V2019 locomotion/walkers/assets/humanoid_CMU_V2020
locomotion/walkers/assets/jumping_ball/jumping_ball_with_head locomotion/walkers/assets/rodent
third_party/ant/ant mujoco/testing/assets/arm mujoco/testing/assets/model_with_ball_joints
mjcf/test_assets/robot_arm
"""
_GYMNASIUM = """
ant half_cheetah hopper humanoid humanoidstandup inverted_double_pendulum inverted_pendulum point reacher swimmer
walker2d walker2d_v5
"""
_GYMNASIUM_ROBOTICS = """
assets/adroit_hand/adroit_door assets/adroit_hand/adroit_hammer assets/adroit_hand/adroit_pen
assets/adroit_hand/adroit_relocate assets/fetch/pick_and_place assets/fetch/push assets/fetch/reach
assets/fetch/slide assets/hand/manipulate_block assets/hand/manipulate_egg assets/hand/manipulate_pen
assets/hand/reach multiagent_mujoco/assets/coupled_half_cheetah
"""
_BULLET = """
r2d2 cartpole pendulum5 kuka_iiwa/model kuka_iiwa/model_vr_limits franka_panda/panda racecar/racecar
quadruped/spirit40 a1/a1 mini_cheetah/mini_cheetah
"""

MODELS = [
    *(Model("example-robot-data", f"{_ROBOTS}{name}.urdf", "pinocchio") for name in _EXAMPLES.split()),
    *(
        Model("example-robot-data", f"{_ROBOTS}{name}.urdf", "pinocchio", None, error, _RAISED)
        for name, error in (
            ("icub_description/robots/icub", 1e-6),
            ("icub_description/robots/icub_reduced", 1e-9),
            ("romeo_description/urdf/romeo_laas_small", None),
        )
    ),
    *(Model("dm-control", f"dm_control/{name}.xml", "mujoco") for name in _CONTROL.split()),
    *(
        Model("dm-control", f"dm_control/{name}.xml", "mujoco", 1e-6, error, why)
        for name, error, why in (
            ("third_party/kinova/jaco_arm", 1e-9, _AXES),
            ("third_party/kinova/jaco_hand", 1e-9, _AXES),
            ("suite/dog", None, _SPRINGS),
            ("locomotion/walkers/assets/fruitfly_v2/fruitfly", None, _SPRINGS),
        )
    ),
    *(
        Model("gymnasium", f"gymnasium/envs/mujoco/assets/{name}.xml", "mujoco")
        for name in _GYMNASIUM.split()
    ),
    *(
        Model("gymnasium", f"gymnasium/envs/mujoco/assets/{name}.xml", "mujoco", 1e-12, 1e-7, _LIGHT)
        for name in ("pusher", "pusher_v5")
    ),
    *(
        Model("gymnasium-robotics", f"gymnasium_robotics/envs/{name}.xml", "mujoco")
        for name in _GYMNASIUM_ROBOTICS.split()
    ),
    Model(
        "gymnasium-robotics",
        "gymnasium_robotics/envs/assets/kitchen_franka/kitchen_assets/kitchen_env_model.xml",
        "mujoco",
        1e-7,
        1e-8,
        _AXES,
    ),
    *(Model("pybullet", f"pybullet_data/{name}.urdf", "pinocchio") for name in _BULLET.split()),
]
"""The files that are compared."""
