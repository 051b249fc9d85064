"""A millipede walks into a force across its way: only joints that matter are computed, within a bound.

S. Redon, M. Lin, An Efficient, Error-Bounded Approximation Algorithm for Simulating Quasi-Statics of Complex
Linkages (2005), section 6.2, with fewer legs, on a plane. The spine floats. The ground pushes the links of
its front half forward, each along itself, and legs trail; after a while a force across pushes the head
aside. In each step all joints start from rest, as in honey.
"""

from typing import Any

import figures
import numpy as np

import bellcrank as bc
from bellcrank.mechanism.rotation import rotate

out = figures.output_folder()

# A spine along x, its head in front, and legs on both sides of every second link, all on springs; SI units.
SPINE, LINK, LEG, PUSH, ASIDE = 60, 0.02, 0.05, 1.4e-2, 1.5e-3
STIFF, MEET, END = 1.2e-4, 16.0, 34.0
mech = bc.Mechanism("millipede", gravity=(0.0, 0.0, 0.0))


def hang(
    name: str, mass: float, tip: tuple[float, float, float], holder: Any, at: Any, stiffness: float
) -> Any:
    """A rod from its hinge, upright on its holder's point `at`, to its tip."""
    across = 1e-6 + mass * (tip[0] ** 2 + tip[1] ** 2) / 12.0
    place = tuple(p + q for p, q in zip(holder.position, at, strict=True))
    body = mech.add_body(
        name, mass=mass, position=place, com=tuple(0.5 * x for x in tip), inertia=(across, across, across)
    )
    if holder is not mech.ground:
        mech.add_joint(name, bc.Revolute(), holder.marker(at), body.marker())
        mech.add_force(f"spring {name}", bc.TorsionSpring(stiffness), joint=name)
    tips[name] = tip
    return body


tips: dict[str, tuple[float, float, float]] = {}
link, at = mech.ground, (0.0, 0.0, 0.0)
for k in range(SPINE):
    link = hang(f"spine {k}", 4e-3, (-LINK, 0.0, 0.0), link, at, STIFF)
    at = (-LINK, 0.0, 0.0)
    for side in (LEG, -LEG) if k % 2 else ():
        hang(f"{'left' if side > 0 else 'right'} leg {k}", 4e-4, (0.0, side, 0.0), link, (0.0,) * 3, 2e-4)
    if k < SPINE // 2:
        mech.add_force(f"push {k}", bc.Wrench(force=(PUSH, 0.0, 0.0), axes="marker"), link.marker())
across = bc.Wrench(force=(0.0, bc.Ramp(0.0, ASIDE, start=MEET, duration=1.0), 0.0))
mech.add_force("across", across, mech.bodies["spine 0"].marker())

# Runs within bounds of the relative joint error, and the exact one.
names, runs = list(mech.bodies), {}
for bound in (0.5, 0.1, 0.02, 0.0):
    runs[bound] = bc.simulate(mech, END, mode="quasistatic", step=1 / 32, output_step=1.0, max_error=bound)
exact = runs[0.0].poses(names)[0]
way = float(np.linalg.norm(exact[-1, 0] - exact[0, 0]))
print(f"{len(mech.joints)} joints; the head went {way:.3f} m, {exact[-1, 0, 1]:.3f} m of it aside")

SHOWN, FRAMES = 0.5, (0, 16, 19, 34)
layout = [[*FRAMES[:2]], [*FRAMES[2:]], ["errors", "joints"]]
fig, axes = figures.plt.subplot_mosaic(layout, figsize=(8.4, 7.0), height_ratios=[1, 1, 1.5])
run, (places, turns) = runs[SHOWN], runs[SHOWN].poses(names)
for frame in FRAMES:
    panel, active = axes[frame], set(run.moved(frame)) & tips.keys() if frame else set()
    for number, name in enumerate(names):
        start, turn = places[frame, number], tuple(turns[frame, number].tolist())
        look = (
            {"color": figures.ORANGE, "linewidth": 2.0, "zorder": 3} if name in active else {"color": "0.6"}
        )
        panel.plot(*np.array([start, start + np.array(rotate(turn, tips[name]))])[:, :2].T, **look)
    if run.time[frame] > MEET:
        head = places[frame, 0, :2]
        figures.note(panel, "orange: links whose hinges moved in the last second", (-1.2, -0.22))
        panel.annotate("", head, head - (0.0, 0.2), arrowprops={"arrowstyle": "->", "color": figures.BLUE})
    moved = f"bound {SHOWN}: {len(active)} of {len(mech.joints)} joints moved" if frame else "at rest"
    print(f"t = {run.time[frame]:g} s, {moved}")
    panel.set_title(f"t = {run.time[frame]:g} s, {moved}")
    panel.set(aspect="equal", xlim=(-1.25, 0.95), ylim=(-0.25, 0.45), xlabel="x [m]", ylabel="y [m]")
for (bound, run), color in zip(runs.items(), figures.COLOURS, strict=False):
    off = np.linalg.norm(run.poses(names)[0] - exact, axis=2).max(axis=1) / way
    moved = [len(tips.keys() & run.moved(frame)) for frame in range(1, len(run))]
    print(f"bound {bound:g}: {np.mean(moved):.0f} joints in a second, off by {off.max():.1e} of the way")
    label = f"bound {bound:g}" if bound else "exact"
    axes["joints"].plot(run.time[1:], moved, color=color, label=label)
    if bound:
        axes["errors"].semilogy(run.time[1:], off[1:], color=color, label=label)
axes["errors"].set(xlabel="t [s]", ylabel="largest displacement error / way of head")
axes["joints"].set(xlabel="t [s]", ylabel="joints that moved in a second")
for panel in (axes["errors"], axes["joints"]):
    panel.axvline(MEET, color=figures.GREY, linewidth=0.8, linestyle=":")
    panel.legend()
figures.save(fig, out / "31_millipede_meets_a_force.png")
