"""Honest runs of all kinds, by seed: what `verify` must not accuse."""

from dataclasses import replace
from time import process_time

import numpy as np
from rigs import examples
from rigs.random_mechanisms import random_mechanism
from rigs.touching_scenes import resisting, scene
from rigs.tyre_rig import HEIGHT, free_wheel, led_wheel

import bellcrank as bc

LONGEST = 15.0  # s of processor time
ACCURACY = ("energy", "momentum", "angular momentum")
"""Checks that a coarse method may fail: they say how far its motion is from the exact one."""
COMPLIANT = set(bc.gallery.groups()["Compliant mechanisms"])  # of stiff motion: beams have runs of their own
LARGE = {"peptide", "man_on_bicycle", "random_tree", "crowd", "chain_mail"}
GALLERY = sorted(set(bc.gallery.catalogue()) - LARGE - COMPLIANT)
Y = {"axis": (0, 1, 0)}


def timely():
    """A progress report that ends runs that crawl."""
    begun = process_time()

    def report(_part):
        if process_time() - begun > LONGEST:
            raise bc.SimulationError("it takes too long", 0.0)

    return report


def recording(rng, duration):
    """Options of what is recorded and when."""
    options = {"accelerations": bool(rng.random() < 0.4), "progress": timely()}
    if rng.random() < 0.15:
        options["times"] = np.sort(np.append(rng.uniform(0.0, duration, 60), (0.0, duration)))
    else:
        options |= {"duration": duration, "output_step": float(rng.choice([1e-3, 2e-3, 5e-3, 0.02, 0.05]))}
    if rng.random() < 0.1:
        options["reactions"] = False
    return options


def method(rng):
    """A method with its step or tolerance."""
    name = str(rng.choice(["auto", "auto", "adams", "dopri5", "bdf", "esdirk", "rk4", "semi_implicit_euler"]))
    if name in ("rk4", "semi_implicit_euler"):
        return {"method": name, "step": float(rng.choice([1e-4, 5e-4, 1e-3]))}
    return {"method": name, "tolerance": float(rng.choice([1e-6, 1e-8, 1e-9, 1e-11]))}


def formulation(rng):
    """A formulation, or none chosen."""
    return {"formulation": str(rng.choice(["auto", "auto", "lagrange", "recursive", "symbolic", "dca"]))}


def mechanisms(rng, seed):
    """Of random mechanisms of every kind of element."""
    options = recording(rng, float(rng.choice([0.2, 0.5, 1.0]))) | method(rng) | formulation(rng)
    return bc.simulate(random_mechanism(seed), ledger=bool(rng.random() < 0.3), **options)


def of_gallery(rng, seed):
    """Of the gallery's mechanisms, under all sorts of options."""
    made = bc.gallery.catalogue()[GALLERY[seed % len(GALLERY)]]()
    options = recording(rng, 0.3) | (method(rng) if rng.random() < 0.6 else {})
    return bc.simulate(made, ledger=bool(rng.random() < 0.3), **options)


def compliant(rng, seed):
    """Of scenes of bodies that touch."""
    options = recording(rng, 0.5)
    if rng.random() < 0.25:
        options |= {"method": "rk4", "step": 1e-4}
    return bc.simulate(scene(seed), **options)


def rigid(rng, seed):
    """The same by impulses."""
    made = resisting(scene(seed), seed) if rng.random() < 0.3 else scene(seed)
    step = float(rng.choice([1e-3, 2e-3]))
    options = recording(rng, 0.5) | {"method": "moreau", "step": step}
    return bc.simulate(made, formulation=str(rng.choice(["lagrange", "recursive"])), **options)


def tyres(rng, _seed):
    """Of wheels with tyres, on a plane and over terrain."""
    if rng.random() < 0.5:
        made = led_wheel(rng.uniform(0.5, 4.0), rng.uniform(-0.1, 0.1), rng.uniform(-0.2, 0.2))
    else:
        heights = rng.uniform(0.0, 0.01, (40, 40))
        ground = bc.Terrain(heights=heights, spacing=0.1, origin=(-1.0, -2.0))
        made = free_wheel(ground, rng.uniform(1.0, 4.0), height=HEIGHT + 0.02)
    options = recording(rng, 0.3) | {"tolerance": float(rng.choice([1e-5, 1e-6]))}
    return bc.simulate(made, ledger=bool(rng.random() < 0.4), **options)


def pendulum(rng, limits=True):
    """A rod with stops, and a spring."""
    mech = bc.Mechanism("rod")
    rod = mech.add_body("rod", 1.0, (0.01, 0.08, 0.08), position=(0.5, 0, 0))
    stops = bc.Limit(-0.3, float(rng.uniform(0.2, 1.5)), restitution=float(rng.uniform(0.0, 1.0)))
    ends = mech.ground.marker(**Y), rod.marker((-0.5, 0, 0), **Y)
    mech.add_joint("pivot", bc.Revolute(), *ends, stops if limits else None)
    mech.add_force("coil", bc.TorsionSpring(float(rng.uniform(0.0, 5.0)), 0.05), "pivot")
    return mech


def stopped(rng, _seed):
    """That meet stops and end by events."""
    options = recording(rng, 1.5) | {"method": str(rng.choice(["auto", "dopri5", "adams", "bdf", "esdirk"]))}
    if rng.random() < 0.5:
        options["events"] = bc.Event("passes", "pivot - 0.15", terminal=bool(rng.random() < 0.5))
    return bc.simulate(pendulum(rng), **options)


def live(rng, seed):
    """Advanced by hand, and set to other states on the way."""
    made = pendulum(rng) if rng.random() < 0.5 else scene(seed)
    with bc.start(made, output_step=2e-3, accelerations=bool(rng.random() < 0.5)) as run:
        run.advance(0.1)
        if rng.random() < 0.7:
            run.set_state(
                replace(
                    run.state,
                    velocity=0.5 * run.state.velocity,
                    angular_velocity=0.5 * run.state.angular_velocity,
                )
            )
        run.advance(0.2)
        return run.stop()


def controlled(rng, _seed):
    """With an input that a controller leaves as it is."""
    mech = pendulum(rng)
    torque = bc.Input("torque", 0.3, unit="N m")
    mech.add_force("motor", bc.Wrench(moment=(0, torque, 0)), mech.bodies["rod"])
    keep = bc.Controller(lambda _t, _readings: {"torque": 0.3}, period=0.01)
    return bc.simulate(mech, 0.5, controllers=keep, output_step=2e-3)


def parts(rng, seed):
    """Sliced, and joined from several."""
    made = pendulum(rng) if rng.random() < 0.5 else scene(seed)
    one = bc.simulate(made, 0.3, output_step=2e-3)
    if rng.random() < 0.3:
        return one[int(rng.integers(1, 40)) : 120]
    two = bc.simulate(made, 0.2, state=one.at(0.3), output_step=2e-3)
    if rng.random() < 0.5:
        return bc.concatenate([one, two])
    other = replace(
        one.at(0.3), velocity=0.7 * one.at(0.3).velocity, angular_velocity=0.7 * one.at(0.3).angular_velocity
    )
    return bc.concatenate([one, bc.simulate(made, 0.2, state=other, output_step=2e-3)])


def functions(rng, _seed):
    """Driven and loaded by functions of time that frames may not resolve."""
    mech = bc.Mechanism("loaded")
    rod = mech.add_body("rod", 1.0, (0.01, 0.08, 0.08), position=(0.5, 0, 0))
    mech.add_joint("pivot", bc.Revolute(), mech.ground.marker(**Y), rod.marker((-0.5, 0, 0), **Y))
    names = list(examples.FUNCTIONS_OF_TIME)
    law = examples.FUNCTIONS_OF_TIME[str(rng.choice(names))]
    if rng.random() < 0.5:
        mech.add_drive("motor", "pivot", position=law)
    else:
        pulse = bc.Table((0.0, 0.0999, 0.1, 0.1005, 0.1006, 3.0), (0.0, 0.0, 50.0, 50.0, 0.0, 0.0))
        fast = bc.Harmonic(5.0, float(2.0 * np.pi * rng.choice([10.0, 50.0, 100.0])))
        mech.add_force("load", bc.Wrench(force=(0, 0, pulse if rng.random() < 0.4 else fast)), rod.marker())
    return bc.simulate(mech, **recording(rng, 1.0))


def bumpers(rng, _seed):
    """With springs that act on one side only, and dry friction."""
    mech = bc.Mechanism("bumpers")
    block = mech.add_body("block", 1.0, (0.01, 0.01, 0.01), velocity=(float(rng.uniform(1.0, 4.0)), 0, 0))
    mech.add_joint("rail", bc.Prismatic(), mech.ground.marker(axis=(1, 0, 0)), block.marker(axis=(1, 0, 0)))
    mech.add_force(
        "rub", bc.JointFriction(coulomb=float(rng.uniform(0.0, 3.0)), regularisation_velocity=1e-3), "rail"
    )
    stiff = float(10.0 ** rng.uniform(3, 6))
    mech.add_force(
        "wall", bc.OneSidedSpring(stiff, 0.3, side="above", damping=float(rng.uniform(0.0, 30.0))), "rail"
    )
    return bc.simulate(mech, **recording(rng, 1.0))


KINDS = (mechanisms, mechanisms, mechanisms, of_gallery, of_gallery, compliant, compliant, rigid, rigid,
         tyres, stopped, live, controlled, parts, functions, bumpers)  # fmt: skip


def honest(seed):
    """A run, and what it is."""
    rng = np.random.default_rng([seed, 15])
    kind = KINDS[seed % len(KINDS)]
    return kind(rng, seed), kind.__name__


def accusations(seed):
    """What `verify` says against an honest run; "" for nothing."""
    run, kind = honest(seed)
    if len(run) < 3:
        return ""
    verdict = bc.verify(run)
    coarse = run.statistics.get("method") in ("rk4", "semi_implicit_euler", "moreau")
    failed = [c for c in verdict.checks if not c.passed and not (coarse and c.name in ACCURACY)]
    if failed and coarse and _rings(run):
        return ""
    return f"{kind}: " + "; ".join(map(str, failed)) if failed else ""


def _rings(run):
    """Whether a run is not what forces make of it only since its steps are too long: shorter ones pass."""
    told = run.statistics
    how = {"formulation": told["formulation"], "method": told["method"], "step": 0.25 * told["step"]}
    finer = bc.simulate(bc.io.loads(run.mechanism), times=run.time, **how)
    failed = {check.name for check in bc.verify(finer).checks if not check.passed}
    return failed <= set(ACCURACY)
