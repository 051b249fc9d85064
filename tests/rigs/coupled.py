"""Mechanisms whose joint coordinates are coupled by equations that say the same."""

import numpy as np

import bellcrank as bc

KINDS = (bc.Revolute(), bc.Revolute(), bc.Prismatic(), bc.Cylindrical(), bc.Screw(0.3))


def _body(mech, rng, name):
    com, inertia = rng.uniform(-0.1, 0.1, 3), rng.uniform(0.1, 0.14, 3)
    return mech.add_body(name, mass=rng.uniform(0.5, 2.0), com=com, inertia=inertia)


def _marker(carrier, rng):
    axis = rng.normal(size=3)
    return carrier.marker(tuple(rng.uniform(-0.5, 0.5, 3)), axis=tuple(axis / np.linalg.norm(axis)))


def ring(seed):
    """Shafts geared to each other in a ring, with chords; some rings cannot turn."""
    rng = np.random.default_rng(seed)
    count = int(rng.integers(3, 8))
    mech = bc.Mechanism("ring", gravity=(0.3, -9.81, 0.2))
    carriers, nested = [mech.ground], rng.random() < 0.4
    for k in range(count):
        shaft = _body(mech, rng, f"shaft {k}")
        carrier = carriers[rng.integers(len(carriers))] if nested else mech.ground
        mech.add_joint(f"turn {k}", bc.Revolute(), _marker(carrier, rng), shaft.marker(), position=0.0)
        carriers.append(shaft)
    radii = rng.uniform(0.3, 3.0, count) * rng.choice([-1, 1], count)
    order = rng.permutation(count)
    pairs = [(order[k], order[(k + 1) % count]) for k in range(count)]
    if rng.random() < 0.5:
        pairs += [rng.choice(count, 2, replace=False) for _ in range(rng.integers(1, 3))]
    rng.shuffle(pairs)
    wrong = 1.3 if rng.random() < 0.15 else 1.0
    for k, (i, j) in enumerate(pairs):
        factor = rng.uniform(0.5, 2.0)
        ratio = (factor * radii[i] * (wrong if k == 0 else 1.0), -factor * radii[j])
        mech.add_constraint(f"gear {k}", bc.Coupling(ratio), f"turn {i}", f"turn {j}")
    return mech


def coupled(seed):
    """A tree of turns, slides and screws with couplings and formulas, many of which say the same."""
    rng = np.random.default_rng(seed)
    mech = bc.Mechanism("coupled", gravity=(0.3, -9.81, 0.2))
    carriers, ends, start = [mech.ground], [], []
    for k in range(int(rng.integers(3, 7))):
        body = _body(mech, rng, f"body {k}")
        kind = KINDS[rng.integers(len(KINDS))]
        markers = [_marker(carriers[rng.integers(len(carriers))], rng), body.marker()]
        if rng.random() < 0.3:
            markers.reverse()
        at = tuple(rng.uniform(-1.0, 1.0, len(kind.free)))
        joint = mech.add_joint(f"joint {k}", kind, *markers, position=at if len(at) > 1 else at[0])
        ends += [joint.coordinate(name) for name in kind.free]
        start += at
        carriers.append(body)
    freedom = int(rng.integers(0, 3))
    motions = rng.normal(size=(len(ends), freedom))
    for k in range(int(rng.integers(1, len(ends) + 2))):
        size = min(len(ends), int(rng.integers(2, freedom + 3)))
        chosen = rng.choice(len(ends), size, replace=False)
        _, values, vectors = np.linalg.svd(motions[chosen].T if freedom else np.zeros((1, size)))
        null = vectors[int((values > 1e-9).sum()) :]
        if len(null) == 0:
            continue
        factors = rng.normal(size=len(null)) @ null
        if np.abs(factors).min() > 1e-6:
            kind = (
                _formula(factors, [start[i] for i in chosen]) if k % 4 == 0 else bc.Coupling(tuple(factors))
            )
            mech.add_constraint(f"coupling {k}", kind, *(ends[i] for i in chosen))
    return mech


def _formula(factors, start):
    symbols = tuple(bc.EndCoordinate(f"q{i}") for i in range(len(factors)))
    terms = zip(factors, symbols, start, strict=True)
    return bc.CustomConstraint(symbols, sum(float(f) * (s.value - float(at)) for f, s, at in terms))


def planetary(planets=3):
    """Sun, ring and carrier, and planets with two gears each, of which most say the same."""
    mech = bc.Mechanism("planetary", gravity=(0.0, -9.81, 0.0))
    sun_radius, planet_radius, ring_radius = 0.03, 0.02, 0.07
    carrier = mech.add_body("carrier", mass=0.5, inertia=(1e-3, 1e-3, 1e-3), com=(0.002, 0.001, 0.0))
    sun = mech.add_body("sun", mass=0.4, inertia=(1e-4, 1e-4, 2e-4))
    outer = mech.add_body("ring", mass=0.9, inertia=(1.6e-3, 1.6e-3, 3e-3))
    mech.add_joint("carrier", bc.Revolute(), mech.ground, carrier, velocity=2.0)
    mech.add_joint("sun", bc.Revolute(), mech.ground, sun)
    mech.add_joint("ring", bc.Revolute(), mech.ground, outer, velocity=0.5)
    for k in range(planets):
        angle = 2 * np.pi * k / planets
        place = (sun_radius + planet_radius) * np.array([np.cos(angle), np.sin(angle), 0.0])
        planet = mech.add_body(f"planet {k}", mass=0.2, inertia=(1e-5, 1e-5, 2e-5))
        mech.add_joint(f"pin {k}", bc.Revolute(), carrier.marker(tuple(place)), planet.marker())
        inner = bc.Coupling((sun_radius, -sun_radius, planet_radius))
        mech.add_constraint(f"sun to {k}", inner, "sun", "carrier", f"pin {k}")
        teeth = bc.Coupling((ring_radius, -ring_radius, -planet_radius))
        mech.add_constraint(f"ring to {k}", teeth, "ring", "carrier", f"pin {k}")
    mech.add_force("torque", bc.Wrench(moment=(0.0, 0.0, 1.0)), sun)
    bc.assemble(mech)
    return mech
