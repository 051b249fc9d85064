"""A winch lifts a load in pulls; between them a pawl in a ratchet wheel holds it.

The load falls back to the last tooth that the pawl has passed. The faces that hold are radial and push along
a line through the pawl's pivot: by statics the pawl carries m g r/(R - d/2), less what spring and weight do.
"""

import figures
import numpy as np

import bellcrank as bc

out = figures.output_folder()
TEETH, RADIUS, DEPTH, DRUM, LOAD, G = 16, 0.068, 0.008, 0.03, 20.0, 9.81
PITCH = 2 * np.pi / TEETH  # of the teeth, rad
STEP = 2e-4


def lifted(duration, **changes):
    """A run, and the height of the load in pitches of the ratchet."""
    winch = bc.gallery.ratchet_winch(TEETH, RADIUS, DEPTH, drum_radius=DRUM, load=LOAD, **changes)
    run = bc.simulate(winch, duration, method="moreau", step=STEP, output_step=2e-3)
    assert bc.verify(run)
    return run, run.joint("guide").position[:, 0] / (PITCH * DRUM)


def carried():
    """Force of a tooth on the pawl, N: from moments about axis and pivot."""
    pawl = bc.gallery.ratchet_winch(TEETH, RADIUS, DEPTH, drum_radius=DRUM, load=LOAD).bodies["pawl"]
    pressed = 0.05 - pawl.mass * G * pawl.com[0]
    return (LOAD * G * DRUM - pressed) / (RADIUS - DEPTH / 2)


fig, ((picture, stairs), (backlash, forces)) = figures.subplots(2, 2, (9.0, 6.6))
run, height = lifted(6.0)
moments = [np.searchsorted(run.time, t) for t in (1.9, 3.9, 5.9)]
print("after each pull the load hangs at " + ", ".join(f"{height[k]:.4f}" for k in moments) + " pitches")
print(f"  it had been up to {height.max():.3f}, and fell back by {height[moments[0] - 450 :].max() % 1:.3f}")
held = np.linalg.norm(run.joint("pawl pivot").force, axis=1)
statics = carried()
print(f"the pawl carries {held[moments[1]]:.2f} N, by statics {statics:.2f} N")
moment = run.force("teeth").wrench("wheel")[moments[1], 2]
print(f"  the teeth exert {moment:.4f} N m on the wheel, the load {LOAD * G * DRUM:.4f}")
print(f"  {run.statistics['lost_to_impacts']:.2f} J lost where teeth and pawl strike")
still, _ = lifted(0.1, pull=0.0)
still.draw(times=0.1, axes=picture, view="front", contacts=True)
stairs.plot(run.time, height)
for k in range(0, 37, 12):
    stairs.axhline(k, color=figures.GREY, linestyle="--", linewidth=0.6)
forces.plot(run.time, held, linewidth=1.0)
forces.axhline(statics, color=figures.GREY, linestyle="--", linewidth=0.8)
forces.set(xlabel="time (s)", ylabel="force at the pawl's pivot (N)", ylim=(0, 160), title="the pawl's load")

reached, kept = [], []
for pull in np.linspace(1.5, 1.9, 9):  # of the load's torque, for 0.4 s
    hand = f"{pull * LOAD * G * DRUM} * max(0, sign(0.4 - t))"
    run, height = lifted(1.0, pull=hand)
    reached.append(height.max())
    kept.append(height[-1])
reached, kept = np.array(reached), np.array(kept)
print(f"pulls to {reached.min():.2f} to {reached.max():.2f} pitches: the load is kept at whole pitches to "
      f"{np.abs(kept - np.round(kept)).max():.0e}, it falls back by {(reached - kept).min():.2f} to "
      f"{(reached - kept).max():.2f}")  # fmt: skip
print(
    f"  whole pitches below what was reached in {np.sum(np.round(kept) == np.floor(reached))} of {len(kept)}"
)
backlash.plot(reached, kept, "o", markersize=4, label="simulated")
whole = np.linspace(0.0, np.ceil(reached.max()), 800)
backlash.plot(whole, np.floor(whole), color=figures.GREY, linewidth=0.8, label="the tooth below")
backlash.set(xlabel="height reached (pitches)", ylabel="height kept (pitches)", title="backlash of a pitch")
backlash.legend()
picture.set_title("the pawl holds")
stairs.set(xlabel="time (s)", ylabel="height of the load (pitches)", title="three pulls")
figures.save(fig, out / "43_ratchet_winch.png")
