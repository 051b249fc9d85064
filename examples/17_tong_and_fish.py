"""A tong of 32 bars with a fish on a universal joint: 33 bodies, three coordinates.

All angles of the tong are multiples of one, q_i = q_i(q), given by equations between joint coordinates.
Source: B. Guenter, S.-H. Lee, Symbolic Lagrangian multibody dynamics, figure 5(d).
"""

from typing import Any

import figures
import formulations
import numpy as np

import bellcrank as bc

out = figures.output_folder()
CROSSINGS, HALF = 16, 0.10  # of the bars, m
START, REST, STIFFNESS = 1.2, 0.75, 40.0  # rad, rad, N m / rad
STEEL, SCALES = (0.55, 0.60, 0.66), (0.85, 0.45, 0.15)


def described() -> bc.Mechanism:
    """The tong along x, y upwards, with a torsion spring at its handle that pushes it open."""
    mech = bc.Mechanism("tong and fish", gravity=(0.0, -9.81, 0.0))
    shape = bc.Box(size=(2 * HALF, 0.014, 0.004), density=2700.0, color=STEEL)
    bars = {}
    for k in range(CROSSINGS):
        for side, sign in (("a", 1), ("b", -1)):
            bar = bars[side, k] = mech.add_body(f"{side} {k}", shapes=[shape])
            other = "b" if side == "a" else "a"
            before = mech.ground.marker() if k == 0 else bars[other, k - 1].marker((HALF, 0.0, 0.0))
            after = bar.marker((0.0 if k == 0 else -HALF, 0.0, 0.0))
            angle = sign * START * (1 if k == 0 else 2)
            mech.add_joint(f"pin {side} {k}", bc.Revolute(), before, after, position=angle)
    q, angle = bc.EndCoordinate("q"), bc.EndCoordinate("angle")
    for side, sign in (("a", 1), ("b", -1)):
        for k in range(CROSSINGS):
            if (side, k) != ("a", 0):
                follows = bc.CustomConstraint((q, angle), angle.value - sign * (1 if k == 0 else 2) * q.value)
                mech.add_constraint(f"angle {side} {k}", follows, "pin a 0", f"pin {side} {k}")
    spring = bc.CustomForce(q, potential=STIFFNESS / 2 * (q.value - REST) ** 2)
    mech.add_force("spring", spring, "pin a 0")
    body = bc.Ellipsoid(radii=(0.05, 0.12, 0.028), position=(0.0, -0.16, 0.0), density=1000.0, color=SCALES)
    tail = bc.Box(size=(0.10, 0.05, 0.01), position=(0.0, -0.30, 0.0), density=1000.0, color=SCALES)
    fish = mech.add_body("fish", shapes=[body, tail])
    # The first angle of the hook is about the pins, z; the second along the tong.
    last = bars["a", CROSSINGS - 1].marker(x_axis=(0, 0, 1), y_axis=(1, 0, 0))
    hook = fish.marker(x_axis=(0, 0, 1), y_axis=(1, 0, 0))
    mech.add_joint("hook", bc.Universal(), last, hook, position=(-START, 0.35))
    return mech


mech = described()
facts = bc.info(mech)
coordinates = len(mech.joints) + 1  # the hook has two
print(f"{facts.bodies} bodies, {coordinates} joint coordinates, {len(mech.constraints)} equations between "
      f"them, freedom {facts.freedom}, redundant {len(facts.redundant)}")  # fmt: skip
run = bc.simulate(mech, duration=1.5, step=1e-3, output_step=0.01)
drift = np.max(np.abs(run.energy.drift)) / np.ptp(run.energy.kinetic)
print(f"energy to {drift:.1e} of what is exchanged, equations to {run.violation.position.max():.1e}")
formulations.compare(mech, run)
system: Any = bc.prepare(mech, "symbolic")
print(f"symbolic: {len(system.speeds)} coordinates, {len(system.closing_rows)} equations to be closed")

# The loops close of themselves: the pins in the crossings are where both bars say.
last = CROSSINGS - 1
apart = [np.abs(run.body(f"a {k}").position - run.body(f"b {k}").position).max() for k in range(CROSSINGS)]
opening = run.joint("pin a 0").position[:, 0]
reach = run.body(f"a {last}").position[:, 0]
error = np.abs(reach - 2 * HALF * last * np.cos(opening)).max()
print(f"bars apart in their crossings by {max(apart):.1e} m, reach against the closed form {error:.1e} m")
print(f"the tong reaches from {reach.min():.3f} m to {reach.max():.3f} m")

fig = figures.figure(size=(9.0, 6.0))
fig.set_layout_engine("none")
for number, time in enumerate((0.0, 0.3, 0.6, 1.05)):
    scene = fig.add_axes((0.06, 0.81 - 0.17 * number, 0.92, 0.17))
    space = ((-0.2, -0.3, -0.3), (3.0, 0.3, 0.3))
    run.draw(axes=scene, times=time, view="front", box=space, scale=number == 3)
charts = [fig.add_axes((left, 0.09, 0.40, 0.20)) for left in (0.08, 0.57)]
charts[0].plot(run.time, reach, color=figures.GREY)
charts[0].set(xlabel="time (s)", ylabel="reach (m)", xlim=(0, 1.5))
swings = {
    "along the tong": run.joint("hook").position[:, 0] + opening,
    "aside": run.joint("hook").position[:, 1],
}
for (name, angle), color in zip(swings.items(), (figures.BLUE, figures.ORANGE), strict=True):
    charts[1].plot(run.time, np.degrees(angle), color=color, label=name)
charts[1].set(xlabel="time (s)", ylabel="fish (degrees)", xlim=(0, 1.5), ylim=(-70, 125))
charts[1].legend(loc="upper left", ncols=2)
figures.save(fig, out / "17_tong_and_fish.png")
