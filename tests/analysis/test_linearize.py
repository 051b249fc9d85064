"""Linearized equations against closed forms, derived equations and each other."""

import importlib
import json
import pickle

import numpy as np
import pytest
from rigs.linearized_trees import wrong
from rigs.random_loops import CASES, mechanism_of
from rigs.random_mechanisms import kinds, random_mechanism
from rigs.swinging import G, Y, parallelogram, pendulum

import bellcrank as bc
from bellcrank import gallery
from bellcrank.compile.compile import compile_mechanism
from bellcrank.linear.differences import OutOfReach, derivatives
from bellcrank.verification.states import admissible_states

linearize_module = importlib.import_module("bellcrank.linear.linearize")
X = (1.0, 0.0, 0.0)
FORMULATIONS = ("lagrange", "recursive", "symbolic", "dca")


@pytest.mark.parametrize("chosen", FORMULATIONS)
def test_a_pendulum_with_an_effort_and_outputs(chosen):
    inertia = 0.02 + 2.0 * 0.7**2
    found = bc.linearize(
        pendulum(),
        inputs=["pivot"],
        outputs=["joint.pivot.theta_z", "body.bob.vx", "joint.pivot.Fx", "pivot.theta_z.acceleration"],
        formulation=chosen,
    )
    stiffness = 2.0 * G * 0.7 / inertia
    np.testing.assert_allclose(found.A, [[0, 1], [-stiffness, 0]], atol=1e-11)
    np.testing.assert_allclose(found.B, [[0], [1 / inertia]], atol=1e-12)
    # About +y a positive angle moves the bob to -x: x = -l sin(angle).
    rows = [[1, 0], [0, -0.7], [2.0 * 0.7 * stiffness, 0], [-stiffness, 0]]
    np.testing.assert_allclose(found.C, rows, atol=1e-10)
    np.testing.assert_allclose(found.D, [[0], [0], [-2.0 * 0.7 / inertia], [1 / inertia]], atol=1e-11)
    assert found.states == ("pivot.theta_z", "pivot.theta_z.rate")
    assert (found.units["pivot"], found.units["joint.pivot.Fx"]) == ("N m", "N")
    assert found.derived
    assert found.error < 1e-11


def test_estimated_errors_bound_the_true_ones():
    """Of a function with a pole nearby, and of one with a kink."""

    def sample(points):
        x = points[:, 0]
        return np.stack([1.0 / (0.3 - x), np.sin(40.0 * x), x**3], axis=1)

    found = derivatives(sample, np.array([0.05]), np.array([0.08]))
    exact = np.array([1.0 / 0.25**2, 40.0 * np.cos(2.0), 3 * 0.05**2])
    assert np.all(np.abs(found.matrix[:, 0] - exact) <= 3.0 * found.error[:, 0])
    assert np.all(found.error < 1e-8 * np.abs(exact).max())


def test_a_kink_counts_as_an_error_by_half_the_jump_of_the_slope():
    kinked = derivatives(
        lambda points: np.maximum(points, 0.0) + np.sin(points), np.zeros(1), np.array([0.1])
    )
    assert kinked.error == pytest.approx(0.5, rel=1e-6)


def test_steps_get_smaller_where_nothing_can_be_reached():
    def sample(points):
        if np.any(np.abs(points) > 0.01):
            raise OutOfReach("too far")
        return points**2

    assert derivatives(sample, np.array([0.001]), np.array([0.1])).matrix == pytest.approx(0.002)

    def nowhere(points):
        raise OutOfReach(f"never at {len(points)}")

    with pytest.raises(OutOfReach, match="never"):
        derivatives(nowhere, np.zeros(1), np.ones(1))


SMALL = ("andrews_squeezer", "bricard_linkage", "double_pendulum", "flyball_governor", "four_bar",
         "free_body", "heavy_top", "slider_crank", "spring_slider_crank", "ring")  # fmt: skip


@pytest.mark.parametrize("name", SMALL)
def test_formulations_agree_on_the_gallery(name):
    found = {f: bc.linearize(getattr(gallery, name)(), steady=False, formulation=f) for f in FORMULATIONS}
    for made in found.values():
        assert made.states == found["lagrange"].states
        size = np.max(np.abs(made.A), initial=1e-300)
        np.testing.assert_allclose(made.A / size, found["lagrange"].A / size, rtol=0.0, atol=1e-9)


def moving(mechanism):
    """Mechanism and a state away from its start, with velocities."""
    states = admissible_states(compile_mechanism(mechanism), 1, seed=3)
    return mechanism, states[-1]


@pytest.mark.parametrize("case", range(0, len(CASES), max(1, len(CASES) // 6)))
def test_formulations_agree_on_random_loops_that_move(case):
    mechanism, state = moving(mechanism_of(CASES[case]))
    found = [
        bc.linearize(mechanism, state=state, steady=False, inputs=(), formulation=f) for f in FORMULATIONS
    ]
    size = np.max(np.abs(found[0].A), initial=1e-300)
    for made in found[1:]:
        allowed = max(1e-9, 10.0 * (made.error + found[0].error))
        np.testing.assert_allclose(made.A / size, found[0].A / size, rtol=0.0, atol=allowed)


def test_formulations_agree_on_random_mechanisms():
    """Of most kinds, each by two formulations or more, where they can be linearized."""
    covered = set()
    for seed in (218, 134, 363, 153, 14, 1089, 1010, 4):
        mechanism = random_mechanism(seed)
        found = {}
        for chosen in FORMULATIONS:
            try:
                found[chosen] = bc.linearize(mechanism, steady=False, inputs=(), formulation=chosen)
            except (bc.MechanismError, bc.AssemblyError, bc.Unsupported):
                continue
        assert len(found) > 1, seed
        covered |= kinds(mechanism)
        first = next(iter(found.values()))
        size = np.max(np.abs(first.A), initial=1e-300)
        for made in found.values():
            allowed = max(1e-9, 10.0 * (made.error + first.error))
            np.testing.assert_allclose(
                made.A / size, first.A / size, rtol=0.0, atol=allowed, err_msg=f"seed {seed}"
            )
    assert len(covered) >= 65


@pytest.mark.parametrize("seed", range(3))
def test_random_trees_and_loops_with_inputs_against_complex_steps(seed):
    assert wrong(seed) == ""


def light_arm(effort):
    """Two links of 10 g and 0.2 m on springs, at rest."""
    mech = bc.Mechanism("light arm")
    one = mech.add_body("one", mass=0.01, inertia=(1e-4, 1e-4, 1e-4), com=(0.1, 0, 0))
    two = mech.add_body("two", mass=0.01, inertia=(1e-4, 1e-4, 1e-4), com=(0.1, 0.02, 0))
    mech.add_joint("j1", bc.Revolute(), mech.ground.marker(axis="y"), one.marker(axis="y"))
    axis = (0.3, 1.0, 0.5)
    mech.add_joint("j2", bc.Revolute(), one.marker((0.2, 0, 0), axis=axis), two.marker(axis=axis))
    for joint in ("j1", "j2"):
        mech.add_force(f"spring {joint}", bc.TorsionSpring(stiffness=0.004), joint=joint)
    mech.add_force("motor", bc.JointMotor(effort), joint="j2")
    bc.find_equilibrium(mech)
    return mech


def test_derived_equations_are_those_of_the_point_whatever_inputs_are_displaced():
    mech = light_arm(bc.Input("u", 0.0, unit="N m"))
    right = bc.linearize(mech, inputs=(), formulation="symbolic")
    found = bc.linearize(mech, formulation="symbolic")
    assert found.derived
    np.testing.assert_array_equal(found.A, right.A)
    np.testing.assert_allclose(
        found.A, bc.linearize(mech, formulation="lagrange").A, atol=1e-11 * abs(found.A).max()
    )


def test_a_displaced_system_is_where_it_was_afterwards():
    for chosen in FORMULATIONS:
        system = bc.prepare(light_arm(bc.Input("u", 0.3, unit="N m")), chosen)
        system.inputs["u"] = 0.5  # it no longer rests
        before, acting = system.state(), system.accelerate().angular
        with system.displaced():
            system.inputs["u"] = 7.0
            system.set_state(system.retract(before, np.ones((2, 3)), np.ones((2, 3))))
            system.project()
            assert not np.allclose(system.accelerate().angular, acting)
        with pytest.raises(bc.MechanismError), system.displaced():
            system.inputs.update({"u": 7.0, "v": 0.0})
        assert system.inputs["u"] == 0.5
        np.testing.assert_allclose(system.accelerate().angular, acting, atol=1e-12 * np.abs(acting).max())


def test_derived_equations_that_differences_contradict_have_a_large_error(monkeypatch):
    mech = light_arm(0.0)
    right = linearize_module.derived_matrix
    monkeypatch.setattr(linearize_module, "derived_matrix", lambda *given: 1.0001 * right(*given))
    with pytest.raises(bc.MechanismError, match="not smooth here"):
        bc.linearize(mech, formulation="symbolic")


def test_inputs_of_the_mechanism_motors_and_parameters():
    mech = bc.Mechanism("slider")
    mass, stiffness = mech.add_parameter("m", 2.0, "kg"), mech.add_parameter("k", 300.0, "N/m")
    body = mech.add_body("block", mass=mass, inertia=(1, 1, 1), position=(0.1, 0, 0))
    mech.add_joint("rail", bc.Prismatic(), mech.ground.marker(axis=X), body.marker(axis=X))
    mech.add_force("spring", bc.TorsionSpring(stiffness=stiffness), joint="rail")
    pull = bc.Input("pull", 30.0, "N")
    mech.add_force("motor", bc.JointMotor(pull), joint="rail")
    mech.add_force("geared", bc.GearedMotor(ratio=5.0), joint="rail")
    found = bc.linearize(mech, inputs=["pull", "motor", "geared", "k", "m"])
    assert found.value[0] == pytest.approx(0.1)  # where 300 N/m hold 30 N
    np.testing.assert_allclose(found.A, [[0, 1], [-150, 0]], atol=1e-10)
    np.testing.assert_allclose(found.B[1], [0.5, 0.5, 2.5, -0.1 / 2, 0.0], atol=1e-10)
    assert [found.units[name] for name in found.inputs] == ["N", "N", "N m", "N/m", "kg"]
    assert bc.linearize(mech).inputs == ("pull",)


def test_springs_keep_their_rest_lengths_when_parameters_change():
    """Rest lengths are those at the start, whatever the derivative does to the geometry."""
    mech = bc.Mechanism("braced")
    length = mech.add_parameter("l", 0.5, "m")
    body = mech.add_body("block", mass=1.0, inertia=(0.01, 0.01, 0.01))
    mech.add_joint("rail", bc.Prismatic(), mech.ground.marker(axis=X), body.marker(axis=X))
    spring = bc.SpringDamper(stiffness=100.0)
    mech.add_force("spring", spring, mech.ground.marker((2.0, 0, 0)), body.marker((length, 0, 0)))
    found = bc.linearize(mech, inputs=["l"])
    np.testing.assert_allclose(found.A, [[0, 1], [-100, 0]], atol=1e-9)
    np.testing.assert_allclose(found.B, [[0], [-100]], atol=1e-9)


def test_states_that_are_wanted_come_first():
    mech, _ = parallelogram()
    assert bc.linearize(mech).states == ("left pivot.theta_z", "left pivot.theta_z.rate")
    found = bc.linearize(mech, states="right pin.theta_z")
    assert found.states[0] == "right pin.theta_z"
    assert bc.linearize(mech, states=["coupler.x"]).states[0] == "coupler.x"
    for wanted, text in (
        (["nowhere.x"], "no coordinate of this name"),
        (["coupler.x", "left pin.theta_z"], "none itself"),
    ):
        with pytest.raises(bc.MechanismError, match=text):
            bc.linearize(mech, states=wanted)


def test_moving_drives_are_noted_and_inputs_of_drives_refused():
    mech = pendulum()
    arm = mech.add_body("arm", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(0, 0, -0.7))
    mech.add_joint("elbow", bc.Revolute(), mech.bodies["bob"].marker(axis=Y), arm.marker(axis=Y))
    speed = bc.Input("speed", 0.3, "rad/s")
    mech.add_drive("crank", "pivot", velocity=speed)
    found = bc.linearize(mech, steady=False)
    assert found.inputs == ()
    assert "drives move here (crank)" in found.notes[0]
    with pytest.raises(bc.MechanismError, match="it moves a drive"):
        bc.linearize(mech, inputs=["speed"], steady=False)
    with pytest.raises(bc.MechanismError, match="a drive prescribes a motion"):
        bc.linearize(mech, inputs=["crank"], steady=False)


def test_what_is_not_steady_is_refused_with_what_is_left():
    mech = pendulum(position=0.3)
    with pytest.raises(
        bc.MechanismError, match=r"pivot.theta_z.rate.*neither an equilibrium.*find_equilibrium"
    ):
        bc.linearize(mech)
    found = bc.linearize(mech, steady=False)
    inertia = 0.02 + 2.0 * 0.7**2
    assert found.A[1, 0] == pytest.approx(-2.0 * G * 0.7 * np.cos(0.3) / inertia, rel=1e-11)
    assert found.rate[1] == pytest.approx(-2.0 * G * 0.7 * np.sin(0.3) / inertia, rel=1e-11)


def test_stops_friction_kinks_and_singular_poses_are_refused():
    mech = pendulum(limits=bc.Limit(0.0, 1.0))
    with pytest.raises(bc.MechanismError, match=r"pivot.*stop is touched"):
        bc.linearize(mech)
    open_one = pendulum(limits=bc.Limit(-0.01, 1.0))
    np.testing.assert_allclose(bc.linearize(open_one).A, bc.linearize(pendulum()).A, atol=1e-11)
    mech = pendulum()
    mech.add_force("bearing", bc.JointFriction(coulomb=1.0, regularisation_velocity=1e-3), joint="pivot")
    with pytest.raises(bc.MechanismError, match=r"bearing.*dry friction is at rest"):
        bc.linearize(mech)
    mech = pendulum()
    mech.add_force(
        "string",
        bc.OneSidedSpring(stiffness=50.0, contact=0.9),
        mech.ground.marker((0.9, 0, -0.7)),
        mech.bodies["bob"].marker(),
    )
    with pytest.raises(bc.MechanismError, match="not smooth here"):
        bc.linearize(mech)
    laid = bc.Mechanism("flat four bar")
    for number, x in enumerate((0.0, 1.0, 2.0)):
        laid.add_body(
            f"bar {number}",
            mass=1.0,
            inertia=(0.1, 0.1, 0.1),
            position=(x + 0.5 if number < 2 else 1.5, 0, 0),
        )
    bars = list(laid.bodies.values())
    laid.add_joint("a", bc.Revolute(), laid.ground.marker(axis=Y), bars[0].marker((-0.5, 0, 0), axis=Y))
    laid.add_joint(
        "b", bc.Revolute(), bars[0].marker((0.5, 0, 0), axis=Y), bars[1].marker((-0.5, 0, 0), axis=Y)
    )
    laid.add_joint(
        "c", bc.Revolute(), bars[1].marker((0.5, 0, 0), axis=Y), bars[2].marker((0.5, 0, 0), axis=Y)
    )
    laid.add_joint(
        "d", bc.Revolute(), bars[2].marker((-0.5, 0, 0), axis=Y), laid.ground.marker((1, 0, 0), axis=Y)
    )
    with pytest.raises(bc.MechanismError, match="singular pose"):
        bc.linearize(laid, steady=False)


def test_wrong_names_are_all_listed():
    with pytest.raises(bc.MechanismError) as error:
        bc.linearize(pendulum(), inputs=["pivott", "torque"])
    assert len(error.value.faults) == 2
    assert "pivot" in str(error.value)
    with pytest.raises(bc.MechanismError) as error:
        bc.linearize(pendulum(), outputs=["joint.pivot.theta", "speed"])
    assert len(error.value.faults) == 2
    with pytest.raises(bc.MechanismError, match="listed twice"):
        bc.linearize(pendulum(), inputs=["pivot", "pivot"])
    with pytest.raises(bc.MechanismError, match="give a Mechanism"):
        bc.linearize("pendulum")
    with pytest.raises(bc.MechanismError, match="state"):
        bc.linearize(pendulum(), state=3)
    with pytest.raises(bc.Unsupported, match="adaptive"):
        bc.linearize(pendulum(), formulation="adaptive")
    with pytest.raises(bc.Unsupported, match="lagrang"):
        bc.linearize(pendulum(), formulation="lagrang")


def test_a_joint_with_several_coordinates_wants_one_named():
    mech = bc.Mechanism("sleeve")
    body = mech.add_body("sleeve", mass=1.0, inertia=(1, 1, 1))
    mech.add_joint("shaft", bc.Cylindrical(), mech.ground.marker(axis=Y), body.marker(axis=Y))
    with pytest.raises(bc.MechanismError, match=r"shaft.z, shaft.theta_z"):
        bc.linearize(mech, inputs=["shaft"])
    found = bc.linearize(mech, inputs=["shaft.z", "shaft.theta_z"])
    np.testing.assert_allclose(found.B[2:], np.eye(2), atol=1e-12)


def test_it_reads_well_and_goes_into_json():
    found = bc.linearize(pendulum(), inputs=["pivot"])
    assert "2 states (1 coordinates, 1 speeds), 1 inputs" in str(found)
    assert json.loads(json.dumps(found.to_dict()))["A"] == found.A.tolist()
    np.testing.assert_allclose(found.part(["pivot.theta_z.rate"]), [[0.0]], atol=1e-12)
    with pytest.raises(bc.MechanismError, match="no state of this name"):
        found.part(["speed"])


def test_python_control_takes_it():
    control = pytest.importorskip("control")
    found = bc.linearize(pendulum(), inputs=["pivot"], outputs=["joint.pivot.theta_z"])
    system = found.to_control()
    assert isinstance(system, control.StateSpace)
    np.testing.assert_allclose(
        np.sort_complex(system.poles()), np.sort_complex(found.eigenvalues()), atol=1e-9
    )
    assert system.input_labels == ["pivot"]


def test_without_python_control_it_says_so(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "control", None)
    with pytest.raises(bc.Unsupported, match=r"bellcrank\[control\]"):
        bc.linearize(pendulum()).to_control()


def test_where_nothing_is_free_there_are_no_states():
    found = bc.linearize(gallery.rr_arm(), inputs=[])
    assert found.A.shape == (0, 0)
    assert "0 states" in str(found)
    assert len(found.modes()) == 0
    assert json.loads(json.dumps(found.to_dict()))["eigenvalues"] == []


def test_it_goes_from_process_to_process():
    mech, _ = parallelogram()
    found = bc.linearize(mech)
    again = pickle.loads(pickle.dumps(found))
    np.testing.assert_array_equal(again.A, found.A)
    np.testing.assert_allclose(again.modes().frequencies, found.modes().frequencies, rtol=1e-14)
    assert again.modes()[0].motion(frames=3).time[-1] > 0.0


@pytest.mark.parametrize("name", ["inputs", "outputs", "states"])
def test_what_is_no_name_is_refused(name):
    with pytest.raises(bc.MechanismError, match=f"{name}: a name, or a list of names"):
        bc.linearize(pendulum(), **{name: 3})


def half_turned(short):
    """A rod that hangs on a ball joint whose markers are so much short of half a turn from each other."""
    mech = bc.Mechanism("rod on a ball joint")
    rod = mech.add_body("rod", mass=2.0, inertia=(0.1, 0.14, 0.05), com=(0, 0, -0.5))
    half = 0.5 * (np.pi - short)
    socket = mech.ground.marker(rotation=(np.cos(half), np.sin(half) * 0.6, np.sin(half) * 0.8, 0.0))
    mech.add_joint("ball", bc.Spherical(), socket, rod.marker())
    return mech


@pytest.mark.parametrize("short", [0.0, 1e-9, 1e-4, 0.03, 0.2, -1e-3])
def test_a_ball_joint_at_half_a_turn_swings_as_elsewhere(short):
    """Its rotation vector changes sign there."""
    found = bc.modes(half_turned(short))
    swings = sorted(mode.frequency for mode in found if mode.kind == "oscillating")
    expected = [np.sqrt(2.0 * G * 0.5 / (0.5 + inertia)) / (2.0 * np.pi) for inertia in (0.14, 0.1)]
    np.testing.assert_allclose(swings, expected, rtol=1e-8)


def test_a_rotation_vector_that_jumps_is_no_state():
    with pytest.raises(bc.MechanismError, match="changes sign here, at half a turn"):
        bc.linearize(half_turned(0.0), states=["ball.rot_x"])
