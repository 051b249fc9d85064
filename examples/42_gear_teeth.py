"""Two spur gears whose teeth touch: involute flanks made of flat facets, rigid and then elastic.

J. E. Shigley, J. J. Uicker, Theory of Machines and Mechanisms: involutes keep the ratio of speeds, touch on
the line of action and push along it with torque/base radius; the contact ratio is the mean number of pairs.
"""

import figures
import numpy as np

import bellcrank as bc

out = figures.output_folder()
TEETH, MODULE, ANGLE, TORQUE = (20, 30), 0.004, np.pi / 9, 20.0
BASES = [0.5 * MODULE * z * np.cos(ANGLE) for z in TEETH]
DISTANCE = 0.5 * MODULE * sum(TEETH)
REACH = [np.sqrt((0.5 * MODULE * (z + 2)) ** 2 - base**2) for z, base in zip(TEETH, BASES, strict=True)]
RATIO = (sum(REACH) - DISTANCE * np.sin(ANGLE)) / (np.pi * MODULE * np.cos(ANGLE))  # contact ratio
FORCE = TORQUE / BASES[1]


def transmission_error(run):
    """By how much the wheel is behind, along the line of action, m."""
    pinion, wheel = (run.joint(f"{name} shaft").position[:, 0] for name in ("pinion", "wheel"))
    return pinion * BASES[0] + wheel * BASES[1]


def forces_of_pairs(run):
    """Normal forces by frame and tooth of the wheel, N."""
    points, turned = run.contact("teeth").points(), run.joint("wheel shaft").position[:, 0]
    frame = np.searchsorted(run.time, points.time - 1e-12)
    angle = np.arctan2(points.position[:, 1], points.position[:, 0] - DISTANCE) - np.pi - turned[frame]
    tooth = np.round(angle / (2 * np.pi / TEETH[1]) - 0.5).astype(int) % TEETH[1]
    forces = np.zeros((len(run), TEETH[1]))
    np.add.at(forces, (frame, tooth), points.normal_force)
    return forces


fig = figures.figure((9.0, 6.6))
above, below = fig.subfigures(2, 1, height_ratios=(1.1, 1.0))
errors, shares = below.subplots(1, 2)
for facets, color in ((6, figures.ORANGE), (12, figures.BLUE)):
    gears = bc.gallery.spur_gears(TEETH, MODULE, facets=facets, torque=TORQUE)
    run = bc.simulate(gears, 1.0, method="moreau", step=5e-4, output_step=5e-4)
    assert bc.verify(run)
    turns = [run.joint(f"{name} shaft").position[-1, 0] / (2 * np.pi) for name in ("pinion", "wheel")]
    error = transmission_error(run)
    bound = sum(bc.gallery.flank_error(z, MODULE, facets) for z in TEETH)
    print(f"{facets} facets: {turns[0]:.4f} turns of the pinion are {-turns[1]:.5f} of the wheel, "
          f"{TEETH[0]}/{TEETH[1]} would be {turns[0] * TEETH[0] / TEETH[1]:.5f}")  # fmt: skip
    print(f"  transmission error {1e6 * error[20:].min():.2f} to {1e6 * error.max():.2f} um, facets allow "
          f"{1e6 * bound:.2f} um")  # fmt: skip
    mean = np.linalg.norm(run.force("teeth").wrench("wheel")[20:, 3:], axis=1).mean()
    print(f"  force between the teeth {mean:.2f} N in the mean, torque/base radius {FORCE:.2f} N")
    shown = slice(40, 440)
    errors.plot(np.degrees(run.joint("pinion shaft").position[shown, 0]), 1e6 * error[shown], color=color,
                linewidth=1.1, label=f"{facets} facets")  # fmt: skip
    errors.axhline(1e6 * bound, color=color, linestyle="--", linewidth=0.8)

for stiffness, facets in ((3e6, 24), (3e7, 32)):
    gears = bc.gallery.spur_gears(TEETH, MODULE, facets=facets, torque=TORQUE, stiffness=stiffness)
    run = bc.simulate(gears, 0.15, formulation="recursive", output_step=1e-4)
    assert bc.verify(run)
    forces = forces_of_pairs(run)
    touching = (forces > 0).sum(axis=1)
    steady = slice(500, 1500)  # two pitches
    alone = forces[steady].max(axis=1)[touching[steady] == 1]
    print(f"elastic, {stiffness:g} N/m a point: {touching[steady].mean():.3f} pairs of teeth touch in the "
          f"mean, rigid ones {RATIO:.3f}; a pair that is alone carries {alone.mean():.2f} N")  # fmt: skip
    if stiffness == 3e6:
        time = 1e3 * run.time[steady]
        for tooth in np.flatnonzero(forces[steady].max(axis=0) > 0):
            shares.plot(time, forces[steady, tooth], linewidth=1.2)
        shares.plot(time, forces[steady].sum(axis=1), color=figures.GREY, linewidth=0.8, label="sum")
        whole, mesh = above.subplots(1, 2)
        run.draw(times=0.1, axes=whole, view="top")
        x, y = 0.5 * MODULE * TEETH[0], 2.5 * MODULE
        run.draw(times=0.1, axes=mesh, view="top", contacts=True,
                 box=((x - y, -y, -0.01), (x + y, y, 0.01)), scale=False)  # fmt: skip
whole.set_title("20 and 30 teeth")
mesh.set_title("where they touch")
errors.set(xlabel="angle of the pinion (°)", ylabel="transmission error (µm)", title="rigid: facets show")
errors.legend(loc="upper right", ncols=2)
shares.set(xlabel="time (ms)", ylabel="normal force (N)", title="elastic: pairs of teeth share the load")
shares.legend(loc="center right")
figures.save(fig, out / "42_gear_teeth.png")
