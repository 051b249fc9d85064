"""Common parts of the model readers: numbers from attributes, located faults, and parts left out."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from bellcrank.errors import Fault, FaultList, Location, MechanismError
from bellcrank.io.robots.xml_tree import ELEMENTS, SIZE, Element, parse
from bellcrank.mechanism.checking import Vec3
from bellcrank.mechanism.units import UnitError, read_quantity
from bellcrank.named_files import confining_folder, is_admitted

DESCRIPTION: Final = "model.config"
"""What describes a model of Gazebo, at the top of its folder."""
_FOLDERS: Final = (
    "ROS_PACKAGE_PATH",
    "GZ_SIM_RESOURCE_PATH",
    "IGN_GAZEBO_RESOURCE_PATH",
    "GAZEBO_MODEL_PATH",
    "SDF_PATH",
)
_PREFIXES: Final = ("AMENT_PREFIX_PATH",)  # of installations, whose packages lie in `share`
_NEWEST: Final = (1, 12)  # the newest version of SDF that is read
_PACKAGES = ("package.xml", DESCRIPTION)  # files at the top of what package:// and model:// name
_MARKS = (*_PACKAGES, ".git", "pyproject.toml")  # files at the top of a tree of files
_UNLIMITED = 1e10
# Names of packages and models; Gazebo's store of models names them by addresses, ROS finds packages.
_NAMED = re.compile(r"(?:package://|model://|https?://(?:[^/]+/)+models/)/*([^/]+)/*(.*)", re.DOTALL)
_EVERYWHERE: Final = ("name", "xmlns")
Color = tuple[float, ...] | None
_FIND = re.compile(r"\$\(find +([^)/]+)\)")


class Source:
    """A file being read: its faults, the parts left out, and the files that it names.

    path: of the file. packages: folders that contain the packages that package:// names, or these themselves.
    units: whether a number may have a unit, which is not clear where a file may choose degrees.
    density: kg/m^3, of the shapes of links whose masses the file does not state; None leaves these unknown.
    start: the name of the file's start that is wanted; None is that of the file.
    """

    def __init__(
        self,
        path: Path,
        packages: Iterable[Path] = (),
        density: float | None = None,
        start: str | None = None,
    ) -> None:
        self.path = path
        self.start = start
        self.density = density
        self.packages = [Path(os.path.realpath(folder)) for folder in packages]
        self.units = True
        self.faults = FaultList()
        self.left_out: list[Fault] = []
        self._found: dict[tuple[str, tuple[Path, ...]], Path | None] = {}
        self.folder = Path(os.path.realpath(path)).parent
        above = [self.folder, *self.folder.parents][:8]
        marked = [folder for folder in above if any((folder / mark).exists() for mark in _MARKS)]
        self.top = marked[-1] if marked else above[min(1, len(above) - 1)]
        if self.top == Path(self.top.anchor):
            self.top = self.folder

    def fault(self, at: Element, rule: str, value: object = None, advice: str = "", of: str = "") -> None:
        """Note a fault in an element, or in its attribute `of`."""
        rule = f"{of} {rule}" if of else rule
        self.faults.add(str(at), rule, value, advice, at.location)

    def leave(
        self, at: Element | None, element: str, rule: str, value: object = None, moves: bool = False
    ) -> None:
        """Note a part that is not imported, and whether it moves or weighs (`Fault.moves`)."""
        place = Location(str(self.path), 1) if at is None else at.location
        self.left_out.append(Fault(element, rule, value, location=place, moves=moves))

    def drop(self, at: Element, element: str, rule: str, value: object = None, moves: bool = False) -> None:
        """Note an element of which nothing is imported; what it contains is not listed separately."""
        at.dropped = True
        self.leave(at, element, rule, value, moves)

    @contextmanager
    def leaving(self) -> Iterator[FaultList]:
        """Faults inside are parts left out: of pictures and other things that change no motion."""
        outer, self.faults = self.faults, FaultList()
        try:
            yield self.faults
        finally:
            self.left_out += self.faults
            self.faults = outer

    def numbers(
        self, at: Element, attribute: str, text: str | None, least: int, most: int | None = None
    ) -> tuple[float, ...] | None:
        """Finite numbers, `least` to `most` (None: as many); None for an empty text or a fault."""
        if text is None:
            return None
        most = least if most is None else most
        found = plain_numbers(text)
        if found is None and (meant := meant_numbers(text, most, self.units)) is not None:
            found, peculiar = meant
            self.leave(at, str(at), f"{attribute}: {peculiar}", text)
        if found is None:
            advice = "a decimal point is needed" if most == 1 and "," in text else ""
            self.fault(at, "must hold numbers", text, advice, of=attribute)
            return None
        if not least <= len(found) <= most:
            wanted = f"{least}" if least == most else f"{least} to {most}"
            self.fault(at, f"must hold {wanted} number{'s' * (most > 1)}", text, of=attribute)
            return None
        if not all(map(math.isfinite, found)):
            self.fault(at, "must be finite", text, of=attribute)
            return None
        return found

    def number(self, at: Element, attribute: str, default: float | None = 0.0) -> float | None:
        """One number of an attribute; the default if it is missing, empty or a fault."""
        found = self.numbers(at, attribute, at.get(attribute) or None, 1)
        return default if found is None else found[0]

    def bound(self, at: Element, attribute: str, text: str) -> float | None:
        """A limit; None for an empty text, nan, an infinity, or a number that stands for one."""
        word = text.lower().lstrip("+-")
        if word == "nan":
            self.leave(at, str(at), f"{attribute} is no number: there is no such limit", text)
        if word in ("", "inf", "infinity", "nan"):
            return None
        found = self.numbers(at, attribute, text, 1)
        return None if found is None or abs(found[0]) >= _UNLIMITED else found[0]

    def triple(self, at: Element, attribute: str, text: str | None, default: Vec3 = (0.0, 0.0, 0.0)) -> Vec3:
        """Three numbers of a text; the default if it is missing or a fault."""
        found = self.numbers(at, attribute, text, 3)
        return default if found is None else (found[0], found[1], found[2])

    def vector(self, at: Element, attribute: str, default: Vec3 = (0.0, 0.0, 0.0)) -> Vec3:
        """Three numbers of an attribute; the default if it is missing, empty or a fault."""
        return self.triple(at, attribute, at.get(attribute) or None, default)

    def color(self, at: Element, attribute: str, text: str | None) -> Color:
        """A color, three or four numbers, which are cut to 0 to 1; a fault in it is left out."""
        with self.leaving():
            found = self.numbers(at, attribute, text, 3, 4)
        return None if found is None else tuple(min(max(part, 0.0), 1.0) for part in found)

    def scale(self, at: Element, text: str | None) -> Vec3:
        """The scale of a mesh: three numbers, or one for all axes."""
        found = self.numbers(at, "scale", text or None, 1, 3)
        if found is not None and len(found) == 2:
            self.fault(at, "must hold 3 numbers, or one for all axes", text, of="scale")
            found = None
        x, y, z = found * 3 if found and len(found) == 1 else found or (1.0, 1.0, 1.0)
        return (x, y, z)

    def direction(self, at: Element, attribute: str, given: Vec3 | None, default: Vec3) -> Vec3:
        """A unit vector along the given direction."""
        if given is None:
            return default
        largest = max(map(abs, given))
        if largest == 0.0:
            self.fault(at, "must be a direction", given, "the zero vector has none", of=attribute)
            return default
        x, y, z = (component / largest for component in given)
        norm = math.hypot(x, y, z)
        return (x / norm, y / norm, z / norm)

    def word(self, at: Element, attribute: str, known: Collection[str], default: str) -> str:
        """One of the allowed words."""
        found = at.get(attribute, default)
        if found not in known and found.lower() in known:
            return found.lower()
        if found not in known:
            self.fault(at, f"must be one of {', '.join(known)}", found, of=attribute)
            return default
        return found

    def file(self, text: str, *bases: Path) -> Path | None:
        """A file that is named in the text, in one of the folders; None if it is missing or out of bounds.

        It must lie in the tree of files to which the model belongs, in one of the packages, or in a package
        or model beside that tree: the tree is that of the highest folder with a package.xml, model.config,
        .git or pyproject.toml, else that of the folder above the model's. Where reading is confined, it must
        be admitted as well.
        """
        if (text, bases) not in self._found:  # visual and collision geometry often share files
            readable = self._readable(text, bases)
            self._found[text, bases] = next((real for real in readable if real.is_file()), None)
        return self._found[text, bases]

    def model(self, text: str, *bases: Path) -> Path | None:
        """The file of a model that is named by a file or by its folder, within the same bounds."""
        for real in self._readable(text, bases):
            found = real if real.is_file() else model_file(real, self.within)
            if found is not None:
                return found
        return None

    @property
    def searched(self) -> str:
        """Where files that the model names are looked for, in words."""
        folder = confining_folder()
        return "the model's folders" + ("" if folder is None else f" within {folder!r}")

    @property
    def places(self) -> str:
        """The folders in which packages and models are looked for, in words."""
        listed = [*self._own, *self.packages, *([self.top.parent] if self._has_neighbours else [])]
        return ", ".join(repr(str(folder)) for folder in dict.fromkeys(listed) if is_admitted(folder))

    def within(self, real: Path) -> bool:
        """Whether a file may be read."""
        if not is_admitted(real):
            return False
        if any(real.is_relative_to(folder) for folder in (self.top, *self.packages)):
            return True
        beside = real.relative_to(self.top.parent).parts if real.is_relative_to(self.top.parent) else ()
        return self._has_neighbours and len(beside) > 0 and _is_package(self.top.parent / beside[0])

    def _readable(self, text: str, bases: Iterable[Path]) -> Iterator[Path]:
        """The places at which something that the text names may be read, links followed."""
        if text and "\0" not in text:
            for candidate in self._candidates(text, bases):
                real = Path(os.path.realpath(candidate))
                if self.within(real):
                    yield real

    def _candidates(self, text: str, bases: Iterable[Path]) -> Iterator[Path]:
        if (named := _NAMED.fullmatch(_FIND.sub(r"package://\1", text))) is None:
            path = Path(text.removeprefix("file://"))
            yield from (base / path for base in (*bases, self.folder))
            return
        name, inner = named.groups()
        for folder in (*self.packages, *self._own):
            yield folder / name / inner
            if folder.name == name:
                yield folder / inner
        yield self.top.parent / name / inner

    @property
    def _own(self) -> list[Path]:
        """The folders from the model's own up to the top of its tree."""
        return [one for one in (self.folder, *self.folder.parents) if one.is_relative_to(self.top)]

    @property
    def _has_neighbours(self) -> bool:
        """Whether packages or models lie beside the model's tree, as ROS and Gazebo keep them."""
        return is_admitted(self.top.parent) and _is_package(self.top)


def _is_package(folder: Path) -> bool:
    return any((folder / mark).is_file() for mark in _PACKAGES)


def plain_numbers(text: str) -> tuple[float, ...] | None:
    """The numbers of a text, separated by blanks; None if there is anything else."""
    try:
        return tuple(float(word) if "_" not in word else float("x") for word in text.split())
    except ValueError:
        return None


def meant_numbers(text: str, most: int, units: bool) -> tuple[tuple[float, ...], str] | None:
    """Numbers that are clear though they are not plain, and what is peculiar about them; None if unclear.

    most: how many there may be: with one, a comma may be a decimal point. units: whether units are clear.
    """
    spaced = tuple(part.strip() for part in text.strip().strip("()[]").split(","))
    if 1 < len(spaced) <= most and (found := plain_numbers(" ".join(spaced))) is not None:
        return (found, "its numbers are separated by commas") if len(found) == len(spaced) else None
    words = (text,) if most == 1 else tuple(text.split())
    try:
        numbers = tuple(_number(word) for word in words) if units and len(words) <= most else ()
    except (ValueError, UnitError):
        return None
    return (numbers, "it is written with units, which become SI") if numbers else None


def _number(word: str) -> float:
    if (plain := plain_numbers(word)) is not None and len(plain) == 1:
        return plain[0]
    found = read_quantity(word)
    if found is None:
        raise ValueError(word)
    return found.value


def of_environment() -> list[Path]:
    """The folders of packages and models that variables of ROS and Gazebo name."""
    return [
        *(Path(text) for name in _FOLDERS for text in _listed(name)),
        *(Path(text) / "share" for name in _PREFIXES for text in _listed(name)),
    ]


def _listed(name: str) -> list[str]:
    return [text for text in os.environ.get(name, "").split(os.pathsep) if text]


def model_file(folder: Path, readable: Callable[[Path], bool]) -> Path | None:
    """The SDF file of the model in a folder; None if there is none that may be read.

    It is the one of the newest version that the folder's model.config names, else model.sdf.
    """
    for name in (*_named(folder / DESCRIPTION, readable), "model.sdf"):
        real = Path(os.path.realpath(folder / name))
        if real.is_relative_to(os.path.realpath(folder)) and readable(real) and real.is_file():
            return real
    return None


def _named(config: Path, readable: Callable[[Path], bool]) -> list[str]:
    """The files that a model.config names, the best first."""
    real = Path(os.path.realpath(config))
    if not readable(real) or not real.is_file():
        return []
    try:
        root = parse(real, str(config))
    except (MechanismError, OSError):  # the model itself may be sound
        return []
    found = [(version(at.get("version")), at.text.strip()) for at in root.all("sdf")]
    found = [(one, name) for one, name in found if name and "\0" not in name]
    found.sort(key=lambda one: (one[0] <= _NEWEST, one[0]), reverse=True)
    return [name for _, name in found]


def version(text: str) -> tuple[int, ...]:
    """A version of SDF, such as "1.9", as numbers; the newest if there is none."""
    parts = [part for part in text.split(".") if part.isascii() and part.isdigit() and len(part) < 5]
    return tuple(map(int, parts)) or _NEWEST


@dataclass
class Included:
    """Reads the files that a model includes; their faults are noted in its source."""

    source: Source
    elements: int = 0
    size: int = 0

    def read(self, at: Element, path: Path, shown: str) -> Element | None:
        """The root of a file that is included at an element, where it is called `shown`; None for a fault."""
        source, root = self.source, None
        name = os.path.normpath(Path(source.path).parent / os.path.relpath(path, source.folder))
        try:
            with source.faults.collect(at.location):
                self.size += path.stat().st_size
                root = parse(path, name) if self.size <= SIZE else None
        except OSError as error:
            source.fault(at, f"the included file cannot be read ({error.strerror})", shown)
            return None
        self.elements += 0 if root is None else _count(root)
        if self.size > SIZE or self.elements > ELEMENTS:
            rule = f"included files have more than {SIZE} bytes or {ELEMENTS} elements together"
            source.fault(at, rule, shown)
            source.faults.raise_any()
        return root


def _count(at: Element) -> int:
    return 1 + sum(map(_count, at.children))


@dataclass(frozen=True)
class Quiet:
    """The names of a format that change no motion, and those that are known to change it.

    tags: elements with all that they contain; "parent/tag" for those in one kind of element. attributes: in
    any element. of: attributes by element. still: elements that are listed though they change no motion.
    moving: elements of which an unused attribute or part may change the motion; parts with a prefix are of
        other programs, and do not.
    """

    tags: Collection[str]
    attributes: Collection[str]
    of: Mapping[str, Collection[str]] = field(default_factory=dict)
    still: Collection[str] = ()
    moving: Collection[str] = ()


def list_unused(source: Source, roots: Iterable[Element], quiet: Quiet) -> None:
    """List what nobody asked for below elements whose own attributes do not count."""
    for root in roots:
        _below(source, root, quiet)


def _below(source: Source, at: Element, quiet: Quiet) -> None:
    for child in at.children:
        if child.dropped or child.tag in quiet.tags or f"{at.tag}/{child.tag}" in quiet.tags:
            continue
        if not (child.visited or child.given.asked):
            moves = _moves(quiet, at, child.tag)
            source.leave(child, str(at), f"<{child.tag}> has no counterpart", moves=moves)
            continue
        _attributes(source, child, quiet)
        _below(source, child, quiet)


def _attributes(source: Source, at: Element, quiet: Quiet) -> None:
    silent = (*_EVERYWHERE, *quiet.attributes, *quiet.of.get(at.tag, ()))
    for key, value in at.given.items():
        if key not in at.given.asked and key.partition(":")[0] not in silent:
            source.leave(at, str(at), f"{key} is not used", value, at.tag in quiet.moving)
    if at.text.strip() and not at.spoken:
        source.leave(at, str(at), "its text is not used", at.text.strip(), at.tag in quiet.moving)


def _moves(quiet: Quiet, parent: Element, tag: str) -> bool:
    return parent.tag in quiet.moving and tag not in quiet.still and ":" not in tag
