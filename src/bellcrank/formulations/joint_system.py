"""Common parts of formulations in joint coordinates: options, and the closing rows of their trees."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from functools import cached_property
from typing import Any

import numpy as np

from bellcrank import _core
from bellcrank.compile.model import JointRecord, Model
from bellcrank.errors import FaultList
from bellcrank.formulations.contract import option, options_of
from bellcrank.formulations.system import System
from bellcrank.mechanism.checking import nearest

OPTIONS = options_of(
    __name__,
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


_NAMED = 4  # bodies named in a message


def cut_blocks(model: Model, formulation: str, names: Iterable[str]) -> list[int]:
    """The blocks of rows of joints that are left out of the tree.

    names: of joints; a text that is not a name may contain several separated by commas.

    Raises MechanismError for names that are not joints, for joints that lock nothing, and for joints
    without which no joint would carry a body; all of them at once.
    """
    faults, element = FaultList(), f"formulation {formulation!r}"
    blocks: list[int] = []
    for name in dict.fromkeys(_single(model, names)):
        if name not in model.joint_index:
            faults.add(element, *_no_joint(model, name))
            continue
        held = rigid_blocks(model, model.joint(name))
        if not held:
            rule = f"cut: joint {name!r} locks nothing, so there is nothing to close"
            faults.add(element, rule, None, f"leave {name!r} out of cut")
        blocks += held
    owners = {block: joint.name for joint in model.joints for block in joint.blocks}
    for bodies, parting in _core.cut_off(model.core, blocks):
        joints = list(dict.fromkeys(owners[block] for block in parting))
        faults.add(element, *_hanging([model.bodies[body] for body in bodies], joints))
    faults.raise_any()
    return blocks


def cut_joints(model: Model, closing_rows: Sequence[int]) -> tuple[str, ...]:
    """The joints whose rows are all enforced by multipliers."""
    if not closing_rows:
        return ()
    sizes = np.diff(model.arrays["block_row_start"])
    closed = np.bincount(model.row_block[list(closing_rows)], minlength=len(sizes)) == sizes
    met = closed.tolist()
    found = []
    for joint in model.joints:
        if any(met[block] for block in joint.blocks):
            blocks = rigid_blocks(model, joint)
            found += [joint.name] if blocks and all(met[block] for block in blocks) else []
    return tuple(found)


def rigid_blocks(model: Model, joint: JointRecord) -> list[int]:
    """The blocks of a joint that are equations, without limits and compliant blocks."""
    return [
        block
        for block in joint.blocks
        if not model.arrays["block_unilateral"][block] and model.arrays["block_compliance"][block] == 0.0
    ]


def _single(model: Model, names: Iterable[str]) -> list[str]:
    found: list[str] = []
    for name in names:
        found += [name] if name in model.joint_index else [part.strip() for part in name.split(",")]
    return [name for name in found if name]


def _no_joint(model: Model, name: str) -> tuple[str, None, str]:
    if any(name == constraint.name for constraint in model.constraints):
        rule = f"cut: constraint {name!r} is no joint; multipliers hold it in any case"
        return rule, None, f"leave {name!r} out of cut"
    return f"cut: there is no joint {name!r}", None, nearest(name, model.joint_index)


def _hanging(bodies: Sequence[str], joints: Sequence[str]) -> tuple[str, None, str]:
    """The rule that a choice of cuts violates, and the advice."""
    shown = ", ".join(map(repr, bodies[:_NAMED]))
    more = f" and {len(bodies) - _NAMED} more" if len(bodies) > _NAMED else ""
    carried = f"no joint would carry {'body' if len(bodies) == 1 else 'bodies'} {shown}{more}"
    if len(joints) == 1:
        rule = f"cut: without joint {joints[0]!r} {carried}"
        return rule, None, f"leave {joints[0]!r} out of cut"
    rule = f"cut: without joints {', '.join(map(repr, joints))} together {carried}"
    return rule, None, "leave one of these joints out of cut"
