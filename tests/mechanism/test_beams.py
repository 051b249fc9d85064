"""Beams in mechanisms: what they make, how it follows them, files, parameters, placement, refusals."""

import re

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.mechanism.beams import gregory
from bellcrank.mechanism.contents import with_numbers
from bellcrank.mechanism.rotation import matrix

TUBE = bc.Section.tube(0.04, 0.002, E=210e9, nu=0.3, density=7850)


def crane(**given):
    """A hub on a hinge with a beam, and a load that hangs at its middle."""
    mech = bc.Mechanism("crane")
    hub = mech.add_body("hub", mass=3.0, inertia=(1, 1, 1), position=(1, 2, 3))
    mech.add_joint("slew", bc.Revolute(), mech.ground.marker((1, 2, 3)), hub)
    given = {"start": hub.marker((0.1, 0, 0)), "end": (3, 2, 3.5)} | given
    boom = mech.add_beam("boom", TUBE, **given)
    return mech, boom


def test_nodes_and_segments():
    mech, boom = crane(segments=6, damping=1e-3)
    assert boom is mech.beams["boom"]
    assert boom.nodes == tuple(f"boom/{k}" for k in range(7))
    assert list(mech.bodies) == ["hub", *boom.nodes]
    assert list(mech.forces) == list(boom.pieces) == [f"boom/e{k}" for k in range(1, 7)]
    line = np.array((3, 2, 3.5)) - (1.1, 2, 3)
    length = np.linalg.norm(line)
    axes = matrix(mech.bodies["boom/3"].rotation)
    assert axes[:, 0] == pytest.approx(line / length)
    assert axes[:, 1] == pytest.approx((0, 1, 0))
    places = [mech.bodies[name].position for name in boom.nodes]
    assert np.array(places) == pytest.approx((1.1, 2, 3) + np.linspace(0, 1, 7)[:, None] * line)
    one = mech.forces["boom/e3"]
    assert [marker.body for marker in one.markers] == ["boom/2", "boom/3"]
    assert (one.kind.length, one.kind.damping) == (pytest.approx(length / 6), 1e-3)
    weld = mech.joints["boom/start"]
    assert isinstance(weld.kind, bc.Fixed)
    assert mech.position_in_world(weld.marker_1) == pytest.approx(mech.position_in_world(weld.marker_2))
    assert list(mech.joints) == ["slew", "boom/start"]
    assert "1 beam" in repr(mech)


@pytest.mark.parametrize("count", range(2, 12))
def test_masses_are_exact_for_cubics(count):
    """Mass, centre and inertia of a uniform beam are those of its nodes."""
    weights, x = gregory(count), np.arange(count + 1)
    assert min(weights) > 0.0
    for power in range(3 if count < 3 else 4):
        assert weights @ x**power == pytest.approx(count ** (power + 1) / (power + 1), rel=1e-13)


def test_masses_of_beams_with_stations():
    mech, boom = crane(start=(0, 0, 0), end=(2, 0, 0), segments=7, stations=(1.3, 0.5))
    here = [mech.bodies[name] for name in boom.nodes]
    x, mass = np.array([b.position[0] for b in here]), np.array([b.mass for b in here])
    assert {0.0, 0.5, 1.3, 2.0} <= {round(value, 12) for value in x}
    for power in range(3):
        assert mass @ x**power == pytest.approx(TUBE.mass_per_length * 2.0 ** (power + 1) / (power + 1))
    spin = sum(b.inertia[0][0] for b in here)
    assert spin == pytest.approx(2.0 * TUBE.rotary[0])
    assert boom.marker(1.3).body == boom.nodes[list(np.round(x, 12)).index(1.3)]


def test_ends_may_be_joined_in_any_way():
    mech, boom = crane()
    post = mech.add_body("post", mass=1.0, inertia=(1, 1, 1), position=(3, 2, 0))
    eye = post.marker((0, 0, 3.5), axis="y")
    strut = mech.add_beam("strut", TUBE, start="ground", end=(eye, bc.Revolute()), segments=3)
    pin = mech.joints["strut/end"]
    assert (pin.marker_1, pin.marker_2.body) == (eye, strut.nodes[-1])
    assert matrix(mech.bodies[strut.nodes[-1]].rotation) @ pin.marker_2.z_axis == pytest.approx((0, 1, 0))
    assert list(mech.joints) == ["slew", "boom/start", "strut/start", "strut/end"]
    assert bc.assemble(mech).error_before < 1e-12
    assert boom.marker(boom.length) == bc.Marker("boom/8")


def test_bodies_that_come_later_stand_before_the_nodes():
    mech, boom = crane()
    late = mech.add_body("late", mass=1.0, inertia=(1, 1, 1))
    mech.add_force("cord", bc.SpringDamper(5.0), late, boom.marker(boom.length / 2))
    assert list(mech.bodies) == ["hub", "late", *boom.nodes]
    assert list(mech.forces) == ["cord", *boom.pieces]


@pytest.mark.parametrize("suffix", ["yaml", "json"])
def test_files_hold_the_beam_once(tmp_path, suffix):
    mech, _ = crane(damping="0.2 ms", up="y", stations=(1.0,))
    mech.add_marker(mech.bodies["boom/3"].marker((0, 0, 0.1), name="eye"))
    late = mech.add_body("late", mass=1.0, inertia=(1, 1, 1))
    mech.add_force("cord", bc.SpringDamper(5.0), late, "boom/3.eye")
    mech.replace(mech.bodies["boom/4"], velocity=(1, 2, 3))
    path = tmp_path / f"crane.{suffix}"
    bc.save(mech, path)
    text = path.read_text()
    assert "boom/e1" not in text
    assert "boom/6" not in text
    assert re.search(r'boom/4"?: *\{ *"?velocity"?: *\[1', text)
    again = bc.load(path)
    assert again == mech
    assert list(again.bodies) == list(mech.bodies)


def test_files_may_say_what_ends_are_joined_to(tmp_path):
    path = tmp_path / "arm.yaml"
    section = "{type: Rectangle, width: 20 mm, height: d, E: 70 GPa, nu: 0.33, density: 2700}"
    path.write_text(f"""
bellcrank: 1
parameters: {{d: 0.05}}
bodies: {{hub: {{mass: 1, inertia: [1, 1, 1]}}, boom/7: {{mass: 1, inertia: [1, 1, 1]}}}}
markers: {{hub.flange: {{position: [0.1, 0, 0]}}, boom/2.eye: {{position: [0, 0, 0.1]}}}}
beams:
  boom: {{section: {section}, start: hub.flange, end: [2, 0, 0], segments: 4}}
  arm: {{section: {section}, start: boom/4, start_joint: {{type: Spherical}}, end: [2, 0, 1], segments: 2}}
""")
    mech = bc.load(path)
    assert list(mech.joints) == ["boom/start", "arm/start"]
    assert isinstance(mech.joints["arm/start"].kind, bc.Spherical)
    assert mech.position_in_world("boom/2.eye") == pytest.approx((1.05, 0, 0.1))
    assert list(mech.bodies)[:2] == ["hub", "boom/7"]
    assert mech.beams["boom"].start == (0.1, 0.0, 0.0)


def test_faults_in_files_have_lines(tmp_path):
    path = tmp_path / "arm.yaml"
    path.write_text("""bellcrank: 1
beams:
  boom:
    section: {type: Circle, diameter: 0.1, E: 70 GPa, nu: 0.33, density: 2700}
    start: [0, 0, 0]
    end: [1, 0, 0]
    segments: 1
  arm:
    section: {type: Circle, diameter: -1, E: 70 GPa, nu: 0.33, density: 2700}
    start: boom/8
    end: [1, 0, 0]
""")
    with pytest.raises(bc.MechanismError) as caught:
        bc.load(path)
    text = str(caught.value)
    assert len(caught.value.faults) == 2
    assert re.search(r"segments must be .*arm.yaml:7", text)
    assert re.search(r"diameter must be greater than zero.*arm.yaml:9", text)


def test_parameters():
    mech = bc.Mechanism("m")
    d = mech.add_parameter("d", 0.05, "m")
    reach = mech.add_parameter("reach", 2.0, "m")
    section = bc.Section.rectangle(0.5 * d, d, E=70e9, nu=0.33, density=2700)
    boom = mech.add_beam(
        "boom", section, start=mech.ground.marker((0, 0, 0.1)), end=(reach, reach, 0.4), segments=4
    )
    for values in ({}, {"d": 0.02, "reach": 3.0}):
        other = mech.with_parameters(**values)
        at = {"d": 0.05, "reach": 2.0} | values
        fixed = bc.Mechanism("m")
        by_numbers = bc.Section.rectangle(0.5 * at["d"], at["d"], E=70e9, nu=0.33, density=2700)
        end = (at["reach"], at["reach"], 0.4)
        fixed.add_beam("boom", by_numbers, start=fixed.ground.marker((0, 0, 0.1)), end=end, segments=4)
        found = with_numbers(other)
        assert found.beams["boom"].length == pytest.approx(fixed.beams["boom"].length)
        for name in boom.nodes:
            one, two = found.bodies[name], fixed.bodies[name]
            for field in ("mass", "inertia", "position", "rotation"):
                assert np.array(getattr(one, field)) == pytest.approx(
                    np.array(getattr(two, field)), abs=1e-15
                )
        for name in boom.pieces:
            one, two = found.forces[name].kind, fixed.forces[name].kind
            assert (one.length, *one.flexibility) == pytest.approx((two.length, *two.flexibility))
        assert bc.info(other).mass == pytest.approx(by_numbers.mass_per_length * fixed.beams["boom"].length)
    marker = with_numbers(mech).joints["boom/start"].marker_1
    assert marker.rotation == pytest.approx(with_numbers(mech).bodies["boom/0"].rotation)


def test_what_it_makes_goes_with_it():
    mech, boom = crane()
    before = bc.Mechanism.copy(mech)
    with pytest.raises(bc.MechanismError, match="others refer to it: joint 'boom/start'"):
        mech.remove(boom)
    assert mech == before
    mech.remove(boom, cascade=True)
    assert (list(mech.bodies), list(mech.joints), list(mech.forces)) == (["hub"], ["slew"], [])
    assert not mech.beams


def test_it_can_be_renamed_and_changed():
    mech, boom = crane()
    mech.add_marker(mech.bodies["boom/8"].marker(name="tip"))
    mech.replace(mech.bodies["boom/2"], velocity=(0, 0, 1))
    arm = mech.replace(boom, name="arm", damping=1e-3)
    assert arm.nodes[0] in mech.bodies
    assert "boom/0" not in mech.bodies
    assert mech.joints["boom/start"].marker_2.body == "arm/0"
    assert "arm/8.tip" in mech.markers
    assert mech.bodies["arm/2"].velocity == (0.0, 0.0, 1.0)
    assert mech.forces["arm/e4"].kind.damping == 1e-3
    thick = mech.replace(arm, section=bc.Section.circle(0.05, E=210e9, nu=0.3, density=7850))
    assert mech.bodies["arm/3"].mass == pytest.approx(
        next(b.mass for b in thick.bodies() if b.name == "arm/3")
    )
    assert mech.bodies["arm/2"].velocity == (0.0, 0.0, 1.0)
    mech.add_force("pull", bc.Wrench(force=(1, 0, 0)), "arm/8")
    with pytest.raises(bc.MechanismError, match="force 'pull' refers to a node that it would not have"):
        mech.replace(thick, segments=4)
    mech.remove(mech.forces["pull"])
    mech.replace(thick, segments=4)
    assert [name for name in mech.bodies if name.startswith("arm/")] == [f"arm/{k}" for k in range(5)]
    assert bc.info(mech).mass == pytest.approx(3.0 + thick.length * thick.section.mass_per_length)


def test_its_parts_cannot_be_changed_alone():
    mech, _ = crane()
    for edit in (
        lambda: mech.remove(mech.bodies["boom/3"]),
        lambda: mech.remove(mech.forces["boom/e3"]),
        lambda: mech.replace(mech.forces["boom/e3"], kind=bc.SpringDamper(1.0)),
        lambda: mech.replace(mech.bodies["boom/3"], name="node"),
    ):
        with pytest.raises(bc.MechanismError, match="it is a part of beam 'boom'"):
            edit()


def test_it_is_placed_with_its_mechanism(tmp_path):
    inner, _ = crane(stations=(1.0,))
    inner.replace(inner.bodies["boom/1"], velocity=(0, 0, 1.0))
    whole = bc.Mechanism("whole")
    placed = whole.place(inner, "left", position=(1, 0, 2), rotation=bc.rotation("z", 0.7))
    whole.place(inner, "right")
    assert placed.beam("boom").nodes[0] == "left/boom/0"
    for name in placed.beam("boom").nodes:
        made = next(b for b in placed.beam("boom").bodies() if b.name == name)
        assert whole.bodies[name].position == pytest.approx(made.position)
        assert np.abs(np.dot(whole.bodies[name].rotation, made.rotation)) == pytest.approx(1.0)
    bc.save(whole, tmp_path / "whole.yaml")
    assert (tmp_path / "whole.yaml").read_text().count("left/boom/") == 3  # a velocity, and the joint twice
    assert bc.load(tmp_path / "whole.yaml") == whole


@pytest.mark.parametrize(
    ("given", "messages"),
    [
        ({"end": (1.1, 2, 3)}, ["start and end must be two places"]),
        ({"segments": 1}, ["segments must be a whole number, at least 2"]),
        ({"segments": 1, "damping": -1.0}, ["segments must be", "damping must not be negative"]),
        ({"stations": (5.0,)}, ["stations must lie between the ends"]),
        ({"stations": (0.5, 0.5)}, ["two stations are the same place"]),
        ({"up": (1.9, 0, 0.5)}, ["up must not be along the beam"]),
        ({"start": "hup"}, ["there is no marker of this name", "did you mean 'hub'"]),
        ({"start": ("hub", "pin"), "end": "hup"}, ["the joint of the start must be a JointKind", "'hup'"]),
    ],
)
def test_what_is_refused(given, messages):
    with pytest.raises(bc.MechanismError) as caught:
        crane(**given)
    for message in messages:
        assert message in str(caught.value)


def test_nothing_is_added_where_something_is_refused():
    mech, _ = crane()
    before = bc.Mechanism.copy(mech)
    mech.add_body("arm/2", mass=1.0, inertia=(1, 1, 1))
    mech.add_joint("strut/start", bc.Revolute(), "ground", "hub")
    before = mech.copy()
    for name in ("boom", "arm", "strut"):
        with pytest.raises(bc.MechanismError, match="this name is taken"):
            mech.add_beam(name, TUBE, start="hub", end=(5, 5, 5))
    with pytest.raises(bc.MechanismError, match="section must be a Section"):
        mech.add_beam("new", 3.0, start="hub", end=(5, 5, 5))
    assert mech == before


def test_a_short_beam_is_pointed_out():
    mech = bc.Mechanism("m")
    with pytest.warns(bc.HintWarning, match=r"only 2.5 times as long as its section is high"):
        mech.add_beam("stub", TUBE, start=(0, 0, 0), end=(0, 0, 0.1))


def test_there_is_a_node_or_not():
    _, boom = crane(start=(0, 0, 0), end=(2, 0, 0))
    assert boom.marker(0.5).body == "boom/2"
    with pytest.raises(
        bc.MechanismError, match=r"no node at 0.6 m: the nearest is at 0.5 m; give .*stations=\(0.6,\)"
    ):
        boom.marker(0.6)
