"""Mechanism files: reading with all faults in one error, and writing."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias

from bellcrank.errors import Fault, FaultList, Location, MechanismError, NotFound, Unsupported
from bellcrank.io import json_format, meshes, protein
from bellcrank.io.document import Document, DocumentReader
from bellcrank.io.encode import encoded
from bellcrank.io.fields import VERSION, Simulation
from bellcrank.io.formats import SUFFIXES, Format, format_named, format_of
from bellcrank.io.node import Entries, Node, Place, Scalar, described
from bellcrank.io.robots import mjcf_writer, urdf_writer
from bellcrank.io.robots import reader as robots
from bellcrank.io.robots.outline import Outline
from bellcrank.io.round_trip import Written, compared
from bellcrank.mechanism import Mechanism
from bellcrank.mechanism.checking import Check, required, required_path
from bellcrank.mechanism.collisions import not_written
from bellcrank.mechanism.contents import required_mechanism
from bellcrank.named_files import admit, content_of
from bellcrank.slips import answered
from bellcrank.whole_files import write_whole

Importer: TypeAlias = Callable[..., Mechanism]
IMPORTERS: Final[dict[str, Importer]] = {
    **dict.fromkeys((".pdb", ".ent", ".cif", ".mmcif"), lambda path, *_: protein.read(path)),
    **dict.fromkeys(robots.SUFFIXES, robots.read),
}
"""What reads files of other programs, by suffix: with folders of packages that such files name, and the
density, kg/m^3, of shapes whose masses they do not state, and the name of a start."""

EXPORTERS: Final[dict[str, Callable[[Mechanism], tuple[str, Outline]]]] = {
    ".urdf": urdf_writer.write,
    ".xml": mjcf_writer.write,
    ".mjcf": mjcf_writer.write,
}
"""What writes files for other programs, by suffix: the text, and what of the mechanism is in it."""

SIZE: Final = 100_000_000
"""How many bytes a mechanism file may have."""

DEPTH: Final = 40
"""How deep files may place each other."""

COPIES: Final = 30_000
"""How many bodies, joints, ... placements may copy; what is placed within others counts at every level."""


@dataclass(frozen=True)
class MechanismFile:
    """The contents of a file: the mechanism, and the defaults for simulating it."""

    mechanism: Mechanism
    simulation: Simulation


def read(
    path: str | os.PathLike[str],
    packages: Iterable[str | os.PathLike[str]] = (),
    density: float | None = None,
    scale: float | Sequence[float] | None = None,
    start: str | None = None,
) -> MechanismFile:
    """Read a mechanism and its simulation settings from a file in any supported format.

    packages: folders of packages that URDF, MJCF and SDF files name by package:// or model://, or parent
    folders of these; those that contain the file or lie beside it, and those that the environment names
    (ROS_PACKAGE_PATH, AMENT_PREFIX_PATH, GZ_SIM_RESOURCE_PATH, GAZEBO_MODEL_PATH, SDF_PATH), are found
    automatically.
    density: kg/m^3, of the shapes of links of a robot whose masses the file does not state, or of a mesh file
    (STL, OBJ, PLY, OFF, glTF), which is one body.
    scale: of a mesh file, from its unit to metres: one number or one for each axis.
    start: the name of a key frame of MJCF, at which the mechanism starts.

    Raises MechanismError with all faults of the file and of those that it places, each with file, line,
    column and key; Unsupported for other kinds of files; OSError if it cannot be read.
    """
    required_path("mechanism file", path)
    admit(path)
    with Check("load") as check:
        density = None if density is None else check.positive("density", density, "kg/m^3")
        if scale is not None and Path(path).suffix.lower() not in meshes.SUFFIXES:
            check.fault(f"scale belongs to mesh files: {', '.join(meshes.SUFFIXES)}", scale)
        if start is not None and Path(path).suffix.lower() not in robots.SUFFIXES:
            check.fault("start names a key frame of MJCF, which this is not", start)
    if Path(path).suffix.lower() in meshes.SUFFIXES:
        return MechanismFile(meshes.read(Path(path), density, scale), Simulation())
    if (importer := IMPORTERS.get(Path(path).suffix.lower())) is not None:
        folders = (packages,) if isinstance(packages, (str, os.PathLike)) else tuple(packages)
        return MechanismFile(importer(Path(path), folders, density, start), Simulation())
    chosen, reader = format_of(path, (*IMPORTERS, *meshes.SUFFIXES), reading=True), _Reader()
    document = reader.file(Path(path), chosen, str(path))
    return reader.result(document)


@answered
def load(
    path: str | os.PathLike[str],
    packages: Iterable[str | os.PathLike[str]] = (),
    density: float | None = None,
    scale: float | Sequence[float] | None = None,
    start: str | None = None,
) -> Mechanism:
    """Load a mechanism from a YAML, JSON or robot file (URDF, MJCF, SDF), or a backbone from a protein file.

    Its `left_out` lists the contents of another program's file that are not imported. packages: folders of
    packages that such files name. density: kg/m^3, of the shapes of links whose masses such a file does not
    state; without it their masses are not known (`Body.mass_known`), and what needs masses says so.
    A mesh file (STL, OBJ, PLY, OFF, glTF) is one free body of that density, scaled to metres:
    `bc.load("part.stl", density=7850, scale=0.001)`. start: the name of a key frame of MJCF, at which bodies,
    velocities and inputs start: `bc.load("robot.xml", start="home")`. Raises the errors of `read`.

    >>> written = bc.save(four_bar, "four-bar.yaml")
    >>> mech = bc.load("four-bar.yaml")
    >>> mech, bc.info(mech).mass == bc.info(four_bar).mass
    (<Mechanism 'four-bar': 3 bodies, 4 joints, 1 drive>, True)
    """
    return read(path, packages, density, scale, start).mechanism


@answered
def loads(text: str, format: str | None = None, folder: str | os.PathLike[str] | None = None) -> Mechanism:  # noqa: A002
    r"""Load a mechanism from a text.

    format: "yaml" or "json"; None detects it from the text. folder: to which paths in the text are relative;
    None leaves the paths of meshes as they are and looks for placed files in the working directory.

    Raises MechanismError with all faults, each with line, column and key; Unsupported for other formats.

    >>> text = "bellcrank: 1\nbodies: {ball: {mass: 2 kg, inertia: [1, 1, 1], position: [0, 0, 50 cm]}}"
    >>> ball = bc.loads(text).bodies["ball"]
    >>> ball.mass, ball.position
    (2.0, (0.0, 0.0, 0.5))
    """
    required("mechanism text", text, str)
    if folder is not None:
        required_path("loads, folder", folder)
    if format is None:
        format = "json" if text.lstrip()[:1] == "{" and _is_json(text) else "yaml"  # noqa: A001
    reader = _Reader()
    document = reader.text(text, format_named(format), None, None if folder is None else Path(folder))
    return reader.result(document).mechanism


@answered
def save(
    mechanism: Mechanism, path: str | os.PathLike[str], simulation: Simulation | None = None
) -> tuple[Fault, ...]:
    """Write a mechanism to a file; the suffix chooses YAML or JSON, URDF (.urdf) or MJCF (.xml, .mjcf).

    YAML and JSON are in SI units, with placed mechanisms expanded: `load` returns an equal mechanism;
    relative paths of meshes become absolute. URDF can represent trees of revolute and prismatic joints, MJCF
    also loops and ball joints, both at the present values of parameters; everything else they cannot
    represent is returned, and, in every format, what moves or collides in the file that the mechanism was
    read from and is missing here.

    The text is read back before it is put in place. Degrees of freedom, masses, gravity or a start that
    differ, and are not among what is returned, are an error. An existing file is replaced whole, or remains
    what it was.

    Raises Unsupported for another suffix, MechanismError if mechanism or path are invalid or the format does
    not suit the mechanism, AssemblyError if URDF or MJCF is to hold one without a start; NotWritten, an
    OSError too, if the file cannot be written.

    >>> bc.save(slider_crank, "slider-crank.yaml")    # nothing is left out
    ()
    >>> bc.load("slider-crank.yaml").drives["motor"].velocity
    Constant(value=10.0)
    """
    required_path("mechanism file", path)
    text, left_out = _written(mechanism, Path(path), simulation)
    write_whole(path, text)
    return (*left_out, *not_written(mechanism))


def _written(mechanism: Mechanism, path: Path, simulation: Simulation | None) -> tuple[str, list[Fault]]:
    """The text of a file, which was read back and compared, and what is not in it."""
    suffix, folder = path.suffix.lower(), path.absolute().parent
    if suffix not in EXPORTERS:
        text = format_of(path, EXPORTERS).write(encoded(mechanism, simulation, folder))
        return text, compared(Written(mechanism), lambda: loads(text, SUFFIXES[suffix], folder))
    required_mechanism("mechanism", mechanism)
    text, made = EXPORTERS[suffix](mechanism)
    written = Written(made.kept, made.bodies, made.merged, made.lacks)
    return text, made.left_out + compared(written, lambda: robots.of_text(text, path))


def dumps(mechanism: Mechanism, format: str = "yaml", simulation: Simulation | None = None) -> str:  # noqa: A002
    """The text of a mechanism's file, "yaml" or "json"; paths of meshes are not changed."""
    return format_named(format).write(encoded(mechanism, simulation))


def _is_json(text: str) -> bool:
    try:
        json_format.parse(text)
    except MechanismError:
        return False
    return True


def _order(fault: Fault) -> tuple[str, int, int]:
    place = fault.location or Location()
    return (place.file or "", place.line or 0, place.column or 0)


class _Reader:
    """Reads one file and the files that it places, each once; collects the faults of all."""

    def __init__(self) -> None:
        self.faults = FaultList()
        self.read: dict[str, Document | None] = {}
        self.open: list[str] = []
        self.copies = 0

    def result(self, document: Document | None) -> MechanismFile:
        """The result. Raises MechanismError if there were any faults."""
        if len(self.faults) > 0:
            raise MechanismError(sorted(self.faults, key=_order))
        assert document is not None
        return MechanismFile(document.mechanism, document.simulation)

    def file(self, path: Path, chosen: Format, name: str, placed: bool = False) -> Document | None:
        """The document of a file, called `name` in faults; None if it is faulty. Raises OSError."""
        try:
            raw = content_of(path, "mechanism file", SIZE)
            text = raw.decode("utf-8-sig")
        except NotFound:
            raise
        except MechanismError as error:
            for fault in error.faults:
                self.faults.add(fault.element, fault.rule, name, fault.advice, Location(name))
            return None
        except UnicodeDecodeError as error:
            line = raw.count(b"\n", 0, error.start) + 1
            column = error.start - raw.rfind(b"\n", 0, error.start)
            advice = "save it as UTF-8; is it a text file?"
            self.faults.add("mechanism file", "not UTF-8", None, advice, Location(name, line, None, column))
            return None
        self.open.append(os.path.realpath(path))
        try:
            return self.text(text, chosen, name, path.absolute().parent, placed)
        finally:
            self.open.pop()

    def text(
        self, text: str, chosen: Format, name: str | None, folder: Path | None, placed: bool = False
    ) -> Document | None:
        """The document of a text; None if it is faulty."""
        root = None
        before = len(self.faults)
        with self.faults.collect():
            root = chosen.parse(text, name)
        if len(self.faults) > before:
            return None
        if root is None:
            advice = f"it should begin with 'bellcrank: {VERSION}'"
            self.faults.add("mechanism file", "it is empty", None, advice, Location(name))
            return None
        return self.document(root, Place(name), folder, placed)

    def document(
        self, root: Node, place: Place, folder: Path | None, placed: bool, version_needed: bool = True
    ) -> Document | None:
        """The document of a tree; None if it is faulty. The whole mechanism is checked after placing."""
        before = len(self.faults)
        reader = DocumentReader(self.faults, folder, lambda node, at: self.include(node, at, folder))
        document = reader.build(root, place, version_needed)
        if not placed:
            reader.check()
        return document if len(self.faults) == before else None

    def include(self, node: Node, place: Place, folder: Path | None) -> Document | None:
        """The document of a placed mechanism, from another file or given inline; None if it is faulty."""
        if isinstance(node, Entries):
            found = self.document(node, place, folder, placed=True, version_needed=False)
        else:
            found = self.placed_file(node, place, folder)
        if found is not None:
            self.copies += found.mechanism.size
        if self.copies <= COPIES:
            return found
        rule = f"placements make more than {COPIES} copies of bodies, joints and other elements"
        advice = "files that place others more than once multiply; place fewer, or add them in Python"
        self.faults.add(place.element, rule, None, advice, place.location(node))
        return None

    def placed_file(self, node: Node, place: Place, folder: Path | None) -> Document | None:
        """The document of a placed file, read once; None if it is faulty."""
        location = place.location(node)
        if not isinstance(node, Scalar) or not node.text:
            self.faults.add(
                place.element,
                "the name of a file is needed here",
                None,
                f"this is {described(node)}",
                location,
            )
            return None
        path = Path(node.text) if folder is None else folder / node.text
        with self.faults.collect(location):
            required_path(place.element, node.text)
        if "\0" in node.text:
            return None
        key = os.path.realpath(path)
        if len(self.open) >= DEPTH:
            self.faults.add(
                place.element, f"files place each other more than {DEPTH} deep", None, "", location
            )
            return None
        if key in self.open:
            self.faults.add(place.element, "a mechanism cannot be placed in itself", node.text, "", location)
            return None
        if key not in self.read:
            name = os.path.normpath(Path(place.file or "").parent / node.text)
            try:
                self.read[key] = self.file(path, format_of(path), name, placed=True)
            except OSError as error:
                rule = f"the file cannot be read ({error.strerror})"
                self.faults.add(place.element, rule, node.text, "it is looked for beside this file", location)
                self.read[key] = None
            except Unsupported as error:
                self.faults.add(place.element, str(error), None, "", location)
                self.read[key] = None
        return self.read[key]
