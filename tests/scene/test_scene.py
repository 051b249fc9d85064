"""Where the pieces of a scene are, wheels and belts that fit among them; every kind has one."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from rigs import examples, floating

import bellcrank as bc
from bellcrank import expression as ex
from bellcrank import scene
from bellcrank.mechanism import JOINT_KINDS
from bellcrank.mechanism.rotation import about, matrix
from bellcrank.mechanism.rotation_arrays import rotate
from bellcrank.scene.wheels import belt_way

SHAPES = {
    "box": (bc.Box(size=(0.2, 0.4, 0.6)), (0.1, 0.2, 0.3)),
    "sphere": (bc.Sphere(radius=0.3), (0.3, 0.3, 0.3)),
    "ellipsoid": (bc.Ellipsoid(radii=(0.1, 0.2, 0.3)), (0.1, 0.2, 0.3)),
    "cylinder": (bc.Cylinder(radius=0.3, length=1.0), (0.3, 0.3, 0.5)),
    "capsule": (bc.Capsule(radius=0.3, length=0.4), (0.3, 0.3, 0.5)),
    "cone": (bc.Cone(radius=0.3, height=1.0), (0.3, 0.3, 0.5)),
    "prism": (bc.Prism(outline=[(-0.2, -0.3), (0.2, -0.3), (0.0, 0.3)], length=1.0), (0.2, 0.3, 0.5)),
}


def world(made, number, placed=None):
    """Vertices of what is drawn under that number."""
    placed = made.placed() if placed is None else placed
    vertices = made.drawn[number].mesh.vertices * (1.0, 1.0, placed.stretch[number])
    return rotate(placed.rotation[number][None], vertices) + placed.position[number]


def is_closed_outward(mesh):
    """Whether normals go with the way the triangles turn, and these enclose a volume."""
    corners = mesh.vertices[mesh.triangles]
    areas = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    facing = np.sum(areas * mesh.normals[mesh.triangles].mean(axis=1), axis=1)
    size = np.linalg.norm(areas, axis=1)
    volume = np.sum(np.cross(corners[:, 0], corners[:, 1]) * corners[:, 2]) / 6.0
    return np.all(facing[size > 1e-9 * size.max()] > 0.0) and volume > 0.0


@pytest.mark.parametrize("closed", [True, False])
def test_a_path_given_by_a_formula_is_a_wire(closed):
    """All of it if it closes after a turn, else a piece about the bead."""
    u = ex.symbol("u")
    mech = bc.Mechanism("bead")
    bead = mech.add_body("bead", shapes=[bc.Sphere(radius=0.02, density=1000.0)])
    height = 0.1 * ex.cos(3.0 * u) if closed else u
    path = bc.PathJoint(u, (0.5 * ex.cos(u), 0.5 * ex.sin(u), height), unit="rad")
    mech.add_joint("wire", path, mech.ground, bead, position=0.9)
    (wire,) = scene.of(mech).joints["wire"].pieces
    points = wire.mesh.vertices
    assert abs(np.hypot(*points.T[:2]) - 0.5).max() < 0.05
    assert (points[:, 0].min() < -0.45) == closed
    if not closed:
        assert points[:, 2].mean() == pytest.approx(0.9, abs=1e-3)


@pytest.mark.parametrize("name", SHAPES)
def test_a_shape_is_where_its_body_is(name):
    shape, half = SHAPES[name]
    mech = bc.Mechanism("one", gravity=(0, 0, 0))
    turn = about((0.0, 0.0, 1.0), np.pi / 2)
    moved = type(shape)(**{**vars(shape), "position": (1.0, 0.0, 0.0)})
    mech.add_body("it", 1.0, (1, 1, 1), shapes=[moved], position=(0.0, 0.0, 5.0), rotation=turn)
    made = scene.of(mech)
    (piece,) = made.bodies["it"]
    assert is_closed_outward(piece.mesh)
    found = world(made, 0)
    centre = np.array([0.0, 1.0, 5.0])  # one metre along x of the body, which points along y
    reach = np.array([half[1], half[0], half[2]])
    assert_allclose([found.min(axis=0), found.max(axis=0)], [centre - reach, centre + reach], atol=0.01)
    assert_allclose(found.max(axis=0)[2], 5.0 + half[2], atol=1e-12)


def test_pieces_follow_the_bodies_at_many_times_at_once():
    mech = bc.gallery.four_bar()
    made, run = scene.of(mech), bc.simulate(mech, 0.5)
    position, rotation = run.store.read("position"), run.store.read("rotation")
    many = made.placed(position, rotation)
    assert many.position.shape == (len(run), len(made.drawn), 3)
    for frame in (0, len(run) // 2, -1):
        one = made.placed(position[frame], rotation[frame])
        assert_allclose(many.position[frame], one.position, atol=1e-15)
        assert_allclose(many.rotation[frame], one.rotation, atol=1e-15)
        for number, piece in enumerate(made.pieces):
            body = made.carriers[piece.carrier]
            q = (1.0, 0.0, 0.0, 0.0) if body == "ground" else tuple(rotation[frame][piece.carrier])
            p = np.zeros(3) if body == "ground" else position[frame][piece.carrier]
            assert_allclose(world(made, number, one), piece.vertices @ matrix(q).T + p, atol=1e-12)


def test_links_reach_from_end_to_end():
    mech = bc.Mechanism("two", gravity=(0, 0, 0))
    one = mech.add_body("one", 1.0, (1, 1, 1), position=(0, 0, 0))
    two = mech.add_body("two", 1.0, (1, 1, 1), position=(0, 3, 0))
    mech.add_force("spring", bc.SpringDamper(stiffness=10.0), one.marker((0, 0, 1)), two.marker((4, 0, 1)))
    made = scene.of(mech)
    assert_allclose(made.ends(), [[[0, 0, 1], [4, 3, 1]]])
    (number,) = [k for k, what in enumerate(made.drawn) if what.name == "force spring"]
    found = world(made, number)
    along = (found - (0, 0, 1)) @ np.array([0.8, 0.6, 0.0])
    assert_allclose([along.min(), along.max()], [0.0, 5.0], atol=0.02)
    assert_allclose(made.placed().stretch[number], 5.0)


def test_copies_share_a_mesh():
    made = scene.of(bc.gallery.ring(8))
    bars = {id(piece.mesh) for name, pieces in made.bodies.items() if name != "ground" for piece in pieces}
    assert len(bars) == 1
    assert sum(len(numbers) for numbers in made.copies.values()) == len(made.drawn)


@pytest.mark.parametrize("name", [name for name, kind in JOINT_KINDS.items() if not kind.shorthand])
def test_every_kind_of_joint_has_a_glyph(name):
    mech = floating.pair(examples.joint(name), seed=2, hung=True).mechanism
    made = scene.of(mech)
    glyph = made.joints["joint"]
    assert glyph.kind == name
    holds_a_place = {"x", "y", "z"} & set(JOINT_KINDS[name].locked) or "On" in name or "Link" in name
    assert bool(glyph.pieces) == bool(holds_a_place or name in ("Distance", "RevoluteSpherical"))
    for piece in glyph.pieces:
        assert np.all(np.isfinite(piece.mesh.vertices))
        assert np.all(np.isfinite(piece.mesh.normals))


@pytest.mark.parametrize("name", bc.gallery.catalogue())
def test_the_gallery_has_scenes(name):
    made = scene.of(bc.gallery.catalogue()[name]())
    assert made.faults == ()
    assert set(made.bodies) == set(made.carriers)
    nodes = {made.carriers[k] for sweep in made.sweeps.values() for k in sweep.carriers}
    assert all(made.bodies[body] or body in nodes for body in made.carriers[:-1])
    placed = made.placed()
    assert np.all(np.isfinite(placed.position))
    assert_allclose(np.linalg.norm(placed.rotation, axis=1), 1.0, atol=1e-9)


def test_a_pin_stands_out_of_what_it_joins():
    mech = bc.Mechanism("thick")
    bar = bc.Box(size=(1.0, 0.1, 0.2), position=(0.5, 0, 0), density=100.0)
    one = mech.add_body("one", shapes=[bar])
    mech.add_joint("pin", bc.Revolute(), mech.ground, one)
    made = scene.of(mech)
    pin = next(piece for piece in made.joints["pin"].pieces if piece.role == "joint")
    low, high = pin.vertices[:, 2].min(), pin.vertices[:, 2].max()
    assert low < -0.1
    assert high > 0.1
    assert made.joints["pin"].axis == (0.0, 0.0, 1.0)


def test_led_joints_stand_out():
    mech = bc.Mechanism("led")
    one = mech.add_body("one", 1.0, (1, 1, 1))
    two = mech.add_body("two", 1.0, (1, 1, 1), position=(1, 0, 0))
    three = mech.add_body("three", 1.0, (1, 1, 1), position=(2, 0, 0))
    mech.add_joint("motor", bc.RevoluteMotor(velocity=1.0), mech.ground, one)
    mech.add_joint("pushed", bc.Revolute(), one.marker((1, 0, 0)), two)
    mech.add_joint("plain", bc.Revolute(), two.marker((1, 0, 0)), three)
    mech.add_force("push", bc.JointMotor(effort=1.0), "pushed")
    made = scene.of(mech)
    assert {name: glyph.driven for name, glyph in made.joints.items()} == {
        "motor": True, "pushed": True, "plain": False,
    }  # fmt: skip
    colours = {name: glyph.pieces[0].color for name, glyph in made.joints.items()}
    assert colours["motor"] == colours["pushed"] != colours["plain"]


def test_cylinders_are_drawn_by_their_diameters():
    mech = bc.Mechanism("ram")
    one = mech.add_body("one", 1.0, (1, 1, 1), position=(0, 0, 0.8))
    sizes = {"length": 1.0, "stroke": 0.4}
    mech.add_force("ram", bc.HydraulicCylinder(bore=0.1, rod=0.06, **sizes), mech.ground, one)
    mech.add_force("gas", bc.GasSpring(force=1.0, **sizes), mech.ground.marker((0.3, 0, 0)), one)
    made = scene.of(mech)
    for name, thick in (("ram", 0.05), ("gas", None)):
        vertices = made.links[f"force {name}"].mesh.vertices
        radius = np.hypot(vertices[:, 0], vertices[:, 1])
        low, high = radius[vertices[:, 2] < 0.1].max(), radius[vertices[:, 2] > 0.9].max()
        assert low > high > 0.0
        assert thick is None or low == pytest.approx(thick)


@pytest.mark.parametrize(("follower", "low"), [("roller", 0.04), ("knife", 0.03), ("flat", 0.03)])
def test_cams_are_drawn_by_their_outlines_and_touch_their_followers(follower, low):
    law = bc.CamMotion((0, 2, 3, 5, 2 * np.pi), (0, 0.01, 0.01, 0, 0))
    roller = 0.01 if follower == "roller" else None
    kind = bc.CamFollower(law, 0.03, follower, roller_radius=roller, width=0.012)
    mech = bc.Mechanism("cam", gravity=(0, 0, 0))
    for name, y in (("cam", 0.0), ("rod", low)):
        mech.add_body(name, 1.0, (0.01, 0.01, 0.02), position=(0, y, 0))
    mech.join("shaft", bc.Revolute(), ["ground", "cam"], (0, 0, 0))
    mech.join("guide", bc.Prismatic(), ["ground", "rod"], (0, low, 0), axis="y")
    mech.add_constraint("cam", kind, "cam", "rod")
    made = scene.of(mech)
    plate, rider = (piece for body in ("cam", "rod") for piece in made.bodies[body])
    edge = plate.mesh.vertices[np.abs(plate.mesh.vertices[:, 2]) == 0.006]
    edge = edge[np.hypot(edge[:, 0], edge[:, 1]) > 0.02][:, :2]
    outline = kind.profile(np.linspace(0, 2 * np.pi, 721)).outline
    gaps = np.min(np.linalg.norm(edge[:, None] - outline, axis=2), axis=1)
    assert gaps.max() < 1e-9
    lowest = rider.mesh.vertices[:, 1].min() + rider.position[1] + low
    assert lowest == pytest.approx(edge[:, 1].max(), abs=2e-4)
    mech.replace(mech.bodies["cam"], shapes=[bc.Sphere(radius=0.01)])
    assert [piece.name for piece in scene.of(mech).bodies["cam"]] == ["cam"]


def test_bump_stops_are_springs_and_bearings_no_links():
    mech = bc.Mechanism("parts")
    one = mech.add_body("one", 1.0, (1, 1, 1), position=(0, 0, 0.8))
    curve = bc.Table((0.0, 0.1), (0.0, 10.0))
    mech.add_force("buffer", bc.OneSidedSpring(0.0, 0.1, curve=curve), mech.ground, one)
    mech.add_force("damper", bc.OneSidedSpring(0.0, 0.1, damping=1.0), mech.ground, one)
    mech.add_force("bearing", bc.BearingClearance(1e-3, 1e6), mech.ground, one)
    made = scene.of(mech).links
    assert set(made) == {"force buffer", "force damper"}
    assert made["force buffer"].color != made["force damper"].color


def test_a_broken_mechanism_is_shown_as_described_and_says_why():
    mech = bc.Mechanism("broken")
    body = mech.add_body("bar", 1.0, (1, 1, 1), position=(0, 0, 2))
    mech.add_joint("near", bc.Distance(length=1.0), mech.ground, body)
    mech.add_joint("far", bc.Distance(length=5.0), mech.ground.marker((0, 0, 1)), body.marker((0, 0, 0)))
    made = scene.of(mech)
    assert "far" in " ".join(made.faults)
    assert_allclose(made.state.position, [[0, 0, 2]])


def pair(kind, distance=0.45, shapes=()):
    mech = bc.Mechanism("pair", gravity=(0.0, 0.0, 0.0))
    one = mech.add_body("one", 1.0, (0.01, 0.01, 0.02), shapes=shapes)
    two = mech.add_body("two", 1.0, (0.01, 0.01, 0.02), position=(0.0, distance, 0.0), shapes=shapes)
    mech.add_joint("first", bc.Revolute(), mech.ground, one)
    mech.add_joint("second", bc.Revolute(), mech.ground.marker((0.0, distance, 0.0)), two)
    add = mech.add_force if isinstance(kind, bc.ElasticGear) else mech.add_constraint
    add("pair", kind, one, two)
    return scene.of(mech)


def wheel(drawn, body):
    return next(piece for piece in drawn.bodies[body] if piece.name == f"{body}/pair")


def angles(piece, radius):
    """The angles of tips, rad."""
    x, y, _ = piece.vertices.T
    outer = np.hypot(x, y) > radius
    return np.unique(np.round(np.arctan2(y[outer], x[outer]), 6))


@pytest.mark.parametrize(
    ("kind", "radii"),
    [
        (bc.Gear(radii=(0.3, 0.15)), (0.3, 0.15)),
        (bc.Gear(ratio=2.0), (0.15, 0.3)),
        (bc.Gear(teeth=(40, 20)), (0.3, 0.15)),
        (bc.ElasticGear((0.3, 0.15), 1e6), (0.3, 0.15)),
    ],
)
def test_gears_touch_at_their_pitch_circles_and_teeth_meet_gaps(kind, radii):
    drawn = pair(kind)
    for body, radius in zip(("one", "two"), radii, strict=True):
        x, y, _ = wheel(drawn, body).vertices.T
        reach = np.hypot(x, y)[np.hypot(x, y) > 0.5 * radius]
        assert reach.min() < radius < reach.max()
    one, two = (
        angles(wheel(drawn, body), radius) for body, radius in zip(("one", "two"), radii, strict=True)
    )
    assert np.abs(one - np.pi / 2).min() == pytest.approx(
        0.16 * 2 * np.pi / (len(one) / 2), rel=1e-3
    )  # a tooth
    assert np.abs(two + np.pi / 2).min() == pytest.approx(
        0.34 * 2 * np.pi / (len(two) / 2), rel=1e-3
    )  # a gap
    if getattr(kind, "teeth", None) is not None:
        assert len(one) == 2 * kind.teeth[0]


@pytest.mark.parametrize("crossed", [False, True])
def test_a_belt_is_as_long_as_the_closed_form_says(crossed):
    r, s, d = 0.1, 0.2, 0.7
    way = belt_way((r, s), np.array((0.0, d)), crossed)
    found = np.linalg.norm(np.diff(way, axis=0), axis=1).sum()
    lift = np.arcsin(((r + s) if crossed else (s - r)) / d)
    around = (r + s) * (np.pi + 2 * lift) if crossed else np.pi * (r + s) + 2 * lift * (s - r)
    assert found == pytest.approx(2 * d * np.cos(lift) + around, rel=1e-3)
    drawn = pair(bc.Belt(radii=(r, s), crossed=crossed), d)
    belt = next(piece for piece in drawn.bodies["ground"] if piece.name == "ground/pair")
    low, high = belt.vertices.min(axis=0), belt.vertices.max(axis=0)
    assert np.allclose((low[1], high[1]), (-r, d + s), atol=0.02)


def test_pulleys_that_lie_in_each_other_have_no_belt():
    assert belt_way((0.3, 0.1), np.array((0.1, 0.0)), False) is None


def test_bodies_with_shapes_keep_to_them():
    drawn = pair(bc.Gear(radii=(0.3, 0.15)), shapes=[bc.Cylinder(0.1, 0.02)])
    assert [len(drawn.bodies[body]) for body in ("one", "two")] == [1, 1]


def test_a_belt_between_frames_that_move_is_left_out():
    mech = bc.Mechanism("far", gravity=(0.0, 0.0, 0.0))
    bodies = [
        mech.add_body(name, 1.0, (0.01, 0.01, 0.02), position=(0.0, 0.5 * k, 0.0))
        for k, name in enumerate("abc")
    ]
    mech.add_joint("first", bc.Revolute(), mech.ground, bodies[0])
    mech.add_joint("second", bc.Revolute(), bodies[1], bodies[2].marker((0.0, -0.5, 0.0)))
    mech.add_constraint("belt", bc.Belt(radii=(0.1, 0.1)), bodies[0], bodies[2])
    drawn = scene.of(mech)
    assert not any(piece.name.endswith("/belt") for piece in drawn.bodies["ground"])


@pytest.mark.parametrize("span", [0.2, 0.9, 1.0, 1.4])
def test_a_string_is_drawn_as_long_as_it_is(span):
    mech = bc.Mechanism("string")
    ball = mech.add_body("ball", 1.0, (0.01, 0.01, 0.01), position=(span, 0.0, 0.0))
    mech.add_joint("free", bc.Free(), mech.ground, ball)
    mech.add_force("string", bc.RubberString(stiffness=10.0, rest_length=1.0), mech.ground, ball)
    drawn = scene.of(mech)
    placed = drawn.placed()
    parts = len(placed.stretch) - len(drawn.pieces)
    assert parts == 10
    assert len(drawn.drawn) == len(placed.stretch)
    long = placed.stretch[-parts:].sum()
    assert long == pytest.approx(max(span, 1.0), rel=0.05 if span > 0.5 else 0.15)
    lowest = placed.position[-parts:, 2].min()
    assert (lowest < -0.1) == (span < 1.0)
    assert np.allclose(placed.position[-parts], (0.0, 0.0, 0.0))
