"""Hints on values that are hardly meant, on idle weight and on bodies that assembly moves far."""

import pytest

import bellcrank as bc
from bellcrank import gallery


def pendulum(axis="y", com=0.5, gravity=(0, 0, -9.81), **body):
    mech = bc.Mechanism("pendulum", gravity)
    rod = mech.add_body("rod", **{"mass": 1.0, "inertia": (0.1,) * 3, "position": (com, 0, 0), **body})
    mech.join("pin", bc.Revolute(), ["ground", rod], at=(0, 0, 0), axis=axis)
    return mech


def with_angle(what):
    mech = pendulum()
    given = {
        "limit": {"limits": bc.Limit(-90, 90)}, "position": {"position": 45}, "guess": {"guess": 45}
    }  # fmt: skip
    mech.replace(mech.joints["pin"], **given.get(what, {}))
    if what in ("drive", "ramp"):
        mech.add_drive("motor", "pin", position=180 if what == "drive" else bc.Ramp(0, 90))
    if what == "spring":
        mech.add_force("spring", bc.TorsionSpring(1.0, rest_angle=30), joint="pin")
    return mech


def of_shapes(*shapes, **body):
    mech = pendulum()
    for k, shape in enumerate(shapes):
        mech.add_body(f"b{k}", shapes=shape, position=(0, k, 0), **body)
    return mech


def strut(bore):
    mech = pendulum()
    ends = mech.ground.marker((0, 0, -1)), mech.bodies["rod"].marker((0, 0, 0))
    kind = bc.HydraulicCylinder(length=1.5, stroke=0.5, bore=bore, rod=0.02)
    mech.add_force("ram", kind, *ends)
    return mech


def uneven(*masses):
    mech = pendulum(mass=masses[0])
    for k, mass in enumerate(masses[1:]):
        mech.add_body(f"b{k}", mass, (mass,) * 3)
    return mech


def slide(axis):
    mech = bc.Mechanism("slide")
    block = mech.add_body("block", 1.0, (1, 1, 1))
    mech.join("rail", bc.Prismatic(), ["ground", block], at=(0, 0, 0), axis=axis)
    return mech


def arm(axis):
    """Two links whose axes are parallel."""
    mech = pendulum(axis)
    mech.join("elbow", bc.Revolute(), ["rod", mech.add_body("tip", 1.0, (1, 1, 1))], at=(1, 0, 0), axis=axis)
    return mech


def four_bar(gap):
    """A four-bar whose last joint does not fit by a gap, m."""
    mech = gallery.four_bar()
    name = next(iter(mech.bodies))
    body = mech.bodies[name]
    x, y, z = body.position
    mech.replace(body, position=(x, y + gap, z))
    return mech


SAID = {
    "joint 'pin': limit 'theta_z': -90 rad is -14.3 turns; if degrees are meant, write '-90 deg'":
        lambda: with_angle("limit"),
    "joint 'pin': position 'theta_z': 45 rad is 7.16 turns; if degrees": lambda: with_angle("position"),
    "joint 'pin': guess 'theta_z': 45 rad": lambda: with_angle("guess"),
    "drive 'motor': position: 180 rad is 28.6 turns": lambda: with_angle("drive"),
    "drive 'motor': position: 90 rad": lambda: with_angle("ramp"),
    "force 'spring': rest_angle: 30 rad": lambda: with_angle("spring"),
    "body 'b0': a density of 7.85 kg/m³ is that of a gas; if g/cm³ are meant, write '7.85 g/cm^3', or 7850":
        lambda: of_shapes(bc.Sphere(0.1, density=7.85)),
    "body 'b2': size of its Box is 80 m, the lengths around it are about 0.28 m; if millimetres are "
    "meant, write '80 mm', or 0.08":
        lambda: of_shapes(*(bc.Sphere(0.05, density=1e3),) * 2, bc.Box((80, 10, 10), density=1e3)),
    "force 'ram': a bore of 40 m is wider than the strut is long, 1.5 m; if millimetres are meant":
        lambda: strut(40),
    "body 'rod' has 0.001 kg beside 100 kg of body 'b0'; bare numbers are in kg, others are":
        lambda: uneven(0.001, 100.0),
    "body 'rod': its inertia of 2000 kg m² is that of 1 kg 44.7 m from its centre":
        lambda: pendulum(inertia=(2000,) * 3),
    "gravity of 9810 m/s² is 1000 times that of the earth": lambda: pendulum(gravity=(0, 0, -9810)),
    "weight acts along the axis (0, 0, 1) of joint 'pin': give another axis, or mech.gravity":
        lambda: pendulum("z"),
    "the centre of mass of body 'rod' lies on the axis of joint 'pin'": lambda: pendulum(com=0.0),
    "weight acts across joint 'rail', whose slide is level: give another axis": lambda: slide("x"),
    "weight acts along the axis (0, 0, 1) of joints 'pin', 'elbow': give": lambda: arm("z"),
}  # fmt: skip


@pytest.mark.parametrize("text", SAID)
def test_what_is_said(text):
    mech = SAID[text]()
    found = bc.info(mech)
    assert [hint for hint in found.hints if text in hint], found.hints
    assert f"  hint         {text}" in str(found)


SILENT = {
    "level": lambda: arm("y"),
    "a slide": lambda: slide("z"),
    "no weight": lambda: pendulum("z", gravity=(0, 0, 0)),
    "turning": lambda: pendulum("z", angular_velocity=(0, 0, 1)),
    "a turn": lambda: pendulum().with_parameters(),
    "masses": lambda: uneven(1.0, 1e-5, 1e-5, 1e-5),
    "foam": lambda: of_shapes(bc.Sphere(0.1, density=25.0)),
    "a gap, which the assembly shows": lambda: four_bar(0.5),
}


@pytest.mark.parametrize("name", SILENT)
def test_what_is_not(name):
    assert bc.info(SILENT[name]()).hints == ()


@pytest.mark.parametrize("name", gallery.catalogue())
def test_nothing_is_said_of_the_gallery(name):
    assert bc.info(gallery.catalogue()[name]()).hints == ()


def test_runs_show_them():
    level = bc.simulate(pendulum("z"), 0.1)
    assert level.status.message.startswith(
        "nothing moved: weight acts along the axis (0, 0, 1) of joint 'pin'"
    )
    assert bc.simulate(pendulum(), 0.1).status.message == ""
    assert "hints" not in bc.simulate(pendulum(), 0.1).statistics
    assert "hints" not in bc.simulate(four_bar(0.0), 0.01).statistics
    moved = bc.simulate(four_bar(0.5), 0.01)
    assert "assembly moved" in moved.statistics["hints"]
    assert "hints: as described the joints did not fit" in moved.summary()
    assert "90 rad" in bc.simulate(with_angle("limit"), 0.01).statistics["hints"]


def test_what_positions_of_joints_move_was_meant_to_move():
    mech = pendulum()
    mech.replace(mech.joints["pin"], position=1.0)
    assert bc.info(mech).hints == ()


def test_rotations():
    with pytest.warns(
        bc.HintWarning, match="rotation: angle: 90 rad is 14.3 turns; if degrees are meant, write"
    ):
        bc.rotation("z", 90)
    with pytest.warns(bc.HintWarning, match=r"rotation: rpy: -45 rad is -7.16 turns"):
        bc.rotation(rpy=(0, 0, -45))
    assert bc.rotation("z", "90 deg") == bc.rotation("z", "pi/2")
    bc.rotation("z", "450 deg")
    bc.rotation("z", 7.0)
