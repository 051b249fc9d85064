"""A knee as a four-bar of its cruciate ligaments beside a knee with a hinge: what the shank does differently.

The four-bar is one joint by formula: its coordinate is the flexion, which gives the place of the shank.
The sizes are of a grown person, chosen for the example.
"""

from typing import Any

import figures
import formulations
import numpy as np

import bellcrank as bc
from bellcrank import expression as ex

out = figures.output_folder()
# x forwards, y upwards, origin in the knee's middle, knee stretched; ends on the thigh and on the shank, m.
ENDS = {"anterior": ((-0.010, 0.006), (0.012, -0.026)), "posterior": ((0.003, -0.002), (-0.018, -0.030))}
ANKLE, HINGE, START = (0.0, -0.42), (-0.008, -0.003), 1.6
SIDE = 1.0  # of the two points where the circles meet
LENGTHS = {name: float(np.linalg.norm(np.subtract(*ends))) for name, ends in ENDS.items()}


def place(flexion: Any, library: Any = ex) -> tuple[Any, Any]:
    """x and y of the shank's frame, where both ligaments keep their lengths: two circles meet."""
    cosine, sine = library.cos(flexion), library.sin(flexion)
    (x, y), (u, v) = (
        (thigh[0] - cosine * shank[0] - sine * shank[1], thigh[1] - cosine * shank[1] + sine * shank[0])
        for thigh, shank in ENDS.values()
    )
    u, v = u - x, v - y
    square = u * u + v * v
    along = (1 + (LENGTHS["anterior"] ** 2 - LENGTHS["posterior"] ** 2) / square) / 2
    across = library.sqrt(LENGTHS["anterior"] ** 2 / square - along * along)
    return x + along * u + SIDE * across * v, y + along * v - SIDE * across * u


def leg(kind: str) -> bc.Mechanism:
    """A shank with its foot on a thigh that stands still."""
    mech = bc.Mechanism(f"knee, {kind}", gravity=(0.0, -9.81, 0.0))
    x, y = (0.0, 0.0) if kind == "hinge" else map(float, place(START, np))
    turn = (np.cos(START / 2), 0.0, 0.0, -np.sin(START / 2))
    inertia = (0.09, 0.01, 0.09)
    shank = mech.add_body(
        "shank", mass=4.2, com=(0.02, -0.25, 0.0), inertia=inertia, position=(x, y, 0.0), rotation=turn
    )
    if kind == "formula":
        q = bc.symbol("flexion")
        pose = ex.translation(*place(q), 0) @ ex.rotation_z(-q)
        mech.add_joint("knee", bc.CustomJoint(q, pose, units="rad"), mech.ground, shank, position=START)
    elif kind == "hinge":
        one, two = (body.marker((*HINGE, 0.0), axis=(0.0, 0.0, -1.0)) for body in (mech.ground, shank))
        mech.add_joint("knee", bc.Revolute(), one, two, position=START)
    else:
        mech.add_joint("plane", bc.Planar(), mech.ground.marker(), shank.marker())
        for name, (thigh, below) in ENDS.items():
            rod = bc.Distance(length=LENGTHS[name])
            mech.add_joint(name, rod, mech.ground.marker((*thigh, 0.0)), shank.marker((*below, 0.0)))
    return mech


# As by formula; the same with two rods that close a loop; and a hinge. Let go bent, until stretched.
runs = {
    kind: bc.simulate(leg(kind), duration=0.8, step=1e-3, output_step=0.002)
    for kind in ("formula", "rods", "hinge")
}
ankle = {kind: run.body("shank").point((*ANKLE, 0.0)) for kind, run in runs.items()}
apart = np.abs(ankle["formula"] - ankle["rods"]).max()
drift = max(np.max(np.abs(run.energy.drift)) / np.ptp(run.energy.kinetic) for run in runs.values())
print(f"ankle, formula against rods: {apart:.1e} m; energy to {drift:.1e} of what is exchanged")
formulations.compare(leg("formula"), runs["formula"])
stretched = {}
for kind in ("formula", "hinge"):
    flexion = runs[kind].joint("knee").position[:, 0]
    after = int(np.argmax(flexion < 0.0))
    stretched[kind] = float(np.interp(0.0, flexion[[after, after - 1]], runs[kind].time[[after, after - 1]]))
print(f"stretched after {stretched['formula']:.4f} s, the hinge after {stretched['hinge']:.4f} s")


def centre(flexion: np.ndarray) -> np.ndarray:
    """Instant centres (n, 2) of the shank: x' = q' (y - yc), y' = -q' (x - xc) with the flexion q."""
    h = 1e-5
    (x, y), (xp, yp), (xm, ym) = (place(flexion + step, np) for step in (0.0, h, -h))
    return np.stack([x + (yp - ym) / (2 * h), y - (xp - xm) / (2 * h)], 1)


def shown(points: np.ndarray, flexion: float) -> np.ndarray:
    """Points (n, 2) of the shank on the thigh."""
    c, s = np.cos(flexion), np.sin(flexion)
    return points @ np.array([[c, -s], [s, c]]) + place(flexion, np)


angles = np.linspace(0.0, np.radians(120.0), 121)
centres = centre(angles)
sides = [np.linalg.norm(centres - HINGE, axis=1).max() * 1e3, np.ptp(centres[:, 0]) * 1e3]
print(f"the instant centre is up to {sides[0]:.1f} mm from the hinge and wanders by {sides[1]:.1f} mm")

fig, (close, wide, chart) = figures.subplots(1, 3, size=(9.0, 4.0), width_ratios=(1.0, 1.0, 1.1))
for degrees, strength in ((0.0, 1.0), (45.0, 0.6), (90.0, 0.35)):
    bent = np.radians(degrees)
    top = shown(np.array([(-0.030, -0.029), (0.026, -0.026)]), bent) * 1e3
    close.plot(*top.T, color=figures.BLACK, alpha=strength, linewidth=3.0, solid_capstyle="round")
    for (thigh, below), color in zip(ENDS.values(), (figures.ORANGE, figures.BLUE), strict=True):
        ends = np.vstack([thigh, shown(np.array([below]), bent)]) * 1e3
        close.plot(*ends.T, "o-", color=color, alpha=strength, markersize=3.5)
    figures.note(close, f"{degrees:.0f}°", top[0], (-2, 5), ha="right")
close.plot(*(1e3 * centres).T, color=figures.GREEN, label="instant centre, 0 to 120°")
close.plot(*(1e3 * np.array(HINGE)), "s", color=figures.GREY, label="hinge")
close.set(aspect="equal", ylim=(-46, 34), xlabel="x (mm)", ylabel="y (mm)", title="Ligaments and plateau")
close.legend(loc="upper center", fontsize=7.5)
for kind, color, style in (("formula", figures.BLUE, "-"), ("hinge", figures.GREY, "--")):
    name = "four-bar" if kind == "formula" else kind
    until = runs[kind].time <= stretched[kind]
    wide.plot(*ankle[kind][until, :2].T, style, color=color, label=name)
wide.set(aspect="equal", xlabel="x (m)", ylabel="y (m)", title="Path of the ankle")
wide.legend(loc="upper right")
chart.axhline(0.0, color=figures.GREY, linewidth=0.8)
for number, (name, color) in enumerate((("forwards", figures.ORANGE), ("upwards", figures.BLUE))):
    of_flexion = [
        np.interp(angles[:90], run.joint("knee").position[until, 0][::-1], ankle[kind][until, number][::-1])
        for kind, run in runs.items()
        if kind != "rods"
        for until in [run.time <= stretched[kind] + 0.002]
    ]
    chart.plot(np.degrees(angles[:90]), 1e3 * (of_flexion[0] - of_flexion[1]), color=color, label=name)
chart.set(xlabel="flexion (degrees)", ylabel="mm", title="Ankle: four-bar less hinge", xlim=(0, 90))
chart.legend()
figures.save(fig, out / "19_knee.png")
