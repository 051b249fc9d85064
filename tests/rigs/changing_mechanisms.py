"""Random mechanisms whose parts let go and take hold, and what is wrong with their runs."""

import numpy as np

import bellcrank as bc

KINDS = (bc.Revolute, bc.Spherical, bc.Universal, bc.Prismatic, bc.Cylindrical, bc.Planar, bc.Fixed)
TAKEN = (bc.Fixed, bc.Revolute, bc.RevoluteX, bc.Spherical, bc.Cylindrical, bc.Prismatic, bc.Planar)
FORMULATIONS = ("lagrange", "recursive", "dca")
SETTINGS = {"method": "dopri5", "tolerance": 1e-10, "output_step": 0.01, "ledger": True}
LASTS, AGREED = 0.8, 1e-6


def turn(rng):
    """A random quaternion."""
    numbers = rng.normal(size=4)
    return tuple(numbers / np.linalg.norm(numbers))


def marker(rng, body):
    """A random marker of a body."""
    return body.marker(tuple(0.5 * rng.normal(size=3)), rotation=turn(rng))


def changing_mechanism(seed):
    """Bodies on random joints and springs, of which some let go, and some that take hold."""
    rng = np.random.default_rng(seed)
    mech = bc.Mechanism(f"changing {seed}")
    bodies = [mech.ground]
    for k in range(int(rng.integers(2, 5))):
        below = bodies[int(rng.integers(len(bodies)))]
        moves = {"velocity": 0.3 * rng.normal(size=3), "angular_velocity": rng.normal(size=3)}
        sizes = float(rng.uniform(0.5, 2.0)), tuple(rng.uniform(0.5, 0.8, 3))
        body = mech.add_body(f"b{k}", *sizes, position=rng.normal(size=3), rotation=turn(rng), **moves)
        kind = KINDS[int(rng.integers(len(KINDS) - (k == 0)))]  # something moves
        mech.add_joint(f"j{k}", kind(), marker(rng, below), marker(rng, body))
        if rng.random() < 0.5:
            spring = bc.SpringDamper(float(rng.uniform(5.0, 40.0)), damping=float(rng.uniform(0.0, 1.0)))
            mech.add_force(f"s{k}", spring, marker(rng, below), marker(rng, body))
        bodies.append(body)
    for k in range(int(rng.integers(1, 4))):
        (release if rng.random() < 0.5 else engagement)(rng, mech, bodies, k)
    return mech


def release(rng, mech, bodies, number):
    """A joint, with its spring maybe, lets go at a time or a load."""
    k, late = int(rng.integers(len(bodies) - 1)), f"t > {rng.uniform(0.0, 0.6)}"
    when = late if rng.random() < 0.5 else f"j{k}.force > {rng.uniform(5.0, 60.0)} or {late}"
    spring = [f"s{k}"] if f"s{k}" in mech.forces and rng.random() < 0.5 else []
    mech.add_change(f"change {number}", bc.Release(of=(f"j{k}", *spring), when=when))


def engagement(rng, mech, bodies, number):
    """A joint takes hold of two bodies as they stand then."""
    one, two = rng.choice(len(bodies), 2, replace=False)
    kind = TAKEN[int(rng.integers(len(TAKEN)))]
    mech.add_joint(f"e{number}", kind(), marker(rng, bodies[one]), marker(rng, bodies[two]))
    when = f"t > {rng.uniform(0.0, 0.6)}"
    mech.add_change(f"change {number}", bc.Engagement(of=f"e{number}", when=when))


def what_is_wrong(seed):
    """What is wrong with the runs of a mechanism by several formulations; nothing if nothing is."""
    mech, wrong = changing_mechanism(seed), []
    runs = {name: bc.simulate(mech, LASTS, formulation=name, **SETTINGS) for name in FORMULATIONS}
    first = runs[FORMULATIONS[0]]
    for name, run in runs.items():
        apart = np.abs(run.at(LASTS).position - first.at(LASTS).position).max()
        if apart > AGREED:
            wrong.append(f"{name}: apart by {apart:.1e}")
        if [event.name for event in run.events] != [event.name for event in first.events]:
            wrong.append(f"{name}: {run.events}, not {first.events}")
        gained = -np.min(run.energy_balance().lost.get("impacts", np.zeros(1)))
        if gained > 1e-9:
            wrong.append(f"{name}: changes have brought in {gained:.1e} J")
    certificate = bc.verify(first)
    return "; ".join([*wrong, *(str(check) for check in certificate.checks if not check.passed)])
