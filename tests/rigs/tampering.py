"""Ways to tamper with the file of a run, and runs of five kinds to tamper with.

Each way changes numbers in place, as somebody with an editor of HDF5 files could. A way that changes nothing
in a run, such as the turns of bodies that do not turn, is left out for this run.
"""

import shutil
from pathlib import Path

import h5py
import numpy as np
from rigs.tyre_rig import led_wheel

import bellcrank as bc

Y = {"axis": (0, 1, 0)}
ROUNDING = 1e-8  # numbers that are no larger are zero but for rounding
LEAST = 1e-5  # of the largest number of a data set: smaller changes are none


def tree():
    """An arm of two links with a spring, a load and a stone that flies beside it."""
    mech = bc.Mechanism("arm and stone")
    upper = mech.add_body("upper", 2.0, (0.02, 0.05, 0.05), com=(0.05, 0, 0.02), position=(0.3, 0, 0))
    lower = mech.add_body("lower", 1.0, (0.01, 0.03, 0.03), com=(0.0, 0.03, 0), position=(0.8, 0, 0))
    stone = {"position": (0.0, 2.0, 0.0), "velocity": (1.0, 0.5, 3.0), "angular_velocity": (3.0, 1.0, 0.5)}
    mech.add_body("stone", 0.7, (0.01, 0.02, 0.025), **stone)
    mech.add_joint("shoulder", bc.Revolute(), mech.ground.marker(**Y), upper.marker((-0.3, 0, 0), **Y))
    mech.add_joint("elbow", bc.Universal(), upper.marker((0.3, 0, 0), **Y), lower.marker((-0.2, 0, 0), **Y))
    mech.add_force(
        "strut", bc.SpringDamper(40.0, 1.0, 0.5), mech.ground.marker((0, 0, 1)), lower.marker((0.1, 0, 0))
    )
    mech.add_force("coil", bc.TorsionSpring(5.0, 0.2, 0.3), "shoulder")
    mech.add_force("load", bc.Wrench(force=(0, 0, "-2*cos(3*t)"), moment=(0, 0.2, 0.1)), lower.marker())
    return mech, {"duration": 1.0, "output_step": 2e-3}


def loop():
    """A driven four-bar, with a spring on its rocker."""
    mech = bc.Mechanism("four-bar")
    lengths = (
        ("crank", (0.0, 0.0), (0.1, 0.15)),
        ("coupler", (0.1, 0.15), (0.5, 0.35)),
        ("rocker", (0.5, 0.35), (0.45, 0.0)),
    )
    bodies = {}
    for name, one, two in lengths:
        middle = (0.5 * (one[0] + two[0]), 0.0, 0.5 * (one[1] + two[1]))
        bodies[name] = mech.add_body(name, 1.0, (0.01, 0.02, 0.015), com=(0.01, 0.0, 0.02), position=middle)
    pins = (
        ("A", "ground", "crank", (0.0, 0.0)),
        ("B", "crank", "coupler", (0.1, 0.15)),
        ("C", "coupler", "rocker", (0.5, 0.35)),
        ("D", "rocker", "ground", (0.45, 0.0)),
    )
    for name, one, two, (x, z) in pins:
        ends = [mech.ground if body == "ground" else bodies[body] for body in (one, two)]
        mech.add_joint(name, bc.Revolute(), *(end.world_marker((x, 0, z), **Y) for end in ends))
    mech.add_drive("motor", "A", velocity="4 + sin(3*t)")
    mech.add_force("coil", bc.TorsionSpring(2.0, 0.05), "D")
    return mech, {"duration": 1.0, "output_step": 2e-3}


def box(**law):
    """A box that is thrown onto the ground."""
    mech = bc.Mechanism("thrown box")
    shapes = [bc.Box(size=(0.12, 0.08, 0.08), density=700)]
    motion = {"position": (0, 0, 0.25), "velocity": (1.1, 0, 0), "angular_velocity": (0, 6, 0)}
    mech.add_body("box", shapes=shapes, **motion)
    mech.replace(mech.ground, shapes=[bc.Plane(size=0.7)])
    mech.add_force(
        "floor", bc.Contact(stiffness=2e5, **{"restitution": 0.4, "friction": 0.35, **law}), "box", "ground"
    )
    return mech


def compliant():
    """The box on an elastic floor."""
    return box(), {"duration": 1.0, "output_step": 2e-3}


def rigid():
    """The box on a rigid floor."""
    return box(), {"duration": 1.0, "output_step": 2e-3, "method": "moreau", "step": 1e-3}


def tyre():
    """A driven wheel with a slip angle."""
    return led_wheel(2.0, slip=0.03, camber=0.05), {"duration": 0.5, "output_step": 1e-3, "tolerance": 1e-6}


OPTIONS = {"as usual": {}, "accelerations": {"accelerations": True}, "ledger": {"ledger": True}}
"""What is recorded of a run."""

RUNS = {"tree": tree, "loop": loop, "compliant": compliant, "moreau": rigid, "tyre": tyre}


def recorded(kind, folder, **more):
    """The file of a run of a kind."""
    mech, options = RUNS[kind]()
    more = {} if kind == "moreau" and "ledger" in more else more  # it refuses one
    path = Path(folder) / f"{kind}.h5"
    bc.simulate(mech, path=path, **(options | more))
    return path


def _frame(values):
    """A frame in which something is going on, not at the ends."""
    flat = np.abs(values.reshape(len(values), -1)).sum(axis=1)
    inner = np.arange(len(values) // 3, max(2 * len(values) // 3, len(values) // 3 + 1))
    return int(inner[np.argmax(flat[inner])])


def one_scaled(factor):
    def change(values):
        values[_frame(values)] *= factor

    return change


def one_shifted(values):
    values[_frame(values)] += 0.01 * np.max(np.abs(values))


def all_scaled(factor):
    def change(values):
        values *= factor

    return change


def all_shifted(values):
    values += 0.01 * np.max(np.abs(values))


def second_half_shifted(values):
    values[len(values) // 2 :] += 0.01 * np.max(np.abs(values))


def zeroed(values):
    values[...] = 0.0


def reversed_in_time(values):
    values[...] = values[::-1].copy()


def two_swapped(values):
    first, last = len(values) // 3, 2 * len(values) // 3
    values[[first, last]] = values[[last, first]]


def frozen(values):
    values[len(values) // 2 :] = values[len(values) // 2]


def late(values):
    values[1:] = values[:-1].copy()


def sign_turned(values):
    values *= -1.0


def drifting(values):
    ramp = np.linspace(0.0, 1.0, len(values)).reshape(-1, *(1,) * (values.ndim - 1))
    values += 0.01 * np.max(np.abs(values)) * ramp


def columns_swapped(values):
    if values.ndim > 1 and values.shape[1] > 1:
        values[:, [0, -1]] = values[:, [-1, 0]]


def turned_about(values):
    """Quaternions of one frame by a hundredth of a radian about z."""
    frame, half = len(values) // 2, 0.005
    w, x, y, z = np.moveaxis(values[frame], -1, 0).copy()
    c, s = np.cos(half), np.sin(half)
    values[frame] = np.stack([c * w - s * z, c * x - s * y, c * y + s * x, c * z + s * w], axis=-1)


OF_NUMBERS = {
    "one frame times 5": one_scaled(5.0),
    "one frame by 0.1 % more": one_scaled(1.001),
    "one frame shifted": one_shifted,
    "all by 1 % more": all_scaled(1.01),
    "all shifted": all_shifted,
    "second half shifted": second_half_shifted,
    "zeroed": zeroed,
    "reversed": reversed_in_time,
    "two frames swapped": two_swapped,
    "frozen": frozen,
    "a frame late": late,
    "sign turned": sign_turned,
    "drifting": drifting,
    "columns swapped": columns_swapped,
}
OF_TIMES = {
    "doubled": all_scaled(2.0),
    "all shifted": all_shifted,
    "by 1 % more": all_scaled(1.01),
    "zeroed": zeroed,
    "reversed": reversed_in_time,
    "second half shifted": second_half_shifted,
    "two frames swapped": two_swapped,
    "one frame early": lambda values: values.__setitem__(
        len(values) // 2, 0.5 * (values[len(values) // 2 - 1] + values[len(values) // 2])
    ),
}
OF_TURNS = {
    "reversed": reversed_in_time,
    "two frames swapped": two_swapped,
    "frozen": frozen,
    "a frame late": late,
    "one frame turned": turned_about,
    "columns swapped": columns_swapped,
}
SETS = (
    "bodies/position",
    "bodies/velocity",
    "bodies/angular_velocity",
    "bodies/acceleration",
    "bodies/angular_acceleration",
    "coordinates/position",
    "coordinates/velocity",
    "coordinates/acceleration",
    "multipliers/value",
    "reactions/wrench",
    "forces/effort",
    "forces/energy",
    "along/position",
    "along/velocity",
    "energy/kinetic",
    "energy/potential",
    "ledger/work",
    "violation/position",
    "violation/velocity",
)
POINTS = {
    "depth": slice(15, 16),
    "force": slice(16, 19),
    "slip": slice(19, 22),
    "approach": slice(22, 23),
    "normal": slice(11, 14),
    "position": slice(8, 11),
}
OF_POINTS = {
    "one frame times 5": one_scaled(5.0),
    "all by 1 % more": all_scaled(1.01),
    "sign turned": sign_turned,
    "zeroed": zeroed,
}
OF_EVENTS = {
    "zeroed": zeroed,
    "by 1 % more": all_scaled(1.01),
    "reversed": reversed_in_time,
    "all shifted": all_shifted,
}


def ways():
    """All ways by name: the data set, which of its columns, and the change."""
    found = {f"{path}: {name}": (path, None, change) for path in SETS for name, change in OF_NUMBERS.items()}
    found |= {f"time: {name}": ("time", None, change) for name, change in OF_TIMES.items()}
    found |= {
        f"bodies/rotation: {name}": ("bodies/rotation", None, change) for name, change in OF_TURNS.items()
    }
    for part, columns in POINTS.items():
        found |= {
            f"points, {part}: {n}": ("contacts/points", columns, change) for n, change in OF_POINTS.items()
        }
    found |= {f"events/time: {name}": ("events/time", None, change) for name, change in OF_EVENTS.items()}
    for path in ("events/position", "events/velocity"):
        found |= {f"{path}: {name}": (path, None, change) for name, change in OF_EVENTS.items()}
    return found


def flipped(values):
    """Flags of one frame."""
    values[len(values) // 2] = 1.0 - values[len(values) // 2]


def all_flipped(values):
    """All flags."""
    values[:] = 1.0 - values


SLIPS = slice(14, 15)
WAYS = ways() | {
    f"{path}: one frame flipped": (path, None, flipped) for path in ("multipliers/unique", "reactions/unique")
}
WAYS |= {"points, slips: all flipped": ("contacts/points", SLIPS, all_flipped)}


def tampered(path, copy, way):
    """A copy of a file with one way done to it; whether that changes anything."""
    name, columns, change = WAYS[way]
    with h5py.File(path, "r") as file:
        if name not in file or not len(file[name]):
            return False
        before = np.array(file[name][:], dtype=float)
    values = before.copy()
    if columns is None:
        change(values)
    else:
        part = values[:, columns].copy()
        change(part)
        values[:, columns] = part
    if np.max(np.abs(values - before)) <= LEAST * np.max(np.abs(before)) or np.max(np.abs(before)) < ROUNDING:
        return False
    shutil.copy(path, copy)
    with h5py.File(copy, "r+", libver="latest") as file:
        file[name][:] = values
    return True
