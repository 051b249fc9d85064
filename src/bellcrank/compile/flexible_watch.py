"""What reduced solids assume: that they are strained little, and spin too slowly to be stiffened by it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from bellcrank.compile.model import Model
from bellcrank.compile.report import AssemblyReport
from bellcrank.compile.state import Floats
from bellcrank.mechanism.contents import with_numbers
from bellcrank.mechanism.flexible import FlexibleInterface
from bellcrank.mechanism.marker import Marker
from bellcrank.mechanism.rotation import rotate

_MOST: Final = 1.0 / 3.0  # of the lowest frequency of the free solid: then modes are off by a fifth
_HINTED: Final = 0.1  # of it: by a fiftieth
_FITTED: Final = 1e-6  # errors of joints that are none
_STRAINED: Final = 1e-3  # of the mechanism's size: by less loads strain a solid, too


def watched_solids(model: Model, spins: slice) -> Iterator[SolidWatch]:
    """The flexible solids of a model. spins: columns of the angular velocities of bodies in a frame."""
    for name, lowest in _lowest(model).items():
        yield SolidWatch(name, lowest, spins, model.body_index[name])


def spin_hints(model: Model) -> tuple[str, ...]:
    """Hints on flexible solids that spin fast enough at the start for their frequencies to be off."""
    found = []
    for name, lowest in _lowest(model).items():
        spin = float(np.linalg.norm(model.initial.angular_velocity[model.body_index[name]]))
        if spin > _HINTED * lowest:
            off = 3.0 * (spin / lowest) ** 2
            found.append(
                f"flexible solid {name!r}: it spins with {spin:.4g} rad/s, {spin / lowest:.2g} of its lowest "
                f"frequency, {lowest:.4g} rad/s, so that frequencies of its modes are too low by about "
                f"{100.0 * off:.2g} %; cut it into several solids along its length"
            )
    return tuple(found)


def strain_hints(model: Model, report: AssemblyReport) -> tuple[str, ...]:
    """Hints on flexible solids that assembly has strained by more than loads do, as joints amiss do."""
    if model.source is None or report.error_before < _FITTED:
        return ()
    numbers, worst = with_numbers(model.source), dict[str, tuple[float, str]]()
    for one in numbers.constraints.values():
        if not isinstance(one.kind, FlexibleInterface):
            continue
        body, interface = one.markers[:2]
        if not {body.body, interface.body} <= model.body_index.keys():
            continue
        place, there = (_place(model, marker) for marker in (body, interface))
        apart = float(np.linalg.norm(there - place))
        worst[body.body] = max(worst.get(body.body, (0.0, "")), (apart, interface.body))
    return tuple(
        f"flexible solid {name!r}: as described its joints did not fit, and assembly strained it: "
        f"{interface!r} is {apart:.3g} m from where it is without loads; look where its interfaces are held"
        for name, (apart, interface) in worst.items()
        if apart > _STRAINED * model.size(model.initial)
    )


def _place(model: Model, marker: Marker) -> Floats:
    """Of a marker at the start, in the world."""
    number = model.body_index[marker.body]
    turned = rotate(tuple(model.initial.rotation[number].tolist()), marker.position)
    return np.asarray(model.initial.position[number] + turned)


def _lowest(model: Model) -> dict[str, float]:
    """The lowest frequency, rad/s, of each free solid, by the name of the body of its mean motion."""
    if model.source is None:
        return {}
    held = [one for one in model.source.constraints.values() if isinstance(one.kind, FlexibleInterface)]
    if not held:
        return {}
    numbers, found = with_numbers(model.source), dict[str, float]()
    for one in held:
        body = one.markers[0].body
        if body not in model.body_index:
            continue
        for end in one.joint_coordinates:
            spring: Any = numbers.forces.get(end.joint)
            stiffness = float(getattr(spring and spring.kind, "stiffness", 0.0))
            inertia = float(numbers.bodies[numbers.joints[end.joint].marker_2.body].inertia[2][2])
            if stiffness > 0.0 and inertia > 0.0:
                found[body] = min(found.get(body, np.inf), float(np.sqrt(stiffness / inertia)))
    return found


class SolidWatch:
    """Whether a solid spins slowly enough for its modes to mean something; message: what to do if not."""

    def __init__(self, name: str, lowest: float, spins: slice, body: int) -> None:
        self.message = ""
        self._name, self._lowest, self._spins, self._body = name, lowest, spins, body

    def first_bad(self, frames: Floats) -> int | None:
        """The number of the first frame in which it spins too fast."""
        if not len(frames):
            return None
        found = frames[:, self._spins].reshape(len(frames), -1, 3)[:, self._body]
        spins = np.linalg.norm(found, axis=1)
        bad = np.flatnonzero(spins > _MOST * self._lowest)
        if not bad.size:
            return None
        self.message = (
            f"flexible solid {self._name!r}: it spins with {spins[bad[0]]:.4g} rad/s, more than a third of "
            f"its lowest frequency, {self._lowest:.4g} rad/s; such a spin stiffens it, which the modes of "
            "one solid do not show: cut it into several solids along its length"
        )
        return int(bad[0])
