"""How much more friction would jam, and what equations leave open of what holds, found again from frames."""

import numpy as np
import pytest
from rigs.rubbing import PINS, four_bar, jack, klein, pushed_drawer, rub, slider_crank

import bellcrank as bc
from bellcrank.errors import Unsupported


@pytest.mark.parametrize("coefficient", [0.1, 0.3, 0.7])
def test_the_masses_on_two_guides_of_painleve_and_klein(coefficient):
    """By coefficients 2/tan(70 degrees), which is 0.7279, of a pull that presses on."""
    run = bc.simulate(klein(coefficient, -1.0), 0.01, method="adams", tolerance=1e-10)
    expected = 2.0 / np.tan(np.radians(70.0)) / coefficient
    np.testing.assert_allclose(run.friction("rub").jam_margin, expected, rtol=1e-9)
    assert round(2.0 / np.tan(np.radians(70.0)), 4) == 0.7279


def test_inputs_act_as_they_did():
    mech = klein(0.3, 0.0)
    mech.replace(mech.forces["pull"], kind=bc.JointMotor(bc.Input("pull", 1.0, unit="N")))
    with bc.start(mech, method="adams", tolerance=1e-10, duration=0.02) as run:
        run.advance(0.01)
        run.inputs["pull"] = -1.0
        run.advance(0.01)
        found = run.stop()
    margin = found.friction("rub").jam_margin
    assert found.time[-1] == pytest.approx(0.02)
    assert np.all(np.isinf(margin[found.time < 0.01]))
    np.testing.assert_allclose(margin[found.time > 0.0101], 2.0 / np.tan(np.radians(70.0)) / 0.3, rtol=1e-9)


def test_a_pull_that_takes_load_off_never_jams():
    run = bc.simulate(klein(0.3, 1.0), 0.1, method="adams", tolerance=1e-10)
    assert np.all(np.isinf(run.friction("rub").jam_margin))


@pytest.mark.parametrize("offset", [0.2, 0.6])
def test_a_drawer_that_is_pushed_does_not_jam(offset):
    """What pushes it is a given force: its friction moves nothing that loads it."""
    run = bc.simulate(pushed_drawer(offset), 0.1)
    margin = run.friction("rub").jam_margin
    assert np.all(np.isinf(margin[run.time > 0.0]))


def with_motors(coefficient, radius, **start):
    """What friction there would be (4,) at the start, if efforts (4,) stood in place of friction."""
    mech = slider_crank(**start)
    start = bc.simulate(mech, 1e-3)
    rates = [start.joint(joint).velocity[0, 0] for joint in JOINTS]
    for joint in JOINTS:
        mech.remove(mech.forces[f"rub {joint}"])
        mech.add_force(f"rub {joint}", bc.JointMotor(bc.Input(f"load_{joint}")), joint)
    system = bc.prepare(mech, "lagrange")

    def friction(loads):
        system.inputs.update(
            {f"load_{j}": -np.sign(v) * f for j, v, f in zip(JOINTS, rates, loads, strict=True)}
        )
        at = system.accelerate(start.at(0.0))
        reach = radius * np.sin(np.arctan(coefficient))
        pins = [reach * np.linalg.norm(at.joint(pin).force[:2]) for pin in "ABC"]
        press, tilt = at.joint("guide").force[1], at.joint("guide").moment[2] / 0.1
        return np.array([*pins, coefficient * (abs(press / 2 + tilt) + abs(press / 2 - tilt))])

    return friction


JOINTS = ("A", "B", "C", "guide")


@pytest.mark.parametrize(("angle", "speed"), [(2.9, 6.0), (0.1, 60.0), (1.3, -6.0)])
@pytest.mark.parametrize(("coefficient", "radius"), [(0.3, 0.03), (0.6, 0.05), (0.9, 0.05)])
def test_a_slider_crank_as_differences_of_its_reactions_have_it(coefficient, radius, angle, speed):
    mech = slider_crank(pins=coefficient, slide=coefficient, static=1.0, angle=angle, speed=speed)
    for pin in "ABC":
        mech.replace(mech.forces[f"rub {pin}"], kind=rub(bc.Journal(radius, coefficient)))
    run = bc.simulate(mech, 1e-4, output_step=1e-4)
    friction = with_motors(coefficient, radius, angle=angle, speed=speed)
    loads = np.zeros(4)
    for _ in range(200):
        loads = friction(loads)
    np.testing.assert_allclose(
        loads, [abs(run.force(f"rub {j}").effort[0]) for j in JOINTS], rtol=1e-9, atol=1e-9
    )
    step = 1e-4 * np.max(loads)
    slopes = [(friction(loads + d) - friction(loads - d)) / (2.0 * step) for d in step * np.eye(4)]
    values = np.linalg.eigvals(np.transpose(slopes))
    expected = 1.0 / np.max(values[np.abs(values.imag) < 1e-9].real)
    for joint in JOINTS:
        assert run.friction(f"rub {joint}").jam_margin[0] == pytest.approx(expected, rel=1e-6)


def test_where_it_holds_there_is_none():
    run = bc.simulate(jack(0.005), 0.1)
    assert np.all(np.isnan(run.friction("rub").jam_margin))
    assert run.friction("rub").unique.all()


def test_pins_that_hold_together_are_one_of_many_and_slip_alone():
    run = bc.simulate(four_bar(PINS, 6.0), 5.0, tolerance=1e-10, output_step=0.05)
    for pin in PINS:
        friction = run.friction(f"friction {pin}")
        np.testing.assert_array_equal(friction.unique, ~friction.holds)


def journals_in_space():
    """A linkage on journals with length, whose tilting moments redundant pins share, and one without."""
    mech = four_bar({}, 1.0)
    mech.gravity = (0.0, -9.81, 0.0)
    mech.add_force("wide", rub(bc.Journal(0.02, 0.1, length=0.1)), "B")
    mech.add_force("flat", rub(bc.Journal(0.02, 0.1)), "C")
    return mech


def test_a_load_that_redundant_pins_share_is_named():
    run = bc.simulate(journals_in_space(), 0.01)
    (note,) = run.statistics["friction"].split("; of all")[:1]
    assert note.startswith(
        "friction of 'wide' depends on how joint 'A', joint 'B', joint 'C', joint 'D' share"
    )
    assert "planar=True" in run.statistics["friction"]
    assert "'flat'" not in run.statistics["friction"]
    assert (
        "friction"
        not in bc.simulate(journals_in_space(), 0.01, formulation="lagrange", planar=True).statistics
    )
    assert bc.statics(journals_in_space()).equilibrium.notes == (run.statistics["friction"],)


def test_where_nothing_is_redundant_there_is_nothing_to_say():
    mech = bc.Mechanism("arm", gravity=(0.0, -9.81, 0.0))
    arm = mech.add_body("arm", 1.0, (0.1, 0.1, 0.1), com=(0.2, 0.0, 0.1))
    mech.add_joint("pin", bc.Revolute(), mech.ground.marker(), arm.marker())
    mech.add_force("wide", rub(bc.Journal(0.02, 0.1, length=0.1)), "pin")
    assert "friction" not in bc.simulate(mech, 0.01).statistics
    mech.add_drive("motor", "pin", position=0.0)
    note = bc.simulate(mech, 0.01).statistics["friction"]
    assert note.startswith("friction of 'wide' is borne by drive 'motor', which moves its coordinate")


def stopping_drive(formulation):
    """A drive that turns a crank of a linkage with friction in its pins for half a second."""
    mech = four_bar(PINS, 0.4)
    way = bc.Table([-1.0, -0.5, 0.0, 0.5, 0.6, 2.0], [0.4, 0.6, 0.8, 1.0, 1.0, 1.0], interpolation="pchip")
    mech.add_drive("motor", "A", position=way)
    return bc.simulate(mech, 1.0, formulation=formulation, output_step=0.05)


@pytest.mark.parametrize("formulation", ["lagrange", "recursive", "dca"])
def test_a_drive_that_stands_still_and_friction_are_open(formulation):
    """While it moves, friction is known, and the effort of the drive with it."""
    run = stopping_drive(formulation)
    moves, rests = run.time < 0.49, run.time > 0.61
    assert run.drive("motor").unique[moves].all()
    assert not run.drive("motor").unique[rests].any()
    for pin in PINS:
        friction = run.friction(f"friction {pin}")
        assert friction.unique[moves].all()
        assert not friction.unique[rests].any()
    assert bc.verify(run).passed


def test_a_changing_mechanism_is_refused():
    mech = jack(0.005)
    mech.add_force("weight", bc.Wrench(force=(0.0, 0.0, -1.0)), mech.bodies["wheel"])
    mech.add_change("off", bc.Release(of="weight", when="t > 0.05"))
    run = bc.simulate(mech, 0.1)
    with pytest.raises(Unsupported, match="whose mechanism changes"):
        run.friction("rub").jam_margin  # noqa: B018
