"""Five sticks that only rubber strings hold: the tensegrity of Schröder's thesis, from its own script.

P. Schröder, The Virtual Erector Set (MIT, 1990), section 7.2, whose two tables are printed beside. The
thesis does not say over what speed its smoothing cubic sets in. Here it is 0.5 m/s for everything that is
printed and drawn. A steeper one takes more evaluations, though no more than the thesis's, and creeps: it does
not rest after 8 s.
"""

from dataclasses import replace
from pathlib import Path
from time import perf_counter

import figures
import formulations
import numpy as np

import bellcrank as bc
from bellcrank.shell.interpreter import Shell

out, formulation = figures.output_folder(), formulations.chosen()
SCRIPT = Path(__file__).with_suffix(".bell")
DURATION = 8.0
# spring constant, relative and absolute accuracy, damping: evaluations, steps, seconds in the thesis
THESIS = {
    (20, 1e-6, 1e-7, 10): (23337, 14368, 195),
    (20, 1e-6, 1e-7, 1): (16192, 14992, 165),
    (20, 1e-4, 1e-3, 10): (20949, 11603, 156),
    (20, 1e-4, 1e-3, 1): (16612, 9245, 125),
    (40, 1e-7, 1e-6, 10): (41947, 40064, 427),
    (40, 1e-7, 1e-6, 1): (34196, 31725, 347),
    (40, 1e-4, 1e-3, 10): (48726, 26737, 361),
    (40, 1e-4, 1e-3, 1): (38257, 21147, 285),
}

shell = Shell()
for line in SCRIPT.read_text().splitlines():
    reply = shell.execute(line)
    assert reply.ok, reply.text
built = shell.session.mechanism
freedom = bc.info(built).freedom
print(f"from the script: {len(built.bodies)} sticks, {len(built.forces)} forces, freedom {freedom}")


CLOSING = 0.5  # m/s, the speed of approach at which the restitution holds
STEEP = 0.1


def structure(stiffness: float, damping: float, closing_speed: float = CLOSING) -> bc.Mechanism:
    """The structure of the script with other strings and damping."""
    mech = built.copy()
    for force in list(mech.forces.values()):
        if isinstance(force.kind, bc.RubberString):
            kind = replace(force.kind, stiffness=stiffness, closing_speed=closing_speed)
        else:
            kind = bc.BodyDamping(damping, damping)
        mech.replace(force, kind=kind)
    return mech


def settle(
    mech: bc.Mechanism, rtol: float, atol: float, duration: float = DURATION
) -> tuple[bc.Trajectory, float]:
    """A run, and how long it took."""
    begun = perf_counter()
    run = bc.simulate(
        mech, duration, method="adams", formulation=formulation, rtol=rtol, atol=atol, output_step=0.02
    )
    return run, perf_counter() - begun


settle(structure(20, 10), 1e-3, 1e-3)  # the first run loads what all need
rest = {k: settle(structure(k, 10), 1e-8, 1e-9, 60.0)[0] for k in (20, 40)}  # long after it has settled


def left(trajectory: bc.Trajectory, stiffness: int) -> tuple[float, float]:
    """Kinetic energy at the end, and potential energy above the shape of rest, J."""
    found = trajectory.energy
    return found.kinetic[-1], found.potential[-1] - rest[stiffness].energy.potential[-1]


print(f"with a cubic over {CLOSING:g} m/s:")
print(
    "  k   rel   abs   d | thesis: evaluations steps time | the same, times faster | motion left, above rest"
)
for (k, rtol, atol, d), (evaluations, steps, seconds) in THESIS.items():
    run, took = settle(structure(k, d), rtol, atol)
    told = run.statistics
    motion, above = left(run, k)
    print(f"{k:3d} {rtol:.0e} {atol:.0e} {d:3d} | {evaluations:11d} {steps:12d} {seconds:4d} s | "
          f"{told['evaluations']:8d} {told['steps']:12d} {took:.2f} s {seconds / took:5.0f} x | "
          f"{motion:.1e} J {above:.1e} J")  # fmt: skip
steep, _ = settle(structure(20, 10, STEEP), 1e-6, 1e-7)
print(f"with one over {STEEP:g} m/s, the first row: {steep.statistics['evaluations']} evaluations, "
      f"and still {left(steep, 20)[1]:.1f} J above rest")  # fmt: skip

mech = structure(20, 10)
run, took = settle(mech, 1e-6, 1e-7)
longer = rest[20]
energy = run.energy
print(f"after 8 s: kinetic energy {energy.kinetic[-1]:.1e} J of {energy.kinetic.max():.1f} J, "
      f"potential {energy.potential[-1] - longer.energy.potential[-1]:.1e} J above the shape of least energy "
      f"({longer.energy.potential[-1]:.4f} J), evaluations {run.statistics['evaluations']}")  # fmt: skip


def lengths(trajectory: bc.Trajectory, letter: str) -> np.ndarray:
    """Lengths at the end of the strings whose names have that letter."""
    found = []
    for name, force in mech.forces.items():
        if name.startswith(f"string{letter}"):
            one, two = (trajectory.body(m.body).point(m.position)[-1] for m in force.markers)
            found.append(float(np.linalg.norm(two - one)))
    return np.array(found)


for letter, where in (("B", "top"), ("M", "middle"), ("T", "bottom")):
    ends = lengths(longer, letter)
    print(f"strings of the {where}: {ends.mean():.5f} m, alike to {np.ptp(ends):.1e} m")

fig = figures.figure(size=(9.0, 3.6))
scenes = fig.add_gridspec(1, 3, width_ratios=(1.0, 1.0, 1.1))
for place, time in enumerate((0.5, 8.0)):
    axes = fig.add_subplot(scenes[0, place])
    drawn = mech.copy()
    for body in list(drawn.bodies.values()):
        drawn.replace(body, shapes=(bc.Box(size=(10.0, 1.0, 0.5)),))
    drawn.draw(axes=axes, state=run.at(time), color=(0.30, 0.45, 0.60), view=(40.0, 22.0))
    axes.set_title(f"t = {time:g} s")
chart = fig.add_subplot(scenes[0, 2])
chart.plot(run.time, energy.potential, label="strings")
chart.plot(run.time, energy.kinetic, label="motion")
chart.axhline(longer.energy.potential[-1], color=figures.GREY, linewidth=0.8, linestyle="--")
chart.set(xlabel="time (s)", ylabel="energy (J)", yscale="log", ylim=(1e-4, 1e4), title="Settling")
chart.legend(loc="lower left")
figures.save(fig, out / "20_tensegrity.png")
