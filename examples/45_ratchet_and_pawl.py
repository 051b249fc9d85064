"""A ratchet and its pawl: it turns one way, holds the load the other way, and falls back by up to a pitch.

The pawl is held by contact alone: its roller lies between a working face and the flank before it. The forces
there are those of statics. A pawl whose pivot lies too low is lifted by the load, and the ratchet slips.
"""

import figures
import numpy as np

import bellcrank as bc

out = figures.output_folder()
TEETH, RADIUS, DEPTH, ROLLER, ARM, SPRING = 12, 0.05, 0.008, 0.002, 0.05, 0.05
PITCH, ROOT = 2 * np.pi / TEETH, RADIUS - DEPTH
flank = np.array([0.0, ROOT]) - RADIUS * np.array([np.sin(PITCH), np.cos(PITCH)])  # downhill
FACE, FLANK = np.array([1.0, 0.0]), np.array([flank[1], -flank[0]]) / np.hypot(*flank)  # normals, outwards
SEAT = np.array([ROLLER, ROOT + ROLLER * (1 - FLANK[0]) / FLANK[1]])  # of the roller, which touches both


def cross(a, b):
    """Moment of a plane force b at a."""
    return a[0] * b[1] - a[1] * b[0]


def statics(load, offset):
    """Forces of face and flank on the roller, N."""
    arm = -np.array([ARM, offset])
    sums = [[cross(SEAT, FACE), cross(SEAT, FLANK)], [cross(arm, FACE), cross(arm, FLANK)]]
    return np.linalg.solve(sums, [-load, -SPRING])


def run_of(mech, duration, step=1e-4):
    """A run by impulses, which must pass the judge, and the angle of the wheel in pitches."""
    run = bc.simulate(mech, duration, method="moreau", step=step, output_step=step)
    assert bc.verify(run), bc.verify(run)
    return run, run.joint("shaft").position[:, 0] / PITCH


fig, ((picture, stairs), (falls, forces)) = figures.subplots(2, 2, (9.0, 6.4))

# Pushed to and fro: the wheel climbs, and comes to rest at whole pitches only.
mech = bc.gallery.ratchet_and_pawl(TEETH, RADIUS, damping=0.25)
mech.add_force("hand", bc.JointMotor(bc.Harmonic(amplitude=3.5, omega=4 * np.pi)), mech.joints["shaft"])
run, turned = run_of(mech, 3.0)
ends = np.searchsorted(run.time, 0.5 * np.arange(1, 7) - 0.02)
tops = np.array([turned[end - 4500 : end].max() for end in ends])
rests = turned[ends]
print(f"to and fro: at rest after {', '.join(f'{rest:.4f}' for rest in rests)} pitches, "
      f"{np.abs(rests - np.floor(tops)).max():.0e} from the whole pitch below the top")  # fmt: skip
lost, energy = run.statistics["lost_to_impacts"], run.energy.total
print(f"  it falls back by up to {(tops - rests).max():.3f} pitches; impacts take {lost:.3f} J")
stairs.plot(run.time, turned)
stairs.plot(run.time[ends], np.floor(tops), "o", color=figures.GREY, markersize=4, label="whole pitches")
stairs.set(xlabel="time (s)", ylabel="angle of the wheel (pitches)", title="pushed to and fro")
stairs.legend()

# Released anywhere: back to the last tooth that has passed.
starts = np.append(np.arange(0.05, 2.0, 0.13), [0.99, 1.01, 1.99])
back = []
for start in starts:
    _, turned = run_of(bc.gallery.ratchet_and_pawl(TEETH, RADIUS, angle=start * PITCH), 0.15)
    back.append(start - turned[-1])
error = np.abs(back - (starts - np.floor(starts))).max()
print(f"released at {len(starts)} angles it falls back to the last tooth, to {error:.0e} pitches; "
      f"by {max(back):.3f} pitches at most")  # fmt: skip
line = np.linspace(0, 2, 2001)
falls.plot(line, line - np.floor(line), color=figures.GREY, linewidth=0.8, label="to the last tooth")
falls.plot(starts, back, "o", markersize=4, label="simulated")
falls.set(xlabel="released at (pitches)", ylabel="falls back by (pitches)", title="backlash of a pitch")
falls.legend()

# What the pawl carries.
loads, found = np.linspace(1.0, 9.0, 5), []
for load in loads:
    run, _ = run_of(bc.gallery.ratchet_and_pawl(TEETH, RADIUS, load=load), 0.05)
    points = run.contact("contact").points(-1)
    across = np.abs(points.normal[:, 0])
    found.append([points.normal_force[across > 0.9].sum(), points.normal_force[across < 0.9].sum()])
found, wanted = np.array(found), np.array([statics(load, 0.002) for load in loads])
print(f"at {loads[-1]:g} N m the face pushes with {found[-1, 0]:.3f} N, the flank with {found[-1, 1]:.3f} N; "
      f"statics {wanted[-1, 0]:.3f} N, {wanted[-1, 1]:.3f} N")  # fmt: skip
for column, name in enumerate(("face", "flank")):
    forces.plot(loads, wanted[:, column], linewidth=1.0, label=f"{name}, statics")
    forces.plot(loads, found[:, column], "o", color=figures.GREY, markersize=4)
forces.set(xlabel="load (N m)", ylabel="force on the pawl (N)", title="simulated (dots) and statics")
forces.legend()
run.draw(times=run.time[-1], axes=picture, view="front", contacts=True)
picture.set_title("the pawl holds 9 N m")

# A pivot below the force of the face: the load lifts the pawl.
limit = SPRING * SEAT[1] / 0.004
for share in (0.99, 1.01):
    mech = bc.gallery.ratchet_and_pawl(TEETH, RADIUS, offset=-0.004, load=share * limit)
    _, turned = run_of(mech, 0.1)
    print(f"pivot 4 mm too low, load {share:g} of {limit:.4f} N m: turns back by {0 - turned[-1]:.3f} pitches")
figures.save(fig, out / "45_ratchet_and_pawl.png")
