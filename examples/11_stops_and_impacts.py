"""Stops with restitution, bounce after bounce until rest, and a cable that goes slack and taut again."""

from itertools import pairwise
from math import radians, sqrt

import figures
import numpy as np

import bellcrank as bc

out = figures.output_folder()
GRAVITY, HEIGHT, RESTITUTION = 9.81, 1.0, 0.8

# A hammer on a vertical guide falls on a stop.
mech = bc.Mechanism("hammer", gravity=(0.0, 0.0, -GRAVITY))
hammer = mech.add_body("hammer", mass=2.0, inertia=(0.01, 0.01, 0.01), position=(0.0, 0.0, HEIGHT))
stop = bc.Limit(lower=0.0, restitution=RESTITUTION)
mech.add_joint("guide", bc.Prismatic(), mech.ground.marker(), hammer.marker(), limits=stop)
run = bc.simulate(mech, duration=5.0, method="dopri5", output_step=2e-3)  # finds the times of impacts
height, speed = run.joint("guide").position[:, 0], run.joint("guide").velocity[:, 0]

# The closed form: the first impact after sqrt(2 h/g), then flights that get shorter by the restitution.
first, fall = sqrt(2 * HEIGHT / GRAVITY), sqrt(2 * GRAVITY * HEIGHT)
count = np.arange(60)
flights = 2 * fall * RESTITUTION ** (count + 1) / GRAVITY
impacts = first + np.concatenate([[0.0], np.cumsum(flights)])
rest = first + 2 * fall / GRAVITY * RESTITUTION / (1 - RESTITUTION)
bounced = impacts[impacts < run.time[-1]]
index = np.clip(np.searchsorted(impacts, run.time, side="right") - 1, -1, len(flights) - 1)
since = run.time - np.where(index < 0, 0.0, impacts[index])
launch = fall * RESTITUTION ** (index + 1.0)
exact = np.where(index < 0, HEIGHT - GRAVITY * since**2 / 2, launch * since - GRAVITY * since**2 / 2)
exact = np.where(run.time >= rest, 0.0, np.maximum(exact, 0.0))
print(f"hammer: largest error of the height {np.abs(height - exact).max():.1e} m")
peaks = [height[(run.time > a) & (run.time < b)].max() for a, b in list(pairwise(impacts))[:5]]
print("peaks:", ", ".join(f"{p:.4f}" for p in peaks), f"m; ratio {peaks[1] / peaks[0]:.4f} (0.8^2 = 0.64)")
still = run.time[np.flatnonzero(np.abs(speed) > 1e-6)[-1]]
print(f"at rest after {still:.3f} s, closed form {rest:.3f} s; then the stop carries "
      f"{run.limit('guide').effort[-1]:.4f} N of {2.0 * GRAVITY:.4f} N")  # fmt: skip

# A pendulum between two stops of different hardness.
swing = bc.Mechanism("pendulum between stops", gravity=(0.0, 0.0, -GRAVITY))
bar = swing.add_body("bar", mass=1.0, inertia=(1 / 12, 1 / 12, 1e-4), com=(0.0, 0.0, -0.5))
y_axis = (0.0, 1.0, 0.0)
swing.replace(bar, angular_velocity=(0.0, 4.0, 0.0))
between = bc.Limit(lower=radians(-25.0), upper=radians(40.0), restitution=0.7)
swing.add_joint(
    "hinge", bc.Revolute(), swing.ground.marker(axis=y_axis), bar.marker(axis=y_axis), limits=between
)
swung = bc.simulate(swing, duration=5.0, method="dopri5", output_step=2e-3)
angle = np.degrees(swung.joint("hinge").position[:, 0])
print(f"pendulum: between {angle.min():.6f} and {angle.max():.6f} degrees")

# A weight on a cable of 1 m, thrown: it flies free until the cable is taut, which takes the speed along it.
throw = bc.Mechanism("thrown weight", gravity=(0.0, 0.0, -GRAVITY))
start, velocity = np.array([-0.6, 0.0, -0.5]), np.array([1.6, 0.0, 4.0])
weight = throw.add_body("weight", mass=1.0, inertia=(1e-3,) * 3, position=start, velocity=velocity)
throw.add_constraint("cable", bc.Cable(length=1.0, slack=True), throw.ground.marker(), weight.marker())
thrown = bc.simulate(throw, duration=3.0, method="dopri5", output_step=2e-3)
path = thrown.body("weight").position
distance = np.linalg.norm(path, axis=1)
free = start + velocity * thrown.time[:, None] + 0.5 * np.array([0, 0, -GRAVITY]) * thrown.time[:, None] ** 2
taut = int(np.argmax((distance > 1.0 - 1e-9) & (thrown.time > 0.0)))
print(
    f"cable: never longer than {distance.max():.9f} m; taut after {thrown.time[taut]:.3f} s of free flight, "
    f"which is followed to {np.abs(path - free)[:taut].max():.1e} m"
)

fig = figures.figure(size=(8.6, 4.4))
grid = fig.add_gridspec(2, 2, width_ratios=(1.5, 1.0))
upper, lower, plan = fig.add_subplot(grid[0, 0]), fig.add_subplot(grid[1, 0]), fig.add_subplot(grid[:, 1])
upper.plot(run.time, height)
upper.plot(
    bounced, np.zeros(len(bounced)), "|", color=figures.ORANGE, markersize=7, label="impacts, closed form"
)
upper.set(ylabel="height (m)", title="Hammer on a stop, restitution 0.8", xlim=(0, 5))
upper.legend(loc="upper right")
lower.plot(swung.time, angle, color=figures.GREEN)
for limit in (-25.0, 40.0):
    lower.axhline(limit, color=figures.GREY, linewidth=0.8, linestyle="--")
lower.set(xlabel="time (s)", ylabel="angle (°)", title="Pendulum between two stops", xlim=(0, 5))
circle = np.linspace(0, 2 * np.pi, 200)
plan.plot(np.cos(circle), np.sin(circle), color=figures.GREY, linewidth=0.8, linestyle="--")
slack = np.where((distance < 1.0 - 1e-6)[:, None], path, np.nan)
plan.plot(path[:, 0], path[:, 2], color=figures.BLUE, label="cable taut")
plan.plot(slack[:, 0], slack[:, 2], color=figures.ORANGE, label="slack: free flight")
plan.plot(*start[[0, 2]], "o", color="black", markersize=5)
plan.plot(0.0, 0.0, "+", color="black", markersize=8)
plan.set(
    aspect="equal",
    xlabel="x (m)",
    ylabel="z (m)",
    title="Weight on a cable",
    xlim=(-1.1, 1.1),
    ylim=(-1.1, 1.45),
)
plan.legend(loc="upper left", ncols=2)
figures.save(fig, out / "11_stops_and_impacts.png")
