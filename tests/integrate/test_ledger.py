"""Works that are added up along the steps of a run: against closed forms, and every joule of them."""

from math import cos, exp, sin, sqrt

import numpy as np
import pytest
from rigs import stops
from rigs.tyre_rig import free_wheel

import bellcrank as bc
from bellcrank import expression as ex
from bellcrank import gallery
from bellcrank.errors import MechanismError, Unsupported

FORMULATIONS = ("lagrange", "recursive", "symbolic", "dca")
WITH_CONTACTS = ("lagrange", "recursive", "symbolic", "dca")
METHODS = {
    "auto": {},
    "adams": {"method": "adams", "tolerance": 1e-9},
    "bdf": {"method": "bdf", "tolerance": 1e-9},
    "dopri5": {"method": "dopri5", "tolerance": 1e-9},
    "rk4": {"method": "rk4", "step": 1e-3},
}
X, Y = {"axis": (1, 0, 0)}, {"axis": (0, 1, 0)}


@pytest.fixture(params=METHODS)
def method(request):
    return METHODS[request.param]


def simulate(mech, duration, **options):
    return bc.simulate(mech, duration, ledger=True, **options)


def oscillator():
    """2 kg on a spring of 50 N/m and a damper of 3 N s/m, pulled out by 0.1 m."""
    mech = bc.Mechanism("oscillator", gravity=(0, 0, 0))
    body = mech.add_body("body", mass=2.0, inertia=(1, 1, 1), position=(0.1, 0, 0))
    mech.add_joint("rail", bc.Prismatic(), mech.ground.marker(**X), body.marker(**X))
    mech.add_force("spring", bc.TabulatedSpring(bc.Polynomial((0.0, -50.0))), "rail")
    mech.add_force("damper", bc.JointFriction(viscous=3.0), "rail")
    return mech


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_a_damped_oscillator(formulation, method):
    run = simulate(oscillator(), 1.0, formulation=formulation, output_step=0.01, **method)
    balance = run.energy_balance()
    decay, w = 0.75, sqrt(25.0 - 0.75**2)
    x = 0.1 * exp(-decay) * (cos(w) + decay / w * sin(w))
    v = -0.1 * exp(-decay) * (25.0 / w) * sin(w)
    assert balance.stored["spring"][-1] == pytest.approx(25.0 * x**2, abs=1e-7)
    assert balance.lost["damper"][-1] == pytest.approx(0.25 - 25.0 * x**2 - v**2, abs=1e-7)
    assert np.max(np.abs(balance.lost["spring"])) < 1e-7
    assert run.force("damper").work[-1] == pytest.approx(-balance.lost["damper"][-1], abs=1e-15)
    assert balance.error < 1e-6


def crank():
    """An eccentric body of 2 kg that a drive swings by 0.8 sin(3 t)."""
    mech = bc.Mechanism("crank")
    body = mech.add_body("crank", mass=2.0, inertia=(0.1, 0.3, 0.3), com=(0.2, 0, 0))
    mech.add_joint("pivot", bc.Revolute(), mech.ground.marker(**Y), body.marker(**Y))
    # A bead that slides on it: without one, nothing is left to integrate.
    bead = mech.add_body("bead", mass=0.5, inertia=(0.01, 0.01, 0.01))
    mech.add_joint("rail", bc.Prismatic(), body.marker((0.3, 0, 0), **X), bead.marker(**X))
    mech.add_force("spring", bc.TabulatedSpring(bc.Polynomial((0.0, -80.0))), "rail")
    mech.add_force("rubbing", bc.JointFriction(viscous=0.7), "pivot")
    mech.add_drive("drive", "pivot", position=bc.Harmonic(0.8, 3.0))
    return mech


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_a_driven_crank(formulation, method):
    """What the bearing takes of a prescribed motion is known, and what is left the drive has done."""
    run = simulate(crank(), 1.0, formulation=formulation, output_step=0.01, **method)
    balance = run.energy_balance()
    turned = (0.8 * 3.0) ** 2 * (0.5 + sin(6.0) / 12.0)  # integral of the square of the rate
    assert balance.lost["rubbing"][-1] == pytest.approx(0.7 * turned, rel=1e-7)
    total = run.energy.total
    assert balance.supplied["drive 'drive'"][-1] == pytest.approx(
        total[-1] - total[0] + 0.7 * turned, rel=3e-6
    )
    assert np.array_equal(run.drive("drive").work, balance.supplied["drive 'drive'"])
    assert balance.error < 1e-6


def test_a_constraint_whose_formula_contains_the_time_does_work():
    q = bc.EndCoordinate("q")
    mech = bc.Mechanism("lifted")
    body = mech.add_body("body", mass=2.0, inertia=(1, 1, 1))
    swing = mech.add_body("swing", mass=1.0, inertia=(0.1, 0.1, 0.1), com=(0.2, 0, 0))
    mech.add_joint("lift", bc.Prismatic(), mech.ground.marker(), body.marker())
    mech.add_joint("hinge", bc.Revolute(), body.marker(**Y), swing.marker(**Y))
    law = q.value - 0.1 * ex.sin(2.0 * ex.t)
    mech.add_constraint("cam", bc.CustomConstraint((q,), (law,)), "lift")
    balance = simulate(mech, 1.0, formulation="lagrange", tolerance=1e-10).energy_balance()
    assert np.ptp(balance.supplied["constraint 'cam'"]) > 1.0
    assert balance.error < 1e-6


def sliding_block(**law):
    mech = bc.Mechanism("block")
    box = bc.Box(size=(0.2, 0.2, 0.1))
    mech.replace(mech.ground, shapes=[bc.Plane()])
    sunk = 1.0 * 9.81 / 4.0 / 1e5
    mech.add_body("block", 1.0, [0.01] * 3, position=(0, 0, 0.05 - sunk), velocity=(1.0, 0, 0), shapes=[box])
    mech.add_force("floor", bc.Contact(1e5, friction=0.3, **law), "block", "ground")
    return mech


@pytest.mark.parametrize("formulation", WITH_CONTACTS)
def test_a_block_slides_to_rest_on_a_compliant_floor(formulation):
    run = simulate(sliding_block(), 1.0, formulation=formulation, output_step=0.01, tolerance=1e-9)
    balance = run.energy_balance()
    way = run.body("block").position[-1, 0]
    assert balance.lost["floor"][-1] == pytest.approx(0.5, rel=1e-3)
    assert balance.lost["floor"][-1] == pytest.approx(0.3 * 9.81 * way, rel=2e-3)  # it rocks as it starts
    assert balance.error < 1e-6


def test_what_friction_keeps_is_stored_until_it_lets_go():
    """A block is dragged by a spring: its anchors are stretched before they slip, and give it back."""
    mech = sliding_block()
    mech.replace(mech.bodies["block"], velocity=(0.0, 0.0, 0.0))
    pull = bc.Wrench(force=("1.0*sin(3*t)", 0, 0))
    mech.add_force("pull", pull, mech.bodies["block"].marker((0, 0, -0.05)))
    run = simulate(mech, 2.0, tolerance=1e-10, output_step=0.01)
    balance = run.energy_balance()
    stretched = balance.stored["floor"] - balance.stored["floor"][0]
    assert np.max(stretched) > 1e-7
    assert np.max(np.abs(balance.residual)) < 1e-3 * np.max(stretched)


@pytest.mark.parametrize("formulation", WITH_CONTACTS)
def test_a_tyre_over_a_bump(formulation):
    x = np.arange(-1.0, 4.0, 0.01)
    heights = 0.004 * np.exp(-(((x - 0.4) / 0.05) ** 2))
    ground = bc.Terrain(heights=[heights] * 2, spacing=(0.01, 1.0), origin=(x[0], -0.5))
    run = simulate(free_wheel(ground), 0.4, formulation=formulation, tolerance=1e-10, output_step=0.002)
    balance = run.energy_balance()
    assert balance.lost["tyre"][-1] > 1e-2
    assert balance.error < 1e-6


def test_boxes_that_tumble_onto_each_other():
    mech = bc.Mechanism("boxes")
    mech.replace(mech.ground, shapes=[bc.Plane()])
    for k in range(3):
        turn = np.array([1.0, 0.3, 0.2 * (k + 1), 0.1])
        place = {"position": (0.05 * k, 0, 0.3 + 0.5 * k), "rotation": turn / np.linalg.norm(turn)}
        shapes = [bc.Box(size=(0.2, 0.2, 0.1))]
        mech.add_body(f"box {k}", 1.0, [0.01] * 3, velocity=(1, 0, 0), shapes=shapes, **place)
    mech.add_force("touch", bc.Contact(1e5, friction=0.3, restitution=0.4), "ground", *mech.bodies)
    run = simulate(mech, 1.0, formulation="lagrange", tolerance=1e-9, output_step=0.01)
    assert len(run.events) > 50
    assert run.energy_balance().lost["touch"][-1] > 5.0
    assert run.energy_balance().error < 1e-6


@pytest.mark.parametrize("formulation", WITH_CONTACTS)
@pytest.mark.parametrize("method", ["adams", "dopri5", "bdf"])
def test_balance_while_a_follower_passes_from_a_flank_to_the_nose(formulation, method):
    """A node of the quadrature may lie where the contact's feature has changed within the step."""
    options = {"formulation": formulation, "method": method, "output_step": 0.002}
    for tolerance in (1e-9, 1e-10, 1e-11):
        run = simulate(gallery.cam_and_follower(), 0.3, tolerance=tolerance, **options)
        assert np.max(np.abs(run.energy_balance().residual)) < 1e3 * tolerance


def test_verify_judges_energy_while_a_tyre_rolls():
    run = simulate(free_wheel(bc.Plane()), 0.2, tolerance=1e-8, output_step=0.002)
    check = bc.verify(run)["energy"]
    assert check.value is not None
    assert check.passed


@pytest.mark.parametrize("restitution", [0.0, 0.6])
def test_stops_take_what_their_restitution_says(restitution, method):
    run = simulate(stops.ball(restitution), 0.5, output_step=0.01, **method)
    balance = run.energy_balance()
    fallen = 2.0 * 9.81 * 1.0
    assert balance.lost["impacts"][-1] == pytest.approx((1.0 - restitution**2) * fallen, rel=1e-6)
    assert balance.lost["impacts"][10] == 0.0
    assert balance.error < 1e-6


def test_an_input_that_jumps_and_a_state_that_is_set():
    mech = oscillator()
    mech.add_force("push", bc.JointMotor(bc.Input("push", unit="N")), "rail")
    run = bc.start(mech, output_step=0.05, ledger=True)
    run.advance(0.3)
    run.inputs["push"] = 4.0
    run.advance(0.3)
    before = run.trajectory.energy_balance()
    assert before.error < 1e-6
    assert abs(before.lost["push"][-1]) > 1e-2
    assert "states set" not in before.supplied
    state = run.state
    speed = float(state.velocity[0, 0])
    run.set_state(
        bc.State(state.time, state.position, state.rotation, 2.0 * state.velocity, 0.0 * state.velocity)
    )
    run.advance(0.3)
    after = run.stop().energy_balance()
    assert after.supplied["states set"][-1] == pytest.approx(3.0 * speed**2, rel=1e-12)
    assert after.error < 1e-6


@pytest.mark.parametrize("make", [oscillator, crank, sliding_block])
@pytest.mark.parametrize("method", ["adams", "dopri5", "bdf"])
def test_a_ledger_changes_nothing_else(make, method):
    options = {"method": method, "tolerance": 1e-7, "output_step": 0.01}
    plain, booked = bc.simulate(make(), 0.5, **options), simulate(make(), 0.5, **options)
    for section in ("position", "velocity", "kinetic", "force_efforts"):
        assert np.array_equal(plain.store.read(section), booked.store.read(section))


def test_parts_of_a_run_count_on():
    whole = simulate(oscillator(), 0.6, output_step=0.1)
    run = bc.start(oscillator(), 0.6, output_step=0.1, ledger=True)
    for _ in range(6):
        run.advance(0.1)
    parts = run.stop()
    assert np.array_equal(whole.time, parts.time)
    np.testing.assert_allclose(parts.force("damper").work, whole.force("damper").work, atol=1e-9)
    assert float(run.trajectory.force("damper").work[-1]) < -1e-3


def test_what_cannot_be_added_up_is_refused():
    with pytest.raises(Unsupported, match="lost_to_impacts"):
        simulate(sliding_block(), 0.1, method="moreau")
    with pytest.raises(MechanismError, match="a ledger begins where the mechanism is closed"):
        simulate(gallery.four_bar(), 1.0, assemble="constraint_forces")
    with pytest.raises(MechanismError, match="ledger must be"):
        bc.simulate(oscillator(), 0.1, ledger="yes")


def test_a_man_on_a_bicycle_crosses_a_stone():
    """Two tyres, a seat, a dozen muscles and what holds him, at the usual tolerance."""
    mech = gallery.man_on_bicycle(5.0, ground=gallery.misplaced_stone(0.01))
    run = simulate(mech, 3.0, tolerance=1e-8, output_step=0.01, reactions=False)
    balance = run.energy_balance()
    assert balance.exchanged > 100.0
    assert balance.lost["seat"][-1] > 1.0
    assert balance.lost["front tyre"][-1] > 30.0
    assert balance.error < 1e-6
