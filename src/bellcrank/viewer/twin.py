"""The twin of a mechanism that a live session simulates: with hands on bodies, and with bodies pinned."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from bellcrank.analysis.leads import Lead
from bellcrank.analysis.start_values import hold_values_of
from bellcrank.assembly.compile import compile_mechanism
from bellcrank.assembly.initial import assembled
from bellcrank.assembly.model import Model
from bellcrank.assembly.state import State
from bellcrank.mechanism.joint_kinds import Fixed
from bellcrank.mechanism.marker import GROUND, Marker
from bellcrank.mechanism.mechanism import Mechanism
from bellcrank.viewer.hand import Hand
from bellcrank.viewer.names import known


@dataclass(frozen=True)
class Twin:
    """A mechanism, hands on some of its bodies by name, and others that are pinned.

    base: what springs take from the initial configuration is written into it.
    pins: by name of the body, where its frame is held on the ground.
    leads: coordinates that are led by hand; the drives of the mechanism are left out then.
    """

    base: Mechanism
    hands: Mapping[str, Hand] = field(default_factory=dict)
    pins: Mapping[str, Marker] = field(default_factory=dict)
    leads: tuple[Lead, ...] = ()

    @staticmethod
    def of(mechanism: Mechanism, start: float = 0.0) -> tuple[Twin, Model]:
        """The twin of a mechanism, nothing held yet, and its assembled model. Raises as `bc.assemble`."""
        model, _ = assembled(compile_mechanism(mechanism, start))
        base = mechanism.copy()
        hold_values_of(base, model)
        return Twin(base), model

    def with_hand(self, body: str) -> Twin:
        """With a hand on a body. Raises MechanismError for a body that there is not."""
        known("body", body, self.base.bodies)
        if body in self.hands:
            return self
        return replace(self, hands={**self.hands, body: Hand(body, len(self.hands) + 1)})

    def with_pin(self, body: str, state: State, number: int) -> Twin:
        """With a body pinned where it is at a state; number: its place there."""
        known("body", body, self.base.bodies)
        place = Marker(GROUND, state.position[number].tolist(), state.rotation[number].tolist())
        return replace(self, pins={**self.pins, body: place})

    def without_pin(self, body: str) -> Twin:
        """With a body released."""
        return replace(self, pins={name: place for name, place in self.pins.items() if name != body})

    def with_parameters(self, values: Mapping[str, float]) -> Twin:
        """With other values of parameters. Raises MechanismError as `Mechanism.with_parameters`."""
        return replace(self, base=self.base.with_parameters(**values))

    def model(self, state: State) -> Model:
        """The twin compiled, from a state on."""
        return self._compiled.started(state)

    @cached_property
    def _compiled(self) -> Model:
        return compile_mechanism(self.mechanism())

    def mechanism(self) -> Mechanism:
        """The mechanism with its hands and pins."""
        copy = self.base.copy()
        for drive in list(copy.drives.values()) if self.leads else ():
            copy.remove(drive)
        for lead in self.leads:
            lead.add_to(copy)
        for hand in self.hands.values():
            hand.add_to(copy)
        for body, place in self.pins.items():
            copy.add_joint(f"pin of {body}", Fixed(), place, copy.bodies[body])
        return copy
