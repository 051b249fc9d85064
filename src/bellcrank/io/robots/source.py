"""Common parts of the model readers: numbers from attributes, located faults, and parts left out."""

from __future__ import annotations

import math
import os
from collections.abc import Collection, Iterable
from pathlib import Path

from bellcrank.errors import Fault, FaultList, Location
from bellcrank.io.robots.xml_tree import Element
from bellcrank.mechanism.checking import Vec3
from bellcrank.named_files import confining_folder, is_admitted

_MARKS = ("package.xml", "model.config", ".git", "pyproject.toml")  # files at the top of a tree of files
_UNLIMITED = 1e10
_SCHEMES = ("package://", "model://")


class Source:
    """A file being read: its faults, the parts left out, and the files that it names.

    path: of the file. packages: folders that contain the packages that package:// names, or these themselves.
    density: kg/m^3, of the shapes of links whose masses the file does not state; None leaves these unknown.
    """

    def __init__(self, path: Path, packages: Iterable[Path] = (), density: float | None = None) -> None:
        self.path = path
        self.density = density
        self.packages = [Path(os.path.realpath(folder)) for folder in packages]
        self.faults = FaultList()
        self.left_out: list[Fault] = []
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

    def leave(self, at: Element | None, element: str, rule: str, value: object = None) -> None:
        """Note a part that is not imported."""
        place = Location(str(self.path)) if at is None else at.location
        self.left_out.append(Fault(element, rule, value, location=place))

    def numbers(
        self, at: Element, attribute: str, text: str | None, least: int, most: int | None = None
    ) -> tuple[float, ...] | None:
        """Finite numbers, `least` to `most` (None: as many); None for an empty text or a fault."""
        if text is None:
            return None
        most = least if most is None else most
        try:
            found = tuple(float(word) if "_" not in word else float("x") for word in text.split())
        except ValueError:
            self.fault(at, "must hold numbers", text, of=attribute)
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
        """One number of an attribute; the default if it is missing or a fault."""
        found = self.numbers(at, attribute, at.attributes.get(attribute), 1)
        return default if found is None else found[0]

    def bound(self, at: Element, attribute: str, text: str) -> float | None:
        """A limit; None for an empty text, an infinity, or a number that stands for one."""
        if text.lower().lstrip("+-") in ("", "inf", "infinity"):
            return None
        found = self.numbers(at, attribute, text, 1)
        return None if found is None or abs(found[0]) >= _UNLIMITED else found[0]

    def vector(self, at: Element, attribute: str, default: Vec3 = (0.0, 0.0, 0.0)) -> Vec3:
        """Three numbers of an attribute."""
        found = self.numbers(at, attribute, at.attributes.get(attribute), 3)
        return default if found is None else (found[0], found[1], found[2])

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
        if found not in known:
            self.fault(at, f"must be one of {', '.join(known)}", found, of=attribute)
            return default
        return found

    def file(self, text: str, *bases: Path) -> Path | None:
        """A file that is named in the text, in one of the folders; None if it is missing or out of bounds.

        It must lie in the tree of files to which the model belongs, or in one of the packages: the tree is
        that of the highest folder with a package.xml, model.config, .git or pyproject.toml, else that of the
        folder above the model's. Where reading is confined, it must be admitted as well.
        """
        if not text or "\0" in text:
            return None
        for candidate in self._candidates(text, bases):
            real = Path(os.path.realpath(candidate))
            if self.within(real) and real.is_file():
                return real
        return None

    @property
    def searched(self) -> str:
        """Where files that the model names are looked for, in words."""
        folder = confining_folder()
        return "the model's folders" + ("" if folder is None else f" within {folder!r}")

    def within(self, real: Path) -> bool:
        """Whether a file may be read."""
        return is_admitted(real) and any(real.is_relative_to(folder) for folder in (self.top, *self.packages))

    def _candidates(self, text: str, bases: Iterable[Path]) -> Iterable[Path]:
        for scheme in _SCHEMES:
            if text.startswith(scheme):
                rest = text.removeprefix(scheme).lstrip("/")
                name, _, inner = rest.partition("/")
                for folder in self.packages:
                    yield folder / rest
                    if folder.name == name:
                        yield folder / inner
                for folder in (self.folder, *self.folder.parents):
                    yield folder / rest
                    if folder.name == name:
                        yield folder / inner
                    if folder == self.top:
                        return
                return
        path = Path(text.removeprefix("file://"))
        for base in (*bases, self.folder):
            yield base / path
