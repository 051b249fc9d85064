"""Hints on a mechanism that is valid and perhaps not what was meant; `info` and runs show them."""

from __future__ import annotations

from typing import Final

import numpy as np

from bellcrank.compile.flexible_watch import spin_hints, strain_hints
from bellcrank.compile.model import Model
from bellcrank.compile.report import AssemblyReport, BodyMove
from bellcrank.mechanism.contents import with_numbers
from bellcrank.mechanism.plausibility import implausible

_FAR: Final = 0.1  # of the mechanism's size
_TURNED: Final = np.pi / 6.0  # rad
_NAMED: Final = 4  # bodies


def hints(model: Model, report: AssemblyReport | None = None) -> tuple[str, ...]:
    """On values that are hardly meant, and on what assembly has moved far or strained.

    report: of the assembly, where nothing else shows it.
    """
    values = () if model.source is None else implausible(with_numbers(model.source))
    moved = "" if report is None else moved_far(model, report)
    strained = () if report is None else strain_hints(model, report)
    return (*values, *spin_hints(model), *strained, *([moved] if moved else []))


def moved_far(model: Model, report: AssemblyReport) -> str:
    """The bodies that assembly has moved far from where they are described; empty if there are none.

    What given positions of joints, or drives, have moved was meant to move.
    """
    if model.given.positions or model.given.guesses or model.drives or report.error_before < 1e-6:
        return ""
    far = [move for move in report.moves if _is_far(move, model.size(model.initial))]
    if not far:
        return ""
    named = [f"{m.body!r} by {m.distance:.3g} m and {np.degrees(m.angle):.3g}°" for m in far[:_NAMED]]
    more = f" and {len(far) - _NAMED} more" if len(far) > _NAMED else ""
    return (
        f"as described the joints did not fit (largest error {report.error_before:.3g}), and assembly moved "
        f"{', '.join(named)}{more}: look at mech.draw(), check markers and positions, "
        "or store the pose by bc.assemble(mech)"
    )


def _is_far(move: BodyMove, size: float) -> bool:
    return move.distance > _FAR * size or move.angle > _TURNED
