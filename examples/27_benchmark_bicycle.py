"""The benchmark bicycle: at which speeds it steers itself, by linearizing wheels that roll on sharp edges.

Nothing of the bicycle's own equations is in here: two frames and two wheels are joined, and the equations of
motion linearized about running straight on. Its eigenvalues are those of the paper to all their digits.
Source: J. P. Meijaard, J. M. Papadopoulos, A. Ruina, A. L. Schwab, Linearized dynamics equations for the
balance and steer of a bicycle: a benchmark and review, Proc. R. Soc. A 463 (2007), tables 1 and 2.
"""

from dataclasses import replace
from math import degrees

import figures
import numpy as np
from scipy.optimize import brentq

import bellcrank as bc
from bellcrank.gallery import benchmark_bicycle

out = figures.output_folder()
LED = ("rear contact.lean", "steer.theta_z")
PUBLISHED = {  # 1/s
    1.0: (3.526961709900692 + 0.8077402751993147j, -3.134231250665783, -7.11008014637441),
    5.0: (-0.7753418821958412 + 4.464867713788233j, -0.32286642900408924, -14.07838969279824),
    10.0: (0.16105338653171322, -3.7201684043728775 + 10.906811394762885j, -24.62459635017398),
}

facts = bc.info(benchmark_bicycle(speed=1.0))
print(f"freedoms: {facts.freedom} of velocities, {facts.position_freedom} of positions")
system = bc.prepare(benchmark_bicycle(speed=1.0), "symbolic", cut="front hub")
unit = system.project()


def lean_and_steer(speed: float) -> np.ndarray:
    """The state matrix of (lean, steer, their rates), running straight on."""
    state = replace(unit, velocity=speed * unit.velocity, angular_velocity=speed * unit.angular_velocity)
    matrix = system.linearize(state).state_matrix(LED)
    return matrix.part(LED, LED)


def growth(speed: float) -> float:
    """The largest real part of those eigenvalues that oscillate, 1/s."""
    values = np.linalg.eigvals(lean_and_steer(speed))
    return float(max(values[np.abs(values.imag) > 1e-9].real))


error = 0.0
for speed, values in PUBLISHED.items():
    found = np.linalg.eigvals(lean_and_steer(speed))
    error = max(error, *(np.min(np.abs(found - value)) for value in values))
print(f"eigenvalues against the paper: {error:.1e} 1/s")
weave = brentq(growth, 4.0, 5.0, xtol=1e-13)
capsize = brentq(lambda speed: np.linalg.det(lean_and_steer(speed)), 5.5, 7.0, xtol=1e-13)
print(f"stable from the weave speed {weave:.10f} m/s to the capsize speed {capsize:.10f} m/s")

runs = {}
for speed, duration in ((4.0, 4.0), (4.6, 8.0), (8.0, 4.0)):
    mech = benchmark_bicycle(speed)
    rider = mech.bodies["rear_frame"]
    mech.add_force("push", bc.Wrench(force=(0, "if(t < 0.1, -60, 0)", 0)), rider)
    run = bc.simulate(mech, duration, formulation="symbolic", method="dopri5", tolerance=1e-9, max_step=0.02)
    lean = run.joint("rear contact").position[:, 4]
    runs[speed] = run
    after = run.time > 0.1
    drift = np.ptp(run.energy.total[after]) / run.energy.kinetic[0]
    print(f"{speed} m/s, pushed: leans by {degrees(abs(lean).max()):.1f} degrees at most, at the end by "
          f"{degrees(lean[-1]):.2f}; energy to {drift:.1e}")  # fmt: skip

speeds = np.linspace(0.0, 10.0, 401)
values = np.array([np.linalg.eigvals(lean_and_steer(speed)) for speed in speeds])
fig, (chart, push, path) = figures.subplots(1, 3, size=(11.0, 3.9), width_ratios=(1.35, 1.0, 1.0))
chart.axvspan(weave, capsize, color=figures.GREEN, alpha=0.15, linewidth=0)
chart.axhline(0.0, color=figures.GREY, linewidth=0.8)
pairs = np.abs(values.imag) > 1e-7
at = np.broadcast_to(speeds[:, None], values.shape)
look = {"linestyle": "none", "marker": ".", "markersize": 3.2}
chart.plot(at[~pairs], values.real[~pairs], color=figures.BLUE, label="real", **look)
chart.plot(at[pairs], values.real[pairs], color=figures.ORANGE, label="real part of a pair", **look)
up = values.imag > 1e-7
chart.plot(at[up], values.imag[up], color=figures.GREY, label="its imaginary part", **look)
for speed, side, name in ((weave, "right", "weave"), (capsize, "left", "capsize")):
    chart.plot(speed, 0.0, "o", color=figures.BLACK, markersize=4)
    away = -4 if side == "right" else 4
    figures.note(chart, f"{name}\n{speed:.3f} m/s", (speed, -5.4), (away, 0), ha=side)
figures.note(chart, "castering", (2.0, -8.2))
chart.set(
    xlabel="speed (m/s)", ylabel="eigenvalue (1/s)", title="Running straight on", xlim=(0, 10), ylim=(-10, 10)
)
chart.legend(loc="upper left", markerscale=2.5)
for (speed, run), color in zip(runs.items(), (figures.ORANGE, figures.GREEN, figures.BLUE), strict=True):
    lean = np.degrees(run.joint("rear contact").position[:, 4])
    push.plot(run.time, lean, color=color, label=f"{speed} m/s")
    track = run.joint("rear contact").position
    path.plot(track[:, 0], track[:, 1], color=color)
push.set(
    xlabel="time (s)", ylabel="lean to the right (degrees)", title="Pushed with 60 N for 0.1 s", xlim=(0, 8)
)
push.legend(loc="best")
path.set(xlabel="forwards (m)", ylabel="to the left (m)", title="Track of the rear wheel")
figures.save(fig, out / "27_benchmark_bicycle.png")
