"""First steps: a rod on a hinge. Describe, assemble, simulate, look."""

from math import pi, sqrt

import figures
import numpy as np

import bellcrank as bc

out = figures.output_folder()

# Describe: a uniform rod of 1 m and 1 kg, held level, hinged at its left end about the world's y axis.
LENGTH, MASS, GRAVITY = 1.0, 1.0, 9.81
mech = bc.Mechanism("pendulum", gravity=(0.0, 0.0, -GRAVITY))
rod = mech.add_body(
    "rod",
    mass=MASS,
    inertia=(1e-4, MASS * LENGTH**2 / 12, MASS * LENGTH**2 / 12),
    position=(LENGTH / 2, 0.0, 0.0),
    shapes=[bc.Box(size=(LENGTH, 0.03, 0.03))],
)
y_axis = (0.0, 1.0, 0.0)
mech.add_joint(
    "hinge",
    bc.Revolute(),
    mech.ground.marker(axis=y_axis),
    rod.marker((-LENGTH / 2, 0.0, 0.0), axis=y_axis),
)

# Simulate, with an adaptive method that keeps the error below the tolerance.
run = bc.simulate(mech, duration=6.0, method="dopri5", tolerance=1e-10, output_step=0.005)
print(run.summary())

# Look: results by name. The angle is 0 where the rod started, 90 degrees where it hangs.
angle = run.joint("hinge").position[:, 0]
speed = run.joint("hinge").velocity[:, 0]
force = np.linalg.norm(run.joint("hinge").force, axis=1)


def elliptic_k(modulus: float) -> float:
    """The complete elliptic integral of the first kind, by the arithmetic-geometric mean."""
    a, b = 1.0, sqrt(1.0 - modulus**2)
    while abs(a - b) > 1e-15:
        a, b = (a + b) / 2, sqrt(a * b)
    return pi / (2 * a)


hanging = angle - pi / 2
crossings = np.flatnonzero((hanging[:-1] < 0.0) & (hanging[1:] >= 0.0))
fraction = hanging[crossings] / (hanging[crossings] - hanging[crossings + 1])
passes = run.time[crossings] + fraction * np.diff(run.time)[crossings]
period = float(np.mean(np.diff(passes)))
exact = 4 * sqrt(2 * LENGTH / (3 * GRAVITY)) * elliptic_k(np.sin(pi / 4))
print(f"period: {period:.6f} s, closed form {exact:.6f} s")
lowest = np.argmin(np.abs(hanging))
print(f"largest force on the hinge: {force.max():.4f} N, closed form 5/2 m g = {2.5 * MASS * GRAVITY:.4f} N")
print(f"energy drift: {np.max(np.abs(run.energy.drift)):.1e} J")

# Keep: results go to a file and come back.
run.save(out / "pendulum.h5", replace=True)
again = bc.Trajectory.load(out / "pendulum.h5")
print(f"loaded again: {len(again)} frames, the same: {np.array_equal(again.time, run.time)}")

fig, (top, bottom) = figures.subplots(2, 1, size=(7.0, 4.6), sharex=True)
top.plot(run.time, np.degrees(angle), label="angle")
top.axhline(90.0, color=figures.GREY, linewidth=0.8, linestyle="--")
top.annotate(
    "hanging", (run.time[-1], 90.0), xytext=(0, 3), textcoords="offset points", ha="right", fontsize=8
)
top.set(ylabel="angle below level (°)", title="A rod released from level", yticks=range(0, 181, 45))
bottom.plot(run.time, force, color=figures.ORANGE)
bottom.axhline(2.5 * MASS * GRAVITY, color=figures.GREY, linewidth=0.8, linestyle="--")
bottom.set(xlabel="time (s)", ylabel="force on the hinge (N)", ylim=(0, None), xlim=(0, run.time[-1]))
figures.save(fig, out / "01_pendulum.png")
