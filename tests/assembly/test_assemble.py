"""Assembly: mends what is off, leaves alone what fits, names what cannot be."""

import math
from dataclasses import replace

import numpy as np
import pytest
from rigs.linkages import upright_bar

import bellcrank as bc
from bellcrank.compile.compile import compile_mechanism
from bellcrank.compile.initial import assembled

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


def largest_gap(mech):
    system = bc.prepare(mech)
    return float(np.max(np.abs(system.rows().error)))


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
