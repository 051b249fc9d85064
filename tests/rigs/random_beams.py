"""Random frames and arms with beams, and what must hold of them."""

from dataclasses import replace

import numpy as np

import bellcrank as bc

AGREED = 1e-8  # of accelerations, in parts of the largest
ROUNDED = 1e-15  # of places and directions, m and rad: what that makes of accelerations is no difference


def _section(rng: np.random.Generator) -> bc.Section:
    given = {
        "E": 10 ** rng.uniform(7.0, 11.3),
        "nu": rng.uniform(0.0, 0.45),
        "density": rng.uniform(500.0, 9e3),
    }
    size = 10 ** rng.uniform(-2.0, -1.0)
    kind = rng.integers(4)
    if kind == 0:
        return bc.Section.tube(size, size * rng.uniform(0.02, 0.3), **given)
    if kind == 1:
        return bc.Section.circle(size, **given)
    if kind == 2:
        return bc.Section.rectangle(size, size * rng.uniform(0.2, 1.0), **given)
    return bc.Section.i_beam(size, size * rng.uniform(0.6, 1.4), 0.08 * size, 0.06 * size, **given)


def _scaled(section: bc.Section, factor: float) -> bc.Section:
    sizes = {"diameter", "wall", "width", "height", "flange", "web"} & vars(section).keys()
    return replace(section, **{name: factor * getattr(section, name) for name in sizes})


def _joint(rng: np.random.Generator) -> bc.JointKind:
    kinds = (bc.Fixed, bc.Revolute, bc.Spherical, bc.Universal, bc.Cylindrical)
    return kinds[rng.integers(len(kinds))]()


def random_beams(seed: int, held: bool = True) -> bc.Mechanism:
    """One to three beams end to end, straight, bent, tapered, twisted or with stations, and bodies on them.

    held: the first one is held by a joint; otherwise nothing holds any.
    """
    rng, shapes = np.random.default_rng(seed), np.random.default_rng([seed, 3])
    mech = bc.Mechanism(f"beams {seed}", gravity=(0, 0, -9.81) if held else (0, 0, 0))
    place, start = rng.uniform(-1.0, 1.0, 3), None
    for number in range(rng.integers(1, 4)):
        step = rng.normal(size=3)
        step *= rng.uniform(0.8, 2.0) / np.linalg.norm(step)
        end, more = place + step, {}
        if rng.random() < 0.3:
            across = np.cross(step, rng.normal(size=3))
            more["points"] = (tuple(place + 0.5 * step + 0.15 * across / np.linalg.norm(across)),)
        elif rng.random() < 0.3:
            more["stations"] = (rng.uniform(0.3, 0.7) * np.linalg.norm(step),)
        if start is None:
            given = (mech.ground.marker(tuple(place)), _joint(rng)) if held else tuple(place)
        else:
            # the marker's axes are those of the node, which is where the beam before ends
            given = (start, _joint(rng))
        name, count = f"beam {number}", int(rng.integers(2, 7))
        section = _section(rng)
        length = bc.Beam(name, section, tuple(place), tuple(end), points=more.get("points", ())).length
        if shapes.random() < 0.3:
            section = bc.Section.tapered((0.0, length), (section, _scaled(section, shapes.uniform(0.7, 1.3))))
        if shapes.random() < 0.3:
            more["twist"] = bc.Table((0.0, length), (0.0, shapes.uniform(-1.0, 1.0)))
        beam = mech.add_beam(name, section, given, tuple(end), count, damping=rng.choice([0.0, 1e-4]), **more)
        place, start = end, mech.bodies[beam.nodes[-1]].marker()
    if rng.random() < 0.5:
        last = mech.bodies[beam.nodes[-1]]
        load = mech.add_body("load", rng.uniform(0.1, 5.0), (0.02, 0.03, 0.04), position=tuple(place))
        mech.join("hook", _joint(rng), [last, load], at=tuple(place))
    return mech


def _accelerations(mechanism: bc.Mechanism, formulation: str, state: bc.State) -> np.ndarray:
    found = bc.prepare(mechanism, formulation).accelerate(state)
    return np.hstack([found.linear, found.angular])


def _rounding(mechanism: bc.Mechanism, state: bc.State, expected: np.ndarray, seed: int) -> float:
    """What rounding of poses makes of accelerations: segments are stiff, and nodes are light."""
    rng = np.random.default_rng([seed, 2])
    most = 0.0
    for _ in range(3):
        moved = state.position + ROUNDED * rng.normal(size=state.position.shape)
        turned = state.rotation + ROUNDED * rng.normal(size=state.rotation.shape)
        near = replace(state, position=moved, rotation=turned)
        most = max(most, float(np.abs(_accelerations(mechanism, "lagrange", near) - expected).max()))
    return most


def wrong(seed: int) -> str:
    """What is wrong with a frame or an arm; "" for nothing."""
    mech = random_beams(seed)
    run = bc.simulate(mech, 0.01, formulation="lagrange", tolerance=1e-7)
    state = run.at(run.time[-1])
    expected = _accelerations(mech, "lagrange", state)
    allowed = AGREED * np.abs(expected).max() + 100.0 * _rounding(mech, state, expected, seed)
    for formulation in ("recursive", "dca", "symbolic"):
        if formulation == "symbolic" and len(mech.bodies) > 8:
            continue
        apart = np.abs(_accelerations(mech, formulation, state) - expected).max()
        if not apart < allowed:
            return f"accelerations of {formulation} are apart by {apart:.1e}, not {allowed:.1e} m/s^2"
    return _moves_as_a_whole(seed)


def _moves_as_a_whole(seed: int) -> str:
    """Unstrained beams anywhere in space, at rest and without weight: nothing accelerates them."""
    mech = random_beams(seed, held=False)
    rng = np.random.default_rng([seed, 1])
    turn = rng.normal(size=3)
    turn *= rng.uniform(0.0, 3.0) / np.linalg.norm(turn)
    angle = np.linalg.norm(turn)
    q = np.array([np.cos(angle / 2), *(np.sin(angle / 2) * turn / angle)])
    shift = rng.uniform(-3.0, 3.0, 3)
    for body in list(mech.bodies.values()):
        mech.replace(body, position=_rotated(q, body.position) + shift, rotation=_product(q, body.rotation))
    state = bc.prepare(mech, "lagrange").state()
    found = _accelerations(mech, "lagrange", state)
    most = np.abs(found).max()
    allowed = 10.0 * _rounding(mech, state, found, seed)
    return "" if most <= allowed else f"moved as a whole it accelerates by {most:.1e} m/s^2"


def _product(p: np.ndarray, q: np.ndarray) -> tuple[float, ...]:
    w, v, u, x = p[0], np.array(p[1:]), q[0], np.array(q[1:])
    return tuple(np.concatenate([[w * u - v @ x], w * x + u * v + np.cross(v, x)]).tolist())


def _rotated(q: np.ndarray, r: np.ndarray) -> np.ndarray:
    v = np.array(q[1:])
    return np.array(r) + 2.0 * np.cross(v, np.cross(v, r) + q[0] * np.array(r))
