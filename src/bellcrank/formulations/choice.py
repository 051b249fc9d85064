"""The choice of a formulation by "auto", and why (docs/decisions/0015-choosing.md)."""

from __future__ import annotations

from typing import Final

from bellcrank.compile.model import Model

_SMALL: Final = 20  # bodies up to which a recursion is faster, on trees of hinges and slides


def choice(model: Model) -> tuple[str, str]:
    """The formulation for a model, and the reason, without regard to options.

    On small trees of joints with one degree of freedom each `recursive` is up to twice as fast as `lagrange`,
    elsewhere `lagrange` is up to nine times as fast; `symbolic` has to derive its equations first.
    """
    against = _against_recursion(model)
    if against:
        return "lagrange", against
    joints = sum(bool(joint.blocks) for joint in model.joints)
    tree = f"a tree of {_count(joints, 'joint')} with one degree of freedom each"
    free = len(model.bodies) - joints
    return "recursive", f"{tree}, {free} of its bodies free" if free else tree


def _against_recursion(model: Model) -> str:
    """The reasons against the recursion; empty if it is faster."""
    if len(model.bodies) > _SMALL:
        return f"more than {_SMALL} bodies"
    loops, couplings = len(model.graph.closures), len(model.graph.couplings)
    if loops:
        return _count(loops, "closed loop")
    if couplings:
        return f"a tree with {_count(couplings, 'constraint')} between its joints"
    if model.constraints:
        return f"a tree with {_count(len(model.constraints), 'constraint')}"
    if model.arrays["block_compliance"].any():
        return "a tree with rotors of geared motors"
    held = [joint for joint in model.joints if joint.blocks]
    for joint in held:
        if len(joint.coordinates) != 1:
            return f"a tree whose joint {joint.name!r} has not one degree of freedom"
    return "" if held else "bodies without joints"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'s' * (number != 1)}"
