"""Gain and bias of MJCF actuators, through the default classes that their shortcuts share.

All kinds of actuators of a class share one state, to which <general> and the shortcuts are applied in the
order of the file. A shortcut of another kind than the one that the state is of starts from the nearest
enclosing class whose state is of its kind, or of none, and has such a gain.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from bellcrank.io.robots.mjcf_document import Document
from bellcrank.io.robots.xml_tree import Attributes, Element

_SERVOS: Final = ("position", "intvelocity")


@dataclass
class Law:
    """Gain and bias: three coefficients each. kind: the shortcut. strange: why it is not taken."""

    gain: tuple[float, float, float] = (1.0, 0.0, 0.0)
    bias: tuple[float, float, float] = (0.0, 0.0, 0.0)
    gaintype: str = "fixed"
    biastype: str = "none"
    dynamics: str = "none"
    time: float = 0.0
    """Of a filter, s."""
    inherited: float = 0.0
    """How much of the range of what it acts on its input has."""
    kind: str = ""
    strange: str = ""

    @property
    def servo(self) -> bool:
        """Whether its input is a wish for what the actuator acts on."""
        return (self.gaintype, self.biastype) == ("fixed", "affine") and self.gain[0] == -self.bias[1]

    def begins(self, tag: str) -> bool:
        """Whether a shortcut takes its numbers."""
        return self.kind in ("", "general", tag) and (self.gaintype == "fixed") == (tag != "damper")


def law_of(
    document: Document, at: Element, classes: Iterable[Iterable[tuple[str, Mapping[str, str]]]]
) -> Law:
    """The law of an actuator. classes: what its default classes say, the outermost first."""
    own = [(at.tag, at.attributes)]
    levels = [Law()]
    for settings in (*classes, own):
        law = replace(levels[-1])
        for tag, given in settings:
            asked = Attributes(given, at.attributes.asked)
            if tag == "general":
                _general(document, at, asked, law)
                continue
            if not law.begins(tag):
                law = replace(next((one for one in reversed(levels) if one.begins(tag)), Law()))
            _shortcut(document, at, tag, asked, law)
        levels.append(law)
    found = levels[-1]
    for key, value, known in (
        ("gaintype", found.gaintype, ("fixed", "affine")),
        ("biastype", found.biastype, ("none", "affine")),
    ):
        if value not in known:
            found.strange = f"an actuator with {key} {value!r} is not taken"
    if found.gaintype == "fixed":
        found.gain = (found.gain[0], 0.0, 0.0)
    if found.biastype == "none":
        found.bias = (0.0, 0.0, 0.0)
    elif found.bias[2] > 0.0 and found.gain[0] == -found.bias[1]:
        found.strange = "its dampratio is not taken: give kv"  # as MuJoCo stores it
    return found


def _general(document: Document, at: Element, given: Mapping[str, str], law: Law) -> None:
    law.kind, law.strange = "general", ""
    law.gaintype, law.biastype = given.get("gaintype", law.gaintype), given.get("biastype", law.biastype)
    law.gain = _three(document, at, given, "gainprm", law.gain)
    law.bias = _three(document, at, given, "biasprm", law.bias)
    law.dynamics = given.get("dyntype", law.dynamics)


def _shortcut(document: Document, at: Element, tag: str, given: Mapping[str, str], law: Law) -> None:
    """What a shortcut makes of a law; numbers that it does not give are those of the law."""
    law.kind, law.strange, law.dynamics = tag, "", "none"
    law.time = document.number(at, given, "timeconst", law.time) if tag == "position" else 0.0
    law.gaintype = "affine" if tag == "damper" else "fixed"
    law.biastype = "affine" if tag in (*_SERVOS, "velocity") else "none"
    if tag in _SERVOS:
        kp, kv = (
            document.number(at, given, key, known)
            for key, known in (("kp", law.gain[0]), ("kv", -law.bias[2]))
        )
        kv = -document.number(at, given, "dampratio", -kv)
        own = given.get("ctrlrange" if tag == "position" else "actrange") is not None
        law.inherited = document.number(at, given, "inheritrange", 0.0 if own else law.inherited)
        law.gain, law.bias = (kp, 0.0, 0.0), (0.0, -kp, -kv)
        law.dynamics = "integrator" if tag == "intvelocity" else "filter" if law.time else "none"
    elif tag == "velocity":
        kv = document.number(at, given, "kv", law.gain[0])
        law.gain, law.bias = (kv, 0.0, 0.0), (0.0, 0.0, -kv)
    elif tag == "damper":
        kv = document.number(at, given, "kv", -law.gain[2])
        law.gain, law.bias = (0.0, 0.0, -kv), (0.0, 0.0, 0.0)
    elif tag == "motor":
        law.gain, law.bias = (1.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    elif tag == at.tag:
        law.strange = f"an actuator of kind <{tag}> is not taken"


def _three(
    document: Document, at: Element, given: Mapping[str, str], name: str, known: tuple[float, float, float]
) -> tuple[float, float, float]:
    found = document.source.numbers(at, name, given.get(name), 1, 10)
    if found is None:
        return known
    a, b, c = (*found[:3], *known[len(found[:3]) :])
    return a, b, c
