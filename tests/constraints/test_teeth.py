"""Forces of gear teeth, and of teeth that give, against closed forms."""

from math import acos, atan, cos, pi, radians, sqrt, tan

import numpy as np
import pytest

import bellcrank as bc

FORMULATIONS = pytest.mark.parametrize("formulation", ["lagrange", "recursive", "dca", "symbolic"])
ALPHA, BETA = radians(20.0), radians(15.0)
RADII = (0.05, 0.1)
TIGHT = {"method": "adams", "tolerance": 1e-12}


def wheels(sign=1.0, moments=(10.0, 0.0), inertia=(0.01, 0.02), slide=False):
    """Two wheels on pins; the second at +x, where slide lets it move along x on a spring."""
    mech = bc.Mechanism("wheels", gravity=(0.0, 0.0, 0.0))
    distance = abs(RADII[0] + sign * RADII[1])
    for k, x in enumerate((0.0, distance)):
        wheel = mech.add_body(f"w{k}", 1.0, (0.01, 0.01, inertia[k]), position=(x, 0.0, 0.0))
        carrier = mech.ground.marker((x, 0.0, 0.0))
        if slide and k == 1:
            block = mech.add_body("block", 2.0, (0.01, 0.01, 0.01), position=(x, 0.0, 0.0))
            mech.add_joint("rail", bc.PrismaticX(), carrier, block.marker())
            mech.add_force("spring", bc.TorsionSpring(4e4, rest_angle=0.0), "rail")
            carrier = block.marker()
        mech.add_joint(f"pin{k}", bc.Revolute(), carrier, wheel.marker())
        mech.add_force(f"moment{k}", bc.JointMotor(moments[k]), f"pin{k}")
    return mech


def geared(kind, **more):
    mech = wheels(-1.0 if isinstance(kind, bc.InternalGear) else 1.0, **more)
    mech.add_constraint("gear", kind, mech.bodies["w0"].marker(), mech.bodies["w1"].marker())
    return mech


def at_rim(sign, moments=(10.0, 3.0), inertia=(0.01, 0.02)):
    """The force at the rim that wheel 1 pushes with, by d'Alembert."""
    (r1, r2), (j1, j2) = RADII, inertia
    acceleration = (moments[0] - sign * moments[1] * r1 / r2) / (j1 + j2 * (r1 / r2) ** 2)
    return (moments[0] - j1 * acceleration) / r1


@FORMULATIONS
@pytest.mark.parametrize("kind", [bc.Gear, bc.InternalGear])
@pytest.mark.parametrize("flank", [1, -1])
def test_bearings_carry_the_force_of_the_teeth(kind, flank, formulation):
    """Fr = Ft tan(alpha)/cos(beta) presses wheels apart, Fa = Ft tan(beta) tilts them; motion is the same."""
    sign = -1.0 if kind is bc.InternalGear else 1.0
    moments = (10.0 * flank, 3.0 * flank * sign)
    toothed = kind(radii=RADII, pressure_angle=ALPHA, helix_angle=BETA, flank=flank)
    settings = {"formulation": formulation, "reactions": True, **TIGHT}
    run = bc.simulate(geared(toothed, moments=moments), 0.05, **settings)
    plain = bc.simulate(geared(kind(radii=RADII), moments=moments), 0.05, **settings)
    for pin in ("pin0", "pin1"):
        np.testing.assert_allclose(run.joint(pin).velocity, plain.joint(pin).velocity, atol=1e-10)
    force = at_rim(sign, moments)
    radial, axial = abs(force) * tan(ALPHA) / cos(BETA), force * tan(BETA)
    gear = run.constraint("gear")
    np.testing.assert_allclose(gear.effort, -force, rtol=1e-11)
    np.testing.assert_allclose(gear.quantity("radial"), radial, rtol=1e-11)
    np.testing.assert_allclose(gear.quantity("axial"), -axial, rtol=1e-11)
    # Pitch points: at +x of wheel 1, or at -x of the pinion; at -x of wheel 2.
    expected = (
        [0.0, sign * RADII[0] * axial, 0.0, sign * radial, sign * force, -axial],
        [0.0, RADII[1] * axial, 0.0, -sign * radial, -sign * force, axial],
    )
    for pin, wanted in zip(("pin0", "pin1"), expected, strict=True):
        np.testing.assert_allclose(run.joint(pin).reaction[[0, -1]], [wanted] * 2, atol=1e-9)
    assert bc.verify(run).passed


@FORMULATIONS
@pytest.mark.parametrize("radius", [0.05, -0.05])
@pytest.mark.parametrize("flank", [1, -1])
def test_a_rack_presses_its_pinion_away(radius, flank, formulation):
    """The rack is held; a moment on the pinion gives forces at its pitch point."""
    mech = bc.Mechanism("rack", gravity=(0.0, 0.0, 0.0))
    rack = mech.add_body("rack", 3.0, (0.1, 0.1, 0.1), position=(0.0, radius, 0.0))
    pinion = mech.add_body("pinion", 1.0, (0.01, 0.01, 0.01))
    mech.add_joint("hold", bc.Fixed(), mech.ground.marker((0.0, radius, 0.0)), rack.marker())
    mech.add_joint("pin", bc.Revolute(), mech.ground.marker(), pinion.marker())
    kind = bc.RackPinion(radius, pressure_angle=ALPHA, helix_angle=BETA, flank=flank)
    mech.add_constraint("teeth", kind, rack.marker(), pinion.marker())
    side = np.sign(radius)
    moment = 10.0 * flank
    mech.add_force("moment", bc.JointMotor(moment), "pin")
    run = bc.simulate(mech, 0.01, formulation=formulation, reactions=True, **TIGHT)
    force = moment / 0.05
    radial, axial = abs(force) * tan(ALPHA) / cos(BETA), force * tan(BETA)
    # By the rack at y = radius, along x: the pinion is pressed away from it.
    on_pinion = np.array([side * force, -side * radial, axial])
    arm = np.array([0.0, radius, 0.0])
    expected = np.concatenate([-np.cross(arm, on_pinion), -on_pinion]) - [0.0, 0.0, moment, 0.0, 0.0, 0.0]
    np.testing.assert_allclose(run.joint("pin").reaction[0], expected, atol=1e-9)
    assert bc.verify(run).passed


@FORMULATIONS
def test_a_shaft_on_two_bearings_with_an_overhung_gear(formulation):
    """Bearings at 0, which holds the shaft along its axis, and 0.2 m; the pinion at 0.26 m."""
    mech = bc.Mechanism("shaft", gravity=(0.0, 0.0, 0.0))
    shaft = mech.add_body("shaft", 2.0, (0.02, 0.02, 0.01), com=(0.0, 0.0, 0.1))
    wheel = mech.add_body("wheel", 1.0, (0.01, 0.01, 0.02), position=(0.15, 0.0, 0.26))
    mech.add_joint("fixed end", bc.Spherical(), mech.ground.marker(), shaft.marker())
    mech.add_joint(
        "free end", bc.PointOnLine(), mech.ground.marker((0.0, 0.0, 0.2)), shaft.marker((0.0, 0.0, 0.2))
    )
    mech.add_joint("pin", bc.Revolute(), mech.ground.marker((0.15, 0.0, 0.26)), wheel.marker())
    kind = bc.Gear(radii=RADII, pressure_angle=ALPHA, helix_angle=BETA)
    mech.add_constraint("gear", kind, shaft.marker((0.0, 0.0, 0.26)), wheel.marker())
    mech.add_force("drive", bc.Wrench(moment=(0.0, 0.0, 10.0)), shaft.marker())
    mech.add_force("load", bc.JointMotor(20.0), "pin")
    run = bc.simulate(mech, 0.01, formulation=formulation, reactions=True, **TIGHT)
    force = 10.0 / RADII[0]
    on_shaft = np.array([-force * tan(ALPHA) / cos(BETA), -force, force * tan(BETA)])
    moment = np.cross([RADII[0], 0.0, 0.26], on_shaft)
    far = np.array([-moment[1], moment[0]]) / 0.2  # x and y at the free end
    near = -on_shaft - [*far, 0.0]
    np.testing.assert_allclose(run.joint("free end").reaction[0, 3:5], far, rtol=1e-10)
    np.testing.assert_allclose(run.joint("fixed end").reaction[0, 3:], near, rtol=1e-10)
    assert bc.verify(run).passed


def involute(angle):
    return tan(angle) - angle


@pytest.mark.parametrize("kind", [bc.Gear, bc.InternalGear])
@pytest.mark.parametrize("flank", [1, -1])
def test_flanks_stay_involutes_where_axes_move_apart(kind, flank):
    """Wheel 1 is held: wheel 2 turns by the involute function of the working pressure angle."""
    sign = -1.0 if kind is bc.InternalGear else 1.0
    mech = geared(kind(radii=RADII, pressure_angle=ALPHA, flank=flank), moments=(0.0, 0.0), slide=True)
    mech.remove(mech.forces["spring"])
    mech.add_drive("stand", "pin0", velocity=0.0)
    mech.add_drive("move", "rail", velocity=0.001)
    run = bc.kinematics(mech, duration=2.0, step=0.5)
    distance = abs(RADII[0] + sign * RADII[1])
    angle = acos(distance * cos(ALPHA) / (distance + 0.002))
    turned = flank * distance / RADII[1] * (involute(angle) - involute(ALPHA))
    assert abs(run.joint("pin1").position[-1, 0] - turned) < 1e-11


@FORMULATIONS
def test_axes_on_springs_keep_energy(formulation):
    """The block of wheel 2 is pressed away and swings; formulations agree, and no energy is lost."""
    mech = geared(bc.Gear(radii=RADII, pressure_angle=ALPHA), slide=True)
    run = bc.simulate(mech, 0.2, formulation=formulation, ledger=True, **TIGHT)
    assert np.ptp(run.joint("rail").position) > 1e-3
    found = run.energy.total - run.force("moment0").work
    np.testing.assert_allclose(found, found[0], atol=1e-9 * np.ptp(run.energy.kinetic))
    known = bc.simulate(mech, 0.2, formulation="lagrange", **TIGHT)
    np.testing.assert_allclose(run.body("w1").position[-1], known.body("w1").position[-1], atol=1e-10)
    certificate = bc.verify(run)
    assert certificate.passed, str(certificate)


@pytest.mark.parametrize("formulation", ["lagrange", "recursive", "dca"])
def test_teeth_change_flanks_within_their_backlash(formulation):
    """A quarter of the play, a blow, and then both wheels; bearings are pressed apart on either flank."""
    kind = bc.Gear(radii=RADII, pressure_angle=ALPHA, backlash=1e-3, middle=2.5e-4)
    for push, way in ((10.0, 7.5e-4), (-10.0, 2.5e-4)):
        mech = geared(kind, moments=(push, 0.0))
        run = bc.simulate(mech, 0.05, formulation=formulation, reactions=True, output_step=1e-3, **TIGHT)
        turn = way / RADII[0]
        struck = sqrt(2.0 * turn * 0.01 / 10.0)
        assert abs(run.events[0].time - struck) < 1e-10
        together = run.time > struck
        shared = 0.01 / (0.01 + 0.02 * 0.25)
        speed = shared * 1000.0 * struck + 10.0 / (0.01 + 0.02 * 0.25) * (run.time - struck)
        np.testing.assert_allclose(
            run.joint("pin0").velocity[together, 0], np.sign(push) * speed[together], rtol=1e-8
        )
        force = at_rim(1.0, (10.0, 0.0))
        np.testing.assert_allclose(run.joint("pin0").reaction[-1, 3], force * tan(ALPHA), rtol=1e-8)
        assert bc.verify(run).passed


def giving(sign=1.0, moments=(0.0, 0.0), hold=True, **more):
    mech = wheels(sign, moments)
    kind = bc.ElasticGear(RADII, 2e7, pressure_angle=ALPHA, internal=sign < 0.0, **more)
    mech.add_force("mesh", kind, mech.bodies["w0"].marker(), mech.bodies["w1"].marker())
    if hold:
        mech.add_drive("hold", "pin1", velocity=0.0)
    return mech


@FORMULATIONS
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_wheel_rattles_in_its_backlash(sign, formulation):
    """A cycle: twice the play at constant speed, and two half swings on the springs of the flanks."""
    mech = giving(sign, backlash=1e-3)
    speed = 8.0
    mech.replace(mech.joints["pin0"], velocity=speed)
    swing = pi / (RADII[0] * cos(ALPHA) * sqrt(2e7 / 0.01))
    period = 2.0 * (1e-3 / (RADII[0] * speed) + swing)
    run = bc.simulate(mech, 3.25 * period, formulation=formulation, output_step=period / 4, **TIGHT)
    # It sets out in the middle: after whole cycles it is there again, and after halves on its way back.
    np.testing.assert_allclose(run.joint("pin0").velocity[::4, 0], speed, rtol=1e-7)
    np.testing.assert_allclose(run.joint("pin0").velocity[2::4, 0], -speed, rtol=1e-7)
    np.testing.assert_allclose(run.joint("pin0").position[::2, 0], 0.0, atol=1e-8)
    assert bc.verify(run).passed


@FORMULATIONS
def test_teeth_that_give_press_on_bearings_as_rigid_ones(formulation):
    """Damped until they rest on their flank; helix and all."""
    mech = giving(1.0, (10.0, 0.0), damping=2e4, depth=1e-9, backlash=2e-4, middle=1e-4, helix_angle=BETA)
    run = bc.simulate(mech, 0.05, formulation=formulation, reactions=True, method="bdf", tolerance=1e-9)
    force = 10.0 / RADII[0]
    radial, axial = force * tan(ALPHA) / cos(BETA), force * tan(BETA)
    expected = [0.0, RADII[0] * axial, 0.0, radial, force, -axial]
    np.testing.assert_allclose(run.joint("pin0").reaction[-1], expected, atol=1e-4 * force)
    mesh = run.force("mesh")
    np.testing.assert_allclose(mesh.quantity("rim")[-1], -force, rtol=1e-5)
    np.testing.assert_allclose(mesh.quantity("radial")[-1], radial, rtol=1e-5)
    np.testing.assert_allclose(mesh.quantity("axial")[-1], -axial, rtol=1e-5)


@pytest.mark.parametrize("elastic", [False, True])
def test_an_equilibrium_on_a_flank_stays_on_it(elastic):
    """A weight holds wheel 1 on a flank, wheel 2 stands: what follows starts there, and nothing moves."""
    if elastic:
        mech = giving(hold=False, backlash=1e-3)
    else:
        mech = geared(bc.Gear(radii=RADII, pressure_angle=ALPHA, backlash=1e-3), moments=(0.0, 0.0))
    mech.remove(mech.forces["moment0"])
    mech.add_force("weight", bc.TorsionSpring(1.0, rest_angle=0.5), "pin0")
    mech.add_force("hold", bc.TorsionSpring(1e6), "pin1")
    report = bc.find_equilibrium(mech)
    assert report.force < 1e-6
    angle = mech.joints["pin0"].position[0][1] if mech.joints["pin0"].position else None
    run = bc.simulate(mech, 0.02, reactions=True, method="dopri5", tolerance=1e-9)
    turned = run.joint("pin0").position[:, 0]
    assert angle is None or abs(turned[0] - angle) < 1e-12
    assert abs(turned[0] - 5e-4 / RADII[0]) < 1e-4
    assert np.ptp(turned) < 1e-7
    assert run.joint("pin0").reaction[-1, 3] > 0.5 / RADII[0] * tan(ALPHA) * 0.9


def test_losses_of_a_helical_gear():
    """What the driven wheel gets is the part that the efficiency leaves."""
    kind = bc.Gear(radii=RADII, pressure_angle=ALPHA, helix_angle=BETA, efficiency=0.9)
    mech = geared(kind, moments=(10.0, 0.0))
    mech.add_drive("load", "pin1", velocity=-1.0)
    mech.replace(mech.joints["pin0"], velocity=2.0)
    run = bc.simulate(mech, 0.01, reactions=True, **TIGHT)
    np.testing.assert_allclose(np.abs(run.drive("load").effort), 0.9 * 20.0, rtol=1e-10)


def test_teeth_that_would_have_to_pull_end_a_run_by_name():
    kind = bc.Gear(radii=RADII, pressure_angle=ALPHA)
    mech = geared(kind, moments=("10*cos(20*t)", 0.0))
    with pytest.raises(bc.SimulationError, match=r"constraint 'gear': its teeth would have to bear on the"):
        bc.simulate(mech, 0.1)
    driven = geared(kind, moments=(0.0, -1.0))
    driven.remove(driven.forces["moment0"])
    driven.add_drive("lead", "pin0", velocity="-t")
    with pytest.raises(bc.SimulationError, match=r"constraint 'gear': its teeth would have to bear on the"):
        bc.inverse_dynamics(driven, 0.1, 0.05)


FAULTS = {
    "radii": (lambda: bc.Gear(ratio=2.0, pressure_angle=ALPHA), "need radii"),
    "steep": (lambda: bc.Gear(radii=RADII, pressure_angle=1.2), "less than 60 degrees"),
    "helix": (lambda: bc.Gear(radii=RADII, helix_angle=0.2), "helix_angle without pressure_angle"),
    "flank": (lambda: bc.Gear(radii=RADII, pressure_angle=0.3, flank=0), "flank must be 1 or -1"),
    "middle": (
        lambda: bc.Gear(radii=RADII, pressure_angle=0.3, backlash=1e-3, middle=1e-3),
        "middle must not be more",
    ),
    "rack": (lambda: bc.RackPinion(0.1, helix_angle=0.2), "helix_angle without pressure_angle"),
    "ring": (lambda: bc.ElasticGear((0.2, 0.1), 1e6, internal=True), "ring must be larger"),
    "stiffness": (lambda: bc.ElasticGear((0.2, 0.1), 0.0), "stiffness"),
}


@pytest.mark.parametrize("case", FAULTS)
def test_wrong_numbers_are_named(case):
    make, text = FAULTS[case]
    with pytest.raises(bc.MechanismError, match=text):
        make()


def test_teeth_are_between_markers():
    mech = wheels()
    for kind in (bc.Gear(radii=RADII, pressure_angle=ALPHA), bc.RackPinion(0.1, pressure_angle=ALPHA)):
        with pytest.raises(bc.MechanismError, match="joints know no teeth"):
            mech.add_constraint("gear", kind, "pin0", "pin1")


def test_the_helix_leaves_the_transverse_angle():
    assert atan(tan(ALPHA) / cos(BETA)) == pytest.approx(radians(20.6468), abs=1e-5)
