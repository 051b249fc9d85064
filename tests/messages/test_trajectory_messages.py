"""Asking a run for what it does not hold: the message names it and says what there is."""

import h5py
import numpy as np
import pytest

from bellcrank.errors import MechanismError
from bellcrank.trajectory.layout import CoordinateColumn, FrameLayout, MultiplierColumn
from bellcrank.trajectory.recorder import Recorder
from bellcrank.trajectory.trajectory import Trajectory


@pytest.fixture
def run():
    layout = FrameLayout(
        "four-bar",
        ("crank", "coupler", "rocker"),
        (CoordinateColumn("pivot", "theta_z", "rad"),),
        (MultiplierColumn("motor", "drive", "N m", 1.0, 0, "theta_z"),),
        ("pin",),
    )
    rows = np.zeros((5, 1 + layout.width))
    rows[:, 0] = [0.0, 0.5, 1.0, 1.5, 2.0]
    recorder = Recorder(layout)
    recorder.on_block(rows)
    return recorder.finish({})


SPAN = "run of 'four-bar': the run goes from t = 0 s to 2 s, this time lies outside, got "
MESSAGES = {
    "body 'cranck': the run has no body of this name; did you mean 'crank'?": lambda run: run.body("cranck"),
    "body 'xyz': the run has no body of this name; there are 'crank', 'coupler', 'rocker'": (
        lambda run: run.body("xyz")
    ),
    "body 'ground': the ground does not move and has no results": lambda run: run.body("ground"),
    "joint 'pivt': the run has no joint of this name; did you mean 'pivot'?": lambda run: run.joint("pivt"),
    "drive 'moter': the run has no drive of this name; did you mean 'motor'?": lambda run: run.drive("moter"),
    "joint with limits 'pivot': the run has no joint with limits of this name; it has none": (
        lambda run: run.limit("pivot")
    ),
    "joint 'pivot': its reaction was not recorded; simulate with reactions=True": (
        lambda run: run.joint("pivot").reaction
    ),
    "body 'crank': its acceleration was not recorded; simulate with accelerations=True": (
        lambda run: run.body("crank").acceleration
    ),
    SPAN + "2.5": lambda run: run.at(2.5),
    "run: the time must be finite, got nan; look where it was computed": lambda run: run.at(float("nan")),
    SPAN + "3.0": lambda run: run.resample([0.0, 3.0]),
    "resample: it takes either times or a step; such as step=0.01": lambda run: run.resample(),
    "resample: step must be greater than zero, got 0.0; give it in s": lambda run: run.resample(step=0.0),
    "resample: times must be increasing; sort them, drop doubles": lambda run: run.resample([0.0, 0.0]),
}


@pytest.mark.parametrize("message", MESSAGES)
def test_what_a_run_does_not_hold(run, message):
    with pytest.raises(MechanismError) as caught:
        MESSAGES[message](run)
    assert str(caught.value) == message


def test_either_times_or_a_step(run):
    with pytest.raises(MechanismError, match="either times or a step"):
        run.resample([1.0], step=0.1)


def test_files_that_are_not_runs(run, tmp_path):
    missing, text, other, later = (tmp_path / name for name in ("none.h5", "text.h5", "other.h5", "later.h5"))
    text.write_text("not HDF5")
    with h5py.File(other, "w") as file:
        file["x"] = 1.0
    run.save(later)
    with h5py.File(later, "r+") as file:
        file.attrs["version"] = 99
    for path, message in (
        (missing, "there is no such file"),
        (text, "this is not an HDF5 file; runs are saved by run.save(path)"),
        (other, "this HDF5 file does not hold a run of bellcrank"),
        (later, "a later version wrote this file, got 99; this bellcrank reads version 3: update it"),
    ):
        with pytest.raises(MechanismError) as caught:
            Trajectory.load(path)
        assert str(caught.value) == f"file '{path}': {message}"


def test_places_where_no_file_can_be(run, tmp_path):
    none = tmp_path / "none"
    for path, message in (
        (tmp_path, "this is a folder; give the name of a file in it"),
        (none / "run.h5", f"the folder '{none}' does not exist; make it, or choose another"),
    ):
        with pytest.raises(MechanismError) as caught:
            run.save(path)
        assert str(caught.value) == f"file '{path}': {message}"
    with pytest.raises(MechanismError, match=r"it cannot be written: .*No such file"):
        run.to_csv(none / "run.csv")
