"""Depths of a tyre's slices in all kinds of ground: continuous at any attitude; forces are their gradient."""

from functools import cache

import numpy as np
import pytest
from rigs.tyre_rig import force_at, free_wheel
from rigs.wild_tyres import forget_files, mesh_shape, wild
from scipy.spatial.transform import Rotation

import bellcrank as bc
from bellcrank import _core
from bellcrank.mechanism.hull import convex_hull

Shape = _core.CollisionShape
RADIUS, WIDTH, SLICES, RIM = 0.3, 0.06, 150, 0.048
TYRE = Shape.tyre(RADIUS, WIDTH, WIDTH, SLICES, RIM)
REACH = 0.02  # m, gaps beyond count as that
SLOPE = 4.0  # of the cone that a slice is
OF_RIM = 2**30
GAINED = (28, 34, 44, 47)  # of wild scenes
CUBE = [
    [0, 2, 1], [1, 2, 3], [4, 5, 6], [5, 7, 6], [0, 1, 4], [1, 5, 4],
    [2, 6, 3], [3, 6, 7], [0, 4, 2], [2, 4, 6], [1, 3, 5], [3, 7, 5],
]  # fmt: skip
CORNERS = np.array([[(i & 1) * 2 - 1, (i >> 1 & 1) * 2 - 1, (i >> 2) * 2 - 1] for i in range(8)], dtype=float)


def terrain(highest, share=1.0):
    """Random heights, of which this share stands out."""
    rng = np.random.default_rng(4)
    heights = np.where(rng.random((30, 30)) < share, rng.uniform(0.0, highest, (30, 30)), 0.0)
    return Shape.height_field(heights, (-0.75, -0.75), (0.05, 0.05))


def ridged(thick):
    """A closed mesh of random heights, so thick; open, without its sides and what is below, for None."""
    rng = np.random.default_rng(7)
    side = 14
    x, y = (p.ravel() for p in np.meshgrid(*2 * [np.linspace(-0.6, 0.6, side)]))
    top = np.column_stack([x, y, rng.uniform(0.0, 0.08, side * side)])
    faces = [
        t
        for k in range(side * side - side)
        if (k + 1) % side
        for t in ([k, k + 1, k + side + 1], [k, k + side + 1, k + side])
    ]
    if thick is None:
        return Shape.mesh(top, faces)
    n = len(top)
    rim = [*range(side), *range(2 * side - 1, n, side), *range(n - 2, n - side - 1, -1)]
    rim += range(n - 2 * side, 0, -side)
    walls = [
        t for a, b in zip(rim, rim[1:] + rim[:1], strict=True) for t in ([b, a, a + n], [b, a + n, b + n])
    ]
    under = [[a + n, c + n, b + n] for a, b, c in faces]
    return Shape.mesh(np.vstack([top, top * (1, 1, 0) - (0, 0, thick)]), [*faces, *under, *walls])


def wedge():
    """A hull with sharp edges."""
    points = np.array(
        [[0, 0, 0], [0.3, 0, 0], [0, 0.2, 0], [0.3, 0.25, 0], [0.1, 0.05, 0.15], [0.12, 0.1, 0.15]]
    )
    vertices, triangles = convex_hull(points)
    return Shape.hull(vertices, triangles.tolist())


GROUNDS = {
    "plane": Shape.plane,
    "box": lambda: Shape.box([0.2, 0.05, 0.1]),
    "blade": lambda: Shape.box([0.002, 0.3, 0.3]),
    "hull": wedge,
    "sphere": lambda: Shape.sphere(0.1),
    "cylinder": lambda: Shape.cylinder(0.05, 0.1),
    "capsule": lambda: Shape.capsule(0.02, 0.2),
    "cone": lambda: Shape.cone(0.05, 0.1),
    "ellipsoid": lambda: Shape.ellipsoid([0.05, 0.1, 0.15]),
    "rough terrain": lambda: terrain(0.05),
    "spiked terrain": lambda: terrain(0.15, 0.1),
    "closed mesh": lambda: ridged(0.15),
    "thin closed mesh": lambda: ridged(0.01),
    "cube": lambda: Shape.mesh(0.12 * CORNERS, CUBE),
    "open mesh": lambda: ridged(None),
}


@cache
def ground(name):
    return GROUNDS[name]()


def depths(poses, shape, reach=REACH):
    """Of slices of tread and rim: gap, gradient, place (poses, 2, slices, ...); which poses are refused."""
    still = np.tile([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0], (len(poses), 1))
    table = _core.collide(TYRE, poses, shape, still, reach)
    gaps = np.full((len(poses), 2, SLICES), reach)
    acting, places = np.zeros((2, len(poses), 2, SLICES, 3))
    feature = table.features[:, 0]
    at = np.repeat(np.arange(len(poses)), np.diff(table.first)), (feature >= OF_RIM).astype(int)
    at = (*at, feature % OF_RIM)
    gaps[at] = table.points[:, 6]
    acting[at] = table.points[:, 3:6] + table.tilts
    places[at] = table.points[:, :3]
    return gaps, acting, places, np.isinf(table.uncertainty[:, 0])


def moved(position, turn, way, spin):
    """A pose (7,) displaced by a way and a turn about its own place."""
    w = (Rotation.from_rotvec(spin) * turn).as_quat()
    return np.array([*(position + way), w[3], *w[:3]])


def poses_near(rng, count):
    """Places and attitudes of a wheel that touches something about the origin with any part of it."""
    turns = Rotation.random(count, random_state=rng)
    upright = Rotation.from_euler("x", 0.5 * np.pi)
    for k in range(count):
        turn = (turns[k], upright, Rotation.from_euler("z", rng.uniform(0, 6)) * upright)[rng.integers(3)]
        angle = rng.uniform(0.0, 2.0 * np.pi)
        out = turn.apply([np.cos(angle), np.sin(angle), 0.0])
        touches = rng.uniform(-0.15, 0.15, 3) * (1.0, 1.0, 0.7) + (0.0, 0.0, 0.03)
        yield touches - rng.uniform(0.7, 1.05) * RADIUS * out, turn


@pytest.mark.parametrize("name", GROUNDS)
def test_depths_are_continuous(name):
    """Along ways of some 0.1 m and 0.2 rad, in steps: no slice gets deeper by more than its motion allows."""
    rng = np.random.default_rng(11)
    steps, refused, least = np.linspace(0.0, 1.0, 150), 0, 0.0
    for position, turn in poses_near(rng, 12):
        way, spin = rng.uniform(-0.1, 0.1, 3), rng.uniform(-0.2, 0.2, 3)
        path = np.array([moved(position, turn, s * way, s * spin) for s in steps])
        gaps, _, _, lost = depths(path, ground(name))
        deepest = np.maximum(0.0, -gaps.min())
        step = steps[1] * (np.linalg.norm(way) + np.linalg.norm(spin) * (RADIUS + deepest))
        jumps = np.abs(np.diff(gaps, axis=0)).max(axis=(1, 2))
        right = ~(lost[1:] | lost[:-1])
        refused += int(lost.any())
        least = min(least, gaps.min())
        assert jumps[right].max(initial=0.0) <= np.hypot(1.0, SLOPE) * step
    assert least < -0.5 * WIDTH
    assert refused == 0 or name == "open mesh"


@pytest.mark.parametrize("name", GROUNDS)
def test_forces_take_the_gradient_of_the_depth(name):
    """Where the differences on both sides agree, as they do but for kinks, they are the rate of the gap."""
    rng = np.random.default_rng(5)
    small, compared, kinks = 1e-6, 0, 0
    for position, turn in poses_near(rng, 60):
        way, spin = rng.normal(size=3), rng.normal(size=3) / RADIUS
        three = np.array([moved(position, turn, s * way, s * spin) for s in (-small, 0.0, small)])
        gaps, acting, places, lost = depths(three, ground(name))
        near = (gaps < 0.99 * REACH).all(axis=0)
        if lost.any() or not near.any():
            continue
        before, after = (np.diff(gaps, axis=0) / small)[:, near]
        velocity = way + np.cross(spin, places[1][near] - position)
        rate = np.sum(acting[1][near] * velocity, axis=1)
        smooth = np.abs(before - after) < 1e-3
        assert rate[smooth] == pytest.approx(0.5 * (before + after)[smooth], abs=1e-3)
        between = np.minimum(before, after) - 1e-3, np.maximum(before, after) + 1e-3
        assert np.all((rate >= between[0]) & (rate <= between[1]))
        compared, kinks = compared + len(rate), kinks + int(np.sum(~smooth))
    assert compared > 100
    assert kinks < 0.05 * compared


@pytest.fixture
def meshes():
    """The files of meshes go when a test ends."""
    yield
    forget_files()


@pytest.mark.parametrize("seed", GAINED)
def test_no_rim_gains_energy_on_wild_ground(seed, meshes):
    """Scenes in which tyres sampled by rays gave a tenth of the energy and more that is exchanged."""
    run = bc.simulate(wild(seed)[0], 1.0, output_step=0.002, tolerance=1e-5, ledger=True)
    balance, total = run.energy_balance(), run.energy.total
    given = np.max(np.maximum.accumulate(balance.lost["tyre"]) - balance.lost["tyre"])
    rise = np.max(total - np.minimum.accumulate(total))
    assert max(given, rise) < 0.01 * balance.exchanged


def dropped(shapes, lean, velocity=(0.0, 0.0, 0.0), height=0.2, **fields):
    """A free wheel above the ground, its axle turned from y towards z by an angle."""
    mech = bc.Mechanism("dropped")
    mech.replace(mech.ground, shapes=shapes)
    axle = np.array([0.0, np.cos(lean), np.sin(lean)])
    inertia = 0.2 * np.eye(3) + 0.2 * np.outer(axle, axle)
    wheel = mech.add_body(
        "wheel", mass=5.0, inertia=inertia.tolist(), position=(0.0, 0.0, height), velocity=velocity
    )
    tyre = bc.Tyre(**{"radius": RADIUS, "width": WIDTH, "pressure": 3e5, "friction": 0.0, **fields})
    mech.add_force("tyre", tyre, wheel.marker(axis=tuple(axle)), "ground")
    return mech


def test_a_wheel_that_lies_down_takes_no_more_steps_than_one_that_stands():
    steps = []
    for lean, low in ((0.5 * np.pi, 0.5 * WIDTH), (0.0, RADIUS)):
        mech = dropped([bc.Plane()], lean, height=low + 0.05, dissipation=0.0)
        run = bc.simulate(mech, 0.5, output_step=0.005, tolerance=1e-6)
        assert np.ptp(run.energy.total) < 0.01 * np.max(run.energy.kinetic)
        steps.append(run.statistics["steps"])
    assert steps[0] < 2 * steps[1]


def square(height, turned=False):
    """An open mesh of two triangles that face up, or down."""
    corners = 0.5 * CORNERS[:4] * (1.0, 1.0, 0.0) + (0.0, 0.0, height)
    triangles = [[0, 1, 3], [0, 3, 2]]
    return mesh_shape(corners, [t[::-1] for t in triangles] if turned else triangles)


@pytest.mark.parametrize("options", [{}, {"method": "rk4", "step": 1e-3}])
def test_the_back_of_an_open_mesh_is_refused_by_name(options, meshes):
    up = {"velocity": (0.0, 0.0, 3.0), "height": 0.4}
    closed = mesh_shape(0.5 * CORNERS * (1.0, 1.0, 0.01) + (0.0, 0.0, 0.8), CUBE)
    for shapes in ([square(0.8, turned=True)], [closed]):
        run = bc.simulate(dropped(shapes, 0.0, **up), 0.1, **options)
        assert run.body("wheel").velocity[-1, 2] < -1.0
    with pytest.raises(bc.SimulationError, match=r"force 'tyre' has no value .*open mesh.*close the mesh"):
        bc.simulate(dropped([square(0.8)], 0.0, **up), 0.1, **options)


def test_on_round_ground_the_load_is_that_of_a_narrower_torus():
    """A slice of a tyre is a ball there, on a circle that is smaller than the tyre by half its width."""
    flat, round_ = (
        force_at(free_wheel([shape], speed=0.0))[0][2]
        for shape in (bc.Plane(), bc.Sphere(radius=1e4, position=(0.0, 0.0, -1e4)))
    )
    assert round_ / flat == pytest.approx(np.sqrt(0.338 / 0.324), rel=0.01)
