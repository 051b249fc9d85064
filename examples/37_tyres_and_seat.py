"""Curves of bicycle tyres and of a saddle: what the slices carry beside the law, and a load that hardens.

Tasora (2000) measured such curves in figures 6 and 7: a city bicycle's tyre, a mountain bike's with little
air, and the contact between man and seat.
"""

import figures
import numpy as np

import bellcrank as bc

out = figures.output_folder()


def load_of(kind, depth):
    """What a tyre carries that is pressed into flat ground by a depth, N."""
    stand = bc.Mechanism("stand")
    wheel = stand.add_body("wheel", mass=1.0, inertia=[1.0] * 3, position=(0.0, 0.0, kind.radius - depth))
    stand.replace(stand.ground, shapes=[bc.Plane()])
    stand.add_force("tyre", kind, wheel.marker(axis="y"), "ground")
    return 9.81 + bc.prepare(stand, "lagrange").accelerate().body("wheel").linear[2]


fig, (left, middle, right) = figures.subplots(1, 3, size=(9.0, 2.9))
depths = np.arange(29) / 2000
for label, radius, width, pressure, color in (
    ("28-622, 6 bar", 0.338, 0.028, 6e5, figures.BLUE),
    ("28-622, 4 bar", 0.338, 0.028, 4e5, figures.LIGHT_BLUE),
    ("54-559, 1.5 bar", 0.333, 0.054, 1.5e5, figures.ORANGE),
):
    kind = bc.Tyre(radius, width, pressure, dissipation=0.0)
    pressed = np.array([load_of(kind, depth) for depth in depths])
    left.plot(1e3 * depths, pressed, ".", color=color, markersize=4)
    law = 4 / 3 * pressure * kind.flattening * np.sqrt(2 * radius) * depths**1.5
    left.plot(1e3 * depths, law, color=color, linewidth=1.0, label=label)
    there = list(depths).index(0.006)
    print(f"{label}: {pressed[there]:.0f} N at 6 mm, the law {law[there]:.0f} N")
left.set(xlabel="pressed in (mm)", ylabel="load (N)", title="tyres: slices and law")
left.legend()
seat = bc.Seat()
down = np.linspace(0.0, 0.03, 61)
middle.plot(1e3 * down, seat.stiffness * down + seat.hardening * down**3, color=figures.GREEN)
middle.set(xlabel="hips down (mm)", ylabel="load (N)", title="seat")
right.plot(1e3 * down, 1e-3 * (seat.stiffness + 3 * seat.hardening * down**2), color=figures.GREEN)
right.set(xlabel="hips down (mm)", ylabel="stiffness (N/mm)", title="stiffness of the seat")
at_450 = np.interp(450.0, seat.stiffness * down + seat.hardening * down**3, down)
slope = seat.stiffness + 3 * seat.hardening * at_450**2
print(f"the seat: {1e3 * at_450:.1f} mm under 450 N, and {1e-3 * slope:.0f} N/mm there")
figures.save(fig, out / "37_tyres_and_seat.png")
