"""Redundant gears, couplings, drives, stops and joints share their load by least norm, and results say so."""

import math

import numpy as np
import pytest
import scipy.linalg
from rigs import agreement

import bellcrank as bc

FORMULATIONS = ("lagrange", "recursive", "symbolic")


def planetary(planets=3, spin=0.0):
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
    "planetary gear": planetary,
    "turning planetary gear": lambda: planetary(spin=20.0),
    "four planets": lambda: planetary(4, 7.0),
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
    acc = bc.prepare(planetary(), formulation).accelerate()
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
    acc = bc.prepare(planetary()).accelerate()
    with pytest.raises(bc.MechanismError, match=r"constraint 'sun mush 0'.*sun mesh 0"):
        acc.constraint("sun mush 0")
    with pytest.raises(bc.MechanismError, match="there is no joint with limits of this name"):
        acc.limit("pin 0")


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_a_run_records_what_is_open(formulation, tmp_path):
    run = bc.simulate(
        planetary(spin=5.0), duration=0.1, step=1e-2, formulation=formulation, path=tmp_path / "run.h5"
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
