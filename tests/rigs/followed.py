"""Runs followed along directions of their start and of numbers, and whole runs beside them as oracle."""

from __future__ import annotations

import numpy as np
from rigs.directions import EASY, Direction, Path, core_at, lagrange_at, moving

from bellcrank import _core as core
from bellcrank.formulations.preparing import prepare
from bellcrank.linear.own_directions import OwnDirections
from bellcrank.linear.state_chart import Directions
from bellcrank.trajectory.observation import observation

VALUE, RATE, MULTIPLIER = 0, 1, 3
TIGHT = 1e-12


class RunAt:
    """A run of the core from a state, its tape kept, and what it recorded (frames, watched)."""

    def __init__(
        self, model, state, times, method="dopri5", tolerance=1e-10, step=1e-3, formulation="lagrange"
    ):
        self.model, self.method, self.tolerance = model, method, tolerance
        self.system, self.what = core_at(model, state, formulation), observation(model)
        self.core = core.Run(
            self.system,
            method=method,
            step=step if method == "rk4" else 0.0,
            max_step=0.0,
            rtol=tolerance,
            atol=tolerance,
            what=self.what.core,
            tape_room=1e9,
        )
        blocks = []
        self.core.advance(
            list(times), times[-1], True, True, lambda f: blocks.append(np.array(f)), lambda t: None
        )
        self.frames = np.vstack(blocks)
        # Shares of redundant constraints are none of what is differentiated.
        unique = self.frames[:, self.what.layout.columns["unique_multipliers"]]
        self.determined = np.flatnonzero((unique == 1.0).all(axis=0))
        self.outcome = self.core.outcome()

    @property
    def watched(self):
        values = [(kind, c) for kind in (VALUE, RATE) for c in self.what.coordinates]
        return values + [(MULTIPLIER, self.model.multipliers[k].row) for k in self.determined]

    def recorded(self, determined=None):
        """In the order of `watched`. determined: multipliers, by number; by default those of this run."""
        columns = self.what.layout.columns
        values = ("coordinates", "angles", "force_coordinates")
        rates = ("rates", "angle_rates", "force_rates")
        found = [self.frames[:, columns[name]] for name in (*values, *rates, "multipliers")]
        found[-1] = found[-1][:, self.determined if determined is None else determined]
        return np.hstack(found)

    @property
    def impacts(self):
        return sum(1 for number, _ in self.outcome["events"] if number == -1)

    def followed(self, looser=0.0):
        tolerance = looser or self.tolerance
        return core.RunTangent(
            self.system,
            self.model.core,
            self.core.tape,
            self.method,
            tolerance,
            tolerance,
            looser > 0.0,
            self.watched,
        )


class FollowedCase:
    """A mechanism that moves, a random direction of its start and numbers, and its run for a time."""

    def __init__(
        self, mechanism, duration, frames=5, moved=True, arrays=EASY, formulation="lagrange", **settings
    ):
        model = prepare(mechanism, "lagrange").model
        start = prepare(mechanism, "lagrange").state()
        self.model = model
        self.state = moving(model, start) if moved else model.state_of(lagrange_at(model, start))
        self.times = self.state.time + np.linspace(0.0, duration, frames)
        rng = np.random.default_rng(45)
        self.direction = Direction(lagrange_at(model, self.state), model, rng, 0.0, arrays)
        self.run = RunAt(model, self.state, self.times, formulation=formulation, **settings)
        self.tangent = self.run.followed()
        self.tangent.begin()
        d, none = self.direction, np.zeros((1, 0))
        given = Directions(none, none, np.zeros(1), d.places, d.along[None] if d.changes else none)
        own = OwnDirections(self.run.system, len(model.bodies), given)
        self.dx, self.du = (one[0] for one in own.of_bodies(d.dx[None], d.du[None]))

    def changes(self):
        """Of what is watched (frames, watched)."""
        d = self.direction
        along = d.along[None] if d.changes else np.zeros((1, 0))
        found, self.left, self.late = self.tangent.follow(self.dx[None], self.du[None], d.places, along)
        return found[:, 0]

    def beside(self, s):
        """What a run so far along the direction records."""
        d = self.direction
        path = Path(self.model, self.state, d.dx, d.du, 0.0, d.changes)
        run = RunAt(path.model_at(s), path.state_at(s), self.times, tolerance=TIGHT)
        return run.recorded(self.run.determined)

    def differences(self, step=1e-4):
        """The same from runs beside it, extrapolated."""
        at = {k: self.beside(k * step) for k in (-2, -1, 1, 2)}
        return (8.0 * (at[1] - at[-1]) - (at[2] - at[-2])) / (12.0 * step)

    def one_sided(self, step):
        """The same from runs on the side of `step` alone."""
        at = [self.beside(k * step) for k in range(4)]
        return (-11.0 * at[0] + 18.0 * at[1] - 9.0 * at[2] + 2.0 * at[3]) / (6.0 * step)

    def late_differences(self, step):
        """Changes of the times of impacts from runs beside it."""
        at = {}
        for k in (-2, -1, 1, 2):
            d = self.direction
            path = Path(self.model, self.state, d.dx, d.du, 0.0, d.changes)
            run = RunAt(path.model_at(k * step), path.state_at(k * step), self.times, tolerance=TIGHT)
            at[k] = run.followed().beside_impacts()[0]
        return (8.0 * (at[1] - at[-1]) - (at[2] - at[-2])) / (12.0 * step)

    def transposed_off(self, changes):
        """How far the gradient of a random sum is off the change of it, in parts of what is added.

        Where all is driven nothing changes, and rounding is no part of that.
        """
        rng = np.random.default_rng(5)
        seeds, of_impacts = rng.normal(size=changes.shape), rng.normal(size=len(self.late))
        of_x, of_u, of_numbers, _ = self.tangent.follow_back(seeds, of_impacts, self.direction.places, False)
        d = self.direction
        back = of_x @ self.dx + of_u @ self.du + (of_numbers @ d.along if d.changes else 0.0)
        added = np.concatenate([(seeds * changes).ravel(), of_impacts * self.late[:, 0]])
        return abs(back - np.sum(added)) / max(np.sum(np.abs(added)), 1e-3)

    def error(self, frame, number):
        """What a watched number lacks of the exact one: estimated, and found by a run of tight tolerance."""
        seeds = np.zeros(self.run.recorded().shape)
        seeds[frame, number] = 1.0
        estimated = self.tangent.follow_back(
            seeds, np.zeros(len(self.tangent.beside_impacts()[0])), [], True
        )[3]
        if not hasattr(self, "_exact"):
            exact = RunAt(self.model, self.state, self.times, tolerance=1e-13)
            self._exact = exact.recorded(self.run.determined)
        return estimated, self._exact[frame, number] - self.run.recorded()[frame, number]
