"""A wedding car that follows a path, with a string of cans behind it, bouncing on the road.

P. Schröder, The Virtual Erector Set (MIT, 1990), section 1.5.2: cans and pieces of rigid wire are put down
roughly and joined by ball joints; the car is linked to a path; the cans follow.
"""

import figures
import formulations
import numpy as np

import bellcrank as bc

out, formulation = figures.output_folder(), formulations.chosen()
CANS, WIRE, LENGTH, RADIUS = 5, 0.25, 0.12, 0.04
HITCH = (-2.0, 0.0, 0.35)
# From rest up to 6 m/s along a winding street; the car looks along its path.
X = "6*(t - 1.5*(1 - exp(-t/1.5)))"
Y = f"2.5*sin(0.25*({X}))"
HEADING = f"atan(0.625*cos(0.25*({X})))"

mech = bc.Mechanism("cans behind a car")
car = mech.add_body(
    "car", mass=1200.0, inertia=(500, 2000, 2300), rotation=bc.rotation(axis=(0, 0, 1), angle=0.5586)
)
mech.add_drive("path", marker=car.marker(), path=bc.Path((X, Y, 0.0)), orientation=(0.0, 0.0, HEADING))

random = np.random.default_rng(1990)
last, end, place = car, HITCH, np.array(HITCH)
turn = bc.rotation(axis=(0, 0, 1), angle=0.5586)
ahead = np.array([np.cos(0.5586), np.sin(0.5586), 0.0])
start = np.array([HITCH[0] * ahead[0], HITCH[0] * ahead[1], HITCH[2]])
reach = 0.0
for number in range(2 * CANS):
    can = number % 2 == 1
    half = (LENGTH if can else WIRE) / 2
    where = start - (reach + half) * ahead + random.uniform(-0.05, 0.05, 3)  # roughly
    reach += 2 * half
    if can:
        body = mech.add_body(
            f"can {number // 2 + 1}", mass=0.05, inertia=(5e-5, 9e-5, 9e-5), position=where, rotation=turn
        )
        for side in (-1, 1):
            for over in (-1, 1):
                rim = body.marker((side * half, 0.0, over * RADIUS))
                rib = body.marker((side * half, over * RADIUS, 0.0))
                for name, point in ((f"{side}{over}z", rim), (f"{side}{over}y", rib)):
                    support = bc.SupportPoint(800.0, damping=0.8, depth=2e-3)
                    mech.add_force(f"{body.name} on the road {name}", support, point)
    else:
        body = mech.add_body(
            f"wire {number // 2 + 1}", mass=0.01, inertia=(1e-6, 6e-5, 6e-5), position=where, rotation=turn
        )
    mech.add_joint(f"ball {number + 1}", bc.Spherical(), last.marker(end), body.marker((half, 0, 0)))
    mech.add_force(f"scraping {number + 1}", bc.BodyDamping(0.05, 2e-5), body.marker())
    last, end = body, (-half, 0, 0)

report = bc.assemble(mech)
moved = max(move.distance for move in report.moves) if report.changed else 0.0
print(f"put together: {2 * CANS} ball joints, bodies moved by {100 * moved:.1f} cm at most")
run = bc.simulate(mech, 6.0, formulation=formulation, method="dopri5", tolerance=1e-7, output_step=1 / 600)
print(f"{run.statistics['steps']} steps; joints closed to {run.violation.position.max():.1e} m")

path = run.body("car").position
wanted = np.array([[6 * (t - 1.5 * (1 - np.exp(-t / 1.5)))] for t in run.time])[:, 0]
print(f"the car keeps to its path to {np.abs(path[:, 0] - wanted).max():.1e} m, "
      f"{np.linalg.norm(run.body('car').velocity, axis=1)[-1]:.2f} m/s in the end")  # fmt: skip
cans = [run.body(f"can {number + 1}") for number in range(CANS)]
heights = np.stack([can.position[:, 2] for can in cans], axis=1)
after = run.time > 1.0
print(f"cans: between {100 * heights[after].min():.1f} and {100 * heights[after].max():.1f} cm high, "
      f"{int(np.sum(np.diff((heights > 0.05).astype(int), axis=0) > 0))} times in the air")  # fmt: skip

# All that is behind the hitch: its momentum changes by the hitch, the road, the weight and the scraping.
behind = [run.body(name) for name in run.bodies if name != "car"]
masses = np.array([mech.bodies[b.name].mass for b in behind])
momentum = np.einsum("b,bti->ti", masses, np.stack([b.velocity for b in behind]))
drag = -0.05 * np.sum([b.velocity for b in behind], axis=0)
pull = run.joint("ball 1").force
change = np.array([np.trapezoid((pull + drag)[:, i], run.time) for i in range(2)])
print(f"momentum of the string along the road against the pulls on it: "
      f"{np.abs(momentum[-1, :2] - momentum[0, :2] - change).max():.1e} of {np.abs(momentum).max():.2f} N s; "
      f"the hitch carries {np.linalg.norm(pull, axis=1).max():.1f} N at most")  # fmt: skip

fig, (street, chart) = figures.subplots(2, 1, size=(9.0, 5.0), height_ratios=(1.4, 1.0))
outline = np.stack(
    [
        run.body("car").point(p)
        for p in ((2, 0.85, 0), (2, -0.85, 0), (-2, -0.85, 0), (-2, 0.85, 0), (2, 0.85, 0))
    ],
    1,
)
for frame in range(0, len(run), 600):
    color = figures.COLOURS[frame // 600 % len(figures.COLOURS)]
    street.plot(outline[frame, :, 0], outline[frame, :, 1], color=color, linewidth=1.0)
    joints = [run.body("car").point(HITCH)[frame], *(run.body(n).point((-h, 0, 0))[frame] for k in range(CANS)
              for n, h in ((f"wire {k + 1}", WIRE / 2), (f"can {k + 1}", LENGTH / 2)))]  # fmt: skip
    street.plot(*np.array(joints)[:, :2].T, color=color, linewidth=1.0)
    for can in cans:
        ends = np.array([can.point((x, 0, 0))[frame] for x in (-LENGTH / 2, LENGTH / 2)])
        street.plot(*ends[:, :2].T, color=color, linewidth=4, solid_capstyle="butt")
street.plot(path[:, 0], path[:, 1], color=figures.GREY, linewidth=0.7, linestyle="--")
street.set(aspect="equal", xlabel="x (m)", ylabel="y (m)", title="The street from above, every second")
for number in (0, 2, 4):
    chart.plot(run.time, 100 * heights[:, number], label=f"can {number + 1}", linewidth=1.1)
chart.set(xlabel="time (s)", ylabel="height (cm)", title="Bouncing")
chart.legend(loc="upper right", ncols=3)
figures.save(fig, out / "22_cans_behind_a_car.png")
