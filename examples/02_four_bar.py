"""A crank-rocker four-bar, driven at constant speed: coupler curve, driving torque, forces in the pins."""

from math import pi

import figures
import numpy as np

import bellcrank as bc

out = figures.output_folder()
GROUND, CRANK, COUPLER, ROCKER = 0.40, 0.12, 0.36, 0.28  # m
SPEED = 2 * pi  # rad/s


def closed_form(angle: np.ndarray) -> np.ndarray:
    """Angle of the rocker for that of the crank, both from the line of the fixed pivots (open branch)."""
    x, y = GROUND - CRANK * np.cos(angle), -CRANK * np.sin(angle)  # from crank pin to rocker's pivot
    reach = np.hypot(x, y)
    inner = np.arccos((reach**2 + ROCKER**2 - COUPLER**2) / (2 * reach * ROCKER))
    return np.arctan2(-y, -x) - inner


def bar(mech: bc.Mechanism, name: str, start: np.ndarray, end: np.ndarray) -> bc.Body:
    """A steel bar of 20 x 8 mm between two points; x along the bar, frame at its start."""
    length = float(np.linalg.norm(end - start))
    turn = float(np.arctan2(end[1] - start[1], end[0] - start[0]))
    steel = bc.Box(size=(length, 0.02, 0.008), position=(length / 2, 0.0, 0.0), density=7850.0)
    return mech.add_body(
        name,
        position=(*start, 0.0),
        rotation=(np.cos(turn / 2), 0.0, 0.0, np.sin(turn / 2)),
        shapes=[steel],
    )


start = np.radians(60.0)
pivot_1, pivot_2 = np.array([0.0, 0.0]), np.array([GROUND, 0.0])
pin_1 = CRANK * np.array([np.cos(start), np.sin(start)])
rocker_angle = float(closed_form(np.array(start)))
pin_2 = pivot_2 + ROCKER * np.array([np.cos(rocker_angle), np.sin(rocker_angle)])

mech = bc.Mechanism("four-bar", gravity=(0.0, -9.81, 0.0))
crank, coupler = bar(mech, "crank", pivot_1, pin_1), bar(mech, "coupler", pin_1, pin_2)
rocker = bar(mech, "rocker", pivot_2, pin_2)
ground = mech.ground
motor = bc.RevoluteMotor(velocity=SPEED)
mech.add_joint("motor", motor, ground.world_marker((*pivot_1, 0.0)), crank.world_marker((*pivot_1, 0.0)))
mech.add_joint("pin 1", bc.Revolute(), crank.marker((CRANK, 0.0, 0.0)), coupler.marker())
mech.add_joint("pin 2", bc.Revolute(), coupler.marker((COUPLER, 0.0, 0.0)), rocker.marker((ROCKER, 0.0, 0.0)))
mech.add_joint("pivot", bc.Revolute(), ground.marker((GROUND, 0.0, 0.0)), rocker.marker())

# Revolute joints in space are more than a plane loop needs: three rows are redundant, and found to be so.
system = bc.prepare(mech)
system.accelerate()
print("redundant rows:", ", ".join(str(row) for row in system.stats.dropped))

run = bc.simulate(mech, duration=1.0, step=5e-4, output_step=2.5e-3)
turned = start + SPEED * run.time
rocker_run = run.joint("pivot").position[:, 0]
error = np.max(np.abs(np.exp(1j * rocker_run) - np.exp(1j * closed_form(turned))))
print(f"rocker swings {np.degrees(np.ptp(rocker_run)):.3f} degrees; error to the closed form {error:.1e} rad")

# The motor's power is the rate of the energy of everything: an independent check of its torque.
torque = run.drive("motor").effort
power = torque * run.joint("motor").velocity[:, 0]
work = np.concatenate([[0.0], np.cumsum(0.5 * (power[1:] + power[:-1]) * np.diff(run.time))])
print(f"torque {torque.min():.3f} to {torque.max():.3f} N m")
print(f"work of the motor against the energy: {np.max(np.abs(work - run.energy.drift)):.1e} J")

point = run.body("coupler").point((COUPLER / 2, 0.10, 0.0))  # a point beside the coupler's middle
fig = figures.figure(size=(9.0, 4.0))
grid = fig.add_gridspec(2, 2, width_ratios=(1.2, 1.0))
plan, upper, lower = fig.add_subplot(grid[:, 0]), fig.add_subplot(grid[0, 1]), fig.add_subplot(grid[1, 1])
plan.plot(point[:, 0], point[:, 1], color=figures.ORANGE)
bars = (("crank", CRANK, figures.BLUE), ("coupler", COUPLER, figures.GREY), ("rocker", ROCKER, figures.GREEN))
for name, length, color in bars:
    ends = np.stack([run.body(name).position, run.body(name).point((length, 0.0, 0.0))], axis=1)
    for frame, alpha in ((0, 1.0), (100, 0.25), (200, 0.25), (300, 0.25)):
        plan.plot(*ends[frame, :, :2].T, color=color, linewidth=4.0, alpha=alpha, solid_capstyle="round")
frame = 0  # the coupler carries the point on a plate
plate = np.array(
    [run.body("coupler").position[frame], point[frame], run.body("rocker").point((ROCKER, 0, 0))[frame]]
)
plan.fill(plate[:, 0], plate[:, 1], color=figures.GREY, alpha=0.18, linewidth=0)
plan.plot(*point[frame, :2], "o", color=figures.ORANGE, markersize=5)
plan.plot([0.0, GROUND], [0.0, 0.0], "^", color="black", markersize=9, zorder=5)
plan.set(aspect="equal", xlabel="x (m)", ylabel="y (m)", title="Four poses, and the path of a coupler point")
upper.plot(run.time, torque)
upper.axhline(0.0, color=figures.GREY, linewidth=0.8)
upper.set(ylabel="motor torque (N m)", title="One turn of the crank", xlim=(0, 1), xticklabels=[])
for name, color in (("pin 1", figures.BLUE), ("pin 2", figures.ORANGE), ("pivot", figures.GREEN)):
    lower.plot(run.time, np.linalg.norm(run.joint(name).force, axis=1), color=color, label=name)
lower.set(xlabel="time (s)", ylabel="force (N)", xlim=(0, 1), ylim=(0, 9.5))
lower.legend(ncols=3, loc="upper left")
figures.save(fig, out / "02_four_bar.png")
