"""`bc.RunFunction` and `bc.StateFunction`: derivatives beside differences of themselves, and optimizers."""

import pickle

import numpy as np
import pytest
from rigs import stops
from rigs.studied import crank_rocker, four_bar, oscillator, parallelogram
from scipy.optimize import least_squares, minimize

import bellcrank as bc
import bellcrank.expression as ex
from bellcrank.errors import BellcrankError, MechanismError, Unsupported

TIGHT = {"method": "dopri5", "tolerance": 1e-11}
BOTH = pytest.mark.parametrize("formulation", ["lagrange", "recursive"])


def differences(function, x, step=1e-4):
    """Derivatives (..., by), extrapolated."""
    steps = step * np.maximum(np.abs(x), 0.1) * np.eye(len(x))

    def central(k):
        return [(np.asarray(function(x + k * h)) - function(x - k * h)) / (2 * k * h.sum()) for h in steps]

    return np.moveaxis((4.0 * np.array(central(1)) - np.array(central(2))) / 3.0, 0, -1)


def check(function, x, tolerance=1e-7):
    found, expected = function.jacobian(x), differences(function, np.asarray(x))
    assert found.shape == (*function.shape, len(function.by))
    size = np.max(np.abs(expected), axis=0)
    assert (size > 0.0).any()
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance * np.maximum(1.0, size).max())


MEASURES = ["final joint.D.theta_z", "rms joint.A.theta_z.rate", "mean body.rod.x"]


@BOTH
def test_a_run_by_parameters_inputs_and_its_start(formulation):
    by = ["crank", "coupler", "mass", "start", "torque"]
    settings = {**TIGHT, "formulation": formulation}
    function = bc.RunFunction(crank_rocker(), MEASURES, by=by, duration=0.5, **settings)
    np.testing.assert_array_equal(function.at, [0.3, 1.1, 2.0, 0.4, 0.4])
    assert function.by_units == ("m", "m", "kg", "rad", "N m")
    check(function, [0.32, 1.05, 1.5, 0.5, 0.6])
    run = bc.simulate(crank_rocker(), 0.5, formulation="lagrange", **TIGHT)
    assert function(function.at)[0] == pytest.approx(run.joint("D").position[-1, 0], abs=1e-10)


@BOTH
def test_coordinates_of_the_start_are_held(formulation):
    """What is given for them counts, whatever parameters do to the assembled start."""
    by = ["start", "coupler", "A.theta_z", "A.theta_z.rate"]
    settings = {**TIGHT, "formulation": formulation}
    function = bc.RunFunction(crank_rocker(), MEASURES, by=by, duration=0.4, **settings)
    np.testing.assert_allclose(function.at, [0.4, 1.1, 0.4, 0.0], atol=1e-14)
    x = np.array([0.7, 1.15, 0.9, 1.3])
    check(function, x)
    assert (function.jacobian(x)[:, 0] == 0.0).all()
    placed = crank_rocker().with_parameters(start=0.9, coupler=1.15)
    placed.replace(placed.joints["A"], velocity=1.3)
    run = bc.simulate(placed, 0.4, formulation="lagrange", **TIGHT)
    assert function(x)[0] == pytest.approx(run.joint("D").position[-1, 0], abs=1e-9)


def tumbling():
    """A free body hung on a spring, whose place at the start follows parameters."""
    mech = bc.Mechanism("tumbling")
    turn, shift = mech.add_parameter("turn", 0.3, "rad"), mech.add_parameter("shift", 0.2, "m")
    half = turn / 2
    body = mech.add_body(
        "body", 1.0, (0.1, 0.2, 0.3), position=(shift, 0.1, 0.0),
        rotation=(ex.cos(half), 0.0, ex.sin(half), 0.0), angular_velocity=(0.3, 1.0, -0.4),
    )  # fmt: skip
    mech.add_force(
        "spring", bc.SpringDamper(30.0, 0.2, rest_length=0.5), mech.ground, body.marker((0.2, 0.1, 0.4))
    )
    return mech


@BOTH
@pytest.mark.parametrize("by", [["turn", "shift"], ["turn", "shift", "body.rot_y", "body.x"]])
def test_a_body_that_is_free(by, formulation):
    of, settings = ["final body.body.x", "rms body.body.wz"], {**TIGHT, "formulation": formulation}
    function = bc.RunFunction(tumbling(), of, by=by, duration=0.4, **settings)
    check(function, function.at + 0.1 * np.cos(np.arange(len(by))))


def test_forward_and_backward_agree():
    by = ["crank", "coupler", "torque", "A.theta_z"]
    found = [
        bc.RunFunction(crank_rocker(), MEASURES, by=by, duration=0.3, mode=mode, **TIGHT)
        for mode in ("forward", "backward")
    ]
    one, two = (function.jacobian(function.at) for function in found)
    np.testing.assert_allclose(two, one, atol=1e-10 * np.abs(one).max())


@pytest.mark.parametrize("formulation", ["lagrange", "recursive"])
def test_accelerations_by_states_inputs_and_parameters(formulation):
    by = ["states", "inputs", "parameters"]
    function = bc.StateFunction(crank_rocker(), by=by, formulation=formulation)
    assert function.by == (
        "A.theta_z",
        "A.theta_z.rate",
        "torque",
        "crank",
        "coupler",
        "stiffness",
        "mass",
        "start",
    )
    assert function.of[0] == "joint.A.theta_z.acceleration"
    check(function, function.at)
    check(function, [1.4, -2.0, 1.5, 0.33, 1.05, 15.0, 1.2, 0.6])


def test_a_state_that_only_closes_away_from_the_start():
    """With the shorter coupler the loop does not reach where the mechanism is described."""
    function = bc.StateFunction(crank_rocker().with_parameters(start=3.0), by=["states", "coupler"])
    check(function, [1.0, -2.0, 0.68])
    with pytest.raises(MechanismError, match="there is no such state"):
        function([3.0, -2.0, 0.68])


def test_values_are_those_of_the_system():
    mech = crank_rocker()
    function = bc.StateFunction(
        mech, ["body.rod.ax", "joint.D.theta_z.acceleration"], by=["states", "torque", "mass"]
    )
    other = mech.with_parameters(mass=1.2)
    run = bc.simulate(other, 0.3, inputs={"torque": 1.5}, formulation="lagrange", accelerations=True, **TIGHT)
    state, joint = run.at(0.3), run.joint("A")
    found = function([joint.position[-1, 0], joint.velocity[-1, 0], 1.5, 1.2])
    system = bc.prepare(other, "lagrange")
    system.inputs["torque"] = 1.5
    assert found[0] == pytest.approx(system.accelerate(state).body("rod").linear[0], rel=1e-8)


def wound():
    """A pendulum with a spring about its pivot."""
    mech = bc.Mechanism("wound", gravity=(0.0, -9.81, 0.0))
    stiffness = mech.add_parameter("stiffness", 20.0)
    bob = mech.add_body("bob", mass=0.1, inertia=(1e-4, 1e-4, 1e-4))
    mech.add_joint("pin", bc.Revolute(), mech.ground.marker(), bob.marker((0.0, 0.5, 0.0)), position=0.2)
    mech.add_force("spring", bc.TorsionSpring(stiffness, 0.1), joint="pin")
    return mech


def test_time_and_efforts():
    mech = crank_rocker()
    mech.add_drive("turning", "A", position=0.4 + 2.0 * bc.t + bc.t**2)
    by = ["time", "coupler", "mass"]
    function = bc.StateFunction(mech, ["drive.turning.effort", "joint.D.theta_z.acceleration"], by=by)
    for time in (0.0, 0.3):
        check(function, [time, 1.05, 1.5])


@pytest.mark.parametrize("make", [crank_rocker, wound])
def test_whole_turns_count(make):
    """A spring that was wound up by whole turns pulls harder by them."""
    name = next(iter(make().joints))
    free = bc.StateFunction(make(), f"joint.{name}.theta_z.acceleration", by=["states", "stiffness"])
    once, more = np.array([2.4, 0.1, 20.0]), np.array([2.4 - 4 * np.pi, 0.1, 20.0])
    by_stiffness = [free.jacobian(x)[2] for x in (once, more)]
    assert free(more) - free(once) == pytest.approx(20.0 * (by_stiffness[1] - by_stiffness[0]), rel=1e-9)
    assert abs(free(more) - free(once)) > 100.0
    check(free, more, 1e-6)


def test_one_text_gives_a_number():
    mech = oscillator()
    run = bc.RunFunction(mech, "final joint.track.x", by="stiffness", duration=1.0)
    state = bc.StateFunction(mech, "joint.track.x.acceleration", by="stiffness")
    group = bc.StateFunction(mech, "acceleration", by="stiffness")
    assert (run.shape, state.shape, group.shape) == ((), (), (1,))
    assert isinstance(run(run.at), float)
    assert run.jacobian(run.at).shape == state.jacobian(state.at).shape == (1,)
    assert run(run.at) == pytest.approx(np.cos(np.sqrt(10.0)), abs=1e-7)
    assert (run.of, run.of_units, run.by_units) == (("final joint.track.x",), ("m",), ("N/m",))
    np.testing.assert_array_equal(run.bounds, [[0.0, 1000.0]])


def test_a_value_and_its_derivatives_take_one_evaluation(monkeypatch):
    function = bc.RunFunction(oscillator(), "final joint.track.x", by="stiffness", duration=1.0)
    counted, evaluated = [], function._evaluated
    monkeypatch.setattr(function, "_evaluated", lambda x: counted.append(x) or evaluated(x))
    x = np.array([11.0])
    value, slopes = function(x), function.jacobian(x)
    assert len(counted) == 1
    slopes[:] = x[:] = 0.0  # what is kept is nobody's else
    assert function([11.0]) == value
    assert function.jacobian([11.0])[0] != 0.0
    assert len(counted) == 1


def test_a_mechanism_that_is_changed_later_changes_nothing():
    mech = oscillator()
    function = bc.RunFunction(mech, "final joint.track.x", by="stiffness", duration=1.0)
    mech.remove(mech.forces["spring"])
    check(function, [12.0], 1e-6)


def test_through_pickle_they_go_on():
    for function in (
        bc.RunFunction(crank_rocker(), MEASURES, by=["mass", "A.theta_z"], duration=0.2),
        bc.StateFunction(crank_rocker(), by=["mass", "states"]),
    ):
        x = 1.1 * function.at
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(function)).jacobian(x), function.jacobian(x))


def test_scipy_minimizes_and_fits():
    stiffness = bc.RunFunction(oscillator(), "final joint.track.x", by="stiffness", duration=1.0)
    found = minimize(stiffness, [7.0], jac=stiffness.jacobian, method="L-BFGS-B", bounds=stiffness.bounds)
    assert found.x[0] == pytest.approx(np.pi**2, rel=1e-4)  # where it turns back
    both = bc.RunFunction(
        oscillator(),
        ["final joint.track.x", "final joint.track.x.rate"],
        by=["stiffness", "track.x"],
        duration=1.0,
    )
    aim = both([20.0, 0.7])
    fitted = least_squares(lambda x: both(x) - aim, both.at, jac=both.jacobian, xtol=1e-12)
    np.testing.assert_allclose(fitted.x, [20.0, 0.7], rtol=1e-6)


def rolling():
    mech = bc.Mechanism("rolling")
    ball = mech.add_body("ball", 1.0, (0.1, 0.1, 0.1), position=(0, 0, 0.5), shapes=bc.Sphere(0.5))
    size = mech.add_parameter("size", 1.0)
    mech.add_contact("floor", ball, mech.ground, friction=0.5 * size)
    return mech


def test_what_has_no_derivatives_is_refused_at_once():
    mech, final = oscillator(), "final joint.track.x"
    with pytest.raises(Unsupported, match="is a function, which only differences can differentiate"):
        bc.RunFunction(mech, len, by="stiffness", duration=1.0)
    with pytest.raises(Unsupported, match="derivatives of runs by method 'semi_implicit_euler'"):
        bc.RunFunction(mech, final, by="stiffness", duration=1.0, method="semi_implicit_euler", step=1e-3)
    with pytest.raises(Unsupported, match=r"derivatives of 'joint\.track\.Fy' are not"):
        bc.RunFunction(mech, "max joint.track.Fy", by="stiffness", duration=1.0)
    with pytest.raises(MechanismError, match="by 'stiffnes'"):
        bc.RunFunction(mech, final, by="stiffnes", duration=1.0)
    with pytest.raises(MechanismError, match="by: at least one name is needed"):
        bc.RunFunction(mech, final, by=(), duration=1.0)
    with pytest.raises(MechanismError, match="which needs a duration, or times"):
        bc.RunFunction(mech, final, by="stiffness")
    with pytest.raises(MechanismError, match=r"of 'acceleratio'.*(?s:.)*by 'stat'"):
        bc.StateFunction(mech, "acceleratio", by="stat")
    with pytest.raises(Unsupported, match="adaptive"):
        bc.StateFunction(mech, by="states", formulation="adaptive")


def test_parameters_that_open_a_loop_are_refused():
    with pytest.raises(MechanismError, match="parameter 'middle': loops do not stay closed"):
        bc.StateFunction(parallelogram(), by=["middle"])
    with pytest.raises(MechanismError, match="parameter 'middle': loops do not stay closed"):
        bc.RunFunction(parallelogram(), "final joint.foot 0.theta_z", by="middle", duration=0.2)


def test_points_that_are_impossible():
    run = bc.RunFunction(oscillator(), "final joint.track.x", by=["stiffness", "mass"], duration=1.0)
    for wrong in ([1.0], [[1.0, 2.0]], [np.nan, 1.0], ["a", 1.0], [1j, 1.0]):
        with pytest.raises(MechanismError, match="function: x must"):
            run(wrong)
    with pytest.raises(BellcrankError, match="stiffness"):
        run([-5.0, 1.0])
    # As far beyond a bound as optimizers go by rounding.
    assert run([1000.00005, 1.0]) == run([1000.0, 1.0])
    with pytest.raises(BellcrankError, match="stiffness"):
        run([1000.1, 1.0])
    bar = bc.StateFunction(four_bar_released(), by=["rocker pivot.theta_z"], states=["rocker pivot.theta_z"])
    with pytest.raises(MechanismError, match=r"there is no such state: .* cannot be met"):
        bar([3.0])


def four_bar_released():
    mech = four_bar()
    mech.remove(mech.drives["motor"])
    return mech


def test_touched_stops_are_refused_where_they_are():
    function = bc.StateFunction(stops.pendulum(0.5), "joint.pivot.theta_z.acceleration", by="states")
    check(function, [0.4, 0.1])
    with pytest.raises(MechanismError, match="a stop is touched"):
        function([0.0, 0.0])


def test_a_run_from_a_given_state():
    """Coordinates that are listed take the place of those of the state."""
    mech = crank_rocker()
    late = bc.simulate(mech, 0.3, formulation="lagrange").at(0.3)
    function = bc.RunFunction(mech, MEASURES, by=["A.theta_z", "mass"], duration=0.3, state=late, **TIGHT)
    assert function.at[0] == pytest.approx(late.angles[0], abs=1e-12)
    check(function, function.at + np.array([0.2, 0.3]))
