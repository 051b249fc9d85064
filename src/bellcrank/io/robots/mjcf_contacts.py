"""MJCF contacts: what geoms collide, and how they rub, by MuJoCo's rules."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from bellcrank.errors import Fault
from bellcrank.io.robots.builder import Builder
from bellcrank.io.robots.mjcf_document import Document
from bellcrank.io.robots.skeleton import GROUND, element_name
from bellcrank.io.robots.xml_tree import Element
from bellcrank.mechanism.collisions import Collisions, Surface

_FRICTION: Final = 1.0
_RUBBING: Final = 3  # contacts of this many dimensions have friction, those of more resist spinning, too
_WORLD: Final = "world"
_UNLIKE: Final = {
    "margin": "a geom touches where it is, not at its margin",
    "gap": "a geom touches where it is, not at its margin",
    "solref": "contacts are given by stiffness and restitution: solref and solimp are not taken",
    "solimp": "contacts are given by stiffness and restitution: solref and solimp are not taken",
    "condim": "contacts do not resist rolling and spinning as condim says",
    "mesh": "a mesh collides as it is, not as its convex hull",
}


@dataclass
class Contacts:
    """The contacts of a document. unlike: geoms by what their contacts have in the file alone."""

    document: Document
    paired: dict[frozenset[str], Element] = field(init=False)
    disabled: bool = field(init=False)
    unlike: dict[str, list[Element]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        document = self.document
        pairs = [at for at in document.items("contact") if at.tag == "pair"]
        self.paired = {frozenset((at.get("geom1"), at.get("geom2"))): at for at in pairs}
        self._named = {name for names in self.paired for name in names}
        flags = [flag for at in document.all("option") for flag in at.all("flag")]
        self.disabled = any("disable" in (one.get("contact"), one.get("constraint")) for one in flags)
        self._parents = any(flag.get("filterparent") == "disable" for flag in flags)

    def surface(self, at: Element, link: str) -> Surface | None:
        """The surface of a geom that was read; None if it does not collide."""
        given = at.given
        number = self.document.number
        kinds, meets = (int(number(at, given, key, 1.0)) for key in ("contype", "conaffinity"))
        name = at.name if at.name in self._named else ""
        if self.disabled or not (kinds or meets or name):
            return None
        dimensions = self._note(at, given)
        return Surface(
            "",
            link,
            kinds,
            meets,
            friction=number(at, given, "friction", _FRICTION),
            rubs=dimensions >= _RUBBING,
            priority=int(number(at, given, "priority", 0.0)),
            name=name,
        )

    def _note(self, at: Element, given: Mapping[str, str]) -> int:
        """Note what has no counterpart; the dimensions of an element's contacts."""
        dimensions = int(self.document.number(at, given, "condim", float(_RUBBING)))
        has = {key: key in given for key in ("solref", "solimp", "mesh")}
        has |= {key: self.document.number(at, given, key) != 0.0 for key in ("margin", "gap")}
        for key, rule in _UNLIKE.items():
            if has.get(key, dimensions > _RUBBING):
                self.unlike.setdefault(rule, []).append(at)
        return dimensions

    def add(self, builder: Builder) -> None:
        """Add what collides to the mechanism that was built."""
        if self.disabled:
            builder.collide(Collisions(()))
            return
        builder.collide(
            Collisions(
                tuple(builder.surfaces),
                frozenset() if self._parents else builder.neighbours,
                self._excluded(builder),
                joined=True,
                paired=tuple(self._pairs({one.name for one in builder.surfaces})),
                unlike=tuple(
                    Fault(str(found[0]), f"{rule} (so in {len(found)} elements)", location=found[0].location)
                    for rule, found in self.unlike.items()
                ),
            )
        )

    def _pairs(self, known: Collection[str]) -> Iterator[tuple[frozenset[str], float | None]]:
        """Pairs of named surfaces that collide, and their friction if it is stated."""
        document = self.document
        for pair, at in self.paired.items():
            given = document.attributes(at)
            dimensions = self._note(at, given)
            rubs = document.source.numbers(at, "friction", given.get("friction"), 1, 5)
            friction = None if rubs is None else rubs[0]
            if "condim" in given and dimensions < _RUBBING:
                friction = 0.0
            if pair <= set(known):
                yield pair, friction
            else:
                document.source.leave(at, str(at), "it names a geom that is not there", sorted(pair))

    def _excluded(self, builder: Builder) -> frozenset[frozenset[str]]:
        found = []
        for at in self.document.items("contact"):
            if at.tag == "exclude":
                names = [at.get(key) for key in ("body1", "body2")]
                pair = frozenset(GROUND if one == _WORLD else element_name(one or "?") for one in names)
                found.append(pair)
                if not pair <= set(builder.skeleton.links):
                    self.document.source.leave(at, str(at), "it names a body that is not there", names)
            elif at.tag != "pair":
                self.document.source.drop(at, str(at), "it has no place among contacts")
        return frozenset(found)
