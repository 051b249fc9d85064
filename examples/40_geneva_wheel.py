"""Geneva drives with four and six slots: a pin turns the wheel slot by slot, a disc locks it in between.

The wheel is moved by contact alone. With q = sin(pi/n) and the crank angle a from the line of centres theory
gives its angle as atan(q sin a/(1 - q cos a)) (J. H. Bickford, Mechanisms for intermittent motion, 1972).
"""

import figures
import numpy as np

import bellcrank as bc

out = figures.output_folder()
SPEED, STEP = 2 * np.pi, 1e-4


def theory(run, slots):
    """Angle of the wheel (rad) and its speed by the crank's, without clearance, at the frames of a run."""
    turned = run.joint("crank pivot").position[:, 0]  # the pin starts opposite the wheel
    angle = np.mod(turned, 2 * np.pi) - np.pi
    q, step = np.sin(np.pi / slots), np.pi / slots
    engaged = np.abs(angle) < np.pi / 2 - step
    moved = np.where(engaged, np.arctan2(q * np.sin(angle), 1 - q * np.cos(angle)), np.sign(angle) * step)
    ratio = q * (np.cos(angle) - q) / (1 + q * q - 2 * q * np.cos(angle))
    return moved + step + 2 * step * np.floor(turned / (2 * np.pi)), np.where(engaged, ratio, 0.0)


fig = figures.figure((9.0, 5.8))
above, below = fig.subfigures(2, 1, height_ratios=(1.0, 1.15))
angles, speeds = below.subplots(1, 2)
for slots, color in ((4, figures.BLUE), (6, figures.ORANGE)):
    run = bc.simulate(bc.gallery.geneva_drive(slots), 2.0, method="moreau", step=STEP, output_step=2e-3)
    assert bc.verify(run)
    turned, rate = -run.joint("wheel pivot").position[:, 0], -run.joint("wheel pivot").velocity[:, 0]
    wanted, ratio = theory(run, slots)
    found, peak = rate / SPEED, np.sin(np.pi / slots) / (1 - np.sin(np.pi / slots))
    print(
        f"{slots} slots: two turns of the crank turn the wheel by {np.degrees(turned[-1]):.2f} deg, "
        f"theory {720 / slots:g}"
    )
    print(f"  at most {found.max():.4f} times as fast as the crank, theory {peak:.4f}")
    off = np.degrees(np.abs(turned - wanted).max())
    print(f"  the angle leaves that of theory by {off:.2f} deg, the clearance allows it that")
    degrees = np.degrees(run.joint("crank pivot").position[:, 0])
    angles.plot(degrees, np.degrees(turned), color=color, label=f"{slots} slots")
    angles.plot(degrees[::20], np.degrees(wanted)[::20], ".", color=figures.GREY, markersize=3, zorder=5)
    speeds.plot(degrees, found, color=color, label=f"{slots} slots")
    speeds.plot(degrees[::4], ratio[::4], ".", color=figures.GREY, markersize=3, zorder=5)
    if slots == 4:
        for axes, angle in zip(above.subplots(1, 3), (110, 150, 180), strict=True):
            run.draw(times=angle / 360, axes=axes, view="top", scale=angle == 110)
            axes.set_title(f"crank at {angle}°")
angles.set(xlabel="angle of the crank (°)", ylabel="angle of the wheel (°)", xlim=(0, 720))
speeds.set(xlabel="angle of the crank (°)", ylabel="speed of the wheel by the crank's", xlim=(90, 270))
angles.plot([], [], ".", color=figures.GREY, label="theory")
angles.legend()
figures.save(fig, out / "40_geneva_wheel.png")
