"""K08: the benchmark bicycle on wheels that roll on their edges, linearized about running straight on."""

from dataclasses import asdict, replace
from math import pi

import numpy as np
import pytest
from scipy import optimize
from scipy.optimize import brentq

import bellcrank as bc
from bellcrank.gallery import BENCHMARK_BICYCLE
from bellcrank.gallery import benchmark_bicycle as bicycle

LED = ("rear contact.lean", "steer.theta_z")


@pytest.fixture(scope="module")
def problem(load):
    return load("K08_benchmark_bicycle")


class Linearized:
    """The bicycle by `symbolic`, prepared once."""

    def __init__(self):
        self.system = bc.prepare(bicycle(speed=1.0), "symbolic", cut="front hub")
        self.unit = self.system.project()

    def state(self, speed):
        unit = self.unit
        return replace(unit, velocity=speed * unit.velocity, angular_velocity=speed * unit.angular_velocity)

    def matrix(self, speed, led=LED):
        return self.system.linearize(self.state(speed)).state_matrix(led)

    def lean_and_steer(self, speed):
        return self.matrix(speed).part(LED, LED)


@pytest.fixture(scope="module")
def linearized():
    return Linearized()


def published(problem, speed):
    """The state matrix of (lean, steer, their rates) from M, C1, K0 and K2."""
    M, C1, K0, K2 = (np.array(problem[name]) for name in ("M", "C1", "K0", "K2"))
    g = problem["params"]["g"]
    rates = -np.linalg.solve(M, np.hstack([g * K0 + speed**2 * K2, speed * C1]))
    return np.vstack([np.hstack([np.zeros((2, 2)), np.eye(2)]), rates])


def in_small_letters(numbers):
    if not isinstance(numbers, dict):
        return numbers
    return {key.lower(): in_small_letters(value) for key, value in numbers.items()}


def test_the_gallery_has_the_numbers_of_the_problem(problem):
    expected = in_small_letters({**problem["params"], "steer_axis_tilt": pi / 10})
    expected["gravity"] = expected.pop("g")
    assert asdict(BENCHMARK_BICYCLE) == expected


@pytest.mark.parametrize("speed", [0.0, 1.0, 4.3, 5.0, 8.0, 10.0])
def test_matrices(problem, linearized, check, speed):
    expected = published(problem, speed)
    check("lean and steer", linearized.lean_and_steer(speed), expected, 1e-11, np.abs(expected).max())


def test_eigenvalues(problem, linearized):
    """All of the reduced system: those of the paper, and zeros of place, heading, wheels and speed."""
    for speed, values in problem["eigenvalues"]:
        expected = np.array([complex(*value) for value in values])
        matrix = linearized.matrix(speed)
        assert (len(matrix.displacements), len(matrix.speeds)) == (7, 3)
        found = matrix.eigenvalues()
        moving = found[np.abs(found) > 1e-6]
        assert np.count_nonzero(np.abs(found) < 1e-8) == 6
        expected = expected[np.lexsort((expected.imag, -np.round(expected.real, 9)))]
        moving = moving[np.lexsort((moving.imag, -np.round(moving.real, 9)))]
        np.testing.assert_allclose(moving, expected, rtol=0.0, atol=1e-9)


def test_weave_and_capsize_speeds(problem, linearized):
    def growth(speed):
        values = np.linalg.eigvals(linearized.lean_and_steer(speed))
        return max(values[np.abs(values.imag) > 1e-9].real)

    weave = brentq(growth, 4.0, 5.0, xtol=1e-13)
    capsize = brentq(lambda speed: np.linalg.det(linearized.lean_and_steer(speed)), 5.5, 7.0, xtol=1e-13)
    assert weave == pytest.approx(problem["weave_speed"], abs=1e-9)
    assert capsize == pytest.approx(problem["capsize_speed"], abs=1e-9)


@pytest.mark.parametrize("cut", [(), ("rear hub",), ("front hub",)])
def test_whichever_joint_is_cut(problem, cut):
    system = bc.prepare(bicycle(speed=5.0), "symbolic", **({"cut": cut} if cut else {}))
    found = system.linearize(system.project()).state_matrix().eigenvalues()
    expected = [complex(*value) for value in dict(map(tuple, problem["eigenvalues"]))[5.0]]
    for value in expected:
        assert np.min(np.abs(found - value)) < 1e-9


@pytest.mark.parametrize("chosen", ["lagrange", "recursive", "symbolic"])
@pytest.mark.parametrize("speed", [3.0, 6.0])
def test_free_runs_are_those_of_the_linear_equations(problem, linearized, chosen, speed):
    """Mirroring the bicycle mirrors its motion, so that what is left out is of third order."""
    system = linearized.system
    core, names = system.core, [s.name for s in system.speeds]
    at = [names.index(name) for name in LED]
    system.set_state(linearized.state(speed))
    q, u = np.array(core.configuration()), np.array(core.speeds())
    core.set_configuration(0.0, q, u + 1e-4 * np.eye(len(u))[at[0]])
    state = system.project()
    system.set_state(state)
    begin = np.array([0.0, 0.0, *np.array(core.speeds())[at]])
    assert abs(begin[2]) > 5e-5
    run = bc.simulate(
        bicycle(speed=speed), 1.0, state=state, formulation=chosen, method="dopri5", tolerance=1e-12
    )
    found = np.stack([run.joint("rear contact").position[:, 4], run.joint("steer").position[:, 0]], axis=1)
    values, ways = np.linalg.eig(published(problem, speed))
    shares = np.linalg.solve(ways, begin)
    expected = (np.exp(np.outer(run.time, values)) @ (ways * shares).T).real[:, :2]
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=1e-6 * np.abs(expected).max())


def test_on_hard_tyres_it_weaves_as_on_edges(problem):
    """What is left falls with the length of the contact, by which side forces trail: it is extrapolated."""
    speed, rates, lengths = 5.0, [], []
    for pressure in (3e6, 1e7):
        tyres = {"width": 0.01, "pressure": pressure, "friction": 2.0, "dissipation": 0.02}
        mech = bicycle(speed, tyres=tyres)
        push = bc.Wrench(force=(0, "if(t < 0.1, 20, 0)", 0))
        mech.add_force("push", push, mech.bodies["rear_frame"].marker())
        run = bc.simulate(mech, 3.0, output_step=0.01, tolerance=1e-5)
        rates.append(weave_of(run, after=0.6))
        lengths.append(np.sqrt(mech.forces["front tyre"].kind.sunk(300.0)))
    share = lengths[1] / (lengths[0] - lengths[1])
    limit = rates[1] + share * (rates[1] - rates[0])
    eigenvalues = dict(map(tuple, problem["eigenvalues"]))[speed]
    weave = next(complex(*value) for value in eigenvalues if value[1] > 0.0)
    assert limit.imag == pytest.approx(weave.imag, rel=0.02)
    assert limit.real == pytest.approx(weave.real, abs=0.15)


def weave_of(run, after):
    """The rate of the damped oscillation of the lean, beside a motion that dies out, 1/s."""
    q = run.body("rear_frame").rotation[run.time > after]
    lean, time = 2.0 * np.arctan2(q[:, 1], q[:, 0]), run.time[run.time > after] - after

    def rest(p):
        swing = p[0] * np.exp(p[1] * time) * np.cos(p[2] * time + p[3])
        return (swing + p[4] * np.exp(p[5] * time) + p[6] - lean) / lean.std()

    found = optimize.least_squares(rest, [lean.std(), -0.8, 4.3, 0.0, 0.0, -0.3, 0.0], method="lm")
    assert np.sqrt(np.mean(found.fun**2)) < 0.01
    return complex(found.x[1], abs(found.x[2]))
