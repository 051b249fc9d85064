"""A ball rolls over bumps and a kerb: with speed enough it climbs the kerb, else it comes back.

The ground is one terrain, heights over a grid. The ball rolls by friction alone.
"""

import figures
import numpy as np

import bellcrank as bc

out = figures.output_folder()

RADIUS, KERB = 0.3, 0.06
CONTACT = bc.Contact(stiffness=2e5, restitution=0.3, friction=0.9)


def ground_at(x):
    """Three cosine bumps of 3 cm from x = 1 m on, and a kerb at x = 4 m."""
    bumps = np.where((x > 1.0) & (x < 2.8), 0.015 * (1.0 - np.cos(2.0 * np.pi * (x - 1.0) / 0.6)), 0.0)
    return bumps + np.where(x > 4.0, KERB, 0.0)


X = np.arange(-2.0, 7.0, 0.02)
GROUND = bc.Terrain(
    heights=[ground_at(X)] * 2, spacing=(0.02, 1.0), origin=(X[0], -0.5), color=(0.62, 0.66, 0.55)
)


def rolling(speed):
    """A ball of 15 kg that rolls at a speed."""
    mech = bc.Mechanism("ball")
    density = 15.0 / (4 / 3 * np.pi * RADIUS**3)
    shape = bc.Sphere(radius=RADIUS, density=density)
    mech.add_body(
        "ball",
        shapes=[shape],
        position=(0.0, 0.0, RADIUS),
        velocity=(speed, 0.0, 0.0),
        angular_velocity=(0.0, speed / RADIUS, 0.0),
    )
    mech.replace(mech.ground, shapes=[GROUND])
    mech.add_force("ground", CONTACT, "ball", "ground")
    return mech


fig = figures.figure((9.0, 5.6))
drawn, path, energy = fig.add_subplot(2, 1, 1), fig.add_subplot(2, 2, 3), fig.add_subplot(2, 2, 4)
x = np.linspace(-2.0, 6.5, 900)
drawn.fill_between(x, ground_at(x), -0.1, color=figures.GREY, alpha=0.4, linewidth=0)
for speed, duration, color in ((2.5, 2.8, figures.BLUE), (0.9, 7.0, figures.ORANGE)):
    run = bc.simulate(rolling(speed), duration, output_step=0.01, tolerance=1e-6)
    place, velocity = run.body("ball").position, run.body("ball").velocity
    drawn.plot(place[:, 0], place[:, 2], color=color, label=f"{speed} m/s")
    for k in range(0, len(run.time), 40):
        drawn.add_patch(figures.plt.Circle(place[k, [0, 2]], RADIUS, fill=False, color=color, linewidth=0.7))
    path.plot(run.time, velocity[:, 0], color=color)
    energy.plot(run.time, run.energy.total - run.energy.total[0], color=color)
    end = "on the kerb" if place[-1, 2] > RADIUS + 0.9 * KERB and place[-1, 0] > 4.0 else "before the kerb"
    print(f"{speed} m/s: it ends {end}, at x = {place[-1, 0]:.2f} m with {velocity[-1, 0]:.2f} m/s")
drawn.set(xlim=(-0.5, 6.5), ylim=(-0.1, 0.9), aspect="equal", xlabel="x (m)", ylabel="z (m)")
drawn.legend(loc="upper left")
path.set(xlabel="time (s)", ylabel="speed along x (m/s)")
energy.set(xlabel="time (s)", ylabel="change of energy (J)")
figures.save(fig, out / "34_ball_over_bumps.png")
