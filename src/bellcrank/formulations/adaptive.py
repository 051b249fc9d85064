"""The adaptive formulation: quasi-statics along an assembly tree, error-bounded where it moves.

S. Redon and M. Lin, An Efficient, Error-Bounded Approximation Algorithm for Simulating Quasi-Statics of
Complex Linkages (2005); see docs/theory/adaptive.md. At a state it answers exact accelerations at rest.
"""

from __future__ import annotations

from dataclasses import dataclass

from bellcrank import _core
from bellcrank.assembly.model import Model
from bellcrank.formulations.contract import whole
from bellcrank.formulations.options import ALL
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
    return [*_core.Adaptive.refusals(model.core), *contacts]


def create(model: Model, _options: OPTIONS) -> _core.Adaptive:
    """The core's system of a model."""
    return _core.Adaptive(model.core)
