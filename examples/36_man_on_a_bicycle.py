"""A man on a bicycle meets a stone that stands out of the pavement: how high may it be?

Tasora's second example (2000, section 6) with data of one's own: 17 bodies, 18 links, tyres in slices,
a seat with a hardening curve. He coasts at 5 m/s; each run lasts 3 s. The stone is acceptable up to the
height at which one crossing is the vibration dose of a day that calls for caution, 8.5 m/s^1.75 at the seat
(ISO 2631-1:1997, annex B), or at which a rim strikes through the tyre. That holds for one speed: a map of the
dose by height and speed shows how far the answer reaches.
"""

from dataclasses import replace

import figures
import numpy as np

import bellcrank as bc
from bellcrank.gallery import CityBicycle, man_on_bicycle, misplaced_stone

out = figures.output_folder()

SPEED, DURATION, DOSE, STRUCK = 5.0, 3.0, 8.5, 0.8
BICYCLE = CityBicycle()
SETTINGS = {"output_step": 0.002, "tolerance": 1e-5, "accelerations": True, "ledger": True}
MAN = man_on_bicycle()
HIPS = MAN.forces["seat"].markers[1].position  # on the pelvis
HAND = MAN.joints["left hand"].marker_2.position  # on the forearm


def crossing(height, speed=SPEED, **changes):
    """A run over a stone of a height, m."""
    mech = man_on_bicycle(speed, ground=misplaced_stone(height), **changes)
    return bc.simulate(mech, DURATION, **SETTINGS)


def load_of(run, end):
    """What a wheel carries over time, N."""
    force = run.force(f"{end} tyre")
    return force.effort[:, force.coordinates.index(f"{end}_wheel.force_z")]


def felt(run):
    """Vertical accelerations of who sits and of the grips, m/s²: (T,) each."""
    seat = run.body("pelvis").point_acceleration(HIPS)
    hand = run.body("left_forearm").point_acceleration(HAND)
    return seat[:, 2], hand[:, 2]


def numbers(run):
    """Peaks and weighted values, loads, how deep the tyres are pressed in, and how far he leaves his path."""
    seat, hand = felt(run)
    depth = {end: max(-run.contact(f"{end} tyre").points().gap) for end in ("front", "rear")}
    return {
        "seat": seat.max(),
        "hand": hand.max(),
        "mtvv": bc.vibration(run.time, seat).mtvv,
        "hand mtvv": bc.vibration(run.time, hand).mtvv,
        "vdv": bc.vibration(run.time, seat).vdv,
        "least": load_of(run, "front").min(),
        "most": load_of(run, "front").max(),
        "depth": max(depth.values()) / BICYCLE.width,
        "reaction": np.linalg.norm(run.joint("left hand").force, axis=1).max(),
        "aside": np.abs(run.body("frame").position[:, 1]).max(),
    }


def first_crossing(heights, values, limit):
    """Where values first reach a limit, by lines between heights, mm; nan where they do not."""
    above = np.flatnonzero(np.asarray(values) >= limit)
    if not len(above) or above[0] == 0:
        return float("nan")
    k = int(above[0])
    share = (limit - values[k - 1]) / (values[k] - values[k - 1])
    return 1e3 * (heights[k - 1] + share * (heights[k] - heights[k - 1]))


heights = 1e-3 * np.array([0, 2.5, 5, 7.5, 10, 12.5, 15, 17.5, 20, 25, 30, 40, 60])
runs = [crossing(float(height)) for height in heights]
found = [numbers(run) for run in runs]
model = bc.info(MAN)
print(f"{model.freedom} degrees of freedom; {', '.join(sorted({run.status for run in runs}))}")
print(" mm | seat peak  MTVV   VDV | hands peak  MTVV | wheel least  most | pressed in | hand | aside")
for height, n in zip(heights, found, strict=True):
    print(
        f"{1e3 * height:3.1f} | {n['seat']:6.1f} {n['mtvv']:7.2f} {n['vdv']:6.2f} | {n['hand']:6.1f} "
        f"{n['hand mtvv']:9.2f} | {n['least']:7.0f} N {n['most']:6.0f} N | {100 * n['depth']:6.0f} %   "
        f"| {n['reaction']:4.0f} N | {1e3 * n['aside']:4.1f} mm"
    )

# Where the energy of his motion goes.
print("stone | energy lost |  tyres | seat, back | muscles | balance closed to")
for height in (0.0, 0.01, 0.02, 0.03):
    balance = runs[list(heights).index(height)].energy_balance()
    lost = {name: float(energy[-1]) for name, energy in balance.lost.items()}
    tyres, cushions = lost.pop("front tyre") + lost.pop("rear tyre"), lost.pop("seat") + lost.pop("back")
    print(
        f"{1e3 * height:2.0f} mm | {balance.kinetic[0] - balance.kinetic[-1]:9.0f} J | {tyres:4.0f} J "
        f"| {abs(cushions):8.1f} J | {sum(lost.values()):5.1f} J | {balance.error:.0e}"
    )
limits = [
    first_crossing(heights, [n[key] for n in found], at) for key, at in (("vdv", DOSE), ("depth", STRUCK))
]
print(f"dose of {DOSE:g} m/s^1.75 at {limits[0]:.1f} mm, a rim strikes at {limits[1]:.1f} mm")

# The band: what is assumed, by a fifth up and down.
seat, tyre = bc.Seat(), bc.Tyre(BICYCLE.radius, BICYCLE.width, 6e5)
changes = {}
for word, factor in (("-20 %", 0.8), ("+20 %", 1.2)):
    changes[f"flattening {word}"] = {"flattening": factor * tyre.flattening}
    changes[f"friction {word}"] = {"friction": factor * 0.86, "static_friction": factor * 0.97}
    changed = {name: factor * getattr(seat, name) for name in ("stiffness", "hardening", "dissipation")}
    changes[f"seat {word}"] = {"seat": replace(seat, **changed)}
coarse, band = heights[5:9], {}
for name, change in changes.items():
    varied = [numbers(crossing(float(height), **change)) for height in coarse]
    dose = first_crossing(coarse, [n["vdv"] for n in varied], DOSE)
    strike = first_crossing(coarse, [n["depth"] for n in varied], STRUCK)
    band[name] = np.nanmin([dose, strike])
    print(f"{name:16} | dose at {dose:4.1f} mm | rim at {strike:4.1f} mm")
acceptable = min(limits)
least, most = min(band.values()), max(band.values())
print(f"acceptable at {SPEED:g} m/s: {acceptable:.1f} mm, between {least:.1f} and {most:.1f} mm", end=" ")
print("for the numbers above")

# The map: the speed decides where the wheels land behind the stone, and the dose is not monotone in either.
speeds, steps = np.array([2.0, 3.0, 4.0, 5.0, 6.0, 8.0]), 1e-3 * np.array([5, 10, 15, 20, 25, 30])
dose_at = np.array([[numbers(crossing(float(h), speed=float(v)))["vdv"] for h in steps] for v in speeds])
print("dose by speed (m/s) and height (mm): " + " ".join(f"{1e3 * h:5.0f}" for h in steps))
for v, row in zip(speeds, dose_at, strict=True):
    first = first_crossing(np.r_[0.0, steps], [0.0, *row], DOSE)
    reached = f"reaches {DOSE:g} at {first:4.1f} mm" if np.isfinite(first) else f"stays below {DOSE:g}"
    print(f"{v:36.0f} " + " ".join(f"{dose:5.1f}" for dose in row) + f" | {reached}")
fig, axes = figures.subplots(1, 1, size=(6.0, 4.0))
shades = axes.contourf(1e3 * steps, speeds, dose_at, levels=np.arange(0, 19, 1.0), cmap="viridis")
axes.contour(1e3 * steps, speeds, dose_at, levels=[DOSE], colors="white", linewidths=2.0)
axes.plot(*np.meshgrid(1e3 * steps, speeds), ".", color="white", markersize=3.0)
axes.set(xlabel="height of the stone (mm)", ylabel="speed (m/s)", title=f"dose at the seat; line: {DOSE:g}")
fig.colorbar(shades, label="m/s$^{1.75}$")
figures.save(fig, out / "36_man_on_a_bicycle_map.png")

# Fig. 5 of the paper: the crossing.
shown = runs[list(heights).index(0.03)]
fig, axes = figures.subplots(1, 1, size=(9.0, 4.1))
shown.draw(
    times=[0.0, 0.26, 0.52], paths=["pelvis", "front_wheel"], axes=axes, view="front", joints=False,
    box=[(-0.4, -0.5, -0.08), (3.9, 0.5, 1.9)],
)  # fmt: skip
figures.save(fig, out / "36_man_on_a_bicycle_crossing.png")

# One crossing, and all of them.
fig, ((felt_at, loads), (peaks, doses)) = figures.subplots(2, 2, size=(9.0, 5.6))
for height, color in ((0.01, figures.BLUE), (0.02, figures.ORANGE)):
    run = runs[list(heights).index(height)]
    felt_at.plot(run.time, felt(run)[0], color=color, linewidth=1.0, label=f"{1e3 * height:g} mm")
    loads.plot(run.time, load_of(run, "front"), color=color, linewidth=1.0)
    loads.plot(run.time, load_of(run, "rear"), color=color, linewidth=1.0, linestyle=":")
felt_at.set(xlabel="time (s)", ylabel="at the seat (m/s²)", xlim=(0.0, 1.2), title="one crossing")
felt_at.legend()
loads.set(xlabel="time (s)", ylabel="load of front, rear (:) wheel (N)", xlim=(0.0, 1.2))
millimetres = 1e3 * heights
peaks.plot(millimetres, [n["seat"] for n in found], ".-", label="seat")
peaks.plot(millimetres, [n["hand"] for n in found], ".-", label="hands")
peaks.set(xlabel="height of the stone (mm)", ylabel="peak acceleration (m/s²)", yscale="log", ylim=(1, 500))
peaks.legend()
doses.plot(millimetres, [n["vdv"] for n in found], ".-", color=figures.GREEN)
doses.axhline(DOSE, color=figures.GREY, linewidth=0.8)
doses.axvspan(least, most, color=figures.GREY, alpha=0.3)
doses.axvline(acceptable, color=figures.GREY)
doses.set(xlabel="height of the stone (mm)", ylabel="dose at the seat (m/s$^{1.75}$)")
figures.save(fig, out / "36_man_on_a_bicycle.png")
