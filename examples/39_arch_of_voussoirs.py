"""An arch of 16 loose stones: where its thrust runs, how thin it may be, and how it falls.

By limit analysis a semicircular ring stands as long as some line of thrust fits into it (J. Heyman, The stone
skeleton, 1966). For these stones that takes a thickness of 0.10724 of the mean radius, and at 0.15 a friction
of 0.3515. Here nothing is asked of lines of thrust: stones touch, and the arch stands or falls.
"""

import figures
import numpy as np

import bellcrank as bc

out = figures.output_folder()
LEAST, FRICTION = 0.107237297, 0.351507681  # by linear programmes over the forces at all corners


def built(thickness, friction=0.7, duration=0.6, **options):
    """A run of the arch, and by how much its crown has come down, m."""
    mech = bc.gallery.arch(16, thickness, friction=friction)
    run = bc.simulate(mech, duration, method="moreau", step=1e-3, output_step=0.01, **options)
    height = run.body("voussoir 8").position[:, 1]
    return run, height[0] - height


def between(stands, falls, holds):
    """Halve the way between a value with which the arch stands and one with which it falls, seven times."""
    for _ in range(7):
        middle = 0.5 * (stands + falls)
        if holds(middle):
            stands = middle
        else:
            falls = middle
    return sorted((stands, falls))


thin = between(0.11, 0.105, lambda thickness: built(thickness)[1][-1] < 1e-6)
print(f"it stands from a thickness between {thin[0]:.5f} and {thin[1]:.5f} on; limit analysis {LEAST:.5f}")
rough = between(0.36, 0.345, lambda friction: built(0.15, friction)[1][-1] < 1e-6)
print(f"at 0.15 it needs a friction between {rough[0]:.4f} and {rough[1]:.4f}; limit analysis {FRICTION:.4f}")


def thrust(run):
    """Where the resultant of the pressure crosses each joint, from one abutment to the other, m."""
    points = run.contact("joints").points(-1)
    pairs = np.array([sorted(pair) for pair in points.bodies])
    joints = [np.all(pairs == pair, axis=1) & (points.normal_force > 0) for pair in np.unique(pairs, axis=0)]
    places = [
        np.average(points.position[one, :2], axis=0, weights=points.normal_force[one]) for one in joints
    ]
    return np.array(sorted(places, key=lambda place: -place[0]))


fig, axes = figures.subplots(2, 2, (9.0, 5.6))
space = ((-1.35, -0.25, -0.2), (1.35, 1.2, 0.2))
for frame, (thickness, title) in zip(
    axes[0], ((0.15, "thickness 0.15 R"), (1.01 * LEAST, "1 % above the least thickness")), strict=True
):
    run, sunk = built(thickness, duration=2.0)
    assert bc.verify(run)
    print(f"{title}: the crown sinks by {abs(sunk[-1]):.0e} m in 2 s")
    run.draw(times=2.0, axes=frame, view="front", box=space)
    line = thrust(run)
    frame.plot(*line.T, "o-", color=figures.BLUE, markersize=3, linewidth=1.2, zorder=100)
    frame.set_title(f"{title}: line of thrust")
    reach = np.linalg.norm(line, axis=1)
    near = min(1 + thickness / 2 - reach.max(), reach.min() - 1 + thickness / 2)
    print(f"  its thrust comes as near as {1e3 * near:.1f} mm to an edge")

run, _ = built(0.99 * LEAST, duration=0.76, tolerance=1e-4)
run.draw(times=[run.time[-1]], axes=axes[1, 0], view="front", box=space)
axes[1, 0].set_title("1 % below: it falls by hinges")
for share in (1.01, 1.002, 0.998, 0.99, 0.95):
    run, sunk = built(share * LEAST, tolerance=1e-5)
    axes[1, 1].semilogy(run.time, np.maximum(sunk, 2e-8), label=f"{share:g}")
axes[1, 1].set(xlabel="time (s)", ylabel="crown comes down (m)", ylim=(1e-8, 1.0))
axes[1, 1].set_title("thickness over the least: it stands or falls")
axes[1, 1].legend(ncols=2, loc=(0.5, 0.12))
figures.save(fig, out / "39_arch_of_voussoirs.png")
