"""The recursive formulation: constraint propagation in joint coordinates and local frames, linear in time.

P. Schröder, The Virtual Erector Set, chapters 5.5 to 5.8, after R. Lathrop; see docs/theory/recursive.md.
"""

from __future__ import annotations

from typing import Any

from bellcrank import _core
from bellcrank.compile.model import Model
from bellcrank.formulations import joint_system
from bellcrank.formulations.contract import ALL, whole
from bellcrank.formulations.joint_system import JointSystem, for_core

NAME = "recursive"
CUSTOM = ALL
OPTIONS = joint_system.OPTIONS
SYSTEM = JointSystem
reduced = whole


def refusals(model: Model) -> list[str]:
    """The reasons why the formulation cannot take a model."""
    return list(_core.Recursive.refusals(model.core))


def create(model: Model, options: Any) -> _core.Recursive:
    """The core's system of a model."""
    return _core.Recursive(model.core, for_core(model, NAME, options))
