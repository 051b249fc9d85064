"""A helix of a protein is held at one end, pulled at the other and unfolds: which torsions move.

The backbone is rigid peptide units and residues on hinges of the torsions phi and psi, as `bc.load` reads it
from a PDB or mmCIF file. Nothing holds the helix together here: there are no hydrogen bonds. Lengths are in
nm, masses in u, times in ps, forces in kJ/(mol nm). In each step all joints start from rest.
"""

import figures
import numpy as np

import bellcrank as bc
from bellcrank.mechanism.rotation import rotate

out = figures.output_folder()

NITROGEN = 0.1458  # nm from C-alpha
RESIDUES, PULL, STEP, END = 40, 400.0, 0.025, 240.0
mech = bc.gallery.peptide("A" * RESIDUES)
first, last = mech.bodies["A 1"], mech.bodies[f"A {RESIDUES}"]
along = np.array(last.position) - np.array(first.position)
along /= np.linalg.norm(along)
mech.add_joint(
    "held", bc.Fixed(), mech.ground.world_marker(first.position), first.world_marker(first.position)
)
mech.add_force("pull", bc.Wrench(force=tuple((PULL * along).tolist())), last.marker())

# Runs within bounds of the relative joint error, and the exact one; a frame every four picoseconds.
names, runs = list(mech.bodies), {}
for bound in (0.3, 0.1, 0.01, 0.0):
    runs[bound] = bc.simulate(mech, END, mode="quasistatic", step=STEP, output_step=4.0, max_error=bound)
exact = runs[0.0].poses(names)[0]
length = np.linalg.norm(exact[:, -1] - exact[:, 0], axis=1)
torsions = len(mech.joints) - 1
print(f"{torsions} torsions; from end to end {length[0]:.2f} nm, after {END:g} ps {length[-1]:.2f} nm")

# Bonds seen from the side: N to C-alpha, whose torsion is phi, and C-alpha to C, whose torsion is psi.
SHOWN, FRAMES = 0.1, (0, 3, 15, 60)
fig, axes = figures.plt.subplot_mosaic(
    [[frame, frame] for frame in FRAMES] + [["errors", "joints"]],
    figsize=(8.4, 8.6),
    height_ratios=[1, 1, 1, 1, 2.2],
)
across = np.cross(along, (0.0, 0.0, 1.0))
view = np.stack([along, across / np.linalg.norm(across)], axis=1)
run, (places, turns) = runs[SHOWN], runs[SHOWN].poses(names)
middle = places[0, 0]
for frame in FRAMES:
    panel, active = axes[frame], set(run.moved(frame)) if frame else set()
    spots = dict(zip(names, places[frame], strict=True))
    bonds, before = [], None
    for name, turn in zip(names, turns[frame], strict=True):
        if name.endswith("unit"):
            bonds.append((spots[name.removesuffix(" unit")], spots[name], name.replace("unit", "psi")))
            before = spots[name]
        else:
            nitrogen = spots[name] - NITROGEN * np.array(rotate(tuple(turn.tolist()), (0.0, 0.0, 1.0)))
            bonds += [] if before is None else [(before, nitrogen, "rigid")]
            bonds.append((nitrogen, spots[name], f"{name} phi"))
    for start, end, joint in bonds:
        look = (
            {"color": figures.ORANGE, "linewidth": 2.4, "zorder": 3} if joint in active else {"color": "0.55"}
        )
        panel.plot(*((np.array([start, end]) - middle) @ view).T, **look)
    tip = (spots[last.name] - middle) @ view
    look = {"arrowstyle": "<-", "color": figures.BLUE, "shrinkA": 0.0, "shrinkB": 0.0}
    panel.annotate("", tip, np.add(tip, (0.8, 0.0)), arrowprops=look)
    text = f"t = {run.time[frame]:g} ps, "
    text += f"bound {SHOWN}: {len(active)} of {torsions} torsions moved" if frame else "at rest"
    print(text)
    panel.set_title(text)
    if frame == FRAMES[1]:
        figures.note(panel, "orange: bonds whose torsions moved in the last 4 ps", (0.0, -0.7))
    panel.set(aspect="equal", xlim=(-0.4, 11.6), ylim=(-0.8, 0.8), ylabel="[nm]")
axes[FRAMES[-1]].set_xlabel("along the pull [nm]")
for (bound, run), color in zip(runs.items(), figures.COLOURS, strict=False):
    off = np.linalg.norm(run.poses(names)[0] - exact, axis=2).max(axis=1)
    moved = [len(run.moved(frame)) for frame in range(1, len(run))]
    print(f"bound {bound:g}: {np.mean(moved):.0f} torsions a frame, off by {off.max():.1e} nm")
    label = f"bound {bound:g}" if bound else "exact"
    axes["joints"].plot(run.time[1:], moved, color=color, label=label)
    if bound:
        axes["errors"].semilogy(run.time[1:], off[1:], color=color, label=label)
axes["errors"].set(xlabel="t [ps]", ylabel="largest displacement error [nm]")
axes["joints"].set(xlabel="t [ps]", ylabel="torsions that moved in 4 ps")
axes["errors"].legend(loc="lower right")
axes["joints"].legend(loc="upper right", bbox_to_anchor=(1.0, 0.94))
figures.save(fig, out / "32_protein_unfolding.png")
