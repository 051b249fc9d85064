"""Walkers without motors: a wheel of spokes rolls down a slope, and two straight legs walk down it.

Closed form of the wheel: T. McGeer, Passive dynamic walking, Int. J. Robotics Research 9 (1990). The legs:
M. Garcia, A. Chatterjee, A. Ruina, M. Coleman, The simplest walking model, J. Biomech. Eng. 120 (1998).
"""

import figures
import numpy as np

import bellcrank as bc

out = figures.output_folder()
SPOKES, SLOPE, GYRATION, G = 8, 0.1, 0.1, 9.81
HALF = np.pi / SPOKES
KEPT = (GYRATION**2 + np.cos(2 * HALF)) / (GYRATION**2 + 1)  # of the angular speed at a strike
GAIN = 4 * G * np.sin(HALF) * np.sin(SLOPE) / (GYRATION**2 + 1)  # of its square on a spoke
LIMIT = np.sqrt(GAIN / (1 - KEPT**2))


def strikes(speed, drop):
    """Frames before and after each fall of a speed by more than a share in one or two steps."""
    falls = np.flatnonzero(speed[:-2] - speed[2:] > drop * np.abs(speed[:-2]))
    first = falls[np.diff(falls, prepend=-100) > 10]
    return first, first + 3


def rolled(speed, duration, step=2e-4, **changes):
    """A run of the wheel: the run, its angular speed, and where feet strike."""
    wheel = bc.gallery.rimless_wheel(SPOKES, slope=SLOPE, speed=speed, gyration=GYRATION, **changes)
    run = bc.simulate(wheel, duration, method="moreau", step=step, output_step=step)
    assert bc.verify(bc.simulate(wheel, 1.0, method="moreau", step=step, output_step=step))
    turning = -run.body("wheel").angular_velocity[:, 2]
    return run, turning, *strikes(turning, 0.05)


fig = figures.figure((9.0, 6.4))
above, below = fig.subfigures(2, 1, height_ratios=(1.0, 1.0))
(view, walk), (chart, legs) = above.subplots(1, 2), below.subplots(1, 2)

for start, color in ((2.4, figures.BLUE), (1.0, figures.ORANGE)):
    run, turning, before, after = rolled(start, 8.0)
    share = turning[after] / turning[before]
    print(f"wheel from {start:g} rad/s: a strike leaves {share.min():.4f} to {share.max():.4f} of the speed, "
          f"theory {KEPT:.4f}")  # fmt: skip
    wanted = [np.sqrt(start**2 + 2 * G * (np.cos(SLOPE) - np.cos(SLOPE + HALF)) / (GYRATION**2 + 1))]
    while len(wanted) < len(before):
        wanted.append(np.sqrt((KEPT * wanted[-1]) ** 2 + GAIN))
    error = np.abs(turning[before] / wanted - 1).max()
    print(f"  {len(before)} strikes, speeds before them are those of theory to {100 * error:.2f} %; "
          f"the last {turning[before][-1]:.4f} rad/s, in the limit {LIMIT:.4f}")  # fmt: skip
    lost = run.statistics["lost_to_impacts"] + run.statistics["lost_to_friction"]
    energy = run.energy.total
    print(f"  {lost:.3f} J booked as lost, {energy[0] - energy[-1]:.3f} J missing")
    chart.plot(1 + np.arange(len(before)), turning[before], "o", color=color, markersize=4)
    chart.plot(1 + np.arange(len(before)), wanted, color=color, linewidth=1.0, label=f"from {start:g} rad/s")
    if start == 1.0:
        space = ((-1.1, -1.5, -0.2), (4.6, 1.6, 0.2))
        run.draw(times=run.time[before[:5:2]], axes=view, view="front", paths=["wheel"], box=space)
        reach = np.array([-1.1, 4.6])
        view.plot(reach, -np.tan(SLOPE) * reach, color=figures.GREY)
run, turning, before, _ = rolled(1.0, 3.0, friction=0.9 * np.tan(HALF), step=5e-4)
print(f"wheel whose friction is less than tan(pi/{SPOKES}): it slips, its last speed {turning[-1]:.2f} rad/s")
chart.axhline(LIMIT, color=figures.GREY, linestyle="--", linewidth=0.8)
chart.set(
    xlabel="strike", ylabel="speed before it (rad/s)", title="wheel: simulated (dots) and theory (lines)"
)
chart.legend()

FEET, ANGLE, PERIOD = 1e-4, 0.200311, 3.882464  # Garcia's walk at a slope of 0.009, feet without mass
walker = bc.gallery.compass_walker(foot_mass=FEET, steps=9)
run = bc.simulate(walker, 10.0, method="moreau", step=1e-4, output_step=1e-4)
assert bc.verify(bc.simulate(walker, 2.0, method="moreau", step=1e-4, output_step=1e-3))
hip, velocity = run.joint("hip").position[:, 0], run.body("left leg").velocity
jumps = np.flatnonzero(np.linalg.norm(velocity[2:] - velocity[:-2], axis=1) > 0.02)
first = jumps[np.diff(jumps, prepend=-4000) > 1000]
periods, angles = np.diff(run.time[first]) * np.sqrt(G), np.abs(hip[first]) / 2
print(f"walker: {len(first)} steps, one takes {periods[-5:].mean():.3f} sqrt(l/g), theory {PERIOD:.3f} "
      f"(+- {np.ptp(periods[-5:]) / 2:.3f}), leg at {angles[-5:].mean():.4f} rad, "
      f"theory {ANGLE:.4f}")  # fmt: skip
kept = np.linalg.norm(velocity[first + 3], axis=1) / np.linalg.norm(velocity[first], axis=1)
print(f"  a heel strike leaves {kept[-5:].mean():.4f} of the hip's speed, theory {np.cos(2 * ANGLE):.4f}")
space = ((-0.5, -0.3, -0.2), (1.7, 1.1, 0.2))
run.draw(times=np.linspace(run.time[first[0]], run.time[first[2]], 9), axes=walk, view="front", box=space)
view.set_title("wheel of spokes")
walk.set_title("compass walker, two steps")
sides = {"left": figures.BLUE, "right": figures.ORANGE}
for side, color in sides.items():
    turn = 2 * np.arctan2(run.body(f"{side} leg").rotation[:, 3], run.body(f"{side} leg").rotation[:, 0])
    legs.plot(run.time, turn + 0.009, color=color, label=f"{side} leg", linewidth=1.2)
legs.axhline(ANGLE, color=figures.GREY, linestyle="--", linewidth=0.8)
legs.axhline(-ANGLE, color=figures.GREY, linestyle="--", linewidth=0.8, label="theory, at heel strikes")
legs.set(xlabel="time (s)", ylabel="angle from the normal (rad)", title="walker", xlim=(0, 8))
legs.legend(loc="upper right", ncols=3, fontsize=7)
figures.save(fig, out / "44_passive_walkers.png")
