"""Newton's cradle: five steel balls on threads, of which one or two are let go.

The balls touch by Hertz's law, with the stiffness that follows from steel. Rigid impact theory leaves open
what happens where several balls touch at once; here the elastic contacts decide it within a third of a
millisecond.
"""

from math import sqrt

import figures
import numpy as np

import bellcrank as bc

out = figures.output_folder()

RADIUS, LENGTH, DENSITY, RAISED = 0.02, 0.3, 7800.0, np.radians(30)
YOUNG, POISSON = 2.1e11, 0.3
# Two equal balls of radius R and modulus E: F = 4/3 E* sqrt(R*) d^1.5, 1/E* = 2 (1 - nu^2)/E, R* = R/2.
STIFFNESS = 4 / 3 * YOUNG / (2 * (1 - POISSON**2)) * sqrt(RADIUS / 2)


def cradle(raised):
    """Five balls in a row, so many of them raised."""
    mech = bc.Mechanism("Newton's cradle")
    for k in range(5):
        pivot = (2 * RADIUS * (k - 2), 0.0, LENGTH)
        ball = mech.add_body(
            f"ball {k + 1}",
            position=(pivot[0], 0.0, 0.0),
            shapes=[bc.Sphere(radius=RADIUS, density=DENSITY, color=(0.72, 0.74, 0.78))],
        )
        mech.add_joint(
            f"thread {k + 1}",
            bc.Revolute(),
            mech.ground.marker(pivot, axis="y"),
            ball.marker((0.0, 0.0, LENGTH), axis="y"),
            position=RAISED if k < raised else 0.0,
        )
    mech.add_force("touch", bc.Contact(STIFFNESS, 1.5, restitution=0.98, impact_speed=1.0), *mech.bodies)
    return mech


fig, axes = figures.subplots(2, 2, (9.0, 5.6), sharex="col", width_ratios=[2, 1])
for (swing, zoom), raised in zip(axes, (1, 2), strict=True):
    run = bc.simulate(cradle(raised), 4.0, output_step=0.005, tolerance=1e-8)
    hit = next(event.time for event in run.events if event.name == "touch touches")
    close = bc.simulate(cradle(raised), hit + 4e-4, output_step=2e-6, tolerance=1e-8)
    shown = close.between(hit - 1e-4, hit + 4e-4)
    for k, color in zip(range(1, 6), figures.plt.cm.viridis(np.linspace(0, 0.9, 5)), strict=True):
        swing.plot(run.time, np.degrees(run.joint(f"thread {k}").position), color=color, label=f"ball {k}")
        speed = shown.body(f"ball {k}").velocity[:, 0]
        zoom.plot(1e6 * (shown.time - hit), speed, color=color)
    after = shown.body("ball 5").velocity[-1, 0]
    print(f"{raised} raised: after the first impact ball 5 has {after:.3f} m/s")
    swing.set(ylabel="angle (°)", title=f"{raised} let go")
    zoom.set(ylabel="speed (m/s)", title="the first impact")
axes[1, 0].set(xlabel="time (s)")
axes[1, 1].set(xlabel="time since the balls touch (µs)")
axes[0, 0].legend(ncols=5, fontsize=7, loc="upper right")
figures.save(fig, out / "33_newtons_cradle.png")
