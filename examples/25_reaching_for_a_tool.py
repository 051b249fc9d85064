"""A manipulator reaches for a tool, grips and lifts it: its elbow's torque, from two places of the shoulder.

P. Schröder, The Virtual Erector Set (MIT, 1990), section 1.5.1: from its old place the arm has to stretch,
and the torque at the elbow looks dangerously large; so the shoulder is moved.
"""

from math import acos, atan2, cos, sin

import figures
import formulations
import numpy as np

import bellcrank as bc

out, formulation = figures.output_folder(), formulations.chosen()
GRAVITY, LENGTH = 9.81, 0.5
TOOL = np.array([1.0, 0.0, 0.3])  # where it lies
UPPER_MASS, LOWER_MASS, TOOL_MASS, TOOL_INERTIA = 4.0, 2.0, 3.0, 0.004
GRIP, END = 1.6, 3.4  # s
SHOULDERS = {"the old place": (0.10, 0.0, 0.6), "moved": (0.45, 0.0, 0.75)}
HOME = (2.0, -2.9)  # folded: angle of the upper arm over the horizontal, angle of the elbow
OVER = {"axis": (0, -1, 0)}


def reach(shoulder: tuple[float, float, float]) -> tuple[float, float]:
    """The angles that put the hand on the tool, with the elbow up."""
    x, _, z = TOOL - shoulder
    bend = -acos((x * x + z * z) / (2 * LENGTH**2) - 1)
    return atan2(z, x) - atan2(sin(bend), 1 + cos(bend)), bend


def motions(shoulder: tuple[float, float, float], gripped: bool) -> list[bc.Ramp]:
    """Of both joints: there from 0 to 1.5 s, and back from 1.8 to 3.3 s."""
    pairs = zip(HOME, reach(shoulder), strict=True)
    return [
        bc.Ramp(goal, home, 1.8, 1.5) if gripped else bc.Ramp(home, goal, 0.0, 1.5) for home, goal in pairs
    ]


def arm(shoulder: tuple[float, float, float], gripped: bool) -> bc.Mechanism:
    """The arm with the tool where it lies, or in the hand."""
    mech = bc.Mechanism("manipulator", gravity=(0, 0, -GRAVITY))
    rod = np.array([1e-3, LENGTH**2 / 12, LENGTH**2 / 12])
    upper = mech.add_body("upper arm", mass=UPPER_MASS, inertia=UPPER_MASS * rod, position=shoulder)
    lower = mech.add_body("forearm", mass=LOWER_MASS, inertia=LOWER_MASS * rod, position=shoulder)
    tool = mech.add_body("tool", mass=TOOL_MASS, inertia=(TOOL_INERTIA,) * 3, position=TOOL)
    half, motion = LENGTH / 2, motions(shoulder, gripped)
    mech.add_joint(
        "shoulder", bc.Revolute(), mech.ground.marker(shoulder, **OVER), upper.marker((-half, 0, 0), **OVER)
    )
    mech.add_joint(
        "elbow", bc.Revolute(), upper.marker((half, 0, 0), **OVER), lower.marker((-half, 0, 0), **OVER)
    )
    for name, function in zip(("shoulder", "elbow"), motion, strict=True):
        mech.add_drive(name, joint=name, position=function)
    if gripped:
        turned = bc.rotation(axis=(0, -1, 0), angle=-sum(reach(shoulder)))  # the tool lies level
        mech.add_joint("grip", bc.Fixed(), lower.marker((half, 0, 0), rotation=turned), tool.marker())
    else:
        mech.add_joint("shelf", bc.Fixed(), mech.ground.marker(tuple(TOOL)), tool.marker())
    return mech


def by_hand(shoulder: tuple[float, float, float], times: np.ndarray, gripped: bool) -> np.ndarray:
    """The elbow's torque (T,) by the closed form for two rods, the tool at the end of the second."""
    angle, rate, acceleration = (
        np.array([function.derivative(times, order) for function in motions(shoulder, gripped)])
        for order in range(3)
    )
    carried = TOOL_MASS if gripped else 0.0
    first = LOWER_MASS * LENGTH / 2 + carried * LENGTH  # moments of the masses about the elbow
    second = LOWER_MASS * LENGTH**2 / 3 + carried * LENGTH**2 + (TOOL_INERTIA if gripped else 0.0)
    swung = acceleration[0] * np.cos(angle[1]) + rate[0] ** 2 * np.sin(angle[1])
    weight = GRAVITY * np.cos(angle.sum(axis=0))
    return second * acceleration.sum(axis=0) + first * (LENGTH * swung + weight)


def lifted(shoulder: tuple[float, float, float]) -> list[bc.Trajectory]:
    """Both runs: to the tool, and from there with it."""
    settings = {"formulation": formulation, "method": "dopri5", "tolerance": 1e-9, "output_step": 0.01}
    there = bc.simulate(arm(shoulder, False), GRIP, **settings)
    back = bc.simulate(arm(shoulder, True), END - GRIP, start=GRIP, state=there.at(GRIP), **settings)
    return [there, back]


runs = {place: lifted(shoulder) for place, shoulder in SHOULDERS.items()}
gripped = {place: float(back.drive("elbow").effort[0]) for place, (_, back) in runs.items()}
for place, (there, back) in runs.items():
    shoulder = SHOULDERS[place]
    efforts = [run.drive("elbow").effort for run in (there, back)]
    known = [by_hand(shoulder, run.time, run is back) for run in (there, back)]
    error = max(np.abs(effort - exact).max() for effort, exact in zip(efforts, known, strict=True))
    hand = there.body("forearm").point((LENGTH / 2, 0, 0))[-1]
    print(f"{place}: stretched to {np.linalg.norm(TOOL - shoulder) / (2 * LENGTH):.0%}, the hand meets it "
          f"to {np.linalg.norm(hand - TOOL):.1e} m")  # fmt: skip
    print(f"    elbow: {np.abs(efforts[0]).max():.2f} N m on the way there, {gripped[place]:.2f} N m "
          f"with the tool in the hand, {np.abs(efforts[1]).max():.2f} at most; "
          f"closed form to {error:.1e} N m")  # fmt: skip
    work = np.trapezoid(sum(back.drive(name).power for name in ("shoulder", "elbow")), back.time)
    gained = back.energy.total[-1] - back.energy.total[0]
    print(f"    lifting takes {work:.3f} J of work; {abs(work - gained):.1e} J are not in the energy")
print(f"moving the shoulder takes {1 - gripped['moved'] / gripped['the old place']:.0%} off the elbow")

fig, (scene, chart) = figures.subplots(1, 2, size=(9.0, 3.9), width_ratios=(1.0, 1.2))
for (place, (there, back)), color in zip(runs.items(), figures.COLOURS, strict=False):
    for run, moments in ((there, (0.0, 0.75, GRIP)), (back, (2.55, END))):
        for moment in moments:
            frame = int(np.argmin(np.abs(run.time - moment)))
            joints = [run.body(n).point((x, 0, 0))[frame]
                      for n, x in (("upper arm", -0.25), ("upper arm", 0.25), ("forearm", 0.25))]  # fmt: skip
            xs, _, zs = np.array(joints).T
            scene.plot(xs, zs, "o-", color=color, markersize=3, linewidth=2,
                       alpha=1.0 if moment == GRIP else 0.35,
                       label=f"shoulder: {place}" if moment == GRIP else None)  # fmt: skip
    time = np.concatenate([there.time, back.time])
    torque = np.concatenate([there.drive("elbow").effort, back.drive("elbow").effort])
    chart.plot(time, torque, color=color, label=f"shoulder: {place}")
scene.plot(TOOL[0], TOOL[2], "s", color="black", markersize=7)
scene.set(
    aspect="equal", xlabel="x (m)", ylabel="z (m)", title="Reaching, gripping, lifting", ylim=(0.1, 1.35)
)
scene.legend(loc="upper right")
chart.axvline(GRIP, color=figures.GREY, linewidth=0.8, linestyle="--")
figures.note(chart, "grips the tool", (GRIP, 0.0), (4, 4))
chart.set(xlabel="time (s)", ylabel="torque (N m)", title="The elbow")
chart.legend(loc="upper left")
figures.save(fig, out / "25_reaching_for_a_tool.png")
