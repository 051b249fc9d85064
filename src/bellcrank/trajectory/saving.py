"""The kinds of files that a run is written into, by suffix.

.h5, .hdf5    everything, which `Trajectory.load` reads; see `run_file`
.nc           NetCDF: variables over named axes, those of `dataset`
.csv          the columns of `Trajectory.to_dict`: a line of names with units, a line for each frame
.npz          the same, each column as an array under its name, which `numpy.load` reads
.mat          the same for MATLAB and Octave: `names` (n, 1), a cell array, and `values` (T, n); also
              `mechanism` and `status`, texts

A dataset of xarray has variables over named axes, with units and meanings. Axes beside `time` are labelled by
names, a coordinate of a joint as "pivot.theta_z":

    body, axis (x, y, z), quaternion (w, x, y, z)    motion of the bodies
    marker                                           motion of the named markers on bodies
    coordinate, angle, along                         of joints; other angles; what forces act along
    multiplier                                       efforts of drives, limits, rotors and constraints
    joint, component (Mx ... Fz), part               reactions of joints, and whether they are determined
    force_component, force                           efforts of forces and their potential energies
    account                                          work of forces and drives
    event                                            what happened, and when

If units differ along an axis, a variable on the same axis contains them, such as `coordinate_unit`. The
mechanism's text, the status and the statistics are attributes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bellcrank.errors import Fault, MechanismError, Unsupported
from bellcrank.mechanism.checking import required_path
from bellcrank.trajectory import writer
from bellcrank.trajectory.columns import columns, write_csv
from bellcrank.trajectory.markers import MarkerHistory
from bellcrank.trajectory.own_file import RUN_SUFFIXES, check_place
from bellcrank.trajectory.run_file import SETS
from bellcrank.whole_files import whole_file, write_whole

if TYPE_CHECKING:
    from xarray import Dataset

    from bellcrank.trajectory.layout import FrameLayout
    from bellcrank.trajectory.trajectory import Trajectory


_MAT_BYTES: Final = 1 << 31
"""How large a matrix of MATLAB's format 5 must not be."""


def save(run: Trajectory, path: str | Path, replace: bool = False) -> None:
    """See `Trajectory.save`."""
    required_path("run.save, path", path)
    suffix = Path(path).suffix.lower()
    if suffix not in KINDS:
        check_place(path)
        rule, advice = "a run is not written into files of this kind", "end its name in one of "
        raise MechanismError(Fault(f"file '{path}'", rule, suffix, advice + ", ".join(KINDS)))
    KINDS[suffix](run, path, replace)


def _write_npz(run: Trajectory, path: str | Path, replace: bool) -> None:
    table: dict[str, Any] = {**columns(run)}
    with whole_file(path, replace) as draft, draft.open("wb") as file:
        np.savez(file, **table)


def _write_mat(run: Trajectory, path: str | Path, replace: bool) -> None:
    try:
        from scipy.io import savemat
    except ModuleNotFoundError as error:
        raise Unsupported(".mat files need SciPy: pip install scipy") from error
    table = columns(run)
    size = 8 * len(run) * len(table)
    if size >= _MAT_BYTES:
        rule = f"the run's table takes {size} bytes, and a matrix of a .mat file has less than {_MAT_BYTES}"
        raise MechanismError(
            Fault(f"file '{path}'", rule, None, "save it as .h5, which MATLAB reads as well")
        )
    names = np.empty(len(table), dtype=object)  # a cell array, also where there is one name
    names[:] = list(table)
    content = {
        "names": names,
        "values": np.column_stack(list(table.values())),
        "mechanism": run.name,
        "status": str(run.status),
    }
    with whole_file(path, replace) as draft, draft.open("wb") as file:
        savemat(file, content, oned_as="column", do_compression=True)


_VARIABLES: Final = {
    "position": ("position", ("body", "axis")),
    "rotation": ("rotation", ("body", "quaternion")),
    "velocity": ("velocity", ("body", "axis")),
    "angular_velocity": ("angular_velocity", ("body", "axis")),
    "acceleration": ("acceleration", ("body", "axis")),
    "angular_acceleration": ("angular_acceleration", ("body", "axis")),
    "coordinates": ("joint_position", ("coordinate",)),
    "rates": ("joint_velocity", ("coordinate",)),
    "coordinate_accelerations": ("joint_acceleration", ("coordinate",)),
    "angles": ("angle_position", ("angle",)),
    "angle_rates": ("angle_velocity", ("angle",)),
    "force_coordinates": ("along_position", ("along",)),
    "force_rates": ("along_velocity", ("along",)),
    "multipliers": ("effort", ("multiplier",)),
    "unique_multipliers": ("effort_unique", ("multiplier",)),
    "reactions": ("reaction", ("joint", "component")),
    "unique_reactions": ("reaction_unique", ("joint", "part")),
    "force_efforts": ("force_effort", ("force_component",)),
    "force_potentials": ("force_energy", ("force",)),
    "sensors": ("sensor_reading", ("sensor_channel",)),
    "works": ("work", ("account",)),
    "kinetic": ("kinetic_energy", ()),
    "potential": ("potential_energy", ()),
    "position_violation": ("position_violation", ()),
    "velocity_violation": ("velocity_violation", ()),
}
"""Per section the name of its variable and its axes after the time."""

_FIXED: Final = {
    "axis": ("x", "y", "z"),
    "quaternion": ("w", "x", "y", "z"),
    "component": ("Mx", "My", "Mz", "Fx", "Fy", "Fz"),
    "part": ("moment", "force"),
}


def dataset(run: Trajectory) -> Dataset:
    """See `Trajectory.to_xarray`. Efforts are signed: positive if they drive the coordinate up."""
    try:
        import xarray
    except ModuleNotFoundError as error:
        raise Unsupported("this needs xarray: pip install 'bellcrank[xarray]'") from error
    layout = run.layout
    variables: dict[str, Any] = {}
    for section, (name, axes) in _VARIABLES.items():
        if section not in layout.shapes or not all(layout.shapes[section]):
            continue
        values: Any = run.store.read(section)
        about, meaning = SETS[section], SETS[section].meaning
        if section == "multipliers":
            values, meaning = values * [column.sign for column in layout.multipliers], "effort"
        if section.startswith("unique"):
            values = values > 1.0 - 1e-9
        variables[name] = (("time", *axes), values, {"units": about.unit, "long_name": meaning})
    variables |= _of_markers(run)
    coordinates: dict[str, Any] = {"time": ("time", run.time, {"units": "s", "long_name": "simulated time"})}
    used = {axis for axes, *_ in variables.values() for axis in axes}
    for axis, labels in (*_labels(layout).items(), *_FIXED.items(), ("marker", run.markers)):
        if axis in used:
            coordinates[axis] = list(labels)
    for axis, units in _units(layout).items():
        if axis in used:
            coordinates[f"{axis}_unit"] = (axis, units)
    if run.events:
        coordinates["event"] = [event.name for event in run.events]
        variables["event_time"] = ("event", [event.time for event in run.events], {"units": "s"})
    counted = {name: value for name, value in run.statistics.items() if isinstance(value, str | int | float)}
    about_run = {"mechanism": run.name, "status": str(run.status), "message": run.status.message}
    return xarray.Dataset(variables, coordinates, {**counted, **about_run, "description": run.mechanism})


def _of_markers(run: Trajectory) -> dict[str, Any]:
    """The variables of the named markers on bodies."""
    histories = [run.marker(name) for name in run.markers]
    found = {}
    for section in (
        name for name in _VARIABLES if hasattr(MarkerHistory, name) and name in run.layout.shapes
    ):
        if histories:
            _, axes = _VARIABLES[section]
            values = np.stack([getattr(history, section) for history in histories], axis=1)
            about = {"units": SETS[section].unit, "long_name": f"{section.replace('_', ' ')} of markers"}
            found[f"marker_{section}"] = (("time", "marker", *axes[1:]), values, about)
    return found


def write_netcdf(run: Trajectory, path: str | Path, replace: bool = True) -> None:
    """Write the dataset as a NetCDF-4 file. replace: whether an existing file may be replaced.

    Raises MechanismError if it cannot be written, Unsupported without xarray and h5netcdf.
    """
    write_dataset(dataset(run), path, replace)


def write_dataset(data: Dataset, path: str | Path, replace: bool = True) -> None:
    """Write any dataset as `write_netcdf` does."""
    try:
        import h5netcdf  # noqa: F401
    except ModuleNotFoundError as error:
        raise Unsupported("this needs h5netcdf: pip install 'bellcrank[xarray]'") from error
    write_whole(path, bytes(data.to_netcdf(engine="h5netcdf")), replace)


def _labels(layout: FrameLayout) -> dict[str, list[str]]:
    """Names along the axes that depend on the mechanism; of several alike the later ones are numbered."""
    sides = {1.0: " lower", -1.0: " upper"}
    return {
        "body": list(layout.bodies),
        "coordinate": list(map(str, layout.coordinates)),
        "angle": _distinct(map(str, layout.angles)),
        "along": _distinct(map(str, layout.force_coordinates)),
        "multiplier": _distinct(
            f"{m.element}.{m.name}{sides.get(m.sign, '') if m.kind == 'limit' else ''}"
            for m in layout.multipliers
        ),
        "joint": list(layout.reactions),
        "force_component": _distinct(f"{column.force}.{column.name}" for column in layout.force_columns),
        "force": _distinct(layout.force_potentials),
        "sensor_channel": [f"{column.sensor}.{column.name}" for column in layout.sensors],
        "account": list(layout.works),
    }


def _units(layout: FrameLayout) -> dict[str, list[str]]:
    """Units along axes on which they differ."""
    return {
        "coordinate": [column.unit for column in layout.coordinates],
        "angle": [column.unit for column in layout.angles],
        "along": [column.unit for column in layout.force_coordinates],
        "multiplier": [column.unit for column in layout.multipliers],
        "component": ["N m"] * 3 + ["N"] * 3,
        "force_component": [column.unit for column in layout.force_columns],
        "sensor_channel": [column.unit for column in layout.sensors],
    }


def _distinct(labels: Iterable[str]) -> list[str]:
    seen: dict[str, int] = {}
    found = []
    for label in labels:
        seen[label] = seen.get(label, 0) + 1
        found.append(label if seen[label] == 1 else f"{label} {seen[label]}")
    return found


KINDS: Final[dict[str, Callable[[Trajectory, str | Path, bool], None]]] = {
    **dict.fromkeys(RUN_SUFFIXES, writer.save),
    ".nc": write_netcdf,
    ".csv": write_csv,
    ".npz": _write_npz,
    ".mat": _write_mat,
}
"""What writes a run, by suffix."""
