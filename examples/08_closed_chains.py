"""Closed chains of 20 and 40 rods: the rings of Tasora's table 2, and the same hung up and let go."""

import figures
import numpy as np

import bellcrank as bc

out = figures.output_folder()

# The paper's rings: ball joints, 120 coordinates and 60 rows, 240 and 120. It reports 67 and 24 steps a
# second, on a processor of 700 MHz.
for n, paper in ((20, 67), (40, 24)):
    mech = bc.gallery.free_ring(n, spin=(0.1, 0.2, 3.0))
    facts = bc.info(mech)
    run = bc.simulate(mech, duration=2.0, step=1e-3, reactions=False)
    rate = run.statistics["steps"] / run.statistics["wall_seconds"]
    print(
        f"{n} rods: {6 * facts.bodies} coordinates, {facts.rows} rows, freedom {facts.freedom}; "
        f"{rate:.0f} steps/s (paper: {paper}); "
        f"energy drift {np.max(np.abs(run.energy.drift)) / run.energy.kinetic[0]:.1e}"
    )

# Plane rings of revolute joints, hung from their top corner: they collapse into a double strand and whip.
fig, axes = figures.subplots(1, 2, size=(9.0, 4.6))
for axis, n, times in zip(axes, (20, 40), ((0.0, 0.4, 0.8, 1.1), (0.0, 0.6, 1.1, 1.6)), strict=True):
    mech = bc.gallery.ring(n)
    run = bc.simulate(mech, duration=times[-1], step=1e-3, output_step=0.01)
    mirrored = [
        np.abs(run.body(f"left {k}").position * (-1, 1, 1) - run.body(f"right {k}").position).max()
        for k in range(n // 2)
    ]
    # After an elimination round so long a loop, a redundant row is told from others only to about 1e-9.
    system = bc.prepare(mech, rank_tolerance=1e-8)
    system.accelerate()
    redundant = len(system.stats.dropped)
    print(
        f"hung ring of {n}: freedom {6 * n - 5 * (n + 1) + redundant}, redundant rows {redundant}; "
        f"energy drift {np.max(np.abs(run.energy.drift)):.1e} J of {run.energy.kinetic[-1]:.0f} J; "
        f"halves mirror each other to {max(mirrored):.1e} m"
    )
    for time, alpha in zip(times, (0.25, 0.45, 0.7, 1.0), strict=True):
        frame = int(np.searchsorted(run.time, time - 1e-9))
        outline = {}
        for side in ("left", "right"):
            ends = [run.body(f"{side} {k}").point((0.5, 0.0, 0.0))[frame, :2] for k in range(n // 2)]
            outline[side] = np.vstack([[0.0, 0.0], *ends])
        for side, color in (("left", figures.BLUE), ("right", figures.ORANGE)):
            axis.plot(*outline[side].T, "o-", color=color, alpha=alpha, markersize=2.2, linewidth=1.4)
        bottom = outline["left"][-1]
        side = {times[-1]: ("left", 8.0), times[-2]: ("right", -8.0)}.get(time, ("center", 0.0))
        figures.note(axis, f"{time:.1f} s", bottom, (side[1], -9.0), ha=side[0], color="black")
    axis.plot(0.0, 0.0, "v", color="black", markersize=8)
    axis.set(aspect="equal", xlabel="x (m)", ylabel="y (m)", title=f"{n} rods")
figures.save(fig, out / "08_closed_chains.png")
