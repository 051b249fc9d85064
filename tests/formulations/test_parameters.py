"""Parameters in each kind of place: right at other values, by the same code, with derivatives."""

from dataclasses import replace

import numpy as np
import pytest
from rigs.agreement import agreed
from rigs.parametric import ORDINATES, PLACES, parallelogram

import bellcrank as bc
from bellcrank.expression import native
from bellcrank.linear.state_chart import StateChart


def rates(mechanism, formulation):
    """Accelerations at the start, bodies moved together."""
    start = bc.prepare(mechanism, "lagrange").project()
    system = bc.prepare(mechanism, formulation)
    system.set_state(start)
    return system, system.accelerate()


@pytest.mark.parametrize("place", PLACES)
def test_other_values_are_right_and_need_no_compilation(place, monkeypatch):
    value, build = PLACES[place]
    mech = build(value)
    bc.assemble(mech)
    other = mech.with_parameters(p=1.2 * value)
    first = bc.prepare(mech, "symbolic")
    followed = first.linearize().parameters
    assert followed == ("p",)
    system, found = rates(other, "symbolic")
    _, expected = rates(other, "lagrange")
    scale = max(1.0, np.abs(expected.linear).max(), np.abs(expected.angular).max())
    np.testing.assert_allclose(found.linear, expected.linear, atol=1e-9 * scale)
    np.testing.assert_allclose(found.angular, expected.angular, atol=1e-9 * scale)
    _, before = rates(mech, "lagrange")
    assert np.abs(expected.linear - before.linear).max() > 1e-6  # the parameter acts

    first.compile()
    monkeypatch.setattr(native, "store", lambda *_: pytest.fail("it was compiled again"))
    system.compile()
    again = system.accelerate()
    np.testing.assert_array_equal(again.linear, found.linear)


@pytest.mark.parametrize("place", ORDINATES)
def test_programs_do_not_take_what_follows_to_first_order(place):
    value, build = ORDINATES[place]
    mech = build(value)
    bc.assemble(mech)
    assert bc.prepare(mech, "symbolic").linearize().parameters == ()
    other = mech.with_parameters(p=1.7 * value)
    (_, found), (_, expected) = (rates(other, formulation) for formulation in ("symbolic", "lagrange"))
    np.testing.assert_allclose(found.angular, expected.angular, rtol=1e-9, atol=1e-9)


V = bc.symbol("u")


def two_links():
    """An open arm with everything that may follow parameters: masses, lengths, a lead, springs."""
    mech = bc.Mechanism("arm", gravity=(0.1, -0.2, -9.81))
    length = mech.add_parameter("length", 0.5, unit="m", low=0.1)
    mass = mech.add_parameter("mass", 2.0, unit="kg", low=0.1)
    lead = mech.add_parameter("lead", 0.05, unit="m")
    stiffness = mech.add_parameter("stiffness", 30.0, unit="N/m")
    rest = mech.add_parameter("rest", 0.3, unit="rad")
    inertia = (0.001 * mass, mass * length**2 / 12, mass * length**2 / 12)
    upper = mech.add_body("upper", mass=mass, inertia=inertia, com=(length / 2, 0.0, 0.0))
    nut = mech.add_body("nut", mass=0.7, inertia=(0.01, 0.02, 0.015), com=(0.1, 0.0, 0.2))
    free = mech.add_body("free", mass=0.4 + mass / 10, inertia=inertia, com=(0.0, length / 5, 0.0))
    mech.add_joint("shoulder", bc.Revolute(), mech.ground, upper.marker(), position=0.4, velocity=1.0)
    screw = mech.add_joint("screw", bc.Screw(lead), upper.marker((length, 0, 0)), nut.marker(), velocity=0.3)
    mech.add_joint("wrist", bc.Universal(), nut.marker((0, 0, length / 3)), free.marker((length / 4, 0, 0)))
    mech.add_force(
        "line", bc.SpringDamper(stiffness, 0.5, length / 2), mech.ground.marker((0, 1, 0)), free.marker()
    )
    mech.add_force("coil", bc.TorsionSpring(stiffness / 100, 0.1, rest), "shoulder")
    mech.add_force("wind", bc.Wrench(force=(4.0, 0.0, 0.2)), free.marker((0.0, length, 0.0)))
    assert screw.name == "screw"
    return mech


def closed_links():
    """A four-bar whose lengths are parameters, with a rotor behind a gear and a bead on a curve."""
    mech = bc.Mechanism("loop", gravity=(0.0, -9.81, 0.0))
    crank, base = mech.add_parameter("crank", 0.3), mech.add_parameter("base", 1.0)
    steep = mech.add_parameter("steep", 0.4)
    bars = []
    for name, size, place in (
        ("a", crank, (0.15, 0, 0)),
        ("b", 1.1, (0.5, 0.3, 0)),
        ("c", 0.9, (1.1, 0.4, 0)),
    ):
        inertia = (0.01, size**2 / 12, size**2 / 12)
        bars.append(mech.add_body(name, mass=1.0 + size, inertia=inertia, position=place))
    a, b, c = bars
    half = crank / 2
    mech.add_joint("1", bc.Revolute(), mech.ground, a.marker((-half, 0, 0)), position=0.7, velocity=2.0)
    mech.add_joint("2", bc.Revolute(), a.marker((half, 0, 0)), b.marker((-0.55, 0, 0)))
    mech.add_joint("3", bc.Revolute(), b.marker((0.55, 0, 0)), c.marker((0.45, 0, 0)))
    mech.add_joint("4", bc.Revolute(), mech.ground.marker((base, 0, 0)), c.marker((-0.45, 0, 0)))
    bead = mech.add_body("bead", mass=0.3, inertia=(0.01, 0.01, 0.01))
    wire = bc.PathJoint(V, (V, steep * V * V, 0), up=(0, 0, 1), unit="m")
    mech.add_joint("wire", wire, mech.ground.marker((0, 2, 0)), bead, position=0.2, velocity=0.5)
    return mech


MECHANISMS = {"arm": two_links, "loop": closed_links}
OTHERS = {
    "arm": {"length": 0.6, "mass": 1.7, "lead": 0.04, "stiffness": 45.0, "rest": 0.1},
    "loop": {"crank": 0.35, "base": 1.05, "steep": 0.3},
}


def prepared(mechanism):
    """The symbolic system of a mechanism that fits together."""
    bc.assemble(mechanism)
    return bc.prepare(mechanism, "symbolic")


@pytest.mark.parametrize("name", MECHANISMS)
def test_other_values_need_no_other_code(name):
    mech = MECHANISMS[name]()
    one, two = prepared(mech), prepared(mech.with_parameters(**OTHERS[name]))
    forms = ("system", "closure") if one.closing_rows else ("accelerations",)
    for form in (*forms, "inverse", "parameters"):
        first, second = (system.program(form).program for system in (one, two))
        np.testing.assert_array_equal(first.steps, second.steps)
        assert list(first.constants) == list(second.constants)
        assert list(first.outputs) == list(second.outputs)


@pytest.mark.parametrize("name", MECHANISMS)
def test_against_lagrange_at_other_values(name):
    mech = MECHANISMS[name]().with_parameters(**OTHERS[name])
    bc.assemble(mech)
    system = agreed(mech, "symbolic")
    plain = bc.prepare(mech, "symbolic").model
    assert plain.described is not None
    assert len(system.linearize().parameters) == len(OTHERS[name])


@pytest.mark.parametrize("name", MECHANISMS)
def test_derivatives_by_parameters_against_differences(name):
    mech = MECHANISMS[name]()
    system = prepared(mech)
    found = system.linearize()
    assert set(found.parameters) == set(OTHERS[name])
    independent = found.state_matrix()
    chart = StateChart(system.model, system.state(), independent.displacements)

    def at(parameter, value):
        """Accelerations where the independent coordinates and speeds are the same, and loops closed."""
        other = bc.prepare(mech.with_parameters(**{parameter: value}), "symbolic")
        return other.joint_accelerations(chart.moved_to(other.model).at(chart.position, chart.speed))

    speeds = [speed.name for speed in system.speeds]
    rows = [speeds.index(name) for name in independent.speeds]
    np.testing.assert_allclose(independent.parameter[len(rows) :], found.parameter[rows], rtol=1e-12)

    for column, parameter in zip(found.parameter.T, found.parameters, strict=True):
        value = mech.parameters[parameter].value
        step = 2e-3 * value

        def central(h, parameter=parameter, value=value):
            return (at(parameter, value + h) - at(parameter, value - h)) / (2 * h)

        # Romberg's extrapolation of central differences: the error falls with the sixth power of the step.
        coarse, middle, fine = central(2 * step), central(step), central(step / 2)
        second = (4 * middle - coarse) / 3, (4 * fine - middle) / 3
        expected = (16 * second[1] - second[0]) / 15
        np.testing.assert_allclose(
            column, expected, atol=1e-8 * max(1.0, np.abs(expected).max()), err_msg=parameter
        )


@pytest.mark.parametrize("leaning", [0.0, 0.3])
def test_what_opens_a_loop_is_left_out_by_name(leaning):
    mech = parallelogram(leaning)
    bc.assemble(mech)
    found = bc.prepare(mech, "symbolic").linearize()
    assert found.opening == ("middle",)
    assert found.parameters == ("heavy",)
    np.testing.assert_allclose(found.parameter.shape, (len(found.speeds), 1))


def test_what_does_not_follow_is_left_out():
    mech = bc.Mechanism("arm")
    high, mass = mech.add_parameter("high", 0.3, unit="rad"), mech.add_parameter("mass", 2.0)
    body = mech.add_body("bar", mass=mass, inertia=(0.1, 0.2, 0.3), com=(0.4, 0.0, 0.0))
    mech.add_joint("pivot", bc.Revolute(), mech.ground, body)
    mech.add_force("motor", bc.JointMotor(bc.CubicSpline((0.0, 1.0, 2.0), (0.1, high, 0.0))), "pivot")
    drag = mech.add_parameter("drag", 0.5)
    mech.add_force("drag", bc.BodyDamping(drag), body)
    assert prepared(mech).linearize().parameters == ("mass",)
    agreed(mech.with_parameters(high=0.5, drag=2.0), "symbolic")


def test_the_prologue_takes_what_depends_on_parameters_alone():
    """The hot program is no longer than that of the same mechanism with numbers."""
    mech = two_links()
    system = bc.prepare(mech, "symbolic")
    numbers = bc.prepare(replace(system.model, described=None), "symbolic")
    with_parameters, plain = (s.operations("accelerations") for s in (system, numbers))
    assert with_parameters["multiplications"] < 1.3 * plain["multiplications"]
    np.testing.assert_allclose(system.joint_accelerations(), numbers.joint_accelerations(), rtol=1e-11)
