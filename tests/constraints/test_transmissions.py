"""Gears, belts, racks, screws, cables and the like as textbooks have them, and signs of their efforts."""

from math import cos, pi, sin

import numpy as np
import pytest
from rigs.machine import Machine

import bellcrank as bc

G = 9.81
J = (0.3, 0.2)  # inertias of the wheels about their axes
RADII = (0.3, 0.2)


def wheel(mech, name, carrier, place, inertia, axis=(0.0, 0.0, 1.0), speed=0.0):
    """A wheel on a bearing of the carrier (the ground or a body), both markers' z along the axis."""
    spin = tuple(speed * np.asarray(axis))
    body = mech.add_body(
        name, mass=1.0, inertia=(inertia, inertia, inertia), position=place, angular_velocity=spin
    )
    bearing = carrier.world_marker(place, axis=axis)
    mech.add_joint(f"axle {name}", bc.Revolute(), bearing, body.world_marker(place, axis=axis))
    return body


def started(mech):
    machine = Machine(mech)
    assert machine.system.project()
    return machine


# kind, distance of the axes, speed of wheel 2 for speed 1 of wheel 1
PAIRS = {
    "gear": (bc.Gear(radii=RADII), 0.5, -1.5),
    "gear by teeth": (bc.Gear(teeth=(30, 20)), 0.5, -1.5),
    "gear by ratio": (bc.Gear(ratio=2.0 / 3.0), 0.5, -1.5),
    "internal gear": (bc.InternalGear(radii=RADII), 0.1, 1.5),
    "open belt": (bc.Belt(radii=RADII), 0.8, 1.5),
    "crossed belt": (bc.Belt(radii=RADII, crossed=True), 0.8, -1.5),
}


def geared(kind, distance, between_joints=False, carrier=None, mech=None):
    mech = mech or bc.Mechanism("gears", gravity=(0.0, 0.0, 0.0))
    on = carrier or mech.ground
    bodies = [wheel(mech, f"w{k}", on, (distance * k, 0.0, 0.0), J[k]) for k in (0, 1)]
    z = (0.0, 0.0, 1.0)
    ends = ["axle w0", "axle w1"] if between_joints else [body.marker(axis=z) for body in bodies]
    mech.add_constraint("gear", kind, *ends)
    return mech, bodies


@pytest.mark.parametrize("between_joints", [False, True])
@pytest.mark.parametrize("name", PAIRS)
def test_wheels_on_the_ground(name, between_joints):
    """Speeds by the ratio, over several turns, and the acceleration of the inertias as seen from wheel 1.

    Between markers the direction from wheel to wheel has one sense of turn, between joints angles have
    theirs.
    """
    kind, distance, ratio = PAIRS[name]
    mech, _ = geared(kind, distance, between_joints)
    torque = 0.6
    mech.add_force("motor", bc.JointMotor(torque), "axle w0")
    run = started(mech).run(5.0)
    expected = 0.5 * torque / (J[0] + ratio**2 * J[1]) * run.time**2
    assert expected[-1] > 2 * pi
    np.testing.assert_allclose(run.q[:, 0], expected, atol=1e-9)
    np.testing.assert_allclose(run.q[:, 1], ratio * expected, atol=1e-9)


@pytest.mark.parametrize("name", PAIRS)
def test_wheels_on_a_carrier_that_turns(name):
    """Willis: relative to the carrier the wheels turn by the ratio, wherever and however it turns itself."""
    kind, distance, ratio = PAIRS[name]
    mech = bc.Mechanism("carried", gravity=(0.0, 0.0, -G))
    carrier = mech.add_body("carrier", mass=2.0, inertia=(0.2, 0.3, 0.35), angular_velocity=(0.8, -0.5, 1.2))
    mech.add_joint("hang", bc.Spherical(), mech.ground.marker(), carrier.marker())
    geared(kind, distance, False, carrier, mech)
    mech.add_force("motor", bc.JointMotor(0.5), "axle w0")
    run = started(mech).run(2.0)
    turns = {joint.name: k for k, joint in enumerate(started(mech).model.joints)}
    first, second = (run.q[:, turns[f"axle w{k}"] + 2] for k in (0, 1))  # after the three angles of "hang"
    assert np.ptp(first) > 1.0
    np.testing.assert_allclose(second - second[0], ratio * (first - first[0]), atol=1e-9)


def test_the_multiplier_of_a_gear_is_the_force_at_its_rim():
    mech, _ = geared(bc.Gear(radii=RADII), 0.5)
    mech.add_force("motor", bc.JointMotor(0.6), "axle w0")
    machine = started(mech)
    _, angular, multipliers = machine.system.accelerate()
    assert abs(multipliers[-1]) == pytest.approx(J[1] * abs(angular[1, 2]) / RADII[1], rel=1e-12)
    assert 0.6 - RADII[0] * abs(multipliers[-1]) == pytest.approx(J[0] * angular[0, 2], rel=1e-12)


@pytest.mark.parametrize("angle", [pi / 2, 1.1, 2.2])
def test_bevel_gears(angle):
    """Axes from a common apex, outwards: seen along their axes the wheels turn against each other."""
    mech = bc.Mechanism("bevel", gravity=(0.0, 0.0, 0.0))
    axes = ((0.0, 0.0, 1.0), (sin(angle), 0.0, cos(angle)))
    bodies = [
        wheel(mech, f"w{k}", mech.ground, tuple(0.4 * np.array(axes[k])), J[k], axes[k]) for k in (0, 1)
    ]
    ends = [body.marker(axis=axis) for body, axis in zip(bodies, axes, strict=True)]
    mech.add_constraint("gear", bc.BevelGear(teeth=(20, 40)), *ends)
    mech.add_force("motor", bc.JointMotor(0.6), "axle w0")
    run = started(mech).run(5.0)
    expected = 0.3 / (J[0] + 0.25 * J[1]) * run.time**2
    np.testing.assert_allclose(run.q[:, 0], expected, atol=1e-9)
    np.testing.assert_allclose(run.q[:, 1], -0.5 * expected, atol=1e-9)


def test_a_rack_and_its_pinion():
    """The teeth on the +y side of the pinion: a turn about +z pushes the rack towards −x."""
    mech = bc.Mechanism("rack", gravity=(0.0, 0.0, 0.0))
    pinion = wheel(mech, "pinion", mech.ground, (0.0, 0.0, 0.0), J[0])
    rack = mech.add_body("rack", mass=3.0, inertia=(0.1, 0.1, 0.1), position=(0.0, RADII[0], 0.0))
    x = {"x_axis": (1.0, 0.0, 0.0), "z_axis": (0.0, 0.0, 1.0)}
    mech.add_joint("rail", bc.PrismaticX(), mech.ground.marker((0.0, RADII[0], 0.0), **x), rack.marker(**x))
    mech.add_constraint("teeth", bc.RackPinion(RADII[0]), rack.marker(**x), pinion.marker(**x))
    mech.add_force("motor", bc.JointMotor(0.6), "axle pinion")
    run = started(mech).run(2.0)
    expected = 0.3 / (J[0] + 3.0 * RADII[0] ** 2) * run.time**2
    np.testing.assert_allclose(run.q[:, 0], expected, atol=1e-10)
    # The point of the pinion at +y moves by −r θ along x, and the rack with it.
    np.testing.assert_allclose(run.q[:, 1], -RADII[0] * expected, atol=1e-10)


@pytest.mark.parametrize("pitch", [0.4, -0.1])
def test_a_nut_runs_down_a_screw(pitch):
    """m z'' + J θ'' θ/z = m g with z = p θ/2π: z'' = g/(1 + J (2π/p)²/m)."""
    mech = bc.Mechanism("screw", gravity=(0.0, 0.0, -G))
    nut = mech.add_body("nut", mass=1.5, inertia=(0.01, 0.01, 0.004))
    mech.add_joint("thread", bc.Screw(pitch), mech.ground.marker(), nut.marker())
    run = started(mech).run(2.0)
    fall = -0.5 * G / (1.0 + 0.004 * (2 * pi / pitch) ** 2 / 1.5) * run.time**2
    np.testing.assert_allclose(run.position[:, 0, 2], fall, atol=1e-9)
    np.testing.assert_allclose(run.q[:, 0], fall * 2 * pi / pitch, atol=1e-8)


def three_wheels():
    mech = bc.Mechanism("wheels", gravity=(0.0, 0.0, 0.0))
    for k, inertia in enumerate((0.3, 0.2, 0.5)):
        wheel(mech, f"w{k}", mech.ground, (0.0, 0.0, 0.1 * k), inertia)
    return mech


@pytest.mark.parametrize(
    ("kind", "weights"),
    [
        (bc.Differential(), (1.0, 1.0, -2.0)),
        (bc.PlanetaryGear(20, 50), (20.0, 50.0, -70.0)),
        (bc.Coupling((1.5, -2.0, 0.5)), (1.5, -2.0, 0.5)),
    ],
)
def test_three_shafts(kind, weights):
    """A row w between three shafts: J θ'' = τ + w λ and w θ'' = 0 give λ = −(w τ/J)/(w²/J)."""
    mech = three_wheels()
    mech.add_constraint("row", kind, "axle w0", "axle w1", "axle w2")
    torque = np.array([0.6, -0.2, 0.3])
    for k in range(3):
        mech.add_force(f"motor{k}", bc.JointMotor(torque[k]), f"axle w{k}")
    run = started(mech).run(1.0)
    inertia, w = np.array([0.3, 0.2, 0.5]), np.array(weights)
    acceleration = (torque - w * (w @ (torque / inertia)) / (w @ (w / inertia))) / inertia
    np.testing.assert_allclose(run.q, 0.5 * np.outer(run.time**2, acceleration), atol=1e-10)


def test_a_planetary_gear_with_its_planets():
    """Sun, ring and carrier with three planets as bodies, against the constraint without them.

    The planets' rows say the same twice over. They add inertia: each turns with the carrier and about its
    pin.
    """
    sun, planet, count = 0.2, 0.15, 3
    ring = sun + 2 * planet
    mech = bc.Mechanism("planets", gravity=(0.0, 0.0, 0.0))
    parts = [wheel(mech, name, mech.ground, (0.0, 0.0, 0.0), i) for name, i in (("sun", 0.3), ("ring", 0.5))]
    carrier = wheel(mech, "carrier", mech.ground, (0.0, 0.0, 0.0), 0.2)
    z = (0.0, 0.0, 1.0)
    for k in range(count):
        turn = 2 * pi * k / count
        place = ((sun + planet) * cos(turn), (sun + planet) * sin(turn), 0.0)
        body = wheel(mech, f"planet{k}", carrier, place, 0.01)
        mech.add_constraint(
            f"sun{k}", bc.Gear(radii=(sun, planet)), parts[0].marker(axis=z), body.marker(axis=z)
        )
        mech.add_constraint(
            f"ring{k}", bc.InternalGear(radii=(ring, planet)), parts[1].marker(axis=z), body.marker(axis=z)
        )
    mech.add_force("sun motor", bc.JointMotor(0.6), "axle sun")
    mech.add_force("ring motor", bc.JointMotor(-0.4), "axle ring")
    machine = started(mech)
    run = machine.run(2.0)
    s, r, c = run.q[:, 0], run.q[:, 1], run.q[:, 2]
    np.testing.assert_allclose(sun * s + ring * r - (sun + ring) * c, 0.0, atol=1e-9)
    assert np.ptp(c) > 0.1

    # T = ½ (Js s'² + Jr r'² + Jc' c'²) + ½ n Jp p'², with p' = c' − (s' − c') sun/planet the planets' spin
    def mass_matrix():
        spin = np.array([-sun / planet, 1.0 + sun / planet])  # of a planet by (s', c')
        ring_speed = np.array([-sun / ring, (sun + ring) / ring])
        M = np.diag([0.3, 0.2 + count * 1.0 * (sun + planet) ** 2])
        return M + 0.5 * np.outer(ring_speed, ring_speed) + count * 0.01 * np.outer(spin, spin), ring_speed

    M, ring_speed = mass_matrix()
    force = np.array([0.6, 0.0]) - 0.4 * ring_speed
    acceleration = np.linalg.solve(M, force)
    np.testing.assert_allclose(np.column_stack([s, c]), 0.5 * np.outer(run.time**2, acceleration), atol=1e-8)


def hanging(mech, name, mass, x, height=-1.0):
    """A weight on a vertical guide."""
    body = mech.add_body(name, mass=mass, inertia=(0.1, 0.1, 0.1), position=(x, 0.0, height))
    mech.add_joint(f"guide {name}", bc.Prismatic(), mech.ground.marker((x, 0.0, 0.0)), body.marker())
    return body


def test_atwoods_machine():
    """Two weights on a cable over two eyelets: a = g (m2 − m1)/(m1 + m2), tension 2 g m1 m2/(m1 + m2)."""
    mech = bc.Mechanism("atwood")
    one, two = hanging(mech, "one", 2.0, 0.0), hanging(mech, "two", 3.0, 1.0)
    eyelets = [mech.ground.marker((x, 0.0, 0.0)) for x in (0.0, 1.0)]
    mech.add_constraint("cable", bc.Cable(), one.marker(), *eyelets, two.marker())
    machine = started(mech)
    run = machine.run(0.5)
    np.testing.assert_allclose(run.q[:, 0], -1.0 + 0.5 * G / 5.0 * run.time**2, atol=1e-10)
    np.testing.assert_allclose(run.q[:, 0] + run.q[:, 1], -2.0, atol=1e-10)
    multiplier = machine.system.accelerate()[2][-1]
    assert abs(multiplier) == pytest.approx(2.0 * G * 6.0 / 5.0, rel=1e-10)


def test_a_block_and_tackle():
    """The cable runs to the ground through an eyelet on the load: it bears twice, and moves half as far."""
    mech = bc.Mechanism("tackle")
    load, weight = hanging(mech, "load", 4.0, 0.0), hanging(mech, "weight", 3.0, 1.0)
    top, over = mech.ground.marker((0.0, 0.0, 0.0)), mech.ground.marker((1.0, 0.0, 0.0))
    mech.add_constraint("cable", bc.Cable(), top, load.marker(), top, over, weight.marker())
    run = started(mech).run(0.5)
    # 2 z_load + z_weight stays: m1 z'' = 2 T − m1 g, m2 (−2 z'') = T − m2 g
    acceleration = G * (2 * 3.0 - 4.0) / (4.0 + 4 * 3.0)
    np.testing.assert_allclose(run.q[:, 0], -1.0 + 0.5 * acceleration * run.time**2, atol=1e-10)
    np.testing.assert_allclose(run.q[:, 1], -1.0 - acceleration * run.time**2, atol=1e-10)


def test_a_winch():
    """A drum of radius r lets a weight down: a = g/(1 + J/(m r²))."""
    mech = bc.Mechanism("winch")
    load = hanging(mech, "load", 4.0, 0.0)
    wheel(mech, "drum", mech.ground, (0.5, 0.0, 0.0), 0.3, axis=(0.0, 1.0, 0.0))
    top = mech.ground.marker((0.0, 0.0, 0.0))
    mech.add_constraint("cable", bc.Winch(0.2), "axle drum", top, load.marker())
    run = started(mech).run(1.0)
    fall = 0.5 * G / (1.0 + 0.3 / (4.0 * 0.2**2)) * run.time**2
    np.testing.assert_allclose(run.q[:, 0], -1.0 - fall, atol=1e-10)
    np.testing.assert_allclose(run.q[:, 1], fall / 0.2, atol=1e-9)


def test_a_spindle_drives_a_slide():
    """Travel of one joint by the angle of another, by a pitch."""
    mech = bc.Mechanism("spindle", gravity=(0.0, 0.0, 0.0))
    wheel(mech, "spindle", mech.ground, (0.0, 0.0, 0.0), 0.3)
    hanging(mech, "slide", 4.0, 1.0)
    mech.add_constraint("nut", bc.ScrewCoupling(0.5), "guide slide", "axle spindle")
    mech.add_force("motor", bc.JointMotor(0.6), "axle spindle")
    run = started(mech).run(2.0)
    angle = 0.3 / (0.3 + 4.0 * (0.5 / (2 * pi)) ** 2) * run.time**2
    np.testing.assert_allclose(run.q[:, 0], angle, atol=1e-10)
    np.testing.assert_allclose(run.q[:, 1], -1.0 + 0.5 / (2 * pi) * angle, atol=1e-10)


FORMULATIONS = ("lagrange", "recursive", "dca", "symbolic")
TORQUE, INERTIA, SHIFT = 0.6, 1.0, 0.3
WHEELS = [
    (bc.Gear(radii=(0.1, 0.2)), 0.1, 0.2),
    (bc.Gear(ratio=2.0), 1.0, 2.0),
    (bc.InternalGear(radii=(0.1, 0.4)), 0.1, -0.4),
    (bc.Belt(radii=(0.1, 0.2)), 0.1, -0.2),
    (bc.Belt(teeth=(10, 30), crossed=True), 1.0, 3.0),
]


def wheels(kind, ends):
    mech = bc.Mechanism("wheels", gravity=(0, 0, 0))
    for name, x in (("a", 0.0), ("b", SHIFT)):
        body = mech.add_body(name, mass=1, inertia=(INERTIA,) * 3, position=(x, 0, 0))
        mech.add_joint("j" + name, bc.Revolute(), mech.ground.marker((x, 0, 0)), body)
    mech.add_constraint("mesh", kind, *ends)
    return mech


@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize(("kind", "one", "two"), WHEELS)
@pytest.mark.parametrize("ends", [("a", "b"), ("b", "a"), ("ja", "jb"), ("jb", "ja")])
def test_wheels(kind, one, two, ends, formulation):
    """The row one a + two b: λ = −one T/(one² + two²) where T turns wheel a, first end or second."""
    mech = wheels(kind, ends)
    mech.add_force("motor", bc.JointMotor(TORQUE), joint="ja")
    first = one if ends[0].endswith("a") else two
    expected = -first * TORQUE / (one**2 + two**2)
    effort = bc.prepare(mech, formulation).accelerate().constraint("mesh").effort
    assert effort == pytest.approx(expected, rel=1e-9)
    assert bc.simulate(mech, 0.1, formulation=formulation).constraint("mesh").effort == pytest.approx(
        expected, rel=1e-6
    )


@pytest.mark.parametrize("ends", [("a", "b"), ("ja", "jb")])
@pytest.mark.parametrize(("kind", "one", "two"), WHEELS)
def test_wheels_in_inverse_dynamics_and_statics(kind, one, two, ends):
    """What a wheel takes to speed up the other, or to hold it: its effort is against that of the motor."""
    mech = wheels(kind, ends)
    mech.add_drive("motor", "ja", position=bc.Polynomial((0.0, 0.0, 0.5)))
    mesh = bc.inverse_dynamics(mech, 0.5, 0.1).constraint("mesh")
    # Of wheel b: two λ = I b'', b'' = −one/two.
    assert mesh.effort == pytest.approx(-INERTIA * one / two**2, rel=1e-9)
    held = wheels(kind, ends)
    held.add_drive("brake", "ja", position=bc.Constant(0.0))
    held.add_force("load", bc.JointMotor(TORQUE), joint="jb")
    assert bc.statics(held).constraints["mesh"].effort == pytest.approx(-TORQUE / two, rel=1e-9)


@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize("ends", [("a", "b"), ("ja", "jb")])
def test_a_rack(ends, formulation):
    """A pinion that rolls along a rack that stands: the effort pushes the pinion along x."""
    radius, mass = 0.1, 2.0
    mech = bc.Mechanism("rack", gravity=(0, 0, 0))
    carriage = mech.add_body("carriage", mass=mass, inertia=(1, 1, 1))
    pinion = mech.add_body("pinion", mass=mass, inertia=(INERTIA,) * 3)
    mech.add_joint("ja", bc.PrismaticX(), mech.ground, carriage)
    mech.add_joint("jb", bc.Revolute(), carriage, pinion)
    given = {"a": mech.ground, "b": pinion}
    mech.add_constraint("teeth", bc.RackPinion(radius), *(given.get(end, end) for end in ends))
    mech.add_force("push", bc.JointMotor(TORQUE), joint="ja")
    acceleration = TORQUE / (2 * mass + INERTIA / radius**2)
    effort = bc.prepare(mech, formulation).accelerate().constraint("teeth").effort
    assert effort == pytest.approx(2 * mass * acceleration - TORQUE, rel=1e-9)


@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize("driven", [0, 1, 2])
def test_a_differential(driven, formulation):
    """The torque on side a: λ = −w T/6 for weights 1, 1, −2."""
    mech = bc.Mechanism("differential", gravity=(0, 0, 0))
    for k in range(3):
        body = mech.add_body(f"w{k}", mass=1, inertia=(INERTIA,) * 3)
        mech.add_joint(f"j{k}", bc.Revolute(), mech.ground, body)
    mech.add_constraint("row", bc.Differential(), "j0", "j1", "j2")
    mech.add_force("motor", bc.JointMotor(TORQUE), f"j{driven}")
    effort = bc.prepare(mech, formulation).accelerate().constraint("row").effort
    assert effort == pytest.approx(-(1.0, 1.0, -2.0)[driven] * TORQUE / 6.0, rel=1e-9)


def test_what_pushes_back_has_the_other_sign():
    """The motor's torque less what speeds wheel a up is left, and the effort times its radius is that."""
    mech = wheels(bc.Gear(radii=(0.1, 0.2)), ("a", "b"))
    mech.add_force("motor", bc.JointMotor(TORQUE), joint="ja")
    run = bc.simulate(mech, 0.1, accelerations=True)
    left = INERTIA * run.joint("ja").acceleration[:, 0] - TORQUE
    np.testing.assert_allclose(0.1 * run.constraint("mesh").effort, left, rtol=1e-8)
