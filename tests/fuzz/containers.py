"""Pictures, meshes and archives that are doctored in some way, many of them: shown, weighed, refused.

Each is a sound file of which bytes, counts, sizes or parts are changed, or a small file that expands to a
large one. Only our own errors may come of it, within bounds of time and memory (tests/rigs/watched.py).
Findings are printed with their seed; the exit status is 1 if there are any.
"""

import io
import os
import random
import re
import struct
import sys
import tempfile
import warnings
import zipfile
import zlib
from functools import cache
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).parent.parent))

import numpy as np
import trimesh
from PIL import Image
from rigs import bombs
from rigs.watched import main

import bellcrank as bc
from bellcrank.errors import BellcrankError, MechanismError

NUMBERS = (0, 1, 2, 3, 255, 256, 65535, 2**24, 2**31 - 1, 2**31, 2**32 - 1)
WORDS = (
    b"0",
    b"-1",
    b"1",
    b"9" * 12,
    b"1e9",
    b"nan",
    b"inf",
    b"",
    b" ",
    b"vertex",
    b"#a",
    b'"',
    b"{",
    b"]",
    b"\n",
)
MESHES = ("stl", "stl_ascii", "obj", "ply", "ply_ascii", "off", "glb", "dae", "3mf")
PICTURES = ("png", "jpg", "tif", "bmp")


@cache
def sound():
    """Sound files: their suffix and bytes."""
    ball = trimesh.creation.icosphere(1)
    pair = trimesh.Scene([ball, trimesh.creation.box()])
    found = []
    for name in MESHES:
        kind, _, _ = name.partition("_")
        settings = {"encoding": "ascii"} if name == "ply_ascii" else {}
        try:
            scene = pair if kind in ("glb", "3mf", "obj") else ball
            made = scene.export(file_type=name if kind == "stl" else kind, **settings)
        except ImportError:  # of what writes this kind
            continue
        found.append((kind, made.encode() if isinstance(made, str) else made))
    with io.BytesIO() as packed:
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            for kind, made in found[:3]:
                archive.writestr(f"a.{kind}", made)
        found.append(("zip", packed.getvalue()))
    rng = np.random.default_rng(0)
    for suffix in PICTURES:
        for shape in ((9, 7), (9, 7, 3)):
            with io.BytesIO() as file:
                picture = Image.fromarray(rng.integers(0, 255, shape, dtype=np.uint8))
                picture.save(file, {"jpg": "JPEG", "tif": "TIFF"}.get(suffix, suffix))
                found.append((suffix, file.getvalue()))
    return found


def spoilt(suffix, content, rng):
    """The content with something changed; checksums are made right again, for readers go on then."""
    for _ in range(rng.choice((1, 1, 2, 4))):
        kind, at = rng.randrange(7), rng.randrange(len(content) + 1)
        if kind == 0:
            content = content[:at] + rng.randbytes(rng.randrange(1, 5)) + content[at + rng.randrange(5) :]
        elif kind == 1:
            value = rng.choice(NUMBERS)
            content = content[:at] + struct.pack(rng.choice("<>") + "I", value) + content[at + 4 :]
        elif kind == 2:
            content = content[:at]
        elif kind == 3:
            end = min(len(content), at + rng.choice((1, 20, 300)))
            content = content[:at] + content[at:end] * rng.choice((2, 3, 100)) + content[end:]
        elif kind < 6 and (numbers := list(re.finditer(rb"(?<![\w.])\d+(?![\w.])", content))):
            found = rng.choice(numbers)
            content = content[: found.start()] + rng.choice(WORDS) + content[found.end() :]
        else:
            content = content[:at] + rng.choice(WORDS) + content[at:]
    return _checked_sums(content) if suffix == "png" else content


def _checked_sums(content):
    """A PNG file with sums that match its chunks."""
    made, at = content[:8], 8
    while at + 12 <= len(content):
        size = int.from_bytes(content[at : at + 4], "big")
        inner = content[at + 4 : at + 8 + size]
        made += content[at : at + 4] + inner + struct.pack(">I", zlib.crc32(inner))
        at += 12 + size
    return made + content[at:]


def used(path, suffix):
    """Use a file; the word for how that ended."""
    if suffix in PICTURES:
        bc.Terrain.from_image(path, (1.0, 1.0), 1.0)
        return "shown"
    mesh = bc.Mesh(path, density=1000.0)
    mesh.surface()
    try:
        mesh.volume_properties()
    except MechanismError:
        return "shown"
    return "weighed"


def judged(seed):
    """How the file of a seed ended, and what was found, in lines."""
    rng = random.Random(seed)
    if rng.random() < 0.1:
        name = rng.choice(sorted(bombs.BOMBS))
        suffix, content = name.split()[-1], bombs.BOMBS[name](rng.randrange(1, 7))
    else:
        suffix, content = rng.choice(sound())
        content = spoilt(suffix, content, rng)
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = Path(folder) / f"a.{suffix}"
        path.write_bytes(content)
        try:
            return used(path, suffix), []
        except BellcrankError as error:
            return "refused", [] if str(error) else ["an error without a message"]
        except Exception as error:  # noqa: BLE001 (whatever it is, it is a finding)
            return "failed", [f"{suffix}: {type(error).__name__}: {str(error)[:300]}"]


if __name__ == "__main__":
    sys.exit(main(judged, __doc__, "doctored files", 5_000))
