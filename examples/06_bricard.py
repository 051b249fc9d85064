"""Bricard's mechanism: six rods that should not move by the count of their freedoms, and do."""

import figures
import numpy as np

import bellcrank as bc

out = figures.output_folder()
mech = bc.gallery.bricard_linkage()
facts = bc.info(mech)
print(f"Gruebler's count {facts.grubler}, freedom {facts.freedom}; redundant: {', '.join(facts.redundant)}")

run = bc.simulate(mech, duration=10.0, method="dopri5", tolerance=1e-9, output_step=0.01)
point = run.body("rod 2").point((0.0, 0.0, 0.5))  # P3, the corner opposite to the ground's edge
second = int(np.searchsorted(run.time, 1.0 - 1e-9))
error = np.linalg.norm(point[second] - (0.510501461187, -1.649167599395, 0.140123114553))
print(f"corner P3 after 1 s: ({', '.join(f'{c:.9f}' for c in point[second])}), error {error:.1e} m")
print(f"energy drift {np.max(np.abs(run.energy.drift)):.1e} J, gaps {run.violation.position.max():.1e}")

fig = figures.figure(size=(9.0, 4.2))
scene = fig.add_subplot(1, 2, 1, projection="3d", computed_zorder=False)
chart = fig.add_subplot(1, 2, 2)
ends = []
for k in range(5):
    body = mech.bodies[f"rod {k}"]
    edge = np.array(body.shapes[0].size)
    half = np.where(edge > 0.5, 0.5, 0.0)
    ends.append(
        np.stack([run.body(f"rod {k}").point(tuple(-half)), run.body(f"rod {k}").point(tuple(half))], 1)
    )
for frame, alpha in ((0, 0.18), (50, 0.4), (100, 1.0)):
    for k, color in enumerate((figures.BLUE, figures.ORANGE, figures.GREEN, figures.PINK, figures.YELLOW)):
        x, y, z = ends[k][frame].T
        scene.plot(x, z, y, color=color, alpha=alpha, linewidth=3.5, solid_capstyle="round")
scene.plot([0, 0], [0, 1], [0, 0], color="black", linewidth=4.0)  # the ground's edge
scene.plot(point[:, 0], point[:, 2], point[:, 1], color=figures.GREY, linewidth=0.8)
scene.set(
    xlabel="x",
    ylabel="z",
    box_aspect=(2.4, 1.7, 1.9),
    title="At 0, 0.5 and 1 s, and the path of P3 (y is up)",
)
scene.view_init(elev=18, azim=-62)
for axis in (scene.xaxis, scene.yaxis, scene.zaxis):
    axis.set_pane_color((1.0, 1.0, 1.0, 0.0))
    axis.set_major_locator(figures.mpl.ticker.MultipleLocator(1.0))
for index, label in enumerate("xyz"):
    chart.plot(run.time, point[:, index], label=label)
chart.set(xlabel="time (s)", ylabel="P3 (m)", title="Corner P3", xlim=(0, 10), ylim=(-2.2, 1.75))
chart.legend(ncols=3, loc="upper right")
figures.save(fig, out / "06_bricard.png")
