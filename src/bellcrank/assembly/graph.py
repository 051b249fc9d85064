"""The graph of a mechanism: bodies are nodes, joints and constraints are edges."""

from __future__ import annotations

from dataclasses import dataclass

from bellcrank import _core
from bellcrank.assembly.model import Model


@dataclass(frozen=True)
class Graph:
    """Components, a spanning forest rooted at the ground where it can be, and the edges that close loops.

    elements: per edge its joint or constraint, with its noun; joints come first, then constraints between two
        bodies. What holds nothing is no edge.
    topology: of these edges between the bodies, the ground coming last.
    component: per body the number of its component. The ground does not connect what is attached to it.
    grounded: per component whether something connects it to the ground.
    couplings: constraints that act on joint coordinates of more than two bodies; they belong to no loop.
    """

    elements: tuple[str, ...]
    topology: _core.Topology
    component: tuple[int, ...]
    grounded: tuple[bool, ...]
    couplings: tuple[str, ...]

    @property
    def closures(self) -> list[int]:
        """The edges that are not in the forest; each closes one loop."""
        return self.topology.closures

    def components(self) -> list[list[int]]:
        """The bodies of each component."""
        groups: list[list[int]] = [[] for _ in self.grounded]
        for body, number in enumerate(self.component):
            groups[number].append(body)
        return groups

    def loop(self, closure: int) -> list[str]:
        """The elements of the loop that an edge of `closures` closes, that edge first, in order."""
        return [self.elements[edge] for edge in self.topology.loop(closure)]


def analyse(model: Model) -> Graph:
    """The graph of a model."""
    touched = [
        (
            f"constraint {record.name!r}",
            sorted({b for block in record.blocks for b in model.core.bodies_of(block)}),
        )
        for record in model.constraints
    ]
    joints = [(f"joint {j.name!r}", list(j.bodies)) for j in model.joints if j.blocks]
    edges = [*joints, *((name, bodies) for name, bodies in touched if len(bodies) == 2)]
    nodes = len(model.bodies) + 1
    component, _, grounded = _core.components(nodes, [bodies for _, bodies in (*joints, *touched)])
    return Graph(
        tuple(name for name, _ in edges),
        _core.Topology(nodes, [(first, second) for _, (first, second) in edges], len(joints)),
        tuple(component[:-1]),
        tuple(map(bool, grounded)),
        tuple(name for name, bodies in touched if len(bodies) > 2),
    )
