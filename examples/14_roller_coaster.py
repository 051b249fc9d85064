"""A car on the track of a roller coaster with a loop, there and back, and what its passengers feel."""

import figures
import formulations
import numpy as np

import bellcrank as bc
from bellcrank import expression as ex

out = figures.output_folder()
u = bc.symbol("u")
# Valleys, a loop between them, and a small step aside, so that the track does not meet itself.
TRACK = (2.2 * (u**3 - 3 * u), 1.2 * ex.tanh(u), 4.6 * (0.13 * u**4 - u**2))
START = -2.85


def track(parameter: np.ndarray) -> np.ndarray:
    """Points (n, 3) of the track."""
    height = 4.6 * (0.13 * parameter**4 - parameter**2)
    return np.stack([2.2 * (parameter**3 - 3 * parameter), 1.2 * np.tanh(parameter), height], 1)


mech = bc.Mechanism("roller coaster")
car = mech.add_body("car", shapes=[bc.Box(size=(1.8, 1.0, 1.1), density=300.0)])
# The frame of the track has z sideways and y out of the rails, also upside down; the car stands on it.
sideways = bc.PathJoint(u, TRACK, up=(0.0, -1.0, 0.0))
mech.add_joint("track", sideways, mech.ground, car.marker((0.0, -0.7, 0.0)), position=START)

for text, step in (("1/500", 2e-3), ("1/30", 1 / 30)):
    run = bc.simulate(mech, duration=20.0, step=step, output_step=None if step == 2e-3 else step)
    drift = np.max(np.abs(run.energy.drift)) / np.ptp(run.energy.kinetic)
    print(f"steps of {text} s: after 20 s at {run.joint('track').position[-1, 0]:.5f}, "
          f"energy to {drift:.1e}, off the track {run.violation.position.max():.1e} m")  # fmt: skip

run = bc.simulate(mech, duration=8.8, step=2e-3, output_step=0.01)
formulations.compare(mech, run)
mass, gravity = car.mass, 9.81
place = run.joint("track").position[:, 0]
speed = np.linalg.norm(run.body("car").velocity, axis=1)
up = run.body("car").point((0.0, 1.0, 0.0)) - run.body("car").point((0.0, 0.0, 0.0))
felt = np.einsum("ti,ti->t", run.joint("track").force, up) / (mass * gravity)
top = int(np.argmin(np.abs(place)))
print(f"speed at most {speed.max():.2f} m/s, at the top of the loop {speed[top]:.2f} m/s; "
      f"passengers feel {felt.max():.2f} g at most, {felt[top]:.2f} g at the top")  # fmt: skip

fig, (scene, chart) = figures.subplots(2, 1, size=(9.0, 5.0), height_ratios=(1.0, 0.9))
rail = track(np.linspace(START - 0.06, -START + 0.06, 600))
scene.plot(rail[:, 0], rail[:, 2], color=figures.GREY, linewidth=1.4)
outline = ((-0.9, -0.5), (0.9, -0.5), (0.9, 0.5), (-0.9, 0.5))
for frame in [*range(0, 300, 60), *range(300, 600, 20), *range(600, 881, 60)]:
    corners = [run.body("car").point((x, y, 0.0))[frame, [0, 2]] for x, y in outline]
    scene.fill(*np.transpose(corners), color=figures.BLUE, alpha=0.75, linewidth=0.0)
scene.set(
    xlabel="x (m)",
    ylabel="z (m)",
    aspect="equal",
    title="The car from the left, every 0.6 s; from 3 to 6 s every 0.2 s",
)
chart.plot(run.time, felt, color=figures.ORANGE)
chart.axhline(1.0, color=figures.GREY, linewidth=0.8)
chart.set(xlabel="time (s)", xlim=(0, 8.8), ylim=(0, 6), title="Load on the seats and speed")
chart.set_ylabel("load (g)", color=figures.ORANGE)
fast = chart.twinx()
fast.plot(run.time, speed, color=figures.BLUE)
fast.set(ylim=(0, 18), yticks=range(0, 19, 3))
fast.set_ylabel("speed (m/s)", color=figures.BLUE)
fast.spines["right"].set_visible(True)
fast.grid(visible=False)
figures.save(fig, out / "14_roller_coaster.png")
