"""Derivatives of rests: closed forms, and differences of whole searches at other values of parameters."""

import math

import numpy as np
import pytest
from rigs.moved_rests import wrong
from rigs.parametric import parallelogram, parallelogram_on_a_spring

import bellcrank as bc
from bellcrank import gallery
from bellcrank.errors import MechanismError, Unsupported
from bellcrank.linear.differences import derivatives
from bellcrank.mechanism.rotation_arrays import rotate

Y = (0.0, 1.0, 0.0)
G = 9.81


def crane(name="crane", drive="-40 deg"):
    """A jib that hangs from a boom by a stay."""
    mech = bc.Mechanism(name)
    p = {
        "mass": mech.add_parameter("mass", 20.0, "kg"),
        "stiffness": mech.add_parameter("stiffness", 4000.0, "N/m"),
        "rest": mech.add_parameter("rest", 1.2, "m"),
        "reach": mech.add_parameter("reach", 0.5, "m"),
        "angle": mech.add_parameter("angle", -0.7, "rad"),
        "load": mech.add_parameter("load", 300.0, "N"),
        "slope": mech.add_parameter("slope", 0.2, "rad"),
    }
    boom = mech.add_body("boom", mass=50.0, inertia=(1, 20, 20), position=(1, 0, 0))
    jib = mech.add_body("jib", mass=p["mass"], inertia=(1, 5, 5), position=(2.5, 0, 0))
    mech.add_joint("foot", bc.Revolute(), mech.ground.marker(axis=Y), boom.marker((-1, 0, 0), axis=Y))
    ends = boom.marker((1, 0, 0), axis=Y), jib.marker((-0.5, 0, 0), axis=Y)
    mech.add_joint("knee", bc.Revolute(), *ends)
    mech.add_force(
        "rub", bc.JointFriction(coulomb=5.0, viscous=2.0, regularisation_velocity=1e-3), joint="knee"
    )
    mech.add_drive("hoist", joint="foot", position=p["angle"] if drive == "-40 deg" else drive(p))
    stay = bc.SpringDamper(stiffness=p["stiffness"], rest_length=p["rest"])
    mech.add_force("stay", stay, boom.marker((0.4, 0, 0.4)), jib.marker((0.1 * p["slope"], 0, 0)))
    mech.add_force("load", bc.Wrench(force=(0, 0, -p["load"])), jib.marker((p["reach"], 0, 0), name="tip"))
    return mech


def values_of(rest, names):
    """Quantities as `bc.statics` and the state have them."""
    found = []
    for name in names:
        kind, owner, part = name.split(".")[:3]
        if kind == "marker":
            owner, part = part, name[-1]
            number = list(rest.at.bodies).index("jib")
            arm = rotate(rest.state.rotation[number], (rest.at.parameters["reach"].value, 0.0, 0.0))
            found.append((rest.state.position[number] + arm)["xyz".index(part)])
        elif kind == "body":
            found.append(rest.state.position[list(rest.at.bodies).index(owner)]["xyz".index(part)])
        elif kind == "drive":
            found.append(rest.drives[owner].effort)
        elif kind == "constraint":
            found.append(rest.constraints[owner].effort)
        elif part[0] in "MF" and part[1] in "xyz":
            reaction = rest.joints[owner]
            found.append((reaction.moment if part[0] == "M" else reaction.force)["xyz".index(part[1])])
        else:
            free = rest.at.joints[owner].kind.free
            found.append(rest.position[owner][free.index(part)])
    return np.array(found)


def beside_searches(rest, of, by, rtol=2e-8):
    """Beside extrapolated differences of whole searches from this rest."""
    exact = rest.sensitivity(of, by)
    np.testing.assert_allclose(exact.value, values_of(rest, exact.outputs), rtol=1e-9, atol=1e-9)
    values = {name: rest.at.parameters[name].value for name in exact.inputs}
    at = np.array(list(values.values()))

    def searched(point):
        changed = rest.at.with_parameters(**dict(zip(values, point.tolist(), strict=True)))
        return values_of(bc.statics(changed), exact.outputs)

    def sample(points):
        return np.array([searched(point) for point in points])

    wanted = derivatives(sample, at, 0.02 * np.where(at == 0.0, 1.0, np.abs(at)))
    size = np.max(np.abs(wanted.matrix), axis=1, keepdims=True) + 1e-6
    off = np.abs(exact.array - wanted.matrix) - 10.0 * wanted.error
    assert np.max(off / size) < rtol
    return exact


OF = ("position", "effort", "reaction", "body.jib.x", "body.jib.z")


def test_a_crane_by_all_that_it_is_made_of():
    mech = crane()
    found = beside_searches(bc.statics(mech), OF, "parameters")
    assert np.all(found.unique)
    assert found.units["drive.hoist.effort"] == "N m"
    assert found.inputs == tuple(mech.parameters)


def test_it_is_that_of_the_values_that_parameters_have(tmp_path):
    """Not of those with which they were made; the picture as well."""
    rest = bc.statics(crane().with_parameters(reach=0.7, angle=-0.5))
    found = beside_searches(
        rest, ["effort", "marker.jib.tip.x", "marker.jib.tip.z"], ["reach", "angle", "load"]
    )
    assert found.inputs == ("reach", "angle", "load")
    rest.draw(tmp_path / "crane.png", dpi=50)


def test_a_spring_scale_in_closed_form():
    mech = bc.Mechanism("scale")
    k, c = mech.add_parameter("k", 500.0, "N/m"), mech.add_parameter("c", 8.0, "N s/m")
    m = mech.add_parameter("m", 2.0, "kg")
    pan = mech.add_body("pan", mass=m, inertia=(1e-3,) * 3, position=(0, 0, -0.3))
    mech.add_joint("rail", bc.Prismatic(), mech.ground.marker(), pan.marker())
    mech.add_force("spring", bc.SpringDamper(k, c, rest_length=0.3), mech.ground, pan)
    found = bc.statics(mech).sensitivity("joint.rail.z", ["k", "c", "m"])
    np.testing.assert_allclose(found.array[0], [2 * G / 500.0**2, 0.0, -G / 500.0], rtol=1e-12, atol=1e-18)


def test_a_bar_on_a_torsion_spring_in_closed_form():
    """k θ = m g l cos θ:  δθ (k + m g l sin θ) = m g l cos θ δl / l."""
    mech = bc.Mechanism("bar")
    length, k = mech.add_parameter("l", 0.5, "m"), 30.0
    bar = mech.add_body("bar", mass=2.0, inertia=(0.1, 0.1, 0.1), position=(0.5, 0, 0))
    mech.add_joint("pin", bc.Revolute(), mech.ground.marker(axis=Y), bar.marker((-length, 0, 0), axis=Y))
    mech.add_force("coil", bc.TorsionSpring(k), joint="pin")
    rest = bc.statics(mech)
    angle = float(rest.position["pin"][0])
    assert k * angle == pytest.approx(2.0 * G * 0.5 * math.cos(angle), rel=1e-10)
    wanted = 2.0 * G * math.cos(angle) / (k + 2.0 * G * 0.5 * math.sin(angle))
    assert rest.sensitivity("pin.theta_z", "l").array[0, 0] == pytest.approx(wanted, rel=1e-11)


@pytest.mark.parametrize("name", ["andrews_squeezer", "spring_slider_crank", "four_bar", "bricard_linkage"])
def test_gallery_by_gravity(name):
    mech = getattr(gallery, name)()
    factor = mech.add_parameter("factor", 1.0)
    mech.gravity = tuple(factor * one for one in mech.gravity)
    rest = bc.statics(mech)
    of = [f"body.{one}.{axis}" for one in mech.bodies for axis in "xz"]
    beside_searches(rest, [*of, "position"], "factor", rtol=1e-6)


def test_a_redundant_loop_and_what_it_shares():
    """Cranks of one length, by one parameter, which a spring holds aside."""
    mech = parallelogram_on_a_spring()
    rest = bc.statics(mech)
    found = beside_searches(rest, ["position", "body.coupler.x"], ["arm", "stiffness"])
    assert np.any(np.abs(found.array) > 1e-3)
    shared = rest.sensitivity("reaction", "stiffness")
    assert not np.all(shared.unique)
    assert np.all(np.isnan(shared.array[~shared.unique]))
    with pytest.raises(MechanismError, match=r"left\.Mx.*not unique"):
        rest.sensitivity("joint.left.Mx", "stiffness")


@pytest.mark.parametrize("aside", [0.0, 12.0])
def test_a_parameter_that_opens_a_loop_is_refused_by_name(aside):
    """Where all cranks hang straight down, loops stay closed to first order by chance."""
    mech = parallelogram(2.5)
    mech.gravity = (0.0, -G, 0.0)
    mech.add_force("aside", bc.Wrench(force=(aside, 0.0, 0.0)), mech.bodies["plate"])
    rest = bc.statics(mech)
    with pytest.raises(MechanismError, match=r"parameter 'middle'.*loops do not stay closed"):
        rest.sensitivity("position", ["heavy", "middle"])
    found = rest.sensitivity("foot 0.theta_z", "heavy")  # tan θ = F / m g
    weight = 1.3 * G
    assert found.array[0, 0] == pytest.approx(-aside * G / (weight**2 + aside**2), rel=1e-9, abs=1e-12)


def stopped(gap=0.3, load=40.0):
    """A bar that a load turns against a stop, and a weight that hangs from it on a spring."""
    mech = bc.Mechanism("stopped")
    limit, pull = mech.add_parameter("limit", gap, "rad"), mech.add_parameter("pull", load, "N")
    bar = mech.add_body("bar", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(0.5, 0, 0))
    mech.add_joint(
        "pin", bc.Revolute(), mech.ground.marker(axis=Y), bar.marker((-0.5, 0, 0), axis=Y),
        limits=bc.Limit(-1.0, limit),
    )  # fmt: skip
    weight = mech.add_body("weight", mass=2.0, inertia=(0.01,) * 3, position=(1.0, 0, -0.5))
    mech.add_force("wire", bc.SpringDamper(300.0, rest_length=0.4), bar.marker((0.5, 0, 0)), weight)
    mech.add_joint("guide", bc.Prismatic(), mech.ground.marker((0.8, 0, 0)), weight.marker())
    mech.add_force("pull", bc.Wrench(force=(0, 0, -pull)), bar.marker())
    return mech


def test_a_stop_that_pushes_stays_closed():
    rest = bc.statics(stopped())
    assert np.any(rest.limits["pin"].efforts)
    found = beside_searches(rest, ["position", "reaction", "body.weight.z"], "parameters")
    assert found["joint.pin.theta_z", "limit"] == pytest.approx(1.0, rel=1e-12)
    assert found["joint.pin.theta_z", "pull"] == pytest.approx(0.0, abs=1e-15)


def test_a_stop_that_is_open_takes_no_part():
    mech = stopped(gap=1.2, load=-40.0)
    mech.add_force("coil", bc.TorsionSpring(50.0), joint="pin")
    found = beside_searches(bc.statics(mech), ["position"], "parameters")
    assert found["joint.pin.theta_z", "limit"] == 0.0


def test_a_stop_without_a_load_is_refused_by_name():
    mech = bc.Mechanism("idle")
    k = mech.add_parameter("k", 500.0, "N/m")
    block = mech.add_body("block", mass=2.0, inertia=(0.1,) * 3)
    mech.add_joint("rail", bc.Prismatic(), mech.ground.marker(axis="x"), block.marker(axis="x"),
                   limits=bc.Limit(0.0, 1.0))  # fmt: skip
    mech.add_force("spring", bc.SpringDamper(k, rest_length=0.5), mech.ground.marker((-0.5, 0, 0)), block)
    with pytest.raises(MechanismError, match=r"rail.*touched and does not push"):
        bc.statics(mech).sensitivity("position", "k")


@pytest.mark.parametrize("aside", [0.0, 1e-4, -1e-4])
def test_a_support_about_to_touch_is_refused(aside):
    mech = bc.Mechanism("scale")
    m = mech.add_parameter("m", 2.0, "kg")
    pan = mech.add_body("pan", mass=m, inertia=(1e-3,) * 3, position=(0, 0, -0.3))
    mech.add_joint("rail", bc.Prismatic(), mech.ground.marker(), pan.marker())
    mech.add_force("spring", bc.SpringDamper(500.0, rest_length=0.3), mech.ground, pan)
    support = bc.OneSidedSpring(800.0, contact=-0.3 - 2.0 * G / 500.0 + aside, side="below")
    mech.add_force("support", support, joint="rail")
    rest = bc.statics(mech)
    if aside == 0.0:
        with pytest.raises(MechanismError, match=r"stiffness jumps.*rail\.z.*about to touch"):
            rest.sensitivity("position", "m")
    else:
        wanted = -G / (500.0 if aside < 0.0 else 1300.0)
        assert rest.sensitivity("position", "m").array[0, 0] == pytest.approx(wanted, rel=1e-10)


def test_neutral_directions_are_named():
    mech = bc.Mechanism("loose")
    k = mech.add_parameter("k", 500.0, "N/m")
    block = mech.add_body("block", mass=2.0, inertia=(0.1,) * 3, position=(0, 0, -0.5))
    mech.add_joint("slides", bc.Planar(), mech.ground.marker(axis="y"), block.marker(axis="y"))
    mech.add_force("spring", bc.TorsionSpring(k), joint="slides", coordinate="theta_z")
    mech.gravity = (0.0, 0.0, 0.0)
    with pytest.raises(MechanismError) as caught:
        bc.statics(mech).sensitivity("position", "k")
    text = str(caught.value)
    assert "slides.x 1" in text
    assert "slides.y 1" in text
    assert "slides.theta_z" not in text


def test_drives_stand_still_and_those_that_move_keep_their_numbers():
    mech = crane("swings", lambda p: bc.Harmonic(-0.7, 2.0, phase=0.3))
    found = beside_searches(bc.statics(mech), OF, ["mass", "reach"])
    assert found["drive.hoist.effort", "reach"] != 0.0
    mech = crane("swings", lambda p: bc.Harmonic(p["angle"], 2.0, phase=0.3))
    with pytest.raises(MechanismError, match=r"by 'angle'.*hoist.*moves at t = 0 s.*constant position"):
        bc.statics(mech).sensitivity("effort", ["mass", "angle"])
    mech = crane("creeps", lambda p: bc.Harmonic(p["angle"] + 0.7, 2.0, phase=0.3))
    with pytest.raises(MechanismError, match=r"by 'angle'.*moves at t = 0 s"):
        bc.statics(mech).sensitivity("effort", ["angle"])


def test_an_input_may_move_a_drive_that_stands_still():
    mech = crane("steered", lambda p: bc.Input("lift", -0.7, "rad"))
    by_input = bc.statics(mech).sensitivity(OF, "inputs")
    by_angle = bc.statics(crane()).sensitivity(OF, "angle")
    assert by_input.inputs == ("lift",)
    np.testing.assert_allclose(by_input.array, by_angle.array, rtol=1e-8, atol=1e-8)


def test_pinned_bodies_stay():
    """Two bars that hang on each other, the upper one held level."""
    mech = bc.Mechanism("held")
    length, pull = mech.add_parameter("length", 0.5, "m"), mech.add_parameter("pull", 3.0, "N")
    upper = mech.add_body("upper", mass=1.0, inertia=(0.1,) * 3, position=(0.5, 0, 0))
    lower = mech.add_body("lower", mass=1.0, inertia=(0.1,) * 3, position=(1.5, 0, 0))
    mech.add_joint("1", bc.Revolute(), mech.ground.marker(axis=Y), upper.marker((-0.5, 0, 0), axis=Y))
    ends = upper.marker((0.5, 0, 0), axis=Y), lower.marker((-length, 0, 0), axis=Y)
    mech.add_joint("2", bc.Revolute(), *ends)
    mech.add_force("pull", bc.Wrench(force=(pull, 0, 0)), lower.marker())
    rest = bc.statics(mech, pinned="upper")
    np.testing.assert_allclose(rest.joints["2"].force, [-3.0, 0.0, G], atol=1e-9)
    assert not rest.joints["1"].reaction_unique
    found = rest.sensitivity(["joint.2.theta_z", "joint.2.Fx", "body.upper.z"], ["length", "pull"])
    tilt = math.atan2(3.0, G)
    np.testing.assert_allclose(found.array[0], [0.0, -(math.cos(tilt) ** 2) / G], atol=1e-10)
    np.testing.assert_allclose(found.array[1:], [[0.0, -1.0], [0.0, 0.0]], atol=1e-10)


@pytest.mark.parametrize("seed", range(2, 6))
def test_random_trees_and_loops_and_modes_about_them(seed):
    assert wrong(seed) == ""


def test_parameters_that_are_no_numbers_of_the_model_are_refused_by_name():
    mech = crane()
    place = mech.add_parameter("place", 0.5, "m")
    law = bc.TabulatedSpring(bc.CubicSpline((0.0, place, 9.0), (10.0, 0.0, -50.0)))
    mech.add_force("table", law, mech.ground.marker((2.0, 0, -1.0)), mech.bodies["jib"])
    with pytest.raises(Unsupported, match="'place'"):
        bc.statics(mech).sensitivity("position", "place")


def test_velocity_constraints_are_refused_by_name():
    rest = bc.statics(gallery.benchmark_bicycle(), leave_unstable=False)
    with pytest.raises(MechanismError, match="holds velocities only"):
        rest.sensitivity("position", [])


def test_constraints_that_move_with_time_are_refused_by_name():
    mech = crane()
    angle = bc.EndCoordinate("angle")
    mech.add_constraint("turns", bc.CustomConstraint((angle,), (angle.value - 0.3 - 0.2 * bc.t,)), "knee")
    with pytest.raises(MechanismError, match=r"constraint 'turns'.*moves with time at t = 0 s"):
        bc.statics(mech).sensitivity("position", "mass")


def test_by_nothing_there_are_values():
    found = bc.statics(crane()).sensitivity("effort", [])
    assert found.array.shape == (1, 0)
    assert found.value.shape == (1,)


def test_where_nothing_can_move_rows_alone_move_it():
    mech = bc.Mechanism("fixed")
    reach = mech.add_parameter("reach", 0.4, "m")
    arm = mech.add_body("arm", mass=2.0, inertia=(0.1,) * 3, position=(0.4, 0, 0))
    mech.add_joint("weld", bc.Fixed(), mech.ground, arm.marker((-reach, 0, 0)))
    found = bc.statics(mech).sensitivity(["body.arm.x", "joint.weld.Fz"], "reach")
    np.testing.assert_allclose(found.array, [[1.0], [0.0]], atol=1e-12)


def test_wrong_names_are_all_listed():
    rest = bc.statics(crane())
    with pytest.raises(MechanismError) as caught:
        rest.sensitivity(["drive.hoisd.effort", "joint.knee.Fz"], ["masss", "time", "foot.theta_z"])
    text = str(caught.value)
    for name in ("hoisd", "masss", "'time'", "foot.theta_z"):
        assert name in text
