"""Assembly: corrects what is off, from however far, leaves alone what fits, names what cannot be."""

import math
from dataclasses import replace

import numpy as np
import pytest
from rigs.closed_loops import largest_gap, random_loop, shaken, stewart_platform
from rigs.linkages import rods_that_contradict, upright_bar
from scipy.spatial.transform import Rotation

import bellcrank as bc
from bellcrank.compile.compile import compile_mechanism
from bellcrank.compile.initial import assembled
from bellcrank.gallery import bricard_linkage, n_four_bar

Y = (0.0, 1.0, 0.0)


def four_bar():
    """Crank 1, coupler sqrt(5), rocker sqrt(5): revolute joints about y, so three rows are redundant."""
    mech = bc.Mechanism("four-bar")
    a, b, c, d = (0, 0, 0), (0, 0, 1), (2, 0, 2), (3, 0, 0)
    (crank, l1), (coupler, l2), (rocker, l3) = (
        upright_bar(mech, name, p, q) for name, p, q in (("crank", a, b), ("coupler", b, c), ("rocker", d, c))
    )
    ends = {
        "A": (mech.ground.marker(a, axis=Y), crank.marker((-l1 / 2, 0, 0), axis=Y)),
        "B": (crank.marker((l1 / 2, 0, 0), axis=Y), coupler.marker((-l2 / 2, 0, 0), axis=Y)),
        "C": (coupler.marker((l2 / 2, 0, 0), axis=Y), rocker.marker((l3 / 2, 0, 0), axis=Y)),
        "D": (mech.ground.marker(d, axis=Y), rocker.marker((-l3 / 2, 0, 0), axis=Y)),
    }
    for name, (one, two) in ends.items():
        mech.add_joint(name, bc.Revolute(), one, two)
    return mech


def test_what_fits_is_left_exactly_as_it_is():
    mech = four_bar()
    before = dict(mech.bodies)
    report = bc.assemble(mech)
    assert not report.changed
    assert report.moves == ()
    assert dict(mech.bodies) == before


@pytest.mark.parametrize(("shift", "turn"), [(1e-6, 1e-6), (0.01, 0.01), (0.1, 0.1), (0.4, 0.5)])
def test_a_displaced_linkage_is_mended(shift, turn):
    """Also out of its plane, where the redundant rows contradict each other until it is mended."""
    mech = four_bar()
    rng = np.random.default_rng(3)
    for body in list(mech.bodies.values()):
        axis = rng.standard_normal(3)
        axis *= math.sin(turn / 2) / np.linalg.norm(axis)
        w, v = body.rotation[0], np.array(body.rotation[1:])
        real = math.cos(turn / 2) * w - axis @ v
        rest = math.cos(turn / 2) * v + w * axis + np.cross(axis, v)
        mech.replace(
            body, position=np.array(body.position) + shift * rng.standard_normal(3), rotation=(real, *rest)
        )
    report = bc.assemble(mech)
    assert report.changed
    assert largest_gap(mech) < 1e-9
    moved = {move.body: move for move in report.moves}
    assert set(moved) == {"crank", "coupler", "rocker"}
    assert max(move.distance for move in report.moves) < 6.0 * (shift + turn)
    assert "crank" in str(report)


def test_only_what_must_move_moves():
    """Two pendulums that have nothing to do with each other: the one that fits keeps its numbers."""
    mech = bc.Mechanism("two")
    for name, offset in (("good", 0.0), ("bad", 0.1)):
        rod = mech.add_body(name, mass=1.0, inertia=(0.1, 0.1, 0.1), position=(1.0 + offset, 0, 0))
        mech.add_joint(name, bc.Revolute(), mech.ground.marker(axis=Y), rod.marker((-1.0, 0, 0), axis=Y))
    good = mech.bodies["good"]
    bc.assemble(mech)
    assert mech.bodies["good"] == good
    assert largest_gap(mech) < 1e-10


def test_heavy_bodies_move_less():
    """Two balls 1 m apart on a rod of 1.1 m: the shift goes by the inverse of the masses."""
    mech = bc.Mechanism("balls", gravity=(0, 0, 0))
    light = mech.add_body("light", mass=1.0, inertia=(1, 1, 1))
    heavy = mech.add_body("heavy", mass=9.0, inertia=(1, 1, 1), position=(1.0, 0, 0))
    mech.add_joint("rod", bc.Distance(1.1), light.marker(), heavy.marker())
    bc.assemble(mech)
    assert mech.bodies["light"].position[0] == pytest.approx(-0.09, abs=1e-9)
    assert mech.bodies["heavy"].position[0] == pytest.approx(1.01, abs=1e-9)


def test_velocities_are_mended_at_least_cost():
    """A rod hinged at its end, its com pushed across: mass and inertia share,  w = m l v / (m l^2 + I)."""
    mech = bc.Mechanism("rod")
    rod = mech.add_body("rod", mass=2.0, inertia=(0.1, 0.3, 0.3), position=(0.5, 0, 0), velocity=(0, 0, 1.0))
    mech.add_joint("pivot", bc.Revolute(), mech.ground.marker(axis=Y), rod.marker((-0.5, 0, 0), axis=Y))
    report = bc.assemble(mech)
    spin = 2.0 * 0.5 * 1.0 / (2.0 * 0.25 + 0.3)
    assert mech.bodies["rod"].angular_velocity == pytest.approx((0, -spin, 0), abs=1e-12)
    assert mech.bodies["rod"].velocity == pytest.approx((0, 0, 0.5 * spin), abs=1e-12)
    assert report.drift_before == pytest.approx(1.0)


def test_a_drive_sets_position_and_velocity():
    mech = four_bar()
    mech.add_drive("motor", joint="A", position=bc.Harmonic(0.0, 0.0, offset=0.3 - math.pi / 2, slope=2.0))
    report = bc.assemble(mech)
    system = bc.prepare(mech)
    values = system.core.coordinates()
    joint = system.model.joint("A")
    assert values[0][joint.coordinates[0]] == pytest.approx(0.3 - math.pi / 2, abs=1e-9)
    assert values[1][joint.coordinates[0]] == pytest.approx(2.0, abs=1e-9)
    assert report.method == "projection"


def test_the_time_of_assembly_is_the_drives_time():
    mech = four_bar()
    mech.add_drive("motor", joint="A", position=bc.Harmonic(0.0, 0.0, offset=-math.pi / 2, slope=0.1))
    bc.assemble(mech, time=2.0)
    model = compile_mechanism(mech, 2.0)
    system = bc.prepare(model)
    assert system.core.coordinates()[0][model.joint("A").coordinates[0]] == pytest.approx(0.2 - math.pi / 2)


def test_values_from_the_start_do_not_hold_bodies_back():
    """A cable without a length takes the one that comes out; it must not pull the mended body away."""
    mech = bc.Mechanism("cable")
    ball = mech.add_body("ball", mass=1.0, inertia=(1, 1, 1), position=(1.0, 0.2, 0.0))
    mech.add_joint("rail", bc.Prismatic(), mech.ground.marker(axis=(1, 0, 0)), ball.marker(axis=(1, 0, 0)))
    mech.add_joint("rod", bc.Distance(), mech.ground.marker((0, 0, 3.0)), ball.marker())
    bc.assemble(mech)
    assert mech.bodies["ball"].position == pytest.approx((1.0, 0.0, 0.0), abs=1e-9)
    assert largest_gap(mech) < 1e-9


def test_a_violated_limit_is_mended():
    mech = bc.Mechanism("stop")
    rod = mech.add_body("rod", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(0.5, 0, 0))
    mech.add_joint(
        "pivot",
        bc.Revolute(),
        mech.ground.marker(axis=Y),
        rod.marker((-0.5, 0, 0), axis=Y),
        bc.Limit(lower=0.3),
    )
    bc.assemble(mech)
    system = bc.prepare(mech)
    assert system.core.coordinates()[0][0] == pytest.approx(0.3, abs=1e-8)


def test_a_far_start_is_found_by_damping():
    """The coupler starts 2 m away and turned over: plain corrections fly off."""
    mech = four_bar()
    mech.replace(mech.bodies["coupler"], position=(2.0, 1.0, 3.0), rotation=(0.0, 0.6, 0.0, 0.8))
    report = bc.assemble(mech)
    assert report.method in ("damped Gauss-Newton", "continuation")
    assert largest_gap(mech) < 1e-9


def test_a_long_chain_between_two_points_is_found_without_dense_matrices():
    """400 links of 10 mm laid out straight must hang between points 3 m apart: 2000 rows and more."""
    mech = bc.Mechanism("chain")
    previous, tip = mech.ground, (0.0, 0.0, 0.0)
    count, length = 400, 0.01
    for i in range(count):
        rod = mech.add_body(
            f"rod {i}",
            mass=0.01,
            inertia=(1e-7, 1e-7, 1e-7),
            position=(length * (i + 0.5), 0, 1e-4 * (i % 2)),
        )
        mech.add_joint(
            f"pivot {i}", bc.Revolute(), previous.marker(tip, axis=Y), rod.marker((-length / 2, 0, 0), axis=Y)
        )
        previous, tip = rod, (length / 2, 0.0, 0.0)
    mech.add_joint("end", bc.Spherical(), mech.ground.marker((3.0, 0, 0)), previous.marker(tip))
    report = bc.assemble(mech)
    model, again = assembled(compile_mechanism(mech))
    assert report.error < 1e-8
    assert not again.changed
    assert model.row_count > 1500


def test_what_cannot_be_met_is_named_worst_first():
    """The rocker's foot is moved out of reach: links of 1 + sqrt 5 + sqrt 5 span 5.47 m, not 9 m."""
    mech = four_bar()
    rocker = mech.bodies["rocker"]
    old = mech.joints["D"]
    mech.remove(old)
    foot = mech.ground.marker((9.0, 0, 0), axis=Y)
    mech.add_joint("D", bc.Revolute(), foot, old.marker_2)
    before = mech.bodies["rocker"]
    with pytest.raises(bc.AssemblyError, match="cannot be assembled") as caught:
        bc.assemble(mech)
    gaps = [gap for _, gap in caught.value.violations]
    assert gaps == sorted(gaps, reverse=True)
    assert 0.5 < gaps[0] < 9.0
    assert all(name.startswith("joint ") for name, _ in caught.value.violations)
    assert caught.value.violations[0][0] in str(caught.value)
    assert mech.bodies["rocker"] == before == rocker


def test_drives_that_contradict_each_other_in_velocity_are_named():
    """Two drives that agree in position at the start but not in speed."""
    mech = four_bar()
    mech.add_drive("fast", joint="A", position=bc.Harmonic(0.0, 0.0, offset=-math.pi / 2, slope=2.0))
    model = compile_mechanism(mech)
    start = model.initial
    rocker = assembled(model)[0]
    system = bc.prepare(rocker)
    angle = system.core.coordinates()[0][model.joint("D").coordinates[0]]
    mech.add_drive("slow", joint="D", position=bc.Harmonic(0.0, 0.0, offset=float(angle), slope=-3.0))
    with pytest.raises(bc.AssemblyError, match="velocities") as caught:
        bc.assemble(mech)
    assert {"drive 'fast'", "drive 'slow'"} <= {name for name, _ in caught.value.violations}
    assert start.time == 0.0


def test_simulate_mends_for_itself_only():
    mech = four_bar()
    body = mech.bodies["crank"]
    mech.replace(body, position=tuple(np.add(body.position, (0.01, 0, 0))))
    moved = dict(mech.bodies)
    run = bc.simulate(mech, 0.05)
    assert np.max(run.violation.position) < 1e-9
    assert dict(mech.bodies) == moved
    assert replace(moved["crank"], position=body.position) == body


Z = (0.0, 0.0, 1.0)


def assembled_of(make, count):
    """How many of so many mechanisms, shaken at random, are assembled to 1e-10."""
    good = 0
    for seed in range(count):
        rng = np.random.default_rng(seed)
        mech = shaken(make(rng), rng)
        try:
            bc.assemble(mech)
        except bc.AssemblyError:
            continue
        good += largest_gap(mech) < 1e-10
    return good


@pytest.mark.parametrize("freedoms", [6, 7])
def test_random_loops_close_from_random_placements(freedoms):
    """Positions off by up to one link, turns by up to 60 degrees: at least 95 of 100."""
    assert assembled_of(lambda rng: random_loop(rng, freedoms), 100) >= 95


@pytest.mark.parametrize("make", [lambda rng: bricard_linkage(), lambda rng: stewart_platform()])
def test_overconstrained_and_parallel_mechanisms_close_from_random_placements(make):
    assert assembled_of(make, 20) >= 19


@pytest.mark.parametrize("scale", [1e-3, 1e3])
def test_size_does_not_matter(scale):
    """Bricard's mechanism of a millimetre and of a kilometre, shaken in proportion."""
    for seed in range(5):
        mech = shaken(
            bricard_linkage(scale, thickness=0.1 * scale), np.random.default_rng(seed), distance=scale
        )
        bc.assemble(mech)
        assert largest_gap(mech) < 1e-10 * max(1.0, scale)


@pytest.mark.parametrize("mass", [1e-4, 1.0, 1e4])
def test_the_configuration_found_is_the_nearest(mass):
    """A pendulum in its plane, placed at p0 and t0, goes where m |p - p0|^2 + 2 I (1 - cos(t - t0)) is least:
    tan t = (m l y0 + I sin t0) / (m l x0 + I cos t0)."""
    inertia, length = 0.3, 0.5
    for x, y, angle in ((3.0, -2.0, 0.4), (-0.4, 0.3, 2.0), (0.2, -0.9, -1.2)):
        mech = bc.Mechanism("pendulum")
        rod = mech.add_body(
            "rod",
            mass=mass,
            inertia=(0.2, 0.2, inertia),
            position=(x, y, 0.7),
            rotation=(math.cos(angle / 2), 0, 0, math.sin(angle / 2)),
        )
        mech.add_joint(
            "pivot", bc.Revolute(), mech.ground.marker(axis=Z), rod.marker((-length, 0, 0), axis=Z)
        )
        bc.assemble(mech)
        expected = math.atan2(
            mass * length * y + inertia * math.sin(angle), mass * length * x + inertia * math.cos(angle)
        )
        assert mech.bodies["rod"].position == pytest.approx(
            (length * math.cos(expected), length * math.sin(expected), 0.0), abs=1e-5
        )


def test_a_body_without_a_part_in_the_trouble_keeps_its_place():
    """One loop of two must be searched for with restarts; the other, and a free body, stay as they are."""
    mech = bc.Mechanism("two")
    mech.place(n_four_bar(1), "left")
    mech.place(n_four_bar(1), "right", position=(5, 0, 0))
    free = mech.add_body("free", mass=1.0, inertia=(1, 1, 1), position=(9, 9, 9))
    kept = {name: body for name, body in mech.bodies.items() if not name.startswith("left")}
    body = mech.bodies["left/crank 0"]
    mech.replace(body, position=(4.0, -3.0, 2.0), rotation=(0.0, 0.6, 0.8, 0.0))
    report = bc.assemble(mech)
    assert {move.body.split("/")[0] for move in report.moves} == {"left"}
    assert all(mech.bodies[name] == body for name, body in kept.items())
    assert mech.bodies["free"] is free


def test_pinned_bodies_keep_their_placement_exactly():
    mech = n_four_bar(1, angle=1.0)
    moved = mech.bodies["crank 0"]
    mech.replace(moved, position=np.add(moved.position, (0.1, -0.05, 0.0)))
    pinned = mech.bodies["crank 1"]
    report = bc.assemble(mech, pinned=pinned)
    assert mech.bodies["crank 1"].position == pinned.position
    assert mech.bodies["crank 1"].rotation == pinned.rotation
    assert report.pinned == ("crank 1",)
    assert largest_gap(mech) < 1e-10


def test_bodies_pinned_where_they_cannot_stay_are_named():
    mech = n_four_bar(1)
    body = mech.bodies["crank 0"]
    mech.replace(body, position=np.add(body.position, (0.1, 0.0, 0.0)))
    before = dict(mech.bodies)
    with pytest.raises(bc.AssemblyError, match=r"pinned: 'crank 0'") as caught:
        bc.assemble(mech, pinned="crank 0")
    assert caught.value.violations
    assert dict(mech.bodies) == before
    with pytest.raises(bc.MechanismError, match="crank 0"):
        bc.assemble(mech, pinned=["crnk 0"])


def test_a_pinned_body_is_not_carried_by_its_joint():
    """The joint is given 0.5 rad, its body is pinned at zero: the message names both, and the gap."""
    mech = bc.Mechanism("arm")
    rod = mech.add_body("rod", 1.0, (0.1, 0.1, 0.1))
    mech.add_joint("hinge", bc.Revolute(), mech.ground, rod, position=0.5)
    with pytest.raises(bc.AssemblyError, match="position of joint 'hinge'") as caught:
        bc.assemble(mech, pinned="rod")
    assert caught.value.violations[0][1] == pytest.approx(0.5, abs=1e-6)


def test_redundant_rows_are_reported_with_what_they_leave():
    """A plane four-bar with revolute joints in space: three rows say the same as others."""
    mech = shaken(n_four_bar(1), np.random.default_rng(1), 0.1, 0.1)
    report = bc.assemble(mech)
    assert len(report.redundant) == 3
    assert all(row.element.startswith("joint ") for row in report.redundant)
    assert max(row.residual for row in report.redundant) < 1e-10
    assert "redundant" in str(report)


def test_an_impossible_four_bar_is_refused_with_the_gap_of_each_joint():
    """Links that reach 3 m, feet 5 m apart: stretched out, the four joints share the 2 m evenly."""
    mech = bc.Mechanism("impossible", gravity=(0, 0, 0))
    rods = [
        mech.add_body(f"rod {i}", 1.0, (0.01, 0.1, 0.1), position=(i + 0.5, 0, 0.1 * i)) for i in range(3)
    ]
    ends = [mech.ground.marker(axis=Y)]
    for rod in rods:
        ends += [rod.marker((-0.5, 0, 0), axis=Y), rod.marker((0.5, 0, 0), axis=Y)]
    ends.append(mech.ground.marker((5.0, 0, 0), axis=Y))
    for i in range(4):
        mech.add_joint(f"pin {i}", bc.Revolute(), ends[2 * i], ends[2 * i + 1])
    before = dict(mech.bodies)
    with pytest.raises(bc.AssemblyError, match="pin 3") as caught:
        bc.assemble(mech)
    assert dict(caught.value.violations) == pytest.approx(
        {f"joint 'pin {i}'": 0.5 for i in range(4)}, abs=1e-6
    )
    assert dict(mech.bodies) == before


def test_constraints_that_contradict_each_other_are_named():
    with pytest.raises(bc.AssemblyError) as caught:
        bc.assemble(rods_that_contradict())
    assert dict(caught.value.violations) == pytest.approx(
        {"joint 'short'": 0.1, "joint 'long'": 0.1}, abs=1e-9
    )


def test_expressions_stay_where_assembly_does_not_move_and_are_reported_where_it_does():
    mech = bc.Mechanism("parametric")
    reach = mech.add_parameter("reach", 1.0, "m")
    good = mech.add_body("good", 1.0, (0.1, 0.1, 0.1), position=(reach, 0, 0))
    bad = mech.add_body("bad", 1.0, (0.1, 0.1, 0.1), position=(reach, 0, 0.2 * reach))
    mech.add_joint("one", bc.Revolute(), mech.ground.marker(axis=Y), good.marker((-reach, 0, 0), axis=Y))
    rail = mech.ground.marker(axis=(1, 0, 0))
    mech.add_joint("two", bc.Prismatic(), rail, bad.marker(axis=(1, 0, 0)))
    report = bc.assemble(mech)
    assert mech.bodies["good"] is good
    x, y, z = mech.bodies["bad"].position
    assert x is bad.position[0]
    assert (y, z) == pytest.approx((0.0, 0.0), abs=1e-12)
    (note,) = report.notes
    assert "'bad'" in note
    assert "position" in note
    assert str(bad.position[2]) in note


def test_a_velocity_that_gives_way_to_its_joints_is_reported():
    mech = bc.Mechanism("arm")
    rod = mech.add_body("rod", 1.0, (0.1, 0.1, 0.1), angular_velocity=(0, 0, 2.0))
    mech.add_joint("hinge", bc.Revolute(), mech.ground, rod, velocity=3.0)
    run = bc.simulate(mech, 1e-3)
    report = bc.assemble(mech)
    (note,) = report.notes
    assert "'rod'" in note
    assert "velocity of joint 'hinge'" in note
    assert run.statistics["assembly_notes"] == note
    assert mech.bodies["rod"].angular_velocity == pytest.approx((0, 0, 3.0), abs=1e-12)
    assert bc.assemble(mech).notes == ()


@pytest.mark.parametrize("seed", range(4))
def test_rows_that_contradict_each_other_by_rounding_are_met_once(seed):
    """A plane four-bar with one axis off by 1e-8 rad: no other place is better, so none is looked for."""
    mech = n_four_bar(1)
    joint = next(iter(mech.joints.values()))
    marker = joint.marker_1
    tilted = bc.Marker(
        marker.body, marker.position, Rotation.from_rotvec((1e-8, 1e-8, 0.0)).as_quat(scalar_first=True)
    )
    mech.replace(joint, marker_1=tilted)
    shaken(mech, np.random.default_rng(seed), 0.1, 0.1)
    first = bc.assemble(mech)
    assert 1e-10 < first.error < 1e-8
    assert first.restarts == 0
    assert not bc.assemble(mech).changed
