"""A pole is held upright on a cart by a sampled controller, whose motor has less force the faster it runs.

The controller is designed on the linearized equations of motion, and how seldom it may look at the pole
follows from them too: from the eigenvalues of one sample with its input held (K. J. Åström, B. Wittenmark,
Computer-Controlled Systems, section 2.3). The samples of simulated runs have the same eigenvalues.
"""

from math import degrees, radians
from typing import Any

import figures
import numpy as np
from scipy.linalg import expm, solve_continuous_are
from scipy.optimize import brentq

import bellcrank as bc

out = figures.output_folder()
CART, POLE, LENGTH, FORCE = 1.0, 0.2, 0.6, 20.0
CURVE = bc.Table((0.0, 0.5, 1.5, 3.0), (FORCE, FORCE, 12.0, 0.0))  # N at full throttle, over m/s
UPRIGHT = {"axis": (0, 1, 0)}


def cart(lean: float) -> bc.Mechanism:
    """The cart on its track with the pole leaning forwards, and a motor with a throttle from -1 to 1."""
    mech = bc.Mechanism("pole on a cart")
    body = mech.add_body("cart", mass=CART, inertia=(0.01, 0.01, 0.01))
    moment = POLE * LENGTH**2 / 12
    pole = mech.add_body("pole", mass=POLE, inertia=(moment, moment, 1e-4), position=(0, 0, LENGTH / 2))
    mech.add_joint("track", bc.PrismaticX(), mech.ground, body)
    mech.add_joint(
        "hinge",
        bc.Revolute(),
        body.marker(**UPRIGHT),
        pole.marker((0, 0, -LENGTH / 2), **UPRIGHT),
        position=lean,
    )
    track = bc.EndCoordinate("track")
    throttle = bc.Input("throttle")
    mech.add_force("motor", bc.CustomForce(track, efforts=throttle * CURVE(abs(track.rate))), "track")
    return mech


# d/dt (places, rates) = A (places, rates) + B force, standing upright
system = bc.prepare(cart(0.0), "symbolic")
lines = system.linearize()
A = np.block([[np.zeros((2, 2)), np.eye(2)], [lines.position, lines.velocity]])
B = np.concatenate([np.zeros(2), lines.effort[:, 0]])[:, None]
cost, effort = np.diag([4.0, 40.0, 1.0, 1.0]), 0.05
K = B.T @ solve_continuous_are(A, B, cost, np.array([[effort]])) / effort


def largest(period: float) -> float:
    """By how much a disturbance is multiplied from sample to sample, at most."""
    both = expm(period * np.block([[A, B], [np.zeros((1, 5))]]))
    return float(np.abs(np.linalg.eigvals(both[:4, :4] - both[:4, 4:] @ K)).max())


def run(period: float, lean: float, duration: float) -> bc.Trajectory:
    """The controller at work, every so many seconds."""

    def throttle(_time: float, readings: Any) -> dict[str, float]:
        where = [readings.coordinate("track"), readings.coordinate("hinge")]
        moving = [readings.rate("track"), readings.rate("hinge")]
        force = -K[0] @ np.array([*where, *moving])
        return {"throttle": float(np.clip(force / FORCE, -1.0, 1.0))}

    controller = bc.Controller(throttle, period)
    return bc.simulate(
        cart(lean),
        duration,
        formulation="symbolic",
        output_step=period,
        step=period / 8,
        controllers=controller,
    )


longest = brentq(lambda period: largest(period) - 1.0, 0.01, 0.5)
print(f"it stands as long as it is looked at every {1e3 * longest:.1f} ms or more often")
for part in (0.9, 1.1):
    period = part * longest
    leans = run(period, 1e-7, 24 * period).joint("hinge").position[:, 0]
    behind = np.column_stack([leans[k : k - 4] for k in range(4)])  # a sample follows from the four before
    found = np.roots([1.0, *-np.linalg.lstsq(behind, leans[4:])[0][::-1]])
    growth = float(np.abs(found).max())
    print(f"every {1e3 * period:.1f} ms: times {growth:.5f} a sample, by the equations {largest(period):.5f}")

LEAN = radians(18.0)
runs = {period: run(period, LEAN, 3.0) for period in (0.01, 0.06)}
for period, found in runs.items():
    angle = found.joint("hinge").position[:, 0]
    most = abs(found.input("throttle").value).max()
    print(f"every {1e3 * period:.0f} ms: from {degrees(LEAN):.0f} to {degrees(abs(angle[-1])):.2f} degrees "
          f"in {found.statistics['samples']} samples, with {most:.2f} of the throttle at most")  # fmt: skip

fig, (lean_of, gas, curve) = figures.subplots(1, 3, size=(11.0, 3.4), width_ratios=(1.2, 1.2, 1.0))
for (period, found), color in zip(runs.items(), (figures.BLUE, figures.ORANGE), strict=True):
    label = f"every {1e3 * period:.0f} ms"
    lean_of.plot(found.time, np.degrees(found.joint("hinge").position[:, 0]), color=color, label=label)
    gas.step(found.time, found.input("throttle").value, where="pre", color=color, linewidth=1.1, label=label)
    speed, force = found.joint("track").velocity[:, 0], found.force("motor").effort
    curve.plot(np.abs(speed), np.abs(force), ".", color=color, markersize=3.5)
speeds = np.linspace(0.0, 3.0, 200)
curve.plot(speeds, CURVE(speeds), color=figures.BLACK, linewidth=1.2)
figures.note(curve, "full throttle", (1.5, 12.0), (6, 4))
lean_of.set(xlabel="time (s)", ylabel="lean (degrees)", title="The pole", xlim=(0, 3))
lean_of.legend(loc="best")
gas.set(xlabel="time (s)", ylabel="throttle", title="Held from sample to sample", xlim=(0, 3))
curve.set(xlabel="speed of the cart (m/s)", ylabel="force (N)", title="What the motor gives", xlim=(0, 3))
figures.save(fig, out / "28_pole_on_a_cart.png")
