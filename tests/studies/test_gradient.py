"""`bc.gradient`: measures of runs by parameters, their errors, and where differences take over."""

import numpy as np
import pytest
from rigs.studied import crank_rocker, four_bar, oscillator

import bellcrank as bc
from bellcrank.errors import MechanismError, Unsupported
from bellcrank.run import advance
from bellcrank.studies.exact import OfMeasures
from bellcrank.studies.measures import END_SLOPES, REDUCTIONS, SLOPES, kinks, measures_of

QUICK = {"duration": 1.0, "method": "dopri5"}


@pytest.mark.parametrize("name", REDUCTIONS)
def test_slopes_of_reductions(name):
    rng = np.random.default_rng(7)
    time, values = np.cumsum(rng.uniform(0.1, 1.0, 12)), rng.normal(size=12)
    change, step = rng.normal(size=12), 1e-6
    found = SLOPES[name](time, values) @ change
    by = [REDUCTIONS[name](time, values + s * step * change) for s in (1.0, -1.0)]
    assert found == pytest.approx((by[0] - by[1]) / (2 * step), rel=1e-7)


def test_equal_peaks_are_kinks():
    wave = np.array([0.0, 1.0, 0.0, -1.0, 0.0, 1.0 - 1e-9, 0.0])
    assert "frames 1 and 5" in kinks("max", wave)
    assert "frames 1 and 3" in kinks("peak", wave)
    assert "frames 1 and 5" in kinks("range", wave)
    assert kinks("min", wave) == kinks("mean", wave) == ""
    assert kinks("max", np.array([0.0, 1.0, 1.0 - 1e-9, 0.5])) == ""  # the same peak


def swing(time, stiffness):
    """x = cos(sqrt(k/m) t), of the oscillator, and its derivative by k."""
    omega = np.sqrt(stiffness)
    return np.cos(omega * time), -0.5 * time / omega * np.sin(omega * time)


@pytest.mark.parametrize("formulation", ["lagrange", "recursive"])
@pytest.mark.parametrize("mode", ["forward", "backward", "differences"])
def test_a_closed_form(mode, formulation):
    mech = oscillator()
    stiffness = mech.parameters["stiffness"].value
    settings = {**QUICK, "mode": mode, "tolerance": 1e-10, "formulation": formulation}
    found = bc.gradient(mech, "final joint.track.x", by="stiffness", **settings)
    value, slope = swing(1.0, stiffness)
    assert found.mode == mode
    assert found.value[0] == pytest.approx(value, abs=1e-8)
    assert found["final joint.track.x", "stiffness"] == pytest.approx(
        slope, abs=1e-6 if mode == "differences" else 1e-7
    )
    assert found.by_units == (mech.parameters["stiffness"].unit,)


@pytest.mark.parametrize("formulation", ["lagrange", "recursive"])
@pytest.mark.parametrize("method", ["dopri5", "auto", "rk4"])
def test_errors_hold_within_a_factor_of_two(method, formulation):
    mech = oscillator()
    stiffness = mech.parameters["stiffness"].value
    coarse = {"step": 0.05} if method == "rk4" else {"tolerance": 1e-5}
    settings = {"duration": 1.0, "method": method, "formulation": formulation, **coarse}
    found = bc.gradient(mech, "final joint.track.x", by="stiffness", **settings)
    value, slope = swing(1.0, stiffness)
    for estimated, error in (
        (found.value_error[0], abs(found.value[0] - value)),
        (found.gradient_error[0, 0], abs(found.gradient[0, 0] - slope)),
    ):
        assert error > 1e-9
        assert 0.5 * error < estimated < 2.0 * error


def test_modes_agree():
    mech = four_bar()
    names = list(mech.parameters)[:3]
    measures = [f"{reduction} {quantity(mech)}" for reduction in ("final", "rms", "peak")]
    forward, backward = (
        bc.gradient(mech, measures, by=names, mode=mode, errors=False, **QUICK)
        for mode in ("forward", "backward")
    )
    size = np.abs(forward.gradient).max()
    np.testing.assert_allclose(backward.gradient, forward.gradient, atol=1e-11 * size)
    assert np.isnan(forward.value_error).all()


def quantity(mech):
    return f"joint.{next(iter(mech.joints))}.theta_z"


def test_what_has_no_derivatives_is_differenced_and_said():
    mech = oscillator()
    found = bc.gradient(
        mech, lambda run: run.time[-1] * run.joint("track").position[-1, 0], by="stiffness", **QUICK
    )
    assert found.mode == "differences"
    assert "is a function, which only differences can differentiate" in found.reason
    assert found.gradient[0, 0] == pytest.approx(swing(1.0, mech.parameters["stiffness"].value)[1], abs=1e-5)
    with pytest.raises(Unsupported, match=r"derivatives of 'joint\.track\.Fy' are not"):
        bc.gradient(mech, "max joint.track.Fy", by="stiffness", mode="backward", **QUICK)


def test_wrong_arguments():
    mech = oscillator()
    with pytest.raises(MechanismError, match="mode must be one of"):
        bc.gradient(mech, "final joint.track.x", by="stiffness", mode="adjoint", **QUICK)
    with pytest.raises(MechanismError, match="by 'stiffnes'"):
        bc.gradient(mech, "final joint.track.x", by="stiffnes", mode="forward", **QUICK)
    with pytest.raises(MechanismError, match="which needs a duration, or times"):
        bc.gradient(mech, "final joint.track.x", by="stiffness")
    found = bc.gradient(mech, "final joint.track.x", by="stiffness", errors=False, **QUICK)
    with pytest.raises(MechanismError, match="parameter 'mass': it was not asked for"):
        found["final joint.track.x", "mass"]


def test_results_in_words_and_as_plain_values():
    mech = oscillator()
    found = bc.gradient(mech, "final joint.track.x", by="stiffness", **QUICK)
    text = str(found)
    assert text.splitlines()[0].startswith("final joint.track.x = ")
    assert "±" in text
    assert "backward: errors are asked for" in text
    plain = found.to_dict()
    assert plain["measures"]["final joint.track.x"]["gradient"]["stiffness"] == found.gradient[0, 0]
    assert plain["warnings"] == []


@pytest.mark.parametrize("name", END_SLOPES)
def test_slopes_of_averages_by_their_end(name):
    time, values = np.linspace(0.0, 2.0, 401), np.sin(3.0 * np.linspace(0.0, 2.0, 401)) + 0.4
    step = 1e-6
    by = []
    for s in (1.0, -1.0):
        moved, ends = time.copy(), values.copy()
        moved[-1] += s * step
        ends[-1] = np.sin(3.0 * moved[-1]) + 0.4
        by.append(REDUCTIONS[name](moved, ends))
    rate = 3.0 * np.cos(6.0)
    found = END_SLOPES[name](time, values) + SLOPES[name](time, values)[-1] * rate
    assert found == pytest.approx((by[0] - by[1]) / (2 * step), rel=1e-6)


@pytest.mark.parametrize("formulation", ["lagrange", "recursive"])
@pytest.mark.parametrize("mode", ["forward", "backward"])
def test_averages_where_an_event_ends_the_run(mode, formulation):
    """A body thrown up, z = v t - g t^2 / 2, until it falls to -h at T: its mean is v T / 2 - g T^2 / 6."""
    mech = bc.Mechanism("thrown")
    speed, below = mech.add_parameter("speed", 1.0, "m/s"), mech.add_parameter("below", 0.5, "m")
    mech.gravity = (0.0, 0.0, -9.81)
    body = mech.add_body("body", mass=1.0, inertia=(0.1, 0.1, 0.1))
    above = mech.ground.marker((0, 0, below))
    mech.add_joint("z", bc.Prismatic(), above, body.marker(), position=0.0, velocity=speed)
    found = bc.gradient(
        mech,
        ["mean body.body.z", "rms body.body.vz", "mean joint.z.z.rate"],
        by=["speed", "below"],
        duration=2.0,
        mode=mode,
        formulation=formulation,
        events=[bc.Event("hit", "z.z + 0.5", terminal=True)],
        output_step=1e-4,
    )

    def exact(v):
        end = (v + np.sqrt(v * v + 9.81)) / 9.81
        mean = 0.5 + v * end / 2 - 9.81 * end**2 / 6
        square = v * v - v * 9.81 * end + (9.81 * end) ** 2 / 3
        return np.array([mean, np.sqrt(square), -0.5 / end])

    by_speed = (exact(1.0 + 1e-6) - exact(1.0 - 1e-6)) / 2e-6
    np.testing.assert_allclose(found.gradient[:, 0], by_speed, rtol=1e-5)
    np.testing.assert_allclose(found.gradient[:, 1], [1.0, 0.0, 0.0], atol=1e-9)
    assert len(found.of) == len(found.of_units) == 3
    assert not found.warnings


def test_a_run_that_takes_too_much_memory_is_refused(monkeypatch):
    monkeypatch.setattr(advance, "_TAPE_ROOM", 1e4)
    with pytest.raises(Unsupported, match=r"at t = 0.* s what it has gone through takes too much memory"):
        bc.gradient(crank_rocker(), "final joint.D.theta_z", by="crank", duration=0.5, mode="backward")
    monkeypatch.setattr(advance, "_TAPE_ROOM", 1e6)
    bc.gradient(crank_rocker(), "final joint.D.theta_z", by="crank", duration=0.5, mode="backward")


def test_averages_of_what_jumps_at_impacts_follow_their_times():
    """A ball falls from rest onto a stop at −h, and bounces once; its rates jump where it does."""
    mech = bc.Mechanism("ball")
    low = mech.add_parameter("low", -0.3, "m")
    body = mech.add_body("body", mass=1.0, inertia=(0.1, 0.1, 0.1))
    mech.add_joint(
        "z", bc.Prismatic(), mech.ground.marker(), body.marker(), limits=bc.Limit(lower=low, restitution=0.6)
    )
    g, e, end = 9.81, 0.6, 0.4
    of = [f"{one} joint.z.z{what}" for one in ("mean", "rms") for what in (".rate", "")]

    def exact(low):
        """The means of v and z over time, and the roots of those of their squares."""
        fall = np.sqrt(-2.0 * low / g)
        speed, rest = g * fall, end - fall
        rate = low + e * speed * rest - g * rest**2 / 2
        squares = g**2 * fall**3 / 3 + e**2 * speed**2 * rest - e * speed * g * rest**2 + g**2 * rest**3 / 3
        height = -g * fall**3 / 6 + low * rest + e * speed * rest**2 / 2 - g * rest**3 / 6
        way = np.polynomial.Polynomial([low, e * speed, -g / 2])
        square = g**2 * fall**5 / 20 + (way * way).integ()(rest)
        return np.array([rate / end, height / end, np.sqrt(squares / end), np.sqrt(square / end)])

    expected = (exact(-0.3 + 1e-6) - exact(-0.3 - 1e-6)) / 2e-6
    for mode in ("forward", "backward"):
        found = bc.gradient(mech, of, by="low", duration=end, mode=mode, output_step=2e-5)
        np.testing.assert_allclose(found.value, exact(-0.3), rtol=1e-4)
        np.testing.assert_allclose(found.gradient[:, 0], expected, rtol=2e-4)
        assert not found.warnings
    exact_way = OfMeasures(measures_of(of))(mech, ["low"], {"duration": end, "output_step": 2e-5})
    np.testing.assert_allclose(exact_way, found.gradient, rtol=1e-6)
