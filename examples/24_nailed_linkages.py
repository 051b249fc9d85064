"""A chain of four bars that a couple drives: free, with its root nailed down, with its tip nailed down.

P. Schröder, The Virtual Erector Set (MIT, 1990), section 7.5, where what was nailed had moved by about a
centimetre after 15 s, because nothing pulled it back.
"""

from itertools import pairwise

import figures
import formulations
import numpy as np

import bellcrank as bc

out, formulation = figures.output_folder(), formulations.chosen()
INERTIA = (0.104167, 8.35417, 8.41667)  # as in the thesis's script
COUPLE = 0.5  # N m, on the child of the root
BARS = ("root", "second", "third", "tip")
THESIS = {
    "root": ((-4.9e-3, -3.5e-3), (-3.33889e-4, -2.50178e-4)),
    "tip": ((1.26e-2, -1.46e-2), (3.91406e-3, 6.7218e-4)),
}


def linkage(nailed: str | None) -> bc.Mechanism:
    """Four bars in line, hinged 4 m from their centres."""
    mech = bc.Mechanism(f"{nailed or 'nothing'} nailed", gravity=(0, 0, 0))
    for number, name in enumerate(BARS):
        mech.add_body(name, mass=1.0, inertia=INERTIA, position=(8.0 * number, 0, 0))
    for one, two in pairwise(BARS):
        ends = (mech.bodies[one].marker((4, 0, 0)), mech.bodies[two].marker((-4, 0, 0)))
        mech.add_joint(f"{one}-{two}", bc.Revolute(), *ends)
    mech.add_force("couple", bc.Wrench(moment=(0, 0, COUPLE)), mech.bodies["second"].marker())
    if nailed is not None:
        body = mech.bodies[nailed]
        mech.add_joint("nail", bc.Fixed(), mech.ground.marker(body.position), body.marker())
    return mech


runs = {}
for nailed in (None, "root", "tip"):
    mech = linkage(nailed)
    system = bc.prepare(mech, formulation)
    start = system.accelerate()
    run = bc.simulate(mech, 25.0, formulation=formulation, method="dopri5", tolerance=1e-10, output_step=0.05)
    runs[nailed] = run
    turned = np.unwrap(2 * np.arctan2(run.body("second").rotation[:, 3], run.body("second").rotation[:, 0]))
    work = COUPLE * turned
    balance = np.abs(run.energy.kinetic - work).max()
    print(f"{nailed or 'nothing':7} nailed: the couple turned its bar by {turned[-1]:.3f} rad in 25 s; "
          f"work against energy: {balance:.1e} J")  # fmt: skip
    if nailed is None:
        momentum = sum(run.body(name).velocity for name in BARS)
        print(f"        the common centre stays where it is to {np.abs(momentum).max() / 4:.1e} m/s")
        continue
    shift = run.body(nailed).position - run.body(nailed).position[0]
    speed = run.body(nailed).velocity
    number = int(np.argmin(np.abs(run.time - 15.0)))
    thesis = ", ".join(f"{np.hypot(*values):.1e}" for values in THESIS[nailed])
    print(f"        the nailed bar: {np.abs(start.body(nailed).linear).max():.1e} m/s² at the start; "
          f"in 15 s by {np.linalg.norm(shift[number]):.1e} m at {np.linalg.norm(speed[number]):.1e} m/s "
          f"(thesis {thesis}), in 25 s by {np.linalg.norm(shift, axis=1).max():.1e} m at most")  # fmt: skip
    reaction = run.joint("nail").force
    outside = np.gradient(sum(run.body(name).velocity for name in BARS), run.time, axis=0)
    print(f"        the nail's force against the change of momentum: "
          f"{np.abs(reaction - outside)[3:-3].max():.1e} N of {np.abs(reaction).max():.3f} N")  # fmt: skip

fig, panels = figures.subplots(1, 2, size=(9.0, 4.0), sharex=True, sharey=True)
for axes, moment in zip(panels, (5.0, 25.0), strict=True):
    for number, ((nailed, run), color) in enumerate(zip(runs.items(), figures.COLOURS, strict=False)):
        frame = int(np.argmin(np.abs(run.time - moment)))
        for name in BARS:
            ends = np.array([run.body(name).point((x, 0, 0))[frame] for x in (-5.0, 5.0)])
            label = f"{nailed or 'nothing'} nailed" if name == "root" else None
            axes.plot(ends[:, 0], ends[:, 1] + 18.0 * number, color=color, linewidth=2.5, label=label,
                      solid_capstyle="round")  # fmt: skip
        if nailed is not None:
            place = run.body(nailed).position[frame]
            axes.plot(place[0], place[1] + 18.0 * number, "s", color="black", markersize=5)
    axes.set(aspect="equal", xlabel="x (m)", title=f"t = {moment:g} s; shifted by 18 m each")
panels[0].set(ylabel="y (m)")
panels[0].legend(loc="best")
figures.save(fig, out / "24_nailed_linkages.png")
