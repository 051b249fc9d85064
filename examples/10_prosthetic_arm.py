"""The complete prosthetic arm: the hand is led through tasks, and the torques of the motors come out.

First the wrist is led along a path (a NURBS curve) and all joints follow: inverse kinematics. Then the motors
are led by the angles found: inverse dynamics.
"""

from math import pi

import figures
import numpy as np

import bellcrank as bc
from bellcrank.gallery.prosthetic_tasks import (
    ACTUATORS,
    LIFT_A_BOTTLE,
    STRAIGHT_LINE,
    TAKE_A_BOOK,
    Task,
    actuator_angles,
    driven_by_angles,
    driven_by_path,
)

out = figures.output_folder()
MOTORS, LOOKS = ACTUATORS[:2], ((figures.BLUE, "-"), (figures.ORANGE, "--"))
TASKS = (STRAIGHT_LINE, TAKE_A_BOOK, LIFT_A_BOTTLE)

facts = bc.info(bc.gallery.prosthetic_arm())
print(
    f"{facts.bodies} bodies, {6 * facts.bodies} coordinates, {facts.rows} constraint rows, "
    f"freedom {facts.freedom} (paper: 9, 54, 50)"
)


def worked_out(task: Task) -> tuple[bc.Trajectory, bc.Trajectory]:
    """Inverse kinematics and inverse dynamics of a task, checked."""
    reached = bc.kinematics(driven_by_path(task), task.end, step=2.5e-3)
    angles = {name: reached.joint(name).position[:, 0] for name in ACTUATORS}
    known = actuator_angles(task, reached.time)
    off = max(np.abs(angles[name] - known[name]).max() for name in ACTUATORS)
    run = bc.inverse_dynamics(driven_by_angles(task, reached.time, angles), task.end, step=2.5e-3)
    power = sum(run.drive(name).power for name in ACTUATORS)
    work = np.concatenate([[0.0], np.cumsum(0.5 * (power[1:] + power[:-1]) * np.diff(run.time))])
    missing = np.abs(work - run.energy.drift).max()
    print(f"{task.name}, {task.payload} kg in the hand:")
    print(f"  joint angles against the closed form: {off:.1e} rad")
    print(f"  work of the motors against the energy: {missing:.1e} of {work.max():.2f} J")
    for name in ACTUATORS:
        torque, power = 1e3 * run.drive(name).effort, run.drive(name).power
        speed = np.abs(run.joint(name).velocity).max() * 30 / pi
        print(
            f"  {name:12s} torque at most {np.abs(torque).max():7.1f} mN m, rms "
            f"{np.sqrt(np.mean(torque**2)):6.1f}; speed {speed:5.0f} 1/min; "
            f"power {power.min():+6.2f} to {power.max():+6.2f} W"
        )
    return reached, run


runs = {task.name: worked_out(task) for task in TASKS}

# The paper's figure 6: rotation and angular speed of the two gears for a slow straight motion of the hand.
_, run = runs[STRAIGHT_LINE.name]
fig, (top, bottom) = figures.subplots(2, 1, size=(6.0, 4.4), sharex=True)
for name, (color, style) in zip(("front gear", "rear gear"), LOOKS, strict=True):
    top.plot(run.time, np.degrees(run.joint(name).position[:, 0]), style, color=color, label=name)
    bottom.plot(run.time, np.degrees(run.joint(name).velocity[:, 0]), style, color=color)
for axis in (top, bottom):
    axis.axhline(0.0, color=figures.GREY, linewidth=0.7)
length = np.linalg.norm(np.diff(STRAIGHT_LINE.curve.control_points, axis=0))
top.set(
    ylabel="rotation in the arm (°)",
    title=f"Side gears while the hand moves {length:.2f} m along a straight line",
)
top.legend(loc="lower left")
bottom.set(xlabel="time (s)", ylabel="angular speed (°/s)", xlim=(0, STRAIGHT_LINE.end))
figures.save(fig, out / "10_gears.png")

fig, axes = figures.subplots(3, 3, size=(9.2, 5.6), sharex="col", sharey="row")
for column, task in enumerate(TASKS):
    _, run = runs[task.name]
    load = f", {task.payload:g} kg" if task.payload else ""
    for name, (color, style) in zip(MOTORS, LOOKS, strict=True):
        drive = run.drive(name)
        rows = (run.joint(name).velocity[:, 0] * 30 / pi, 1e3 * drive.effort, drive.power)
        for axis, values in zip(axes[:, column], rows, strict=True):
            axis.plot(run.time, values, style, color=color, label=name)
    total = sum(run.drive(name).power for name in MOTORS)
    axes[2, column].fill_between(run.time, total, color=figures.GREY, alpha=0.22, linewidth=0, label="both")
    axes[0, column].set_title(f"{task.name.capitalize()}{load}")
    axes[2, column].set(xlabel="time (s)", xlim=(0, task.end))
for axis, label in zip(axes[:, 0], ("speed (1/min)", "torque (mN·m)", "power (W)"), strict=True):
    axis.set_ylabel(label)
for axis in axes.flat:
    axis.axhline(0.0, color=figures.GREY, linewidth=0.7)
axes[2, 0].legend(loc="upper left")
figures.save(fig, out / "10_motors.png")

fig = figures.figure(size=(9.2, 3.1))
for column, task in enumerate(TASKS):
    reached, _ = runs[task.name]
    scene = fig.add_subplot(1, 3, column + 1)
    times = np.array([0.0, 0.5, 1.0]) * task.end
    reached.draw(axes=scene, times=times, paths=["hand"], view=(34.0, 14.0))
    scene.set_title(task.name.capitalize())
figures.save(fig, out / "10_tasks.png")
