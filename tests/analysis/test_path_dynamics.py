"""Inverse dynamics of markers on paths, against equations of motion by hand and runs by the efforts found."""

import numpy as np
import pytest
from rigs.swinging import G

import bellcrank as bc

AXIS = (0.0, -1.0, 0.0)
HAND = ("0.65 + 0.1*cos(2*t)", "0", "0.2 + 0.1*sin(2*t)")


def arm(drives=("shoulder", "elbow")):
    """Two links in a vertical plane, and a hand."""
    mech = bc.Mechanism("arm")
    upper = mech.add_body("upper", mass=3.0, inertia=(0.1, 0.1, 0.02), position=(0.25, 0, 0))
    lower = mech.add_body("lower", mass=2.0, inertia=(0.05, 0.05, 0.01), position=(0.7, 0, 0))
    first = mech.ground.marker(axis=AXIS), upper.marker((-0.25, 0, 0), axis=AXIS)
    second = upper.marker((0.25, 0, 0), axis=AXIS), lower.marker((-0.2, 0, 0), axis=AXIS)
    mech.add_joint("shoulder", bc.Revolute(), *first, position=0.8)
    mech.add_joint("elbow", bc.Revolute(), *second, position=-1.2)
    mech.add_marker(lower.marker((0.2, 0, 0), name="hand"))
    for joint in drives:
        mech.add_drive(f"{joint} motor", joint, position={"shoulder": 0.8, "elbow": -1.2}[joint])
    return mech


def efforts(run):
    """Torques of the arm by Lagrange's equations, written out."""
    q, v, a = (run.store.read(section) for section in ("coordinates", "rates", "coordinate_accelerations"))
    (t1, t2), (w1, w2), (a1, a2) = q.T, v.T, a.T
    l1, c1, c2, m1, m2, i1, i2 = 0.5, 0.25, 0.2, 3.0, 2.0, 0.1, 0.05
    coupled = m2 * (c2**2 + l1 * c2 * np.cos(t2)) + i2
    inertia = i1 + i2 + m1 * c1**2 + m2 * (l1**2 + c2**2 + 2 * l1 * c2 * np.cos(t2))
    h = -m2 * l1 * c2 * np.sin(t2)
    g2 = m2 * c2 * G * np.cos(t1 + t2)
    g1 = (m1 * c1 + m2 * l1) * G * np.cos(t1) + g2
    first = inertia * a1 + coupled * a2 + h * (2 * w1 * w2 + w2**2) + g1
    return first, coupled * a1 + (i2 + m2 * c2**2) * a2 - h * w1**2 + g2


@pytest.mark.parametrize("chosen", ["lagrange", "recursive", "symbolic", "dca"])
def test_a_hand_on_a_circle(chosen):
    run = bc.inverse_dynamics(arm(), 3.0, 0.05, along={"lower.hand": HAND}, formulation=chosen)
    assert run.drives == ("shoulder motor", "elbow motor")
    first, second = efforts(run)
    np.testing.assert_allclose(run.drive("shoulder motor").effort, first, atol=1e-9)
    np.testing.assert_allclose(run.drive("elbow motor").effort, second, atol=1e-9)
    hand = run.body("lower").point((0.2, 0, 0))
    np.testing.assert_allclose(hand[:, 0], 0.65 + 0.1 * np.cos(2 * run.time), atol=1e-10)
    np.testing.assert_allclose(hand[:, 2], 0.2 + 0.1 * np.sin(2 * run.time), atol=1e-10)
    assert np.max(run.violation.position) < 1e-11


def test_joints_supply_the_efforts_where_there_are_no_drives():
    run = bc.inverse_dynamics(arm(drives=()), 1.0, 0.1, along={"lower.hand": bc.Path(HAND)})
    assert run.drives == ("shoulder", "elbow")
    np.testing.assert_allclose(run.drive("elbow").effort, efforts(run)[1], atol=1e-9)


def test_a_drive_may_go_on_beside_a_path():
    mech = arm(drives=("shoulder",))
    # Both joints of the arm are driven on; a body beside it follows a path along its rail.
    rail = mech.add_body("rail", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(0.0, 1.0, 0.0))
    X = (1.0, 0.0, 0.0)
    mech.add_joint("slide", bc.Prismatic(), mech.ground.marker((0, 1, 0), axis=X), rail.marker(axis=X))
    mech.add_drive("hold", "elbow", position=-1.2)
    run = bc.inverse_dynamics(
        mech, 1.0, 0.1, along={rail.marker(): ("0.1*t^2", "1", "0")}, keep=["shoulder motor", "hold"]
    )
    assert set(run.drives) == {"shoulder motor", "hold", "slide"}
    np.testing.assert_allclose(run.drive("slide").effort, 0.2, atol=1e-10)


def test_the_efforts_found_make_the_same_motion():
    """A run forwards by these torques, as splines, follows the path."""
    run = bc.inverse_dynamics(arm(), 1.0, 0.002, along={"lower.hand": HAND})
    mech = arm(drives=())
    for name in ("shoulder", "elbow"):
        table = bc.CubicSpline(run.time, run.drive(f"{name} motor").effort)
        mech.add_force(name, bc.JointMotor(table), joint=name)
    forward = bc.simulate(mech, 1.0, state=run.at(0.0), method="dopri5", tolerance=1e-11)
    np.testing.assert_allclose(forward.at(1.0).position, run.at(1.0).position, atol=1e-7)


def test_wrong_paths_are_refused_together():
    with pytest.raises(bc.MechanismError, match=r"no marker of this name|hnad") as error:
        bc.inverse_dynamics(arm(), 1.0, along={"lower.hnad": HAND}, keep=["shoulder"])
    assert len(error.value.faults) == 2
    for along, text in (
        ({}, "it must name markers"),
        ({"lower.hand": {"curve": HAND}}, "a path takes"),
        ({"lower.hand": ("t", "0")}, "three functions"),
    ):
        with pytest.raises(bc.MechanismError, match=text):
            bc.inverse_dynamics(arm(), 1.0, along=along)
    three = arm()
    tool = three.add_body("tool", mass=0.2, inertia=(0.01, 0.01, 0.01), position=(0.9, 0, 0))
    three.add_joint(
        "wrist", bc.Revolute(), three.bodies["lower"].marker((0.2, 0, 0), axis=AXIS), tool.marker(axis=AXIS)
    )
    with pytest.raises(bc.MechanismError, match="leave 1 degrees of freedom open"):
        bc.inverse_dynamics(three, 1.0, along={"lower.hand": HAND})
    with pytest.raises(bc.MechanismError, match="need a Mechanism"):
        bc.inverse_dynamics(bc.prepare(arm()).model, 1.0, along={"lower.hand": HAND})
    with pytest.raises(bc.MechanismError, match="keep: it is for markers on paths"):
        bc.inverse_dynamics(arm(), 1.0, keep=["shoulder motor"])


def boom(**cylinder):
    """A boom on a hinge, lifted by a cylinder whose length is measured by a joint that holds nothing."""
    mech = bc.Mechanism("boom", gravity=(0.0, -G, 0.0))
    body = mech.add_body("boom", mass=10.0, inertia=(1, 1, 1), com=(1, 0, 0), rotation=bc.rotation("z", 0.2))
    mech.add_joint("hinge", bc.Revolute(), mech.ground, body)
    mech.add_joint("cylinder", bc.Free(), mech.ground.marker((0.5, -0.8, 0)), body.marker((1, 0, 0)))
    if cylinder:
        mech.add_drive("ram", "cylinder", coordinate="distance", **cylinder)
    return mech, {body.marker((2, 0, 0)): ("2*cos(0.2 + 0.1*t)", "2*sin(0.2 + 0.1*t)", "0")}


class TestWhatSuppliesTheEfforts:
    @pytest.mark.parametrize("cylinder", [{"position": 0.0, "relative": True}, {"velocity": 0.0}])
    def test_a_drive_of_any_coordinate(self, cylinder):
        mech, along = boom(**cylinder)
        run = bc.inverse_dynamics(mech, 1.0, 0.1, along=along)
        assert run.drives == ("ram",)
        turned = 0.2 + 0.1 * run.time
        x, y = np.cos(turned) - 0.5, np.sin(turned) + 0.8
        lever = (np.cos(turned) * y - np.sin(turned) * x) / np.hypot(x, y)
        np.testing.assert_allclose(run.drive("ram").effort, 10 * G * np.cos(turned) / lever, rtol=1e-12)

    def test_all_drives_share_what_one_could_supply(self):
        mech, along = boom(position=0.0, relative=True)
        mech.add_drive("motor", "hinge", position=0.0, relative=True)
        run = bc.inverse_dynamics(mech, 1.0, 0.1, along=along)
        assert set(run.drives) == {"ram", "motor"}
        turned = 0.2 + 0.1 * run.time
        x, y = np.cos(turned) - 0.5, np.sin(turned) + 0.8
        lever = (np.cos(turned) * y - np.sin(turned) * x) / np.hypot(x, y)
        torque = run.drive("motor").effort + lever * run.drive("ram").effort
        np.testing.assert_allclose(torque, 10 * G * np.cos(turned), rtol=1e-12)

    def test_without_drives_joints_that_turn_do_and_none_of_a_rod(self):
        mech, along = boom()
        rod = mech.add_body("rod", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(0.0, 1.0, 0.0))
        mech.add_joint("strut", bc.Distance(), mech.ground, rod.marker((0.1, 0.0, 0.0)))
        mech.add_joint("slide", bc.Prismatic(), mech.ground.marker((0, 1, 0), axis="x"), rod.marker(axis="x"))
        run = bc.inverse_dynamics(mech, 1.0, 0.1, along=along)
        assert run.drives == ("hinge",)

    def test_what_nothing_moves_is_named(self):
        mech = bc.Mechanism("ball")
        body = mech.add_body("body", mass=1.0, inertia=(1, 1, 1), position=(0.0, 0.0, -1.0))
        mech.add_joint("ball", bc.Spherical(), mech.ground, body.marker((0.0, 0.0, 1.0)))
        along = {body.marker(): {"path": ("0", "0", "-1"), "orientation": ("0", "0", "0.1*t")}}
        with pytest.raises(bc.MechanismError, match=r"add drives: nothing moves joint 'ball' \(rot_x\)"):
            bc.inverse_dynamics(mech, 1.0, along=along)

    def test_a_path_that_would_be_lost_is_named(self):
        mech, along = boom()
        cart = mech.add_body("cart", mass=1.0, inertia=(1, 1, 1))
        mech.add_joint("slide", bc.Prismatic(), mech.ground, cart)
        mech.add_drive("cart's path", marker=cart.marker(), path=bc.Path(("0", "0", "0.1*t")))
        with pytest.raises(bc.MechanismError, match=r"cart's path.*no path in along="):
            bc.inverse_dynamics(mech, 1.0, along=along)
        both = along | {cart.marker(): ("0", "0", "0.1*t")}
        assert set(bc.inverse_dynamics(mech, 1.0, 0.1, along=both).drives) == {"hinge", "slide"}
