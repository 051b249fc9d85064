"""Modes against closed forms and published values; vibration weighted as standards have it."""

import json
from dataclasses import replace
from math import pi, sqrt
from pathlib import Path

import numpy as np
import pytest
from rigs.swinging import G, Y, parallelogram, pendulum, pendulum_chain, pendulum_chain_matrices, sleeping_top
from scipy.linalg import eigh
from scipy.optimize import brentq
from scipy.special import roots_laguerre

import bellcrank as bc
from bellcrank import gallery
from bellcrank.gallery import benchmark_bicycle as bicycle
from bellcrank.linear.differences import eigen

FORMULATIONS = ("lagrange", "recursive", "symbolic", "dca")
FIVE = (0.5, 0.4, 0.3, 0.35, 0.2), (1.0, 0.7, 0.5, 2.0, 0.1), (0.02, 0.01, 0.004, 0.02, 0.001)


@pytest.mark.parametrize("chosen", FORMULATIONS)
def test_chains_of_pendulums(chosen):
    M, K = pendulum_chain_matrices(*FIVE)
    squares, shapes = eigh(K, M)
    found = bc.modes(pendulum_chain(*FIVE), formulation=chosen)
    np.testing.assert_allclose(found.frequencies, np.sqrt(squares) / (2 * pi), rtol=1e-9)
    assert [mode.damping for mode in found] == [0.0] * 5
    for mode, shape in zip(found, shapes.T, strict=True):
        turns = np.array([mode.shape[f"link {k}"][4] for k in range(1, 6)])
        share = (turns @ shape) / (shape @ shape)
        np.testing.assert_allclose(turns, share * shape, atol=1e-9)
        assert not mode.is_complex


def test_a_chain_of_particles_has_the_zeros_of_laguerre():
    """D. Bernoulli, 1732: beads on a thread, omega^2 = (g / l) x with x the zeros of L_n."""
    count, link = 6, 0.25
    mech = bc.Mechanism("beads")
    last = mech.ground.marker()
    for number in range(count):
        bead = mech.add_body(
            f"bead {number}", mass=0.3, inertia=(0, 0, 0), position=(0, 0, -link * (number + 1))
        )
        mech.add_joint(f"thread {number}", bc.Distance(link), last, bead.marker())
        last = bead.marker()
    expected = np.sqrt(G / link * roots_laguerre(count)[0]) / (2 * pi)
    for chosen in FORMULATIONS:
        found = bc.modes(mech, formulation=chosen)
        np.testing.assert_allclose(found.frequencies, np.repeat(expected, 2), rtol=1e-9)


@pytest.mark.parametrize("chosen", FORMULATIONS)
def test_a_closed_loop_with_redundant_rows(chosen):
    mech, frequency = parallelogram()
    found = bc.modes(mech, formulation=chosen)
    assert found[0].frequency == pytest.approx(frequency, rel=1e-10)
    assert len(found) == 1
    np.testing.assert_allclose(found[0].shape["coupler"][3:], 0.0, atol=1e-10)  # it stays level


RESTING = ("andrews_squeezer", "bricard_linkage", "chain", "double_pendulum", "four_bar", "ladder",
           "n_four_bar", "spring_slider_crank")  # fmt: skip


@pytest.mark.parametrize("name", RESTING)
def test_the_lowest_frequency_is_that_of_statics(name):
    """`cpp/statics` has exact tangent stiffness and its own search for the least eigenvalue."""
    found = bc.statics(getattr(gallery, name)())
    listed = bc.modes(found.at)
    least = min(abs(mode.eigenvalue) ** 2 for mode in listed)
    assert least == pytest.approx(found.equilibrium.least_eigenvalue, rel=2e-9)
    assert len(listed) == found.equilibrium.degrees_of_freedom
    assert listed.neutral == ()


def test_a_coordinate_at_its_pole_is_no_state():
    """The azimuth of a bob that hangs from a rod straight down."""
    found = bc.modes(bc.statics(gallery.simple_pendulum()).at)
    assert len(found.neutral) == 3  # the bob turns freely about the end of its rod
    assert "rod.azimuth" not in found.linear.states


def test_damping_and_both_kinds_of_decay():
    inertia, stiffness = 0.02 + 2.0 * 0.7**2, 2.0 * G * 0.7
    for ratio in (0.1, 0.9, 3.0):
        mech = pendulum()
        damping = 2.0 * ratio * sqrt(stiffness * inertia)
        mech.add_force("oil", bc.JointFriction(viscous=damping), joint="pivot")
        found = bc.modes(mech)
        if ratio < 1.0:
            (mode,) = found
            assert mode.damping == pytest.approx(ratio, rel=1e-10)
            assert mode.frequency == pytest.approx(sqrt(stiffness / inertia) / (2 * pi), rel=1e-10)
            assert mode.damped_frequency == pytest.approx(mode.frequency * sqrt(1 - ratio**2), rel=1e-10)
        else:
            slow, fast = found
            assert (slow.kind, fast.kind) == ("monotonic", "monotonic")
            assert slow.eigenvalue * fast.eigenvalue == pytest.approx(stiffness / inertia, rel=1e-9)
        assert found.stable


def test_on_its_head_it_grows():
    mech = pendulum(length=-0.7)
    found = bc.modes(mech)
    assert not found.stable
    assert {mode.stability for mode in found} == {"grows", "decays"}


@pytest.mark.parametrize("spin", [10.0, 60.0, 200.0])
@pytest.mark.parametrize("chosen", ["lagrange", "recursive", "dca"])
def test_a_sleeping_top_has_complex_modes(spin, chosen):
    """Below its critical spin it grows; above it precesses and nutates at the roots of a quadratic."""
    mech, expected = sleeping_top(spin)
    found = bc.modes(mech, formulation=chosen)
    values = np.concatenate(
        [[mode.eigenvalue, mode.eigenvalue.conjugate()] for mode in found if mode.kind != "neutral"]
    )
    for value in expected:
        assert np.min(np.abs(values - value)) < 1e-9 * abs(value)
    critical = np.roots([0.015**2, 0.0, -4.0 * (0.02 + 1e-3 + 1.5 * 0.09) * 1.5 * G * 0.3])[0]
    assert found.stable == (spin > abs(critical))
    if found.stable:
        assert all(mode.is_complex for mode in found if mode.kind == "oscillating")


def test_a_motion_whose_equations_change_is_no_steady_one():
    mech = bc.Mechanism("top on a ball")
    body = mech.add_body(
        "rotor", mass=1.5, inertia=(0.02, 0.02, 0.015), position=(0, 0, 0.3), angular_velocity=(0, 0, 60.0)
    )
    mech.add_joint("tip", bc.Spherical(), mech.ground.marker(), body.marker((0, 0, -0.3)))
    with pytest.raises(bc.MechanismError, match="others a little later"):
        bc.modes(mech)
    assert len(bc.modes(mech, steady=False)) > 0


def test_a_free_body_has_six_neutral_modes_and_drifts():
    mech = bc.Mechanism("stone", gravity=(0, 0, 0))
    mech.add_body("stone", mass=2.0, inertia=(0.1, 0.2, 0.25))
    found = bc.modes(mech)
    assert (len(found), len(found.neutral), found.zeros) == (6, 6, 12)
    assert all(mode.frequency == 0.0 and mode.stability == "stays" for mode in found)
    assert "6 more zero eigenvalues" in str(found)


@pytest.fixture(scope="module")
def published():
    path = Path(__file__).parents[1] / "reference" / "data" / "K08_benchmark_bicycle.json"
    return json.loads(path.read_text())


@pytest.mark.parametrize("chosen", FORMULATIONS)
def test_the_benchmark_bicycle(published, chosen):
    """Wheels that roll on their edges: rows of velocities, which leave seven coordinates and three speeds."""
    for speed, values in published["eigenvalues"]:
        if speed not in (0.0, 5.0, 8.0):
            continue
        found = bc.modes(bicycle(speed=speed), formulation=chosen)
        assert (found.linear.coordinates, len(found.linear.states), found.zeros) == (7, 10, 6)
        assert len(found.neutral) == (4 if speed > 0.0 else 5)  # at rest, steered or not, it stands
        moving = found.linear.eigen().values
        for value in values:
            assert np.min(np.abs(moving - complex(*value))) < 1e-9


def test_weave_and_capsize_speeds(published):
    """By differences in maximal coordinates; a state at another speed is the same one, faster."""
    mech = bicycle(speed=1.0)
    unit = bc.prepare(mech, "lagrange").project()

    def linear(speed):
        state = replace(unit, velocity=speed * unit.velocity, angular_velocity=speed * unit.angular_velocity)
        names = ["rear contact.lean", "steer.theta_z"]
        found = bc.linearize(mech, state=state, states=names, formulation="lagrange")
        return found.part([*names, *(f"{name}.rate" for name in names)])

    def weave(speed):
        values = np.linalg.eigvals(linear(speed))
        return max(values[np.abs(values.imag) > 1e-3].real)

    def capsize(speed):
        return np.linalg.det(linear(speed))

    assert brentq(weave, 4.2, 4.4, xtol=1e-9, rtol=1e-9) == pytest.approx(published["weave_speed"], abs=1e-6)
    assert brentq(capsize, 5.9, 6.2, xtol=1e-9, rtol=1e-9) == pytest.approx(
        published["capsize_speed"], abs=1e-6
    )


def test_zeros_in_jordan_blocks_cost_the_others_no_digits():
    rng = np.random.default_rng(1)
    blocks = np.zeros((9, 9))
    blocks[0, 1] = blocks[1, 2] = blocks[3, 4] = 1.0
    blocks[6:, 6:] = np.diag([-1e-3, -2.0, 3.0]) + np.triu(rng.normal(size=(3, 3)), 1)
    turn, _ = np.linalg.qr(rng.normal(size=(9, 9)))
    matrix = turn @ blocks @ turn.T
    found = eigen(matrix, np.ones(9), np.full((9, 9), 1e-16))
    assert found.zeros == 6
    assert found.null.shape == (9, 3)
    np.testing.assert_allclose(np.sort(found.values.real), [-2.0, -1e-3, 3.0], atol=1e-13)
    np.testing.assert_allclose(matrix @ found.vectors, found.vectors * found.values, atol=1e-12)


def test_motions_stay_on_the_constraints():
    mech, frequency = parallelogram()
    mode = bc.modes(mech).mode(1)
    run = mode.motion(frames=21)
    assert run.time[-1] == pytest.approx(1.0 / frequency, rel=1e-9)
    assert np.max(run.violation.position) < 1e-12
    angle = run.joint("left pivot").position[:, 0]
    np.testing.assert_allclose(angle, angle[0] * np.cos(2 * pi * frequency * run.time), atol=1e-10)
    small = mode.motion(frames=5, amplitude=0.01)
    assert np.max(np.abs(small.joint("left pivot").position)) == pytest.approx(0.01)
    with pytest.raises(bc.MechanismError, match="frames"):
        mode.motion(frames=1)
    with pytest.raises(bc.MechanismError, match="amplitude"):
        mode.motion(amplitude=-1.0)


def test_shapes_are_drawn(tmp_path):
    pytest.importorskip("matplotlib")
    found = bc.modes(pendulum_chain((0.5, 0.4), (1.0, 1.0), (0.02, 0.01)))
    path = tmp_path / "modes.png"
    figure = found.draw(path, numbers=[2, 1], dpi=50)
    assert path.stat().st_size > 1000
    assert [text.get_text().split(":")[0] for text in figure.texts] == ["mode 2", "mode 1"]
    with pytest.raises(bc.MechanismError, match="there are modes 1 to 2"):
        found.draw(numbers=[3])
    with pytest.raises(bc.MechanismError, match="columns"):
        found.draw(path, columns=0)
    fixed = bc.Mechanism("fixed")
    fixed.add_joint(
        "weld",
        bc.Fixed(),
        fixed.ground.marker(),
        fixed.add_body("stone", mass=1.0, inertia=(1, 1, 1)).marker(),
    )
    with pytest.raises(bc.MechanismError, match="nothing can move"):
        bc.modes(fixed).draw(path)


def test_a_film_of_a_mode(tmp_path):
    pytest.importorskip("matplotlib")
    mode = bc.modes(pendulum()).mode(1)
    mode.animate(tmp_path / "mode.gif", periods=1, seconds=0.2, width=64)
    assert (tmp_path / "mode.gif").stat().st_size > 500


def test_it_goes_into_json():
    found = json.loads(json.dumps(bc.modes(pendulum()).to_dict()))
    assert found["stable"] is True
    assert found["modes"][0]["frequency"] == pytest.approx(0.589819, rel=1e-5)
    assert Y == (0.0, 1.0, 0.0)


@pytest.mark.parametrize("stiffness", [1e-6, 1.0, 1e9, 1e15])
@pytest.mark.parametrize("chosen", FORMULATIONS)
def test_frequencies_do_not_depend_on_the_unit_of_time(stiffness, chosen):
    """One body on one bushing: six equal frequencies, of microhertz or megahertz."""
    mech = bc.Mechanism("bushing", gravity=(0, 0, 0))
    body = mech.add_body("body", mass=1.0, inertia=(1e-3, 1e-3, 1e-3))
    bushing = bc.Bushing((stiffness,) * 3, rotational_stiffness=(1e-3 * stiffness,) * 3)
    mech.add_force("bushing", bushing, mech.ground, body)
    found = bc.modes(mech, formulation=chosen)
    assert found.frequencies == pytest.approx([sqrt(stiffness) / (2 * pi)] * 6, rel=1e-9)
    assert (found.zeros, found.stability) == (0, "stable")


@pytest.mark.parametrize("chosen", FORMULATIONS)
def test_soft_and_stiff_modes_beside_a_neutral_one(chosen):
    """Frequencies over nine decades, and a shaft that turns freely."""
    mech = bc.Mechanism("mixed", gravity=(0, 0, 0))
    for k, stiffness in enumerate((1e-6, 1.0, 1e12, 0.0)):
        wheel = mech.add_body(f"wheel {k}", mass=1.0, inertia=(1, 1, 1.0), position=(k, 0, 0))
        mech.add_joint(f"shaft {k}", bc.Revolute(), mech.ground.marker((k, 0, 0)), wheel)
        if stiffness:
            mech.add_force(f"spring {k}", bc.TorsionSpring(stiffness), joint=f"shaft {k}")
    found = bc.modes(mech, formulation=chosen)
    assert found.frequencies == pytest.approx(np.sqrt([1e-6, 1.0, 1e12]) / (2 * pi), rel=1e-9)
    assert (len(found.neutral), found.zeros, found.stability) == (1, 2, "neutral")
    assert found[0].coordinates["shaft 3.theta_z"] == pytest.approx(1.0)


FREQUENCIES = [
    0.1, 0.125, 0.16, 0.2, 0.25, 0.315, 0.4, 0.5, 0.63, 0.8, 1, 1.25, 1.6, 2, 2.5, 3.15, 4, 5, 6.3, 8, 10,
    12.5, 16, 20, 25, 31.5, 40, 50, 63, 80, 100, 125, 160, 200, 250, 315, 400,
]  # fmt: skip
# ISO 2631-1:1997, table 3, thousandths.
FACTORS = {
    "Wk": [
        31.2, 48.6, 79.0, 121, 182, 263, 352, 418, 459, 477, 482, 484, 494, 531, 631, 804, 967, 1039, 1054,
        1036, 988, 902, 768, 636, 513, 405, 314, 246, 186, 132, 88.7, 54.0, 28.5, 15.2, 7.90, 3.98, 1.95,
    ],
    "Wd": [
        62.4, 97.3, 158, 243, 365, 530, 713, 853, 944, 992, 1011, 1008, 968, 890, 776, 642, 512, 409, 323,
        253, 212, 161, 125, 100, 80.0, 63.2, 49.4, 38.8, 29.5, 21.1, 14.1, 8.63, 4.55, 2.43, 1.26, 0.64, 0.31,
    ],
}  # fmt: skip


@pytest.mark.parametrize("weighting", FACTORS)
def test_factors_of_the_standard(weighting):
    """Within one of the last digit, but for Wd at 10 Hz, where the table has 212 and the formula 202."""
    found = 1e3 * np.abs(bc.frequency_weighting(FREQUENCIES, weighting))
    kept = np.array([(weighting, f) != ("Wd", 10) for f in FREQUENCIES])
    table = np.array(FACTORS[weighting], dtype=float)
    digit = np.where(table >= 100, 1.0, np.where(table >= 10, 0.1, 0.01))
    assert np.all(np.abs(found - table)[kept] < digit[kept])


@pytest.mark.parametrize("weighting", FACTORS)
@pytest.mark.parametrize("frequency", [0.7, 8.0, 63.0])
def test_a_sine_is_weighted_by_its_factor(weighting, frequency):
    """Whole periods after the filter has settled: amplitude and phase are those of the transfer function."""
    time = np.linspace(0.0, 40.0, 400_001)
    run = bc.vibration(time, np.sin(2 * np.pi * frequency * time), weighting)
    late = time > 20.0
    factor = bc.frequency_weighting(frequency, weighting)
    expected = np.imag(factor * np.exp(2j * np.pi * frequency * time[late]))
    np.testing.assert_allclose(run.acceleration[late], expected, atol=2e-4 * abs(factor))
    again = bc.vibration(time[late], np.zeros(late.sum()), weighting)
    assert (again.peak, again.rms, again.vdv) == (0.0, 0.0, 0.0)
    assert np.isnan(again.crest_factor)


@pytest.mark.parametrize("weighting", FACTORS)
def test_steps_do_not_matter_where_the_acceleration_is_piecewise_linear(weighting):
    """The filter is exact between the times: ten times as many give the same values."""
    coarse = np.linspace(0.0, 3.0, 61)
    values = np.random.default_rng(3).normal(size=61)
    fine = np.linspace(0.0, 3.0, 60_001)
    short = bc.vibration(coarse, values, weighting).acceleration
    long = bc.vibration(fine, np.interp(fine, coarse, values), weighting).acceleration
    np.testing.assert_allclose(long[::1000], short, atol=1e-10)


def test_numbers_of_a_series():
    """A sine of amplitude A for T seconds: peak A, rms A/sqrt(2), vdv A (3 T/8)^(1/4)."""
    time = np.linspace(0.0, 200.0, 400_001)
    found = bc.vibration(time, 2.0 * np.sin(2 * np.pi * 5.0 * time))
    amplitude = 2.0 * abs(bc.frequency_weighting(5.0))
    assert found.rms == pytest.approx(amplitude / np.sqrt(2), rel=1e-3)
    assert found.vdv == pytest.approx(amplitude * (3 * 200.0 / 8) ** 0.25, rel=1e-3)
    settled = np.abs(found.acceleration[time > 20.0]).max()
    assert settled == pytest.approx(amplitude, rel=1e-4)
    assert found.crest_factor == found.peak / found.rms


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: bc.frequency_weighting(1.0, "Wx"), "no frequency weighting 'Wx'; use one of Wk, Wd"),
        (lambda: bc.frequency_weighting([1.0, -1.0]), "finite and not negative"),
        (lambda: bc.vibration([0.0, 1.0], [0.0, 1.0], "wk"), "no frequency weighting 'wk'"),
        (lambda: bc.vibration([0.0], [0.0]), r"two or more times, got shape \(1,\)"),
        (lambda: bc.vibration([0.0, 0.1], np.zeros((2, 3))), r"one axis at a time"),
        (lambda: bc.vibration([0.0, np.nan], [np.inf, 0.0]), "time must be .* index 1; accel.* index 0"),
        (lambda: bc.vibration([0.0, 0.1, 0.3], [0.0] * 3), "equal, positive steps, got"),
        (lambda: bc.vibration([0.1, 0.0], [0.0] * 2), "equal, positive steps, got -0.1 s"),
    ],
)
def test_what_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_the_transient_value_is_the_largest_mean_over_a_second():
    """A burst of half a second in ten: half of a second is at rest."""
    time = np.linspace(0.0, 10.0, 20_001)
    burst = np.where((time > 4.0) & (time < 4.5), np.sin(2 * np.pi * 8.0 * time), 0.0)
    found = bc.vibration(time, burst)
    squares = np.concatenate([np.zeros(2000), found.acceleration**2])
    means = np.convolve(squares, np.full(2000, 1 / 2000), mode="valid")
    assert found.mtvv == pytest.approx(np.sqrt(means.max()), rel=1e-3)
    assert found.mtvv > 2.9 * found.rms
    steady = bc.vibration(time, np.sin(2 * np.pi * 8.0 * time))
    assert steady.mtvv == pytest.approx(1.036 / np.sqrt(2.0), rel=0.01)  # the filter sets in
