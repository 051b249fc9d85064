"""Beams that touch: on the ground, over a cylinder, themselves; how contacts follow beams, and files."""

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.compile.compile import compile_mechanism
from bellcrank.compile.contacts import tied

STEEL = {"E": 210e9, "nu": 0.3, "density": 7850}
SOFT = bc.Section.general(
    EA=500.0, GA=500.0, GJ=0.05, EI=0.05, mass_per_length=1.0, inertia_per_length=(1e-3, 5e-4, 5e-4)
)
LIFT = 9.81


def net(run, name="touch"):
    """The force of a contact on the beam in the last frame, on whichever side of pairs it stands."""
    points = run.contact(name).points(-1)
    signs = np.array([-1.0 if pair[0] == "ground" else 1.0 for pair in points.bodies])
    return signs @ points.force


def test_a_beam_falls_and_rests_with_its_weight():
    mech = bc.Mechanism("drop")
    mech.replace(mech.ground, shapes=[bc.Plane()])
    section = bc.Section.general(
        EA=5e3, GA=5e3, GJ=0.5, EI=0.5, mass_per_length=1.0, inertia_per_length=(2e-4, 1e-4, 1e-4)
    )
    rod = mech.add_beam("rod", section, (0, 0, 0.02), (1, 0, 0.03), segments=4, damping=5e-3, radius=0.01)
    touch = mech.add_force("touch", bc.Contact(2e4, friction=0.3, restitution=0.05), rod, "ground")
    assert [end.body for end in touch.ends] == [*rod.nodes, "ground"]
    run = bc.simulate(mech, 0.5, method="bdf", tolerance=1e-5)
    assert net(run) == pytest.approx((0.0, 0.0, LIFT), abs=0.02 * LIFT)
    height = run.beam("rod").position()[-1, :, 2]
    assert np.all((height < 0.01) & (height > 0.0098))  # they sink in by about 9.81 / 5 / 2e4
    energy = run.energy.total
    assert energy[-1] < energy[0] - 0.5 * 1.0 * LIFT * 0.01
    assert np.diff(energy).max() < 2e-4 * (energy[0] - energy[-1])  # what free fall gains by its tolerance


def test_a_heavy_rope_hangs_over_a_cylinder():
    """Both sides alike; the tension beside it is the weight of what hangs, as without the cylinder below."""
    mech = bc.Mechanism("hang")
    mech.replace(mech.ground, shapes=[bc.Cylinder(0.1, 0.6, rotation=(2**-0.5, 2**-0.5, 0, 0))])
    rope = mech.add_beam(
        "rope", SOFT, (-0.5, 0, 0.1101), (0.5, 0, 0.1101), segments=12, damping=1e-2, radius=0.01
    )
    mech.add_force("touch", bc.Contact(5e3, friction=0.5, restitution=0.05), rope, "ground")
    for node in rope.nodes:
        mech.add_force(f"air {node}", bc.BodyDamping(0.4), node)
    run = bc.simulate(mech, 2.5, method="bdf", tolerance=1e-4)
    beam = run.beam("rope")
    place = beam.position()[-1]
    assert max(np.abs(run.body(node).velocity[-1]).max() for node in rope.nodes) < 0.03
    assert place[::-1] * (-1, 1, 1) == pytest.approx(place, abs=2e-3)
    assert place[[0, -1], 2] == pytest.approx(-0.29, abs=0.03)
    assert np.linalg.norm(place[:, ::2], axis=1).min() == pytest.approx(0.11, abs=2e-3)
    assert net(run) == pytest.approx((0.0, 0.0, LIFT), abs=0.05)
    middles = (np.arange(3) + 0.5) / 12.0  # where forces are those between nodes
    hanging = np.cumsum([mech.bodies[node].mass for node in rope.nodes[:3]])
    assert np.linalg.norm(beam.force(middles)[-1], axis=1) == pytest.approx(hanging * LIFT, rel=0.02)
    energy = run.energy.total
    assert np.diff(energy).max() < 1e-6 * (energy[0] - energy[-1])


def test_pieces_near_each_other_do_not_touch():
    mech = bc.Mechanism("rope")
    rope = mech.add_beam("rope", SOFT, (0, 0, 0), (1, 0, 0), segments=10, radius=0.06)
    other = mech.add_beam("other", SOFT, (0, 1, 0), (1, 1, 0), segments=2, radius=0.01)
    touch = mech.add_force("touch", bc.Contact(1e4, joined=True), "rope", other)
    (law,) = touch.kind.lowered(touch.markers).contacts

    def apart(i, j):
        return tied(mech, law, rope.nodes[i], rope.nodes[j])

    # two thicknesses are 0.24 m: pieces of 0.1 m with up to two between them
    assert [apart(4, k) for k in (5, 6, 7, 8, 9)] == [True, True, True, False, False]
    assert all(apart(4, k) == apart(k, 4) for k in range(11))
    assert not tied(mech, law, "rope/3", "other/1")
    assert tied(mech, law, "other/0", "other/1")
    core = compile_mechanism(mech).arrays["contacts"]
    assert len(core.bodies) == 14


def test_a_loop_touches_itself():
    """A folded rope of which one half lies on the other."""
    mech = bc.Mechanism("fold")
    half = np.linspace(0.0, np.pi, 7)[1:-1]
    bend = np.column_stack([0.5 + 0.06 * np.sin(half), 0 * half, 0.06 - 0.06 * np.cos(half)])
    points = [(0.2, 0, 0), (0.5, 0, 0), *bend, (0.5, 0, 0.12), (0.2, 0, 0.12)]
    section = bc.Section.general(
        EA=2e3, GA=2e3, GJ=0.3, EI=0.3, mass_per_length=1.0, inertia_per_length=(1e-3, 5e-4, 5e-4)
    )
    rope = mech.add_beam(
        "rope", section, "ground", (0, 0, 0.12), points=points, segments=34, radius=0.02, up="y", damping=1e-2
    )
    for node in rope.nodes[1:15]:
        body = mech.bodies[node]
        mech.add_joint(
            f"held {node}", bc.Fixed(), mech.ground.marker(body.position, rotation=body.rotation), node
        )
    mech.add_force("touch", bc.Contact(2e3, restitution=0.05), rope)
    run = bc.simulate(mech, 0.2, method="bdf", tolerance=1e-2, output_step=0.01)
    assert run.contact("touch").count.max() > 0
    upper = run.beam("rope").position()[-1, 20:]
    assert upper[:, 2].min() > 0.03


def test_shapes_of_nodes():
    tube = bc.Section.tube(0.04, 0.002, **STEEL)
    box = bc.Section.rectangle(0.02, 0.04, **STEEL)

    def shapes(section, **given):
        beam = bc.Beam("b", section, (0, 0, 0), (1, 0, 0), segments=2, **given)
        return [body.shapes for body in beam.bodies()]

    (first,), (middle,), (last,) = shapes(tube)
    assert [(one.radius, one.length, one.position[0]) for one in (first, middle, last)] == [
        (0.02, 0.25, 0.125), (0.02, 0.5, 0.0), (0.02, 0.25, -0.125)
    ]  # fmt: skip
    assert all(isinstance(one, bc.Box) for (one,) in shapes(box))
    assert all(isinstance(one, bc.Capsule) and one.radius == 0.01 for (one,) in shapes(box, radius="10 mm"))
    assert shapes(SOFT) == [(), (), ()]
    with pytest.raises(bc.MechanismError, match="radius must be greater than zero"):
        shapes(SOFT, radius=0.0)
    mech = bc.Mechanism("bare")
    mech.replace(mech.ground, shapes=[bc.Plane()])
    rope = mech.add_beam("rope", SOFT, (0, 0, 1), (1, 0, 1), segments=2)
    mech.add_force("touch", bc.Contact(1e4), rope, "ground")
    with pytest.raises(bc.MechanismError, match="no shape that could touch"):
        bc.info(mech)


@pytest.mark.parametrize("suffix", ["yaml", "json"])
def test_contacts_follow_beams_and_files_name_them(tmp_path, suffix):
    mech = bc.Mechanism("drop")
    mech.replace(mech.ground, shapes=[bc.Plane()])
    box = mech.add_body("box", shapes=[bc.Box((0.1, 0.1, 0.1), density=1000.0)], position=(0, 0, 1))
    rod = mech.add_beam("rod", SOFT, (0, 0, 0.1), (1, 0, 0.1), segments=4, radius=0.01)
    mech.add_force("touch", bc.Contact(1e4), box, rod, "ground")
    mech.add_force("cord", bc.SpringDamper(5.0), box, rod.marker(0.0))
    bc.save(mech, tmp_path / f"drop.{suffix}")
    text = (tmp_path / f"drop.{suffix}").read_text()
    assert "rod/4" not in text
    assert bc.load(tmp_path / f"drop.{suffix}") == mech
    longer = mech.replace(mech.beams["rod"], segments=6, name="bar")
    names = [end.body for end in mech.forces["touch"].ends]
    assert names == ["box", *longer.nodes, "ground"]
    assert list(mech.forces) == ["touch", "cord", *longer.pieces]
    with pytest.raises(bc.MechanismError, match="others refer to it: force 'touch', force 'cord'"):
        mech.remove(longer)
    mech.remove(longer, cascade=True)
    assert list(mech.forces) == []


def test_a_beam_is_no_end_of_other_forces():
    mech = bc.Mechanism("drop")
    rod = mech.add_beam("rod", SOFT, (0, 0, 0.1), (1, 0, 0.1), segments=4)
    with pytest.raises(bc.MechanismError, match=r"take one of its nodes by rod.marker\(station\)"):
        mech.add_force("load", bc.Wrench(force=(1, 0, 0)), rod)
