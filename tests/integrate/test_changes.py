"""Parts that break, release and engage during a run, against closed forms and between formulations."""

from __future__ import annotations

import math
from time import perf_counter

import numpy as np
import pytest
from rigs.changing_mechanisms import what_is_wrong

import bellcrank as bc
from bellcrank.mechanism.rotation import matrix

G = 9.81
FORMULATIONS = ("lagrange", "recursive", "symbolic", "dca")
FINE = {"method": "dopri5", "tolerance": 1e-12}
Y = (0.0, -1.0, 0.0)


def pendulum(mass=2.0, length=1.0, kind=None):
    """A bob at the end of a massless arm, which starts level."""
    mech = bc.Mechanism("pendulum")
    bob = mech.add_body("bob", mass=mass, inertia=(0.1, 0.1, 0.1), position=(length, 0.0, 0.0))
    pin = kind or bc.Revolute()
    mech.add_joint("pin", pin, mech.ground.marker(axis=Y), bob.marker((-length, 0, 0), axis=Y))
    return mech


def flight(state, time):
    """Where bodies that fly freely are later."""
    lasts = time - state.time
    return state.position + state.velocity * lasts + 0.5 * np.array([0, 0, -G]) * lasts**2


def crossing(value, low, high):
    """Where a growing function comes to zero."""
    for _ in range(200):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if value(middle) > 0.0 else (middle, high)
    return 0.5 * (low + high)


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_a_rope_that_is_cut_lets_its_load_fall(formulation):
    mech = bc.Mechanism("load")
    load = mech.add_body("load", mass=3.0, inertia=(1, 2, 3), position=(0.6, 0, -0.8), velocity=(0, 0.4, 0))
    mech.add_joint("rope", bc.Distance(), mech.ground, load)
    mech.add_change("cut", bc.Release(of="rope", when="t >= 0.37"))
    run = bc.simulate(mech, 1.0, formulation=formulation, output_step=0.01, **FINE)
    (cut,) = run.events
    assert cut.name == "cut"
    assert cut.time == pytest.approx(0.37, abs=1e-14)
    free = run.time >= cut.time
    flown = np.array([flight(cut.state, t)[0] for t in run.time[free]])
    assert np.max(np.abs(run.body("load").position[free] - flown)) < 1e-9
    assert np.all(run.joint("rope").force[free] == 0.0)
    assert np.all(np.linalg.norm(run.joint("rope").force[~free], axis=1) > 1.0)
    assert bc.verify(run), str(bc.verify(run))


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_a_pin_shears_at_its_load(formulation):
    mass, length, spin_up, strength = 2.0, 0.5, 6.0, 60.0

    def load(t):
        angle, rate = 0.5 * spin_up * t**2, spin_up * t
        along = -mass * length * rate**2 + mass * G * math.sin(angle)
        return math.hypot(along, mass * length * spin_up + mass * G * math.cos(angle))

    mech = pendulum(mass, length)
    mech.add_drive("motor", "pin", position=f"{0.5 * spin_up}*t^2")
    mech.add_change("shear", bc.Release(of="pin", when="pin.force > 60 and t > 0.1"))
    run = bc.simulate(mech, 1.4, formulation=formulation, output_step=0.01, **FINE)
    (shear,) = run.events
    # The drive holds the turn, the pin all else: its force is that on the bob.
    assert shear.time == pytest.approx(crossing(lambda t: load(t) - strength, 0.9, 1.4), abs=1e-8)
    assert run.at(1.4).position[0] == pytest.approx(flight(shear.state, 1.4)[0], abs=1e-9)
    assert run.drive("motor").effort[-1] == 0.0  # it acts on the pin, and goes with it
    assert bc.verify(run), str(bc.verify(run))


MASSES = ((2.0, np.diag([1.0, 2.0, 3.0])), (1.0, np.diag([0.5, 0.3, 0.4])))


def ships():
    mech = bc.Mechanism("ships", gravity=(0, 0, 0))
    one = mech.add_body(
        "one", mass=2.0, inertia=(1, 2, 3), velocity=(0, 0, 0.3), angular_velocity=(0.2, 0.1, -0.3)
    )
    two = mech.add_body(
        "two", 1.0, (0.5, 0.3, 0.4), position=(2, 0.1, 0), velocity=(-1, 0, 0), angular_velocity=(0, 0.5, 0.4)
    )
    ends = one.marker((1, 0, 0)), two.marker((-0.5, 0, 0))
    mech.add_joint("dock", bc.Fixed(), *ends)
    mech.add_change("docking", bc.Engagement(of="dock", when="distance < 0.3"), *ends)
    mech.add_change("leaving", bc.Release(of="dock", when="t > 1.6"))
    return mech


def momenta(state):
    """Momentum, angular momentum about the origin, and kinetic energy of the two ships."""
    momentum, angular, energy = np.zeros(3), np.zeros(3), 0.0
    for k, (mass, inertia) in enumerate(MASSES):
        turn, speed, spin = matrix(state.rotation[k]), state.velocity[k], state.angular_velocity[k]
        own = turn @ inertia @ turn.T
        momentum += mass * speed
        angular += own @ spin + np.cross(state.position[k], mass * speed)
        energy += 0.5 * mass * speed @ speed + 0.5 * spin @ own @ spin
    return momentum, angular, energy


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_docking_keeps_momentum_and_loses_what_a_plastic_impact_does(formulation):
    run = bc.simulate(ships(), 2.5, formulation=formulation, output_step=0.01, ledger=True, **FINE)
    docking, leaving = run.events
    assert (docking.name, leaving.name) == ("docking", "leaving")
    before, after = momenta(docking.state), momenta(run.at(docking.time))
    assert np.allclose(before[0], after[0], atol=1e-13)
    assert np.allclose(before[1], after[1], atol=1e-13)
    # As one rigid body with these momenta.
    state, whole = docking.state, sum(mass for mass, _ in MASSES)
    centre = sum(m * p for (m, _), p in zip(MASSES, state.position, strict=True)) / whole
    inertia = np.zeros((3, 3))
    for k, (mass, own) in enumerate(MASSES):
        turn, arm = matrix(state.rotation[k]), state.position[k] - centre
        inertia += turn @ own @ turn.T + mass * (arm @ arm * np.eye(3) - np.outer(arm, arm))
    about_centre = before[1] - np.cross(centre, before[0])
    spin = np.linalg.solve(inertia, about_centre)
    energy = before[0] @ before[0] / (2 * whole) + 0.5 * spin @ about_centre
    assert np.allclose(run.at(docking.time).angular_velocity, spin, atol=1e-12)
    assert after[2] == pytest.approx(energy, abs=1e-12)
    balance = run.energy_balance()
    assert balance.lost["impacts"][-1] == pytest.approx(before[2] - energy, abs=1e-11)
    assert balance.error < 1e-9
    held = (run.time > docking.time) & (run.time < leaving.time)
    apart = run.body("two").position - run.body("one").position
    assert np.ptp(np.linalg.norm(apart[held], axis=1)) < 1e-10
    assert bc.verify(run), str(bc.verify(run))


def test_formulations_agree_where_things_break_and_dock():
    runs = [bc.simulate(ships(), formulation=f, times=[1.0, 2.5], **FINE) for f in FORMULATIONS]
    for run in runs[1:]:
        assert np.max(np.abs(run.body("two").position - runs[0].body("two").position)) < 1e-9
        assert np.max(np.abs(np.subtract(*([e.time for e in r.events] for r in (run, runs[0]))))) < 1e-9


def door():
    """A door that turns freely, and a catch at the frame."""
    mech = bc.Mechanism("door", gravity=(0, 0, 0))
    leaf = mech.add_body("leaf", 8.0, (1, 1, 2), position=(0.5, 0, 0))
    mech.add_joint(
        "hinge", bc.Revolute(), mech.ground, leaf.marker((-0.5, 0, 0)), velocity=-1.0, position=0.4
    )
    mech.add_joint(
        "catch",
        bc.Planar(),
        mech.ground.marker((1, 0, 0), axis=(0, 1, 0)),
        leaf.marker((0.5, 0, 0), axis=(0, 1, 0)),
    )
    return mech


def test_a_catch_snaps_in_where_it_fits():
    mech = door()
    mech.add_change("snap", bc.Engagement(of="catch", when="hinge <= 0", pose="fits"))
    run = bc.simulate(mech, 1.0, ledger=True, **FINE)
    (snap,) = run.events
    assert snap.time == pytest.approx(0.4, abs=1e-10)
    assert abs(run.joint("hinge").velocity[-1]) < 1e-12
    assert abs(run.joint("hinge").position[-1]) < 1e-9
    assert run.energy_balance().lost["impacts"][-1] == pytest.approx(0.5 * (2 + 8 * 0.25), abs=1e-9)
    mech.replace(mech.changes["snap"], kind=bc.Engagement(of="catch", when="hinge <= 0.01", pose="fits"))
    with pytest.raises(
        bc.SimulationError, match=r"change 'snap'.*'catch' at t = 0.39 s, .*off by 0.0"
    ) as caught:
        bc.simulate(mech, 1.0, **FINE)
    assert caught.value.trajectory.time[-1] <= 0.39


def test_a_catch_that_was_opened_catches_again():
    mech = door()
    go = bc.Input("hand", 0.0)
    mech.add_force("closer", bc.TorsionSpring(4.0, rest_angle=-0.1), "hinge")
    mech.add_force("push", bc.JointMotor(20.0 * go), "hinge")
    mech.add_change("snap", bc.Engagement(of="catch", when="hinge <= 0"))
    mech.add_change("open", bc.Release(of="catch", when="signal > 0.5", signal=go))

    def hand(t, _):
        return {"hand": 1.0 if 0.795 < t < 0.995 else 0.0}

    run = bc.simulate(mech, 4.0, controllers=bc.Controller(hand, 0.01), **FINE)
    assert [event.name for event in run.events] == ["snap", "open", "snap"]
    assert run.events[1].time == pytest.approx(0.8, abs=1e-12)
    assert np.all(np.diff(run.time) > 0.0)
    assert np.all(run.joint("catch").reaction[run.time == run.events[1].time] == 0.0)  # as it is afterwards
    assert run.statistics["samples"] == 400
    assert abs(run.joint("hinge").velocity[-1]) < 1e-12
    assert np.max(run.joint("hinge").position[run.time > 0.8]) > 0.05


def test_a_sling_lets_go_at_its_angle():
    mech = pendulum()
    mech.add_joint(
        "sling",
        bc.Revolute(),
        mech.bodies["bob"].marker(axis=Y),
        mech.add_body("stone", 0.2, (1e-3, 1e-3, 1e-3), position=(1.3, 0, 0)).marker((-0.3, 0, 0), axis=Y),
    )
    mech.add_change("release", bc.Release(of="sling", when="sling > 0.2 or sling < -0.2"))
    run = bc.simulate(mech, 1.0, **FINE)
    (event,) = run.events
    at = run.at(event.time)
    theta = run.between(event.time, event.time).joint("sling").position[0]
    assert abs(theta) == pytest.approx(0.2, abs=1e-9)
    assert np.allclose(at.velocity, event.state.velocity, atol=1e-12)
    assert np.allclose(run.at(1.0).position[1], flight(event.state, 1.0)[1], atol=1e-9)
    assert np.isfinite(run.joint("sling").position).all()  # it goes on to be measured


def chain(strengths):
    """Weights that hang under each other on links; pulled up by a growing acceleration."""
    mech = bc.Mechanism("chain", gravity=(0, 0, 0))
    lift = mech.add_body("lift", 1.0, (1, 1, 1))
    mech.add_joint("rail", bc.Prismatic(), mech.ground, lift)
    mech.add_drive("winch", "rail", position="t^3/6")  # acceleration t
    above = lift
    for k, strength in enumerate(strengths):
        below = mech.add_body(f"weight {k}", 1.0, (1, 1, 1), position=(0, 0, -1.0 - k))
        mech.add_joint(f"link {k}", bc.Fixed(), above, below.marker((0, 0, 1)))
        mech.add_change(
            f"break {k}",
            bc.Release(of=f"link {k}", when=f"link.force > {strength}", names={"link": f"link {k}"}),
        )
        above = below
    return mech


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_links_break_one_after_the_other(formulation):
    # Link k carries the weights below it: 3, 2 and 1 kg at an acceleration t.
    run = bc.simulate(chain((30.0, 8.0, 7.0)), 12.0, formulation=formulation, **FINE)
    # The second one breaks at 2 t = 8; the first then carries one weight only, to 30.
    assert [event.name for event in run.events] == ["break 1"]
    assert run.events[0].time == pytest.approx(4.0, abs=1e-9)
    run = bc.simulate(chain((9.0, 8.0, 3.0)), 12.0, formulation=formulation, **FINE)
    # At t = 3 the first and the last break in the same moment.
    assert [event.name for event in run.events] == ["break 0", "break 2"]
    assert [event.time for event in run.events] == pytest.approx([3.0, 3.0], abs=1e-9)
    speed = run.body("weight 1").velocity[-1, 2]
    assert speed == pytest.approx(4.5, abs=1e-9)


def test_a_change_makes_others_in_the_same_moment():
    mech = pendulum()
    mech.add_force("wind", bc.Wrench(force=(1.0, 0, 0)), "bob")
    mech.add_change("first", bc.Release(of="pin", when="t > 0.3"))
    mech.add_change("second", bc.Release(of="wind", after="first"))
    # Once the arm is gone the bob falls, and has no load: this holds from that moment on.
    run = bc.simulate(mech, 0.6, **FINE)
    assert [(e.name, round(e.time, 12)) for e in run.events] == [("first", 0.3), ("second", 0.3)]
    assert len(np.unique(run.time)) == len(run)
    assert np.all(run.force("wind").effort[run.time >= 0.3] == 0.0)
    assert np.allclose(run.at(0.6).position, flight(run.events[0].state, 0.6), atol=1e-9)


def test_changes_that_follow_each_other_without_end_are_refused():
    mech = pendulum()
    mech.add_change("tear", bc.Release(of="pin", when="t > 0.2"))
    mech.add_change("mend", bc.Engagement(of="pin", after="tear", engaged=True))
    with pytest.raises(
        bc.SimulationError, match=r"'tear' and 'mend' follow each other .* t = 0.2 s"
    ) as caught:
        bc.simulate(mech, 1.0, **FINE)
    assert caught.value.trajectory.time[-1] <= 0.2


def test_loads_of_what_has_let_go_are_zero():
    mech = bc.Mechanism("two ropes")
    load = mech.add_body("load", 2.0, (1, 1, 1))
    mech.add_joint("rail", bc.Prismatic(), mech.ground, load)
    mech.add_joint("one", bc.Fixed(), mech.ground, load)
    mech.add_force("two", bc.SpringDamper(50.0), mech.ground.marker((0, 0, 1)), load)
    mech.add_change("cut", bc.Release(of="one", when="t > 0.1"))
    mech.add_change("snap", bc.Release(of="two", when="one.force < 1 and two.effort < -30 and load.z < 0"))
    run = bc.simulate(mech, 1.0, **FINE)
    assert [event.name for event in run.events] == ["cut", "snap"]
    # 50 z = -30: the load swings about z = -2 g / 50.
    middle, w = -2 * G / 50, math.sqrt(50.0 / 2)
    assert run.events[1].time == pytest.approx(0.1 + math.acos((middle + 0.6) / middle) / w, abs=1e-8)


def test_placed_conditions_have_parameters_and_functions():
    mech = pendulum()
    mech.add_parameter("strength", 40.0, "N")
    mech.add_change("cut", bc.Release(of="pin", when="abs(pin.force) > strength and t > 0.01 or sin(t) > 2"))
    alone = bc.simulate(mech, 0.6, **FINE)
    outer = bc.Mechanism("outer")
    outer.place(mech, "a b")
    run = bc.simulate(outer, 0.6, **FINE)
    assert run.events[0].time == pytest.approx(alone.events[0].time, abs=1e-12)
    run = bc.simulate(outer.with_parameters(a_b_strength=30.0), 0.6, **FINE)
    assert run.events[0].time < alone.events[0].time


def test_a_run_is_not_set_to_where_other_elements_are_in_force():
    run = bc.start(ships(), **FINE)
    run.advance(0.1)
    docked = bc.simulate(ships(), 1.0, **FINE).at(1.0)
    with pytest.raises(bc.MechanismError, match=r"other elements are in force there.* bc.start"):
        run.set_state(docked)
    run.set_state(run.state.at_time(0.2))
    run.advance(2.0)
    assert [event.name for event in run.stop().events] == ["state set", "docking", "leaving"]


def test_what_is_so_from_the_start_happens_at_the_start():
    mech = pendulum()
    mech.add_change("cut", bc.Release(of="pin", when="bob.x > 0.5"))
    run = bc.simulate(mech, 0.5, output_step=0.1, **FINE)
    assert [(e.name, e.time) for e in run.events] == [("cut", 0.0)]
    assert list(np.round(run.time, 12)) == [0.0, 0.1, 0.2, 0.3, 0.4, 0.5]
    assert np.allclose(run.body("bob").position[:, 2], -0.5 * G * run.time**2, atol=1e-12)


@pytest.mark.parametrize("method", ["rk4", "semi_implicit_euler", "moreau"])
def test_fixed_steps_find_loads(method):
    mech = pendulum()
    mech.add_change("shear", bc.Release(of="pin", when="pin.force > 40"))
    run = bc.simulate(mech, 0.6, method=method, step=1e-3)
    assert run.events[0].time == pytest.approx(0.412286639674, abs=3e-3)
    assert run.at(0.6).position == pytest.approx(flight(run.events[0].state, 0.6), abs=1e-3)


@pytest.mark.parametrize("method", ["rk4", "semi_implicit_euler", "moreau"])
def test_fixed_steps_change_at_the_end_of_a_step(method):
    run = bc.simulate(ships(), 2.5, method=method, step=1e-3)
    docking, leaving = run.events
    fine = bc.simulate(ships(), 2.5, **FINE)
    assert 0.0 <= docking.time - fine.events[0].time < 1.1e-3
    assert docking.time == pytest.approx(round(docking.time, 3), abs=1e-12)
    assert leaving.time == pytest.approx(1.6, abs=1.1e-3)
    assert np.allclose(run.at(2.5).position, fine.at(2.5).position, atol=2e-3)
    if method == "moreau":
        lost = momenta(docking.state)[2] - momenta(run.at(docking.time))[2]
        assert run.statistics["lost_to_impacts"] == pytest.approx(lost, rel=1e-6)


def everything():
    """Two slides that a coupling joins, one on a spring."""
    mech = bc.Mechanism("bench")
    one = mech.add_body("one", 1.0, (1, 1, 1), position=(0, 0, 0.1))
    two = mech.add_body("two", 2.0, (1, 1, 1), position=(0, 2, 0))
    mech.add_joint("first", bc.Prismatic(), mech.ground.marker((0, 0, 0.1)), one)
    mech.add_joint("second", bc.Prismatic(), mech.ground.marker((0, 2, 0)), two)
    mech.add_force("spring", bc.SpringDamper(40.0), mech.ground.marker((0, 0, 1)), one)
    mech.add_constraint("gear", bc.Coupling((1.0, 1.0)), "first", "second")
    return mech


def test_forces_and_constraints_take_hold_of_where_they_find_things():
    mech = everything()
    mech.add_change("hook", bc.Engagement(of="spring", when="t >= 0.2"))
    mech.add_change("mesh", bc.Engagement(of="gear", when="t >= 0.1"))
    run = bc.simulate(mech, 1.0, output_step=0.01, ledger=True, **FINE)
    assert [event.name for event in run.events] == ["mesh", "hook"]
    assert run.at(0.1).velocity[:, 2] == pytest.approx([G / 30 * 1, -G / 30 * 1], abs=1e-9)
    # From 0.1 s on: 3 kg, driven by one more kilogram on the second side.
    k = np.searchsorted(run.time, 0.2)
    z, v = run.body("one").position[k, 2], run.body("one").velocity[k, 2]
    t = run.time[k:] - 0.2
    w = math.sqrt(40.0 / 3.0)
    # the spring is longer the lower the slide: its rest is where it was at 0.2 s
    middle = z + G / 40.0
    wanted = middle + (z - middle) * np.cos(w * t) + v / w * np.sin(w * t)
    assert np.max(np.abs(run.body("one").position[k:, 2] - wanted)) < 1e-9
    assert np.all(run.force("spring").effort[:k] == 0.0)
    assert run.energy_balance().error < 1e-9
    assert bc.verify(run), str(bc.verify(run))


def test_friction_holds_and_slips_beside_changes():
    mech = bc.Mechanism("slope")
    block = mech.add_body("block", 1.0, (1, 1, 1))
    mech.add_joint("rail", bc.Prismatic(), mech.ground.marker(axis=(1, 0, 0)), block)
    mech.add_force(
        "friction",
        bc.JointFriction(coulomb=3.0, regularisation_velocity=None, stribeck_velocity=None),
        "rail",
    )
    mech.add_force("push", bc.Wrench(force=(2.0, 0, 0)), block)
    mech.add_change("let go", bc.Release(of="friction", when="t > 0.5"))
    mech.add_change("stop", bc.Release(of="push", when="t > 1"))
    run = bc.simulate(mech, 1.5, ledger=True, **FINE)
    assert run.joint("rail").position[-1, 0] == pytest.approx(0.25 + 1.0 * 0.5, abs=1e-9)
    assert np.max(np.abs(run.joint("rail").position[run.time <= 0.5])) < 1e-15
    assert bc.verify(run), str(bc.verify(run))


def test_a_contact_and_a_drive_let_go():
    mech = bc.Mechanism("table")
    ball = mech.add_body("ball", shapes=bc.Sphere(0.1, density=1000.0), position=(0, 0, 0.1))
    mech.replace(mech.ground, shapes=(bc.Plane(),))
    mech.add_force("floor", bc.Contact(1e5), ball, mech.ground)
    mech.add_body("slider", 1.0, (1, 1, 1), position=(2, 0, 0))
    mech.add_joint("rail", bc.Prismatic(), mech.ground.marker((2, 0, 0), axis=(1, 0, 0)), "slider")
    mech.add_drive("motor", "rail", velocity="0.5")
    mech.add_change("trap", bc.Release(of=("floor", "motor"), when="t >= 0.5"))
    run = bc.simulate(mech, 1.0, output_step=0.05, **FINE)
    (trap,) = [event for event in run.events if event.name == "trap"]
    late = run.time >= 0.5
    assert np.allclose(run.body("ball").position[-1], flight(trap.state, 1.0)[0], atol=1e-9)
    assert run.body("slider").velocity[-1, 0] == pytest.approx(0.5, abs=1e-12)  # nothing brakes it
    assert np.all(run.drive("motor").effort[late] == 0.0)
    assert np.count_nonzero(run.contact("floor").count[late]) == 0


def test_a_run_goes_on_from_any_state_with_what_was_in_force(tmp_path):
    whole = bc.simulate(ships(), times=np.linspace(0, 2.5, 26), **FINE)
    run = bc.start(ships(), **FINE)
    run.advance(1.0)
    rest = bc.simulate(ships(), 1.5, state=run.state, **FINE)
    assert [event.name for event in rest.events] == ["leaving"]
    assert np.allclose(rest.at(2.5).position, whole.at(2.5).position, atol=1e-9)
    whole.save(tmp_path / "run.h5")
    for known in (whole, bc.Trajectory.load(tmp_path / "run.h5")):
        rest = bc.simulate(ships(), state=known.at(1.0), times=[1.5, 2.5], **FINE)
        assert [event.name for event in rest.events] == ["leaving"]
        assert np.allclose(rest.body("two").position[-1], whole.at(2.5).position[1], atol=1e-9)
    rest = bc.simulate(ships(), 0.5, state=whole.events[0].state, **FINE)  # just before docking
    assert [event.name for event in rest.events] == ["docking"]


def test_parts_of_a_run_know_what_was_in_force():
    run = bc.simulate(ships(), 2.5, output_step=0.01, **FINE)
    middle = run.between(1.0, 2.0)
    rest = bc.simulate(ships(), state=middle.at(1.2), times=[1.5, 2.5], **FINE)
    assert [event.name for event in rest.events] == ["leaving"]
    assert bc.verify(middle), str(bc.verify(middle))
    assert bc.verify(run.between(run.events[1].time, 2.5))["changes: released"].passed


def test_pictures_leave_out_what_is_not_in_force():
    mech = bc.Mechanism("rope", gravity=(0, 0, 0))
    box = bc.Box((0.1, 0.1, 0.1), density=500.0)
    load, other = (
        mech.add_body(n, shapes=box, position=p) for n, p in (("load", (0, 0, -1)), ("other", (1, 0, 0)))
    )
    mech.add_joint("rope", bc.Distance(), other, load)
    mech.add_change("cut", bc.Release(of="rope", when="t > 0.5"))
    run = bc.simulate(mech, 1.0, output_step=0.1)

    def painted(draw, **options):
        figure = draw(scale=False, view="front", **options)
        figure.texts.clear()
        for axes in figure.axes:
            for text in list(axes.texts):
                text.remove()
        figure.canvas.draw()
        return np.asarray(figure.canvas.buffer_rgba())[:, :, :3].astype(int)

    tied, cut = (painted(run.draw, times=[t]) for t in (0.2, 0.8))
    different = np.argwhere((tied != cut).any(axis=2))
    assert len(different) > 100  # the rope, half way between the bodies
    assert np.all(np.abs(np.mean(different, axis=0) / np.array(tied.shape[:2]) - 0.5) < 0.05)
    assert np.array_equal(painted(mech.draw, state=run.at(0.2)), tied)
    assert np.array_equal(painted(mech.draw, state=run.at(0.8)), cut)


def test_a_record_in_a_file_is_the_same(tmp_path):
    kept = bc.simulate(ships(), 2.0, output_step=0.01, **FINE)
    run = bc.simulate(ships(), 2.0, output_step=0.01, path=tmp_path / "run.h5", **FINE)
    assert np.array_equal(run.time, kept.time)
    assert len(np.unique(run.time)) == len(run)
    assert np.array_equal(run.body("two").velocity, kept.body("two").velocity)
    assert [e.time for e in run.events] == [e.time for e in kept.events]
    assert bc.verify(run), str(bc.verify(run))


def test_sensors_go_on_over_a_change():
    mech = pendulum()
    mech.add_sensor("gauge", bc.WrenchSensor("pin", period=0.1))
    mech.add_sensor("angle", bc.Encoder(period=0.1), "pin")
    mech.add_change("cut", bc.Release(of="pin", when="t >= 0.35"))
    seen = []

    def look(t, readings):
        seen.append((t, np.linalg.norm(readings.sensor("gauge")[3:]), readings.sensor("angle")))
        return {}

    run = bc.simulate(mech, 0.8, controllers=bc.Controller(look, 0.1), output_step=0.05, **FINE)
    times, loads, angles = (np.array(column) for column in zip(*seen, strict=True))
    assert np.allclose(times, 0.1 * np.arange(8), atol=1e-12)
    assert np.all((loads > 1e-3) == (times < 0.35))
    assert np.all(np.diff(angles) < 0.0)
    assert len(run) == 18 - 1  # 0.35 s is one of the times
    assert run.sensor("gauge").value.shape == (17, 6)


def test_a_judge_finds_what_a_record_hides():
    run = bc.simulate(ships(), 2.5, output_step=0.01, **FINE)
    frames = {name: np.array(run.store.read(name)) for name in run.layout.shapes}
    after = int(np.searchsorted(run.time, run.events[0].time))
    frames["velocity"][after:, 1] += 0.01
    frames["position"][after:, 1] += 0.01 * (run.time[after:, None] - run.time[after])
    changed = bc.Trajectory(
        run.layout, type(run.store)(frames), run.status, run.statistics, run.origin, run.events
    )
    assert bc.verify(run)["changes: impulses"].passed
    assert not bc.verify(changed)["changes: impulses"].passed
    frames = {name: np.array(run.store.read(name)) for name in run.layout.shapes}
    frames["reactions"][-1, 0, 3] = 1.0  # after leaving
    changed = bc.Trajectory(
        run.layout, type(run.store)(frames), run.status, run.statistics, run.origin, run.events
    )
    assert not bc.verify(changed)["changes: released"].passed


def refused(mech, match):
    with pytest.raises(bc.MechanismError, match=match):
        bc.validate(mech)


def test_faults_have_names():
    mech = pendulum()
    mech.add_force("twice", bc.Wrench(force=(1.0, 0, 0)), "bob")
    mech.add_joint("twice", bc.Spherical(), mech.ground, "bob")
    mech.add_change("a", bc.Release(of="pinn", when="t > 1"))
    mech.add_change("b", bc.Release(of="twice", when="t > 1", after="nothing"))
    with pytest.raises(bc.MechanismError) as caught:
        bc.validate(mech)
    text = str(caught.value)
    assert "change 'a': there is no joint, constraint, force or drive of this name" in text
    assert "did you mean 'pin'" in text
    assert "change 'b': a joint and a force have this name" in text
    assert "change 'b': there is no change of this name" in text
    mech = pendulum()
    mech.add_change("a", bc.Release(of="pin", after="b"))
    mech.add_change("b", bc.Release(of="pin", after="a"))
    refused(mech, "change 'a': it follows itself in the same moment")
    mech = pendulum(kind=bc.Screw(0.1))
    mech.add_change("a", bc.Engagement(of="pin", when="t > 1"))
    refused(mech, "'pin', a Screw, cannot take the pose .* pose='fits'")
    mech = pendulum()
    mech.add_force("motor", bc.GearedMotor(10.0, rotor_inertia=0.01), "pin")
    mech.add_change("a", bc.Engagement(of="motor", when="t > 1"))
    refused(mech, "force 'motor' has a rotor, whose speed where it takes hold is not known")
    mech = door()
    mech.add_change("a", bc.Engagement(of="hinge", when="t > 1"))
    refused(mech, "joint 'hinge' holds nothing at the start, and is given an initial position")
    with pytest.raises(bc.MechanismError, match="it needs a condition"):
        bc.Release(of="pin")


@pytest.mark.parametrize(
    ("when", "match"),
    [
        ("pin.force", "this is a number, not a condition"),
        ("pin.torque > 3", "change 'a'.*pin.torque"),
        ("pin == 3", "change 'a'.*'==' is satisfied for no time"),
        ("2 > 1", "change 'a': its condition is constant"),
        ("pin > ", "change 'a'"),
    ],
)
def test_conditions_are_checked(when, match):
    mech = pendulum()
    mech.add_change("a", bc.Release(of="pin", when=when))
    with pytest.raises(bc.MechanismError, match=match):
        bc.simulate(mech, 0.1)


def test_a_live_session_goes_back_to_what_was_in_force():
    from bellcrank.viewer.engine import LiveEngine
    from bellcrank.viewer.settings import Settings

    mech = pendulum()
    mech.add_change("cut", bc.Release(of="pin", when="t > 0.3"))
    engine = LiveEngine(mech, Settings(), perf_counter, background=False)
    for _ in range(25):
        engine.advance(0.02)
    flown = engine.run.state
    for back, falls in ((22, True), (10, False)):
        engine.shown = back
        state = engine.state
        engine.advance(0.02)
        later = engine.run.state
        drop = np.abs(later.position - flight(state, later.time)).max()
        assert (drop < 1e-9) == falls
    while engine.run.time < flown.time - 1e-9:
        engine.advance(0.02)
    assert np.allclose(engine.run.state.position, flown.position, atol=1e-7)


def test_what_cannot_take_changes_says_so():
    mech = pendulum()
    mech.add_drive("motor", "pin", position="t")
    mech.add_change("cut", bc.Release(of="pin", when="t > 1"))
    for what in (
        lambda: bc.kinematics(mech, 1.0),
        lambda: bc.linearize(mech),
        lambda: bc.simulate(mech, 1.0, mode="quasistatic"),
    ):
        with pytest.raises(
            bc.Unsupported, match="cannot take mechanisms that change, which this one does by 'cut'"
        ):
            what()
    with pytest.raises(bc.MechanismError, match="a change has this name"):
        bc.simulate(mech, 0.1, events=bc.Event("cut", "pin"))


def test_changes_follow_names_and_placements():
    mech = pendulum()
    mech.add_change("cut", bc.Release(of="pin", when="pin < -0.3"))
    mech.add_change("then", bc.Release(of="pin", after="cut", when="bob.z < -1"))
    mech.replace(mech.joints["pin"], name="the pin")
    mech.replace(mech.changes["cut"], name="broken")
    kind = mech.changes["broken"].kind
    assert kind.of == ("the pin",)
    assert dict(kind.names) == {"pin": "the pin"}
    assert mech.changes["then"].kind.after == "broken"
    with pytest.raises(bc.MechanismError, match=r"others refer to it: .*change 'broken'"):
        mech.remove(mech.joints["the pin"])
    outer = bc.Mechanism("two")
    for prefix, x in (("a", 0.0), ("b", 5.0)):
        outer.place(mech, prefix, position=(x, 0, 0))
    run = bc.simulate(outer, 0.6, **FINE)
    assert sorted(event.name for event in run.events) == ["a/broken", "b/broken"]


def test_events_read_loads_and_inputs():
    mech = pendulum()
    event = bc.Event("heavy", "pin.force - 40")
    run = bc.simulate(mech, 1.0, events=event, **FINE)
    load = np.linalg.norm(run.joint("pin").force, axis=1)
    assert run.events[0].time == pytest.approx(np.interp(40.0, load[:500], run.time[:500]), abs=1e-5)


@pytest.mark.parametrize("seed", range(8))
def test_random_mechanisms_change_alike(seed):
    assert what_is_wrong(seed) == ""
