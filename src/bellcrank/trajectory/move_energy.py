"""The energy of adaptive runs: what bodies have, what was done to them, what locking took, what is left."""

from __future__ import annotations

from dataclasses import dataclass

from bellcrank.slips import answering
from bellcrank.trajectory.store import FloatArray, read_only


@answering
@dataclass(frozen=True, repr=False)
class MoveEnergy:
    """Mechanical energy of an adaptive run and what changes it, J. All (T,).

    kinetic: of the bodies. potential: of the weight, from the world origin, and of springs.
    work: by forces that have no potential (motors, dampers, wrenches, friction) and by drives, since the
    start, added up along the steps with the weights of the method. lost: by locking joints since then.

    >>> run = bc.simulate(bc.gallery.chain(10), 1.0, formulation="adaptive", step=1e-3, max_error=0.1)
    >>> energy = run.energy
    >>> bool(abs(energy.unexplained).max() < 1e-6 * energy.kinetic.max())
    True
    """

    kinetic: FloatArray
    potential: FloatArray
    work: FloatArray
    lost: FloatArray

    def __repr__(self) -> str:
        return f"<energy, {len(self.kinetic)} frames>"

    @property
    def total(self) -> FloatArray:
        """Kinetic and potential energy."""
        return read_only(self.kinetic + self.potential)

    @property
    def unexplained(self) -> FloatArray:
        """What the total has changed by, other than by work and by locking: errors of the steps."""
        total = self.total
        return read_only(total - total[:1] + self.lost - self.work)
