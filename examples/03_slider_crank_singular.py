"""A slider-crank with equal crank and rod runs through its singular poses, where two branches cross."""

from math import pi, sqrt

import figures
import numpy as np

import bellcrank as bc

out = figures.output_folder()

# At crank angles of +-90 degrees the slider passes the crank's pivot and the rod lies on the crank: there it
# could as well turn with the crank and leave the slider where it is. The slider starts at -4 m/s.
mech = bc.gallery.slider_crank(angle=pi / 4, rate=4.0 / sqrt(2.0))
run = bc.simulate(mech, duration=5.0, step=1e-3, output_step=5e-3)

angle = run.joint("pivot").position[:, 0] + pi / 4
slider = run.joint("slide").position[:, 0]
after = int(np.searchsorted(run.time, 1.0 - 1e-9))
error = abs(angle[after] - 3.6395249764594397)
print(f"crank angle after 1 s: {angle[after]:.10f} rad, reference 3.6395249765 (error {error:.1e})")
end = abs(angle[-1] - 17.712266178175103)
print(f"crank angle after 5 s: {angle[-1]:.10f} rad, reference 17.7122661782 (error {end:.1e})")
passed = np.count_nonzero(np.diff(np.floor((angle - pi / 2) / pi)))
print(f"singular poses passed: {passed}")
print(f"energy drift {np.max(np.abs(run.energy.drift)):.1e} J, gaps {run.violation.position.max():.1e}")

# How near to singular the constraints are: the smallest singular value of their Jacobian that counts.
system = bc.prepare(mech)
frames = np.arange(0, 401)
smallest = []
for frame in frames:
    jacobian = system.rows(run.at(run.time[frame])).jacobian
    values = np.linalg.svd(jacobian.reshape(len(jacobian), -1), compute_uv=False)
    smallest.append(values[16])  # 18 coordinates and one freedom: rank 17, of 20 rows
print(f"smallest singular value: {min(smallest):.1e} at the poses, {max(smallest):.2f} between them")

fig, axes = figures.subplots(3, 1, size=(7.0, 5.6), sharex=True)
ends = run.time <= 2.0
axes[0].plot(run.time[ends], np.degrees(angle[ends]))
axes[0].set(ylabel="crank (°)", title="Slider-crank with equal lengths", yticks=range(90, 540, 90))
axes[1].plot(run.time[ends], slider[ends], color=figures.GREEN)
axes[1].axhline(0.0, color=figures.GREY, linewidth=0.8)
axes[1].set(ylabel="slider (m)")
axes[2].semilogy(run.time[frames], smallest, color=figures.PINK)
axes[2].set(ylabel="smallest\nsingular value", xlabel="time (s)", xlim=(0, 2))
passes = np.interp(pi / 2 + pi * np.arange(2), angle[ends], run.time[ends])
for axis in axes:
    for when in passes:
        axis.axvline(when, color=figures.GREY, linewidth=0.9, linestyle=":")
axes[0].annotate(
    "slider on the pivot:\nsingular", (passes[0], 330.0), xytext=(5, 0), textcoords="offset points",
    fontsize=8, color=figures.GREY, va="center",
)  # fmt: skip
figures.save(fig, out / "03_slider_crank_singular.png")
