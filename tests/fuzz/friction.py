"""Mechanisms whose joints hold by friction: formulations agree, books close, nothing hangs.

Chains in a plane, four-bars in space with redundant pins, rows of blocks on one another, slider-cranks and
shafts in gear, weights on ropes that rub on drums with belts that slip, with random loads that rise and
fall, brakes among them; stiction that falls at once, over a speed, or not at all; friction that grows with
the load, and transmissions with losses, which may lock.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

import numpy as np
from rigs.scene_fuzzing import arguments, count_ends

import bellcrank as bc
from bellcrank.errors import BellcrankError

DURATION = 3.0
AGREED = 1e-6  # of coordinates, against the largest
COMPARED = 1.2  # s: later, chains are chaotic


def friction(rng, size, slides=False):
    """Friction or a brake that holds, of a size, or a joint that rubs by its load."""
    coulomb = size * rng.uniform(0.2, 1.5)
    if rng.random() < 0.4:
        low = 0.5 * 10.0 ** rng.uniform(-2.0, -0.1)
        numbers = {"coefficient": low, "static_coefficient": low * rng.choice([1.0, rng.uniform(1.0, 1.6)])}
        kind = (
            bc.Slide(rng.uniform(0.1, 1.0), **numbers)
            if slides
            else bc.Journal(rng.uniform(0.01, 0.08), **numbers)
        )
        falls = None if rng.random() < 0.6 else 0.05
        constant = coulomb * 0.2 * (rng.random() < 0.3)
        return bc.JointFriction(load=kind, coulomb=constant, stribeck_velocity=falls)
    if rng.random() < 0.25:
        level = bc.Table([0.0, 1.0, 2.0, 3.0], coulomb * rng.uniform(0.0, 2.0, 4), interpolation="linear")
        return bc.Brake(level, regularisation_velocity=None)
    stiction = coulomb * (1.0 if rng.random() < 0.4 else rng.uniform(1.0, 2.0))
    falls = None if rng.random() < 0.5 else 0.05
    viscous = size * rng.uniform(0.0, 0.1) * (rng.random() < 0.5)
    numbers = {"viscous": viscous, "coulomb": coulomb, "stiction": stiction, "stribeck_velocity": falls}
    return bc.JointFriction(**numbers, regularisation_velocity=None)


def load(rng, size):
    """An effort that rises and falls."""
    return f"{size * rng.normal():.6g} + {size * rng.normal():.6g}*sin({rng.uniform(1.0, 8.0):.6g}*t)"


def chain(rng):
    mech, last = bc.Mechanism("chain", gravity=(0.0, rng.choice([0.0, -9.81]), 0.0)), None
    for k in range(rng.integers(1, 5)):
        mass, length = rng.uniform(0.2, 2.0), rng.uniform(0.2, 0.6)
        link = mech.add_body(
            f"link {k}", mass, (mass * length**2 / 12 + 1e-3,) * 3, com=(length / 2, 0.0, 0.0)
        )
        ends = (mech.ground.marker() if last is None else last.marker((length, 0.0, 0.0))), link.marker()
        speed = rng.normal() * (rng.random() < 0.6)
        mech.add_joint(f"pin {k}", bc.Revolute(), *ends, position=rng.uniform(-2.0, 2.0), velocity=speed)
        if rng.random() < 0.8:
            mech.add_force(f"friction {k}", friction(rng, 2.0), joint=f"pin {k}")
        if rng.random() < 0.5:
            mech.add_force(f"load {k}", bc.JointMotor(load(rng, 1.5)), joint=f"pin {k}")
        last = link
    return mech


def four_bar(rng):
    mech, (a, b, c, d) = bc.Mechanism("four-bar"), rng.uniform((0.2, 0.9, 0.7, 1.0), (0.3, 1.1, 0.9, 1.2))
    bodies = [
        mech.add_body(name, rng.uniform(0.5, 2.0), (0.05, 0.05, 0.05), com=(length / 2, 0.0, 0.0))
        for name, length in (("crank", a), ("rod", b), ("rocker", c))
    ]
    ground, (crank, rod, rocker) = mech.ground, bodies
    mech.add_joint(
        "A", bc.Revolute(), ground.marker(), crank.marker(), position=0.8, velocity=2 * rng.normal()
    )
    mech.add_joint("B", bc.Revolute(), crank.marker((a, 0.0, 0.0)), rod.marker())
    mech.add_joint("C", bc.Revolute(), rod.marker((b, 0.0, 0.0)), rocker.marker((c, 0.0, 0.0)))
    mech.add_joint("D", bc.Revolute(), ground.marker((d, 0.0, 0.0)), rocker.marker())
    for pin in "ABCD":
        if rng.random() < 0.8:
            mech.add_force(f"friction {pin}", friction(rng, 0.3), joint=pin)
    mech.add_force("motor", bc.JointMotor(load(rng, 0.8)), joint="A")
    return mech


def blocks(rng):
    mech, along, last = bc.Mechanism("blocks"), (1.0, 0.0, 0.0), None
    for k in range(rng.integers(1, 5)):
        block = mech.add_body(f"block {k}", rng.uniform(0.3, 3.0), (0.1, 0.1, 0.1))
        below = mech.ground if last is None else last
        ends = below.marker(axis=along), block.marker(axis=along)
        mech.add_joint(f"slide {k}", bc.Prismatic(), *ends, velocity=rng.normal() * (rng.random() < 0.5))
        mech.add_force(f"friction {k}", friction(rng, 3.0, slides=True), joint=f"slide {k}")
        if rng.random() < 0.6:
            force = (load(rng, 4.0), 0.0, 0.0)
            mech.add_force(f"push {k}", bc.Wrench(force=force), block.marker())
        last = block
    return mech


def slider_crank(rng):
    mech = bc.Mechanism("slider-crank", gravity=(0.0, rng.choice([0.0, -9.81]), 0.0))
    a, b, angle = rng.uniform(0.1, 0.2), rng.uniform(0.3, 0.6), rng.uniform(-3.0, 3.0)
    crank = mech.add_body("crank", 1.0, (0.05, 0.05, 0.05))
    rod = mech.add_body("rod", rng.uniform(0.3, 1.5), (0.02, 0.02, 0.02), com=(b / 2, 0.0, 0.0))
    carriage = mech.add_body("carriage", rng.uniform(0.3, 1.5), (1e-2, 1e-2, 1e-2))
    speed = 6.0 * rng.normal()
    mech.add_joint("A", bc.Revolute(), mech.ground, crank, position=angle, velocity=speed)
    mech.add_joint("B", bc.Revolute(), crank.marker((a, 0.0, 0.0)), rod.marker(), guess=-angle)
    mech.add_joint("C", bc.Revolute(), rod.marker((b, 0.0, 0.0)), carriage.marker())
    start = a * np.cos(angle) + np.sqrt(b**2 - (a * np.sin(angle)) ** 2)
    mech.add_joint("guide", bc.PrismaticX(), mech.ground, carriage, guess=start)
    for joint in ("A", "B", "C", "guide"):
        if rng.random() < 0.8:
            kind = friction(rng, 0.3, slides=joint == "guide")
            mech.add_force(f"friction {joint}", kind, joint=joint)
    mech.add_force("push", bc.JointMotor(load(rng, 10.0)), joint="guide")
    return mech


def shafts(rng):
    mech, count, speed = (
        bc.Mechanism("shafts", gravity=(0.0, 0.0, 0.0)),
        int(rng.integers(2, 5)),
        rng.normal(),
    )
    ratios = rng.uniform(0.3, 5.0, count - 1) * rng.choice([-1.0, 1.0], count - 1)
    for k in range(count):
        body = mech.add_body(
            f"shaft {k}", 1.0, (2.0, 2.0, rng.uniform(0.2, 2.0)), position=(float(k), 0.0, 0.0)
        )
        mech.add_joint(
            f"pin {k}",
            bc.Revolute(),
            mech.ground.marker((float(k), 0.0, 0.0)),
            body.marker(),
            velocity=speed if k == 0 else None,
        )
        mech.add_force(f"moment {k}", bc.JointMotor(load(rng, 3.0)), joint=f"pin {k}")
        if rng.random() < 0.3:
            mech.add_force(f"friction {k}", friction(rng, 0.3), joint=f"pin {k}")
        if k < count - 1:
            speed /= ratios[k]
    for k, ratio in enumerate(ratios):
        back = None if rng.random() < 0.5 else rng.uniform(-0.5, 1.0)
        kind = bc.InternalGear if ratio > 0.0 else bc.Gear
        gear = kind(
            ratio=abs(ratio) + (abs(ratio) == 1.0), efficiency=rng.uniform(0.3, 1.0), back_efficiency=back
        )
        if rng.random() < 0.2:
            gear = bc.WormGear((1, 20), rng.uniform(0.05, 0.5), rng.uniform(0.01, 0.2))
        mech.add_constraint(f"gear {k}", gear, f"pin {k}", f"pin {k + 1}")
    return mech


def hauled(rng):
    """A weight and a sledge on a rope that rubs on a drum, which a belt that slips joins to a wheel."""
    mech = bc.Mechanism("hauled", gravity=(0.0, -9.81, 0.0))
    radius = rng.uniform(0.05, 0.2)
    drum = mech.add_body("drum", 1.0, (0.1, 0.1, rng.uniform(0.02, 0.2)))
    wheel = mech.add_body("wheel", 1.0, (0.1, 0.1, rng.uniform(0.02, 0.2)), position=(0.0, 1.0, 0.0))
    for k, (body, at) in enumerate(((drum, (0.0, 0.0, 0.0)), (wheel, (0.0, 1.0, 0.0)))):
        name = f"axle {k}"
        mech.add_joint(name, bc.Revolute(), mech.ground.marker(at), body.marker(), velocity=rng.normal())
        mech.add_force(f"moment {k}", bc.JointMotor(load(rng, 2.0)), name)
        if rng.random() < 0.5:
            mech.add_force(f"friction {k}", friction(rng, 0.5), name)
    up = {"x_axis": (0.0, 1.0, 0.0), "z_axis": (0.0, 0.0, 1.0)}
    weight = mech.add_body("weight", rng.uniform(2.0, 5.0), (0.01, 0.01, 0.01), position=(radius, -4.0, 0.0))
    rail = mech.ground.marker((radius, -4.0, 0.0), **up)
    mech.add_joint("rail", bc.PrismaticX(), rail, weight.marker(**up))
    sledge = mech.add_body("sledge", rng.uniform(0.5, 5.0), (0.01, 0.01, 0.01), position=(-2.0, -1.0, 0.0))
    mech.add_joint("track", bc.PrismaticX(), mech.ground.marker((-2.0, -1.0, 0.0)), sledge.marker())
    stiffness = rng.uniform(20.0, 60.0)
    mech.add_force("spring", bc.TorsionSpring(stiffness, damping=1.0), "track")
    if rng.random() < 0.5:
        mech.add_force("rub", friction(rng, 3.0, slides=True), "track")
    low = rng.uniform(0.05, 0.4)
    numbers = {"coefficient": low, "static_coefficient": low * rng.choice([1.0, rng.uniform(1.0, 1.5)])}
    rope = bc.Rope((0.0, -radius, 0.0), rough=2, turns=int(rng.integers(0, 2)), **numbers)
    mech.add_constraint("rope", rope, sledge.marker(), drum.marker(), weight.marker())
    radii = tuple(rng.uniform(0.05, 0.3, 2))
    belt = bc.Belt(
        radii=radii, crossed=bool(rng.random() < 0.5), coefficient=low, pretension=rng.uniform(2, 40)
    )
    mech.add_constraint("belt", belt, drum.marker(), wheel.marker())
    return mech


FAMILIES = (chain, four_bar, blocks, slider_crank, shafts, hauled)


def way_of(run):
    """Coordinates of all joints (T, n), as long as they are compared."""
    return np.hstack([run.joint(name).position[run.time < COMPARED] for name in run.origin.mechanism.joints])


def parts_by_errors(mech, method, formulation, apart):
    """Whether two formulations are that far apart because the motion makes much of small errors."""
    settings = {"method": method, "tolerance": 1e-12, "output_step": 0.05}
    ways = [
        way_of(bc.simulate(mech, COMPARED, formulation=name, **settings))
        for name in ("lagrange", formulation)
    ]
    return np.abs(ways[1] - ways[0]).max() < 0.1 * apart


def judge(seed):
    """What is wrong with the mechanism of a seed, in all formulations."""
    rng = np.random.default_rng(seed)
    mech = FAMILIES[seed % len(FAMILIES)](rng)
    method = ("dopri5", "adams")[seed // len(FAMILIES) % 2]
    wrong, runs = [], {}
    for formulation in ("lagrange", "recursive", "dca"):
        settings = {"method": method, "tolerance": 1e-10, "output_step": 0.05, "ledger": True}
        try:
            run = bc.simulate(mech, DURATION, formulation=formulation, **settings)
        except BellcrankError as error:
            if " jams at " in str(
                error
            ):  # which rigid parts may; how near they come to it depends on rounding
                return []
            wrong.append(f"{formulation}: {error}")
            continue
        certificate = str(bc.verify(run))
        wrong += [
            f"{formulation}: {line}"
            for line in certificate.splitlines()
            if line.lstrip().startswith("FAILED")
        ]
        runs[formulation] = run
    ways = {name: way_of(run) for name, run in runs.items()}
    names = {name: [e.name for e in run.events if not e.name.endswith("turns")] for name, run in runs.items()}
    for name, way in ways.items():
        apart = np.abs(way - ways["lagrange"]).max() if "lagrange" in ways else 0.0
        if apart > AGREED * (1.0 + np.abs(way).max()) and not parts_by_errors(mech, method, name, apart):
            wrong.append(f"{name}: apart from lagrange by {apart:.1e}, {len(names[name])} events")
    return wrong


def main():
    """Run as many mechanisms as wanted; a table of how that ended, and all faults."""
    return count_ends(judge, arguments(__doc__, 3000).parse_args(), refusals=())


if __name__ == "__main__":
    raise SystemExit(main())
