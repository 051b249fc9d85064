# ruff: noqa: E501 (lists of texts)
"""Files of robots (URDF, MJCF, SDF) that are wrong in some way, many of them: read, written, looked at.

Each is a sound file of which attributes, texts, elements or bytes are changed. Only our own errors may come of
it, each fault with its file and line, within bounds of time and memory (tests/rigs/watched.py). Findings are printed
with their seed; the exit status is 1 if there are any.
"""

import copy
import os
import random
import sys
import tempfile
import xml.etree.ElementTree as ET
from functools import cache
from pathlib import Path

os.environ.setdefault("BELLCRANK_CACHE", "off")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).parent.parent))

from rigs.robot_models import GAZEBO_JOINT, LOOP_JOINT, LOOP_URDF, TEXTS, WRITERS, random_tree
from rigs.watched import main

import bellcrank as bc
from bellcrank.errors import BellcrankError, MechanismError
from bellcrank.io.files import dumps

NUMBERS = (
    "0", "-1", "1", "1e-3", "1e9", "1e-30", "1e30", "1e300", "-1e308", "1e999", "nan", "inf", "-inf", "1_0", "0x1",
    "1,2", "1.5.5", "--1", "9" * 400, "1 2", "1 2 3", "0 0 0", "0 0 0 0", "1 0 0 0", "1 2 3 4 5 6 7", "", " ", "a",
)  # fmt: skip
WORDS = (
    "world", "ground", "base", "crank", "__model__", "hand::palm", "true", "false", "auto", "main", "strong", "free",
    "ball", "hinge", "revolute", "screw", "universal", "gearbox", "fixed", "mesh", "plane", "/", "//", "..", "a/b", "\0",
    "é🦀", "x" * 3000, "package://x/../../etc/passwd", "/dev/zero", "/etc/passwd", "../../../etc/passwd", "model.xml",
    "file:///dev/stdin", "package://", "${x}", "&amp;", "t", "sin", "\u202e",
)  # fmt: skip
BOMB = """<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;"><!ENTITY c SYSTEM "file:///etc/passwd">]>"""


@cache
def sources():
    """Sound files: their kind and text."""
    found = [*TEXTS.items()] * 3
    found += [("urdf", LOOP_URDF.format(closing=one)) for one in (LOOP_JOINT, GAZEBO_JOINT)]
    for seed in range(4):
        tree = random_tree(seed)
        found += [(suffix, write(tree)) for suffix, write in WRITERS.items()]
    return found


def mutate(root, rng):
    """Change one thing in a tree of elements."""
    every = list(root.iter())
    at, other = rng.choice(every), rng.choice(every)
    kind = rng.randrange(10)
    if kind < 3 and at.attrib:
        at.set(rng.choice(list(at.attrib)), rng.choice(NUMBERS))
    elif kind < 5 and at.attrib:
        at.set(rng.choice(list(at.attrib)), rng.choice(WORDS))
    elif kind == 5 and at.attrib:
        del at.attrib[rng.choice(list(at.attrib))]
    elif kind == 6 and len(at):
        at.remove(rng.choice(list(at)))
    elif kind == 7 and len(every) < 600:
        at.append(copy.deepcopy(other))
    elif kind == 8:
        at.tag = rng.choice((other.tag, "x", "include", "joint", "body", "link", "frame", "default"))
        if rng.random() < 0.5:
            at.set(
                rng.choice(("file", "name", "class", "type", "pose", "joint", "site")),
                rng.choice((*WORDS, *NUMBERS)),
            )
    else:
        at.text = rng.choice((*NUMBERS, *WORDS))


def written(seed):
    """The suffix and bytes of the file of a seed."""
    rng = random.Random(seed)
    suffix, text = rng.choice(sources())
    if rng.random() < 0.85:
        root = ET.fromstring(text)
        for _ in range(rng.choice((0, 1, 1, 1, 2, 4))):
            mutate(root, rng)
        text = ET.tostring(root, encoding="unicode")
    if rng.random() < 0.15:
        a, b = sorted(rng.randrange(len(text) + 1) for _ in range(2))
        b = min(b, a + rng.choice((0, 1, 3, 40)))
        text = (
            text[:a] + rng.choice(("", "<", ">", '"', "&a;", "]]>", "\0", "9", "-", text[a:b] * 3)) + text[b:]
        )
    if rng.random() < 0.02:
        text = BOMB + text.partition("?>")[2] if text.startswith("<?") else BOMB + text
    raw = text.encode("utf-8", "surrogatepass")
    if rng.random() < 0.05:
        at = rng.randrange(len(raw) + 1)
        raw = raw[:at] + rng.randbytes(rng.randrange(1, 5)) + raw[at:]
    return suffix, raw


def used(path, rng):
    """Read a file and make use of it; the word for how that ended, and what is wrong with its errors."""
    try:
        mech = bc.load(path)
    except MechanismError as error:
        return "refused", [f"no place: {fault}" for fault in error.faults if not _placed(fault, path)][:3]
    found = [f"no place: {fault}" for fault in mech.left_out if not _placed(fault, path)][:3]
    before = dumps(mech)
    word = "read"
    try:
        again = bc.loads(before)
        assert list(again.bodies) == list(mech.bodies)
        if rng.random() < 0.3:
            bc.info(mech)
            word = "read and assembled"
    except BellcrankError as error:
        str(error)
    return word, found


def _placed(fault, path):
    place = fault.location
    return place is not None and bool(place.line) and place.file == str(path) and bool(str(fault))


def judged(seed):
    """How the file of a seed ended, and what was found, in lines."""
    suffix, raw = written(seed)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "inner" / f"model.{suffix}"
        path.parent.mkdir()
        path.write_bytes(raw)
        try:
            return used(path, random.Random(-seed))
        except BellcrankError as error:
            return "refused otherwise", [f"{type(error).__name__}: {str(error)[:300]}"]
        except Exception as error:  # noqa: BLE001 (whatever it is, it is a finding)
            at = error.__traceback__
            while at.tb_next is not None:
                at = at.tb_next
            where = f"({Path(at.tb_frame.f_code.co_filename).name}:{at.tb_lineno})"
            return "failed", [f"{suffix}: {type(error).__name__}: {str(error)[:300]} {where}"]


if __name__ == "__main__":
    sys.exit(main(judged, __doc__, "files of robots", 30_000))
