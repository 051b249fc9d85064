"""Where mechanisms rest: closed forms, least energy, saddles left, the balance of what is reported."""

import json
import math
from math import cos, sin

import numpy as np
import pytest
from rigs.closed_loops import product, turn
from rigs.swinging import G, Y, parallelogram
from rigs.tensegrity import tensegrity

import bellcrank as bc


def pendulum(angle):
    """A rod of 2 m hinged at its end, so many rad from hanging straight down."""
    mech = bc.Mechanism("pendulum", gravity=(0, 0, -9.81))
    half = (math.pi / 2 - angle) / 2
    rod = mech.add_body(
        "rod",
        3.0,
        (0.01, 1.0, 1.0),
        position=(math.sin(angle), 0, -math.cos(angle)),
        rotation=(math.cos(half), 0, math.sin(half), 0),
        angular_velocity=(0, 1, 0),
    )
    mech.add_joint("pivot", bc.Revolute(), mech.ground.marker(axis=Y), rod.marker((-1, 0, 0), axis=Y))
    return mech


@pytest.mark.parametrize("angle", [0.5, 2.0, 3.1, math.pi])
def test_a_pendulum_hangs_down_even_from_upside_down(angle):
    mech = pendulum(angle)
    report = bc.find_equilibrium(mech)
    rod = mech.bodies["rod"]
    assert rod.position == pytest.approx((0, 0, -1), abs=1e-8)
    assert rod.angular_velocity == (0, 0, 0)
    assert report.energy_before - report.energy == pytest.approx(3 * 9.81 * (1 - math.cos(angle)), abs=1e-6)
    assert report.force <= 1e-10 * report.scale
    assert not bc.find_equilibrium(mech).moves


def test_pinned_bodies_stay_and_the_others_rest_beside_them():
    """The upper of two rods is held where it is; the lower one hangs straight down from it."""
    mech = pendulum(0.7)
    upper = mech.bodies["rod"]
    knee = (2 * math.sin(0.7), 0, -2 * math.cos(0.7))
    lower = mech.add_body("lower", 1.0, (0.01, 0.1, 0.1), position=(knee[0] + 0.5, 0, knee[2]))
    mech.add_joint("knee", bc.Revolute(), upper.world_marker(knee, axis=Y), lower.world_marker(knee, axis=Y))
    joints = set(mech.joints)
    report = bc.find_equilibrium(mech, pinned=upper)
    assert [move.body for move in report.moves if move.distance > 0 or move.angle > 0] == ["lower"]
    assert (mech.bodies["rod"].position, mech.bodies["rod"].rotation) == (upper.position, upper.rotation)
    assert mech.bodies["lower"].position == pytest.approx((knee[0], 0, knee[2] - 0.5), abs=1e-8)
    assert set(mech.joints) == joints
    bc.find_equilibrium(mech)
    assert mech.bodies["rod"].position == pytest.approx((0, 0, -1), abs=1e-8)


def test_pinned_bodies_that_there_are_not():
    with pytest.raises(bc.MechanismError, match="'rot'"):
        bc.find_equilibrium(pendulum(0.7), pinned="rot")


def test_springs_stretch_by_what_they_bear():
    """Weights one below the other on springs, m g / k each, summed; on rails, so that loops hold them too."""
    mech = bc.Mechanism("springs", gravity=(0, 0, -9.81))
    above, expected, loads = mech.ground, 0.0, (3.0, 2.0, 1.0)
    for i, mass in enumerate(loads):
        weight = mech.add_body(f"w{i}", mass, (0.1, 0.1, 0.1), position=(0, 0, -i - 1.0))
        mech.add_joint(f"rail {i}", bc.Prismatic(), mech.ground, weight)
        spring = bc.SpringDamper(stiffness=100.0, damping=1.0, rest_length=1.0)
        mech.add_force(f"s{i}", spring, above.marker(), weight.marker())
        above = weight
    bc.find_equilibrium(mech)
    for i in range(3):
        expected -= 1.0 + 9.81 * sum(loads[i:]) / 100.0
        assert mech.bodies[f"w{i}"].position[2] == pytest.approx(expected, abs=1e-8)


def test_a_hanging_chain_of_links_has_the_least_energy_of_all_its_shapes():
    """Each pin balances: the slopes of the links go up by equal steps from one end to the other."""
    mech = bc.Mechanism("chain", gravity=(0, 0, -9.81))
    before, tip, count = mech.ground, (0.0, 0.0, 0.0), 8
    for i in range(count):
        rod = mech.add_body(f"rod {i}", 1.0, (1e-3, 1 / 12, 1 / 12), position=(i + 0.5, 0, 0))
        mech.add_joint(
            f"pin {i}", bc.Revolute(), before.marker(tip, axis=Y), rod.marker((-0.5, 0, 0), axis=Y)
        )
        before, tip = rod, (0.5, 0.0, 0.0)
    mech.add_joint("end", bc.Revolute(), mech.ground.marker((6, 0, 0), axis=Y), before.marker(tip, axis=Y))
    bc.find_equilibrium(mech)
    slopes = []
    for i in range(count):
        w, _, y, _ = mech.bodies[f"rod {i}"].rotation
        slopes.append(math.tan(-2.0 * math.atan2(y, w)))
    steps = np.diff(slopes)
    assert steps == pytest.approx(np.full(count - 1, steps[0]), abs=1e-6)
    assert sum(slopes) == pytest.approx(0.0, abs=1e-6)
    assert steps[0] > 0


def test_drives_hold_and_applied_forces_are_balanced():
    """A driven crank stays where its drive has it; a wrench without a potential turns a spring."""
    mech = bc.Mechanism("held", gravity=(0, 0, 0))
    wheel = mech.add_body("wheel", 1.0, (1, 1, 1))
    mech.add_joint("hinge", bc.Revolute(), mech.ground, wheel)
    mech.add_force("spring", bc.TorsionSpring(20.0, 1.0), mech.joints["hinge"])
    mech.add_force("push", bc.Wrench(moment=(0, 0, 5.0)), wheel)
    other = mech.add_body("other", 1.0, (1, 1, 1), position=(3, 0, 0))
    mech.add_joint("axle", bc.Revolute(), mech.ground.marker((3, 0, 0)), other)
    mech.add_drive("motor", joint="axle", position=bc.Harmonic(0.0, 0.0, offset=0.7, slope=2.0))
    bc.find_equilibrium(mech, time=0.1)
    assert 2 * math.asin(mech.bodies["wheel"].rotation[3]) == pytest.approx(0.25, abs=1e-9)
    assert 2 * math.asin(mech.bodies["other"].rotation[3]) == pytest.approx(0.9, abs=1e-9)


def test_what_falls_without_end_is_refused():
    mech = bc.Mechanism("falling")
    stone = mech.add_body("stone", 1.0, (1, 1, 1))
    with pytest.raises(bc.AssemblyError, match="comes to no rest"):
        bc.find_equilibrium(mech, iterations=200)
    assert mech.bodies["stone"] is stone


def test_the_tensegrity_rests_in_the_shape_of_least_energy():
    """From the script's placement and from random ones: the same energy, forces balanced to 1e-10."""
    energies = []
    for seed in range(12):
        mech = tensegrity()
        rng = np.random.default_rng(seed)
        for body in list(mech.bodies.values()) if seed else []:
            mech.replace(
                body,
                position=np.add(body.position, rng.uniform(-8.0, 8.0, 3)),
                rotation=product(np.array(body.rotation), turn(rng, math.pi / 3)),
            )
        report = bc.find_equilibrium(mech)
        assert report.force <= 1e-10 * report.scale
        energies.append(report.energy)
    assert sum(energy <= min(energies) * (1 + 1e-8) + 1e-12 for energy in energies) >= 11


@pytest.mark.parametrize(("seed", "short"), [(1207, 1.8e-11), (1241, 1.4e-7)])
def test_a_stiffness_whose_factors_cancel_is_judged(seed, short):
    """Factors with enough inertia failed where a pivot cancelled, and the least eigenvalue was "inf"."""
    rng = np.random.default_rng(seed)
    missing = float(10 ** rng.uniform(-12, -5))
    assert missing == pytest.approx(short, rel=0.05)
    lengths, masses, g = rng.uniform(0.2, 1, 2), 10 ** rng.uniform(-1, 1, 2), 9.81
    half, across = 0.5 * lengths, masses * lengths**2 / 12
    first, second = (masses[0] * half[0] + masses[1] * lengths[0]) * g, masses[1] * half[1] * g
    upper = rng.uniform(1.2, 3) * second
    lower = first - upper + upper**2 / (upper - second)
    mech, at = bc.Mechanism("upright"), 0.0
    on = mech.ground.marker(axis="y")
    for k, stiffness in enumerate((lower * (1 - missing), upper)):
        inertia = (across[k], across[k], 1e-3 * masses[k] * lengths[k] ** 2)
        rod = mech.add_body(f"rod {k}", masses[k], inertia, com=(0, 0, half[k]), position=(0, 0, at))
        mech.add_joint(f"hinge {k}", bc.Revolute(), on, rod.marker(axis="y"))
        mech.add_force(f"spring {k}", bc.TorsionSpring(stiffness), f"hinge {k}")
        on, at = rod.marker((0, 0, lengths[k]), axis="y"), at + lengths[k]
    report = bc.find_equilibrium(mech, leave_unstable=False)
    assert report.degrees_of_freedom == 2
    assert np.isfinite(report.least_eigenvalue)
    assert report.stability == "unstable"


def crane(angle=0.2, speed=0.0):
    """Two beams on hinges; the first is hoisted, a spring stays the second."""
    mech = bc.Mechanism("crane")
    boom = mech.add_body("boom", mass=50.0, inertia=(1, 20, 20), position=(1.0, 0, 0))
    mech.add_joint("foot", bc.Revolute(), mech.ground.marker(axis=Y), boom.marker((-1, 0, 0), axis=Y))
    mech.add_drive("hoist", "foot", position=f"{-angle} + {speed}*t")
    return mech, boom


def test_the_effort_that_a_drive_must_hold():
    mech, _ = crane(angle=0.2, speed=3.0)
    found = bc.statics(mech)
    # About +y a positive turn lowers the boom: the drive holds against its weight, downhill is positive.
    assert found.drives["hoist"].effort == pytest.approx(-50.0 * G * cos(0.2), rel=1e-12)
    assert found.drives["hoist"].units == ("N m",)
    np.testing.assert_allclose(found.joints["foot"].force, [0, 0, 50.0 * G], atol=1e-9)
    assert found.equilibrium.stability == "fixed"
    later = bc.statics(mech, 0.1)
    assert later.drives["hoist"].effort == pytest.approx(-50.0 * G * cos(0.1), rel=1e-12)
    assert later.position["foot"][0] == pytest.approx(0.1)


def test_the_mechanism_is_left_as_it_is():
    mech = parallelogram()[0]
    mech.add_force("push", bc.Wrench(force=(20.0, 0, 0)), "coupler")
    before = [body.position for body in mech.bodies.values()]
    found = bc.statics(mech)
    assert [body.position for body in mech.bodies.values()] == before
    angle = found.position["left pivot"][0]
    # Virtual work of the push, the coupler's weight and the cranks' halves, over the arm.
    assert 20.0 * cos(angle) == pytest.approx(abs((3.0 + 1.0) * G * sin(angle)), rel=1e-9)
    assert found.at.bodies["coupler"].position != before[0]
    assert found.equilibrium.stability == "stable"
    assert not found.joints["left pivot"].reaction_unique  # three rows too many


def test_reactions_balance_weight():
    mech = parallelogram()[0]
    found = bc.statics(mech)
    up = sum(found.joints[f"{side} pivot"].force for side in ("left", "right"))
    np.testing.assert_allclose(up, [0, 0, 5.0 * G], atol=1e-9)


def test_springs_limits_and_couplings_are_listed():
    mech, boom = crane()
    jib = mech.add_body("jib", mass=20.0, inertia=(1, 5, 5), position=(2.5, 0, 0))
    knee = {"limits": bc.Limit(-0.5, 0.3)}
    mech.add_joint(
        "knee", bc.Revolute(), boom.marker((1, 0, 0), axis=Y), jib.marker((-0.5, 0, 0), axis=Y), **knee
    )
    found = bc.statics(mech)
    # The jib falls onto its stop, which bears its weight about the knee.
    assert found.position["knee"][0] == pytest.approx(0.3, abs=1e-9)
    assert found.limits["knee"].efforts.sum() == pytest.approx(-20.0 * G * 0.5 * cos(0.1), rel=1e-9)
    text = str(found)
    assert "drive hoist" in text
    assert "limit knee" in text
    mech.add_force("stay", bc.TorsionSpring(stiffness=5e3), joint="knee")
    found = bc.statics(mech)
    (effort,) = found.forces["stay"].values()
    assert effort == pytest.approx(-5e3 * found.position["knee"][0])
    assert effort == pytest.approx(-20.0 * G * 0.5 * cos(-0.2 + found.position["knee"][0]), rel=1e-8)
    content = json.loads(json.dumps(found.to_dict()))
    assert content["drives"]["hoist"]["effort"] == found.drives["hoist"].effort
    assert content["stability"] == "stable"


def test_it_is_drawn_with_arrows(tmp_path):
    pytest.importorskip("matplotlib")
    found = bc.statics(crane()[0])
    found.draw(tmp_path / "crane.png", dpi=60)
    assert (tmp_path / "crane.png").stat().st_size > 1000
    with pytest.raises(bc.MechanismError, match="kind of picture"):
        found.draw(tmp_path / "crane.txt")


def test_what_has_no_rest_is_refused():
    mech = bc.Mechanism("stone")
    mech.add_body("stone", mass=1.0, inertia=(1, 1, 1))
    with pytest.raises(bc.AssemblyError, match="comes to no rest"):
        bc.statics(mech, iterations=20)
    with pytest.raises(bc.MechanismError):
        bc.statics(mech, iterations=0)
    with pytest.raises(bc.MechanismError):
        bc.statics("crane")


def test_rests_follow_a_drive_over_whole_turns():
    """Each from the one before, as described there: what a drive prescribes is no position of its own."""
    mech = bc.gallery.four_bar(angle=0.5)
    mech.add_drive("motor", "crank pivot", position=bc.expression.t)
    for time in np.arange(1.0, 9.0):
        rest = bc.statics(mech, float(time))
        assert rest.position["crank pivot"] == pytest.approx([time])
        mech = rest.at
