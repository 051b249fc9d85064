"""The dca formulation: divide and conquer with augmented Lagrangian and mass-orthogonal projections.

P. Malczyk, J. Fraczek, Nonlinear Dynamics 70 (2012) 871; see docs/theory/dca.md.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace

from bellcrank import _core
from bellcrank.accuracy import Accuracy
from bellcrank.compile.model import Model
from bellcrank.formulations.contract import whole
from bellcrank.formulations.options import ALL, option
from bellcrank.formulations.system import System, SystemStatistics

NAME = "dca"
CUSTOM = ALL


@dataclass(frozen=True)
class DcaOptions:
    """Options of the dca formulation; the metadata of each field hold its meaning and unit."""

    penalty: float = option(1e10, "Penalty of the augmented rule, in parts of the mass that a row sees.")
    max_penalty: float = option(
        1e11,
        "Penalty up to which it grows where a row nearly depends on others and accelerations do not settle.",
    )
    frequency: float = option(
        1.0 / 7.0,
        "Natural frequency of constraint errors without projections, in parts of sqrt(g/l).",
        least=0.0,
    )
    damping: float = option(1.0, "Damping ratio of constraint errors without projections.", least=0.0)
    projections: bool = option(
        True,
        "Project positions and velocities onto the constraints; else errors die out by damping.",
    )
    max_iterations: int = option(10, "Iterations at each level before the next one begins.", least=1)
    position_tolerance: float = option(
        1e-14,
        "Correction of positions that ends their iterations, in parts of the links' size and in radians.",
    )
    velocity_tolerance: float = option(1e-12, "The same of velocities, in parts of the largest.")
    acceleration_tolerance: float = option(1e-10, "The same of accelerations, in parts of the largest.")
    contact_tolerance: float = option(1e-8, "Gap of a stop that counts as closed.", "m or rad")
    rest_speed: float = option(
        1e-3, "Approach speed below which a stop does not bounce.", "m/s or rad/s", 0.0
    )
    threads: int = option(0, "Threads that share large mechanisms at most; 0: as many as processors.")


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
        told = vars(super().stats)
        told["counts"] |= {
            f"{level} in {i} iterations": n for level, counts in iterations.items() for i, n in counts.items()
        }
        return DcaStatistics(**told, plan=self.core.plan(), iterations=iterations)

    def accuracy(self) -> Accuracy:
        """What double precision, and iterations that were cut short, leave open; see `System.accuracy`."""
        most, counts = self.options["max_iterations"], self.core.iterations()[2]
        cut_short = counts[most] if most < len(counts) else 0
        return replace(super().accuracy(), cut_short=cut_short, max_iterations=most)

    @property
    def loses_digits(self) -> bool:
        """Without projections, accelerations compensate for constraint errors and cannot be compared."""
        return bool(self.options["projections"])


OPTIONS = DcaOptions
SYSTEM = DcaSystem
reduced = whole


def refusals(_model: Model) -> list[str]:
    """The reasons why the formulation cannot take a model: there are none."""
    return []


def create(model: Model, options: DcaOptions) -> _core.Dca:
    """The core's system of a model. Formulas run in the interpreter until their native code is ready."""
    if model.core.programs:
        from bellcrank.expression.native import attach_soon

        attach_soon(model.core.programs)
    return _core.Dca(model.core, **asdict(options))
