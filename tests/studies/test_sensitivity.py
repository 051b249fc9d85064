"""`bc.sensitivity`: what a run records, by design parameters, inputs and the start."""

import numpy as np
import pytest
from rigs import stops
from rigs.studied import crank_rocker, parallelogram

import bellcrank as bc
from bellcrank.errors import MechanismError, Unsupported
from bellcrank.trajectory.columns import quantity

RUN = {"method": "dopri5", "tolerance": 1e-11, "output_step": 0.1, "formulation": "lagrange"}
GRAVITY = 9.81
BOTH = pytest.mark.parametrize("formulation", ["lagrange", "recursive"])


OF = ("joint.D.theta_z", "joint.A.theta_z.rate", "joint.A.theta_z.acceleration", "body.rod.x", "body.rod.vy",
      "body.rod.ay", "body.rod.wz", "body.rocker.alphaz")  # fmt: skip
PARAMETERS = ("crank", "coupler", "stiffness", "mass", "start")


def differences(mechanism, name, names, duration=0.5, **settings):
    """Derivatives (T, names) by a parameter, extrapolated."""
    value = mechanism.parameters[name].value
    step = 1e-4 * abs(value)

    def at(k):
        run = bc.simulate(mechanism.with_parameters(**{name: value + k * step}), duration, **RUN, **settings)
        return np.column_stack([quantity(run, one).values for one in names])

    return (8.0 * (at(1) - at(-1)) - (at(2) - at(-2))) / (12.0 * step)


@pytest.mark.parametrize("formulation", ["lagrange", "recursive", "dca"])
def test_a_linkage_by_lengths_masses_springs_and_its_start(formulation):
    mech, settings = crank_rocker(), {**RUN, "formulation": formulation}
    found = bc.sensitivity(mech, 0.5, of=OF, by=PARAMETERS, accelerations=True, **settings)
    assert (found.of, found.by) == (OF, PARAMETERS)
    assert found.by_units == ("m", "m", "N m/rad", "kg", "rad")
    assert found.of_units[:3] == ("rad", "rad/s", "rad/s^2")
    for k, name in enumerate(PARAMETERS):
        expected = differences(mech, name, OF, accelerations=True)
        np.testing.assert_allclose(
            found.values[:, :, k], expected, atol=3e-8 * np.abs(expected).max(), err_msg=name
        )
    np.testing.assert_array_equal(found["body.rod.x", "coupler"], found.values[:, 3, 1])


@BOTH
def test_an_input_and_free_coordinates_of_the_start(formulation):
    """Along a small change of the input and the start the run goes where the derivatives lead."""
    mech, names = crank_rocker(), ("torque", "A.theta_z", "A.theta_z.rate")
    found = bc.sensitivity(mech, 0.5, of=OF[:2], by=names, **{**RUN, "formulation": formulation})
    step = 1e-4

    def inputs(k):
        run = bc.simulate(mech, 0.5, inputs={"torque": 0.4 + k * step}, **RUN)
        return np.column_stack([quantity(run, one).values for one in OF[:2]])

    np.testing.assert_allclose(found.values[:, :, 0], (inputs(1) - inputs(-1)) / (2 * step), atol=1e-6)
    by_start = differences(mech, "start", OF[:2])
    np.testing.assert_allclose(found.values[:, :, 1], by_start, atol=1e-7)

    def thrown(k):
        faster = crank_rocker()
        faster.replace(faster.joints["A"], velocity=k * step)
        run = bc.simulate(faster, 0.5, **RUN)
        return np.column_stack([quantity(run, one).values for one in OF[:2]])

    np.testing.assert_allclose(found.values[:, :, 2], (thrown(1) - thrown(-1)) / (2 * step), atol=1e-6)


@BOTH
def test_the_effort_of_a_drive(formulation):
    mech, settings = crank_rocker(), {**RUN, "formulation": formulation}
    mech.add_drive("drive", joint="A", position=0.4 + 2.0 * bc.t)
    of = ("drive.drive.effort", "joint.D.theta_z.acceleration")
    found = bc.sensitivity(mech, 0.5, of="drive.drive", by=["crank", "coupler", "mass"], **settings)
    assert found.of == of[:1]
    for k, name in enumerate(found.by):
        expected = differences(mech, name, of[:1])
        np.testing.assert_allclose(found.values[:, :, k], expected, atol=1e-7 * np.abs(expected).max())


@BOTH
def test_a_bounce_by_height_and_restitution(formulation):
    """v = e √(2 g h) after an impact at √(2 h / g)."""
    mech = bc.Mechanism("ball", gravity=(0.0, 0.0, -GRAVITY))
    height, bounce = mech.add_parameter("height", 1.0, "m"), mech.add_parameter("bounce", 0.6)
    ball = mech.add_body("ball", 2.0, (0.1, 0.1, 0.1))
    limit = bc.Limit(lower=0.0, restitution=bounce)
    mech.add_joint("fall", bc.Prismatic(), mech.ground.marker(), ball.marker(), limits=limit, position=height)
    settings = {"method": "dopri5", "output_step": 0.1, "formulation": formulation}
    found = bc.sensitivity(mech, 0.8, of="joint.fall.z", by=["height", "bounce"], **settings)
    late = found.time - np.sqrt(2.0 / GRAVITY)
    speed = 0.6 * np.sqrt(2.0 * GRAVITY)
    # z = v τ − g τ²/2 behind the impact: v' = v / 2, τ' = −1 / √(2 g).
    expected = np.where(
        late > 0.0, 0.5 * speed * late - (speed - GRAVITY * late) / np.sqrt(2.0 * GRAVITY), 1.0
    )
    np.testing.assert_allclose(found.values[:, 0, 0], expected, atol=1e-8)
    by_bounce = np.sqrt(2.0 * GRAVITY) * np.maximum(late, 0.0)
    np.testing.assert_allclose(found.values[:, 0, 1], by_bounce, atol=1e-8)
    assert not found.warnings


def test_spreads_add_up_as_squares():
    found = bc.sensitivity(crank_rocker(), 0.2, of=OF[:2], by=("crank", "mass"), **RUN)
    expected = np.hypot(1e-3 * found.values[:, :, 0], 0.2 * found.values[:, :, 1])
    np.testing.assert_allclose(found.spread({"crank": 1e-3, "mass": 0.2}), expected, rtol=1e-12)
    with pytest.raises(MechanismError, match="parameter 'couple': it was not asked for"):
        found.spread({"couple": 1.0})


def refused(error, match, mechanism, of="joint.A.theta_z", by="crank", **settings):
    with pytest.raises(error, match=match):
        bc.sensitivity(mechanism, 0.1, of=of, by=by, **{**RUN, **settings})


def test_unknown_names_all_at_once():
    with pytest.raises(MechanismError) as caught:
        bc.sensitivity(crank_rocker(), 0.1, of=OF[0], by=["crnk", "mass", "mass", "A.theta"], **RUN)
    text = str(caught.value)
    assert "by 'crnk'" in text
    assert "did you mean crank" in text or "crank" in text
    assert "listed twice" in text
    assert "by 'A.theta'" in text
    refused(MechanismError, "quantity 'joint.A.theta'", crank_rocker(), of="joint.A.theta")


@BOTH
def test_what_has_no_derivatives(formulation):
    mech, own = crank_rocker(), {"formulation": formulation}
    refused(Unsupported, r"derivatives of 'joint.A.Fx' are not implemented", mech, of="joint.A.Fx", **own)
    known = "formulations 'lagrange', 'recursive', 'dca'"
    refused(Unsupported, f"{known}, not 'symbolic'", mech, formulation="symbolic")
    refused(
        Unsupported, "by method 'moreau' are not implemented", mech, method="moreau", tolerance=None, **own
    )
    controller = bc.Controller(lambda time, _: {"torque": np.sin(time)}, 0.02)
    refused(Unsupported, "runs with controllers are not implemented", mech, controllers=controller, **own)


@BOTH
def test_shares_of_redundant_constraints(formulation):
    """A weight on one cable has a force in it that is determined; on two alike each has a share."""
    settings = {**RUN, "formulation": formulation}
    for cables in (("first",), ("first", "second")):
        mech = bc.Mechanism("hung", gravity=(0.0, 0.0, -GRAVITY))
        weight = mech.add_parameter("weight", 2.0, "kg")
        body = mech.add_body("bob", weight, (0.1, 0.1, 0.1), position=(0.0, 0.0, -1.0))
        for name in cables:
            mech.add_constraint(name, bc.Cable(1.0), mech.ground.marker(), body.marker())
        if len(cables) == 1:
            found = bc.sensitivity(mech, 0.1, of="constraint.first", by="weight", **settings)
            np.testing.assert_allclose(np.abs(found.values), GRAVITY, rtol=1e-9)
        else:
            text, wanted = "constraint.first.effort is not determined", ("constraint.first", "weight")
            refused(Unsupported, text, mech, *wanted, formulation=formulation)


def test_a_parameter_that_moves_a_jump():
    mech = crank_rocker()
    late = mech.add_parameter("late", 0.05, "s")
    mech.add_force("push", bc.JointMotor(bc.Piecewise([0.0, late, 1.0], [[1.0], [2.0]])), joint="A")
    refused(Unsupported, "by 'late' are not implemented: it moves a time", mech, by="late")


@BOTH
@pytest.mark.parametrize("mode", ["forward", "backward"])
def test_a_parameter_that_opens_a_loop(mode, formulation):
    settings = {"duration": 0.1, "mode": mode, "formulation": formulation}
    with pytest.raises(MechanismError, match="parameter 'middle': loops do not stay closed"):
        bc.gradient(parallelogram(), "final joint.foot 0.theta_z", by="middle", **settings)


@BOTH
def test_a_start_on_a_stop_is_warned_of(formulation):
    leaves = stops.ball(0.5, height=0.0, speed=1.0)
    mass = leaves.add_parameter("weight", 2.0, "kg")
    leaves.replace(leaves.bodies["ball"], mass=mass)
    settings = {"method": "dopri5", "formulation": formulation}
    found = bc.sensitivity(leaves, 0.1, of="joint.fall.z", by="weight", **settings)
    assert len(found.warnings) == 1
    assert "derivatives are those to one side" in found.warnings[0]


def test_trees_of_hinges_are_followed_by_recursive_where_nothing_is_asked_for():
    found = bc.sensitivity(stops.pendulum(), 0.1, of="joint.pivot.theta_z", by="pivot.theta_z")
    assert found.run.statistics["formulation"] == "recursive"
    linkage = bc.sensitivity(crank_rocker(), 0.1, of=OF[0], by="crank")
    assert linkage.run.statistics["formulation"] == "lagrange"


@BOTH
@pytest.mark.parametrize(
    ("function", "by_position"), [("fall - 0.2", True), ("ball.z - 0.2", True), ("fall.rate + 3", False)]
)
def test_an_event_that_ends_the_run(function, by_position, formulation):
    """From h at rest: at z after √(2 (h − z)/g), at √(2 g (h − z)); a speed v is reached after v/g."""
    mech = bc.Mechanism("ball", gravity=(0.0, 0.0, -GRAVITY))
    height = mech.add_parameter("height", 1.0, "m")
    ball = mech.add_body("ball", 2.0, (0.1, 0.1, 0.1))
    mech.add_joint("fall", bc.Prismatic(), mech.ground.marker(), ball.marker(), position=height)
    end = bc.Event("down", function, terminal=True)
    of = ("time", "joint.fall.z", "joint.fall.z.rate", "body.ball.z")
    settings = {**RUN, "events": end, "formulation": formulation}
    found = bc.sensitivity(mech, 2.0, of=of, by="height", **settings)
    time, speed = np.sqrt(1.6 / GRAVITY), np.sqrt(1.6 * GRAVITY)
    expected = (time / 1.6, 0.0, -speed / 1.6, 0.0) if by_position else (0.0, 1.0, 0.0, 1.0)
    np.testing.assert_allclose(found.values[-1, :, 0], expected, atol=1e-9)
    last = bc.gradient(mech, [f"final {name}" for name in of], by="height", duration=2.0, **settings)
    np.testing.assert_allclose(last.gradient[:, 0], expected, atol=1e-9)
