"""A wedding car pulls cans on strings, which bounce, skip and roll on the road with restitution and friction.

Example 22 has the cans on wires and soft supports. Here strings only pull, the road is rigid, and the energy
that impacts and friction take is booked. The car coasts, so that nothing else takes or gives energy.
"""

import figures
import numpy as np
from matplotlib.colors import to_rgb

import bellcrank as bc

out = figures.output_folder()
CANS, RADIUS, LENGTH, MASS, STRING, SPEED = 4, 0.04, 0.12, 0.05, 0.5, 6.0
HITCH, FRICTION, BOUNCE, DURATION, STEP, G = 0.35, 0.4, 0.6, 4.0, 2.5e-4, 9.81
LIE = (np.cos(np.pi / 4), 0.0, np.sin(np.pi / 4), 0.0)  # their axes along the road


def scene(friction=FRICTION, restitution=BOUNCE):
    """Car, strings and cans on the road; the car coasts along x, the cans are at rest at first."""
    mech = bc.Mechanism("cans that bounce")
    car = mech.add_body(
        "car", mass=1200.0, inertia=(500, 2000, 2300), position=(0.0, 0.0, HITCH), velocity=(SPEED, 0.0, 0.0),
        shapes=[bc.Box(size=(3.6, 1.6, 0.5), position=(1.85, 0.0, 0.25), touches=False)],
    )  # fmt: skip
    mech.add_joint("straight", bc.PrismaticX(), mech.ground.marker((0, 0, HITCH)), car.marker())
    inertia = MASS * np.array([(3 * RADIUS**2 + LENGTH**2) / 12] * 2 + [RADIUS**2 / 2])
    random = np.random.default_rng(22)
    for number in range(CANS):
        side = 0.3 * (number - (CANS - 1) / 2)
        can = mech.add_body(
            f"can {number + 1}", mass=MASS, inertia=inertia, rotation=LIE,
            position=(-0.35 - 0.15 * number, side, RADIUS + 0.1 + 0.1 * random.random()),
            shapes=[bc.Cylinder(radius=RADIUS, length=LENGTH, color=to_rgb(figures.COLOURS[number]))],
        )  # fmt: skip
        rim = can.marker((0.0, 0.7 * RADIUS, LENGTH / 2))  # a hole off the axis
        string = bc.Cable(length=STRING + 0.2 * number, slack=True)
        mech.add_constraint(f"string {number + 1}", string, car.marker((0.0, side, 0.0)), rim)
    mech.replace(mech.ground, shapes=[bc.Plane(size=2.0)])
    cans = [f"can {number + 1}" for number in range(CANS)]
    road = bc.Contact(1e6, restitution=restitution, friction=friction)
    mech.add_force("road", road, *cans, "ground")
    return mech


def lowest(run, name):
    """Height of the lowest point of a can above the road, m: of a cylinder that leans."""
    can = run.body(name)
    axis = can.point((0.0, 0.0, 1.0)) - can.position
    tilt = np.clip(np.abs(axis[:, 2]), 0.0, 1.0)
    return can.position[:, 2] - LENGTH / 2 * tilt - RADIUS * np.sqrt(1 - tilt**2)


def pulled(length):
    """Force along the road on a can that slides on it without bouncing, N: the string lifts it a little."""
    sine = (HITCH - RADIUS) / length
    return FRICTION * MASS * G / (1 + FRICTION * sine / np.sqrt(1 - sine**2))


run = bc.simulate(scene(), DURATION, method="moreau", step=STEP, output_step=2e-3)
assert bc.verify(run)
names = [f"can {number + 1}" for number in range(CANS)]
heights = np.stack([lowest(run, name) for name in names], axis=1)
stretch = np.stack([
    np.linalg.norm(run.body(name).point((0.0, 0.7 * RADIUS, LENGTH / 2))
                   - run.body("car").point((0.0, 0.3 * (k - (CANS - 1) / 2), 0.0)), axis=1) - STRING - 0.2 * k
    for k, name in enumerate(names)
], axis=1)  # fmt: skip
print(f"cans are never below the road by more than {-1e3 * min(heights.min(), 0):.2f} mm: "
      f"a fall of one step; strings never too long by more than "
      f"{1e3 * max(stretch.max(), 0):.2f} mm")  # fmt: skip
for k, name in enumerate(names):
    aloft = heights[:, k] > 2e-3
    print(f"  {name}: in the air for {100 * aloft.mean():.0f} % of the time, "
          f"{np.sum(np.diff(aloft * 1) > 0)} bounces, "
          f"up to {100 * heights[:, k].max():.1f} cm")  # fmt: skip
lost = [run.statistics[f"lost_to_{what}"] for what in ("impacts", "friction")]
energy = run.energy.total
print(f"{lost[0]:.2f} J lost to impacts and {lost[1]:.2f} J to friction are booked, "
      f"{energy[0] - energy[-1]:.2f} J of the energy are missing")  # fmt: skip
half = np.searchsorted(run.time, 0.5 * DURATION)
power = (energy[half] - energy[-1]) / (run.time[-1] - run.time[half])
smooth = SPEED * sum(pulled(STRING + 0.2 * k) for k in range(CANS))
print(f"in the second half {power:.2f} W go; cans that slide without bouncing would take {smooth:.2f} W")
still = bc.simulate(scene(friction=0.0, restitution=1.0), 1.0, method="moreau", step=STEP, output_step=STEP)
print(f"a smooth road takes {still.statistics['lost_to_friction']:.1e} J by friction")

fig, (street, chart, balance) = figures.subplots(3, 1, size=(9.0, 7.0), height_ratios=(1.2, 1.0, 1.0))
middle = np.searchsorted(run.time, 2.35)
x = run.body("car").position[middle, 0]
run.draw(times=2.35, axes=street, view="front", contacts=True,
         box=((x - 1.6, -1.0, -0.05), (x + 2.4, 1.0, 0.9)))  # fmt: skip
street.set_title("after 2.35 s")
for k, name in enumerate(names):
    chart.plot(run.time, 100 * heights[:, k], label=name, linewidth=1.0)
chart.set(xlabel="time (s)", ylabel="height above the road (cm)", title="bounces and skips")
chart.legend(ncols=4, loc="upper right")
balance.plot(run.time, energy[0] - energy, label="energy that is missing")
balance.plot(run.time[-1], sum(lost), "o", color=figures.ORANGE, label="booked as lost")
balance.set(xlabel="time (s)", ylabel="energy (J)", title="where it goes")
balance.legend(loc="upper left")
figures.save(fig, out / "45_cans_that_bounce.png")
