"""Beads on a wire that is given by a formula: they stay on it at steps as long as the frames of a film.

Source: B. Guenter, S.-H. Lee, Symbolic Lagrangian multibody dynamics, figures 5(a) and 8.
`symbolic` has the place on the wire as its coordinate, so that no step can leave it. `lagrange` comes back
onto the wire by corrections; on this wire of three waves it cannot find back from steps of 1/30 s.
"""

import figures
import numpy as np

import bellcrank as bc
from bellcrank import expression as ex

out = figures.output_folder()
FRAME = 1 / 30
u = bc.symbol("u")
WAVES, HEIGHT = 3, 0.12
WIRE = (0.6 * ex.cos(u), 0.6 * ex.sin(u), HEIGHT * ex.cos(WAVES * u))


def on_wire(parameter: np.ndarray) -> np.ndarray:
    """Points (n, 3) of the wire."""
    return np.stack([0.6 * np.cos(parameter), 0.6 * np.sin(parameter), HEIGHT * np.cos(WAVES * parameter)], 1)


def off_wire(run: bc.Trajectory) -> list[np.ndarray]:
    """How far each bead is from its place on the wire, (T,)."""
    return [
        np.linalg.norm(run.body(bead).position - on_wire(run.joint(bead).position[:, 0]), axis=1)
        for bead in run.bodies
    ]


mech = bc.Mechanism("beads on a wire")
for name, start, rate in (("swings", 0.3, 0.0), ("runs round", 3.3, 4.2)):
    ball = mech.add_body(name, shapes=[bc.Sphere(radius=0.012, density=7850.0)])
    path = bc.PathJoint(u, WIRE, unit="rad")
    mech.add_joint(name, path, mech.ground, ball, position=start, velocity=rate)

RUNS = [(name, *step) for name in ("lagrange", "symbolic") for step in (("1/1000", 1e-3), ("1/30", FRAME))]
for name, text, step in RUNS:
    try:
        run = bc.simulate(mech, duration=2.0, step=step, output_step=FRAME, formulation=name)
    except bc.SimulationError as error:
        kept = error.trajectory
        print(f"{name}, steps {text} s: the wire is lost at t = {error.time:.3f} s")
        continue
    drift = np.max(np.abs(run.energy.drift)) / np.ptp(run.energy.kinetic)
    away = off_wire(run)
    print(f"{name}, steps {text} s: off the wire {np.max(away):.1e} m, energy to {drift:.1e} of exchange")

# A step along the tangent, from which constraints on positions must find back, leaves the wire.
tangent = {name: run.body(name).position + FRAME * run.body(name).velocity for name in run.bodies}
every = np.linspace(0.0, 2 * np.pi, 20000)
missed = [np.min(np.linalg.norm(p[:, None] - on_wire(every), axis=2), axis=1) for p in tangent.values()]
print(f"a step of 1/30 s along the tangent ends up to {1e3 * np.max(missed):.1f} mm from the wire")

fig = figures.figure(size=(9.0, 4.0))
scene, chart = fig.add_subplot(1, 2, 1, projection="3d", computed_zorder=False), fig.add_subplot(1, 2, 2)
scene.plot(*on_wire(every).T, color=figures.GREY, linewidth=1.2)
for name, color, frames in (("swings", figures.BLUE, 26), ("runs round", figures.ORANGE, 21)):
    points = run.body(name).position[:frames]
    scene.scatter(
        *points.T, s=30, color=color, alpha=np.linspace(0.25, 1.0, frames), linewidths=0.0, depthshade=False
    )
    for start, end in zip(points[2::6], tangent[name][2:frames:6], strict=True):
        scene.plot(*np.transpose([start, start + 1.6 * (end - start)]), color=figures.BLACK, linewidth=1.0)
scene.set(xlim=(-0.6, 0.6), ylim=(-0.6, 0.6), zlim=(-0.2, 0.2))
scene.set_box_aspect((1.2, 1.2, 0.4), zoom=1.26)
scene.view_init(elev=38, azim=-75)
scene.set_axis_off()
scene.set_title("Two beads at frames of 1/30 s; tangents")
lost = kept.time[-1]
chart.axvline(lost, color=figures.GREY, linewidth=0.8, linestyle=":")
figures.note(chart, f"lagrange loses the wire\nat {lost:.2f} s", (lost, 1e-9), (6, 0))
for name, off, miss, color in zip(run.bodies, away, missed, (figures.BLUE, figures.ORANGE), strict=True):
    chart.semilogy(run.time[1:], miss[:-1], "--", color=color, label=f"{name}, along the tangent")
    chart.semilogy(
        run.time[1:], np.maximum(off[1:], 1e-17), "o-", ms=2.5, color=color, label=f"{name}, as made"
    )
chart.set(
    xlabel="time (s)",
    ylabel="distance from the wire (m)",
    title="Steps of 1/30 s by symbolic; zero drawn as 1e-17 m",
    ylim=(1e-17, 1e2),
)
chart.legend(loc="upper right", ncols=2, fontsize=7.5)
figures.save(fig, out / "13_beads_on_a_wire.png")
