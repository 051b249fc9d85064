"""Common parts of formulations in joint coordinates: options, and the closing rows of their trees."""

from __future__ import annotations

from dataclasses import asdict
from functools import cached_property
from typing import Any

from bellcrank import _core
from bellcrank.compile.model import Model
from bellcrank.formulations.cuts import cut_blocks, cut_joints
from bellcrank.formulations.options import option, options_of
from bellcrank.formulations.system import System

OPTIONS = options_of(
    "JointSystemOptions",
    _core.JointSystemOptions.fields(),
    cut=option((), "Joints at which loops are cut, by name; the other cuts are chosen."),
)


def for_core(model: Model, formulation: str, options: Any) -> _core.JointSystemOptions:
    """The options as the core takes them. Raises MechanismError for joints that cannot be cut."""
    return _core.JointSystemOptions(**{**asdict(options), "cut": cut_blocks(model, formulation, options.cut)})


class JointSystem(System):
    """A model prepared for a formulation in joint coordinates."""

    @property
    def loses_digits(self) -> bool:
        """Sums over the mechanism hide light bodies."""
        return True

    @property
    def closing_rows(self) -> tuple[str, ...]:
        """The rows enforced by multipliers; all others are satisfied by the choice of coordinates."""
        return tuple(self.model.row_text(row) for row in self.core.closing_rows())

    @cached_property
    def cut_joints(self) -> tuple[str, ...]:
        """The joints left out of the tree: the cuts of loops, and joints that cannot carry a body."""
        return cut_joints(self.model, self.core.closing_rows())
