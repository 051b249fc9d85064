"""Random scenes of a tyre on ground that its rim comes through: spikes, slots, posts, plates, meshes."""

import tempfile
from pathlib import Path

import numpy as np

import bellcrank as bc

BAR = 1e5  # Pa
ABOVE = 0.03  # m, of a wheel above the highest ground at the start


def spiked(rng):
    """Terrain with single heights that stand out, and its highest point, m."""
    spacing = rng.uniform(0.004, 0.05)
    count = int(2.0 / spacing)
    heights = np.where(rng.random((count, count)) < rng.uniform(0.01, 0.2), rng.uniform(0.0, 0.1), 0.0)
    return [_terrain(heights, spacing)], heights.max()


def slotted(rng):
    """Terrain with slots across the way, as narrow as its cells or wider."""
    spacing = rng.uniform(0.004, 0.03)
    count = int(2.0 / spacing)
    slot = np.arange(count) % rng.integers(3, 30) < rng.integers(1, 3)
    heights = np.tile(np.where(slot, -rng.uniform(0.01, 0.1), 0.0), (count, 1))
    return [_terrain(heights if rng.random() < 0.7 else heights.T, spacing)], 0.0


def rough(rng):
    """Terrain of random heights."""
    spacing = rng.uniform(0.005, 0.1)
    count = int(2.0 / spacing)
    heights = rng.uniform(0.0, rng.choice([0.01, 0.05]), (count, count))
    return [_terrain(heights, spacing)], heights.max()


def sheets(rng):
    """An open mesh of random heights above a floor; wheels come to its ends."""
    vertices, triangles, top = _grid(rng)
    return [mesh_shape(vertices, triangles), bc.Plane(position=(0.0, 0.0, -0.4))], top


def slabs(rng):
    """A closed mesh of random heights, as thick as a finger or more, above a floor."""
    vertices, triangles, top = _grid(rng)
    count, side = len(vertices), round(np.sqrt(len(vertices)))
    thick = rng.uniform(0.01, 0.2)
    below = vertices * (1.0, 1.0, 0.0) - (0.0, 0.0, thick)
    rim = [*range(side), *range(2 * side - 1, count, side), *range(count - 2, count - side - 1, -1)]
    rim += range(count - 2 * side, 0, -side)
    walls = [
        t
        for one, two in zip(rim, rim[1:] + rim[:1], strict=True)
        for t in ((two, one, one + count), (two, one + count, two + count))
    ]
    under = [[a + count, c + count, b + count] for a, b, c in triangles]
    shape = mesh_shape(np.vstack([vertices, below]), [*triangles, *under, *walls])
    return [shape, bc.Plane(position=(0.0, 0.0, -0.4))], top


def _grid(rng):
    """Vertices and triangles of random heights over a square, and the greatest of them, m."""
    side = int(rng.integers(6, 30))
    x, y = (p.ravel() for p in np.meshgrid(np.linspace(-0.7, 0.8, side), np.linspace(-0.7, 0.8, side)))
    z = rng.uniform(0.0, rng.choice([0.005, 0.03, 0.08]), side * side)
    triangles = []
    for k in range(side * side - side):
        if (k + 1) % side:
            triangles += [[k, k + 1, k + side + 1], [k, k + side + 1, k + side]]
    return np.column_stack([x, y, z]), triangles, float(z.max())


def mesh_shape(vertices, triangles):
    """A mesh, through a file that is read at once and then needed for messages only."""
    lines = [f"v {x:.9g} {y:.9g} {z:.9g}" for x, y, z in vertices]
    lines += ["f " + " ".join(str(v + 1) for v in t) for t in triangles]
    with tempfile.NamedTemporaryFile("w", suffix=".obj", delete=False) as file:
        file.write("\n".join(lines) + "\n")
    _files.append(Path(file.name))
    return bc.Mesh(file=file.name)


_files = []


def forget_files():
    """Remove the files of meshes made so far."""
    while _files:
        _files.pop().unlink()


def posts(rng):
    """Posts of all kinds on a plane."""
    shapes, top = [bc.Plane()], 0.0
    for _ in range(rng.integers(3, 25)):
        wide, high = rng.uniform(0.003, 0.06), rng.uniform(0.01, 0.15)
        place = (*rng.uniform(-0.4, 0.8, 2), 0.5 * high)
        kinds = (
            lambda p, w=wide, h=high: bc.Box(size=(w, rng.uniform(0.003, 0.5), h), position=p),
            lambda p, w=wide, h=high: bc.Prism(
                outline=((0.0, 0.0), (w, 0.1 * w), (0.3 * w, w)), length=h, position=p
            ),
            lambda p, w=wide, h=high: bc.Cylinder(radius=0.5 * w, length=h, position=p),
            lambda p, w=wide, h=high: bc.Cone(radius=0.5 * w, height=h, position=p),
            lambda p, w=wide, h=high: bc.Capsule(radius=0.5 * w, length=h, position=p),
            lambda p, w=wide, h=high: bc.Ellipsoid(radii=(0.5 * w, 0.5 * w, 0.5 * h), position=p),
        )
        shapes.append(kinds[rng.integers(len(kinds))](tuple(float(x) for x in place)))
        top = max(top, 1.5 * high)
    return shapes, top


def _terrain(heights, spacing):
    return bc.Terrain(heights=heights.tolist(), spacing=(spacing, spacing), origin=(-0.7, -1.0))


def plates(mech, rng):
    """Thin plates that move up and down, or to and fro, through the ground."""
    for k in range(rng.integers(1, 4)):
        size = (rng.uniform(0.002, 0.3), rng.uniform(0.05, 0.5), rng.uniform(0.002, 0.1))
        place = (float(rng.uniform(-0.2, 0.6)), 0.0, 0.0)
        plate = mech.add_body(
            f"plate {k}",
            mass=1.0,
            inertia=[1.0] * 3,
            position=place,
            shapes=[bc.Box(size=tuple(map(float, size)))],
        )
        axis = ("x", "z")[rng.integers(2)]
        mech.add_joint(
            f"slide {k}", bc.Prismatic(), mech.ground.marker(place, axis=axis), plate.marker(axis=axis)
        )
        way, rate = rng.uniform(0.005, 0.06), rng.uniform(2.0, 30.0)
        mech.add_drive(f"drive {k}", joint=f"slide {k}", position=f"{way:.6f} * sin({rate:.6f} * t)")
        yield plate.name


def wild(seed):
    """A wheel of any size and weight that falls onto such ground, and whether the ground stands still."""
    rng = np.random.default_rng(seed)
    mech = bc.Mechanism(f"wild {seed}")
    kind = (spiked, slotted, rough, posts, sheets, slabs)[rng.integers(6)]
    shapes, top = kind(rng)
    mech.replace(mech.ground, shapes=shapes)
    moving = list(plates(mech, rng)) if rng.random() < 1 / 3 else []
    radius = rng.uniform(0.15, 0.45)
    width = radius * rng.uniform(0.05, 0.4)
    mass = 10.0 ** rng.uniform(0.0, 3.0)
    across, along = 0.3 * mass * radius**2, 0.6 * mass * radius**2
    lean = rng.choice([0.0, rng.uniform(-0.5, 0.5), rng.uniform(-1.5, 1.5), 0.5 * np.pi])
    axle = np.array([rng.choice([0.0, 0.1]) * rng.normal(), np.cos(lean), np.sin(lean)])
    axle /= np.linalg.norm(axle)
    spin = rng.choice([0.0, rng.uniform(0.0, 20.0), rng.uniform(-200.0, 200.0)])
    lowest = radius * np.sqrt(max(1.0 - axle[2] ** 2, 0.0)) + 0.5 * width * abs(axle[2])
    height = max(top, 0.1 if moving else 0.0) + lowest + ABOVE + rng.uniform(0.0, 0.3)
    wheel = mech.add_body(
        "wheel",
        mass=mass,
        inertia=(across * np.eye(3) + (along - across) * np.outer(axle, axle)).tolist(),
        position=(0.0, 0.0, float(height)),
        velocity=(float(rng.uniform(-2.0, 8.0)), float(rng.normal(scale=0.5)), float(-rng.uniform(0.0, 4.0))),
        angular_velocity=tuple((spin * axle + rng.normal(scale=0.5, size=3)).tolist()),
    )
    tyre = bc.Tyre(
        radius,
        width,
        BAR * 10.0 ** rng.uniform(-1.0, 2.0),
        dissipation=float(rng.choice([0.0, 0.3])),
        friction=float(rng.choice([0.0, 0.9])),
    )
    mech.add_force("tyre", tyre, wheel.marker(axis=tuple(axle.tolist())), "ground", *moving)
    return mech, not moving
