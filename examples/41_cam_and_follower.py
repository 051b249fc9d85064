"""A tangent cam lifts a follower against a spring; above a certain speed the follower leaves the cam.

By hand (J. E. Shigley, J. J. Uicker, Theory of Machines and Mechanisms): on the flank the lift is
R (1/cos v - 1), over the nose that of a slider-crank. The force that is left between cam and follower,
m g + F + k s + m a, is least where the flank ends; where it would become negative the follower jumps.
"""

import figures
import numpy as np

import bellcrank as bc

out = figures.output_folder()
BASE, NOSE, LIFT, END, MASS, STIFFNESS, PRELOAD, G = 0.02, 0.008, 0.012, 0.008, 0.2, 4000.0, 40.0, 9.81
OFFSET, REACH = BASE + LIFT - NOSE, NOSE + END  # of the centre of the nose; "connecting rod" over the nose
FLANK = np.arccos((BASE - NOSE) / OFFSET)  # from the nose, where the flank begins
TOP = FLANK - np.arctan(OFFSET * np.sin(FLANK) / (BASE + END))  # where it ends


def theory(angle):
    """Lift (m) at a cam angle from the lowest place, and its second derivative by that angle (m)."""
    p = np.abs(np.mod(angle, 2 * np.pi) - np.pi)
    v, q = np.minimum(FLANK - p, 1.2), np.sqrt(np.maximum(REACH**2 - (OFFSET * np.sin(p)) ** 2, 1e-12))
    lift = [(BASE + END) * (1 / np.cos(v) - 1), OFFSET * np.cos(p) + q - BASE - END]
    flank = (BASE + END) * (1 + np.sin(v) ** 2) / np.cos(v) ** 3
    nose = (
        -OFFSET * np.cos(p) - (OFFSET**2 * np.cos(2 * p) * q**2 + (OFFSET**2 * np.sin(2 * p) / 2) ** 2) / q**3
    )
    where = [p > FLANK, p > TOP]
    return np.select(where, [0 * p, lift[0]], lift[1]), np.select(where, [0 * p, flank], nose)


def left_over(angle, speed):
    """Force between cam and follower by hand, N."""
    lift, second = theory(angle)
    return PRELOAD + STIFFNESS * lift + MASS * (G + second * speed**2)


def turned(speed):
    """Two turns at a speed: cam angle (rad), lift (m), force of the contact (N)."""
    duration = 4 * np.pi / speed
    run = bc.simulate(
        bc.gallery.cam_and_follower(speed=speed), duration, method="moreau", step=duration / 6000,
        output_step=duration / 6000,
    )  # fmt: skip
    assert bc.verify(run)
    rise, force = run.joint("guide").position[:, 0], run.force("contact").wrench("follower")[:, 4]
    return run, run.joint("shaft").position[:, 0], rise, force


def jump_at(angle):
    """The speed at which no force is left at a cam angle over the nose, rad/s."""
    lift, second = theory(np.array([angle]))
    return float(np.sqrt((PRELOAD + STIFFNESS * lift[0] + MASS * G) / (-MASS * second[0])))


jump, beyond = jump_at(np.pi - TOP + 1e-9), np.pi - TOP + np.radians(3.0)  # and a little later
fig, ((picture, lifts), (forces, flight)) = figures.subplots(2, 2, (9.0, 6.0))
least = {}
for share, color in ((0.6, figures.BLUE), (0.95, figures.ORANGE)):
    run, angle, rise, force = turned(share * jump)
    error = np.abs(rise - theory(angle)[0]).max()
    print(f"at {share:g} of the speed of the jump the lift is that of theory to {error:.0e} m")
    degrees = np.degrees(angle) - 360
    shown = (degrees > 0) & (degrees < 360)
    forces.plot(
        degrees[shown], force[shown], color=color, linewidth=1.2, label=f"{share:g} of the jump speed"
    )
    forces.plot(
        degrees[shown][::60], left_over(angle[shown][::60], share * jump), ".", color=figures.GREY, zorder=5
    )
    least[share] = np.interp(beyond, angle - 2 * np.pi, force)
    if share < 0.9:
        run.draw(times=[1.38 * 2 * np.pi / (share * jump)], axes=picture, view="front")
        lifts.plot(degrees[shown], 1e3 * rise[shown], label="simulated")
        lifts.plot(degrees[shown][::60], 1e3 * theory(angle[shown][::60])[0], ".", label="theory")
slope = (least[0.95] - least[0.6]) / (0.95**2 - 0.6**2)
found = jump * np.sqrt(0.6**2 - least[0.6] / slope)
print(f"3 degrees past the flank's end no force is left at {found:.2f} rad/s, by hand {jump_at(beyond):.2f}; "
      f"the follower jumps above {jump:.2f} rad/s")  # fmt: skip

run, angle, rise, force = turned(1.4 * jump)
degrees, shown = np.degrees(angle), angle < 2 * np.pi
flight.plot(degrees[shown], 1e3 * rise[shown], label="follower")
flight.plot(degrees[shown], 1e3 * theory(angle[shown])[0], "--", color=figures.GREY, label="cam")
apart = rise - theory(angle)[0]
print(f"at 1.4 of it the follower is up to {1e3 * apart.max():.2f} mm above the cam")
picture.set_title("tangent cam")
lifts.set(xlabel="angle of the cam (°)", ylabel="lift (mm)", title="lift")
forces.set(xlabel="angle of the cam (°)", ylabel="contact force (N)", title="force that is left between them")
flight.set(xlabel="angle of the cam (°)", ylabel="lift (mm)", title="too fast: the follower jumps")
for axes in (lifts, forces, flight):
    axes.legend()
figures.save(fig, out / "41_cam_and_follower.png")
