"""Inputs that are held in a run, one value after another, and derivatives of the run by each of them."""

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.errors import MechanismError, SimulationError, Unsupported
from bellcrank.trajectory.columns import quantity

FORCE = np.array([3.0, 3.0, -4.0, 1.5])
BRAKE = np.array([0.2, 0.05, 0.3])
RUN = {"method": "dopri5", "tolerance": 1e-11, "output_step": 0.05}
OF = ("joint.rail.z", "joint.hinge.theta_z", "joint.hinge.theta_z.rate", "joint.hinge.theta_z.acceleration",
      "body.pole.vx")  # fmt: skip
DURATION = 0.55
FORMULATIONS = pytest.mark.parametrize("formulation", ["lagrange", "recursive", "dca"])


def pole_on_a_cart(walls=False):
    """A cart is pushed by one input, and another is the damping of its pole's hinge; walls stop the cart."""
    mech = bc.Mechanism("pole on a cart", gravity=(0.0, -9.81, 0.0))
    length = mech.add_parameter("length", 0.4, "m")
    force, brake = bc.Input("force", 0.0, "N"), bc.Input("brake", 0.0, "N m s/rad")
    cart = mech.add_body("cart", mass=1.0, inertia=(0.01, 0.01, 0.01))
    pole = mech.add_body("pole", mass=0.3, inertia=(0.004, 0.001, 0.004))
    along = (1.0, 0.0, 0.0)
    limits = bc.Limit(upper=0.05 if walls else 50.0, restitution=0.6)
    ends = mech.ground.marker(axis=along), cart.marker(axis=along)
    mech.add_joint("rail", bc.Prismatic(), *ends, velocity=0.1, limits=limits)
    ends = cart.marker(), pole.marker((0.0, -length, 0.0))
    mech.add_joint("hinge", bc.Revolute(), *ends, position=2.5)
    mech.add_force("push", bc.JointMotor(force), joint="rail")
    angle = bc.EndCoordinate("angle")
    mech.add_force("friction", bc.CustomForce(angle, efforts=-brake * angle.rate), "hinge")
    return mech


def held(force=FORCE, brake=BRAKE):
    """Periods of both are apart, and both stay at their last values."""
    return [bc.HeldInputs({"force": force}, 0.1), bc.HeldInputs({"brake": brake}, 0.15)]


def recorded(mech, names=OF, **given):
    run = bc.simulate(mech, DURATION, **{**RUN, **given})
    return np.column_stack([quantity(run, one).values for one in names])


def by_values(mech, step=1e-3, **given):
    """Derivatives (T, of, values) by all that is held, extrapolated."""
    found = []
    for name, values in (("force", FORCE), ("brake", BRAKE)):
        for k in range(len(values)):

            def at(far, name=name, values=values, k=k):
                changed = values + far * step * np.eye(len(values))[k]
                return recorded(mech, controllers=held(**{name: changed}), **given)

            found.append((8.0 * (at(1) - at(-1)) - (at(2) - at(-2))) / (12.0 * step))
    return np.stack(found, axis=2)


@pytest.mark.parametrize("walls", [False, True])
def test_a_run_by_every_value(walls):
    mech = pole_on_a_cart(walls)
    expected = by_values(mech, accelerations=True)
    for formulation in ("lagrange", "recursive", "dca"):
        settings = {**RUN, "accelerations": True, "controllers": held(), "formulation": formulation}
        found = bc.sensitivity(mech, DURATION, of=OF, by=("force", "brake"), **settings)
        assert found.run.statistics["impacts"] == walls
        assert found.by == (*(f"force[{k}]" for k in range(4)), *(f"brake[{k}]" for k in range(3)))
        np.testing.assert_array_equal(found.at, np.concatenate([FORCE, BRAKE]))
        size = np.abs(expected).max(axis=(0, 2), keepdims=True)
        np.testing.assert_allclose(found.values / size, expected / size, atol=3e-9)
        # Nothing depends on a value before its period begins.
        assert not found["joint.rail.z", "force[3]"][found.time < 0.3].any()


@pytest.mark.parametrize("method", ["dopri5", "rk4", "adams"])
def test_backwards_beside_a_parameter_and_the_start(method):
    """A gradient is what forward directions give, by all methods, and errors are known."""
    settings = {"method": method, "controllers": held(), "output_step": 0.05, "errors": True}
    settings |= {"step": 2e-3} if method == "rk4" else {"tolerance": 1e-9}
    by = ("force", "length", "brake", "hinge.theta_z")
    ways = [
        bc.gradient(
            pole_on_a_cart(method != "rk4"),
            "final joint.hinge.theta_z.rate",
            by=by,
            duration=0.5,
            mode=mode,
            **settings,
        )
        for mode in ("forward", "backward")
    ]
    np.testing.assert_allclose(ways[0].gradient, ways[1].gradient, rtol=1e-9, atol=1e-10)
    assert ways[1].by[4] == "length"
    steps = (1e-3, 1e-3, 1e-4)
    for k, step in zip((0, 3, 4), steps, strict=True):

        def final(far, k=k, step=step):
            changed = FORCE + (far * step * np.eye(4)[k] if k < 4 else 0.0)
            mech = pole_on_a_cart(method != "rk4").with_parameters(length=0.4 + (k == 4) * far * step)
            run = bc.simulate(mech, 0.5, **RUN, controllers=held(force=changed))
            return quantity(run, "joint.hinge.theta_z.rate").values[-1]

        expected = (8.0 * (final(1) - final(-1)) - (final(2) - final(-2))) / (12.0 * step)
        error = abs(ways[1].gradient[0, k] - expected)
        assert error < 1e-7 * (1.0 + abs(expected)) + 3.0 * ways[1].gradient_error[0, k], (k, error)


def test_the_function_of_values_goes_with_them():
    """At other values it is the run with these; what is not listed stays held as it was given."""
    mech = pole_on_a_cart()
    f = bc.RunFunction(
        mech,
        "final joint.rail.z",
        by=["force[0]", "force[2]", "length"],
        duration=DURATION,
        controllers=held(),
        **RUN,
    )
    x = np.array([1.0, 2.0, 0.5])
    run = bc.simulate(
        mech.with_parameters(length=0.5), DURATION, **RUN, controllers=held(force=[1.0, 3.0, 2.0, 1.5])
    )
    assert f(x) == pytest.approx(run.joint("rail").position[-1], abs=1e-12)
    step = np.array([1e-4, 0.0, 0.0])
    assert f.jacobian(x)[0] == pytest.approx((f(x + step) - f(x - step)) / 2e-4, rel=1e-7)


def test_values_as_they_are_recorded():
    """Each is held for its period; the last one stays. Before a run begins, the first one acts."""
    run = bc.simulate(pole_on_a_cart(), DURATION, **{**RUN, "output_step": 0.025}, controllers=held())
    inside = np.mod(run.time, 0.1) > 0.01
    number = np.minimum((run.time / 0.1).astype(int), 3)
    np.testing.assert_array_equal(run.input("force").value[inside], FORCE[number][inside])
    assert run.input("brake").value[-1] == BRAKE[-1]
    later = bc.simulate(
        pole_on_a_cart(), 0.3, **{**RUN, "output_step": 0.3}, start=2.0, controllers=held(force=[5.0])
    )
    np.testing.assert_array_equal(later.input("force").value, 5.0)


def test_what_is_refused():
    with pytest.raises(MechanismError, match="greater than zero"):
        bc.HeldInputs({"force": [1.0]}, period=0.0)
    with pytest.raises(MechanismError, match="values of 'force'"):
        bc.HeldInputs({"force": []}, period=0.1)
    with pytest.raises(MechanismError, match="values of 'force'"):
        bc.HeldInputs({"force": [1.0, np.nan]}, period=0.1)
    twice = [bc.HeldInputs({"force": [1.0]}, 0.1), bc.HeldInputs({"force": [1.0]}, 0.2)]
    with pytest.raises(MechanismError, match="'force' is held twice"):
        bc.simulate(pole_on_a_cart(), 0.1, controllers=twice)
    with pytest.raises(SimulationError, match="no input of this name"):
        bc.simulate(pole_on_a_cart(), 0.1, controllers=bc.HeldInputs({"forse": [1.0]}, 0.1))
    with pytest.raises(MechanismError, match=r"by 'force\[4\]'"):
        bc.sensitivity(pole_on_a_cart(), 0.1, of=OF[0], by="force[4]", controllers=held(), **RUN)
    mech = bc.Mechanism("driven")
    arm = mech.add_body("arm", mass=1.0, inertia=(0.1, 0.1, 0.1))
    mech.add_joint("pin", bc.Revolute(), mech.ground.marker(), arm.marker())
    mech.add_drive("motor", "pin", velocity=bc.Input("speed", 1.0, "rad/s"))
    speeds = bc.HeldInputs({"speed": [1.0, 2.0]}, 0.05)
    with pytest.raises(Unsupported, match="inputs that move drives are held, as 'speed' is"):
        bc.sensitivity(mech, 0.1, of="joint.pin.theta_z", by="inputs", controllers=speeds, **RUN)
