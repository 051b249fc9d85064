"""The judge passes sound runs of every kind of element, and sees every kind of falsification."""

import numpy as np
import pytest
from rigs import examples, floating
from rigs.upright_linkages import Y, four_bar, slider_crank

import bellcrank as bc
from bellcrank.mechanism import JOINT_KINDS
from bellcrank.trajectory.store import MemoryStore


def arm(mech, name, previous, tip, at, kind):
    body = mech.add_body(name, mass=1.3, inertia=(0.02, 0.09, 0.08), com=(0.05, 0.01, 0.02), position=at)
    mech.add_joint(name, kind, previous.marker(tip, axis=Y), body.marker((-0.5, 0, 0), axis=Y))
    return body


def workshop():
    """Springs, dampers, friction, a rotor, wrenches with functions of time, an offset com."""
    mech = bc.Mechanism("workshop")
    one = arm(mech, "one", mech.ground, (0, 0, 0), (0.5, 0, 0), bc.Revolute())
    two = arm(mech, "two", one, (0.5, 0, 0), (1.5, 0, 0), bc.Universal())
    above = mech.ground.marker((1, 0, 1))
    mech.add_force("spring", bc.SpringDamper(stiffness=50, damping=2.0), above, two.marker((0.3, 0, 0)))
    mech.add_force("torsion", bc.TorsionSpring(stiffness=5, damping=0.1, rest_angle=0.3), "one")
    mech.add_force(
        "friction", bc.JointFriction(viscous=0.1, coulomb=0.5, regularisation_velocity=0.05), "one"
    )
    torque = bc.Harmonic(0.2, 3.0)
    mech.add_force("motor", bc.GearedMotor(ratio=10, rotor_inertia=1e-3, torque=torque, droop=0.01), "one")
    wrench = bc.Wrench(force=(bc.Harmonic(1.0, 2.0), 0.5, 0), moment=(0, 0, 0.1), axes="marker")
    mech.add_force("push", wrench, two.marker((0.1, 0.2, 0.1)))
    mech.add_force("rubber", bc.Bushing(stiffness=(10, 20, 30), damping=(1, 1, 1)), above, two.marker())
    return mech


def gears():
    mech = bc.Mechanism("gears")
    wheels = [
        mech.add_body(n, mass=1.0, inertia=(0.1, 0.2, 0.1), com=(0.1, 0, 0), position=(x, 0, 0))
        for n, x in (("one", 0.0), ("two", 1.0))
    ]
    for wheel in wheels:
        mech.add_joint(
            wheel.name, bc.Revolute(), mech.ground.marker(wheel.position, axis=Y), wheel.marker(axis=Y)
        )
    mech.add_constraint("mesh", bc.Gear(radii=(0.3, 0.7)), *(wheel.marker(axis=Y) for wheel in wheels))
    return mech


def afloat():
    """Two bodies on a spring with a damper, tumbling in free fall."""
    mech = bc.Mechanism("floating")
    one = mech.add_body("one", mass=1, inertia=(1, 2, 2.5), angular_velocity=(1, 2, 3), velocity=(1, 0, 0))
    two = mech.add_body("two", mass=2, inertia=(1, 2, 1.5), position=(1, 0, 0))
    spring = bc.SpringDamper(stiffness=10, damping=1, rest_length=0.5)
    mech.add_force("spring", spring, one.marker((0, 0.1, 0)), two.marker())
    return mech


def stop():
    mech = bc.Mechanism("stop")
    limits = bc.Limit(upper=1.0, restitution=0.5)
    rod = mech.add_body("rod", mass=1.0, inertia=(0.01, 0.08, 0.08), position=(0.5, 0, 0))
    mech.add_joint(
        "pivot", bc.Revolute(), mech.ground.marker(axis=Y), rod.marker((-0.5, 0, 0), axis=Y), limits
    )
    return mech


def screw():
    mech = bc.Mechanism("screw")
    nut = mech.add_body("nut", mass=1.0, inertia=(0.1, 0.1, 0.1))
    mech.add_joint("thread", bc.Screw(pitch=0.2), mech.ground.marker(), nut.marker())
    return mech


@pytest.mark.parametrize(
    "make",
    [workshop, gears, afloat, stop, screw, four_bar, lambda: slider_crank(3.0)],
    ids=lambda f: f.__name__,
)
def test_sound_runs_pass(make):
    verdict = bc.verify(make(), duration=2.0)
    assert verdict.passed, str(verdict)
    assert verdict["balance"].value is not None


def test_momenta_are_judged_where_nothing_holds():
    verdict = bc.verify(afloat())
    assert verdict["momentum"].value < 1e-12
    assert verdict["angular momentum"].value < 1e-7
    with pytest.raises(KeyError, match="balance"):
        _ = bc.verify(four_bar())["momentum"]


def test_energy_is_judged_across_impacts_where_works_were_added_up():
    assert bc.verify(stop(), duration=2.0)["energy"].value < 1e-6
    run = bc.simulate(stop(), 2.0)
    assert bc.verify(run)["energy"].value is None
    assert "impacts" in str(bc.verify(run))
    booked = bc.verify(bc.simulate(stop(), 2.0, ledger=True))
    assert booked["energy"].passed
    assert booked["energy"].value is not None


@pytest.fixture(scope="module")
def sound():
    mech = workshop()
    run = bc.simulate(mech, 1.0, method="dopri5", output_step=0.0025, accelerations=True)
    assert bc.verify(mech, run).passed
    return mech, run


def falsified(run, **changes):
    """The run with sections changed by functions of their values."""
    sections = {name: np.array(run.store.read(name)) for name in run.layout.shapes}
    for name, change in changes.items():
        sections[name] = change(sections[name])
    return bc.Trajectory(run.layout, MemoryStore(sections), run.status, run.statistics)


def scaled(factor):
    return lambda values: factor * values


@pytest.mark.parametrize(
    ("change", "check"),
    [
        ({"position": lambda p: p + np.array([[0, 0, 0], [1e-5, 0, 0]])}, "constraints: position"),
        ({"velocity": scaled(1.0001)}, "constraints: velocity"),
        ({"angular_velocity": scaled(1.001)}, "constraints: velocity"),
        ({"acceleration": scaled(1.01)}, "constraints: acceleration"),
        ({"acceleration": scaled(1.0001)}, "balance"),
        ({"angular_acceleration": scaled(1.0001)}, "balance"),
        ({"reactions": scaled(1.0001)}, "balance"),
        ({"multipliers": scaled(1.001)}, "balance"),
        ({"kinetic": scaled(1.0001)}, "energy record"),
        ({"potential": lambda e: e + 1e-3}, "energy record"),
        ({"time": scaled(1.01)}, "energy"),
    ],
    ids=lambda value: value if isinstance(value, str) else "+".join(value),
)
def test_falsified_runs_fail(sound, change, check):
    mech, run = sound
    verdict = bc.verify(mech, falsified(run, **change))
    assert not verdict[check].passed, str(verdict)


def test_a_moment_where_the_joint_lets_go_is_seen(sound):
    """A reaction with a part along the hinge does work: the forces may balance, the joint is not ideal."""
    mech, run = sound

    def with_torque(reactions):
        reactions[:, 0, :3] += (0.0, 0.5, 0.0)
        return reactions

    assert not bc.verify(mech, falsified(run, reactions=with_torque))["ideal joints"].passed


def test_a_method_that_loses_energy_is_caught():
    mech = four_bar()
    rough = bc.simulate(mech, 2.0, method="semi_implicit_euler", step=5e-3, accelerations=True)
    verdict = bc.verify(mech, rough)
    assert not verdict["energy"].passed
    assert verdict["constraints: position"].passed
    assert verdict["balance"].passed


def test_what_was_not_recorded_is_skipped_and_said():
    mech = four_bar()
    verdict = bc.verify(mech, bc.simulate(mech, 0.5))
    assert verdict.passed
    assert verdict["balance"].value is None
    assert "skipped balance: accelerations and reactions were not recorded" in str(verdict)


def test_a_run_of_another_mechanism_is_refused():
    with pytest.raises(bc.MechanismError, match="another mechanism"):
        bc.verify(four_bar(), bc.simulate(screw(), 0.1))


def test_bodies_are_balanced_by_the_efforts_that_were_recorded():
    """Nothing is fitted: the force at the teeth must be the one that moves the wheels."""
    mech = gears()
    mech.add_force("torque", bc.Wrench(moment=(0, 2.0, 0)), mech.bodies["one"])
    run = bc.simulate(mech, 0.2, method="dopri5", accelerations=True)
    assert bc.verify(mech, run)["balance"].passed
    assert np.max(np.abs(run.constraint("mesh").effort)) > 1.0
    wrong = bc.verify(mech, falsified(run, multipliers=scaled(1.0001)))
    assert not wrong["balance"].passed


def test_a_spline_curve_is_no_false_alarm():
    """At its points third derivatives jump, and differences of its rows are wrong by as much."""
    mech = bc.Mechanism("wire", gravity=(0, 0, -9.81))
    bead = mech.add_body("bead", 1.0, (0.1, 0.1, 0.1), position=(0, 0, 0))
    points = ((-2, 0, 1), (-1, 0, 0.1), (0, 0, 0), (1, 0, 0.3), (2, 0, 2))
    mech.add_joint("wire", bc.PointOnCurve(points), mech.ground, bead)
    verdict = bc.verify(mech, duration=0.5, samples=20)
    assert verdict.passed, str(verdict)


@pytest.mark.parametrize("side", [0.3, -0.3])
def test_lines_of_centres_may_pass_half_a_turn(side):
    """A planet on a carrier: the azimuth and the planet's angle jump by a turn in the same difference."""
    mech = bc.Mechanism("epicyclic", gravity=(0, 0, 0))
    arm = mech.add_body("arm", 2.0, (0.01, 0.03, 0.03))
    sun = mech.add_body("sun", 1.0, (2e-3, 2e-3, 4e-3))
    planet = mech.add_body("planet", 1.2, (1e-3, 1e-3, 2e-3), position=(side, 0, 0))
    mech.add_joint("A", bc.Revolute(), mech.ground, arm, velocity=3.0)
    mech.add_joint("S", bc.Revolute(), mech.ground, sun, velocity=-1.0)
    mech.add_joint("P", bc.Revolute(), arm.marker((side, 0, 0)), planet)
    mech.add_constraint("mesh", bc.Gear(radii=(0.2, 0.1)), sun, planet)
    verdict = bc.verify(mech, duration=0.1)
    assert verdict.passed, str(verdict)


def judged(machine):
    return bc.verify(machine.mechanism, duration=0.3, samples=3, states=1, formulation="lagrange")


@pytest.mark.parametrize("name", list(JOINT_KINDS))
def test_joints(name):
    verdict = judged(floating.pair(examples.joint(name)))
    assert verdict.passed, str(verdict)


@pytest.mark.parametrize(
    ("kind", "letters"), [pytest.param(k, s, id=i) for i, k, s in examples.constraints()]
)
def test_constraints(kind, letters):
    verdict = judged(floating.carried(kind, letters))
    assert verdict.passed, str(verdict)


@pytest.mark.parametrize(("kind", "letters"), [pytest.param(k, s, id=i) for i, k, s in examples.forces()])
def test_forces(kind, letters):
    verdict = judged(floating.forced(kind, letters))
    assert verdict.passed, str(verdict)
    assert verdict["energy"].value is not None


@pytest.mark.parametrize("name", list(examples.FUNCTIONS_OF_TIME))
def test_drives(name):
    verdict = judged(floating.led(examples.FUNCTIONS_OF_TIME[name]))
    assert verdict.passed, str(verdict)


@pytest.mark.parametrize("name", list(examples.PATHS))
def test_paths(name):
    verdict = judged(floating.along(*examples.PATHS[name]))
    assert verdict.passed, str(verdict)
