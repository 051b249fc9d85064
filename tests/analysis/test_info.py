"""Facts about mechanisms: freedoms, redundant rows, loops, parts."""

import pytest
from rigs.linkages import upright_bar
from rigs.upright_linkages import Y, four_bar

import bellcrank as bc


def test_a_plane_linkage_in_space():
    """Gruebler counts -2; three rows out of the plane are redundant; it moves all the same."""
    facts = bc.info(four_bar())
    assert facts.grubler == 18 - 20 == -2
    assert facts.freedom == 1
    assert len(facts.redundant) == 3
    assert all(row.startswith("joint ") for row in facts.redundant)
    assert facts.independent == ("joint 'A'",)
    assert facts.loops == 1
    assert sorted(facts.loop_elements[0]) == ["joint 'A'", "joint 'B'", "joint 'C'", "joint 'D'"]
    assert facts.joint_kinds == {"Revolute": 4}
    assert facts.mass == pytest.approx(1.0 + 2 * 5**0.5)
    text = str(facts)
    assert "mobility     1 (20 rows, Gruebler's count -2)" in text
    assert "redundant" in text


def test_the_same_linkage_without_redundant_rows():
    facts = bc.info(four_bar(bc.PointOnLine()))
    assert facts.redundant == ()
    assert facts.grubler == facts.freedom == 1


def test_a_drive_takes_a_freedom():
    mech = four_bar()
    mech.add_drive("motor", joint="D", velocity=1.0)
    facts = bc.info(mech)
    assert facts.freedom == 0
    assert facts.independent == ()
    assert facts.drives == 1


def test_free_bodies_and_parts():
    mech = four_bar()
    mech.add_body("stone", mass=1.0, inertia=(1, 1, 1))
    facts = bc.info(mech)
    assert facts.freedom == 7
    assert set(facts.independent) == {"joint 'A'", "body 'stone'"}
    assert facts.components == (("crank", "coupler", "rocker"), ("stone",))
    assert facts.floating == 1


def test_joints_with_several_coordinates_are_named_by_them():
    mech = bc.Mechanism("slot")
    body = mech.add_body("pin", mass=1.0, inertia=(1, 1, 1))
    mech.add_joint("slot", bc.Cylindrical(), mech.ground.marker(axis=Y), body.marker(axis=Y))
    assert bc.info(mech).independent == ("joint 'slot' (z)", "joint 'slot' (theta_z)")


def test_a_singular_configuration_has_a_freedom_more():
    """A parallelogram laid flat can fold: at that instant a row is lost."""
    mech = bc.Mechanism("flat")
    o, p, q, r = (0, 0, 0), (1, 0, 0), (3, 0, 0), (2, 0, 0)
    a, b, c = (
        upright_bar(mech, name, *ends)[0] for name, ends in (("a", (o, p)), ("b", (p, q)), ("c", (r, q)))
    )
    ground = mech.ground
    for name, one, two, at in (("O", ground, a, o), ("P", a, b, p), ("Q", b, c, q), ("R", ground, c, r)):
        mech.add_joint(name, bc.Revolute(), one.world_marker(at, axis=Y), two.world_marker(at, axis=Y))
    assert bc.info(mech).freedom == 2
