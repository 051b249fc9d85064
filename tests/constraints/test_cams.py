"""Cams and followers: closed forms of kinematics, geometry, forces and lift-off; all formulations alike."""

import contextlib
from dataclasses import replace
from math import asin, cos, pi, sin, sqrt

import numpy as np
import pytest

import bellcrank as bc
from bellcrank import io

FORMULATIONS = ("lagrange", "recursive", "symbolic", "dca")
EXACT = {"method": "dopri5", "rtol": 1e-10, "atol": 1e-12}
RISE = 0.012
LAW = bc.CamMotion((0, pi / 3, pi, 4 * pi / 3, 2 * pi), (0, 0, RISE, RISE, 0), ("cycloidal", *["3-4-5"] * 3))
SWING = bc.CamMotion((0, pi / 3, pi, 4 * pi / 3, 2 * pi), (0, 0, 0.2, 0.2, 0), "modified sine")
MASS, STIFFNESS, PRELOAD = 0.2, 4000.0, 60.0
FOLLOWERS = {
    "roller": bc.CamFollower(LAW, 0.04, roller_radius=0.01, width=0.012),
    "offset roller": bc.CamFollower(LAW, 0.04, roller_radius=0.01, offset=0.008, width=0.012),
    "knife": bc.CamFollower(LAW, 0.04, "knife", offset=-0.005),
    "flat": bc.CamFollower(LAW, 0.04, "flat", width=0.012),
    "swinging roller": bc.CamFollower(SWING, 0.04, roller_radius=0.01, distance=0.12, arm=0.1),
    "swinging face": bc.CamFollower(SWING, 0.04, "flat", distance=0.12, offset=0.01),
}


def sliding(kind, markers=True, speed=20.0, base=(0.0, 0.0, 0.0), **options):
    """A cam at `base` and a follower that slides along y, pressed on by a spring."""
    mech = bc.Mechanism("cam", gravity=(0, 0, 0))
    x, y, z = base
    height = kind.base_radius + (kind.roller_radius or 0.0)
    low = sqrt(height**2 - kind.offset**2)
    cam = mech.add_body("cam", 1.0, (1e-3,) * 3, position=base, angular_velocity=(0, 0, speed))
    follower = mech.add_body("follower", MASS, (1e-4,) * 3, position=(x + kind.offset, y + low, z))
    mech.add_joint("shaft", bc.Revolute(), mech.ground.marker(base), cam.marker())
    rail = mech.ground.marker(follower.position, axis="y")
    mech.add_joint("guide", bc.Prismatic(), rail, follower.marker(axis="y"))
    mech.add_drive("motor", joint="shaft", velocity=speed)
    mech.add_force("spring", bc.TorsionSpring(STIFFNESS, preload=-PRELOAD), "guide")
    ends = (cam.marker(), follower.marker()) if markers else ("shaft", "guide")
    mech.add_constraint("cam", replace(kind, **options), *ends)
    return mech


def swinging(kind, markers, speed=20.0):
    """A cam at the origin and an arm about a pivot on the x axis, pressed on by a spring."""
    mech, away, rest = bc.Mechanism("swing", gravity=(0, 0, 0)), kind.distance, kind._rest
    cam = mech.add_body("cam", 1.0, (1e-3,) * 3, angular_velocity=(0, 0, speed))
    lean = (cos(rest / 2), 0, 0, -sin(rest / 2))
    arm = mech.add_body("arm", MASS, (1e-3,) * 3, position=(away, 0, 0), rotation=lean)
    mech.add_joint("shaft", bc.Revolute(), mech.ground, cam)
    pin = mech.ground.marker((away, 0, 0), axis="-z", x_axis=(-cos(rest), sin(rest), 0))
    mech.add_joint("pivot", bc.Revolute(), pin, arm.marker(axis="-z", x_axis="-x"))
    mech.add_drive("motor", joint="shaft", velocity=speed)
    mech.add_force("spring", bc.TorsionSpring(40.0, preload=-3.0), "pivot")
    ends = (cam.marker(), arm.marker((-(kind.arm or 0), 0, 0))) if markers else ("shaft", "pivot")
    mech.add_constraint("cam", kind, *ends)
    return mech


@pytest.mark.parametrize("grooved", [False, True])
@pytest.mark.parametrize("ends", ["markers", "joints"])
@pytest.mark.parametrize("name", FOLLOWERS)
@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_the_follower_follows_its_law(formulation, name, ends, grooved):
    """q = s(wt) and the effort m w² s'' + k s + F, in closed form."""
    kind, markers = replace(FOLLOWERS[name], grooved=grooved), ends == "markers"
    if name == "swinging face" and markers:
        return
    turns = name.startswith("swing")
    mech = swinging(kind, markers) if turns else sliding(kind, markers)
    run = bc.simulate(mech, 0.35, step=0.005, formulation=formulation, **EXACT)
    angle, value = run.joint("shaft").position[:, 0], run.joint("pivot" if turns else "guide").position[:, 0]
    law = kind.law
    wanted = (
        1e-3 * 400.0 * law.derivative(angle, 2) + 40.0 * law(angle) + 3.0
        if turns
        else MASS * 400.0 * law.derivative(angle, 2) + STIFFNESS * law(angle) + PRELOAD
    )
    cam = run.constraint("cam")
    np.testing.assert_allclose(value, law(angle), atol=1e-9 * RISE + 1e-12)
    np.testing.assert_allclose(cam.effort, wanted, rtol=1e-9, atol=1e-9)
    assert cam.units == ("N m" if turns else "N",)
    np.testing.assert_allclose(cam.quantity("cam_angle"), angle, atol=1e-9)
    assert np.abs(cam.quantity("gap")).max() < 1e-11


@pytest.mark.parametrize("name", [name for name in FOLLOWERS if not name.startswith("swing")])
def test_bearings_carry_the_contact_force(name):
    """The guide carries what the contact exerts across, the shaft all; a face is loaded where it touches."""
    mech = sliding(FOLLOWERS[name], base=(0.3, -0.2, 0.1))
    run = bc.simulate(mech, 0.32, step=0.002, reactions=True, **EXACT)
    cam, guide, shaft = run.constraint("cam"), run.joint("guide"), run.joint("shaft")
    np.testing.assert_allclose(guide.force[:, 0], cam.quantity("side_force"), atol=1e-8)
    np.testing.assert_allclose(np.hypot(*shaft.force[:, :2].T), cam.quantity("contact_force"), atol=1e-8)
    # The motor's torque is that of virtual work, effort times s'.
    slope = LAW.derivative(run.joint("shaft").position[:, 0])
    np.testing.assert_allclose(run.drive("motor").effort, cam.effort * slope, atol=1e-9)
    if name == "flat":
        np.testing.assert_allclose(guide.moment[:, 2], -cam.effort * slope, atol=1e-9)
    else:
        np.testing.assert_allclose(guide.moment[:, 2], 0.0, atol=1e-9)


def test_standard_laws_have_their_published_peaks():
    """Norton, Cam Design and Manufacturing Handbook: peak velocity and acceleration, h/beta and h/beta²."""
    peaks = {
        "cycloidal": (2.0, 6.283),
        "modified sine": (1.760, 5.528),
        "3-4-5": (1.875, 5.774),
        "4-5-6-7": (2.188, 7.513),
        "harmonic": (1.571, 4.945),
        "parabolic": (2.0, 4.0),
    }
    angle = np.linspace(0.5, 2.5, 20001)
    for law, (velocity, acceleration) in peaks.items():
        motion = bc.CamMotion((0.5, 2.5, 0.5 + 2 * pi), (0.0, 0.03, 0.0), law)
        assert motion.derivative(angle, 1).max() * 2.0 / 0.03 == pytest.approx(velocity, abs=1e-3)
        assert motion.derivative(angle, 2)[1:-1].max() * 4.0 / 0.03 == pytest.approx(acceleration, rel=3e-3)
        assert motion(1.5) == pytest.approx(0.015)
    x = np.linspace(0.0, 1.0, 9)
    motion = bc.CamMotion((0.0, 2.0, 2 * pi), (0.0, 0.03, 0.0))
    np.testing.assert_allclose(motion(2.0 * x), 0.03 * (x - np.sin(2 * pi * x) / (2 * pi)), atol=1e-16)


@pytest.mark.parametrize("name", ["roller", "offset roller", "knife"])
def test_pressure_angle_of_an_offset_follower(name):
    """tan = (s' - e)/(sqrt(r² - e²) + s)."""
    kind = FOLLOWERS[name]
    cam = kind.profile()
    low = sqrt((kind.base_radius + (kind.roller_radius or 0.0)) ** 2 - kind.offset**2)
    wanted = np.arctan2(cam.slope - kind.offset, low + cam.lift)
    np.testing.assert_allclose(cam.pressure_angle, wanted, atol=1e-14)


@pytest.mark.parametrize("name", FOLLOWERS)
def test_outlines_are_envelopes(name):
    """Against differences: every point of the outline moves along it, and no follower ever cuts into it."""
    kind, angle = FOLLOWERS[name], np.linspace(0.0, 2 * pi, 4001)
    cam = kind.profile(angle)
    away = np.roll(cam.outline[:-1], -1, axis=0) - np.roll(cam.outline[:-1], 1, axis=0)
    if cam.pitch is not None:
        # The line from the outline to the middle of the roller is normal to both.
        to_middle = cam.pitch - cam.outline
        if kind.roller_radius:
            np.testing.assert_allclose(np.linalg.norm(to_middle, axis=1), kind.roller_radius, rtol=1e-12)
            along = np.abs(np.sum(to_middle[:-1] * away, axis=1)) / np.linalg.norm(away, axis=1)
            assert np.median(along) < 1e-6 * kind.roller_radius
            assert along.max() < 2e-3 * kind.roller_radius  # where the curvature jumps
        for place in (100, 1700, 3100):
            distance = np.linalg.norm(cam.outline - cam.pitch[place], axis=1)
            assert distance.min() > (kind.roller_radius or 0.0) - 1e-12
    # Curvature by three points.
    a, b, c = cam.outline[:-2], cam.outline[1:-1], cam.outline[2:]
    (x1, y1), (x2, y2) = (b - a).T, (c - b).T
    area = x1 * y2 - y1 * x2
    with np.errstate(all="ignore"):
        circle = np.prod([np.linalg.norm(d, axis=1) for d in (b - a, c - b, a - c)], axis=0) / (-2.0 * area)
    smooth = np.abs(np.diff(cam.curve, 2)) < 1e-4 * np.abs(cam.curve).max()
    np.testing.assert_allclose(1.0 / circle[smooth], 1.0 / cam.radius[1:-1][smooth], rtol=2e-3, atol=0.3)


def test_a_flat_face_touches_at_the_slope():
    """In the frame the contact lies at x = s', and the radius of curvature is r + s + s''."""
    cam = FOLLOWERS["flat"].profile()
    c, s = np.cos(cam.angle), np.sin(cam.angle)
    x, y = cam.outline[:, 0] * c - cam.outline[:, 1] * s, cam.outline[:, 0] * s + cam.outline[:, 1] * c
    np.testing.assert_allclose((x, y), (cam.slope, 0.04 + cam.lift), atol=1e-15)
    np.testing.assert_allclose(cam.radius, 0.04 + cam.lift + cam.curve, atol=1e-15)


def test_a_face_that_swings_touches_the_cam():
    """The line of the face is a tangent: the outline lies on one side of it, and touches."""
    kind = FOLLOWERS["swinging face"]
    outline = kind.profile(np.linspace(0, 2 * pi, 20001)).outline
    for angle in (0.3, 1.4, 2.5, 5.0):
        swung = asin(0.05 / 0.12) + float(SWING(angle))
        turn = np.array([[cos(angle), -sin(angle)], [sin(angle), cos(angle)]])
        height = (outline @ turn.T - [0.12, 0.0]) @ [sin(swung), cos(swung)] + kind.offset
        assert height.max() == pytest.approx(0.0, abs=1e-9)


def test_an_eccentric_disc_is_a_cam():
    """A flat face on an eccentric disc moves by e (1 - cos): the outline is a circle."""
    kind = bc.CamFollower(bc.Harmonic(0.01, 1.0, phase=-pi / 2, offset=0.01), 0.03, "flat")
    outline = kind.profile(np.linspace(0.0, 6.0, 50)).outline
    np.testing.assert_allclose(np.linalg.norm(outline - [0.0, -0.01], axis=1), 0.04, rtol=1e-13)
    np.testing.assert_allclose(kind.profile().radius, 0.04, rtol=1e-13)


@pytest.mark.parametrize("law", ["spline", "table", "b-spline", "polynomial"])
def test_other_functions_are_laws(law):
    angle = np.linspace(0.0, 2 * pi, 13)
    lift = 0.006 * (1.0 - np.cos(angle)) + 0.001 * np.sin(angle) ** 2
    lift[-1] = lift[0]
    laws = {
        "spline": bc.CubicSpline(angle, lift, "periodic"),
        "table": bc.Table(angle, lift, extrapolation="periodic"),
        "b-spline": bc.Nurbs(
            (0.0, 0.0, 0.004, 0.012, 0.012, 0.003, 0.0, 0.0), degree=3,
            knots=(*[0.0] * 4, 1.0, 2.5, 3.5, 5.0, *[2 * pi] * 4),
        ),
        "polynomial": bc.Piecewise(
            (0, pi, 2 * pi),
            ((0, 0, 0.03 / pi**2, -0.02 / pi**3), (0.01, 0, -0.03 / pi**2, 0.02 / pi**3)), "periodic",
        ),
    }  # fmt: skip
    kind = bc.CamFollower(laws[law], 0.08, roller_radius=0.01)
    run = bc.simulate(sliding(kind), 0.33, step=0.01, **EXACT)
    turned = np.mod(20.0 * run.time, 2 * pi)
    np.testing.assert_allclose(run.joint("guide").position[:, 0], laws[law](turned), atol=1e-9)


HARMONIC = bc.CamFollower(bc.CamMotion((0, pi, 2 * pi), (0, 0.01, 0), "harmonic"), 0.04, roller_radius=0.01)


def test_lift_off_speed_of_a_harmonic_law():
    """m w² h/2 = k h + F at the top of the lift."""
    wanted = sqrt((PRELOAD + STIFFNESS * 0.01) / (MASS * 0.005))
    assert HARMONIC.lift_off_speed(MASS, STIFFNESS, PRELOAD) == pytest.approx(wanted, rel=1e-12)
    assert HARMONIC.lift_off_speed(MASS, 1e9, 0.0) < HARMONIC.lift_off_speed(MASS, 1e9, 1.0)
    # Of a cycloid, against a fine search of its closed form.
    kind, x = (
        bc.CamFollower(bc.CamMotion((0, 2, 2 * pi), (0, 0.01, 0)), 0.05, "knife"),
        np.linspace(0.5, 1, 2000001),
    )
    pull = np.maximum(-0.01 / 4.0 * 2 * pi * np.sin(2 * pi * x), 1e-30)
    least = np.min((PRELOAD + STIFFNESS * 0.01 * (x - np.sin(2 * pi * x) / (2 * pi))) / (MASS * pull))
    assert kind.lift_off_speed(MASS, STIFFNESS, PRELOAD) == pytest.approx(sqrt(least), rel=1e-9)


@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize("ends", ["markers", "joints"])
def test_it_lifts_off_above_that_speed(formulation, ends):
    speed = HARMONIC.lift_off_speed(MASS, STIFFNESS, PRELOAD)
    for factor, flies in ((0.999, False), (1.02, True)):
        mech = sliding(HARMONIC, ends == "markers", speed * factor)
        run = bc.simulate(mech, 1.9 * pi / speed, output_step=1e-5, formulation=formulation, **EXACT)
        cam = run.constraint("cam")
        assert bool(cam.quantity("gap").max() > 1e-6) is flies
        assert cam.effort.min() >= -1e-9
        if flies:  # where m w² s'' + k s + F vanishes: h/2 (F + k h/2 (1 - cos)) = ... solved for cos
            w2 = MASS * (speed * factor) ** 2 * 0.005
            angle = np.arccos(-(PRELOAD + STIFFNESS * 0.005) / (w2 - STIFFNESS * 0.005))
            left = run.time[np.argmax(cam.effort < 1e-6)] * speed * factor
            assert left == pytest.approx(angle, abs=2e-5 * speed * factor)
            # In flight it swings about the spring's rest, x = -F/k + C cos(sqrt(k/m) (t - t0) + phase).
            t0, natural = angle / (speed * factor), sqrt(STIFFNESS / MASS)
            x0 = 0.005 * (1 - cos(angle)) + PRELOAD / STIFFNESS
            v0 = 0.005 * sin(angle) * speed * factor
            lands = run.events[0].time
            flying = (run.time > t0) & (run.time < lands)
            flight = x0 * np.cos(natural * (run.time - t0)) + v0 / natural * np.sin(natural * (run.time - t0))
            flown = run.joint("guide").position[flying, 0]
            np.testing.assert_allclose(flown, flight[flying] - PRELOAD / STIFFNESS, atol=1e-9)


@pytest.mark.parametrize("restitution", [0.0, 0.6])
def test_an_impact_on_the_cam_has_its_restitution(restitution):
    kind = bc.CamFollower(bc.CamMotion((0, 1, 3, 2 * pi), (0, 0, 0.01, 0), "4-5-6-7"), 0.04, "flat")
    mech = sliding(kind, restitution=restitution, speed=1e-6)
    mech.replace(mech.bodies["follower"], position=(0.0, 0.05, 0.0), velocity=(0, 0, 0))
    run = bc.simulate(mech, 0.05, output_step=1e-5, **EXACT)
    speed = run.joint("guide").velocity[:, 0]
    hit = np.searchsorted(run.time, run.events[0].time)
    assert speed[hit + 1] == pytest.approx(-restitution * speed[hit - 1], abs=5e-3)
    assert run.joint("guide").position.min() > -1e-9


def test_contact_pressure_is_that_of_hertz():
    kind = FOLLOWERS["offset roller"]
    run = bc.simulate(sliding(kind), 0.3, step=0.02)
    cam = run.constraint("cam")
    shape = kind.profile(cam.quantity("cam_angle"))
    for force, radius, pressure in zip(
        cam.quantity("contact_force"), shape.radius, cam.quantity("contact_pressure"), strict=True
    ):
        wanted = bc.hertz(force, radius, 0.01, length=0.012, modulus=2.06e11).pressure
        assert pressure == pytest.approx(wanted, rel=1e-12)
    assert run.constraint("cam").quantities["contact_pressure"] == "Pa"
    assert "constraint.cam.contact_pressure [Pa]" in run.to_dict()


def test_contact_pressure_on_both_flanks_of_a_groove():
    """The outer flank is hollow: its radius is that of the path and a roller's more."""
    kind = replace(FOLLOWERS["roller"], grooved=True)
    mech = sliding(kind, speed=200.0)
    mech.remove(mech.forces["spring"])
    cam = bc.simulate(mech, 0.03, step=0.001).constraint("cam")
    force, shape = cam.quantity("contact_force"), kind.profile(cam.quantity("cam_angle"))
    assert force.min() < -50.0
    assert force.max() > 50.0
    for load, path, pressure in zip(force, shape.pitch_radius, cam.quantity("contact_pressure"), strict=True):
        flank = path - 0.01 if load >= 0.0 else -(path + 0.01)
        options = {"length": 0.012, "modulus": 2.06e11}
        wanted = bc.hertz(abs(load), 0.01, flank, **options).pressure
        assert pressure == pytest.approx(wanted, rel=1e-9, abs=1e-3)


@pytest.mark.parametrize("method", ["bdf", "adams", "rk4", "moreau"])
def test_other_methods(method):
    options = {"step": 2e-5} if method in ("rk4", "moreau") else {"rtol": 1e-9, "atol": 1e-11}
    run = bc.simulate(sliding(FOLLOWERS["offset roller"]), 0.1, method=method, **options)
    close = 1e-5 if method == "moreau" else 1e-8
    np.testing.assert_allclose(run.joint("guide").position[:, 0], LAW(20.0 * run.time), atol=close)


def test_verify_judges_it():
    run = bc.simulate(sliding(FOLLOWERS["offset roller"]), 0.2, step=0.001, accelerations=True, **EXACT)
    assert bc.verify(run).passed
    assert bc.verify(swinging(FOLLOWERS["swinging roller"], True)).passed


@pytest.mark.parametrize("text", ["yaml", "json"])
def test_files(text):
    for kind in FOLLOWERS.values():
        mech = swinging(kind, False) if kind.distance else sliding(kind)
        assert io.loads(io.dumps(mech, text), text) == mech
    file = """
    bellcrank: 1
    bodies: {cam: {mass: 1, inertia: [1, 1, 1]}, f: {mass: 1, inertia: [1, 1, 1], position: [0, 50 mm, 0]}}
    joints:
      shaft: {type: Revolute, first: ground, second: cam}
      guide:
        {type: Prismatic, first: {body: ground, position: [0, 50 mm, 0], axis: y}, second: {body: f, axis: y}}
    constraints:
      cam: {type: CamFollower, ends: [cam, f], base_radius: 40 mm, roller_radius: 10 mm, width: 12 mm,
            modulus: 206 GPa, law: {type: CamMotion, angles: [0 deg, 60 deg, 180 deg, 240 deg, 360 deg],
            lifts: [0, 0, 12 mm, 12 mm, 0], laws: [cycloidal, 3-4-5, 3-4-5, 3-4-5]}}
    """
    read = io.loads(file, "yaml").constraints["cam"].kind
    assert read == replace(FOLLOWERS["roller"], law=read.law)
    np.testing.assert_allclose(read.law.angles, LAW.angles, rtol=1e-15)


REFUSED = {
    "roller_radius is missing": {"follower": "roller"},
    "roller_radius belongs to a roller": {"follower": "knife", "roller_radius": 0.01},
    "the arm is missing": {"follower": "knife", "distance": 0.1},
    "the arm has no use here": {"follower": "knife", "arm": 0.1},
    "there is no offset here": {"follower": "flat", "offset": 0.1},
    "does not reach the base circle": {"follower": "knife", "distance": 0.9, "arm": 0.1},
    "law must be a function of one turn of the cam": {"follower": "flat", "law": bc.Ramp(0, 1)},
    "law must have a continuous slope": {
        "follower": "flat",
        "law": bc.Table((0, pi, 2 * pi), (0, 0.01, 0), "linear", "periodic"),
    },
    "the follower reaches the shaft": {"follower": "knife", "law": bc.Harmonic(0.05, 1.0)},
    "the arm is in line with the shaft": {
        "follower": "knife",
        "distance": 0.1,
        "arm": 0.08,
        "law": bc.Harmonic(0.5, 1.0),
    },
    "the cam is undercut at an angle of": {"follower": "flat", "base_radius": 0.002},
    "no outline moves it so": {
        "roller_radius": 0.03,
        "base_radius": 0.01,
        "law": bc.CamMotion((0, 1, 2, 2 * pi), (0, 0.03, 0, 0)),
    },
    "poisson must lie between -1 and 0.5": {"follower": "flat", "poisson": 0.6},
    "modulus must be greater than zero": {"follower": "flat", "modulus": (1.0, -1.0)},
}


@pytest.mark.parametrize("message", REFUSED)
def test_what_no_cam_does_is_refused(message):
    with pytest.raises(bc.MechanismError, match=message):
        bc.CamFollower(**{"law": LAW, "base_radius": 0.04, **REFUSED[message]})


def test_wrong_laws_are_refused():
    for angles, lifts, laws, message in (
        ((0, 1, 3), (0, 1, 0), "cycloidal", "the angles must span one turn of the cam"),
        ((0, 1, 2 * pi), (0, 1, 1), "cycloidal", "the lift must come back to where it began"),
        ((0, 1, 2 * pi), (0, 0), "cycloidal", "there must be one lift for each angle"),
        ((0, 1, 2 * pi), (0, 1, 0), "cyclodal", "laws must be one of"),
        ((0, 1, 2 * pi), (0, 1, 0), ("harmonic",) * 3, "there must be one law for all segments"),
    ):
        with pytest.raises(bc.MechanismError, match=message):
            bc.CamMotion(angles, lifts, laws)


def test_wrong_ends_are_refused():
    mech = sliding(FOLLOWERS["roller"])
    with pytest.raises(bc.MechanismError, match="a flat face that swings takes two joints"):
        mech.add_constraint("face", FOLLOWERS["swinging face"], "cam", "follower")
    mech.add_constraint("turned", FOLLOWERS["roller"], "guide", "shaft")
    with pytest.raises(bc.MechanismError, match="the cam must turn about z of its joint"):
        bc.prepare(mech)
    mech.remove(mech.constraints["turned"])
    mech.add_constraint("arm", FOLLOWERS["swinging roller"], "shaft", "guide")
    with pytest.raises(bc.MechanismError, match="the follower swings: its coordinate must be in rad"):
        bc.prepare(mech)


def test_parameters_are_followed():
    """A parameter in the base circle and the lift: another value is another cam."""
    mech = sliding(FOLLOWERS["roller"])
    lift = mech.add_parameter("lift", RISE, "m")
    law = bc.CamMotion(LAW.angles, (0, 0, lift, lift, 0), LAW.laws)
    mech.replace(mech.constraints["cam"], kind=replace(FOLLOWERS["roller"], law=law))
    for value in (RISE, 0.5 * RISE):
        run = bc.simulate(mech.with_parameters(lift=value), 0.2, step=0.01, **EXACT)
        angle = run.joint("shaft").position[:, 0]
        np.testing.assert_allclose(run.joint("guide").position[:, 0], LAW(angle) * value / RISE, atol=1e-10)


def random_cam(seed):
    """A cam that a flywheel turns, with random law, follower and speed: slow, or so fast that it flies."""
    rng = np.random.default_rng(seed)
    count = int(rng.integers(2, 6))
    spans = rng.uniform(0.6, 1.4, count)
    angles = np.cumsum([rng.uniform(0.0, 1.0), *spans * 2 * pi / spans.sum()])
    lifts = rng.uniform(0.0, 0.02, count + 1)
    lifts[1:-1] = np.where(rng.random(count - 1) < 0.3, lifts[0], lifts[1:-1])
    lifts[-1] = lifts[0]
    names = ("cycloidal", "harmonic", "parabolic", "3-4-5", "4-5-6-7", "modified sine")
    law = bc.CamMotion(angles, lifts, tuple(rng.choice(names, count)))
    follower = str(rng.choice(["roller", "knife", "flat"]))
    given = {
        "follower": follower,
        "roller_radius": float(rng.uniform(0.005, 0.02)) if follower == "roller" else None,
        "offset": float(rng.uniform(-0.01, 0.01)) if follower != "flat" else 0.0,
        "grooved": bool(rng.random() < 0.3),
        "restitution": float(rng.choice([0.0, 0.5])),
    }
    base, kind = 0.03, None
    while kind is None:
        with contextlib.suppress(bc.MechanismError):  # it would be undercut
            kind = bc.CamFollower(law, base, **given)
        base *= 1.3
    fast = kind.lift_off_speed(MASS, STIFFNESS, PRELOAD) if np.ptp(lifts) > 0.0 else 100.0
    speed = float(min(fast, 400.0) * rng.uniform(0.3, 1.4))
    mech = sliding(kind, bool(rng.random() < 0.7), speed)
    mech.remove(mech.drives["motor"])
    mech.replace(mech.bodies["cam"], inertia=(0.05,) * 3)
    start = float(kind.law(0.0))
    x, y, z = mech.bodies["follower"].position
    rise = float(kind.law.derivative(0.0)) * speed
    mech.replace(mech.bodies["follower"], position=(x, y + start, z), velocity=(0, rise, 0))
    return mech, 2 * pi / speed


@pytest.mark.parametrize("seed", range(12))
def test_random_cams_agree_and_gain_no_energy(seed):
    mech, turn = random_cam(seed)
    runs = [bc.simulate(mech, 1.3 * turn, formulation=name, ledger=True, **EXACT) for name in FORMULATIONS]
    for run in runs:
        assert run.status == "finished"
        total = run.energy.total
        assert np.diff(total).max() < 1e-7 * np.abs(total).max()
        assert bc.verify(run).passed
    for run in runs[1:]:
        for joint in ("shaft", "guide"):
            np.testing.assert_allclose(run.joint(joint).position, runs[0].joint(joint).position, atol=2e-8)
        assert len(run.events) == len(runs[0].events)


@pytest.mark.parametrize("grooved", [False, True])
@pytest.mark.parametrize("formulation", ["lagrange", "recursive"])
def test_runs_are_differentiated_through_a_cam(formulation, grooved):
    mech = sliding(replace(FOLLOWERS["offset roller"], grooved=grooved))
    mech.remove(mech.drives["motor"])
    mech.replace(mech.bodies["cam"], inertia=(0.01,) * 3)
    stiffness = mech.add_parameter("stiffness", STIFFNESS, "N/m")
    mech.replace(mech.forces["spring"], kind=bc.TorsionSpring(stiffness, preload=-PRELOAD))
    options = {"duration": 0.1, "formulation": formulation, **EXACT}
    found = bc.sensitivity(mech, of="joint.shaft.theta_z", by="stiffness", **options)
    ends = [
        bc.simulate(mech.with_parameters(stiffness=STIFFNESS + side), **options)
        .joint("shaft")
        .position[-1, 0]
        for side in (1.0, -1.0)
    ]
    slope = 0.5 * (ends[0] - ends[1])
    assert found["joint.shaft.theta_z", "stiffness"][-1] == pytest.approx(slope, rel=1e-5)
