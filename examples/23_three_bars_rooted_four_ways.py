"""Three bars in line, described from either end and from the middle: four descriptions, one motion.

P. Schröder, The Virtual Erector Set (MIT, 1990), section 7.4: beams of 10 m, hinges 4 m from their centres,
one end spinning at 0.1 rad/s. There the four drift apart within seconds, and the velocities that it prints
"after one second" differ from run to run. They are compared here at one second.
"""

import figures
import formulations
import numpy as np

import bellcrank as bc

out, formulation = figures.output_folder(), formulations.chosen()
INERTIA = (0.104167, 8.35417, 8.41667)  # a beam of 10 m by 1 m by 0.5 m and 1 kg, as in the thesis's script
PLACES = {"left": -8.0, "middle": 0.0, "right": 8.0}
WAYS = {
    "from the left end": ("left", "middle", "right"),
    "from the right end": ("right", "middle", "left"),
    "from the middle, left first": ("middle", "left", "right"),
    "from the middle, right first": ("middle", "right", "left"),
}
# rotational velocity, linear velocity of the middle bar after one second in the thesis's three runs
THESIS = {
    "two linkages": (3.58176e-4, 1.40613e-2, 1.031e-3),
    "with a null body": (3.48003e-4, 1.38485e-2, 1.0006e-3),
    "all four": (3.63908e-4, 1.41807e-2, 1.04783e-3),
}


def linkage(order: tuple[str, ...]) -> bc.Mechanism:
    """The bars in an order, each but the first hung on a neighbour that is there already."""
    mech = bc.Mechanism("three bars", gravity=(0, 0, 0))
    for name in order:
        speed = 0.1 if name == "right" else 0.0
        bar = mech.add_body(name, mass=1.0, inertia=INERTIA, position=(PLACES[name], 0, 0),
                            velocity=(0, 4 * speed, 0), angular_velocity=(0, 0, speed))  # fmt: skip
        parent = next((other for other in mech.bodies.values()
                       if abs(other.position[0] - bar.position[0]) == 8.0), None)  # fmt: skip
        if parent is not None:
            side = np.sign(bar.position[0] - parent.position[0])
            mech.add_joint(f"{parent.name}-{name}", bc.Revolute(), parent.marker((4 * side, 0, 0)),
                           bar.marker((-4 * side, 0, 0)))  # fmt: skip
    return mech


def apart(values: list[np.ndarray]) -> float:
    """Largest difference of any from the first."""
    return max(float(np.abs(value - values[0]).max()) for value in values)


mechanisms = {way: linkage(order) for way, order in WAYS.items()}
known = (formulation, *({"lagrange", "symbolic"} - {formulation}))
runs = {
    way: bc.simulate(mech, 60.0, formulation=formulation, method="dopri5", tolerance=1e-11, output_step=0.02)
    for way, mech in mechanisms.items()
}
bent = runs["from the left end"].at(30.0)
first = {}
for used in dict.fromkeys((formulation, "lagrange", "symbolic")):
    first[used] = []
    for mech in mechanisms.values():
        order = [list(PLACES).index(name) for name in mech.bodies]
        poses = (bent.position, bent.rotation, bent.velocity, bent.angular_velocity)
        state = bc.State(30.0, *(values[order] for values in poses))
        found = bc.prepare(mech, used).accelerate(state)
        first[used].append(np.concatenate([found.body(name).linear for name in PLACES]))
    print(f"{used}: accelerations of the four, bent as after 30 s, agree to {apart(first[used]):.1e} m/s²")
print(f"and between formulations to {apart([values[0] for values in first.values()]):.1e} m/s²")

middles = {way: run.body("middle") for way, run in runs.items()}
time = next(iter(runs.values())).time
for way, body in middles.items():
    number = int(np.argmin(np.abs(time - 1.0)))
    spin, velocity = body.angular_velocity[number, 2], body.velocity[number]
    print(
        f"{way:29}: after 1 s turning at {spin:.5e} rad/s, moving at ({velocity[0]:.5e}, {velocity[1]:.5e})"
    )
everything = [np.hstack([run.body(n).position for n in PLACES]) for run in runs.values()]
print(f"after 60 s the four are within {apart(everything):.1e} m of each other")
energy = next(iter(runs.values())).energy
print(f"energy drift {np.abs(energy.drift).max():.1e} J of {energy.kinetic[0]:.4f} J")

body = middles["from the middle, left first"]
number = int(np.argmin(np.abs(time - 1.0)))
ours = (body.angular_velocity[number, 2], body.velocity[number, 0], body.velocity[number, 1])
for name, theirs in THESIS.items():
    more = ", ".join(
        f"{100 * (there / here - 1):+.1f} % {what}"
        for what, here, there in zip(("spin", "along", "across"), ours, theirs, strict=True)
    )
    print(f"the thesis after one second, {name}: {more} of what is found here at 1 s")
# The end bar's centre is pulled towards the middle with m ω² l; until they bend, the three bars share this.
by_hand = 0.1**2 * 4.0 / 3.0
print(f"along, by hand to first order, whatever the inertia: {by_hand:.5e} m/s after 1 s")

fig, (scene, chart) = figures.subplots(1, 2, size=(9.0, 3.8), width_ratios=(1.3, 1.0))
run = runs["from the left end"]
for moment, color in zip((0.0, 20.0, 40.0, 60.0), figures.COLOURS, strict=False):
    number = int(np.argmin(np.abs(time - moment)))
    for name in PLACES:
        ends = np.array([run.body(name).point((x, 0, 0))[number] for x in (-5.0, 5.0)])
        label = f"{moment:g} s" if name == "left" else None
        scene.plot(
            ends[:, 0], ends[:, 1], color=color, linewidth=3, alpha=0.75, solid_capstyle="round", label=label
        )
scene.set(aspect="equal", xlabel="x (m)", ylabel="y (m)", title="The bars from above")
scene.legend(loc="best")
for way, found in zip(list(WAYS)[1:], everything[1:], strict=True):
    difference = np.maximum(np.abs(found - everything[0]).max(axis=1), 1e-18)
    chart.plot(time, difference, label=way)
chart.set(
    xlabel="time (s)", ylabel="difference (m)", yscale="log", title="Apart from the first", ylim=(1e-18, 1e-6)
)
chart.legend(loc="lower right")
figures.save(fig, out / "23_three_bars_rooted_four_ways.png")
