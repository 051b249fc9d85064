"""An ellipsoid that rolls in an ellipsoidal bowl: five coordinates of the contact, two conditions on rates.

Source: B. Guenter, S.-H. Lee, Symbolic Lagrangian multibody dynamics, figure 5(e) and equation 16.
The ball starts so that the contact stays away from the poles of its two angles.
"""

from typing import Any

import figures
import formulations
import numpy as np

import bellcrank as bc
from bellcrank import expression as ex

out = figures.output_folder()
BOWL, BALL = (1.1, 0.8, 0.5), (0.17, 0.13, 0.14)  # half axes, m


def ellipsoid(radii: tuple[float, ...], a: Any, b: Any, library: Any = ex) -> tuple[Any, ...]:
    """x, y and z over two angles from the lowest point; the normal points inwards, with -b outwards."""
    x, y, z = radii
    cosine = library.cos(b)
    return x * cosine * library.sin(a), y * library.sin(b), -z * cosine * library.cos(a)


a, b, c, d, spin = (bc.symbol(name) for name in ("a", "b", "c", "d", "spin"))
joint = bc.Rolling((a, b), ellipsoid(BOWL, a, b), (c, d), ellipsoid(BALL, c, -d), spin=spin)


def rolling(step: float) -> tuple[bc.Mechanism, bc.Trajectory]:
    """The ball let go on the wall of the bowl, for three seconds."""
    mech = bc.Mechanism("ellipsoid on ellipsoid")
    ball = mech.add_body("ball", shapes=[bc.Ellipsoid(radii=BALL, density=1000.0, color=(0.85, 0.45, 0.15))])
    mech.add_joint("contact", joint, mech.ground, ball, position=(-1.0, 0.35, 0.4, -0.3, 0.0))
    return mech, bc.simulate(mech, duration=3.0, step=step, output_step=0.01)


mech, run = rolling(2e-3)
facts = bc.info(mech)
drift = np.max(np.abs(run.energy.drift)) / np.ptp(run.energy.kinetic)
print(f"{len(joint.free)} coordinates, freedom {facts.freedom}; energy to {drift:.1e} of what is exchanged")
formulations.compare(mech, run)

# The material point of the ball at the contact stands still.
where = run.joint("contact").position
points = np.stack(np.broadcast_arrays(*ellipsoid(BOWL, where[:, 0], where[:, 1], np)), 1)
arm = points - run.body("ball").position
slip = np.linalg.norm(run.body("ball").velocity + np.cross(run.body("ball").angular_velocity, arm), axis=1)
fastest = np.linalg.norm(run.body("ball").velocity, axis=1).max()
print(f"the ball moves at up to {fastest:.2f} m/s and slides at {slip.max():.1e} m/s")

fig = figures.figure(size=(9.0, 4.2))
fig.set_layout_engine("none")
scene = fig.add_axes((0.0, 0.0, 0.55, 0.92))
space = ((-1.1, -0.8, -0.5), (1.1, 0.8, 0.0))
run.draw(axes=scene, times=(0.0, 0.4, 0.8), view=(25.0, 38.0), box=space)
view = bc.scene.view_of(bc.scene.of(mech), (25.0, 38.0))
around, up = np.meshgrid(np.linspace(0, 2 * np.pi, 49), np.linspace(0.0, 0.42 * np.pi, 13), indexing="ij")
bowl = np.stack([np.sin(up) * np.cos(around), np.sin(up) * np.sin(around), -np.cos(up)], -1) * BOWL
for line in (*bowl[:, 4::4].swapaxes(0, 1), *bowl[::6]):
    scene.plot(*view.project(line)[:, :2].T, color=figures.GREY, linewidth=0.6, zorder=0.4)
scene.plot(*view.project(points)[:, :2].T, color=figures.BLUE, linewidth=1.2)
scene.set_title("Ball at three instants; path of the contact", fontweight="bold")
plan, chart = fig.add_axes((0.64, 0.55, 0.34, 0.38)), fig.add_axes((0.64, 0.12, 0.34, 0.28))
edge = np.linspace(0.0, 2 * np.pi, 200)
plan.plot(BOWL[0] * np.cos(edge), BOWL[1] * np.sin(edge), color=figures.GREY, linewidth=0.8)
plan.plot(points[:, 0], points[:, 1], color=figures.BLUE, linewidth=1.2)
plan.set(aspect="equal", title="Contact from above", xlabel="x (m)", ylabel="y (m)")
energy = run.energy
for name, values, color in (("kinetic", energy.kinetic, figures.ORANGE),
                            ("potential", energy.potential - energy.potential.min(), figures.BLUE),
                            ("both", energy.total - energy.potential.min(), figures.GREY)):  # fmt: skip
    chart.plot(run.time, values, color=color, label=name)
chart.set(xlabel="time (s)", ylabel="energy (J)", xlim=(0, 3), ylim=(0, 1.6 * np.ptp(energy.kinetic)))
chart.legend(ncols=3, loc="upper center", fontsize=8)
figures.save(fig, out / "18_ellipsoid_on_ellipsoid.png")
