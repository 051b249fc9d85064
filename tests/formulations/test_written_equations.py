"""Equations as text and as C: what textbooks show, and the system's numbers, compiled without warnings."""

import re
import subprocess
from dataclasses import replace

import numpy as np
import pytest
from rigs import examples
from rigs import mechanisms_with_equations as known
from rigs.c_functions import WARNINGS, Library, compiler
from rigs.machine import quaternion
from rigs.mechanisms_with_equations import cart_pole, chain_of_universal_joints, double_pendulum
from rigs.random_formulas import custom_joint
from rigs.random_mechanisms import JOINTS, random_mechanism, relative_pose
from scipy.spatial.transform import Rotation

import bellcrank as bc
from bellcrank.expression.compiled import evaluate
from bellcrank.expression.expression import as_expression, fresh_symbol
from bellcrank.expression.reading import read
from bellcrank.mechanism.rotation import matrix


def numbers(equations, values):
    """Every part as an array, from the text alone. values: of the names in it."""
    names = {name: fresh_symbol(name) for name in values}
    known = {names[name]: value for name, value in values.items()}
    for name, text, _ in equations.definitions:
        names[name] = as_expression(read(text, names))
    found = {}
    for part in equations.parts:
        if part.letter == "a":
            continue
        array = np.zeros(part.shape)
        for index, (text, _) in part.entries.items():
            array[index] = evaluate([as_expression(read(text, names))], known)[0]
        if part.symmetric:
            array = np.triu(array) + np.triu(array, 1).T
        found[part.letter] = array
    return found


def values_at(system, q, u):
    """Names in the text with their numbers."""
    exported = re.findall(r"(?:coordinates q|speeds u): (.*)", str(system.equations()))
    names = [re.split(r" \(", one)[0] for line in exported for one in line.split(", ")]
    return {"t": 0.3, **dict(zip(names, [*q, *u], strict=True))}


def moved(system, rng):
    """A random state near the initial one."""
    core = system.core
    core.set_configuration(0.3, np.array(core.configuration()), np.array(core.speeds()))
    core.displace_joints(rng.normal(0.0, 0.3, len(system.speeds)))
    q, u = np.array(core.configuration()), rng.normal(0.0, 1.0, len(system.speeds))
    core.set_configuration(0.3, q, u)
    return q, u


def close(found, expected):
    size = max(np.max(np.abs(expected), initial=0.0), 1e-300)
    assert np.max(np.abs(found - expected), initial=0.0) <= 1e-12 * size


def check_frame(found, system, body, u):
    """Pose and Jacobian of a body in the text, against the state of the system."""
    k, state, (letter,) = system.model.body_number(body), system.state(), [x for x in found if x[:2] == "p_"]
    assert np.abs(found[letter] - state.position[k]).max() < 1e-12 * max(1.0, np.abs(state.position[k]).max())
    close(found[f"R{letter[1:]}"], matrix(tuple(state.rotation[k])))
    velocity = np.concatenate([state.velocity[k], state.angular_velocity[k]])
    J = found[f"J{letter[1:]}"]
    assert np.abs(J @ u - velocity).max() <= 1e-12 * np.abs(J).max() * max(np.abs(u).max(), 1e-3)


@pytest.mark.parametrize("name", ["spring_slider_crank", "bricard_linkage", "double_pendulum"])
def test_the_text_of_loops_gives_the_accelerations(name):
    """M a - J^T lambda = b, J a = -gamma, and C = 0, from the text alone."""
    system = bc.prepare(getattr(bc.gallery, name)(), "symbolic")
    q, _ = system.joint_state()
    start = system.state()
    system.set_state(system.project(replace(start, angular_velocity=start.angular_velocity + 0.7)))
    q, u = system.joint_state()
    equations = system.equations(longest=10**6)
    found = numbers(equations, {**values_at(system, q, u), "t": start.time})
    M, b = found["M"], found["b"]
    if "J" in found:
        assert np.abs(found["C"]).max() < 1e-12
        J, rows = found["J"], len(found["J"])
        whole = np.block([[M, -J.T], [J, np.zeros((rows, rows))]])
        a = np.linalg.lstsq(whole, np.concatenate([b, -found["gamma"]]), rcond=1e-10)[0][: len(u)]
    else:
        a = np.linalg.solve(M, b)
    expected = system.joint_accelerations()
    assert np.abs(u).max() > 0.1
    assert np.abs(a - expected).max() < 1e-9 * np.abs(expected).max()


@pytest.mark.parametrize("seed", [2, 3, 11, 12, 16, 18, 22, 24, 25, 38, 44, 46, 58])
def test_the_text_has_the_numbers_of_the_system(seed):
    mechanism = random_mechanism(seed)
    system = bc.prepare(mechanism, "symbolic")
    equations = system.equations([next(iter(mechanism.bodies))], longest=10**6)
    assert not any("too long" in one or "table" in one for one in equations.left_out)
    q, u = moved(system, np.random.default_rng(seed))
    found = numbers(equations, values_at(system, q, u))
    close(found["M"], system.mass_matrix())
    close(found["b"], system.bias())
    check_frame(found, system, next(iter(mechanism.bodies)), u)


def test_a_pendulum_is_that_of_textbooks():
    equations = bc.prepare(known.pendulum(), "symbolic").equations()
    assert equations["M"].entries == {(0, 0): ("m*l^2/3", r"\frac{m \, l^{2}}{3}")}
    assert equations["b"].entries[0,][0] == "-m*l*g*sin(theta)/2"
    assert equations["a"].entries[0,][0] == "-3*g*sin(theta)/(2*l)"
    assert r"a &= \begin{pmatrix} \ddot{\theta} \end{pmatrix}" in equations.latex


def test_a_double_pendulum_is_that_of_textbooks():
    system = bc.prepare(known.double_pendulum(), "symbolic")
    equations = system.equations()
    M = {index: text for index, (text, _) in equations["M"].entries.items()}
    assert M[0, 1] == "m2*l2^2/3 + m2*l1*l2*cos(elbow)/2"
    assert M[0, 0] == "m1*l1^2/3 + m2*l1^2 + m2*l2^2/3 + m2*l1*l2*cos(elbow)"
    b = {index: text for index, (text, _) in equations["b"].entries.items()}
    assert b[1,] == "-m2*l2*g*sin(shoulder + elbow)/2 - m2*l1*l2*shoulder_dot^2*sin(elbow)/2"
    assert equations.definitions == ()


def test_a_cart_pole_is_that_of_textbooks():
    equations = bc.prepare(known.cart_pole(), "symbolic").equations()
    M = {index: text for index, (text, _) in equations["M"].entries.items()}
    assert M == {(0, 0): "M + m", (0, 1): "-m*l*cos(theta)", (1, 1): "4*m*l^2/3"}
    b = {index: text for index, (text, _) in equations["b"].entries.items()}
    assert b == {(0,): "F - m*l*theta_dot^2*sin(theta)", (1,): "m*l*g*sin(theta)"}
    assert equations["Q"].entries == {(0,): ("F", "F")}


def test_a_spherical_pendulum_has_squares_of_sines():
    equations = bc.prepare(known.spherical_pendulum(), "symbolic").equations()
    texts = [text for text, _ in equations["M"].entries.values()]
    assert any("sin(polar)^2" in text for text in texts)
    assert r"\sin^{2}\left(\mathrm{polar}\right)" in equations.latex
    assert equations["a"].entries[1,][0].endswith("/(m*l^2 + 1e-12)")


def test_long_equations_say_so():
    system = bc.prepare(known.chain_of_universal_joints(10), "symbolic")
    equations = system.equations(["link 0"])
    assert equations.left_out == ("M, b: too long to read; export_c writes them as C",)
    assert [part.letter for part in equations.parts] == ["p_link_0", "R_link_0", "J_link_0"]
    assert len(str(equations)) < 10_000


def test_closing_rows_are_equations_of_their_own():
    system = bc.prepare(bc.gallery.four_bar(), "symbolic")
    equations = system.equations()
    assert {"C", "J", "gamma"} <= {part.letter for part in equations.parts}
    assert "a" not in {part.letter for part in equations.parts}
    assert "J^T lambda" in str(equations)


def test_a_frame_has_its_pose_and_jacobian():
    system = bc.prepare(known.double_pendulum(), "symbolic")
    equations = system.equations(["forearm.tip"])
    position = equations["p_forearm_tip"].entries
    assert position[0,][0] == "l2*sin(shoulder + elbow) + l1*sin(shoulder)"
    assert equations["J_forearm_tip"].entries[0, 1][0] == "l2*cos(shoulder + elbow)"


def test_notebooks_show_latex():
    shown = bc.prepare(known.pendulum(), "symbolic").equations()._repr_latex_()
    assert shown.startswith("$$")
    assert shown.count(r"\begin{aligned}") == shown.count(r"\end{aligned}") == 1


TOLERANCE = 1e-13


def agree(found, expected, scale=None):
    """To 1e-13 of the largest number."""
    size = max(np.max(np.abs(expected), initial=0.0), 0.0 if scale is None else scale, 1e-300)
    assert np.max(np.abs(found - expected), initial=0.0) <= TOLERANCE * size


def states(system, rng, count=3):
    """Random coordinates and speeds near where a mechanism starts, as the arrays of the C functions."""
    core = system.core
    q0, u0 = np.array(core.configuration()), np.array(core.speeds())
    for _ in range(count):
        core.set_configuration(0.3, q0, u0)
        core.displace_joints(rng.normal(0.0, 0.3, len(u0)))
        q, u = np.array(core.configuration()), u0 + rng.normal(0.0, 1.0, len(u0))
        core.set_configuration(0.3, q, u)
        yield {"q": q, "u": u, "a": rng.normal(0.0, 2.0, len(u)), "tau": rng.normal(0.0, 5.0, len(u))}


def compare(library, at):
    """All dynamics of the system at its state."""
    system, t = library.system, 0.3
    M, b = system.mass_matrix(), system.bias()
    agree(library("mass_matrix", t, **at), M)
    motion = np.max(np.abs(M), initial=0.0) * np.max(np.abs(at["a"]), initial=0.0)
    agree(library("bias", t, **at), b)
    agree(library("inverse_dynamics", t, **at), system.inverse_dynamics(at["a"]), motion)
    if not system.closing_rows:
        none = np.zeros(len(at["u"]))
        agree(library("forward_dynamics", t, **at | {"tau": none}), system.joint_accelerations())
        # M a = b + tau with efforts beside those of the mechanism.
        a = library("forward_dynamics", t, **at)
        agree(np.linalg.solve(M, b + at["tau"]), a, 1e4 * np.max(np.abs(a)))


def compare_frame(library, body, at):
    """Pose, velocity and Jacobian of a body's frame, at the system's state."""
    system, t, name = library.system, 0.3, body.replace(" ", "_")
    k, state = system.model.body_number(body), system.state()
    pose = library(f"{name}_pose", t, **at)
    turn = Rotation.from_quat(np.roll(state.rotation[k], -1)).as_matrix()
    agree(pose[:3], state.position[k], 1.0)
    agree(pose[3:], turn.ravel())
    velocity = library(f"{name}_velocity", t, **at)
    agree(velocity, np.concatenate([state.velocity[k], state.angular_velocity[k]]), np.max(np.abs(at["u"])))
    drift = library(f"{name}_velocity", t, **at | {"u": 0.0 * at["u"]})
    agree(library(f"{name}_jacobian", t, **at) @ at["u"], velocity - drift, np.max(np.abs(at["u"])))


def star(kinds, rng):
    """A body on the ground, or on the body before it, by each of the joints."""
    mech = bc.Mechanism("star", gravity=(0.3, -0.2, -9.81))
    bodies, frames = [mech.ground], [(np.zeros(3), Rotation.identity())]
    for number, (kind, position, (offset, turn)) in enumerate(kinds):
        parent = number % 3 and number
        at, axes = frames[parent]
        marker = bodies[parent].marker(tuple(rng.uniform(-0.2, 0.2, 3)))
        origin = at + axes.apply(marker.position) + axes.apply(offset)
        frames.append((origin, axes * turn))
        bodies.append(
            mech.add_body(
                f"body {number}",
                mass=rng.uniform(0.5, 2.0),
                inertia=tuple(rng.uniform(0.2, 0.3, 3)),
                com=tuple(rng.uniform(-0.1, 0.1, 3)),
                position=tuple(origin),
                rotation=quaternion(axes * turn),
            )
        )
        mech.add_joint(f"joint {number}", kind, marker, bodies[-1].marker(), position=position)
    return mech


def test_all_joint_kinds_agree_with_the_system(tmp_path):
    rng = np.random.default_rng(5)
    whole, closing = [], []
    for name in JOINTS:
        kind = examples.joint(name)
        if name == "PointOnCurve":  # the formulation does not take points on spline curves
            continue
        one = (kind, None, relative_pose(kind, rng))
        (closing if bc.prepare(star([one], rng), "symbolic").closing_rows else whole).append(one)
    whole += [custom_joint(np.random.default_rng(seed)) for seed in range(4)]
    assert len(whole) > 10
    for name, kinds in (("whole", whole), ("closing", closing)):
        (tmp_path / name).mkdir()
        last = f"body {len(kinds) - 1}"
        library = Library(star(kinds, rng), tmp_path / name, [last])
        assert ("mech_forward_dynamics" in library.written.functions) is (name == "whole")
        for at in states(library.system, rng, 2):
            compare(library, at)
            compare_frame(library, last, at)


@pytest.mark.parametrize("seed", [1, 3, 6, 7, 8, 10, 14])
def test_random_mechanisms_agree_with_the_system(seed, tmp_path):
    mechanism = random_mechanism(seed)
    body = next(iter(mechanism.bodies))
    library = Library(mechanism, tmp_path, [body])
    for at in states(library.system, np.random.default_rng(seed)):
        compare(library, at)
        compare_frame(library, body, at)


@pytest.mark.parametrize("make", [bc.gallery.four_bar, bc.gallery.stewart_platform])
def test_loops_are_solved_from_their_parts(make, tmp_path):
    library = Library(make(), tmp_path)
    system = library.system
    assert "mech_forward_dynamics" not in library.written.functions
    assert "a factorization that reveals it" in library.header
    q, u = system.joint_state(system.project())
    at = {"q": q, "u": u}
    assert np.max(np.abs(library("constraint_error", **at))) < 1e-12
    J, gamma = library("constraint_jacobian", **at), library("constraint_bias", **at)
    assert np.allclose(J @ u + library("constraint_drift", **at), 0.0, atol=1e-11)
    M, b = library("mass_matrix", **at), library("bias", **at)
    whole = np.block([[M, -J.T], [J, np.zeros((len(J), len(J)))]])
    a = np.linalg.lstsq(whole, np.concatenate([b, -gamma]), rcond=1e-11)[0][: len(u)]
    expected = system.joint_accelerations()
    assert np.max(np.abs(a - expected)) <= 1e-9 * np.max(np.abs(expected))


def test_parameters_and_inputs_are_arguments(tmp_path):
    mechanism = cart_pole()
    library = Library(mechanism, tmp_path, ["pole"])
    assert library.written.parameters == ("M", "m", "l", "g")
    assert library.written.inputs == ("F",)
    values = {"M": 2.5, "m": 0.7, "l": 0.4, "g": 3.7}
    other = bc.prepare(mechanism.with_parameters(**values), "symbolic")
    other.inputs["F"] = 4.0
    at = {"q": np.array([0.3, 0.8]), "u": np.array([-0.5, 1.2])}
    other.core.set_configuration(0.3, at["q"], at["u"])
    at |= {"p": [2.5, 0.7, 0.4, 3.7], "in": [4.0], "tau": np.zeros(2), "a": np.array([0.3, 0.4])}
    agree(library("forward_dynamics", 0.3, **at), other.joint_accelerations())
    agree(library("mass_matrix", 0.3, **at), other.mass_matrix())
    agree(library("bias", 0.3, **at), other.bias())
    agree(library("inverse_dynamics", 0.3, **at), other.inverse_dynamics(at["a"]))
    agree(library("forces", 0.3, **at), np.array([4.0, 0.0]))


def test_markers_follow_parameters(tmp_path):
    mechanism = double_pendulum()
    library = Library(mechanism, tmp_path, ["forearm.tip"])
    q, lengths = np.array([0.4, -1.1]), np.array([0.6, 0.8])
    pose = library("forearm_tip_pose", q=q, p=[1.0, 2.0, *lengths, 9.81])
    angles = np.cumsum(q)
    agree(pose[:3], np.array([lengths @ np.sin(angles), -lengths @ np.cos(angles), 0.0]))


def test_efforts_add_to_those_of_the_mechanism(tmp_path):
    """A force along a speed: applied wrenches come out as virtual work has them."""
    mechanism = double_pendulum()
    forearm = mechanism.bodies["forearm"]
    mechanism.add_force(
        "pull", bc.Wrench(force=(3.0, -2.0, 0.0)), forearm.marker((0.1, -0.2, 0.0), name="hand")
    )
    library = Library(mechanism, tmp_path, ["forearm.hand"])
    system = library.system
    for at in states(system, np.random.default_rng(0)):
        at["p"] = [1.0, 2.0, 0.5, 0.3, 9.81]
        J = library("forearm_hand_jacobian", **at)
        agree(library("forces", **at), J[:3].T @ [3.0, -2.0, 0.0])


def test_it_is_c_plus_plus_too(tmp_path):
    system = bc.prepare(random_mechanism(11), "symbolic")
    written = system.export_c(tmp_path / "mech.c", ["body 0"])
    command = [compiler("c++"), "-std=c++11", *WARNINGS, "-x", "c++", "-fsyntax-only", written.source]
    subprocess.run(command, check=True)


def test_long_functions_are_several(tmp_path):
    library = Library(chain_of_universal_joints(9), tmp_path, flags=("-std=c99", "-O0"))
    assert "static void mech_forward_dynamics_part_1" in library.written.source.read_text()
    for at in states(library.system, np.random.default_rng(1), 2):
        compare(library, at)


def test_tables_come_along(tmp_path):
    mechanism = double_pendulum()
    pull = bc.CubicSpline([0.0, 0.2, 0.5, 1.0], [1.0, 3.0, -2.0, 0.5])
    mechanism.add_force("pull", bc.JointMotor(pull), "elbow")
    library = Library(mechanism, tmp_path)
    for at in states(library.system, np.random.default_rng(2)):
        agree(library("bias", 0.3, p=[1.0, 2.0, 0.5, 0.3, 9.81], **at), library.system.bias())


def test_what_is_left_out_is_listed(tmp_path):
    mechanism = double_pendulum(limits=bc.Limit(-1.0, 1.0))
    written = bc.prepare(mechanism, "symbolic").export_c(tmp_path / "arm.c")
    assert len(written.left_out) == 1
    assert "limits" in written.left_out[0]
    assert "'elbow'" in written.left_out[0]
    assert "Not contained:" in written.header.read_text()
    assert "'elbow'" in written.header.read_text()


def test_wrong_requests_are_refused(tmp_path):
    system = bc.prepare(double_pendulum(), "symbolic")
    with pytest.raises(bc.MechanismError, match=r"frames.*no marker of this name.*'forarm'.*'forearm'"):
        system.export_c(tmp_path / "arm.c", ["forarm"])
    strange = bc.Marker("forearm", (cart_pole().parameters["l"].symbol, 0.0, 0.0))
    with pytest.raises(bc.MechanismError, match=r"frames.*'l', which is no parameter"):
        system.export_c(tmp_path / "arm.c", [strange])
    with pytest.raises(bc.MechanismError, match="2 faults"):
        system.equations(["forarm", "uper"])
    with pytest.raises(bc.MechanismError, match=r"letters, digits.*'my-arm'.*name="):
        system.export_c(tmp_path / "my-arm.c")
    written = system.export_c(tmp_path / "my-arm.c", name="arm")
    assert written.functions[0] == "arm_mass_matrix"
    assert not (tmp_path / "my-arm.o").exists()
    assert compiler()


def test_frames_are_called_as_their_bodies(tmp_path):
    mechanism = bc.Mechanism("arm")
    body = mechanism.add_body("arm", mass=1.0, inertia=(1.0, 1.0, 1.0))
    mechanism.add_joint("arm", bc.Revolute(), mechanism.ground, body)
    written = bc.prepare(mechanism, "symbolic").export_c(tmp_path / "one.c", body)
    assert "one_arm_jacobian" in written.functions
    assert written.coordinates == ("arm",)


def test_names_cannot_end_a_comment(tmp_path):
    mechanism = bc.Mechanism("arm */ #error")
    body = mechanism.add_body("a*/b", mass=1.0, inertia=(1.0, 1.0, 1.0))
    mechanism.add_joint("7 of/*9\\", bc.Revolute(), mechanism.ground, body)
    library = Library(mechanism, tmp_path, ["a*/b"])
    assert library.written.coordinates == ("q_7_of_9",)


def driven_arm(limited=False):
    """Two links, the first driven, a spring to the ground; masses that make numbers with rounding errors."""
    mech = bc.Mechanism("arm")
    upper = mech.add_body("upper", mass=2.0, inertia=(0.01, 2 * 0.2**2, 0.08), com=(0.2, 0, 0))
    lower = mech.add_body(
        "lower", mass=1.5, inertia=(0.01, 0.1 * 0.3, 0.03), com=(0.1, 0, 0.03), position=(0.4, 0, 0)
    )
    mech.add_joint("j", bc.Revolute(), mech.ground.marker(axis="y"), upper.marker(axis="y"))
    mech.add_joint("k", bc.Revolute(), upper.marker((0.4, 0, 0), axis="y"), lower.marker(axis="y"))
    ends = upper.marker((0.1 * 3, 0, 0)), mech.ground.marker((0.1, 0, 0.7))
    mech.add_force("spring", bc.SpringDamper(0.1 * 0.2 * 40, 0.1), *ends)
    mech.add_drive("d", "j", position="0.5*sin(2*t) + 0.1*t")
    if limited:
        mech.add_body("rod", mass=0.3, inertia=(1e-3, 1e-3, 1e-3), position=(1.0, 0, 0.3))
        mech.add_joint("p", bc.Distance(), lower.marker((0.3, 0, 0)), "rod")
        mech.add_joint("q", bc.Prismatic(), mech.ground.marker(axis="z"), "rod.z")
    return mech


def test_driven_coordinates_are_eliminated():
    """Against runs of another formulation: accelerations, efforts of the drive, and the motion of a body."""
    mech = driven_arm()
    equations = bc.prepare(mech, "symbolic").equations(["lower"], eliminate_driven=True)
    text = str(equations)
    assert "coordinates q: k (rad)" in text
    assert re.search(
        r"drive 'd' \(theta_z\): j = .*sin\(2\*t\).*, j_dot = .*cos\(2\*t\).*, j_ddot = -2\*sin", text
    )
    assert not equations.left_out
    run = bc.simulate(
        mech, 1.0, formulation="lagrange", accelerations=True, tolerance=1e-11, output_step=0.25
    )
    for n, t in enumerate(run.time):
        k = run.joint("k")
        values = {
            "t": t, "k": k.position[n, 0], "k_dot": k.velocity[n, 0], "k_ddot": k.acceleration[n, 0]
        }  # fmt: skip
        found = numbers(equations, values)
        assert found["b"][0] / found["M"][0, 0] == pytest.approx(k.acceleration[n, 0], abs=1e-7)
        assert found["E"][0] == pytest.approx(run.drive("d").effort[n], abs=1e-7)
        body = run.body("lower")
        assert found["p_lower"] == pytest.approx(body.position[n], abs=1e-8)
        moving = found["J_lower"][:, 0] * k.velocity[n, 0] + found["v_lower"]
        assert moving == pytest.approx([*body.velocity[n], *body.angular_velocity[n]], abs=1e-8)


def test_rows_that_close_loops_stay_beside_eliminated_ones():
    mech = known.slider_crank() if hasattr(known, "slider_crank") else bc.gallery.slider_crank()
    if not mech.drives:
        mech.add_drive("d", next(iter(mech.joints)), position="0.3 + 0.2*sin(t)")
    kept = bc.prepare(mech, "symbolic").equations()
    equations = bc.prepare(mech, "symbolic").equations(eliminate_driven=True)
    drives = [row for row in str(kept).splitlines() if row.startswith("closing row") and "drive" in row]
    assert len(drives) == 1
    assert "E: efforts of drive" in str(equations)
    assert "closing row 1" in str(equations)
    assert "efforts of drives: E - D^T lambda" in str(equations)
    assert equations["M"].shape[0] == kept["M"].shape[0] - 1


def test_letters_do_not_clash_with_names():
    mech = cart_pole()
    mass = mech.add_parameter("M" if "M" not in mech.parameters else "b", 1.0)
    mech.replace(mech.bodies[next(iter(mech.bodies))], mass=mass)
    equations = bc.prepare(mech, "symbolic").equations()
    taken = set(mech.parameters)
    assert not taken & {part.letter for part in equations.parts}
    assert equations["M"].letter == ("Mass" if "M" in taken else "M")
    assert "\\mathbf{" in equations.latex


def test_numbers_are_short():
    text = str(bc.prepare(driven_arm(), "symbolic").equations(eliminate_driven=True))
    assert max(len(digits) for digits in re.findall(r"\d+\.(\d+)", text)) <= 16
    assert not re.search(r"0000000|9999999", text)
    assert not re.search(r"s\d+ = -?[\d.]+$", text, re.MULTILINE)
    bead = bc.Mechanism("bead")
    s = bc.symbol("s")
    ball = bead.add_body("b", mass=2.0, inertia=(1, 1, 1))
    bead.add_joint("wire", bc.PathJoint(s, (s, 0, s**2)), bead.ground, ball)
    assert "sqrt" not in str(bc.prepare(bead, "symbolic").equations()["M"])


def test_a_point_mass_on_a_curve_is_that_of_textbooks():
    bead = bc.Mechanism("bead")
    s = bc.symbol("s")
    ball = bead.add_body("ball", mass=2.0, inertia=(0, 0, 0))
    bead.add_joint("wire", bc.PathJoint(s, (s, 0, s**2)), bead.ground, ball)
    equations = bc.prepare(bead, "symbolic").equations()
    assert equations["M"].entries[0, 0][0] == "8*wire^2 + 2"
    assert equations["b"].entries[0,][0] == "-8*wire*wire_dot^2 - 39.24*wire"
