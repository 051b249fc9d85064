"""Parameters of mechanisms, and elements whose numbers are expressions of them."""

from math import pi
from typing import NamedTuple

import numpy as np
import pytest

import bellcrank as bc
import bellcrank.expression as ex
from bellcrank.mechanism.contents import with_numbers


def crank():
    """A pendulum of a length, with everything in terms of it."""
    mech = bc.Mechanism("crank")
    length = mech.add_parameter("length", 0.5, unit="m", low=0.1, high=2.0, doc="of the crank")
    return built(mech, length, mech.add_parameter("stiffness", 100.0))


def plain(length, stiffness):
    """The same written with numbers."""
    return built(bc.Mechanism("crank"), length, stiffness)


def built(mech, length, stiffness):
    body = mech.add_body(
        "crank",
        mass=2 * length,
        inertia=(length**2 / 100, length**2 / 6, length**2 / 6),
        position=(length / 2, 0, 0),
    )
    mech.add_joint(
        "pivot", bc.Revolute(), mech.ground.marker(axis=(0, 1, 0)),
        body.marker((-length / 2, 0, 0), axis=(0, 1, 0)), limits=bc.Limit(-length, pi),
    )  # fmt: skip
    spring = bc.SpringDamper(stiffness=stiffness, damping=stiffness / 100, rest_length=0.3 * length)
    mech.add_force("spring", spring, mech.ground.marker((0, 0, 0.3)), body.marker((length / 2, 0, 0)))
    return mech


def arrays(mech):
    from bellcrank.compile.compile import compile_mechanism

    return compile_mechanism(mech).arrays


@pytest.mark.parametrize("values", [{}, {"length": 0.6}, {"length": 1.7, "stiffness": 30.0}])
def test_it_compiles_to_the_numbers_of_its_parameters(values):
    mech = crank().with_parameters(**values)
    wanted = arrays(plain(values.get("length", 0.5), values.get("stiffness", 100.0)))
    for name, array in arrays(mech).items():
        if isinstance(array, np.ndarray):
            np.testing.assert_allclose(array, wanted[name], rtol=1e-15, atol=1e-17, err_msg=name)
        else:
            assert array == wanted[name]


def test_elements_keep_the_expressions():
    mech = crank()
    length = mech.parameters["length"].symbol
    assert mech.bodies["crank"].mass == 2 * length
    assert mech.bodies["crank"].inertia[1][1] == length**2 / 6
    assert mech.forces["spring"].kind.rest_length == 0.3 * length
    assert mech.joints["pivot"].limits[0][1].lower == -length
    assert mech.joints["pivot"].marker_2.position[0] == -length / 2


def test_the_original_keeps_its_values():
    mech = crank()
    other = mech.with_parameters(length=1.0)
    assert (mech.parameters["length"].value, other.parameters["length"].value) == (0.5, 1.0)
    assert other.bodies["crank"] is mech.bodies["crank"]
    other.add_body("more", mass=1, inertia=(1, 1, 1))
    assert "more" not in mech.bodies


def test_other_values_reuse_the_program(monkeypatch):
    from bellcrank import _core

    mech = crank()
    with_numbers(mech)
    made = []
    whole = _core.lower_expressions
    monkeypatch.setattr(_core, "lower_expressions", lambda *a: made.append(a) or whole(*a))
    assert with_numbers(mech.with_parameters(length=0.7)).bodies["crank"].mass == 1.4
    assert made == []


def test_simulated():
    run = bc.simulate(crank().with_parameters(length=0.8), duration=0.2)
    same = bc.simulate(plain(0.8, 100.0), duration=0.2)
    np.testing.assert_allclose(
        run.body("crank").position, same.body("crank").position, rtol=1e-13, atol=1e-14
    )


def test_shapes_and_mass_from_shapes():
    mech = bc.Mechanism()
    width = mech.add_parameter("width", 0.1)
    box = bc.Box(size=(1.0, width, width), density=1000.0, position=(width, 0, 0))
    mech.add_body("one", shapes=[box, bc.Sphere(radius=2 * width, density=500.0)])
    mech.add_body("two", mass=3 * width, shapes=[box])
    for value in (0.1, 0.3):
        found = with_numbers(mech.with_parameters(width=value)).bodies
        box = bc.Box(size=(1.0, value, value), density=1000.0, position=(value, 0, 0))
        other = bc.Mechanism()
        one = other.add_body("one", shapes=[box, bc.Sphere(radius=2 * value, density=500.0)])
        two = other.add_body("two", mass=3 * value, shapes=[box])
        for body, wanted in ((found["one"], one), (found["two"], two)):
            np.testing.assert_allclose(body.mass, wanted.mass, rtol=1e-13)
            np.testing.assert_allclose(body.com, wanted.com, rtol=1e-13, atol=1e-16)
            np.testing.assert_allclose(body.inertia, wanted.inertia, rtol=1e-12, atol=1e-16)
            assert body.shapes == wanted.shapes


def test_directions():
    mech = bc.Mechanism()
    tilt = mech.add_parameter("tilt", 0.3)
    body = mech.add_body(
        "a",
        mass=1,
        inertia=(1, 1, 1),
        position=(0, 0, 1),
        rotation=(ex.cos(tilt / 2), ex.sin(tilt / 2), 0, 0),
    )
    tilted = (0, ex.sin(tilt), ex.cos(tilt))
    mech.add_marker(body.marker((0, 0, tilt), axis=tilted, name="axis"))
    mech.add_marker(body.world_marker((0, 1, tilt), x_axis=(1, 0, 0), name="world"))
    for value in (0.3, 1.1):
        markers = with_numbers(mech.with_parameters(tilt=value)).markers
        other = bc.Mechanism().add_body(
            "a",
            mass=1,
            inertia=(1, 1, 1),
            position=(0, 0, 1),
            rotation=(np.cos(value / 2), np.sin(value / 2), 0, 0),
        )
        axis = other.marker((0, 0, value), axis=(0, np.sin(value), np.cos(value)))
        world = other.world_marker((0, 1, value), x_axis=(1, 0, 0))
        for found, wanted in ((markers["a.axis"], axis), (markers["a.world"], world)):
            np.testing.assert_allclose(found.position, wanted.position, atol=1e-15)
            np.testing.assert_allclose(found.rotation, wanted.rotation, atol=1e-15)


def test_gravity_and_initial_values():
    mech = crank()
    length = mech.parameters["length"].symbol
    mech.gravity = (0, 0, -length)
    mech.replace(mech.joints["pivot"], limits=(), position=length / 10)
    numeric = with_numbers(mech.with_parameters(length=1.5))
    assert numeric.gravity == (0, 0, -1.5)
    ((name, value),) = numeric.joints["pivot"].position
    assert (name, value) == ("theta_z", pytest.approx(0.15, rel=1e-15))


def test_two_are_equal_by_names_and_values():
    assert crank() == crank()
    assert crank() != crank().with_parameters(length=0.6)


def placed(**given):
    whole = bc.Mechanism("two cranks")
    reach = whole.add_parameter("reach", 0.9)
    values = {"length": reach / 3} if given.pop("led", False) else given
    whole.place(crank(), "left")
    whole.place(crank(), "right", position=(0, reach, 0), parameters=values)
    return whole


def test_placed_parameters_get_the_prefix():
    whole = placed(length=0.7)
    left, right = ({"length": value, "stiffness": 100.0} for value in (0.5, 0.7))
    wanted = {f"{side}_{n}": v for side, own in (("left", left), ("right", right)) for n, v in own.items()}
    assert {name: p.value for name, p in whole.parameters.items()} == {"reach": 0.9, **wanted}
    numeric = with_numbers(whole.with_parameters(left_length=0.4, reach=2.0))
    assert (numeric.bodies["left/crank"].mass, numeric.bodies["right/crank"].mass) == (0.8, 1.4)
    assert numeric.bodies["right/crank"].position == (0.35, 2.0, 0.0)


def test_a_placed_parameter_may_be_led():
    whole = placed(led=True)
    assert "right_length" not in whole.parameters
    assert with_numbers(whole).bodies["right/crank"].mass == pytest.approx(0.6, rel=1e-15)
    assert with_numbers(whole.with_parameters(reach=1.5)).bodies["right/crank"].mass == pytest.approx(
        1.0, rel=1e-15
    )


NOT_A_PARAMETER = ex.symbol("q")


def length_of(mech):
    return mech.parameters["length"].symbol


def body(mech, mass):
    return mech.add_body("b", mass=mass, inertia=(1, 1, 1))


MESSAGES = [
    (lambda m: m.add_parameter("t", 1.0), "parameter 't': this name has a meaning in expressions"),
    (lambda m: m.add_parameter("sin", 1.0), "this name has a meaning in expressions"),
    (lambda m: m.add_parameter("arm length", 1.0), "the name must be letters, digits and '_'"),
    (lambda m: m.add_parameter("length", 1.0), "parameter 'length': this name is taken"),
    (lambda m: m.add_parameter("new", "long"), "parameter 'new': value must be a number, got 'long'"),
    (lambda m: m.add_parameter("new", 1.0, low=2.0), "value must not be less than low = 2, got 1.0"),
    (lambda m: m.add_parameter("new", 1.0, low=2.0, high=1.0), "low must not be greater than high"),
    (lambda m: m.with_parameters(length=5.0), "parameter 'length': value must not be greater than high = 2"),
    (lambda m: m.with_parameters(lenght=0.3), "there is no parameter of this name; did you mean 'length'?"),
    (lambda m: body(m, -length_of(m)), "body 'b': mass must be greater than zero, got -0.5"),
    (lambda m: body(m, ex.t), "body 'b': mass: a number must not depend on the time"),
    (lambda m: bc.Limit(0.0, NOT_A_PARAMETER), "Limit: upper: it depends on 'q'"),
    (
        lambda m: with_numbers(m.with_parameters(stiffness=-1.0)),
        "force 'spring', SpringDamper: stiffness must not be negative, got -1.0",
    ),
    (lambda m: m.place(crank(), "b", parameters={"lenght": 1.0}), "did you mean 'length'?"),
    (lambda m: m.ground.marker(z_axis=(0, 0 * ex.sin(length_of(m)), 0)), "must be a direction"),
]


@pytest.mark.parametrize(("make", "said"), MESSAGES)
def test_messages(make, said):
    with pytest.raises(bc.MechanismError) as caught:
        make(crank())
    assert said in str(caught.value), str(caught.value)


def test_a_parameter_of_another_mechanism():
    mech, other = crank(), bc.Mechanism()
    other.add_body("b", mass=mech.parameters["length"].symbol, inertia=(1, 1, 1))
    with pytest.raises(bc.MechanismError, match="body 'b': it depends on 'length'"):
        bc.prepare(other, "lagrange")


def test_points_may_be_named_tuples():
    class Point(NamedTuple):
        x: object
        y: object
        z: object

    mech = bc.Mechanism("points")
    a = mech.add_parameter("a", 0.5)
    body = mech.add_body("body", mass=1.0, inertia=(1, 1, 1), position=Point(a, 0, 0))
    mech.add_joint("pin", bc.Revolute(), mech.ground.marker(Point(0, 0, -a)), body.marker(Point(-a, 0, -a)))
    mech.gravity = Point(0, 0, -9.81 * a)
    given = with_numbers(mech)
    assert given.bodies["body"].position == (0.5, 0.0, 0.0)
    assert given.joints["pin"].marker_2.position == (-0.5, 0.0, -0.5)
    assert tuple(given.gravity) == pytest.approx((0, 0, -4.905))


@pytest.mark.parametrize("rows", [tuple, list])
def test_products_of_inertia_by_parameters(rows):
    mech = bc.Mechanism("tilted")
    product = mech.add_parameter("product", 0.001)
    inertia = rows([rows([0.01, product, 0.0]), rows([product, 0.012, 0.0]), rows([0.0, 0.0, 0.013])])
    body = mech.add_body("body", mass=1.0, inertia=inertia, com=(0.1, 0, 0))
    mech.add_joint("hinge", bc.Revolute(), mech.ground.marker(axis=(1, 1, 0)), body.marker(axis=(1, 1, 0)))
    mech.add_body(
        "turned", shapes=[bc.Capsule(0.1, 0.2, density=1e5 * product, rotation=(0.6, 0.8, 0.0, 0.0))]
    )
    found = bc.prepare(mech, "lagrange").derivatives(of="hinge.theta_z.acceleration", by="product")
    # About (1, 1, 0) the moment is (Ixx + Iyy) / 2 + p + m (0.1)^2 / 2; that of gravity m g 0.1 / sqrt(2).
    moment = 0.011 + 0.001 + 0.005
    assert found.value[0] == pytest.approx(-9.81 * 0.1 / 2**0.5 / moment * np.sign(-found.value[0]), rel=1e-9)
    assert found.array[0, 0] == pytest.approx(-found.value[0] / moment, rel=1e-9)
