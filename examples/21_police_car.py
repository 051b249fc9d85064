"""The police car that brakes into a crossing and slides to a stop across the road, from a script of actions.

P. Schröder, The Virtual Erector Set (MIT, 1990), section 7.3: springs and dampers at four wheels, forces
along the front wheels, brakes that damp the points of contact. The script is the run that turned out best.
"""

from pathlib import Path
from time import perf_counter

import figures
import numpy as np

from bellcrank.shell.interpreter import Shell

out = figures.output_folder()
shell, seconds, said = Shell(), 0.0, []
for line in Path(__file__).with_suffix(".bell").read_text().splitlines():
    begun = perf_counter()
    reply = shell.execute(line)
    assert reply.ok, reply.text
    if line.startswith("step"):
        seconds += perf_counter() - begun
    if line.startswith(";"):
        said.append((shell.session.now.time, line[2:]))
run = shell.session.trajectory()
car = run.body("car")
for time, action in said[-3:]:
    print(f"t = {time:.2f} s: {action}")

w, x, y, z = car.rotation.T
heading = np.unwrap(2 * np.arctan2(z, w))
tilt = np.degrees(np.arccos(1 - 2 * (x**2 + y**2)))
speed = np.linalg.norm(car.velocity, axis=1)
print(f"stops at {np.degrees(heading[-1]):.1f} degrees, {car.position[-1, 0]:.2f} m down the road "
      f"from {speed.max():.2f} m/s to {speed[-1]:.2f} m/s")  # fmt: skip
wheels = np.array(
    [(1.95, 0.897, -0.65), (1.95, -0.897, -0.65), (-1.521, 0.897, -0.65), (-1.521, -0.897, -0.65)]
)
contact = np.stack([car.point(tuple(wheel)) for wheel in wheels], axis=1)
print(
    f"tilts by {tilt.max():.2f} degrees at most; wheels sink {-1e3 * contact[:, :, 2].min():.0f} mm at most"
)

# At rest each axle carries its part of the weight. The motors push below the centre of mass: the front rises.
axle = np.array([1.521, 1.95]) / (1.95 + 1.521)
sag = 2000 * 9.81 * axle / (2 * 50000)
ahead = np.flatnonzero(run.time <= said[-2][0])[-1]
thrust = -contact[ahead, (0, 2), 2]
print(f"at t = {run.time[ahead]:.2f} s, motors on, brakes off, front and back wheels sink "
      f"{1e3 * thrust[0]:.1f} and {1e3 * thrust[1]:.1f} mm;\n"
      f"at rest {1e3 * sag[0]:.1f} and {1e3 * sag[1]:.1f} mm by hand, "
      f"found {-1e3 * contact[-1, 0, 2]:.1f} and {-1e3 * contact[-1, 2, 2]:.1f} mm")  # fmt: skip
print(f"{run.time[-1]:.1f} s of the scene in {seconds:.2f} s: {run.time[-1] / seconds:.0f} times real time "
      "(in the thesis 1.5 times)")  # fmt: skip

fig, (road, chart) = figures.subplots(2, 1, size=(9.0, 4.6), height_ratios=(1.0, 0.9))
corners = np.array([(2.6, 0.9, 0), (2.6, -0.9, 0), (-2.2, -0.9, 0), (-2.2, 0.9, 0), (2.6, 0.9, 0)])
outline = np.stack([car.point(tuple(corner)) for corner in corners], axis=1)
brake = said[-1][0]
for frame in [*range(0, 120, 24), *range(120, len(run), 6)]:
    color = figures.ORANGE if run.time[frame] > brake else figures.BLUE
    road.plot(outline[frame, :, 0], outline[frame, :, 1], color=color, linewidth=0.8, alpha=0.7)
road.fill(outline[-1, :, 0], outline[-1, :, 1], color=figures.ORANGE, alpha=0.35)
for side in (-3.5, 3.5):
    road.axhline(side, color=figures.GREY, linewidth=0.8)
road.set(
    aspect="equal",
    xlabel="x (m)",
    ylabel="y (m)",
    title="The street from above; orange: braking",
    ylim=(-4.5, 5),
)
chart.plot(run.time, speed, label="speed (m/s)")
chart.plot(run.time, np.degrees(heading) / 10, label="heading (10°)")
chart.plot(run.time, tilt, label="tilt (°)")
for time, _ in said[-2:]:
    chart.axvline(time, color=figures.GREY, linewidth=0.8, linestyle="--")
chart.set(xlabel="time (s)")
chart.legend(loc="upper left")
figures.save(fig, out / "21_police_car.png")
