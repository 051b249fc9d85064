"""The dca formulation: divide and conquer with augmented Lagrangian and mass-orthogonal projections.

P. Malczyk, J. Fraczek, Nonlinear Dynamics 70 (2012) 871; see docs/theory/dca.md.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from typing import Any

from bellcrank import _core
from bellcrank.accuracy import Accuracy
from bellcrank.compile.model import Model
from bellcrank.formulations.contract import ALL, options_of, whole
from bellcrank.formulations.system import System, SystemStatistics

NAME = "dca"
CUSTOM = ALL


@dataclass(frozen=True)
class DcaStatistics(SystemStatistics):
    """Statistics of a system: computations so far, the tree, and the iterations.

    plan: of the tree, the joins ("nodes"), their greatest depth, the roots ("components"), the most joints by
        which a subassembly hangs together with the rest ("most_ends"), the unknowns of the largest join
        ("widest"), bodies with so many joints that their motion is an unknown ("hubs"), and subtrees that
        threads may take ("tasks").
    iterations: by level (positions, velocities, accelerations), {iterations: how often}; counts has them, as
        "accelerations in 2 iterations" and the like.
    """

    plan: dict[str, int] = field(default_factory=dict)
    iterations: dict[str, dict[int, int]] = field(default_factory=dict)


class DcaSystem(System):
    """A model prepared for `dca`; its `stats` describe the tree and the iterations as well."""

    @property
    def stats(self) -> DcaStatistics:
        """What the system has computed so far, with the redundant rows by name."""
        levels = zip(("positions", "velocities", "accelerations"), self.core.iterations(), strict=True)
        iterations = {level: {i: n for i, n in enumerate(counts) if n} for level, counts in levels}
        shared = vars(super().stats)
        shared["counts"] |= {
            f"{level} in {i} iterations": n for level, counts in iterations.items() for i, n in counts.items()
        }
        return DcaStatistics(**shared, plan=self.core.plan(), iterations=iterations)

    def accuracy(self) -> Accuracy:
        """What double precision, and iterations that were cut short, leave open; see `System.accuracy`."""
        most, counts = self.options["max_iterations"], self.core.iterations()[2]
        cut_short = counts[most] if most < len(counts) else 0
        return replace(super().accuracy(), cut_short=cut_short, max_iterations=most)

    @property
    def loses_digits(self) -> bool:
        """Without projections, accelerations compensate for constraint errors and cannot be compared."""
        return bool(self.options["projections"])


OPTIONS = options_of(__name__, _core.DcaOptions.fields())
SYSTEM = DcaSystem
reduced = whole


def refusals(_model: Model) -> list[str]:
    """The reasons why the formulation cannot take a model: there are none."""
    return []


def create(model: Model, options: Any) -> _core.Dca:
    """The core's system of a model. Formulas run in the interpreter until their native code is ready."""
    if model.core.programs:
        from bellcrank.expression.native import attach_soon

        attach_soon(model.core.programs)
    return _core.Dca(model.core, _core.DcaOptions(**asdict(options)))
