"""Changes of a mechanism during a run: elements that let go or take hold, and their conditions."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Final, Self

from bellcrank.expression.parser import RESERVED
from bellcrank.mechanism.attachment import Attached, AttachedKind, End
from bellcrank.mechanism.checking import Check
from bellcrank.mechanism.fields import checked, choice, described, flag, function, quantity
from bellcrank.mechanism.functions.function import OptionalFunctionField
from bellcrank.mechanism.given import FloatField
from bellcrank.mechanism.rows import Lowered

CHANGE_KINDS: dict[str, type[ChangeKind]] = {}
"""Every kind of change by name. All are frozen dataclasses."""

SWITCHED: Final = {"joint": "joints", "constraint": "constraints", "force": "forces", "drive": "drives"}
"""The nouns of elements that let go and take hold, and their tables."""

_OWN: Final = {*RESERVED, "signal", "distance"}
"""Words that stand for no element."""
_WORD = re.compile(r"(?<![\w.])[^\W\d]\w*")


def _names(check: Check, name: str, value: Any) -> tuple[str, ...]:
    listed = (value,) if isinstance(value, str) else tuple(value) if isinstance(value, (tuple, list)) else ()
    if not listed or not all(isinstance(one, str) and one for one in listed):
        check.fault(f"{name} must be the name of an element, or several", value)
        return ()
    if len(set(listed)) < len(listed):
        check.fault(f"{name} lists an element twice", value)
    return listed


def _text(check: Check, name: str, value: Any) -> str | None:
    if value is not None and (not isinstance(value, str) or not value):
        check.fault(f"{name} must be a text", value)
        return None
    return value


def _aliases(check: Check, name: str, value: Any) -> tuple[tuple[str, str], ...]:
    pairs = tuple(value.items()) if isinstance(value, dict) else tuple(map(tuple, value))
    if not all(len(pair) == 2 and all(isinstance(one, str) and one for one in pair) for pair in pairs):
        check.fault(f"{name} must map the words of the condition to names", value)
        return ()
    return pairs


@dataclass(frozen=True, kw_only=True)
class ChangeKind(AttachedKind):
    """Base of the kinds of changes.

    of: the name of the joint, constraint, force (a contact, too) or drive, or several that change together.
    when: the condition: a comparison, or several with and, or, not, of the words that the function of an
        `Event` has, of parameters, of "signal", and of "distance", m, between the markers at the ends if
        there are two. Such as "pin.moment > 40", "t >= 2 or arm > 0.5". It counts from the first moment at
        which it is satisfied, also where it is so from the start.
    signal: what the condition calls "signal", such as an input, or an expression of the time and inputs.
    after: the name of another change, which must have happened since this one last did. Without `when` this
        one happens in the same moment.
    names: for names of elements that are no words: pairs of a word of the condition and a name, or a dict.

    >>> shear = bc.Release(of="hinge", when="hinge.force > 20")
    >>> isinstance(shear, bc.ChangeKind), shear.of
    (True, ('hinge',))
    >>> broken = pendulum.add_change("shear", shear)
    >>> run = bc.simulate(pendulum, 1.0)
    >>> angle = bc.simulate(pendulum.copy(), times=[0, run.events[0].time]).joint("hinge").position[-1, 0]
    >>> print(f"{9.81 * np.hypot(5 / 2 * np.sin(angle), np.cos(angle) / 4):.3f} N")
    20.000 N
    """

    of: tuple[str, ...] | str = checked(_names)
    when: str | None = checked(_text, default=None)
    signal: OptionalFunctionField = function("1", default=None)  # noqa: RUF009  (a declaration)
    after: str | None = checked(_text, default=None)
    names: tuple[tuple[str, str], ...] = checked(_aliases, default=())
    pattern: ClassVar[str] = "|MM"
    ends_text: ClassVar[str] = "nothing, or two markers"

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        CHANGE_KINDS[cls.__name__] = cls

    def _judge(self, check: Check) -> None:
        if self.when is None and self.after is None:
            check.fault("it needs a condition", None, 'give when=, such as "t > 1.5", or after=')

    @property
    def words(self) -> dict[str, str]:
        """The words of the condition that may stand for elements, and the names of these."""
        known = dict(self.names)
        found = (word for word in _WORD.findall(self.when or "") if word not in _OWN)
        return {word: known.get(word, word) for word in found}

    def renamed(self, named: Callable[[str, str], str]) -> Self:
        """The same with other names of elements, which follow from the noun and the present name."""

        def new(name: str) -> str:
            found = (named(noun, name) for noun in (*SWITCHED, "body"))
            return next((other for other in found if other != name), name)

        aliases = {word: new(name) for word, name in self.words.items()}
        return replace(
            self,
            of=tuple(map(new, self.of)),
            after=None if self.after is None else named("change", self.after),
            names=tuple((word, name) for word, name in aliases.items() if word != name),
        )

    def lowered(self, _ends: tuple[End, ...]) -> Lowered:
        """Nothing."""
        return Lowered()


@described
class Release(ChangeKind):
    """Elements let go: a pin shears, a rope is cut, a grip opens.

    A joint that has let go holds nothing, nor do its limits and what acts along its coordinates, which go on
    to be measured. Velocities stay as they are.

    >>> cut = pendulum.add_change("cut", bc.Release(of="hinge", when="hinge < -1.5707963"))
    >>> run = bc.simulate(pendulum, 1.0)
    >>> speed = abs(run.body("rod").com_velocity[-1, 0])    # level: that at which it was let go
    >>> print(f"{speed:.4f} m/s, by energy {np.sqrt(3 * 9.81) / 2:.4f} m/s")
    2.7125 m/s, by energy 2.7125 m/s
    """

    meaning: ClassVar[str] = "Elements let go: a pin shears, a rope is cut, a grip opens."


@described
class Engagement(ChangeKind):
    """Elements take hold: a catch snaps in, a ship docks, a clutch closes.

    Until then they are not there. Velocities become those that they allow by the plastic impulse, at which
    momentum is kept and energy is lost. What an element takes from the configuration at the start, such as
    the length of a spring, it takes from the one at which it engages.

    pose: "taken": a joint holds the pose at which it engages, as if its first marker had been there; its free
        coordinates stay as they are. "fits": it must be assembled there.
    tolerance: m, rad: up to which a pose fits.
    engaged: whether the elements are in force at the start, until a `Release`; then the condition has to fail
        before it counts.

    >>> catch = cube.add_joint("catch", bc.Fixed(), "ground", "cube")
    >>> cube.add_change("snap", bc.Engagement(of="catch", when="cube.x > 1")).kind.of
    ('catch',)
    >>> thrown = cube.replace(cube.bodies["cube"], velocity=(2.0, 0, 0))
    >>> print(bc.simulate(cube, 1.0).body("cube").position[-1].round(6))    # caught at 1 m, after 0.5 s
    [1. 0. 0.]
    """

    pose: str = choice(("taken", "fits"), default="taken")
    tolerance: FloatField = quantity("m or rad", "positive", default=1e-6)
    engaged: bool = flag(default=False)
    meaning: ClassVar[str] = "Elements take hold: a catch snaps in, a ship docks, a clutch closes."


@dataclass(frozen=True)
class Change(Attached):
    """A change of some kind, at the markers that its condition measures.

    >>> cut = pendulum.add_change("cut", bc.Release(of="hinge", when="hinge.force > 20"))
    >>> cut.text
    "'hinge', hinge.force > 20"
    >>> cut.kind.of
    ('hinge',)
    """

    kind: ChangeKind
    category: ClassVar[str] = "change"
    kind_class: ClassVar[type[AttachedKind]] = ChangeKind

    @property
    def text(self) -> str:
        """What it changes and when, in words."""
        after = "" if self.kind.after is None else f"after {self.kind.after!r}"
        when = " and ".join(part for part in (self.kind.when, after) if part)
        return f"{', '.join(map(repr, self.kind.of))}, {when}"

    @property
    def mentions(self) -> tuple[str, ...]:
        """The names that it may refer to, of whatever kind."""
        return (*self.kind.of, *self.kind.words.values())
