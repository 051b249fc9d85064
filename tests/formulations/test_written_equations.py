"""Equations as text: what textbooks show for small mechanisms, and the system's numbers for all."""

import re
from dataclasses import replace

import numpy as np
import pytest
from rigs import mechanisms_with_equations as known
from rigs.random_mechanisms import random_mechanism

import bellcrank as bc
from bellcrank.expression.evaluation import evaluate
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


@pytest.mark.parametrize("seed", [2, 3, 11, 12, 16, 18, 22, 24, 25, 36, 38, 44, 46, 58])
def test_the_text_has_the_numbers_of_the_system(seed):
    mechanism = random_mechanism(seed)
    system = bc.prepare(mechanism, "symbolic")
    equations = system.equations([next(iter(mechanism.bodies))], longest=10**6)
    assert not any("too long" in one or "table" in one for one in equations.left_out)
    rng = np.random.default_rng(seed)
    for _ in range(2):
        q, u = moved(system, rng)
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
