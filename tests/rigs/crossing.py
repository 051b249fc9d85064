"""Two bodies on paths that cross or pass near each other, fast and turning."""

from dataclasses import replace

import numpy as np
from rigs.touching_scenes import orientation, shape

import bellcrank as bc


def crossing(seed):
    """A mechanism without weight: bodies "a" and "b" are nearest to each other between 0.2 and 0.8 s."""
    rng = np.random.default_rng(seed)
    mech = bc.Mechanism(f"crossing {seed}", gravity=(0.0, 0.0, 0.0))
    speed, meet = 10.0 ** rng.uniform(0.0, 2.0), rng.uniform(0.2, 0.8)
    for name in ("a", "b"):
        size = rng.uniform(0.02, 0.3)
        way = rng.normal(size=3)
        way *= speed / np.linalg.norm(way)
        miss = rng.normal(scale=0.3 * size, size=3)
        mech.add_body(
            name,
            mass=10.0 ** rng.uniform(-2.0, 1.0),
            shapes=[replace(shape(rng, size), density=1000.0)],
            position=tuple((miss - way * meet).tolist()),
            velocity=tuple(way.tolist()),
            rotation=orientation(rng),
            angular_velocity=tuple(rng.normal(scale=20.0, size=3).tolist()),
        )
    energy = min(mech.bodies[name].mass for name in ("a", "b")) * speed**2
    mech.add_force("touch", bc.Contact(stiffness=energy / 1e-6, restitution=0.5), "a", "b")
    return mech
