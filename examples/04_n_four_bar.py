"""The N-four-bar benchmark: redundant rows, singular poses, and a cost that grows linearly with N."""

import figures
import numpy as np

import bellcrank as bc

out = figures.output_folder()

# Position of the tip of the first crank after 10 s; IFToMM benchmark A02, computed independently.
REFERENCE = {1: (0.47838505776097057, 0.8781501787912093), 40: (0.1805122266867, 0.9835727405823)}
seconds, sizes = [], (1, 2, 5, 10, 20, 40)
runs = {}
for n in sizes:
    run = bc.simulate(bc.gallery.n_four_bar(n), duration=10.0, step=5e-3, output_step=0.02, reactions=False)
    runs[n] = run
    seconds.append(float(run.statistics["wall_seconds"]))
    tip = run.body("crank 0").point((0.5, 0.0, 0.0))[-1]
    line = f"N = {n:2d}: {2 * n + 1:2d} bodies, tip ({tip[0]:.7f}, {tip[1]:.7f})"
    if n in REFERENCE:
        line += f", error {np.hypot(*(tip[:2] - REFERENCE[n])):.1e} m"
    drift = np.max(np.abs(run.energy.drift))
    print(f"{line}; energy drift {drift:.1e} J; {10.0 / seconds[-1]:.0f} times real time")
each = [1e6 * t / run.statistics["evaluations"] for t, run in zip(seconds, runs.values(), strict=True)]
growth = np.polyfit(np.log(sizes[2:]), np.log(each[2:]), 1)[0]
print(f"one evaluation: {each[0]:.1f} microseconds for N = 1, {each[-1]:.0f} for N = 40: N^{growth:.2f}")

fig, (top, bottom) = figures.subplots(2, 1, size=(7.5, 5.2), height_ratios=(1.0, 1.5))
run = runs[10]
pivots = np.arange(11.0)
for frame, alpha in ((0, 0.22), (23, 0.5), (31, 1.0)):
    tips = np.array([run.body(f"crank {k}").point((0.5, 0.0, 0.0))[frame, :2] for k in range(11)])
    for pivot, tip in zip(pivots, tips, strict=True):
        top.plot([pivot, tip[0]], [0.0, tip[1]], color=figures.BLUE, alpha=alpha, linewidth=2.5)
    top.plot(tips[:, 0], tips[:, 1], color=figures.ORANGE, alpha=alpha, linewidth=2.5)
    top.annotate(
        f"{run.time[frame]:.2f} s", tips[-1] + (0.12, 0.0), fontsize=8, va="center", color=figures.GREY
    )
top.plot(pivots, np.zeros(11), "^", color="black", markersize=5)
top.set(aspect="equal", title="N = 10 just before its singular pose", xlim=(-0.3, 12.4), ylim=(-0.2, 1.2))
top.set(xticks=[], yticks=[])
top.grid(visible=False)
for side in ("left", "bottom"):
    top.spines[side].set_visible(False)
bottom.loglog(sizes, each, "o-", markersize=5, label="measured")
linear = each[-1] * np.array(sizes) / sizes[-1]
bottom.loglog(sizes, linear, "--", color=figures.GREY, linewidth=1.0, label="proportional to N")
bottom.set(xlabel="N", ylabel="microseconds", title="One evaluation of all accelerations", xticks=sizes)
low, high = bottom.get_ylim()
ticks = [tick for tick in (1, 2, 5, 10, 20, 50, 100, 200, 500) if low < tick < high]
bottom.set(yticks=ticks, yticklabels=ticks, xticklabels=sizes)
bottom.minorticks_off()
bottom.legend()
figures.save(fig, out / "04_n_four_bar.png")
