"""Derivatives of modes: closed forms, and differences of modes found anew at other values of parameters."""

from math import hypot, pi, sqrt

import numpy as np
import pytest
from rigs.parametric import parallelogram, parallelogram_on_a_spring
from rigs.swinging import G, Y, pendulum_chain_matrices
from scipy.linalg import eigh

import bellcrank as bc
from bellcrank import gallery
from bellcrank.errors import MechanismError
from bellcrank.linear.differences import derivatives


def oscillator(damping=0.8):
    """A mass on a spring and a damper, which hangs."""
    mech = bc.Mechanism("oscillator")
    m, k = mech.add_parameter("m", 2.0, "kg"), mech.add_parameter("k", 50.0, "N/m")
    c = mech.add_parameter("c", damping, "N s/m")
    block = mech.add_body("block", mass=m, inertia=(0.1, 0.1, 0.1), position=(0, 0, -1.0))
    mech.add_joint("rail", bc.Prismatic(), mech.ground.marker(), block.marker())
    mech.add_force("spring", bc.SpringDamper(k, c, rest_length=0.6), mech.ground, block)
    return bc.statics(mech).at


def beside(mech, by, of=("frequency", "damping", "growth"), rtol=1e-7, at_rest=True):
    """Beside extrapolated differences of modes found anew, at rests found anew."""
    start = bc.statics(mech).at if at_rest else mech
    found = bc.modes(start).sensitivity(by=by, of=of)
    values = dict(zip(found.by, found.at.tolist(), strict=True))

    def anew(point):
        changed = start.with_parameters(**dict(zip(values, point.tolist(), strict=True)))
        modes = bc.modes(bc.statics(changed).at if at_rest else changed)
        return modes.sensitivity(by=[], of=found.of).value

    wanted = derivatives(
        lambda points: np.array([anew(one) for one in points]),
        found.at,
        0.02 * np.where(found.at == 0.0, 1.0, np.abs(found.at)),
    )
    size = (
        np.max(np.abs(wanted.matrix * found.at), axis=1, keepdims=True) + 1e-3 * np.abs(found.value)[:, None]
    )
    size = size / np.abs(found.at)
    off = np.abs(found.gradient - wanted.matrix) - 10.0 * wanted.error
    assert np.max(off / size) < rtol
    assert np.all(off <= 2.0 * found.gradient_error + 1e-13 * size)  # what it says of its errors
    assert np.max(found.gradient_error / size) < 1e-5
    return found


def test_an_oscillator_in_closed_form():
    found = bc.modes(oscillator()).sensitivity(
        of=["frequency", "damping", "growth", "damped_frequency"], by=["m", "k", "c"]
    )
    m, k, c = 2.0, 50.0, 0.8
    omega = sqrt(k / m)
    wanted = {
        "frequency 1": np.array([-omega / (2 * m), 0.5 / sqrt(k * m), 0.0]) / (2 * pi),
        "damping 1": np.array([-c / (4 * m * sqrt(k * m)), -c / (4 * k * sqrt(k * m)), 0.5 / sqrt(k * m)]),
        "growth 1": np.array([c / (2 * m * m), 0.0, -0.5 / m]),
    }
    size = {"frequency 1": 1.0, "damping 1": 1.0, "growth 1": 1.0}
    for row, name in enumerate(found.of[:3]):
        np.testing.assert_allclose(found.gradient[row], wanted[name], rtol=1e-10, atol=1e-12 * size[name])
        assert np.all(np.abs(found.gradient[row] - wanted[name]) <= found.gradient_error[row] + 1e-16)
    damped = omega * sqrt(1.0 - found.value[1] ** 2) / (2 * pi)
    assert found.of[3] == "damped_frequency 1"
    assert found.value[3] == pytest.approx(damped, rel=1e-12)
    assert found["damped_frequency 1", "c"] == pytest.approx(
        -c / (4 * m * m) / (2 * pi * damped) / (2 * pi), rel=1e-9
    )
    assert found.of_units == ("Hz", "", "1/s", "Hz")
    assert found.by_units == ("kg", "N/m", "N s/m")
    assert found.warnings == ()


def test_a_chain_of_pendulums_beside_its_matrices():
    values = np.array([0.5, 0.4, 1.0, 0.7])

    def chain(inertias=(0.02, 0.01)):
        mech = bc.Mechanism("double")
        l1, l2, m1, m2 = (
            mech.add_parameter(name, value)
            for name, value in zip(("l1", "l2", "m1", "m2"), values, strict=True)
        )
        one = mech.add_body("1", mass=m1, inertia=(inertias[0],) * 3, position=(0, 0, -0.25))
        two = mech.add_body("2", mass=m2, inertia=(inertias[1],) * 3, position=(0, 0, -0.7))
        mech.add_joint("a", bc.Revolute(), mech.ground.marker(axis=Y), one.marker((0, 0, l1 / 2), axis=Y))
        mech.add_joint(
            "b", bc.Revolute(), one.marker((0, 0, -l1 / 2), axis=Y), two.marker((0, 0, l2 / 2), axis=Y)
        )
        return mech

    def frequencies(points):
        pairs = [pendulum_chain_matrices(p[:2], p[2:], (0.02, 0.01)) for p in points]
        return np.array([np.sqrt(eigh(K, M)[0]) / (2 * pi) for M, K in pairs])

    wanted = derivatives(frequencies, values, 0.1 * values)
    found = bc.modes(chain()).sensitivity(by=["l1", "l2", "m1", "m2"])
    np.testing.assert_allclose(found.gradient, wanted.matrix, rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(found.value, frequencies([values])[0], rtol=1e-12)


@pytest.mark.parametrize("chosen", ["lagrange", "recursive", "symbolic", "dca"])
def test_all_formulations_have_them(chosen):
    found = bc.modes(oscillator(), formulation=chosen).sensitivity(by="k")
    assert found["frequency 1", "k"] == pytest.approx(0.5 / sqrt(100.0) / (2 * pi), rel=1e-9)


def beam(count=8):
    """A cantilever of links with springs between them, which bends under its weight."""
    mech = bc.Mechanism("beam")
    k, m = mech.add_parameter("k", 400.0, "N m/rad"), mech.add_parameter("m", 4.0, "kg")
    length = mech.add_parameter("length", 2.0, "m")
    link, last = length / count, mech.ground.marker(axis=Y)
    for number in range(count):
        at = 2.0 / count * (number + 0.5)
        body = mech.add_body(
            f"link {number}", mass=m / count, inertia=(0.01, 0.01, 0.01), position=(at, 0, 0)
        )
        mech.add_joint(f"joint {number}", bc.Revolute(), last, body.marker((-link / 2, 0, 0), axis=Y))
        mech.add_force(f"spring {number}", bc.TorsionSpring(k, damping=0.02 * k), joint=f"joint {number}")
        last = body.marker((link / 2, 0, 0), axis=Y)
    return mech


def test_a_beam_that_bends_under_its_weight():
    of = ["frequency 1", "frequency 2", "damping 1"]
    found = beside(beam(), ["k", "m", "length"], of)
    assert found["frequency 1", "length"] < 0.0 < found["frequency 1", "k"]


def flexible_boom():
    """An elastic beam, tapered and twisted, with a load at its end, by sizes that are parameters."""
    mech = bc.Mechanism("boom")
    height = mech.add_parameter("height", 0.02, "m")
    E = mech.add_parameter("E", 70e9, "Pa")
    alloy = {"E": E, "nu": 0.3, "density": 2700}
    sections = (
        bc.Section.rectangle(0.01, height, **alloy),
        bc.Section.rectangle(0.008, 0.6 * height, **alloy),
    )
    section = bc.Section.tapered((0.0, 1.0), sections)
    boom = mech.add_beam("boom", section, "ground", (1, 0, 0), 3, 1e-4, twist=bc.Table((0, 1), (0, 0.6)))
    load = mech.add_parameter("load", 2.0, "kg")
    ball = mech.add_body("ball", mass=load, inertia=(1e-3, 1e-3, 1e-3), position=(1, 0, 0))
    mech.add_joint("weld", bc.Fixed(), boom.marker(1.0), ball.marker())
    return mech


def test_a_beam_by_the_sizes_of_its_section():
    mech, by = flexible_boom(), ["height", "E", "load"]
    rest = bc.statics(mech).at
    found = bc.modes(rest).sensitivity(of=["frequency 1"], by=by)
    run = bc.sensitivity(mech, 0.001, of="body.ball.z", by=by, tolerance=1e-9)
    back = bc.gradient(mech, "final body.ball.z", by=by, duration=0.001, tolerance=1e-9)
    np.testing.assert_allclose(back.gradient.ravel(), run.values[-1].ravel(), rtol=1e-6)
    for number, name in enumerate(by):
        value = mech.parameters[name].value
        more, less = ({name: value * (1.0 + part)} for part in (1e-4, -1e-4))
        frequencies = [
            bc.modes(bc.statics(rest.with_parameters(**one)).at).frequencies[0] for one in (more, less)
        ]
        ends = [
            bc.simulate(mech.with_parameters(**one), 0.001, tolerance=1e-10).body("ball").position[-1, 2]
            for one in (more, less)
        ]
        for slope, (up, down) in (
            (found["frequency 1", name], frequencies),
            (run.values[-1].ravel()[number], ends),
        ):
            assert slope == pytest.approx((up - down) / (2e-4 * value), rel=1e-4)


def linkage():
    """A rocker that hangs from a spring with a preload, and a coupler on it: its rest moves."""
    mech = bc.Mechanism("linkage")
    preload, stiffness = (
        mech.add_parameter("preload", 1.1, "m"),
        mech.add_parameter("stiffness", 200.0, "N/m"),
    )
    coupler, damping = mech.add_parameter("coupler", 0.9, "m"), mech.add_parameter("damping", 6.0, "N s/m")
    crank = mech.add_body("crank", mass=2.0, inertia=(0.05, 0.05, 0.05), position=(0.2, 0, 0.1))
    rod = mech.add_body("rod", mass=1.0, inertia=(0.05, 0.05, 0.05), position=(0.8, 0, 0.2))
    rocker = mech.add_body("rocker", mass=1.5, inertia=(0.05, 0.05, 0.05), position=(1.2, 0, 0.1))
    mech.add_joint("foot", bc.Revolute(), mech.ground.marker(axis=Y), crank.marker((-0.2, 0, 0), axis=Y))
    mech.add_joint(
        "elbow", bc.Revolute(), crank.marker((0.2, 0, 0), axis=Y), rod.marker((-coupler / 2, 0, 0), axis=Y)
    )
    mech.add_joint(
        "head", bc.Revolute(), rod.marker((coupler / 2, 0, 0), axis=Y), rocker.marker((0, 0, 0.3), axis=Y)
    )
    mech.add_joint(
        "knee", bc.Revolute(), rocker.marker((0, 0, -0.3), axis=Y), mech.ground.marker((1.3, 0, -0.2), axis=Y)
    )
    mech.add_force(
        "spring",
        bc.SpringDamper(stiffness, damping, rest_length=preload),
        mech.ground.marker((0.3, 0, 1.5)),
        rod,
    )
    return mech


def test_a_linkage_whose_rest_moves_with_the_preload():
    found = beside(linkage(), "parameters")
    fixed = bc.linearize(bc.statics(linkage()).at, inputs="preload")
    assert np.any(fixed.B != 0.0)  # so the rest does move
    assert abs(found["frequency 1", "preload"]) > 1e-3


def test_a_redundant_loop():
    beside(parallelogram_on_a_spring(damping=3.0), ["arm", "stiffness"])


@pytest.mark.parametrize(
    "name", ["andrews_squeezer", "four_bar", "ladder", "bricard_linkage", "spring_slider_crank"]
)
def test_gallery_by_gravity(name):
    mech = getattr(gallery, name)()
    factor = mech.add_parameter("factor", 1.0)
    mech.gravity = tuple(factor * one for one in mech.gravity)
    beside(mech, "factor", of="frequency", rtol=1e-6)


def test_a_steady_motion_keeps_its_speeds():
    """The bicycle at 5 m/s: where it is, where it heads and how its wheels have turned are neutral."""
    mech = gallery.benchmark_bicycle(speed=5.0)
    factor = mech.add_parameter("factor", 1.0)
    mech.gravity = tuple(factor * one for one in mech.gravity)
    found = beside(mech, "factor", of="growth", at_rest=False)
    assert len(found.of) == 3
    assert np.all(np.abs(found.gradient) > 1e-2)


def two_springs(first=100.0, second=100.0):
    """A mass on springs along x and y, without gravity."""
    mech = bc.Mechanism("two springs", gravity=(0, 0, 0))
    kx, ky = mech.add_parameter("kx", first, "N/m"), mech.add_parameter("ky", second, "N/m")
    m = mech.add_parameter("m", 4.0, "kg")
    block = mech.add_body("block", mass=m, inertia=(0.1, 0.1, 0.1))
    plane = mech.add_joint("plane", bc.Planar(), mech.ground.marker(), block.marker())
    for axis, k in (("x", kx), ("y", ky)):
        mech.add_force(f"spring {axis}", bc.TorsionSpring(k), joint=plane, coordinate=axis)
    mech.add_force("spring", bc.TorsionSpring(3.0), joint=plane, coordinate="theta_z")
    return mech


def test_modes_with_one_eigenvalue_part_and_are_named():
    modes = bc.modes(two_springs())
    same = [mode.number for mode in modes if abs(abs(mode.eigenvalue) - 5.0) < 1e-6]
    assert len(same) == 2
    names = [f"frequency {number}" for number in same]
    found = modes.sensitivity(of=names, by=["kx", "ky", "m"])
    slope = 0.5 / sqrt(100.0 * 4.0) / (2 * pi)
    for column in (0, 1):
        np.testing.assert_allclose(found.gradient[:, column], [0.0, slope], atol=1e-11)
    np.testing.assert_allclose(found.gradient[:, 2], [-5.0 / 8.0 / (2 * pi)] * 2, rtol=1e-9)
    (warning,) = found.warnings
    assert f"modes {same[0]} and {same[1]} have the same eigenvalue" in warning
    assert bc.modes(two_springs(second=101.0)).sensitivity(by="kx").warnings == ()


def test_eigenvalues_that_meet_have_no_derivatives():
    """Critical damping."""
    found = bc.modes(oscillator(2.0 * sqrt(100.0))).sensitivity(of="growth", by=["c", "k"])
    assert np.all(np.isnan(found.gradient))
    assert "part like a root" in found.warnings[0]


def test_close_to_where_they_meet_errors_are_large_and_right():
    damping = 20.0 * (1.0 + 1e-5)
    found = bc.modes(oscillator(damping)).sensitivity(of="growth", by="c")
    root = sqrt(damping**2 - 4.0 * 100.0)
    wanted = np.array([-0.25 * (1.0 - damping / root), -0.25 * (1.0 + damping / root)])
    off = np.abs(found.gradient[:, 0] - wanted)
    assert np.all(off <= found.gradient_error[:, 0])
    assert np.all(found.gradient_error[:, 0] < 1e-3 * np.abs(wanted))


def test_two_free_masses_swing_about_each_other():
    mech = bc.Mechanism("dumbbell", gravity=(0, 0, 0))
    k = mech.add_parameter("k", 80.0, "N/m")
    rest = mech.add_parameter("rest", 1.0, "m")
    one = mech.add_body("one", mass=1.0, inertia=(0.1,) * 3)
    two = mech.add_body("two", mass=3.0, inertia=(0.1,) * 3, position=(1.0, 0, 0))
    mech.add_joint("a", bc.Prismatic(), mech.ground.marker(axis="x"), one.marker(axis="x"))
    mech.add_joint("b", bc.Prismatic(), mech.ground.marker(axis="x"), two.marker(axis="x"))
    mech.add_force("spring", bc.SpringDamper(k, rest_length=rest), one, two)
    modes = bc.modes(mech)
    assert modes[0].kind == "neutral"
    found = modes.sensitivity(by=["k", "rest"])
    omega = sqrt(80.0 * (1.0 + 1.0 / 3.0))
    np.testing.assert_allclose(found.gradient, [[omega / 160.0 / (2 * pi), 0.0]], rtol=1e-9, atol=1e-10)
    with pytest.raises(MechanismError, match="frequency 1"):
        modes.sensitivity(by="k", of="frequency 1")
    pull = mech.add_parameter("pull", 0.0, "N")
    mech.add_force("pull", bc.Wrench(force=(pull, 0, 0)), one)
    with pytest.raises(MechanismError, match=r"by 'pull'.*nothing holds it.*a\.z"):
        bc.modes(mech).sensitivity(by="pull")


def test_a_neutral_direction_with_other_frequencies_is_refused():
    """A carriage on a rail, free to go, with a pendulum between springs that grow stiffer along it."""
    mech = bc.Mechanism("carriage", gravity=(0, 0, 0))
    k = mech.add_parameter("k", 80.0, "N/m")
    cart = mech.add_body("cart", mass=1.0, inertia=(0.1,) * 3)
    bob = mech.add_body("bob", mass=1.0, inertia=(0.1,) * 3)
    mech.add_joint("rail", bc.Prismatic(), mech.ground.marker(axis="x"), cart.marker(axis="x"))
    mech.add_joint("pin", bc.Revolute(), cart.marker(axis=Y), bob.marker(axis=Y))
    x, turn = bc.EndCoordinate("x"), bc.EndCoordinate("turn")
    mech.add_force(
        "field", bc.CustomForce((x, turn), 0.5 * k * (1.0 + x.value) * turn.value**2), "rail", "pin"
    )
    with pytest.raises(MechanismError, match=r"rest anywhere along rail\.z.*other frequencies"):
        bc.modes(mech).sensitivity(by="k")


def test_inputs_change_them_too():
    mech = bc.Mechanism("wound")
    load = bc.Input("load", 2.0, "N m")
    bar = mech.add_body("bar", mass=2.0, inertia=(0.1, 0.1, 0.1), position=(0, 0, -0.5))
    mech.add_joint("pin", bc.Revolute(), mech.ground.marker(axis=Y), bar.marker((0, 0, 0.5), axis=Y))
    mech.add_force("motor", bc.JointMotor(load), joint="pin")
    found = bc.modes(bc.statics(mech).at).sensitivity(by="inputs")
    # ω² = w cos θ / J and sin θ = load / w
    w, J = 2.0 * G * 0.5, 0.1 + 2.0 * 0.25
    sine = 2.0 / w
    cosine = sqrt(1.0 - sine**2)
    wanted = -0.5 * sqrt(w * cosine / J) * sine / cosine / (w * cosine) / (2 * pi)
    assert found["frequency 1", "load"] == pytest.approx(wanted, rel=1e-8)


def test_values_taken_from_the_start_are_kept():
    """A spring without a given length, whose end follows a parameter."""

    def hung(**length):
        mech = bc.Mechanism("hung", gravity=(0, 0, -5.0))
        end = mech.add_parameter("end", 0.3, "m")
        bar = mech.add_body("bar", mass=2.0, inertia=(0.1, 0.1, 0.1), position=(0.2, 0, -0.4))
        mech.add_joint("pin", bc.Revolute(), mech.ground.marker(axis=Y), bar.marker((-0.2, 0, 0.4), axis=Y))
        foot = mech.ground.marker((1.0, 0, 0.1))
        mech.add_force("spring", bc.SpringDamper(90.0, **length), foot, bar.marker((end, 0, 0)))
        return mech

    state = bc.statics(hung(rest_length=hypot(0.5, 0.5))).state
    of_start, given = (
        bc.modes(one, state=state).sensitivity(by="end")
        for one in (hung(), hung(rest_length=hypot(0.5, 0.5)))
    )
    assert abs(given["frequency 1", "end"]) > 0.1
    assert of_start["frequency 1", "end"] == pytest.approx(given["frequency 1", "end"], rel=1e-8)


def test_parameters_that_are_no_numbers_of_the_model_are_followed_and_named():
    """Where the second point of a spring's curve is."""
    mech = bc.Mechanism("curved")
    place = mech.add_parameter("place", 0.5, "m")
    block = mech.add_body("block", mass=2.0, inertia=(0.1, 0.1, 0.1), position=(0, 0, -0.9))
    mech.add_joint("rail", bc.Prismatic(), mech.ground.marker(), block.marker())
    curve = bc.CubicSpline((0.2, place, 1.2, 2.0), (12.0, 0.0, -30.0, -90.0))
    mech.add_force("spring", bc.TabulatedSpring(curve), mech.ground, block)
    found = beside(mech, "place", of="frequency")
    assert abs(found["frequency 1", "place"]) > 1e-2
    assert "by 'place' by differences" in found.warnings[0]


def test_efforts_beside_are_none_of_the_inputs():
    found = bc.linearize(oscillator(), inputs=["rail", "k"]).modes().sensitivity(by=["inputs", "k"])
    assert found.by == ("k",)
    assert found["frequency 1", "k"] == pytest.approx(0.5 / sqrt(100.0) / (2 * pi), rel=1e-9)


def test_a_parameter_at_its_bound_says_so():
    with pytest.raises(MechanismError, match=r"change 'c' a little to both sides.*damping"):
        bc.modes(oscillator(0.0)).sensitivity(by="c", of="damping")


def test_a_parameter_that_opens_a_loop_is_refused_by_name():
    mech = parallelogram(2.5)
    mech.gravity = (1.0, -G, 0.0)
    with pytest.raises(MechanismError, match=r"'middle'.*loops do not stay closed"):
        bc.modes(bc.statics(mech).at).sensitivity(by="middle")


def test_what_is_not_steady_is_refused():
    mech = bc.Mechanism("falls")
    length = mech.add_parameter("length", 0.5, "m")
    bob = mech.add_body("bob", mass=1.0, inertia=(0.1,) * 3, position=(0.5, 0, 0))
    mech.add_joint("pin", bc.Revolute(), mech.ground.marker(axis=Y), bob.marker((-length, 0, 0), axis=Y))
    mech.add_force("coil", bc.TorsionSpring(3.0), joint="pin")
    with pytest.raises(MechanismError, match="its speed is not constant"):
        bc.modes(mech, steady=False).sensitivity(by="length")


def test_wrong_names_are_listed():
    modes = bc.modes(oscillator())
    with pytest.raises(MechanismError, match=r"frequncy[\s\S]*frequency 3"):
        modes.sensitivity(by="k", of=["frequncy", "frequency 3"])
    with pytest.raises(MechanismError, match=r"'kk'[\s\S]*'rail.z'"):
        modes.sensitivity(by=["kk", "rail.z"])


def test_it_is_drawn_and_goes_into_json(tmp_path):
    found = bc.modes(oscillator()).sensitivity(by="parameters", of=["frequency", "damping"])
    found.plot(path=tmp_path / "tornado.png", measure="damping 1", changes={"c": 0.1})
    assert (tmp_path / "tornado.png").stat().st_size > 1000
    assert found.to_dict()["measures"]["frequency 1"]["gradient"]["c"] == pytest.approx(0.0, abs=1e-12)
    assert "frequency 1 = 0.79577472" in str(found)


def test_a_mechanism_whose_frames_all_coincide_has_a_size():
    """A cart on a spring: all markers are at the origins of frames, apart by rounding alone."""
    mech = bc.Mechanism("cart", gravity=(0, 0, 0))
    cart = mech.add_body("cart", mass=2.0, inertia=(0.1, 0.1, 0.1))
    ground = mech.ground
    mech.add_joint("rail", bc.Prismatic(), ground.marker(axis=(1, 0.3, 0)), cart.marker(axis=(1, 0.3, 0)))
    mech.add_force("spring", bc.Bushing(stiffness=(50.0, 50.0, 50.0)), ground.marker(), cart.marker())
    state = bc.simulate(mech, 0.1).at(0.1)
    (mode,) = bc.modes(mech, state=state)
    assert mode.frequency == pytest.approx(np.sqrt(50.0 / 2.0) / (2 * np.pi), rel=1e-9)


def test_no_outputs():
    made = bc.linearize(bc.gallery.double_pendulum(), outputs=(), steady=False)
    assert made.C.shape == (0, 4)
