"""The adaptive formulation: trees of joints along an assembly tree, with an error that is known as they move.

S. Redon and M. Lin, An Efficient, Error-Bounded Approximation Algorithm for Simulating Quasi-Statics of
Complex Linkages (2005); see docs/theory/adaptive.md and adaptive_dynamics.md. At a state it answers exact
accelerations; its runs compute those that matter (run/adaptive.py, run/quasistatic.py).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from bellcrank import _core
from bellcrank.compile.model import Model
from bellcrank.formulations.contract import ALL, whole
from bellcrank.formulations.system import System

NAME = "adaptive"
CUSTOM = ALL
SYSTEM = System
reduced = whole


@dataclass(frozen=True)
class OPTIONS:
    """There are none."""


def refusals(model: Model) -> list[str]:
    """The reasons why the formulation cannot take a model."""
    contacts = [f"it computes no contact (force {contact.name!r})" for contact in model.contacts]
    return [*named(model, _core.Adaptive.refusals(model.core)), *contacts]


def named(model: Model, obstacles: Iterable[tuple[str, str, int]]) -> list[str]:
    """Reasons with the elements that each is about: "it takes no stops: joint 'pivot'".

    obstacles: of the core: why; "row", "block", "law", "formula_force" or "model"; its number.
    """
    elements: dict[str, dict[str, None]] = {}
    for why, kind, number in obstacles:
        if kind == "row" and number in model.friction_rows.values():  # it would hold as a stop does
            why = "it takes no friction that holds"
        elements.setdefault(why, {}).update(dict.fromkeys(_elements(model, kind, number)))
    return [f"{why}: {', '.join(found)}" if found else why for why, found in elements.items()]


def _elements(model: Model, kind: str, number: int) -> list[str]:
    if kind == "row":
        kind, number = "block", int(model.row_block[number])
    if kind == "block" and number >= 0:
        return [model.block_owner[number]]
    if kind == "law":
        return [f"force {force.name!r}" for force in model.forces if number in force.laws]
    if kind == "formula_force":
        return [str(record) for record in model.custom if record.category == "force"]
    return []


def create(model: Model, _options: OPTIONS) -> _core.Adaptive:
    """The core's system of a model."""
    return _core.Adaptive(model.core)
