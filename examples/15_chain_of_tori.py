"""A chain of rings that slide on each other: fourteen coordinates, four for each pair of tori that touch.

Source: B. Guenter, S.-H. Lee, Symbolic Lagrangian multibody dynamics, figure 5(b) and equation 15.
"""

from math import pi
from typing import Any

import figures
import formulations
import numpy as np
from mpl_toolkits.mplot3d.art3d import Poly3DCollection

import bellcrank as bc
from bellcrank import expression as ex
from bellcrank.mechanism.rotation import matrix

out = figures.output_folder()
RING, TUBE, DENSITY = 0.30, 0.06, 7850.0
MASS = DENSITY * 2 * pi**2 * RING * TUBE**2
ACROSS, ABOUT = MASS * (RING**2 / 2 + 5 * TUBE**2 / 8), MASS * (RING**2 + 3 * TUBE**2 / 4)


def torus(around: Any, tube: Any, library: Any = ex) -> tuple[Any, ...]:
    """x, y and z on a torus about z; tube is 0 outside and pi inside."""
    reach = RING + TUBE * library.cos(tube)
    return reach * library.cos(around), reach * library.sin(around), TUBE * library.sin(tube)


def contact(number: int) -> bc.SurfaceOnSurface:
    """The lower ring's tube runs across the upper's, as links of a chain do.

    The first tangents are parallel: around the upper ring, around the lower one's tube.
    """
    upper = bc.symbol(f"u{number}"), bc.symbol(f"v{number}")
    lower = bc.symbol(f"w{number}"), bc.symbol(f"s{number}")
    return bc.SurfaceOnSurface(upper, torus(*upper), lower, torus(lower[1], -lower[0]))


mech = bc.Mechanism("chain of tori")
start = (0.7071067811865476, 0.7071067811865476, 0.0, 0.0)
rings = [
    mech.add_body(
        f"ring {k}",
        mass=MASS,
        inertia=(ACROSS, ACROSS, ABOUT),
        position=(0.0, 0.0, -RING) if k == 0 else (0.0, 0.0, 0.0),
        rotation=start if k == 0 else (1.0, 0.0, 0.0, 0.0),
    )
    for k in range(4)
]
mech.add_joint("hook", bc.Universal(), mech.ground, rings[0].world_marker((0.0, 0.0, 0.0)))
for k in range(1, 4):
    place = (-pi / 2 + 0.35, pi - 0.4, -pi, pi / 2 + 0.25)
    mech.add_joint(f"contact {k}", contact(k), rings[k - 1], rings[k], position=place)

facts = bc.info(mech)
coordinates = 2 + 4 * 3
run = bc.simulate(mech, duration=1.2, step=1e-3, output_step=0.01)
drift = np.max(np.abs(run.energy.drift)) / np.ptp(run.energy.kinetic)
print(f"{facts.bodies} rings, {coordinates} coordinates, freedom {facts.freedom}")
print(f"energy to {drift:.1e} of what is exchanged, contacts closed to {run.violation.position.max():.1e} m")

formulations.compare(mech, run)


def gap(frame: int, upper: int) -> float:
    """Distance between the surfaces of a ring and the next, m: that of circles, less the tubes."""
    angle = np.linspace(0.0, 2 * pi, 721)
    state = run.at(run.time[frame])
    circle = RING * np.stack([np.cos(angle), np.sin(angle), 0 * angle], 1)
    one, two = (circle @ matrix(tuple(state.rotation[k])).T + state.position[k] for k in (upper, upper + 1))
    return float(np.min(np.linalg.norm(one[:, None] - two, axis=2))) - 2 * TUBE


gaps = [gap(frame, k) for frame in range(0, len(run), 10) for k in range(3)]
print(f"gaps between neighbours, measured on their shapes: between {min(gaps):.1e} and {max(gaps):.1e} m")

fig = figures.figure(size=(9.0, 3.3))
fig.set_layout_engine("none")
scene = fig.add_axes((0.0, 0.0, 1.0, 1.0), projection="3d")
light = np.array([0.35, -0.7, 0.62])
around, tube = np.meshgrid(np.linspace(0, 2 * pi, 61), np.linspace(0, 2 * pi, 21), indexing="ij")
surface = np.stack(torus(around, tube, np), axis=-1)
normal = np.stack([np.cos(tube) * np.cos(around), np.cos(tube) * np.sin(around), np.sin(tube)], axis=-1)
aside = matrix((np.cos(0.3), 0.0, 0.0, np.sin(0.3)))
quads, colors = [], []
for number, time in enumerate((0.0, 0.3, 0.6, 0.9, 1.2)):
    state = run.at(time)
    for k, color in enumerate((figures.BLUE, figures.ORANGE, figures.GREEN, figures.YELLOW)):
        turn = aside @ matrix(tuple(state.rotation[k]))
        points = surface @ turn.T + aside @ state.position[k] + (1.3 * number, 0.0, 0.0)
        shade = 0.45 + 0.55 * np.abs(normal @ turn.T @ light)
        corners = (points[:-1, :-1], points[1:, :-1], points[1:, 1:], points[:-1, 1:])
        quads.append(np.stack(corners, axis=2).reshape(-1, 4, 3))
        base = np.array(figures.mpl.colors.to_rgb(color))
        colors.append(np.clip(base * shade[:-1, :-1].reshape(-1, 1), 0, 1))
faces = Poly3DCollection(np.concatenate(quads), facecolors=np.concatenate(colors), linewidths=0.0)
faces.set_clip_on(False)  # matplotlib fits a square
scene.add_collection3d(faces)
scene.set(xlim=(-0.6, 5.9), ylim=(-0.6, 0.6), zlim=(-2.0, 0.3), proj_type="ortho")
scene.set_box_aspect((6.5, 1.2, 2.3), zoom=2.75)
scene.view_init(elev=8, azim=-90)
scene.set_axis_off()
for number in range(5):
    scene.text(1.3 * number, 0.0, 0.17, f"{0.3 * number:.1f} s", ha="center", fontsize=9)
figures.save(fig, out / "15_chain_of_tori.png")
