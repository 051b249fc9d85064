"""Wheels that roll without sliding by their formula: position and angle are functions of one coordinate.

A wheel in a half pipe, and in it a smaller wheel that rolls on its rim's inside.
Source: B. Guenter, S.-H. Lee, Symbolic Lagrangian multibody dynamics, figure 5(c).
"""

from math import pi, sqrt

import figures
import formulations
import numpy as np
from scipy.special import ellipk

import bellcrank as bc
from bellcrank import expression as ex

out = figures.output_folder()
PIPE, RIM, BORE, WHEEL = 1.5, 0.55, 0.47, 0.16  # radii, m
START, GRAVITY = -0.9, 9.81


def rolling_in(hollow: float, radius: float, name: str) -> bc.CustomJoint:
    """A wheel at the angle q from below in a hollow cylinder; it turns back as it runs on."""
    q = bc.symbol(name)
    middle = hollow - radius
    place = ex.translation(middle * ex.sin(q), -middle * ex.cos(q), 0)
    return bc.CustomJoint(q, place @ ex.rotation_z(q - hollow / radius * q), units="rad")


def wheels(inner: bool) -> bc.Mechanism:
    """A ring in the half pipe, y upwards, with or without a disc in it."""
    mech = bc.Mechanism("rolling wheels", gravity=(0.0, -GRAVITY, 0.0))
    mass = 7850.0 * 0.05 * pi * (RIM**2 - BORE**2)
    about = mass * (RIM**2 + BORE**2) / 2
    ring = mech.add_body("ring", mass=mass, inertia=(about / 2, about / 2, about))
    mech.add_joint("in the pipe", rolling_in(PIPE, RIM, "q"), mech.ground, ring, position=START)
    if inner:
        disc = mech.add_body("disc", shapes=[bc.Cylinder(radius=WHEEL, length=0.05, density=7850.0)])
        # Its angle counts from the axes of the ring, which has turned by (1 - PIPE/RIM) q.
        start = -0.5 - (1 - PIPE / RIM) * START
        mech.add_joint("in the ring", rolling_in(BORE, WHEEL, "p"), ring, disc, position=start)
    return mech


# The ring alone is a pendulum: (1 + k²/r²) (R - r) q'' = -g sin q.
alone = bc.simulate(wheels(inner=False), duration=6.0, step=2e-3)
angle = alone.joint("in the pipe").position[:, 0]
rate = alone.joint("in the pipe").velocity[:, 0]
turns = np.flatnonzero((rate[:-1] < 0.0) & (rate[1:] >= 0.0) & (angle[:-1] < 0.0))
turns = turns[turns > 10]
at = alone.time[turns] + np.diff(alone.time[:2]) * rate[turns] / (rate[turns] - rate[turns + 1])
gyration = (RIM**2 + BORE**2) / 2
closed = 4 * sqrt((1 + gyration / RIM**2) * (PIPE - RIM) / GRAVITY) * float(ellipk(np.sin(START / 2) ** 2))
print(f"ring alone: period {at[0]:.6f} s, closed form {closed:.6f} s")

mech = wheels(inner=True)
for text, step in (("1/500", 2e-3), ("1/30", 1 / 30)):
    run = bc.simulate(mech, duration=4.0, step=step, output_step=None if step == 2e-3 else step)
    drift = np.max(np.abs(run.energy.drift)) / np.ptp(run.energy.kinetic)
    off = run.violation.position.max()
    print(f"two wheels, steps {text} s: energy to {drift:.1e}, off the track {off:.1e} m")

run = bc.simulate(mech, duration=4.0, step=2e-3, output_step=0.01)
formulations.compare(mech, run)
fig, (scene, chart) = figures.subplots(1, 2, size=(9.0, 4.0))
turn = np.linspace(0.0, 2 * pi, 200)
pipe = np.linspace(-0.55 * pi, 0.55 * pi, 200)
scene.plot(PIPE * np.sin(pipe), -PIPE * np.cos(pipe), color=figures.BLACK, linewidth=2.0)
for time, strength in ((0.0, 0.35), (0.7, 0.6), (1.3, 1.0)):
    frame = round(100 * time)
    for name, edges, color in (("ring", (RIM, BORE), figures.ORANGE), ("disc", (WHEEL, 0.0), figures.BLUE)):
        for radius in edges[: 2 if edges[1] else 1]:
            rim = [run.body(name).point((radius * x, radius * y, 0.0))[frame, :2]
                   for x, y in zip(np.cos(turn), np.sin(turn), strict=True)]  # fmt: skip
            scene.plot(*np.transpose(rim), color=color, alpha=strength, linewidth=1.3)
        for mark in np.arange(6) * pi / 3:
            ends = [run.body(name).point((r * np.cos(mark), r * np.sin(mark), 0.0))[frame, :2] for r in edges]
            thick = 2.6 if mark == 0.0 else 0.9
            scene.plot(*np.transpose(ends), color=color, alpha=strength, linewidth=thick)
    place = run.body("ring").position[frame]
    scene.annotate(f"{time:.2f} s", place[:2], ha="center", va="center", fontsize=8)
scene.set(xlabel="x (m)", ylabel="y (m)", aspect="equal", title="A ring in a half pipe, a disc in the ring")
chart.plot(
    run.time, run.joint("in the pipe").position[:, 0], color=figures.ORANGE, label="ring with the disc"
)
chart.plot(run.time, np.interp(run.time, alone.time, angle), "--", color=figures.GREY, label="ring alone")
middle = run.body("disc").position - run.body("ring").position
chart.plot(
    run.time, np.unwrap(np.arctan2(middle[:, 0], -middle[:, 1])), color=figures.BLUE, label="disc in the ring"
)
chart.set(
    xlabel="time (s)", ylabel="angle from below (rad)", title="Where they are", xlim=(0, 4), ylim=(-1.7, 1.4)
)
chart.legend(loc="lower center", ncols=3)
figures.save(fig, out / "16_rolling_wheels.png")
