"""A mechanism thrown into pieces snaps together: each error dies out like a critically damped oscillator."""

import figures
import numpy as np

import bellcrank as bc

out = figures.output_folder()
rng = np.random.default_rng(4)
mech = bc.gallery.bricard_linkage(gravity=(0, 0, -9.81))
for body in list(mech.bodies.values()):
    axis = rng.standard_normal(3)
    turn = bc.rotation(axis / np.linalg.norm(axis), rng.uniform(0.0, np.pi / 3))
    mech.replace(body, position=np.add(body.position, rng.uniform(-0.8, 0.8, 3)), rotation=turn)

found = bc.assemble(mech.copy())
print(f"root finding: {found.error_before:.2f} m apart, then {found.error:.0e}, in {found.steps} steps")

report = bc.assemble(mech.copy(), method="constraint_forces", time_constant=0.1)
motion = report.motion
error, s = motion.violation.position, motion.time / 0.1
critical = error[0] * (1 + s) * np.exp(-s)
deviation = np.max(abs(error - critical))
print(f"constraint forces: largest deviation from (1 + t/tau) exp(-t/tau) {deviation:.1e} m")
print(f"closed to {error[-1]:.0e} m after {motion.time[-1]:.2f} s of motion")

run = bc.simulate(mech, 4.0, assemble="constraint_forces", method="dopri5", output_step=0.01)
closed = run.statistics["closed_at"]
print(f"under its weight: lagrange takes over at {closed:.2f} s", end=", ")
print(f"gaps afterwards {run.violation.position[run.time >= closed].max():.0e} m")

fig = figures.figure(size=(9.0, 4.0))
scene = fig.add_subplot(1, 2, 1, projection="3d", computed_zorder=False)
chart = fig.add_subplot(1, 2, 2)
for frame, alpha in ((0, 0.2), (int(np.searchsorted(motion.time, 0.2)), 0.5), (-1, 1.0)):
    for k, color in enumerate((figures.BLUE, figures.ORANGE, figures.GREEN, figures.PINK, figures.YELLOW)):
        edge = np.array(mech.bodies[f"rod {k}"].shapes[0].size)
        half = np.where(edge > 0.5, 0.5, 0.0)
        ends = [motion.body(f"rod {k}").point(tuple(side * half))[frame] for side in (-1, 1)]
        scene.plot(*np.transpose(ends), color=color, alpha=alpha, linewidth=3.0, solid_capstyle="round")
scene.plot([0, 0], [0, 1], [0, 0], color="black", linewidth=4.0)  # the ground's edge
scene.set(title="At 0 and 0.2 s, and closed", box_aspect=(1, 1, 1))
chart.semilogy(motion.time, error, label="largest error")
chart.semilogy(motion.time, critical, "k:", label="critically damped")
chart.set(xlabel="time (s)", ylabel="error of a constraint (m)", title="Snapping together")
chart.legend()
figures.save(fig, out / "26_snapping_together.png")
