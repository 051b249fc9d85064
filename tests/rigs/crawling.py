"""Random runs that could crawl: sharp friction, contacts, stiff springs, ends that are far.

Each kind has an oracle of its own: rigid friction and springs by hand, energy that only falls, a named end.
"""

import cmath
import warnings

import numpy as np

import bellcrank as bc

MOST = 3_000_000  # evaluations of a run


def slow_or_wild(run):
    """What is wrong with a run of any kind; nothing if nothing is."""
    if run.statistics["evaluations"] > MOST:
        return f"{run.statistics['evaluations']} evaluations"
    if not all(np.isfinite(run.store.read(name)).all() for name in ("position", "rotation", "velocity")):
        return "numbers that are not finite"
    return ""


def slider(mass, level, sharp, loads, speed):
    """A block under friction and loads, N, of a quarter of a second each."""
    mech = bc.Mechanism("slider", gravity=(0, 0, 0))
    body = mech.add_body("block", mass, (1, 1, 1), velocity=(0, 0, speed))
    mech.add_joint("rail", bc.Prismatic(), mech.ground, body)
    mech.add_force("rub", bc.JointFriction(coulomb=level, regularisation_velocity=sharp), "rail")
    pieces = tuple((load,) for load in loads)
    mech.add_force("load", bc.JointMotor(bc.Piecewise((0.0, 0.25, 0.5, 0.75, 1.0), pieces)), "rail")
    return mech


def slid(mass, level, loads, speed):
    """How far a block comes under friction of Coulomb's law, m."""
    at = 0.0
    for load in loads:
        left = 0.25
        while left > 0.0 and not (speed == 0.0 and abs(load) <= level):
            sign = np.sign(speed if speed != 0.0 else load)
            growth = (load - sign * level) / mass
            stops = -speed / growth if speed * growth < 0.0 else np.inf
            took = min(left, stops)
            at += speed * took + 0.5 * growth * took**2
            speed = 0.0 if stops <= left else speed + growth * took
            left -= took
    return at


def friction(rng):
    """It slips, sticks, and slips the other way, however sharp the friction is."""
    mass, level, sharp = (10.0 ** rng.uniform(*exponents) for exponents in ((-1, 1), (-1, 2), (-9, -4)))
    kinds = ((-0.8, 0.8), (1.2, 3.0), (-3.0, -1.2))
    loads = [float(level * rng.uniform(*kinds[rng.integers(3)])) for _ in range(4)]
    speed = float(rng.normal())
    run = bc.simulate(slider(mass, level, sharp, loads, speed), 1.0, output_step=0.01, tolerance=1e-8)
    known = slid(mass, level, loads, speed)
    off = abs(run.joint("rail").position[-1, 0] - known)
    wrong = off > 1e-5 * max(1.0, abs(known)) + 30.0 * sharp
    return slow_or_wild(run) or (f"{off:.3g} m off {known:.3g} m" if wrong else "")


def towed(cans, stiffness, restitution, coefficient, height=0.35):
    """Cans on wires that hang from a fixed point, fall on the ground and swing."""
    mech = bc.Mechanism("cans")
    mech.replace(mech.ground, shapes=[bc.Plane(size=4)])
    last, end, x, names = mech.ground, (0.0, 0.0, height), 0.0, []
    upright = bc.rotation(axis=(0, 1, 0), angle=np.pi / 2)
    for k in range(cans):
        wire = mech.add_body(f"wire {k}", 0.01, (1e-6, 6e-5, 6e-5), position=(x - 0.125, 0, height))
        mech.add_joint(f"b{k}", bc.Spherical(), last.marker(end), wire.marker((0.125, 0, 0)))
        x -= 0.25
        shape = bc.Cylinder(radius=0.04, length=0.12, rotation=upright)
        can = mech.add_body(
            f"can {k}", 0.05, (5e-5, 9e-5, 9e-5), position=(x - 0.06, 0, height), shapes=[shape]
        )
        mech.add_joint(f"c{k}", bc.Spherical(), wire.marker((-0.125, 0, 0)), can.marker((0.06, 0, 0)))
        x -= 0.12
        last, end = can, (-0.06, 0.0, 0.0)
        names.append(can.name)
    contact = bc.Contact(stiffness, restitution=restitution, friction=coefficient)
    mech.add_force("touch", contact, *names, "ground")
    return mech


def cans(rng, duration=0.5):
    """They stick and slip; no energy comes from nothing."""
    contact = 10.0 ** rng.uniform(4, 7), rng.uniform(0.2, 0.9), rng.uniform(0.1, 1.0)
    mech = towed(int(rng.integers(1, 4)), *contact, height=rng.uniform(0.05, 0.35))
    run = bc.simulate(mech, duration, output_step=0.01, tolerance=10.0 ** rng.uniform(-7, -4))
    energy = run.energy.total
    rise = float(np.max(energy - np.minimum.accumulate(energy)))
    return slow_or_wild(run) or (f"energy rises by {rise:.3g} J" if rise > 0.02 * np.ptp(energy) else "")


def pair(masses, stiffness, damping, stretch, pull):
    """Two blocks on a rail with a spring between them; the first is pulled."""
    mech = bc.Mechanism("pair", gravity=(0, 0, 0))
    last = mech.ground
    for k, (mass, place) in enumerate(zip(masses, (0.0, 1.0 + stretch), strict=True)):
        block = mech.add_body(f"block {k}", mass, (mass, mass, mass), position=(0, 0, place))
        mech.add_joint(f"rail {k}", bc.Prismatic(), last, block)
        last = block
    mech.add_force("spring", bc.TorsionSpring(stiffness, damping, rest_angle=1.0), "rail 1")
    mech.add_force("pull", bc.JointMotor(pull), "rail 0")
    return mech


def pulled(masses, stiffness, damping, stretch, pull, time):
    """Where the two blocks are then, m: their centre is pulled, their distance is a damped oscillation."""
    one, two = masses
    reduced = one * two / (one + two)
    rest = -pull / one * reduced / stiffness
    root = cmath.sqrt((damping / (2 * reduced)) ** 2 - stiffness / reduced)
    slow = -stiffness / (damping / 2 + reduced * root)  # the root of smaller size, without cancellation
    fast = -(damping / (2 * reduced)) - root
    share = (stretch - rest) * fast / (fast - slow)
    longer = (share * cmath.exp(slow * time) + (stretch - rest - share) * cmath.exp(fast * time)).real + rest
    centre = two * (1.0 + stretch) / (one + two) + 0.5 * pull / (one + two) * time**2
    return centre - two / (one + two) * (1.0 + longer), centre + one / (one + two) * (1.0 + longer)


def stiff(rng):
    """Springs up to 1e15 N/m between masses of up to twelve decades."""
    masses = tuple((10.0 ** rng.uniform(-6, 6, 2)).tolist())
    stiffness = 10.0 ** rng.uniform(2, 15)
    reduced = masses[0] * masses[1] / sum(masses)
    damping = 2.0 * 10.0 ** rng.uniform(-1, 1) * np.sqrt(stiffness * reduced)
    stretch, pull = rng.uniform(-0.3, 0.3), float(rng.normal() * sum(masses))
    mech = pair(masses, stiffness, damping, stretch, pull)
    run = bc.simulate(mech, 1.0, output_step=0.1, tolerance=1e-8)
    known = pulled(masses, stiffness, damping, stretch, pull, 1.0)
    found = np.cumsum([run.joint(f"rail {k}").position[-1, 0] for k in range(2)])
    off = float(np.max(np.abs(np.subtract(found, known))))
    return slow_or_wild(run) or (f"{off:.3g} m off" if off > 1e-5 * max(1.0, *map(abs, known)) else "")


def far(rng):
    """Runs that would not end are ended by name, and what they computed is kept."""
    mech = bc.Mechanism("pendulum")
    bob = mech.add_body("bob", 1.0, (0.1, 0.1, 0.1), position=(0.5, 0, 0))
    y_axis = {"axis": (0, 1, 0)}
    mech.add_joint("pin", bc.Revolute(), mech.ground.marker(**y_axis), bob.marker((-0.5, 0, 0), **y_axis))
    kind = rng.integers(3)
    live = bc.start(
        mech,
        controllers=[bc.Controller(lambda *_: {}, 10.0 ** rng.uniform(-13, -11))] if kind == 0 else [],
        **({"step": 10.0 ** rng.uniform(-14, -11)} if kind == 1 else {}),
    )
    try:
        live.advance(10.0 ** rng.uniform(12, 300) if kind == 2 else 1.0)
    except bc.SimulationError as error:
        named = "would not end" in str(error) and error.trajectory.status == "endless"
        return slow_or_wild(error.trajectory) or ("" if named else str(error))
    return "it ended"


KINDS = {"friction": friction, "cans": cans, "stiff": stiff, "far": far}


def judged(seed, kinds=tuple(KINDS)):
    """What is wrong with the run of a seed; nothing if nothing is."""
    rng = np.random.default_rng(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bc.SlowRunWarning)
        return KINDS[kinds[seed % len(kinds)]](rng)
