"""Rods and struts between two points of the world in one call."""

from math import pi

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.io.files import dumps
from bellcrank.shell.interpreter import Shell

RAM = {"bore": 0.063, "rod": 0.036, "length": 0.9, "stroke": 0.4}


def test_a_rod_weighs_what_its_size_says():
    mech = bc.Mechanism("rod")
    rod = mech.add_rod("rod", (1, 2, 3), (1, 2.6, 3.8), radius="2 cm", density=2700)
    assert rod.mass == pytest.approx(2700 * pi * 0.02**2)
    across = rod.mass * (1.0 / 12 + 0.02**2 / 4)
    np.testing.assert_allclose(np.diag(rod.inertia), (across, across, rod.mass * 0.02**2 / 2), rtol=1e-12)
    found = bc.scene.of(mech).state
    np.testing.assert_allclose(found.position[0], (1, 2, 3))
    end = mech.marker("rod.end")
    assert rod.position == (1, 2, 3)
    np.testing.assert_allclose(bc.mechanism.rotation.rotate(rod.rotation, end.position), (0, 0.6, 0.8))


def test_a_truss_of_pinned_rods():
    mech = bc.Mechanism("truss", gravity=(0, 0, -9.81))
    mech.add_rod("left", (-1, 0, 0), (0, 0, 1), 0.02)
    mech.join("left foot", bc.Revolute(), ["ground", "left"], (-1, 0, 0), "y")
    mech.add_rod("right", (1, 0, 0), (0, 0, 1), 0.02, between=("ground", "left"), axis="y")
    assert list(mech.joints) == ["left foot", "right start", "right end"]
    assert bc.info(mech).freedom == 0


def test_a_strut_brings_its_bodies_slide_and_pins():
    """A boom on a ram: the same motion as with the ram's force between two markers, its bodies made light."""

    def boom():
        mech = bc.Mechanism("boom", gravity=(0, 0, -9.81))
        mech.add_rod("boom", (0, 0, 0), (1.5, 0, 0.2), 0.04)
        mech.join("foot", bc.Revolute(), ["ground", "boom"], (0, 0, 0), "y")
        return mech

    kind = bc.HydraulicCylinder(**RAM, cap_pressure="1e5*(25 + 5*sin(6*t))", damping=2e3)
    low, high = (0.3, 0, -0.5), (0.6, 0, 0.08)
    with_bodies, between = boom(), boom()
    strut = with_bodies.add_strut("ram", kind, low, high, density=1e-3, between=("ground", "boom"), axis="y")
    assert (strut.barrel.name, strut.rod.name, strut.slide.name) == ("ram barrel", "ram rod", "ram")
    assert list(with_bodies.joints) == ["foot", "ram", "ram start", "ram end"]
    assert bc.info(with_bodies).freedom == 1
    body = between.bodies["boom"]
    between.add_force("ram", kind, between.ground.marker(low), body.world_marker(high))
    options = {"method": "dopri5", "tolerance": 1e-10, "formulation": "lagrange"}
    found = [bc.simulate(mech, 0.5, **options).force("ram") for mech in (with_bodies, between)]
    for name in ("length", "rate", "force", "cap_pressure"):
        heavy, light = (one.quantity(name) for one in found)
        np.testing.assert_allclose(heavy, light, rtol=0.0, atol=1e-6 * np.abs(light).max())


def test_a_strut_weighs_what_its_tube_and_rod_do():
    strut = bc.Mechanism("ram").add_strut("ram", bc.HydraulicCylinder(**RAM), (0, 0, 0), (0, 0, 0.7))
    tube = 7850 * pi * 0.5 * ((0.6 * 0.063) ** 2 - (0.5 * 0.063) ** 2)
    assert strut.barrel.mass == pytest.approx(tube)
    assert strut.rod.mass == pytest.approx(7850 * pi * 0.5 * 0.018**2)
    assert strut.barrel.com == pytest.approx((0, 0, 0.25))


def test_a_strut_in_space_does_not_spin():
    mech = bc.Mechanism("tripod", gravity=(0, 0, -9.81))
    plate = mech.add_body("plate", mass=50.0, inertia=(2, 2, 4), position=(0, 0, 0.7))
    for k in range(6):
        low, high = 1.047 * k + 0.3 * (-1) ** k, 1.047 * k - 0.2 * (-1) ** k
        feet = (0.5 * np.cos(low), 0.5 * np.sin(low), 0.0), (0.4 * np.cos(high), 0.4 * np.sin(high), 0.7)
        mech.add_strut(f"leg {k}", bc.HydraulicCylinder(**RAM), *feet, between=("ground", plate))
    assert bc.info(mech).freedom == 6


def test_without_soft_stops_the_slide_has_limits():
    mech = bc.Mechanism("ram")
    kind = bc.GasSpring(force=300.0, length=0.9, stroke=0.4, stop_stiffness=None)
    strut = mech.add_strut("gas", kind, (0, 0, 0), (0, 0.7, 0), bore="22 mm", rod="10 mm")
    assert strut.slide.limits == (("z", bc.Limit(0.5, 0.9)),)
    assert bc.loads(dumps(mech, "yaml")) == mech


def test_sizes_are_numbers():
    mech = bc.Mechanism("ram")
    reach = mech.add_parameter("reach", 0.9, "m")
    with pytest.raises(bc.MechanismError, match="2 faults"):
        mech.add_rod("rod", (0, 0, 0), (0, 0, reach), 0.02 * reach)
    spring = bc.GasSpring(force=1.0, length=reach, stroke=0.4 * reach)
    with pytest.raises(bc.MechanismError, match="strut 's': length must be a number, got reach"):
        mech.add_strut("s", spring, (0, 0, 0), (0, 0, 0.7), bore=0.02, rod=0.01)
    force = mech.add_parameter("force", 300.0, "N")
    softer = bc.GasSpring(force=force, length=0.9, stroke=0.4)
    mech.add_strut("s", softer, (0, 0, 0), (0, 0, 0.7), bore=0.02, rod=0.01)
    found = [
        bc.prepare(m).accelerate().body("s rod").linear[2] for m in (mech, mech.with_parameters(force=600.0))
    ]
    assert found[1] > found[0]


def test_faults_add_nothing():
    mech = bc.Mechanism("ram")
    kind = bc.HydraulicCylinder(**RAM)
    for make, message in (
        (
            lambda: mech.add_rod("rod", (0, 0, 0), (0, 0, 0), 0.1),
            "rod 'rod': start and end must be two points",
        ),
        (lambda: mech.add_rod("rod", (0, 0, 0), (0, 0), -0.1), "2 faults"),
        (
            lambda: mech.add_rod("rod", (0, 0, 0), (0, 0, 1), 0.1, between=("ground", "x")),
            "no body of this name",
        ),
        (lambda: mech.add_rod("rod", (0, 0, 0), (0, 0, 1), 0.1, between="ground"), "between must name two"),
        (
            lambda: mech.add_strut("s", kind, (0, 0, 0), (0, 0, 1.2)),
            "1.2 m apart, and it reaches from 0.5 to 0.9",
        ),
        (lambda: mech.add_strut("s", bc.SpringDamper(1.0), (0, 0, 0), (0, 0, 1)), "strut 's': the kind"),
        (
            lambda: mech.add_strut(
                "s", bc.GasSpring(force=1.0, length=0.9, stroke=0.5), (0, 0, 0), (0, 0, 0.7)
            ),
            "the stroke is at most half the length",
        ),
    ):
        with pytest.raises(bc.MechanismError, match=message):
            make()
        assert bc.Mechanism("ram") == mech


YAML = """
bellcrank: 1
bodies: {boom: {mass: 100, inertia: [1, 20, 20], position: [1, 0, 0]}}
members:
  stay: {type: Rod, start: [0, 0, -1], end: [1, 0, 0], radius: 20 mm, density: 2700}
  ram: {type: HydraulicCylinder, bore: 63 mm, rod: 36 mm, length: 0.9, stroke: 0.4, cap_pressure: 1e5*t,
        start: [0, 0, 0.2], end: [0.5, 0, 0.7], between: [ground, boom], axis: y}
  gas: {type: GasSpring, force: 300, length: 0.9, stroke: 0.4, bore: 22 mm, rod: 10 mm,
        start: [0, 0, 0], end: [0.7, 0, 0], between: [stay, boom]}
markers: {stay.top: {position: [0, 0, 1]}}
joints: {foot: {type: Revolute, bodies: [ground, stay, gas rod], at: [0, 0, -1], axis: y}}
"""
RAM_LINE = (
    "member ram HydraulicCylinder bore='63 mm' rod=0.036 length=0.9 stroke=0.4 cap_pressure=1e5*t "
    "start=[0, 0, 0.2] end=[0.5, 0, 0.7] between=[ground, boom] axis=y"
)


def test_files_and_the_shell_say_the_same(tmp_path):
    mech = bc.Mechanism()
    mech.add_body("boom", mass=100, inertia=(1, 20, 20), position=(1, 0, 0))
    mech.add_rod("stay", (0, 0, -1), (1, 0, 0), 0.02, 2700)
    ram = bc.HydraulicCylinder(bore=0.063, rod=0.036, length=0.9, stroke=0.4, cap_pressure="1e5*t")
    mech.add_strut("ram", ram, (0, 0, 0.2), (0.5, 0, 0.7), between=("ground", "boom"), axis="y")
    gas = bc.GasSpring(force=300, length=0.9, stroke=0.4)
    sizes = {"bore": "22 mm", "rod": "10 mm"}
    mech.add_strut("gas", gas, (0, 0, 0), (0.7, 0, 0), **sizes, between=("stay", "boom"))
    mech.add_marker(mech.bodies["stay"].marker((0, 0, 1), name="top"))
    mech.join("foot", bc.Revolute(), ["ground", "stay", "gas rod"], (0, 0, -1), "y")
    read = bc.loads(YAML)
    assert read == mech
    assert bc.loads(dumps(read, "yaml")) == mech

    shell = Shell()
    for line in (
        "new mechanism", "body boom mass=100 inertia=[1, 20, 20] position=[1, 0, 0]", "gravity 0 0 -9.81",
        "member stay Rod start=[0, 0, -1] end=[1, 0, 0] radius='20 mm' density=2700",
        RAM_LINE,
    ):  # fmt: skip
        reply = shell.execute(line)
        assert reply.ok, reply.text
    assert shell.session.mechanism.bodies["ram rod"] == mech.bodies["ram rod"]
    assert shell.session.mechanism.forces == {"ram": mech.forces["ram"]}


def test_faults_in_files_have_their_lines():
    text = """
bellcrank: 1
bodies: {boom: {mass: 100, inertia: [1, 20, 20]}}
members:
  a: {type: Rod, start: [0, 0, 0], end: [0, 0, 0], radius: 0.1}
  b: {type: Rope, start: [0, 0, 0], end: [0, 0, 1]}
  c: {type: GasSpring, force: 1, length: 0.9, stroke: 0.4, start: [0, 0, 0], end: [0, 0, 2], bore: 1, rod: 1}
  d: {type: Rod, start: [0, 0, 0], end: [0, 0, 1], between: [boom, bomm]}
joints: {foot: {type: Revolute, bodies: [ground, c rod, d], at: [0, 0, 0]}}
"""
    with pytest.raises(bc.MechanismError) as refused:
        bc.loads(text)
    found = str(refused.value)
    for part in (
        "line 5", "start and end must be two points", "no member of this type, got 'Rope'", "2 m apart",
        "the key 'radius' is missing", "there is no body of this name, got 'bomm'; did you mean 'boom'",
    ):  # fmt: skip
        assert part in found
    assert "5 faults" in found  # the joint's bodies are those of faulty members
