"""A sub-mechanism described once and placed twice: two arms bolted on a turning column."""

from math import cos, pi, radians, sin

import figures
import numpy as np

import bellcrank as bc

out = figures.output_folder()
ALUMINIUM, STEEL, PAINT = 2700.0, 7850.0, (0.85, 0.45, 0.15)


def described_arm() -> bc.Mechanism:
    """An arm of two links with a motor in each joint; its ground frame is its flange, reaching along x."""
    arm = bc.Mechanism("arm")
    across = (0.0, 1.0, 0.0)
    upper = arm.add_body(
        "upper",
        shapes=[
            bc.Box(size=(0.40, 0.06, 0.06), position=(0.20, 0.0, 0.0), density=ALUMINIUM, color=PAINT),
            bc.Cylinder(
                radius=0.045, length=0.09, rotation=(cos(pi / 4), sin(pi / 4), 0.0, 0.0), density=ALUMINIUM
            ),
        ],
    )
    lower = arm.add_body(
        "lower",
        position=(0.40, 0.0, 0.0),
        shapes=[
            bc.Box(size=(0.34, 0.045, 0.045), position=(0.17, 0.0, 0.0), density=ALUMINIUM, color=PAINT),
            bc.Sphere(radius=0.04, position=(0.36, 0.0, 0.0), density=STEEL),
        ],
    )
    raised, bent = bc.Ramp(0.0, radians(-50.0), 0.2, 1.2), bc.Ramp(0.0, radians(95.0), 0.4, 1.2)
    arm.add_joint(
        "shoulder",
        bc.RevoluteMotor(position=raised),
        arm.ground.marker(axis=across),
        upper.marker(axis=across),
    )
    elbow = upper.marker((0.40, 0.0, 0.0), axis=across)
    arm.add_joint("elbow", bc.RevoluteMotor(position=bent), elbow, lower.marker(axis=across))
    return arm


def robot(arms: int) -> bc.Mechanism:
    """A column that turns by half a turn, with as many arms around it."""
    mech = bc.Mechanism(f"robot with {arms} arms")
    tube = bc.Cylinder(radius=0.08, length=0.9, position=(0.0, 0.0, 0.45), density=ALUMINIUM)
    column = mech.add_body("column", shapes=[tube])
    turning = bc.RevoluteMotor(position=bc.Ramp(0.0, pi, 0.2, 1.8))
    mech.add_joint("turntable", turning, mech.ground.marker(), column.marker())
    for number in range(arms):
        turn = pi * number
        place = (0.12 * cos(turn), 0.12 * sin(turn), 0.8)
        rotation = (cos(turn / 2), 0.0, 0.0, sin(turn / 2))
        mech.place(described_arm(), f"arm {number + 1}", place, rotation, attach_to=column)
    return mech


mech = robot(2)
print(mech, "with", ", ".join(mech.joints))
run = bc.inverse_dynamics(mech, duration=2.2, step=2e-3)
efforts = {name: run.drive(name).effort for name in run.drives}
for motor in ("shoulder", "elbow"):
    same = np.max(np.abs(efforts[f"arm 1/{motor}"] - efforts[f"arm 2/{motor}"]))
    peak = np.max(np.abs(efforts[f"arm 1/{motor}"]))
    print(f"{motor}: at most {peak:.3f} N m; the two arms differ by {same:.1e} N m")

# The turntable carries each arm's share: with none, one and two arms its torque grows by equal amounts.
shares = [
    bc.inverse_dynamics(robot(arms), duration=2.2, step=2e-3).drive("turntable").effort for arms in range(3)
]
additive = np.max(np.abs(shares[2] - 2 * shares[1] + shares[0]))
print(f"turntable: at most {np.abs(shares[2]).max():.3f} N m; arms add up to {additive:.1e} N m")

# A copy is used like everything else: the second arm takes a kilogram in its hand.
hand = (-0.12 - 0.40 - 0.36, 0.0, 0.8)
load = mech.add_body("load", mass=1.0, shapes=[bc.Sphere(radius=0.05, density=1.0)], position=hand)
mech.add_joint("grip", bc.Fixed(), mech.bodies["arm 2/lower"].world_marker(hand), load.world_marker(hand))
loaded = bc.inverse_dynamics(mech, duration=2.2, step=2e-3)
torques = [loaded.drive(f"arm {number}/shoulder").effort[-1] for number in (1, 2)]
lever = 0.40 * cos(radians(50.0)) + 0.36 * cos(radians(45.0))
print(f"in the end arm 1 holds {torques[0]:.4f} N m in its shoulder, loaded arm 2 {torques[1]:.4f} N m: "
      f"{torques[0] - torques[1]:.4f} N m more, by hand {9.81 * lever:.4f} N m")  # fmt: skip

fig = figures.figure(size=(8.6, 4.2))
scene, chart = fig.add_subplot(1, 2, 1), fig.add_subplot(1, 2, 2)
loaded.draw(axes=scene, times=(0.0, 0.85, 2.2), view=(20.0, 24.0))
chart.plot(run.time, efforts["turntable"], color=figures.GREY, label="turntable")
for motor, color in (("shoulder", figures.BLUE), ("elbow", figures.ORANGE)):
    chart.plot(run.time, efforts[f"arm 1/{motor}"], color=color, label=f"{motor}, arm 1")
    chart.plot(
        loaded.time, loaded.drive(f"arm 2/{motor}").effort, "--", color=color, label=f"{motor}, arm 2 loaded"
    )
chart.set(xlabel="time (s)", ylabel="torque (N·m)", title="Torques of the motors", xlim=(0, 2.2))
chart.legend()
figures.save(fig, out / "12_arm_placed_twice.png")
