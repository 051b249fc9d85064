"""The scene of a session with adaptive dynamics: a tree, whose frames tell what moved alone.

Large mechanisms are drawn as balls at the centres of mass, joined by lines: a mesh for each of fifty thousand
bodies would take a browser minutes. web/src/protocol.ts says the same of the other side.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final

import numpy as np

from bellcrank.compile.model import Model
from bellcrank.compile.state import Floats, Ints
from bellcrank.mechanism.mechanism import Mechanism
from bellcrank.scene import Scene
from bellcrank.scene import of as scene_of
from bellcrank.viewer.adaptive_engine import SERIES, apart
from bellcrank.viewer.page.picture import Picture

CROWD: Final = 1000
"""Bodies, of more than which a mechanism is drawn as balls."""
_APART: Final = 0.35  # of the usual distance between balls, their radius


def drawn(mechanism: Mechanism, adaptive: bool) -> Scene:
    """The scene of a mechanism; of a crowd that is simulated adaptively, without pieces."""
    if not adaptive or len(mechanism.bodies) <= CROWD:
        return scene_of(mechanism)
    empty = scene_of(Mechanism(mechanism.name, gravity=mechanism.gravity))
    return replace(empty, carriers=(*mechanism.bodies, "ground"))


@dataclass(frozen=True, eq=False)
class TreePicture(Picture):
    """A scene with the tree whose joints move in it. model: of the run; carriers: as of its tree."""

    model: Model | None = None
    carriers: Ints | None = None

    @cached_property
    def signals(self) -> list[dict[str, Any]]:
        """Numbers of the run."""
        rows = [[label, unit, 2 if number < 2 else 1] for number, (label, unit) in enumerate(SERIES)]
        return [{"group": "run", "table": "", "element": "", "signals": rows}]

    @property
    def is_crowd(self) -> bool:
        """Whether its bodies are balls."""
        return not self.scene.pieces and len(self.scene.carriers) - 1 > CROWD

    @cached_property
    def balls(self) -> tuple[Floats, float]:
        """Centres of mass (nb, 3) in the frames of the bodies, m, and the radius of all balls, m."""
        assert self.model is not None
        assert self.carriers is not None
        return self.model.com, _APART * apart(self.model, self.carriers) or 0.01 * self._size()

    def _document(self) -> tuple[dict[str, Any], dict[str, Any]]:
        if not self.is_crowd:
            return super()._document()
        described = self.described
        kinds = {joint.name: {"type": type(joint.kind).__name__} for joint in described.joints.values()}
        light: dict[str, Any] = {"gravity": [*described.gravity], "joints": kinds}
        light["bodies"] = {name: {} for name in described.bodies}
        return light, light

    def _size(self) -> float:
        if not self.is_crowd:
            return super()._size()
        assert self.model is not None
        return float(np.linalg.norm(np.ptp(self.model.initial.position, axis=0))) or 1.0

    def _more(self, at: int) -> tuple[dict[str, Any], list[bytes]]:
        assert self.carriers is not None
        carriers = self.carriers.astype("<i4")
        found: dict[str, Any] = {"carriers": [at, len(carriers)]}
        if not self.is_crowd:
            return {"tree": found}, [carriers.tobytes()]
        centres, radius = self.balls
        found |= {"centres": [at + len(carriers), centres.size], "radius": radius}
        return {"tree": found}, [carriers.tobytes(), np.asarray(centres).astype("<f4").tobytes()]
