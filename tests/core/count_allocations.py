"""Run under the counting heap: writes as JSON how often the core allocates for n and 3 n pieces of work."""

import ctypes
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))
sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np
from rigs import chains, examples, floating, linkages, rubbing, stops, tyre_rig
from rigs import meshes as known_meshes
from rigs.convex_oracles import convex_shapes
from rigs.looped_trees import looped_tree
from rigs.machine import Machine

import bellcrank as bc
from bellcrank import _core
from bellcrank.compile.compile import compile_mechanism
from bellcrank.formulations import symbolic
from bellcrank.trajectory.energy_balance import accounts
from benchmarks.adaptive_linkages import molecule
from benchmarks.cone_scenes import Scene, biped, cloud, tower

STEPS = 40
BY_IMPULSES = ("chain", "redundant", "hub", "bouncing", "resting", "touching")
BY_IMPULSES += tuple(f"recursive {name}" for name in BY_IMPULSES)
LARGE = 1100  # links, of many stages of elimination
allocations = ctypes.CDLL(None).allocations
allocations.restype = ctypes.c_long


def star(count):
    """A hub with many arms, each with its own joint: more than one copy of the hub takes part."""
    mech = bc.Mechanism("star")
    hub = mech.add_body("hub", mass=5.0, inertia=(1.0, 1.1, 1.2))
    linkages.pin(mech, "axle", mech.ground, hub, (0.0, 0.0, 0.0))
    for k in range(count):
        turn = 2.0 * np.pi * k / count
        out = np.array([np.cos(turn), 0.0, np.sin(turn)])
        arm = linkages.bar(mech, f"arm{k}", out, 1.5 * out)
        linkages.pin(mech, f"pin{k}", hub, arm, out)
    return mech


def boxes(count):
    """A tower of boxes at rest on each other, each on four corners: nothing begins or ceases to touch."""
    mech = bc.Mechanism("tower")
    mech.replace(mech.ground, shapes=[bc.Plane()])
    height = 0.1
    for k in range(count):
        shape = bc.Box(size=(0.2, 0.2, 0.2), density=500.0)
        height -= 4.0 * (count - k) * 9.81 / 4e5
        mech.add_body(f"box{k}", position=(0.0, 0.0, height), shapes=[shape])
        height += 0.2
    mech.add_force("touch", bc.Contact(1e5, friction=0.3), "ground", *mech.bodies)
    return mech


def machines():
    """Every kind of row, law and function, redundant rows, hubs, stops, wide masses."""
    constraints = {name: (kind, ends) for name, kind, ends in examples.constraints()}
    forces = {name: (kind, ends) for name, kind, ends in examples.forces()}
    yield "chain", Machine(chains.chain(np.ones(12)))
    yield "large chain", Machine(chains.chain(np.ones(LARGE)))
    yield "wide masses", Machine(chains.chain(np.geomspace(1.0, 1e5, 6)))
    yield "redundant", Machine(linkages.four_bar())
    yield "singular", Machine(linkages.parallelogram())
    yield "hub", Machine(star(20))
    yield "bouncing", Machine(stops.ball(0.7, 1e-3))
    yield "resting", Machine(stops.stack(4))
    yield "touching", Machine(boxes(4))
    yield "rolling", Machine(tyre_rig.led_wheel())
    joint_coordinates = {
        "chain": chains.chain(np.ones(12)),
        "redundant": linkages.four_bar(),
        "windows": linkages.windows(3),
        "hub": star(20),
        "resting": stops.stack(4),
        "touching": boxes(4),
    }
    for name, mechanism in joint_coordinates.items():
        machine = Machine(mechanism)
        machine.system = _core.Recursive(machine.core_model)
        machine.set(machine.model.initial.arrays)
        yield f"recursive {name}", machine
    machine = Machine(boxes(2))
    machine.system = symbolic.create(machine.model, symbolic.OPTIONS())
    machine.set(machine.model.initial.arrays)
    yield "symbolic touching", machine
    by_trees = {
        "chain": chains.chain(np.ones(12)),
        "large chain": chains.chain(np.ones(LARGE)),
        "wide masses": chains.chain(np.geomspace(1.0, 1e5, 6)),
        "redundant": linkages.four_bar(),
        "singular": linkages.parallelogram(),
        "windows": linkages.windows(3),
        "bennett": linkages.bennett(),
        "hub": star(20),
        "bouncing": stops.ball(0.7, 1e-3),
        "resting": stops.stack(4),
    }
    for name, mechanism in by_trees.items():
        machine = Machine(mechanism)
        machine.system = _core.Dca(machine.core_model, _core.DcaOptions(threads=2))
        machine.set(machine.model.initial.arrays)
        yield f"dca {name}", machine
    for name in examples.JOINT_KINDS:
        yield f"joint {name}", floating.pair(examples.joint(name), hung=True)
    for name, case in constraints.items():
        yield f"constraint {name}", floating.carried(*case)
    for name, case in forces.items():
        yield f"force {name}", floating.forced(*case)


def rubbing_machines():
    """Friction whose limits grow with loads that redundant rows share: it slips, and it holds."""
    systems = {"lagrange": _core.Lagrange, "recursive": _core.Recursive, "dca": _core.Dca}
    mechanisms = {
        "slips": rubbing.slider_crank(speed=20.0),
        "holds": rubbing.slider_crank(0.4, 0.4, angle=1.313341539, speed=0.0),
    }
    for state, mechanism in mechanisms.items():
        for name, system in systems.items():
            machine = Machine(mechanism)
            machine.system = system(machine.core_model)
            machine.set(machine.model.initial.arrays)
            yield f"{name} {state}", machine


def queries():
    """Pairs of collision shapes at random poses near each other: what computes their contacts n times."""
    rng = np.random.default_rng(5)
    poses = np.hstack([rng.uniform(-0.4, 0.4, (50, 3)), rng.normal(size=(50, 4))])
    poses[:, 3:] /= np.linalg.norm(poses[:, 3:], axis=1)[:, None]
    resting = np.tile([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0], (50, 1))
    shapes = {name: made.shape for name, made in convex_shapes().items()}
    heights = 0.05 * np.sin(np.arange(400.0)).reshape(20, 20)
    ground = {
        "plane": _core.CollisionShape.plane(),
        "height field": _core.CollisionShape.height_field(heights, (-1.0, -1.0), (0.1, 0.1)),
    }
    for name, a in shapes.items():
        for other, b in (shapes | ground).items():

            def ask(n, a=a, b=b):
                _core.time_collide(a, poses, b, resting, 0.1, n)

            yield f"{name} on {other}", ask


def meshes():
    """Concave meshes on each other and on a height field, open and overlapping, n times."""
    surface, _ = known_meshes.cubes(known_meshes.U, 0.2)
    a, b = surface.shape(), surface.divided(1).shape()
    rng = np.random.default_rng(7)
    poses = np.hstack([rng.uniform(-0.5, 0.5, (50, 3)), rng.normal(size=(50, 4))])
    poses[:, 3:] /= np.linalg.norm(poses[:, 3:], axis=1)[:, None]
    resting = np.tile([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0], (50, 1))
    heights = 0.05 * np.sin(np.arange(400.0)).reshape(20, 20)
    field = _core.CollisionShape.height_field(heights, (-1.0, -1.0), (0.1, 0.1))
    for name, other in {"mesh": b, "height field": field, "plane": _core.CollisionShape.plane()}.items():

        def ask(n, other=other):
            _core.time_collide(a, poses, other, resting, 0.1, n)

        yield f"mesh on {name}", ask


def searches():
    """Rays of a body against terrain, and the broad phase, repeated n times."""
    rng = np.random.default_rng(6)
    x, y = np.meshgrid(np.arange(20.0), np.arange(20.0))
    vertices = np.column_stack([x.ravel(), y.ravel(), 0.1 * np.sin(np.arange(400.0))])
    v = (np.arange(19)[:, None] * 20 + np.arange(19)).ravel()
    triangles = np.vstack([np.column_stack([v, v + 1, v + 21]), np.column_stack([v, v + 21, v + 20])])
    grounds = {
        "height field": _core.CollisionShape.height_field(vertices[:, 2].reshape(20, 20), (0, 0), (1, 1)),
        "mesh": _core.CollisionShape.mesh(vertices, triangles.tolist()),
    }
    rays = np.hstack([rng.uniform([0, 0, 0.1], [19, 19, 0.3], (100, 3)), np.tile([0.0, 0, -1], (100, 1))])
    at = np.array([[0.0, 0, 0, 1, 0, 0, 0]])
    for name, ground in grounds.items():

        def cast(n, ground=ground):
            _core.time_rays(ground, at, rays, 0.3, n)

        yield f"{name}: rays", cast
    for spread in (1.0, 100.0):
        centres = spread * rng.normal(size=(200, 3))
        boxes = np.hstack([centres - 0.5, centres + 0.5])

        def find(n, bounds=boxes):
            _core.time_broad_phase(bounds, n)

        yield f"spread {spread}: broad phase", find


def contact_problems():
    """Impulses in cones, cold, so that every part of the solver has its turn, the sweeps among them."""
    scenes = {"tower": tower(5), "walker": biped(), "cloud": cloud(3), "ball": Scene()}
    scenes["ball"].add_body(1.0, (0.1,) * 3, (0.0, 0.0, 1.0))
    scenes["ball"].touch(0, -1, (0.0, 0.0, 0.0), (0.0, 0.0, 1.0), 0.5, 0.01, 0.01)
    for name, scene in scenes.items():
        for dense in (False, True):
            problem, q = scene.problem(dense), scene.free_velocity()
            for attempts in (7, 0):
                options = _core.ConeOptions(attempts=attempts)

                def solve(n, problem=problem, q=q, options=options):
                    problem.time(q, np.zeros(len(q)), n, options)

                yield f"{name}, {'dense' if dense else 'bodies'}, {attempts} attempts", solve


def adaptive_linkages():
    """A molecule that is pulled, of which few joints are free: a run, and what puts it back to its start."""
    tree = molecule(400, even=True)
    tree = tree.loaded(np.array([50, 200, 350]), np.array([[1.0, 0, 0], [0, 2.0, 0], [0, 0, 3.0]]))
    core, still = tree.core(), np.zeros((400, 3))
    for method in ("rk4", "symplectic", "at_rest"):
        linkage = _core.AdaptiveDynamics(core)
        linkage.limit(0.1, True)

        def back_to_start(linkage=linkage):
            linkage.start(core, 0.0, *tree.poses(), still, still)

        def advance(n, linkage=linkage, method=method):
            assert linkage.advance(n, 1e-2, method) == n

        yield f"molecule {method}", advance, back_to_start
    mech, state = looped_tree(0)
    model = compile_mechanism(mech)
    looped = _core.AdaptiveDynamics(model.core)
    looped.limit(0.1, True)

    def closed_again():
        looped.start(model.core, *state.arrays)

    def go_on(n):
        assert looped.advance(n, 1e-3, "rk4") == n

    yield "loops rk4", go_on, closed_again


def counted(work, prepare=lambda: None):
    """Allocations during work, the least of three times: Python's own may come between.

    work: returns how often it called Python by the clock, which takes an allocation each time.
    """
    made = []
    for _ in range(3):
        prepare()
        before = allocations()
        calls = work() or 0
        made.append(allocations() - before - calls)
    return min(made)


def back(machine, start):
    """To the start, on the constraints."""
    machine.set(start)
    machine.system.project()


def run(machine, method, steps):
    """method: with "ledger of" before its name works are added up as well."""
    what, booked = _core.Observation(), method.startswith("ledger of ")
    if booked:
        works, accounted = accounts(machine.model)
        method, what = method[10:], _core.Observation(accounts=accounted, works=len(works))
    tolerance = 1e-8 if method == "moreau" else 1e6  # of impulses, not of steps
    steps_of = {"step": 1e-4, "max_step": 1e-4, "rtol": tolerance, "atol": tolerance}
    made = _core.Run(machine.system, method=method, what=what, **steps_of)
    end, calls = 1e-4 * steps, []
    made.advance([0.0, end], end, True, True, lambda _: None, calls.append)
    return len(calls)


def main():
    found = {}
    for name, machine in machines():
        machine.system.project()
        start = machine.system.state()
        machine.system.repeat("accelerate", 2)
        found[f"{name}: accelerate"] = [
            counted(lambda n=n, m=machine: m.system.repeat("accelerate", n)) for n in (STEPS, 3 * STEPS)
        ]
        methods = ("semi_implicit_euler", "rk4", "dopri5", "adams", "bdf", "esdirk")
        methods += ("ledger of rk4", "ledger of adams")
        if name.startswith(("joint ", "constraint ", "force ")):  # steps do not depend on kinds
            methods = ("rk4", "ledger of rk4")
        if name in BY_IMPULSES:
            methods = (*methods, "moreau")
        for method in methods if machine.count < LARGE else ("dopri5",):
            found[f"{name}: {method}"] = [
                counted(
                    lambda n=n, m=machine, method=method: run(m, method, n),
                    lambda m=machine, start=start: back(m, start),
                )
                for n in (STEPS, 3 * STEPS)
            ]
    for name, machine in rubbing_machines():
        machine.system.project()
        start = machine.system.state()
        for method in ("dopri5", "adams", "bdf", "esdirk") if name.endswith("slips") else ():
            found[f"{name}: {method}"] = [
                counted(
                    lambda n=n, m=machine, method=method: run(m, method, n),
                    lambda m=machine, start=start: back(m, start),
                )
                for n in (STEPS, 3 * STEPS)
            ]
        run(machine, "dopri5", STEPS)  # settles what slips and what holds
        found[f"{name}: accelerate"] = [
            counted(lambda n=n, m=machine: m.system.repeat("accelerate", n)) for n in (STEPS, 3 * STEPS)
        ]
    for name, query in (*queries(), *meshes()):
        query(1)
        found[f"{name}: collide"] = [counted(lambda n=n, q=query: q(n)) for n in (2, 6)]
    for name, query in searches():
        query(1)
        found[name] = [counted(lambda n=n, q=query: q(n)) for n in (2, 6)]
    for name, advance, start in adaptive_linkages():
        start()
        advance(3 * STEPS)  # room for the most that is free
        found[f"{name}: decide and step"] = [
            counted(lambda n=n, w=advance: w(n), start) for n in (STEPS, 3 * STEPS)
        ]
    for name, solve in contact_problems():
        solve(1)
        found[f"{name}: cones"] = [counted(lambda n=n, s=solve: s(n)) for n in (2, 6)]
    sys.stdout.write(json.dumps(found))


if __name__ == "__main__":
    main()
