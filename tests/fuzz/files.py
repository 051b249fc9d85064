"""Mechanism files that are wrong in some way, many of them: read, looked at, assembled, run for a moment.

Each is a sound file of which numbers, texts, types, structure or bytes are changed. Only our own errors may
come of it, within bounds of time and memory (tests/rigs/watched.py), and a refused mechanism is as it was.
Findings are printed with their seed; the exit status is 1 if there are any.
"""

import contextlib
import copy
import json
import os
import random
import signal
import sys
import tempfile
from functools import cache
from pathlib import Path

os.environ.setdefault("BELLCRANK_CACHE", "off")  # most programs run once
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).parent.parent))

import numpy as np
import yaml
from rigs.random_mechanisms import random_mechanism
from rigs.watched import main, within

import bellcrank as bc
from bellcrank.errors import BellcrankError
from bellcrank.io.encode import encoded
from bellcrank.io.files import dumps, read
from bellcrank.io.node import plain
from bellcrank.io.yaml_format import parse

ROOT = Path(__file__).parents[2]
SOUND = 60  # random mechanisms that files are made of
PATIENCE = 1.5  # s after which a run is interrupted, as by Ctrl-C
WITH_EVERYTHING = """
bellcrank: 1
parameters: {length: 0.4, stiff: {value: 12 N/m, unit: N/m, low: 0, high: 1e5}, ratio: 2}
bodies:
  crank: {mass: length*2, inertia: [1e-3, 2e-3, 2e-3], com: [length/2, 0, 0],
          shapes: {type: Sphere, radius: 3 cm}}
  rod: {shapes: [{type: Box, size: [0.5, 2 cm, 2 cm], density: 7.8e3}], position: [length, 0, 0]}
markers: {tip: {body: rod, position: [0.25, 0, 0]}, crank.end: {position: [length, 0, 0], axis: [0, 1, 0]}}
joints:
  pivot: {type: Revolute, first: {body: ground, axis: [0, 1, 0]}, second: {body: crank, axis: [0, 1, 0]},
          position: 10 deg, limits: {lower: -3, upper: 200 deg, restitution: 0.5}}
  wrist: {type: Universal, first: crank.end, second: {body: rod, rotation: {axis: [1, 0, 0], angle: 90 deg}}}
  wire: {type: PointOnCurve, first: ground, second: {body: rod, position: [0.25, 0, 0]},
         points: [[0.5, 0, 0], [0.8, 0.1, 0], [1.2, 0, 0.1]]}
constraints: {gear: {type: Coupling, coefficients: [1, -2], ends: [pivot, wrist.universal_1]}}
forces:
  spring: {type: SpringDamper, stiffness: stiff, damping: 0.1, ends: [ground, tip]}
  table: {type: TabulatedSpring, joint: pivot, effort: {type: Table, x: [-4, 0, 4], y: [1, 0, -1]}}
  push: {type: Wrench, ends: [rod], force: [sin(t), 0, 0.1*t^2]}
mechanisms:
  arm: {file: part.yaml, attach_to: crank, position: [0, 0, 0.1], parameters: {reach: length/3}}
  own: {mechanism: {bodies: {dust: {mass: 1 g, inertia: [0, 0, 0]}}}}
simulation: {duration: 0.02, method: dopri5, tolerance: 1e-6, output_step: 1 ms,
             options: {max_corrections: 20}}
"""
PART = """
bellcrank: 1
parameters: {reach: 0.2}
bodies: {link: {mass: 0.3, inertia: [1e-4, 1e-4, 1e-4], position: [reach, 0, 0]}}
joints:
  rail: {type: CustomJoint, coordinates: [s], pose: [{shift: [s, 0.01*cos(3*s), 0]}, {turn: z, angle: s^2}],
         units: m, first: ground, second: link, position: 0.1}
drives: {lead: {joint: rail, position: 0.1 + 0.05*sin(2*t)}}
"""
NUMBERS = (
    0, -1, 1, 2, 0.5, 1e-3, 1e3, -0.0, 1e-9, 1e9, 1e-16, 1e16, 1e-30, 1e30, 1e-300, 1e300, 1e308, -1e308,
    5e-324,
    float("inf"), float("-inf"), float("nan"), 2**31, 2**63, -(2**31), 10**400, 3.4e38, 1.0000001, 255,
)  # fmt: skip
TEXTS = (
    "", " ", "\0", "a\0b", "nan", ".inf", "1e999", "ground", "/", "a/b", "//", ".", "..", "a.b", "t",
    "sin(t)", "abs(t)", "1/t", "sqrt(t-1)", "log(t)", "floor(9*t)", "t^1000", "exp(exp(t))", "tan(100*t)",
    "0/0", "1/0", "exp(1e6*t)", "1e300*t", "if(t<0.01, 0, 1)", "((((", "t" * 300, "sin(" * 90, "x" * 70000,
    "\u202e", "🦀", "é", "1 m", "1 kg m^2/s", "3 furlong", "1 m/", "-5 deg", "1e300 km", "5 %", "1 m^9",
    "true", "null", "~", "on", "length", "length*stiff", "reach", "/dev/zero", "/dev/stdin", "part.yaml",
    "self.yaml", "\ud800", "x\ny", "\t", "Revolute", "Screw", "Gear", "Table", "Polynomial", "symbolic",
    "recursive", "lagrange", "bdf", "esdirk", "adams", "rk4",
)  # fmt: skip
OTHERS = (
    [], {}, None, True, False, [0, 0], [1, 2, 3], [[]], [[1, 0, 0], [0, 1, 0], [0, 0, 1]], {"": 0},
    {"type": 3},
)  # fmt: skip


@cache
def sources():
    """Sound files as plain data."""
    found = [encoded(random_mechanism(seed)) for seed in range(SOUND)]
    texts = [WITH_EVERYTHING, PART, *((ROOT / name).read_text("utf-8") for name in ("examples/demo.yaml",))]
    return [*(plain(parse(text)) for text in texts), *found]


def places(tree):
    """Every container of a tree with each of its keys."""
    found, waiting = [], [tree]
    while waiting:
        node = waiting.pop()
        keys = list(node) if isinstance(node, dict) else range(len(node)) if isinstance(node, list) else ()
        for key in keys:
            found.append((node, key))
            waiting.append(node[key])
    return found


def mutate(tree, rng):
    """Change one thing in a tree."""
    at = places(tree)
    holder, key = rng.choice(at)
    other_holder, other = rng.choice(at)
    kind = rng.randrange(14)
    if kind < 3 or kind > 9:
        numbers = [(h, k) for h, k in at if isinstance(h[k], (int, float)) and not _of_rotation(h)]
        holder, key = rng.choice(numbers or at)
        scaled = isinstance(holder[key], (int, float)) and abs(holder[key]) < 1e290 and rng.random() < 0.5
        holder[key] = holder[key] * 10.0 ** rng.randint(-12, 12) if scaled else rng.choice(NUMBERS)
    elif kind == 3:
        holder[key] = rng.choice(TEXTS)
    elif kind == 4:
        holder[key] = copy.deepcopy(rng.choice(OTHERS))
    elif kind == 5:
        del holder[key]
    elif kind == 6:
        holder[key] = copy.deepcopy(other_holder[other])
    elif kind == 7 and isinstance(holder, dict):
        holder[rng.choice(TEXTS)] = holder.pop(key) if rng.random() < 0.5 else copy.deepcopy(holder[key])
    elif kind == 8 and isinstance(holder[key], list):
        holder[key] = holder[key] * rng.choice((0, 2, 3, 50))
    elif isinstance(holder, dict) and isinstance(other, str):
        holder[other] = copy.deepcopy(other_holder[other])
    else:
        holder[key] = [copy.deepcopy(holder[key])]


def _of_rotation(holder):
    return "bellcrank" in holder or (isinstance(holder, list) and len(holder) in (4, 16))


def spoil(text, rng):
    """Change some characters."""
    for _ in range(rng.choice((1, 1, 2, 5))):
        a, b = sorted(rng.randrange(len(text) + 1) for _ in range(2))
        b = min(b, a + rng.choice((0, 1, 3, 40)))
        piece = rng.choice(
            ("", ":", "{", "]", "*a", "&a ", "<<: ", "- ", '"', "\t", "\0", "9", "e", "-", text[a:b] * 3)
        )
        text = text[:a] + piece + text[b:]
    return text if rng.random() < 0.8 else text[: rng.randrange(len(text) + 1)]


def written(seed):
    """The suffix and bytes of the file of a seed."""
    rng = random.Random(seed)
    tree = copy.deepcopy(rng.choice(sources()[:3] if rng.random() < 0.4 else sources()))
    if rng.random() < 0.2:
        tree["simulation"] = {
            key: rng.choice((*NUMBERS, *TEXTS, 1e-3, 1e-6))
            for key in rng.sample(
                ("duration", "step", "output_step", "tolerance", "rtol", "max_step", "method"), 2
            )
        }
    for _ in range(rng.choice((0, 1, 1, 1, 2, 4))):
        if places(tree):
            mutate(tree, rng)
    suffix = rng.choice((".yaml", ".json"))
    if suffix == ".json":
        text = json.dumps(tree)
    else:
        text = yaml.dump(tree, Dumper=Plain, sort_keys=False, allow_unicode=True, default_flow_style=None)
    if rng.random() < 0.15:
        text = spoil(text, rng)
    raw = text.encode("utf-8", "surrogatepass")
    if rng.random() < 0.05:
        at = rng.randrange(len(raw) + 1)
        raw = raw[:at] + rng.randbytes(rng.randrange(1, 5)) + raw[at:]
    return suffix, raw


class Plain(yaml.SafeDumper):
    """Without anchors, for what stands twice stands twice."""

    def ignore_aliases(self, _data):
        return True


def used(path, rng):
    """Read a file and make use of it; the word for how that ended."""
    word = "refused"
    content = read(path)
    before = dumps(content.mechanism)
    try:
        bc.info(content.mechanism)
        word = "not assembled"
        bc.assemble(content.mechanism.copy())
        word = "not simulated"
        simulated(content, rng)
        word = "simulated"
    except BellcrankError as error:
        str(error)
    assert dumps(content.mechanism) == before, "the mechanism is not as it was"
    return word


def simulated(content, rng):
    """A run as the file says, of a fiftieth of a second at most; a long one is interrupted."""
    given = content.simulation.arguments()
    given = given if rng.random() < 0.7 else {}
    duration = given.get("duration", 0.02)
    given["duration"] = min(duration, 0.02) if isinstance(duration, (int, float)) else duration
    given.setdefault("formulation", rng.choice(("lagrange", "lagrange", "recursive", "symbolic")))
    patience = within(PATIENCE, lambda *_: os.kill(os.getpid(), signal.SIGINT))
    with contextlib.suppress(KeyboardInterrupt), patience:
        bc.simulate(content.mechanism, **given)


def judged(seed):
    """How the file of a seed ended, and what was found, in lines."""
    suffix, raw = written(seed)
    rng = random.Random(-seed)
    held = (Path.cwd(), signal.getsignal(signal.SIGINT), np.geterr())
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "part.yaml").write_text(PART, "utf-8")
        path = Path(folder) / f"self{suffix}"
        path.write_bytes(raw)
        try:
            word, found = used(path, rng), []
        except BellcrankError as error:
            word, found = "refused", [] if str(error) else ["an error without a message"]
        except Exception as error:  # noqa: BLE001 (whatever it is, it is a finding)
            word, found = "failed", [f"{type(error).__name__}: {str(error)[:300]} {trace(error)}"]
    if (Path.cwd(), signal.getsignal(signal.SIGINT), np.geterr()) != held:
        found.append("the process is not as it was")
    return word, found


def trace(error):
    """Where an error came from."""
    at = error.__traceback__
    while at.tb_next is not None:
        at = at.tb_next
    return f"({Path(at.tb_frame.f_code.co_filename).name}:{at.tb_lineno})"


if __name__ == "__main__":
    sys.exit(main(judged, __doc__, "files", 100_000))
