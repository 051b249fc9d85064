"""What the file of a robot says of contacts: which surfaces of bodies collide, and how they rub."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Final

from bellcrank.errors import Fault

NOTE: Final = "bodies pass through each other until contacts_from_file() adds the contacts that it states"
"""The rule of the fault that stands in `left_out` as long as contacts are not added."""
_LISTED: Final = 5  # pairs of bodies that are named


@dataclass(frozen=True)
class Surface:
    """Shapes of a body that collide alike.

    body: its name in the mechanism; link: in the file. kinds, meets: bits; two surfaces collide if one has a
    kind that the other meets. family: surfaces of one family do not collide with each other; "" is none.
    friction: None where the file states none. rubs: whether it rubs on others that do not.
    priority: of two surfaces that with the higher one decides alone how they rub.
    name: of a surface that the file pairs with others.
    """

    body: str
    link: str
    kinds: int = 1
    meets: int = 1
    family: str = ""
    friction: float | None = None
    rubs: bool = True
    priority: int = 0
    name: str = ""

    def collides(self, other: Surface) -> bool:
        """Whether two surfaces collide by their bits and families."""
        if self.family and self.family == other.family:
            return False
        return bool(self.kinds & other.meets or other.kinds & self.meets)


@dataclass(frozen=True)
class Collisions:
    """The surfaces of a file, and its rules.

    apart: pairs of bodies that do not collide. excluded: pairs of links that do not. joined: whether bodies
    that a joint joins collide if nothing else keeps them apart. paired: friction of pairs of surfaces, by
    names, that collide whatever the other rules say; None for that of the surfaces. least: whether the
    smaller friction of two surfaces counts, not the larger one. unlike: what contacts here do not have.
    """

    surfaces: tuple[Surface, ...]
    apart: frozenset[frozenset[str]] = frozenset()
    excluded: frozenset[frozenset[str]] = frozenset()
    joined: bool = False
    paired: tuple[tuple[frozenset[str], float | None], ...] = ()
    least: bool = False
    unlike: tuple[Fault, ...] = ()

    def placed(self, body: Callable[[str], str]) -> Collisions:
        """The same for bodies that have other names."""
        return replace(
            self,
            surfaces=tuple(replace(surface, body=body(surface.body)) for surface in self.surfaces),
            apart=frozenset(frozenset(map(body, pair)) for pair in self.apart),
        )

    def pairs(self, bodies: Iterable[str]) -> tuple[dict[tuple[str, str], float | None], list[Fault]]:
        """Friction of each pair of these bodies that collides, and what cannot be as in the file."""
        of: dict[str, list[Surface]] = {body: [] for body in bodies}
        for surface in dict.fromkeys(self.surfaces):
            if surface.body in of:
                of[surface.body].append(surface)
        paired = dict(self.paired)
        found: dict[tuple[str, str], float | None] = {}
        partial: list[tuple[str, str]] = []
        uneven: list[tuple[str, str]] = []
        for pair in combinations([body for body, surfaces in of.items() if surfaces], 2):
            rubs = [self._friction(a, b, paired, frozenset(pair)) for a in of[pair[0]] for b in of[pair[1]]]
            colliding = [one for one in rubs if one is not False]
            if not colliding:
                continue
            found[pair] = max(colliding, key=lambda one: one or 0.0)
            if len(colliding) < len(rubs):
                partial.append(pair)
            if len(set(colliding)) > 1:
                uneven.append(pair)
        faults = _listed("only some of their shapes collide in the file, here all do", partial)
        return found, faults + _listed("their shapes rub unevenly in the file, here by the largest", uneven)

    def _friction(
        self, a: Surface, b: Surface, paired: Mapping[frozenset[str], float | None], bodies: frozenset[str]
    ) -> float | bool | None:
        """The friction of two surfaces; False if they do not collide."""
        names = frozenset((a.name, b.name))
        if a.name and b.name and names in paired:
            given = paired[names]
            return self._rubbing(a, b) if given is None else given
        if bodies in self.apart or frozenset((a.link, b.link)) in self.excluded or not a.collides(b):
            return False
        return self._rubbing(a, b)

    def _rubbing(self, a: Surface, b: Surface) -> float | None:
        if a.priority != b.priority:
            decides = a if a.priority > b.priority else b
            return decides.friction if decides.rubs else 0.0
        if not (a.rubs or b.rubs):
            return 0.0
        known = [one.friction for one in (a, b) if one.friction is not None]
        return (min if self.least else max)(known) if known else None


def _listed(rule: str, pairs: list[tuple[str, str]]) -> list[Fault]:
    if not pairs:
        return []
    more = f" and {len(pairs) - _LISTED} more pairs" if len(pairs) > _LISTED else ""
    named = ", ".join(f"{one!r} and {two!r}" for one, two in pairs[:_LISTED])
    return [Fault("contacts", f"{rule}: {named}{more}")]
