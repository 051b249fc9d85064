"""Calls of the API with wrong things, many of them: other types, shapes, sizes, elements of others, ...

Each is a sound call of which one argument, or two, are replaced. Only our own errors may come of it (and
OSError where a file cannot be read or written), within bounds of time and memory (tests/rigs/watched.py);
what is refused leaves the mechanism as it was. Findings are printed with their seed; the exit status is 1 if
there are any.
"""

import os
import random
import signal
import sys
import tempfile
from dataclasses import fields
from functools import cache
from pathlib import Path

os.environ.setdefault("BELLCRANK_CACHE", "off")  # most programs run once
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).parent.parent))

import numpy as np
from rigs import examples
from rigs.watched import main, within

import bellcrank as bc
from bellcrank.errors import BellcrankError
from bellcrank.io.files import dumps
from bellcrank.mechanism import JOINT_KINDS

PATIENCE = 1.5  # s after which a run is interrupted, as by Ctrl-C
SLIDER = """
bellcrank: 1
parameters: {long: 0.4}
bodies:
  crank: {mass: 2, inertia: [1e-3, 2e-3, 2e-3], com: [long/2, 0, 0], shapes: {type: Sphere, radius: 3 cm}}
  rod: {mass: 1, inertia: [1e-3, 2e-3, 2e-3], position: [long, 0, 0]}
markers: {rod.tip: {position: [0.25, 0, 0]}, crank.mid: {position: [0, 0.1, 0]}}
joints:
  pivot: {type: Revolute, first: {body: ground, axis: [0, 1, 0]}, second: {body: crank, axis: [0, 1, 0]}}
  wrist: {type: Universal, first: {body: crank, position: [long, 0, 0]}, second: rod}
forces: {spring: {type: SpringDamper, stiffness: 20, damping: 0.1, ends: [ground, rod.tip]}}
drives: {lead: {joint: pivot, position: 0.1*t^2}}
"""


class World:
    """What a call may be made on and with: two mechanisms and what comes of one of them."""

    def __init__(self):
        self.mechanism = bc.loads(SLIDER)
        self.other = bc.loads(SLIDER.replace("rod", "bar").replace("wrist", "ankle"))
        self.system = bc.prepare(self.mechanism, "lagrange")
        self.state = self.system.state()
        self.run = run()
        self.folder = Path(tempfile.gettempdir())


@cache
def run():
    """A short run, which nothing changes."""
    return bc.simulate(bc.loads(SLIDER), 0.02)


def wrong_things(world):
    """Things that most arguments do not take."""
    mechanism, other = world.mechanism, world.other
    numbers = (
        0, -1, 1, 2, 0.5, 1e-300, 1e-20, 1e-9, 1e12, 1e30, 1e308, -1e308, float("nan"), float("inf"),
        10**400,
    )  # fmt: skip
    whole = (
        2**31, 2**63, -(2**63), True, 1 + 2j, np.float64("nan"), np.int64(3), np.float32(1e30),
        np.datetime64("now"),
    )  # fmt: skip
    texts = (
        "", " ", "a\0b", "\ud800", "x" * 100_000, "ground", "pivot", "pivot.theta_z", "rod.tip", "1 m",
        "sin(t)",
    )  # fmt: skip
    more = (
        "abs(t)", "1/t", "((", "no such name", b"bytes", "a/b", "wrist", "symbolic", "adams", ".",
        "/dev/zero",
    )  # fmt: skip
    lists = (
        [], (), {}, [1], [1, 2, 3], [1e308] * 3, [float("nan")] * 3, (1, 0, 0, 0), [[1, 2], [3]], [None],
        ["x"] * 3,
    )  # fmt: skip
    arrays = (
        np.zeros(3), np.full(3, np.nan), np.zeros((2, 2)), np.eye(3), np.zeros((0, 3)), np.array("x"),
        np.zeros(1000),
    )  # fmt: skip
    objects = (
        None, object(), lambda *_: 1, range(3), {1: 2}, {"a": None}, bc.Revolute, bc.Revolute(),
        Path("x.yaml"), iter(()),
    )  # fmt: skip
    made = (
        bc.t, bc.symbol("s"), bc.Constant(1), bc.Box(size=(1, 1, 1)), bc.Limit(0, 1), bc.SpringDamper(1),
        bc.Event,
    )  # fmt: skip
    own = (
        mechanism, mechanism.bodies["rod"], mechanism.joints["pivot"], mechanism.markers["rod.tip"],
        mechanism.ground,
    )  # fmt: skip
    strange = (
        other, other.bodies["bar"], other.joints["ankle"], other.markers["bar.tip"],
        other.forces["spring"],
    )  # fmt: skip
    rest = (
        mechanism.parameters["long"].symbol,
        other.parameters["long"].symbol,
        world.state,
        world.system,
        world.run,
    )
    return (*numbers, *whole, *texts, *more, *lists, *arrays, *objects, *made, *own, *strange, *rest)


@cache
def kinds():
    """One instance of every description class, with the letters of its ends (J: it is a joint kind)."""
    joints = [(examples.joint(name), "joint") for name in JOINT_KINDS]
    attached = [(kind, letters) for _, kind, letters in (*examples.constraints(), *examples.forces())]
    plain = [*examples.FUNCTIONS_OF_TIME.values(), bc.Curve(examples.CURVE), bc.NurbsCurve(examples.CURVE)]
    plain += [
        bc.Box(size=(1, 2, 3)),
        bc.Sphere(1.0),
        bc.Cylinder(1, 2),
        bc.Capsule(1, 2),
        bc.Cone(1, 2),
        bc.Prism([(0, 0), (1, 0), (0, 1)], 2),
        bc.Mesh("x.stl"),
    ]
    plain += [
        bc.Ellipsoid(radii=(1, 2, 3)),
        bc.Limit(0.0, 1.0),
        bc.Body("b", 1.0, (1.0, 1.0, 1.0)),
        bc.Marker("rod"),
    ]
    s = bc.symbol("s")
    shift = bc.expression.translation(s, s * s, 0.0)
    plain += [
        bc.PathJoint(s, (s, s * s, 0.0), (0, 0, 1)),
        bc.CustomJoint(s, shift),
        bc.Event("e", "t - 0.01"),
    ]
    return [*joints, *attached, *((one, "") for one in plain)]


def methods(world):
    """Sound calls of functions and methods: the callable and its arguments by name."""
    m, rod, pivot = world.mechanism, world.mechanism.bodies["rod"], world.mechanism.joints["pivot"]
    tip, state, inside = m.markers["rod.tip"], world.state, str(world.folder / f"calls-{os.getpid()}.h5")
    span = {"mechanism": m, "duration": 0.01}
    return (
        (bc.info, {"mechanism": m}),
        (bc.validate, {"mechanism": m}),
        (bc.prepare, {"mechanism": m, "formulation": "recursive", "max_corrections": 9}),
        (bc.prepare, {"mechanism": m, "formulation": "lagrange", "rank_tolerance": 1e-9, "refinements": 1}),
        (bc.simulate, {**span, "method": "rk4", "step": 1e-3, "output_step": 2e-3, "start": 0.0}),
        (bc.simulate, {**span, "method": "dopri5", "tolerance": 1e-6, "max_step": 1e-2, "reactions": True}),
        (bc.simulate, {**span, "method": "adams", "rtol": {"rotation": 1e-6}, "atol": 1e-6, "max_order": 4}),
        (
            bc.simulate,
            {**span, "method": "bdf", "state": state, "events": (), "path": inside, "progress": False},
        ),
        (bc.simulate, {"mechanism": m, "times": [0.0, 0.01], "formulation": "symbolic", "assemble": True}),
        (bc.simulate, {**span, "description": "", "accelerations": True}),
        (bc.assemble, {"mechanism": m.copy(), "time": 0.0, "pinned": "rod", "method": "root_finding"}),
        (bc.assemble, {"mechanism": m.copy(), "method": "constraint_forces", "time_constant": 0.02}),
        (bc.find_equilibrium, {"mechanism": m.copy(), "tolerance": 1e-6, "pinned": ()}),
        (bc.kinematics, {**span, "step": 1e-3, "formulation": "lagrange", "start": 0.0}),
        (bc.inverse_dynamics, {**span, "step": 1e-3, "path": inside}),
        (bc.hold_start_values, {"mechanism": m.copy()}),
        (bc.loads, {"text": SLIDER, "format": "yaml", "folder": "."}),
        (bc.load, {"path": "no.yaml"}),
        (bc.save, {"mechanism": m, "path": inside + ".yaml"}),
        (bc.rotation, {"axis": "z", "angle": 0.5}),
        (bc.rotation, {"rpy": (0.1, 0.2, 0.3)}),
        (bc.symbol, {"name": "s"}),
        (bc.State, {f.name: getattr(state, f.name) for f in fields(state)}),
        (bc.Mechanism, {"name": "m", "gravity": (0, 0, -9.81)}),
        (m.add_parameter, {"name": "wide", "value": 0.2, "unit": "m", "low": 0.0, "high": 1.0, "doc": ""}),
        (m.with_parameters, {"long": 0.3}),
        (m.add_body, {"name": "new", "mass": 1.0, "inertia": (1, 1, 1), "com": (0, 0, 0), "shapes": ()}),
        (
            m.add_body,
            {"name": "new", "mass": 1.0, "shapes": bc.Sphere(0.1, density=1e3), "position": (0, 0, 0)},
        ),
        (m.add_marker, {"marker": rod.marker(name="mid")}),
        (m.marker, {"key": "rod.tip"}),
        (
            m.add_joint,
            {"name": "j", "kind": bc.Revolute(), "marker_1": m.ground, "marker_2": tip, "position": 0.1},
        ),
        (
            m.add_joint,
            {"name": "j", "kind": bc.Free(), "marker_1": rod, "marker_2": tip, "velocity": (0,) * 6},
        ),
        (m.add_drive, {"name": "d", "joint": "wrist.universal_1", "velocity": "sin(t)", "relative": False}),
        (
            m.add_drive,
            {"name": "d", "marker": tip, "path": examples.PATHS["curve"][0], "orientation": (1, 0, 0, 0)},
        ),
        (m.add_force, {"name": "f", "kind": bc.TorsionSpring(1.0), "joint": pivot, "coordinate": "theta_z"}),
        (m.joint_coordinate, {"joint": "pivot", "coordinate": None}),
        (
            m.place,
            {"other": world.other, "prefix": "p", "position": (0, 0, 0), "attach_to": rod, "parameters": {}},
        ),
        (m.remove, {"element": pivot, "cascade": True}),
        (m.replace, {"element": rod, "mass": 2.0, "name": "pole"}),
        (m.replace, {"element": pivot, "kind": bc.Cylindrical(), "limits": ()}),
        (setattr_of(m, "gravity"), {"value": (0, 0, 1)}),
        (rod.marker, {"position": (0, 0, 0), "axis": (0, 0, 1), "name": "x"}),
        (rod.world_marker, {"position": (0, 0, 0), "x_axis": (0, 0, 1), "y_axis": (0, 1, 0)}),
        (world.system.set_state, {"state": state, "continued": True}),
        (world.system.accelerate, {"state": state}),
        (world.system.project, {"state": state}),
        (world.system.rows, {"state": state}),
        (
            world.system.retract,
            {"state": state, "velocity": state.velocity, "angular_velocity": state.velocity},
        ),
        (world.system.accelerate().body, {"name": "rod"}),
        (world.system.accelerate().joint, {"name": "pivot"}),
        (world.run.at, {"time": 0.01}),
        (world.run.resample, {"times": [0.0, 0.01]}),
        (world.run.resample, {"step": 0.001}),
        (world.run.body, {"name": "rod"}),
        (world.run.joint, {"name": "pivot"}),
        (world.run.drive, {"name": "lead"}),
    )


def setattr_of(holder, name):
    """Setting an attribute, as a call."""
    return lambda value: setattr(holder, name, value)


def used(world, kind, letters):
    """Make use of a description object in the world's mechanism."""
    m = world.mechanism
    if letters == "joint":
        m.add_joint("used", kind, m.ground.marker((0.1, 0, 0)), "rod.tip")
    elif letters:
        ends = [
            {"M": ("rod.tip", "crank.mid"), "J": ("pivot", "wrist.universal_1")}[c][i % 2]
            for i, c in enumerate(letters)
        ]
        add = m.add_force if isinstance(kind, bc.mechanism.ForceKind) else m.add_constraint
        add("used", kind, *ends)
    elif isinstance(kind, bc.Function):
        m.add_drive("used", "wrist.universal_1", position=kind)
    else:
        return
    bc.info(m)
    bc.simulate(m, 2e-3)


def call(world, rng):
    """Make the call of a seed; its name, and what came of it."""
    things = wrong_things(world)
    if rng.random() < 0.5:
        kind, letters = rng.choice(kinds())
        given = {
            f.name: getattr(kind, f.name)
            for f in fields(kind)
            if f.init and f.name not in ("symbol", "values")
        }
        for name in rng.sample(sorted(given), min(len(given), rng.choice((1, 1, 2)))):
            given[name] = rng.choice(things)
        yield type(kind).__name__, given
        used(world, type(kind)(**given), letters)
        return
    function, given = rng.choice(methods(world))
    for name in rng.sample(sorted(given), min(len(given), rng.choice((1, 1, 2)))):
        given = {**given, name: rng.choice(things)}
    yield getattr(function, "__name__", "call"), given
    function(**given)


def judged(seed):
    """How the call of a seed ended, and what was found, in lines."""
    rng, world = random.Random(seed), World()
    before, others = dumps(world.mechanism), dumps(world.other)
    making = call(world, rng)
    name, given = next(making)
    word, found = "taken", []
    with within(PATIENCE, lambda *_: os.kill(os.getpid(), signal.SIGINT)):
        try:
            next(making, None)
        except BellcrankError as error:
            word = "refused"
            if not str(error):
                found.append("an error without a message")
        except OSError:
            word = "no file"
            if name not in ("load", "save", "simulate", "inverse_dynamics", "loads"):
                found.append("an OSError")
        except KeyboardInterrupt:
            word = "interrupted"
        except Exception as error:  # noqa: BLE001 (whatever it is, it is a finding)
            word = "failed"
            found.append(f"{type(error).__name__}: {str(error)[:200]} {trace(error)}")
    used_up = "used" in {*world.mechanism.joints, *world.mechanism.forces, *world.mechanism.drives} | {
        *world.mechanism.constraints
    }
    if word in ("refused", "failed") and not used_up and dumps(world.mechanism) != before:
        found.append("the mechanism is not as it was")
    if word != "taken" and dumps(world.other) != others:
        found.append("another mechanism is not as it was")
    return word, [f"{name}({_shown(given)}): {line}" for line in found]


def _shown(given):
    return ", ".join(f"{name}={repr(value)[:40]}" for name, value in given.items())


def trace(error):
    """Where an error came from, the last place of ours and the last at all."""
    at, places = error.__traceback__, []
    while at is not None:
        places.append(f"{Path(at.tb_frame.f_code.co_filename).name}:{at.tb_lineno}")
        at = at.tb_next
    return f"({' '.join(places[-3:])})"


if __name__ == "__main__":
    sys.exit(main(judged, __doc__, "calls", 20_000))
