"""Redundant gears, couplings, drives, stops and joints: named, and their load is shared by least norm."""

import math

import numpy as np
import pytest
import scipy.linalg
from rigs import agreement
from rigs.seeds import over

import bellcrank as bc

KINDS = (bc.Revolute(), bc.Revolute(), bc.Prismatic(), bc.Cylindrical(), bc.Screw(0.3))


def _body(mech, rng, name):
    com, inertia = rng.uniform(-0.1, 0.1, 3), rng.uniform(0.1, 0.14, 3)
    return mech.add_body(name, mass=rng.uniform(0.5, 2.0), com=com, inertia=inertia)


def _marker(carrier, rng):
    axis = rng.normal(size=3)
    return carrier.marker(tuple(rng.uniform(-0.5, 0.5, 3)), axis=tuple(axis / np.linalg.norm(axis)))


def ring(seed):
    """Shafts geared to each other in a ring, with chords; some rings cannot turn."""
    rng = np.random.default_rng(seed)
    count = int(rng.integers(3, 8))
    mech = bc.Mechanism("ring", gravity=(0.3, -9.81, 0.2))
    carriers, nested = [mech.ground], rng.random() < 0.4
    for k in range(count):
        shaft = _body(mech, rng, f"shaft {k}")
        carrier = carriers[rng.integers(len(carriers))] if nested else mech.ground
        mech.add_joint(f"turn {k}", bc.Revolute(), _marker(carrier, rng), shaft.marker(), position=0.0)
        carriers.append(shaft)
    radii = rng.uniform(0.3, 3.0, count) * rng.choice([-1, 1], count)
    order = rng.permutation(count)
    pairs = [(order[k], order[(k + 1) % count]) for k in range(count)]
    if rng.random() < 0.5:
        pairs += [rng.choice(count, 2, replace=False) for _ in range(rng.integers(1, 3))]
    rng.shuffle(pairs)
    wrong = 1.3 if rng.random() < 0.15 else 1.0
    for k, (i, j) in enumerate(pairs):
        factor = rng.uniform(0.5, 2.0)
        ratio = (factor * radii[i] * (wrong if k == 0 else 1.0), -factor * radii[j])
        mech.add_constraint(f"gear {k}", bc.Coupling(ratio), f"turn {i}", f"turn {j}")
    return mech


def coupled(seed):
    """A tree of turns, slides and screws with couplings and formulas, many of which say the same."""
    rng = np.random.default_rng(seed)
    mech = bc.Mechanism("coupled", gravity=(0.3, -9.81, 0.2))
    carriers, ends, start = [mech.ground], [], []
    for k in range(int(rng.integers(3, 7))):
        body = _body(mech, rng, f"body {k}")
        kind = KINDS[rng.integers(len(KINDS))]
        markers = [_marker(carriers[rng.integers(len(carriers))], rng), body.marker()]
        if rng.random() < 0.3:
            markers.reverse()
        at = tuple(rng.uniform(-1.0, 1.0, len(kind.free)))
        joint = mech.add_joint(f"joint {k}", kind, *markers, position=at if len(at) > 1 else at[0])
        ends += [joint.coordinate(name) for name in kind.free]
        start += at
        carriers.append(body)
    freedom = int(rng.integers(0, 3))
    motions = rng.normal(size=(len(ends), freedom))
    for k in range(int(rng.integers(1, len(ends) + 2))):
        size = min(len(ends), int(rng.integers(2, freedom + 3)))
        chosen = rng.choice(len(ends), size, replace=False)
        _, values, vectors = np.linalg.svd(motions[chosen].T if freedom else np.zeros((1, size)))
        null = vectors[int((values > 1e-9).sum()) :]
        if len(null) == 0:
            continue
        factors = rng.normal(size=len(null)) @ null
        if np.abs(factors).min() > 1e-6:
            kind = (
                _formula(factors, [start[i] for i in chosen]) if k % 4 == 0 else bc.Coupling(tuple(factors))
            )
            mech.add_constraint(f"coupling {k}", kind, *(ends[i] for i in chosen))
    return mech


def _formula(factors, start):
    symbols = tuple(bc.EndCoordinate(f"q{i}") for i in range(len(factors)))
    terms = zip(factors, symbols, start, strict=True)
    return bc.CustomConstraint(symbols, sum(float(f) * (s.value - float(at)) for f, s, at in terms))


def planetary(planets=3):
    """Sun, ring and carrier, and planets with two gears each, of which most say the same."""
    mech = bc.Mechanism("planetary", gravity=(0.0, -9.81, 0.0))
    sun_radius, planet_radius, ring_radius = 0.03, 0.02, 0.07
    carrier = mech.add_body("carrier", mass=0.5, inertia=(1e-3, 1e-3, 1e-3), com=(0.002, 0.001, 0.0))
    sun = mech.add_body("sun", mass=0.4, inertia=(1e-4, 1e-4, 2e-4))
    outer = mech.add_body("ring", mass=0.9, inertia=(1.6e-3, 1.6e-3, 3e-3))
    mech.add_joint("carrier", bc.Revolute(), mech.ground, carrier, velocity=2.0)
    mech.add_joint("sun", bc.Revolute(), mech.ground, sun)
    mech.add_joint("ring", bc.Revolute(), mech.ground, outer, velocity=0.5)
    for k in range(planets):
        angle = 2 * np.pi * k / planets
        place = (sun_radius + planet_radius) * np.array([np.cos(angle), np.sin(angle), 0.0])
        planet = mech.add_body(f"planet {k}", mass=0.2, inertia=(1e-5, 1e-5, 2e-5))
        mech.add_joint(f"pin {k}", bc.Revolute(), carrier.marker(tuple(place)), planet.marker())
        inner = bc.Coupling((sun_radius, -sun_radius, planet_radius))
        mech.add_constraint(f"sun to {k}", inner, "sun", "carrier", f"pin {k}")
        teeth = bc.Coupling((ring_radius, -ring_radius, -planet_radius))
        mech.add_constraint(f"ring to {k}", teeth, "ring", "carrier", f"pin {k}")
    mech.add_force("torque", bc.Wrench(moment=(0.0, 0.0, 1.0)), sun)
    bc.assemble(mech)
    return mech


FORMULATIONS = ("lagrange", "recursive", "symbolic")


def several_planets(planets=3, spin=0.0):
    """Sun, planets and fixed ring, tooth forces in N; torques on sun and carrier. spin: rad/s."""
    mech = bc.Mechanism("planetary gear", gravity=(0, 0, 0))
    carried = spin / 4.0
    sun = mech.add_body("sun", mass=1.0, inertia=(0.01, 0.01, 0.02), angular_velocity=(0, 0, spin))
    carrier = mech.add_body("carrier", mass=2.0, inertia=(0.1, 0.1, 0.2), angular_velocity=(0, 0, carried))
    mech.add_joint("sun bearing", bc.Revolute(), mech.ground.marker(), sun.marker())
    mech.add_joint("carrier bearing", bc.Revolute(), mech.ground.marker(), carrier.marker())
    for k in range(planets):
        angle = 2.0 * math.pi * k / planets
        at = np.array((0.2 * math.cos(angle), 0.2 * math.sin(angle), 0.0))
        planet = mech.add_body(
            f"planet {k}",
            mass=0.5,
            inertia=(2e-3, 2e-3, 2.5e-3),
            position=at,
            velocity=np.cross((0, 0, carried), at),
            angular_velocity=(0, 0, -2.0 * carried),
        )
        mech.add_joint(f"pin {k}", bc.Revolute(), carrier.marker(at), planet.marker())
        mech.add_constraint(f"sun mesh {k}", bc.Gear(radii=(0.1, 0.1)), sun.marker(), planet.marker())
        ring = bc.InternalGear(radii=(0.1, 0.3))
        mech.add_constraint(f"ring mesh {k}", ring, planet.marker(), mech.ground.marker())
    mech.add_force("torque", bc.Wrench(moment=(0, 0, 12.5)), sun)
    mech.add_force("load", bc.Wrench(moment=(0, 0, -50.0)), carrier)
    return mech


def doubled_gear():
    """Two wheels on fixed shafts that mesh twice."""
    mech = bc.Mechanism("doubled gear", gravity=(0, 0, 0))
    wheels = [
        mech.add_body(f"wheel {k}", 1.0, (0.01, 0.01, 0.02), position=(0.3 * k, 0, 0)) for k in range(2)
    ]
    for k, wheel in enumerate(wheels):
        mech.add_joint(f"shaft {k}", bc.Revolute(), mech.ground.marker((0.3 * k, 0, 0)), wheel.marker())
    for name in ("one", "other"):
        mech.add_constraint(name, bc.Gear(radii=(0.1, 0.2)), wheels[0].marker(), wheels[1].marker())
    mech.add_force("torque", bc.Wrench(moment=(0, 0, 4.0)), wheels[0])
    return mech


def doubled_drive(com=(0.0, 0.0, 0.0)):
    """An arm on two hinges, led by a drive in each."""
    mech = bc.Mechanism("doubled drive")
    turned = (math.sqrt(0.5), math.sqrt(0.5), 0.0, 0.0)
    arm = mech.add_body("arm", 2.0, (0.01, 0.2, 0.2), com=com, position=(0.4, 0, 0), rotation=turned)
    for k in range(2):
        at = (0.0, 0.3 * k, 0.0)
        ends = (carrier.world_marker(at, axis=(0, 1, 0)) for carrier in (mech.ground, arm))
        mech.add_joint(f"hinge {k}", bc.Revolute(), *ends)
        mech.add_drive(f"motor {k}", joint=f"hinge {k}", position=bc.Harmonic(0.3, 2.0))
    return mech


def belts_and_gears():
    """Three shafts tied in a triangle by belts, and a coupling that says the same as one of them."""
    mech = bc.Mechanism("belts", gravity=(0, 0, 0))
    wheels = []
    for k in range(3):
        wheel = mech.add_body(
            f"wheel {k}", 1.0 + k, (0.1, 0.1, 0.2), position=(k, k * k, 0), com=(0, 0, 0.1 * k)
        )
        mech.add_joint(f"shaft {k}", bc.Revolute(), mech.ground.marker((k, k * k, 0)), wheel.marker())
        wheels.append(wheel)
    for k in range(3):
        ends = (wheels[k].marker(), wheels[(k + 1) % 3].marker())
        mech.add_constraint(f"belt {k}", bc.Belt(radii=(0.1 * (k + 1), 0.1 * ((k + 1) % 3 + 1))), *ends)
    mech.add_constraint("coupling", bc.Coupling((1.0, -2.0)), mech.joints["shaft 0"], mech.joints["shaft 1"])
    mech.add_force("torque", bc.Wrench(moment=(0, 0, 4.0)), wheels[0])
    mech.add_force("brake", bc.TorsionSpring(stiffness=1.0), mech.joints["shaft 2"])
    return mech


REDUNDANT = {
    "planetary gear": several_planets,
    "turning planetary gear": lambda: several_planets(spin=20.0),
    "four planets": lambda: several_planets(4, 7.0),
    "doubled gear": doubled_gear,
    "doubled drive": doubled_drive,
    "com off the origin": lambda: doubled_drive((0.1, -0.2, 0.05)),
    "belts": belts_and_gears,
}


def by_svd(system, acc):
    """Least-norm multipliers by singular values of the whole Jacobian, and which of them are determined."""
    rows = system.rows()
    jacobian = rows.jacobian.reshape(len(rows.error), -1)
    jacobian = jacobian / np.maximum(np.linalg.norm(jacobian, axis=1, keepdims=True), 1e-300)
    scale = np.linalg.norm(rows.jacobian.reshape(len(rows.error), -1), axis=1)
    nothing = scipy.linalg.null_space(jacobian.T, rcond=1e-10) / scale[:, None]
    weight = np.array([0.5 if name.endswith(("(e1)", "(e2)", "(e3)")) else 1.0 for name in rows.names])
    basis = np.linalg.qr(weight[:, None] * nothing)[0]
    loads = weight * acc.multipliers
    return (loads - basis @ (basis.T @ loads)) / weight, np.max(np.abs(basis), axis=1, initial=0.0) < 1e-7


@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize("name", REDUNDANT)
def test_all_multipliers_are_of_least_norm(name, formulation):
    system = bc.prepare(REDUNDANT[name](), formulation)
    system.project()
    acc = system.accelerate()
    assert system.stats.dropped
    expected, determined = by_svd(system, acc)
    np.testing.assert_allclose(acc.multipliers, expected, rtol=0, atol=1e-10 * np.max(np.abs(expected)))
    np.testing.assert_array_equal(acc.determined, determined)


@pytest.mark.parametrize("formulation", FORMULATIONS[1:])
@pytest.mark.parametrize("name", REDUNDANT)
def test_formulations_agree_on_reactions_efforts_and_what_is_open(name, formulation):
    agreement.agreed(REDUNDANT[name](), formulation)


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_symmetric_planets_share_equally(formulation):
    """12.5 N m on a sun of 0.1 m: 125 N against it at its teeth, a third from each planet."""
    acc = bc.prepare(several_planets(), formulation).accelerate()
    for k in range(3):
        mesh = acc.constraint(f"sun mesh {k}")
        assert mesh.effort == pytest.approx(-125.0 / 3.0, rel=1e-9)
        assert mesh.units == ("N",)
        assert not mesh.unique
        assert acc.constraint(f"ring mesh {k}").effort == pytest.approx(125.0 / 3.0, rel=1e-9)
    assert not any(joint.force_unique for joint in map(acc.joint, ("pin 0", "pin 1", "pin 2")))


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_a_doubled_gear_shares_equally_and_a_single_one_is_unique(formulation):
    acc = bc.prepare(doubled_gear(), formulation).accelerate()
    one, other = acc.constraint("one"), acc.constraint("other")
    assert one.effort == pytest.approx(other.effort, rel=1e-12)
    assert abs(one.effort) > 1.0
    assert not one.unique
    assert not other.unique
    single = doubled_gear()
    single.remove(single.constraints["other"])
    alone = bc.prepare(single, formulation).accelerate()
    assert alone.constraint("one").unique
    assert alone.constraint("one").effort == pytest.approx(2.0 * one.effort, rel=1e-9)


def test_names_that_have_no_effort_are_refused():
    acc = bc.prepare(several_planets()).accelerate()
    with pytest.raises(bc.MechanismError, match=r"constraint 'sun mush 0'.*sun mesh 0"):
        acc.constraint("sun mush 0")
    with pytest.raises(bc.MechanismError, match="there is no joint with limits of this name"):
        acc.limit("pin 0")


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_a_run_records_what_is_open(formulation, tmp_path):
    run = bc.simulate(
        several_planets(spin=5.0), duration=0.1, step=1e-2, formulation=formulation, path=tmp_path / "run.h5"
    )
    for read in (run, bc.Trajectory.load(tmp_path / "run.h5"), run.resample(step=0.033)):
        mesh, bearing = read.constraint("sun mesh 1"), read.joint("sun bearing")
        np.testing.assert_allclose(mesh.effort, read.constraint("sun mesh 2").effort, rtol=1e-9)
        assert mesh.unique.dtype == bool
        assert not mesh.unique.any()
        assert bearing.moment_unique.all()
        assert not bearing.force_unique.any()
    assert run.constraint("sun mesh 0").unique.shape == run.time.shape
    columns = run.to_dict()
    assert not columns["constraint.sun mesh 0.effort unique"].any()
    assert not columns["joint.sun bearing.force unique"].any()
    assert "joint.sun bearing.moment unique" not in columns


def table(load, limits):
    """A plate of 1 N with a load at (x, y) on four legs, which only push if they are limits."""
    mech = bc.Mechanism("table", gravity=(0, 0, -1.0))
    plate = mech.add_body("plate", 1.0, (1.0, 1.0, 1.0))
    mech.add_force("load", bc.Wrench(force=(0, 0, -9.0)), plate.marker((*load, 0.0)))
    for k, (x, y) in enumerate(((1, 1), (1, -1), (-1, 1), (-1, -1))):
        foot = mech.ground.marker((x, y, 0.0)), plate.marker((x, y, 0.0))
        limit = {"limits": {"z": bc.Limit(lower=0.0)}} if limits else {}
        mech.add_joint(f"leg {k}", bc.Free() if limits else bc.PointOnPlane(), *foot, **limit)
    return mech


def test_stops_share_a_load_without_pulling():
    """As joints would while all push; else the leg that a joint would pull bears nothing."""
    inside = bc.prepare(table((0.3, 0.2), True)).accelerate()
    joints = bc.prepare(table((0.3, 0.2), False)).accelerate()
    shares = np.array([inside.limit(f"leg {k}").effort for k in range(4)])
    np.testing.assert_allclose(shares, [joints.joint(f"leg {k}").force[2] for k in range(4)], rtol=1e-9)
    assert not inside.limit("leg 0").unique
    outside = bc.prepare(table((0.8, 0.8), True)).accelerate()
    shares = np.array([outside.limit(f"leg {k}").effort for k in range(4)])
    np.testing.assert_allclose(shares, [7.2, 1.4, 1.4, 0.0], atol=1e-9)


def test_many_redundant_rows_share_by_least_norm():
    """Sixty gears between two wheels: beyond where a basis of what exerts nothing is formed."""
    mech = doubled_gear()
    wheels = [mech.bodies[f"wheel {k}"].marker() for k in range(2)]
    for k in range(60):
        mech.add_constraint(f"gear {k}", bc.Gear(radii=(0.1, 0.2)), *wheels)
    for formulation in FORMULATIONS:
        system = bc.prepare(mech, formulation)
        acc = system.accelerate()
        assert len(system.stats.dropped) == 61
        expected, determined = by_svd(system, acc)
        np.testing.assert_allclose(acc.multipliers, expected, rtol=0, atol=1e-10 * np.max(np.abs(expected)))
        np.testing.assert_array_equal(acc.determined, determined)
        assert acc.constraint("gear 17").effort == pytest.approx(acc.constraint("one").effort, rel=1e-9)


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_many_loops_share_by_least_norm(formulation):
    """Three redundant rows in each of twenty-five loops: more than are decomposed as one matrix."""
    system = bc.prepare(bc.gallery.n_four_bar(25), formulation)
    system.project()
    acc = system.accelerate()
    assert len(system.stats.dropped) == 75
    expected, determined = by_svd(system, acc)
    np.testing.assert_allclose(acc.multipliers, expected, rtol=0, atol=1e-9 * np.max(np.abs(expected)))
    np.testing.assert_array_equal(acc.determined, determined)


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_a_recorded_run_of_many_loops_balances(formulation):
    run = bc.simulate(bc.gallery.n_four_bar(25), 0.02, formulation=formulation, output_step=0.01)
    assert bc.verify(run).passed


Q, R = bc.EndCoordinate("q"), bc.EndCoordinate("r")


def found(mech, formulation):
    system = bc.prepare(mech, formulation)
    at = system.accelerate()
    return system, np.hstack([at.linear, at.angular]), at


def same(one, other, tolerance=1e-9):
    np.testing.assert_allclose(one, other, rtol=0, atol=tolerance * max(1.0, np.abs(other).max()))


@over(range(40))
def test_rings_of_gears(seed):
    mech = ring(seed)
    system, accelerations, _ = found(mech, "symbolic")
    assert not system.closing_rows
    for formulation in ("recursive", "lagrange"):
        other, expected, _ = found(mech, formulation)
        same(accelerations, expected)
        assert len(system.stats.dropped) == len(other.stats.dropped)


@over(range(30))
def test_couplings_of_all_joints(seed):
    mech = coupled(seed)
    (system, accelerations, at), (other, expected, there) = (
        found(mech, f) for f in ("symbolic", "recursive")
    )
    same(accelerations, expected)
    same(at.reactions, there.reactions, 1e-8)
    same(at.multipliers, there.multipliers, 1e-8)
    np.testing.assert_array_equal(at.unique, there.unique)
    assert len(system.stats.dropped) == len(other.stats.dropped)
    assert not system.closing_rows


@pytest.mark.parametrize("planets", [1, 2, 3, 5])
def test_planetary_gear(planets):
    mech = planetary(planets)
    system, accelerations, at = found(mech, "symbolic")
    assert len(system.speeds) == 2
    assert [d.element for d in system.stats.dropped] == [
        f"constraint 'ring to {k}'" for k in range(1, planets)
    ]
    for formulation in ("recursive", "lagrange"):
        _, expected, there = found(mech, formulation)
        same(accelerations, expected)
        same(at.reactions, there.reactions)
    _, _, there = found(mech, "recursive")
    same(at.multipliers, there.multipliers)


def test_planetary_gear_runs():
    runs = [
        bc.simulate(planetary(), duration=2.0, formulation=f, method="dopri5", tolerance=1e-11)
        for f in ("recursive", "symbolic")
    ]
    for body in runs[0].bodies:
        one, other = (run.body(body) for run in runs)
        same(one.position, other.position)
        same(one.velocity, other.velocity, 1e-8)
    turned = runs[1].joint("sun").position  # rad; the torque on the sun is 1 N m
    gained = runs[1].energy.total - runs[1].energy.total[0]
    same(gained, (turned - turned[0])[:, 0])


@pytest.mark.parametrize("kind", [bc.Differential(), bc.PlanetaryGear(20, 60)])
def test_three_shafts_coupled_twice(kind):
    """The second says the same by other factors; a free shaft must not be held by rounding."""
    mech = bc.Mechanism("three shafts")
    for k in range(3):
        shaft = mech.add_body(
            f"shaft {k}", mass=1.0, inertia=(0.1, 0.1, 0.15 + 0.01 * k), com=(0.1 * k, 0.0, 0.0)
        )
        mech.add_joint(
            f"turn {k}", bc.Revolute(), mech.ground.marker((k, 0, 0), axis=(0, 1, 0)), shaft.marker()
        )
    turns = [f"turn {k}" for k in range(3)]
    mech.add_constraint("given", kind, *turns)
    weights = (1.0, 1.0, -2.0) if isinstance(kind, bc.Differential) else (20.0, 60.0, -80.0)
    mech.add_constraint("again", bc.Coupling(tuple(0.1 / 3.0 * w for w in weights)), *turns)
    mech.add_force("torque", bc.Wrench(moment=(0.0, 0.3, 0.0)), mech.bodies["shaft 1"])
    system, accelerations, at = found(mech, "symbolic")
    assert len(system.speeds) == 2
    assert [d.element for d in system.stats.dropped] == ["constraint 'again'"]
    _, expected, there = found(mech, "recursive")
    same(accelerations, expected)
    same(at.multipliers, there.multipliers)


@pytest.mark.parametrize("value", [1.0, 1.0 + 1e-9, 0.5, 1e-9])
def test_couplings_that_follow_a_parameter(value):
    """At one value of the parameter both rows say the same; no pivot may rest on it."""
    mech = bc.Mechanism("parameter", gravity=(0.1, -9.81, 0.3))
    p = mech.add_parameter("p", 0.7)
    for k in range(3):
        body = mech.add_body(
            f"body {k}", mass=1.0 + 0.1 * k, inertia=(0.1, 0.1, 0.1), com=(0.1, 0.02 * k, 0.0)
        )
        mech.add_joint(
            f"turn {k}", bc.Revolute(), mech.ground.marker((k, 0, 0)), body.marker(), position=0.1 * k
        )
    mech.add_constraint("fixed", bc.Coupling((1.0, 1.0)), "turn 0", "turn 1")
    mech.add_constraint("follows", bc.Coupling((p, 1.0)), "turn 0", "turn 1")
    equation = (p - 1.0) * (R.value - 0.2) + 0.3 * (Q.value - 0.0)
    mech.add_constraint("formula", bc.CustomConstraint((Q, R), equation), "turn 0", "turn 2")
    at = mech.with_parameters(p=value)
    system, accelerations, _ = found(at, "symbolic")
    other, expected, _ = found(at, "recursive")
    same(accelerations, expected)
    assert len(system.stats.dropped) == len(other.stats.dropped)


def test_formulas_that_say_the_same():
    mech = bc.Mechanism("twice", gravity=(0.1, -9.81, 0.3))
    for k in range(2):
        body = mech.add_body(f"body {k}", mass=1.0, inertia=(0.1, 0.1, 0.1), com=(0.1, 0.02 * k, 0.0))
        mech.add_joint(
            f"turn {k}", bc.Revolute(), mech.ground.marker((k, 0, 0)), body.marker(), position=0.3 * k
        )
    for name, factor in (("one", 3.0), ("two", 0.3)):
        equation = factor * (R.value - 0.3) + factor / 3.0 * Q.value**2
        mech.add_constraint(name, bc.CustomConstraint((Q, R), equation), "turn 0", "turn 1")
    system, accelerations, _ = found(mech, "symbolic")
    assert len(system.speeds) == 1
    assert [d.element for d in system.stats.dropped] == ["constraint 'two'"]
    same(accelerations, found(mech, "recursive")[1])


def test_couplings_that_contradict_each_other():
    mech = planetary(2)
    mech.add_constraint("another", bc.Coupling((1.0, 1.0), constant=0.0), "sun", "ring")
    mech.add_constraint("contradiction", bc.Coupling((2.0, 2.0), constant=0.5), "sun", "ring")
    system = bc.prepare(mech, "symbolic")
    with pytest.raises(bc.errors.AssemblyError, match=r"'contradiction' .* is off by 0.5"):
        system.project()
    with pytest.raises(bc.errors.AssemblyError, match=r"cannot hold together: .*'another'.*'contradiction'"):
        bc.assemble(mech)
