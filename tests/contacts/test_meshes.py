"""Bodies with meshes on meshes, terrain and planes: what solids do, they do."""

import numpy as np
import pytest
from rigs import meshes
from rigs.contact_scenes import G

import bellcrank as bc

pytest.importorskip("trimesh")

SIZE = (0.1, 0.08, 0.06)
CONTACT = bc.Contact(1e5, restitution=0.6, friction=0.4)
WIDE = (*((k, 0, 0) for k in range(4)), (0, 1, 0), (3, 1, 0))  # an U with an opening of two cubes


def flat(path, half=2.0, count=9):
    """An open mesh of the plane z = 0."""
    x = np.linspace(-half, half, count)
    corners = np.column_stack([np.tile(x, count), np.repeat(x, count), np.zeros(count**2)])
    v = (np.arange(count - 1)[:, None] * count + np.arange(count - 1)).ravel()
    triangles = [np.column_stack([v, v + 1, v + count + 1]), np.column_stack([v, v + count + 1, v + count])]
    return bc.Mesh(file=meshes.write_obj(path / "flat.obj", meshes.Surface(corners, np.vstack(triangles))))


def box_mesh(path, divided=0):
    surface = meshes.box(*(0.5 * s for s in SIZE))
    if divided:
        surface = surface.divided(divided)
    return bc.Mesh(file=meshes.write_obj(path / f"box{divided}.obj", surface))


def die(shape, ground, contact=CONTACT, height=0.2, velocity=(0.8, 0.2, -0.5), spin=(3.0, -2.0, 1.0)):
    """A box, thrown onto a ground."""
    mech = bc.Mechanism("thrown", gravity=(0.0, 0.0, -G))
    mech.add_body(
        "die",
        mass=0.5,
        inertia=[4e-4, 5e-4, 6e-4],
        shapes=[shape],
        position=(0.0, 0.0, height),
        velocity=velocity,
        angular_velocity=spin,
    )
    mech.replace(mech.ground, shapes=[ground])
    mech.add_force("floor", contact, "die", "ground")
    return mech


def grounds(path):
    return {
        "plane": bc.Plane(),
        "terrain": bc.Terrain.from_function(lambda x, y: 0.0 * x, (2.0, 2.0), 0.2),
        "mesh": flat(path),
    }


@pytest.mark.parametrize("ground", ["plane", "terrain", "mesh"])
@pytest.mark.parametrize("formulation", ["lagrange", "recursive"])
def test_a_thrown_mesh_moves_as_the_box_does(tmp_path, ground, formulation):
    settings = {"output_step": 0.05, "method": "dopri5", "tolerance": 1e-11, "formulation": formulation}
    box = bc.simulate(die(bc.Box(size=SIZE), bc.Plane()), 0.35, **settings)
    mesh = bc.simulate(die(box_mesh(tmp_path, 3), grounds(tmp_path)[ground]), 0.35, **settings)
    assert box.status == mesh.status == "finished"
    assert any("touches" in event.name for event in mesh.events)
    assert mesh.body("die").position == pytest.approx(box.body("die").position, abs=3e-6)
    assert mesh.body("die").velocity == pytest.approx(box.body("die").velocity, abs=3e-5)


@pytest.mark.parametrize("ground", ["plane", "terrain", "mesh"])
def test_a_sliding_mesh_stops_where_coulomb_says(tmp_path, ground):
    speed, friction = 1.0, 0.4
    start = 0.5 * SIZE[2] - 0.5 * G / (4 * CONTACT.stiffness)
    mech = die(
        box_mesh(tmp_path), grounds(tmp_path)[ground], CONTACT, start, (speed, 0.0, 0.0), (0.0, 0.0, 0.0)
    )
    run = bc.simulate(mech, 0.6, output_step=0.01, tolerance=1e-8)
    assert run.status == "finished"
    assert run.body("die").position[-1, 0] == pytest.approx(speed**2 / (2 * friction * G), rel=0.01)
    assert np.linalg.norm(run.body("die").velocity[-1]) < 1e-5
    assert run.contact("floor").points(-1).force.sum(axis=0) == pytest.approx([0, 0, 0.5 * G], abs=2e-3)


@pytest.mark.parametrize("ground", ["terrain", "mesh"])
@pytest.mark.parametrize("formulation", ["lagrange", "recursive"])
def test_rigid_contacts_of_a_mesh_are_those_of_the_box(tmp_path, ground, formulation):
    settings = {"output_step": 0.05, "method": "moreau", "step": 1e-3, "formulation": formulation}
    runs = [
        bc.simulate(die(shape, below), 0.5, **settings)
        for shape, below in ((bc.Box(size=SIZE), bc.Plane()), (box_mesh(tmp_path), grounds(tmp_path)[ground]))
    ]
    assert runs[1].status == "finished"
    # Steps are shorter on the way to an impact: the thickness of a mesh is less than that of the box.
    assert runs[1].body("die").position == pytest.approx(runs[0].body("die").position, abs=1e-3)


def hooks(path):
    """A hook of the ground and one that hangs in it, both U of cubes, turned against each other."""
    surface, _ = meshes.cubes(WIDE, 0.05)
    # The opening of a U is along its y: that of the ground's is up, that of the hanging one down.
    file = meshes.write_obj(path / "hook.obj", surface)
    mech = bc.Mechanism("hooks", gravity=(0.0, 0.0, -G))
    fixed = bc.Mesh(file=file, rotation=(np.sqrt(0.5), np.sqrt(0.5), 0.0, 0.0))
    mech.replace(mech.ground, shapes=[fixed])
    hanging = bc.Mesh(file=file, rotation=(0.5, -0.5, -0.5, 0.5), density=2000.0)
    mech.add_body("hook", shapes=[hanging], position=(0.0, 0.0, 0.0))
    return mech, surface


@pytest.mark.parametrize("method", ["compliant", "moreau"])
def test_two_hooks_hold_each_other(tmp_path, method):
    contact = bc.Contact(1e5, restitution=0.2, friction=0.5)
    mech, surface = hooks(tmp_path)
    # Its web starts 1 mm above that of the ground's, each between the arms of the other.
    low = surface.vertices[:, 1].min() + 0.05  # the floor of the opening
    mech.replace(mech.bodies["hook"], position=(0.0, 0.0, 2 * low + 0.001))
    mech.add_force("grip", contact, "hook", "ground")
    settings = {"method": "moreau", "step": 1e-3} if method == "moreau" else {}
    run = bc.simulate(mech, 1.5, output_step=0.01, **settings)
    assert run.status == "finished"
    path = run.body("hook").position
    assert np.abs(path[-1] - path[0]).max() < 0.004
    assert np.linalg.norm(run.body("hook").velocity[-1]) < 1e-3
    weight = mech.bodies["hook"].mass * G
    if method == "compliant":
        assert run.contact("grip").points(-1).force.sum(axis=0) == pytest.approx(
            [0, 0, weight], rel=1e-3, abs=1e-3
        )
    assert np.diff(run.energy.total).max() < 1e-5 * weight


@pytest.mark.parametrize("seed", range(3))
def test_a_heap_of_concave_meshes_gains_no_energy(tmp_path, seed):
    rng = np.random.default_rng(seed)
    surface, _ = meshes.cubes((meshes.L, meshes.U, meshes.STAIR)[seed], 0.05)
    file = meshes.write_obj(tmp_path / "part.obj", surface)
    mech = bc.Mechanism("heap", gravity=(0.0, 0.0, -G))
    rough = bc.Terrain.from_function(lambda x, y: 0.02 * np.sin(9 * x) * np.cos(7 * y), (1.0, 1.0), 0.05)
    mech.replace(mech.ground, shapes=[rough])
    for k in range(3):
        q = rng.normal(size=4)
        mech.add_body(
            f"part {k}",
            shapes=[bc.Mesh(file=file, density=1000.0)],
            position=(0.01 * k, 0.0, 0.15 + 0.17 * k),
            rotation=tuple((q / np.linalg.norm(q)).tolist()),
            angular_velocity=tuple(rng.normal(size=3).tolist()),
        )
    mech.add_force("touch", bc.Contact(5e4, restitution=0.3, friction=0.4), "ground", *mech.bodies)
    run = bc.simulate(mech, 1.0, output_step=0.005)
    assert run.status == "finished"
    total = run.energy.total
    fall = sum(b.mass for b in mech.bodies.values()) * G * 0.3
    # What a change of features adds is small beside what impacts take.
    assert np.diff(total).max() < 2e-3 * fall
    assert total[-1] < total[0] - 0.3 * fall
    for k in range(3):
        assert run.body(f"part {k}").position[-1, 2] > 0.0


def test_a_fast_mesh_does_not_pass_through_a_plate(tmp_path):
    plate = meshes.write_obj(tmp_path / "plate.obj", meshes.box(0.5, 0.5, 0.01))
    mech = die(box_mesh(tmp_path), bc.Mesh(file=plate), CONTACT, 0.3, (0.0, 0.0, -40.0), (0.0, 0.0, 0.0))
    run = bc.simulate(mech, 0.02, output_step=0.001)
    assert run.status == "finished"
    assert run.body("die").position[:, 2].min() > 0.02
