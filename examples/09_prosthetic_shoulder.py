"""The prosthetic shoulder of Tasora's paper: a Cardan suspension driven through a differential gear.

Equal turns of the two side gears relative to the arm lift it sideways, opposite turns lift it forwards.
"""

from math import cos, radians, sin

import figures
import numpy as np

import bellcrank as bc
from bellcrank.mechanism.rotation import matrix

out = figures.output_folder()
parameters = bc.gallery.ArmParameters()
HANGING = bc.gallery.Posture(elbow=radians(20.0))

facts = bc.info(bc.gallery.prosthetic_shoulder(HANGING))
print(facts)
print(
    f"{facts.bodies} bodies, {6 * facts.bodies} coordinates, {facts.rows} constraint rows, "
    f"freedom {facts.freedom}, redundant rows {len(facts.redundant)} (paper: 7, 42, 40)"
)


def driven(front: float, rear: float) -> tuple[bc.Mechanism, bc.Trajectory]:
    """Both side gears turned by angles (rad) in 1.5 s, from rest to rest, and what that takes."""
    mech = bc.gallery.prosthetic_shoulder(HANGING)
    for name, angle in (("front motor", front), ("rear motor", rear)):
        ramp = bc.Ramp(0.0, angle * parameters.reduction, start=0.25, duration=1.5)
        mech.add_drive(name, joint=name, position=ramp)
    return mech, bc.inverse_dynamics(mech, duration=2.0, step=5e-3)


def holding_torques(flexion: float, abduction: float) -> tuple[float, float]:
    """Torques of front and rear motor that hold the arm, N m, by hand: virtual work of the weights.

    A weight at (x, y, z) in the axes of the arm lies at the height
    x sin(flexion) + (z cos(abduction) - y sin(abduction)) cos(flexion).
    """
    mech = bc.gallery.prosthetic_shoulder(bc.gallery.Posture(flexion, abduction, HANGING.elbow))
    into_arm = matrix(mech.bodies["arm"].rotation).T
    by_flexion = by_abduction = 0.0  # derivatives of the potential energy, N m
    for body in mech.bodies.values():
        x, y, z = into_arm @ (np.asarray(body.position) + matrix(body.rotation) @ body.com)
        weight = 9.81 * body.mass
        by_flexion += weight * (x * cos(flexion) - (z * cos(abduction) - y * sin(abduction)) * sin(flexion))
        by_abduction -= weight * (z * sin(abduction) + y * cos(abduction)) * cos(flexion)
    gear_front = (by_flexion / parameters.gear_ratio - by_abduction) / 2
    gear_rear = (-by_flexion / parameters.gear_ratio - by_abduction) / 2
    # Lifted along the arm by its screw, a nut adds its own weight.
    lifting = parameters.nut_mass * 9.81 * cos(flexion) * cos(abduction) * parameters.screw_lead / (2 * np.pi)
    return gear_front / parameters.reduction + lifting, gear_rear / parameters.reduction + lifting


def drawn_drive() -> None:
    """A picture of the drive with names, the shield taken away."""
    mech = bc.gallery.prosthetic_shoulder(parameters=parameters)
    fig = figures.figure(size=(5.6, 5.4))
    scene = fig.add_subplot()
    space = ((-0.08, -0.08, -0.29), (0.08, 0.08, 0.06))
    shown = {*mech.bodies, "ground"} - {"arm"}
    mech.draw(axes=scene, only=shown, view=(52.0, 22.0), joints=False, box=space)
    view = bc.scene.view_of(bc.scene.of(mech), (52.0, 22.0))
    x, y, low = parameters.drive_offset, -parameters.pulley_radius, -parameters.nut_height
    for side in (x, -x):
        wire = view.project([(side, y, 0.0), (side, y, low)])
        scene.plot(*wire[:, :2].T, color=figures.BLACK, linewidth=1.2)
    for ends in (((0, 0.06, 0), (0, -0.11, 0)), ((-0.07, 0, 0), (0.07, 0, 0))):
        scene.plot(*view.project(ends)[:, :2].T, color=figures.GREY, linewidth=0.9, linestyle="-.")
    for text, point, offset in (
        ("first axis of the Cardan,\nfixed to the breast", (0.0, -0.11, 0.0), (-30, -30)),
        ("second axis: arm\nand side gears", (0.07, 0.0, 0.0), (45, 5)),
        ("frontal pinion, locked to the breast", (0.0, 0.024, 0.022), (20, 22)),
        ("side gear", (-0.02, 0.0, -0.015), (-110, -5)),
        ("pulley", (-0.034, -0.015, 0.02), (-55, 15)),
        ("wire", (x, y, -0.06), (60, -12)),
        ("nut, kept from turning", (x + 0.01, y, low), (60, -12)),
        ("ball screw", (x, y, -0.18), (60, -12)),
        ("motor", (x + 0.012, y, -0.23), (60, -12)),
    ):
        side = "center" if abs(offset[0]) < 32 else "left" if offset[0] > 0 else "right"
        line = {"arrowstyle": "-", "linewidth": 0.6, "shrinkA": 2, "shrinkB": 0}
        scene.annotate(text, view.project(point)[:2], offset, textcoords="offset points", fontsize=8, ha=side,
                       va="center", arrowprops=line, annotation_clip=False)  # fmt: skip
    figures.save(fig, out / "09_drive.png")


drawn_drive()
fig = figures.figure(size=(7.4, 8.0))
grid = fig.add_gridspec(4, 2, height_ratios=(2.1, 1.0, 1.0, 1.0))
lift = radians(60.0)
for column, (title, front, rear) in enumerate(
    (("Gears turned alike: sideways", -lift, -lift), ("Gears turned oppositely: forwards", lift, -lift))
):
    mech, run = driven(front, rear)
    flexion, abduction = run.joint("cardan").position.T
    gears = [run.joint(name).position[:, 0] for name in ("front gear", "rear gear")]
    law = max(
        np.abs(flexion - (gears[0] - gears[1]) / 2).max(), np.abs(abduction + (gears[0] + gears[1]) / 2).max()
    )
    torques = [run.drive(name).effort for name in ("front motor", "rear motor")]
    by_hand = holding_torques(flexion[-1], abduction[-1])
    off = max(abs(torque[-1] - known) for torque, known in zip(torques, by_hand, strict=True))
    print(
        f"{title}: flexion {np.degrees(flexion[-1]):.1f}, abduction {np.degrees(abduction[-1]):.1f} degrees; "
        f"law of the differential met to {law:.1e} rad"
    )
    print(
        f"  holding torques {1e3 * torques[0][-1]:.3f} and {1e3 * torques[1][-1]:.3f} mN m, "
        f"by hand {1e3 * by_hand[0]:.3f} and {1e3 * by_hand[1]:.3f} mN m (difference {off:.1e} N m)"
    )
    power = sum(run.drive(name).power for name in ("front motor", "rear motor"))
    work = np.concatenate([[0.0], np.cumsum(0.5 * (power[1:] + power[:-1]) * np.diff(run.time))])
    lost = np.max(np.abs(work - run.energy.drift))
    print(f"  work of the motors {work[-1]:.3f} J; against the energy of the arm: {lost:.1e} J")
    scene = fig.add_subplot(grid[0, column])
    run.draw(axes=scene, times=(0.0, 2.0), view=(50.0, 14.0))
    scene.set_title(title)
    axes = [fig.add_subplot(grid[row, column]) for row in (1, 2, 3)]
    for history, label, style in ((gears[0], "front gear", "-"), (gears[1], "rear gear", "--")):
        axes[0].plot(run.time, np.degrees(history), style, label=label)
    axes[1].plot(run.time, np.degrees(flexion), color=figures.GREEN, label="flexion")
    axes[1].plot(run.time, np.degrees(abduction), color=figures.PINK, label="abduction")
    for torque, label, style in zip(torques, ("front motor", "rear motor"), ("-", "--"), strict=True):
        axes[2].plot(run.time, 1e3 * torque, style, label=label)
    axes[0].set(ylim=(-75, 75), yticks=(-60, 0, 60), xticklabels=[])
    axes[1].set(ylim=(-8, 75), yticks=(0, 30, 60), xticklabels=[])
    axes[2].set(xlabel="time (s)", ylim=(-78, 78), yticks=(-60, -30, 0, 30, 60))
    for axis, name in zip(axes, ("gear (°)", "Cardan (°)", "motor (mN·m)"), strict=True):
        axis.legend(loc="lower left" if axis is axes[2] else "upper left")
        if column == 0:
            axis.set_ylabel(name)
figures.save(fig, out / "09_prosthetic_shoulder.png")

# Let go: nothing holds the motors, and the arm swings with rotors and screws turning along.
lifted = bc.gallery.Posture(radians(60.0), radians(20.0), HANGING.elbow)
run = bc.simulate(bc.gallery.prosthetic_shoulder(lifted), duration=5.0)
rate = run.statistics["steps"] / run.statistics["wall_seconds"]
print(
    f"let go: {rate:.0f} steps a second of rk4, {5.0 / run.statistics['wall_seconds']:.0f} times real time "
    f"(paper: 150 steps a second at 700 MHz); energy drift {np.max(np.abs(run.energy.drift)):.1e} J"
)
