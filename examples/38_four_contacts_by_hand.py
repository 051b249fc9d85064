"""Four contacts computed by hand: a rocking block, stick and slip, a billiard ball, a rod that jams.

Rigid contacts (`method="moreau"`). The block rocks as G. W. Housner (1963) has it: each impact leaves
1 - 3/2 sin^2(alpha) of its angular speed. The block on a shaken incline sticks and slips by Coulomb's law.
The ball slips until it rolls. No force keeps the end of P. Painleve's rod (1895) sliding on the floor: an
impulse stops it.
"""

from itertools import pairwise

import figures
import numpy as np

import bellcrank as bc

out = figures.output_folder()
G = 9.81


def stepped(mech, friction, duration, step):
    """A run of the first body on rigid ground; it must pass the judge."""
    mech.replace(mech.ground, shapes=[bc.Plane()])
    contact = bc.Contact(1e6, restitution=0.0, friction=friction)
    mech.add_force("ground", contact, next(iter(mech.bodies)), "ground")
    run = bc.simulate(mech, duration, method="moreau", step=step, output_step=step)
    assert bc.verify(run), f"{mech.name}: {bc.verify(run)}"
    return run


fig, ((rocking, sliding), (table, jamming)) = figures.subplots(2, 2, (9.0, 6.2))

# A block that rocks on its two lower corners. Its centre is R cos(alpha - tilt) high.
WIDTH, HEIGHT, TILT = 0.4, 1.6, 0.15
mech, alpha = bc.Mechanism("rocking block"), np.arctan(WIDTH / HEIGHT)
reach = np.hypot(WIDTH, HEIGHT) / 2
mech.add_body(
    "block",
    position=(WIDTH / 2 - reach * np.sin(alpha - TILT), 0.0, reach * np.cos(alpha - TILT)),
    rotation=bc.rotation(axis=(0, 1, 0), angle=TILT),
    shapes=[bc.Box(size=(WIDTH, 0.5, HEIGHT), density=200.0)],
)
run = stepped(mech, 1.0, 4.5, 2e-4)
tilt, rate = 2 * np.arcsin(run.body("block").rotation[:, 2]), run.body("block").angular_velocity[:, 1]
crossings = np.flatnonzero(tilt[1:] * tilt[:-1] < 0)
peaks = [p + int(np.argmax(np.abs(tilt[p:q]))) for p, q in pairwise(crossings)]
kept, wanted = 1 - 1.5 * np.sin(alpha) ** 2, [TILT]
for _ in peaks:  # the square of the angular speed goes with the height that is lost
    rise = np.cos(alpha - wanted[-1]) - np.cos(alpha)
    wanted.append(alpha - np.arccos(np.cos(alpha) + kept**2 * rise))
swings, wanted = np.degrees(np.abs(tilt[peaks])), np.degrees(wanted[1:])
print(f"block: swings to {swings[0]:.3f} and {swings[5]:.3f} deg; "
      f"Housner {wanted[0]:.3f} and {wanted[5]:.3f} deg")  # fmt: skip
rocking.plot(run.time, np.degrees(tilt))
rocking.plot(
    run.time[peaks],
    np.sign(tilt[peaks]) * wanted,
    "o",
    markersize=5,
    label="after Housner's impacts",
)
rocking.set(xlabel="time (s)", ylabel="tilt (°)", title="rocking block")
rocking.legend()

# A block on an incline of 12 degrees that is shaken along the slope, in the incline's frame.
SLOPE, MU, AMPLITUDE, OMEGA = np.radians(12.0), 0.3, 4.0, 8.0
mech = bc.Mechanism("shaken incline", gravity=(G * np.sin(SLOPE), 0.0, -G * np.cos(SLOPE)))
block = mech.add_body("block", shapes=[bc.Box(size=(0.4, 0.3, 1e-4), density=1e5)], position=(0, 0, 0.5e-4))
push = bc.Harmonic(amplitude=-block.mass * AMPLITUDE, omega=OMEGA)
mech.add_force("shaking", bc.Wrench(force=(push, 0.0, 0.0)), block.marker())
run = stepped(mech, MU, 3.2, 2.5e-4)
x, v = run.body("block").position[:, 0], run.body("block").velocity[:, 0]
excess = G * np.sin(SLOPE) - MU * G * np.cos(SLOPE)
begin = (np.pi + np.arcsin(-excess / AMPLITUDE)) / OMEGA
since = np.linspace(0.0, 2 * np.pi / OMEGA, 200_001)
speed = excess * since + AMPLITUDE / OMEGA * (np.cos(OMEGA * (begin + since)) - np.cos(OMEGA * begin))
end = int(np.argmax((since > 0.1) & (speed < 0)))
way = np.trapezoid(speed[:end], since[:end])
print(f"incline: slides {1e3 * np.interp(2.0, run.time, x) / 2:.2f} mm a shake from {begin:.4f} s on; "
      f"by hand {1e3 * way:.2f} mm")  # fmt: skip
sliding.plot(run.time, v, label="simulated")
for n in range(4):
    pieces = begin + since[:end] + 2 * np.pi * n / OMEGA
    sliding.plot(pieces[::6000], speed[:end:6000], "o", color=figures.ORANGE, markersize=4,
                 label="" if n else "by hand")  # fmt: skip
sliding.set(xlabel="time (s)", ylabel="speed (m/s)", title="stick and slip on a shaken incline",
            xlim=(0, 3.2), ylim=(-0.05, 0.9))  # fmt: skip
sliding.legend(ncols=2)

# A billiard ball with backspin and side spin.
RADIUS, MASS, FELT, SPEED, SPIN = 0.028575, 0.17, 0.2, (2.0, 0.0), (30.0, -40.0, 25.0)
mech = bc.Mechanism("billiard ball")
mech.add_body("ball", mass=MASS, inertia=[0.4 * MASS * RADIUS**2] * 3, shapes=[bc.Sphere(radius=RADIUS)],
              position=(0, 0, RADIUS), velocity=(*SPEED, 0.0), angular_velocity=SPIN)  # fmt: skip
run = stepped(mech, FELT, 1.2, 1e-3)
slip = np.array(SPEED) + RADIUS * np.array([-SPIN[1], SPIN[0]])
rolls = 2 * np.linalg.norm(slip) / (7 * FELT * G)
pull = -FELT * G * slip / np.linalg.norm(slip)
times = np.linspace(0.0, 1.2, 25)
slow = np.minimum(times, rolls)[:, None]
exact = SPEED * slow + 0.5 * pull * slow**2 + (SPEED + pull * rolls) * np.maximum(times - rolls, 0.0)[:, None]
path = run.body("ball").position
held = run.contact("ground").points()
first = held.time[np.argmax(held.sticks)]
print(f"ball: rolls after {first:.3f} s, at y = {path[-1, 1]:.5f} m in the end; "
      f"by hand {rolls:.4f} s, {exact[-1, 1]:.5f} m")  # fmt: skip
table.plot(path[:, 0], path[:, 1], label="simulated")
table.plot(*exact.T, "o", markersize=4, label="parabola, then straight")
table.axvline(exact[np.argmax(times > rolls), 0], color=figures.GREY, linewidth=0.8, linestyle="--")
table.set(xlabel="x (m)", ylabel="y (m)", title="billiard ball, seen from above")
table.legend()


# A rod of 1 kg and 1 m, whose lower end slides; friction beyond 4/3 may jam it.
def rod(angle, rate, slip, duration, step):
    """The rod's motion: rate, slip of its end, and the normal force."""
    mech, half = bc.Mechanism("Painleve's rod"), 0.5
    along = np.array([-np.cos(angle), 0.0, np.sin(angle)])
    across = np.array([np.sin(angle), 0.0, np.cos(angle)])
    mech.add_body("rod", mass=1.0, inertia=[half**2 / 3] * 3,
                  shapes=[bc.Sphere(radius=1e-5, position=-half * along)],
                  position=half * along + [0, 0, 1e-5], velocity=rate * half * across + [slip, 0, 0],
                  angular_velocity=(0.0, rate, 0.0))  # fmt: skip
    return stepped(mech, 1.6, duration, step)


hit = rod(1.1, 0.5, 2.0, 4e-6, 1e-6).body("rod").velocity
sine, cosine = np.sin(1.1), np.cos(1.1)
inverse_mass = np.array([[1 + 3 * sine**2, 3 * sine * cosine], [3 * sine * cosine, 1 + 3 * cosine**2]])
impulse = np.linalg.solve(inverse_mass, (-2.0, 0.0))
print(f"rod: stops with impulses {hit[1, 2] - hit[0, 2]:.5f}, {hit[1, 0] - hit[0, 0]:.5f} N s; "
      f"by hand {impulse[1]:.5f}, {impulse[0]:.5f} N s")  # fmt: skip
run = rod(0.6, 2.5, 6.0, 0.08, 1e-5)
rate = run.body("rod").angular_velocity[:, 1]
angle = 0.6 + np.concatenate([[0.0], np.cumsum(0.5 * (rate[1:] + rate[:-1]) * np.diff(run.time))])
ease = 1 + 3 * np.cos(angle) * (np.cos(angle) - 1.6 * np.sin(angle))  # acceleration by normal force
jam = int(np.argmax(ease < 2e-3))
force = (G - 0.5 * rate**2 * np.sin(angle))[:jam] / ease[:jam]
points = run.contact("ground").points()
jamming.plot(1e3 * points.time, points.slip[:, 0])
jamming.set(xlabel="time (ms)", title="Painlevé's rod slides until it jams")
jamming.set_ylabel("slip of the end (m/s)", color=figures.BLUE)
load = jamming.twinx()
load.plot(1e3 * run.time[:jam], force, color=figures.GREY, linewidth=1.2, label="normal force by hand")
load.plot(1e3 * points.time[150::300], points.normal_force[150::300], "o", color=figures.ORANGE,
              markersize=4, label="simulated")  # fmt: skip
load.set_ylabel("normal force (N)", color=figures.ORANGE)
load.legend(loc="upper center")
print(f"rod: jams at {np.degrees(angle[jam]):.2f} deg; by hand 47.03 deg, where p = 0")
figures.save(fig, out / "38_four_contacts_by_hand.png")
