"""A run whose every number is known: a flywheel on a slide and a swinging arm, both about z."""

import numpy as np

from bellcrank.trajectory.layout import CoordinateColumn, ForceColumn, FrameLayout, MultiplierColumn
from bellcrank.trajectory.recorder import Recorder
from bellcrank.trajectory.trajectory import Trajectory

SPIN = 40.0  # rad/s of the flywheel


LAYOUT = FrameLayout(
    mechanism="slide and arm",
    bodies=("flywheel", "arm"),
    coordinates=(
        CoordinateColumn("slide", "x", "m"),
        CoordinateColumn("slide", "theta_z", "rad"),
        CoordinateColumn("pivot", "theta_z", "rad"),
    ),
    multipliers=(
        MultiplierColumn("motor", "drive", "N m", 1.0, 2, "theta_z"),
        MultiplierColumn("pivot", "limit", "N m", 1.0, 2, "theta_z"),
        MultiplierColumn("pivot", "limit", "N m", -1.0, 2, "theta_z"),
    ),
    reactions=("slide", "weld"),
    accelerations=True,
    com=((0.0, 0.0, 0.0), (0.25, 0.0, 0.0)),
    forces=("spring", "idle"),
    force_columns=(ForceColumn("spring", "theta_z", "N m", 2),),
    force_potentials=("spring",),
)


def slide(t: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return 0.2 * np.sin(3 * t), 0.6 * np.cos(3 * t), -1.8 * np.sin(3 * t)


def swing(t: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return 2.5 * np.sin(2 * t), 5.0 * np.cos(2 * t), -10.0 * np.sin(2 * t)


def frames(t: np.ndarray, layout: FrameLayout = LAYOUT) -> np.ndarray:
    """Frames (n, 1 + width) of that motion at times t."""
    (x, vx, ax), (angle, rate, acceleration) = slide(t), swing(t)
    o = np.zeros_like(t)

    def vectors(*columns: np.ndarray) -> np.ndarray:
        return np.stack(columns, axis=-1).reshape(len(t), -1)

    parts = {
        "time": t[:, None],
        "position": vectors(x, o, o, o, 1 + o, o),
        "rotation": vectors(
            np.cos(SPIN * t / 2), o, o, np.sin(SPIN * t / 2), np.cos(angle / 2), o, o, np.sin(angle / 2)
        ),
        "velocity": vectors(vx, o, o, o, o, o),
        "angular_velocity": vectors(o, o, SPIN + o, o, o, rate),
        "coordinates": vectors(x, SPIN * t, angle),
        "rates": vectors(vx, SPIN + o, rate),
        "multipliers": vectors(0.1 * acceleration, np.maximum(angle, 0), np.maximum(-angle, 0)),
        "reactions": vectors(*(k + 10 * t for k in range(12))),
        "unique_multipliers": vectors(*(1 + o for _ in range(3))),
        "unique_reactions": vectors(*(1 + o for _ in range(4))),
        "force_efforts": vectors(-2.0 * angle),
        "force_potentials": vectors(angle**2),
        "kinetic": vectors(0.5 * rate**2),
        "potential": vectors(4.0 * (12.5 - 0.125 * rate**2)),
        "position_violation": vectors(1e-12 * (1 + t)),
        "velocity_violation": vectors(1e-10 * (1 + t)),
        "acceleration": vectors(ax, o, o, o, o, o),
        "angular_acceleration": vectors(o, o, o, o, o, acceleration),
        "coordinate_accelerations": vectors(ax, o, acceleration),
    }
    none = np.empty((len(t), 0))  # of angles
    return np.concatenate([parts.get(name, none) for name in layout.shapes], axis=1)


T = np.linspace(0.0, 2.0, 3001)


def same(run: Trajectory, other: Trajectory) -> bool:
    return all(np.array_equal(run.store.read(name), other.store.read(name)) for name in LAYOUT.shapes)


ALL = {"status": "finished", "message": "", "steps": 3}


def started(path, count=100):
    """A recorder with some frames flushed."""
    recorder = Recorder(LAYOUT, path=path)
    recorder.on_block(frames(T[:count]))
    recorder.flush()
    return recorder
