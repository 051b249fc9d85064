"""A wrecking ball and a tower of ten boxes, whose contacts are rigid.

The tower stands for two seconds without sinking. The ball, let go, strikes its sixth box. Each step of
1 ms solves for the impulses of all contacts and of the ball's hinge at once.
"""

import figures
import numpy as np

import bellcrank as bc

out = figures.output_folder()

BOXES, SIDE, LENGTH, RAISED = 10, 0.2, 2.0, np.radians(60)
STEP, WAIT = 1e-3, 2.0


def scene(with_ball):
    """Boxes of 4 kg on each other; a ball of 60 kg, which hangs beside the sixth, is drawn back."""
    mech = bc.Mechanism("wrecking ball")
    mech.replace(mech.ground, shapes=[bc.Plane()])
    for k in range(BOXES):
        color = figures.plt.cm.cividis(0.3 + 0.06 * k)[:3]
        shape = bc.Box(size=(SIDE, SIDE, SIDE), density=500.0, color=color)
        mech.add_body(f"box {k}", shapes=[shape], position=(0.0, 0.0, SIDE * (k + 0.5)))
    if with_ball:
        radius = 0.12
        pivot = (-0.5 * SIDE - radius, 0.0, SIDE * 5.5 + LENGTH)
        ball = mech.add_body(
            "ball",
            mass=60.0,
            inertia=[0.4 * 60.0 * radius**2] * 3,
            shapes=[bc.Sphere(radius=radius, color=(0.35, 0.36, 0.4))],
            position=(pivot[0], 0.0, SIDE * 5.5),
        )
        mech.add_joint(
            "chain",
            bc.Revolute(),
            mech.ground.marker(pivot, axis="y"),
            ball.marker((0.0, 0.0, LENGTH), axis="y"),
            position=RAISED,
        )
    mech.add_force("touch", bc.Contact(1e6, restitution=0.2, friction=0.6), *mech.bodies, "ground")
    return mech


waiting = bc.simulate(scene(with_ball=False), WAIT, method="moreau", step=STEP, output_step=0.05)
top = waiting.body(f"box {BOXES - 1}").position[:, 2]
print(f"the tower sinks by {np.max(np.abs(top - top[0])):.1e} m in {WAIT:g} s")

run = bc.simulate(scene(with_ball=True), 2.2, method="moreau", step=STEP, output_step=0.01)
speed = np.linalg.norm(run.body("ball").velocity, axis=1)
before = int(np.argmax(speed))
print(f"the ball arrives with {speed[before]:.3f} m/s")
energy = run.energy.total
rise = np.diff(energy).max()
print(f"energy: {energy[0]:.0f} J at the start, {energy[-1]:.0f} J at the end, rises by {rise:.1e} J")
counts = run.statistics
print(
    f"{counts['steps']} steps, residual at most {counts['residual']:.0e}, penetration at most "
    f"{1e3 * counts['penetration']:.2f} mm"
)
print(f"judged: {'passed' if bc.verify(run) else 'failed'}")

fig = figures.plt.figure(figsize=(9.0, 5.0), layout="constrained")
above, below = fig.subfigures(2, 1, height_ratios=(1.7, 1))
space = ((-2.05, -0.3, 0.0), (1.55, 0.3, 3.15))
for axes, time in zip(above.subplots(1, 4), (0.0, 0.78, 0.95, 1.5), strict=True):
    run.draw(times=time, axes=axes, view="front", box=space, scale=time == 0.0)
axes = below.subplots()
axes.plot(run.time, energy)
axes.set(xlabel="time (s)", ylabel="energy (J)", xlim=(0.0, run.time[-1]))
axes.grid(alpha=0.3)
figures.save(fig, out / "35_wrecking_ball.png")
