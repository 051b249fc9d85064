"""The kinds of files that a run is written into, by suffix.

.h5, .hdf5    everything, which `Trajectory.load` reads; see `run_file`
.nc           NetCDF: variables over named axes; see `dataset`
.csv          the columns of `Trajectory.to_dict`: a line of names with units, a line for each frame
.npz          the same, each column as an array under its name, which `numpy.load` reads
.mat          the same for MATLAB and Octave: `names` (n, 1), a cell array, and `values` (T, n); also
              `mechanism` and `status`, texts
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bellcrank.errors import Fault, MechanismError, Unsupported
from bellcrank.mechanism.checking import required_path
from bellcrank.trajectory import storage
from bellcrank.trajectory.columns import columns, write_csv
from bellcrank.trajectory.dataset import write_netcdf
from bellcrank.trajectory.own_file import RUN_SUFFIXES, check_place
from bellcrank.whole_files import whole_file

if TYPE_CHECKING:
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


def _write_run(run: Trajectory, path: str | Path, replace: bool) -> None:
    outcome = (run.status, run.status.message, run.statistics, run.events)
    storage.save(run.layout, run.store, path, run.origin, *outcome, replace=replace)


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


KINDS: Final[dict[str, Callable[[Trajectory, str | Path, bool], None]]] = {
    **dict.fromkeys(RUN_SUFFIXES, _write_run),
    ".nc": write_netcdf,
    ".csv": write_csv,
    ".npz": _write_npz,
    ".mat": _write_mat,
}
"""What writes a run, by suffix."""
