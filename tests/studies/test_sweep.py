"""`bc.sweep`: its points, failures and wrong input; its file, by which it goes on where it ended."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from rigs.studied import four_bar, oscillator, pendulum

import bellcrank as bc

QUICK = {"duration": 0.1, "step": 0.01, "processes": 1}
FINAL = "final joint.track.x"


def test_a_grid_has_all_combinations_and_the_last_parameter_changes_first():
    found = bc.sweep(oscillator(), {"mass": [1, 2], "stiffness": [10, 20, 30]}, FINAL, **QUICK)
    assert found["mass"].tolist() == [1, 1, 1, 2, 2, 2]
    assert found["stiffness"].tolist() == [10, 20, 30, 10, 20, 30]
    expected = np.cos(np.sqrt(found["stiffness"] / found["mass"]) * 0.1)
    assert np.allclose(found[FINAL], expected, atol=1e-8)
    for number in (0, 4):
        mech = oscillator().with_parameters(**found.points.at(number))
        alone = bc.simulate(mech, 0.1, step=0.01)
        assert found[FINAL][number] == alone.joint("track").position[-1, 0]


def test_zipped_lists_and_tables_are_the_same_points():
    pandas = pytest.importorskip("pandas")
    columns = {"mass": [1.0, 2.0, 4.0], "stiffness": [10.0, 15.0, 20.0]}
    zipped = bc.sweep(oscillator(), columns, FINAL, arrange="zip", **QUICK)
    frame = bc.sweep(oscillator(), pandas.DataFrame(columns), FINAL, **QUICK)
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    listed = bc.sweep(oscillator(), rows, FINAL, **QUICK)
    assert len(zipped) == 3
    assert np.array_equal(zipped.values, frame.values)
    assert np.array_equal(zipped.values, listed.values)


def test_values_may_have_units():
    found = bc.sweep(pendulum(), {"length": ["100 mm", 0.2, "0.3 m"]}, "max body.rod.speed", **QUICK)
    assert np.allclose(found["length"], [0.1, 0.2, 0.3])


@pytest.mark.parametrize("kind", ["sobol", "halton", "latin", "random"])
def test_samples_fill_the_box_and_follow_from_the_seed(kind):
    box = {"mass": (1.0, 3.0), "stiffness": (10.0, 20.0)}
    found = [
        bc.sweep(oscillator(), box, FINAL, arrange=kind, count=13, seed=seed, **QUICK).points.table
        for seed in (1, 1, 2)
    ]
    assert found[0].shape == (13, 2)
    assert (found[0] >= [1, 10]).all()
    assert (found[0] <= [3, 20]).all()
    assert np.ptp(found[0], axis=0).tolist() > [1.2, 6.0]
    assert np.array_equal(found[0], found[1])
    assert not np.array_equal(found[0], found[2])


def test_failures_are_rows_with_their_reason():
    found = bc.sweep(pendulum(), {"length": [0.01, 0.5, 0.02, 1.0]}, "max body.rod.speed", **QUICK)
    assert found.failed.tolist() == [0, 2]
    assert "inertia" in found.reasons[0]
    assert "rod" in found.reasons[0]
    assert np.isfinite(found.values[[1, 3]]).all()
    assert np.isnan(found.values[[0, 2]]).all()
    assert "4 points, 2 failed" in str(found)
    assert found.table()["reason"].tolist()[1] == ""


def test_what_cannot_be_assembled_or_go_on_is_a_row():
    lengths = [0.36, 2.0, 0.30, 0.05]
    found = bc.sweep(
        four_bar(),
        {"coupler": lengths},
        "peak drive.motor",
        analysis="inverse_dynamics",
        duration=0.2,
        step=0.02,
        processes=1,
    )
    assert found.failed.tolist() == [1, 3]
    assert "cannot be assembled" in found.reasons[1]
    assert "constraints could no longer be met" in found.reasons[3]
    alone = bc.inverse_dynamics(four_bar().with_parameters(coupler=0.30), 0.2, 0.02)
    assert found.values[2, 0] == np.abs(alone.drive("motor").effort).max()


@pytest.mark.parametrize(
    ("measure", "reason"),
    [
        (lambda run: run.nothing, "it has no attribute 'nothing'"),
        (lambda run: np.nan, "is not a number"),
        (lambda run: run.time, "must return one number, got an array of shape (11,)"),
        (lambda run: "0.3", "must return one number, got '0.3'"),
        (lambda run: None, "must return one number, got None"),
        (lambda run: 1j, "must return one number"),
    ],
)
def test_a_measure_without_a_number_is_a_reason(measure, reason):
    found = bc.sweep(oscillator(), {"mass": [1, 2]}, measure, **QUICK)
    assert len(found.failed) == 2
    assert reason in found.reasons[0]


def test_several_measures_and_their_names():
    found = bc.sweep(oscillator(), {"mass": [1, 2]}, {"end": FINAL, "frames": len}, **QUICK)
    assert found.measures == ("end", "frames")
    assert found["frames"].tolist() == [11, 11]
    assert found.best("end") == {"mass": 1.0, "end": found["end"][0], "frames": 11.0}
    assert found.best("end", maximize=True)["mass"] == 2.0


def test_the_analysis_may_be_a_function():
    def weight(mechanism, factor):
        return factor * mechanism.parameters["mass"].value

    found = bc.sweep(oscillator(), {"mass": [1, 2]}, lambda w: w, analysis=weight, factor=10.0)
    assert found.values[:, 0].tolist() == [10, 20]


def test_runs_are_kept_in_memory_or_in_a_folder(tmp_path):
    held = bc.sweep(oscillator(), {"mass": [1, 2]}, FINAL, runs=True, **QUICK)
    assert held.run(1).joint("track").position[-1, 0] == held[FINAL][1]
    written = bc.sweep(oscillator(), {"mass": [1, 2]}, FINAL, runs=tmp_path / "runs", **QUICK)
    assert written.run(1).joint("track").position[-1, 0] == held[FINAL][1]
    without = bc.sweep(oscillator(), {"mass": [1, 2]}, FINAL, **QUICK)
    with pytest.raises(bc.MechanismError, match="runs=True"):
        without.run(0)


def test_a_grid_becomes_a_dataset_with_the_parameters_as_axes():
    pytest.importorskip("xarray")
    found = bc.sweep(oscillator(), {"mass": [1, 2], "stiffness": [10, 20, 30]}, FINAL, **QUICK)
    dataset = found.to_xarray()
    assert dict(dataset.sizes) == {"mass": 2, "stiffness": 3}
    assert dataset["mass"].attrs["units"] == "kg"
    assert float(dataset[FINAL].sel(mass=2, stiffness=20)) == found[FINAL][4]
    samples = bc.sweep(oscillator(), {"mass": (1, 2)}, FINAL, arrange="random", count=5, **QUICK)
    assert dict(samples.to_xarray().sizes) == {"point": 5}


@pytest.mark.parametrize(
    "parameters",
    [
        {"length": np.linspace(0.01, 0.5, 9)},
        {"thick": [1e-4, 2e-4], "length": np.linspace(0.01, 0.5, 9)},
        {"thick": np.linspace(1e-4, 1e-3, 8), "length": np.linspace(0.01, 0.5, 9)},
        [{"length": 0.3, "thick": 1e-4}, {"length": 0.4, "thick": 2e-4}, {"length": 0.01, "thick": 1e-4}],
    ],
)
def test_every_kind_of_figure(tmp_path, parameters):
    pytest.importorskip("matplotlib")
    found = bc.sweep(pendulum(), parameters, "max body.rod.speed", **QUICK)
    assert len(found.failed)
    found.plot(path=tmp_path / "sweep.png")
    assert (tmp_path / "sweep.png").stat().st_size > 5000


@pytest.mark.parametrize(
    ("parameters", "changed", "said"),
    [
        ({"mas": [1, 2]}, {}, "parameter 'mas': there is no parameter of this name; did you mean 'mass'"),
        ({}, {}, "it needs a parameter at least"),
        ({"mass": []}, {}, "its values must be a list of numbers"),
        ({"mass": [1, -2]}, {}, "value must not be less than low = 0.1"),
        ({"mass": ["heavy"]}, {}, "parameter 'mass'"),
        ({"mass": [1, np.nan]}, {}, "value must be finite"),
        ({"mass": [1, 2], "stiffness": [1]}, {"arrange": "zip"}, "mass has 2, stiffness has 1"),
        ({"mass": [1, 2]}, {"arrange": "gird"}, "arrange must be one of 'grid'"),
        ({"mass": [1, 2]}, {"count": 3}, "count is a part of samples"),
        ({"mass": [1, 2]}, {"arrange": "sobol"}, "count must be a whole number"),
        ({"mass": [2, 1]}, {"arrange": "latin", "count": 3}, "takes the lowest and the highest value"),
        ({"mass": [1, 2]}, {"duration": None}, "simulations need a duration"),
        ({"mass": [1, 2]}, {"duraton": 1.0}, "did you mean 'duration'"),
        ({"mass": [1, 2]}, {"path": 3}, "a path is needed here"),
        ({"mass": [1, 2]}, {"analysis": "simulte"}, "analysis must be one of"),
        ({"mass": [1, 2]}, {"processes": 0}, "processes must be a whole number, at least 1"),
        ({"mass": [1, 2]}, {"executor": 3, "processes": None}, "it must be a Dask client"),
        ({"mass": [1, 2]}, {"step": -1.0}, "step must be greater than zero"),
        ([1, 2], {}, "parameters are a mapping"),
    ],
)
def test_wrong_input(parameters, changed, said):
    with pytest.raises(bc.MechanismError) as caught:
        bc.sweep(oscillator(), parameters, FINAL, **(QUICK | changed))
    assert said in str(caught.value)


def test_all_faults_come_at_once():
    with pytest.raises(bc.MechanismError) as caught:
        bc.sweep(oscillator(), {"mas": [1]}, "mxa joint.track.x", duration=1.0, duraton=2.0)
    assert len(caught.value.faults) == 2


def test_what_no_point_would_be_spared_is_refused_at_once():
    with pytest.raises(bc.MechanismError, match=r"did you mean 'joint.track.x"):
        bc.sweep(oscillator(), {"mass": [1, 2]}, "final joint.track.xx", **QUICK)
    with pytest.raises(bc.MechanismError, match="its drives leave 1 degree of freedom open"):
        bc.sweep(oscillator(), {"mass": [1, 2]}, FINAL, analysis="kinematics", duration=1.0)
    with pytest.raises(bc.Unsupported, match="there is no formulation"):
        bc.sweep(oscillator(), {"mass": [1, 2]}, FINAL, formulation="lagrnge", **QUICK)


def test_interrupting_keeps_what_is_computed():
    calls = []

    def impatient(run):
        calls.append(run)
        if len(calls) == 4:
            raise KeyboardInterrupt
        return len(run)

    found = bc.sweep(oscillator(), {"mass": np.arange(1, 10)}, impatient, **QUICK)
    assert found.status == "interrupted"
    assert np.isfinite(found.values[:3]).all()
    assert found.failed.tolist() == [3, 4, 5, 6, 7, 8]
    assert found.reasons[5] == "not computed"


def test_progress_ends_at_one():
    fractions = []
    bc.sweep(oscillator(), {"mass": np.arange(1, 10)}, FINAL, progress=fractions.append, **QUICK)
    assert fractions[-1] == 1.0
    assert fractions == sorted(fractions)


MASSES = {"mass": np.linspace(1, 2, 9)}


def test_a_sweep_that_is_done_is_read_and_not_computed(tmp_path):
    first = bc.sweep(oscillator(), MASSES, FINAL, path=tmp_path / "a.sweep", **QUICK)
    base = sqlite3.connect(tmp_path / "a.sweep")
    base.execute("UPDATE point SET measures = ? WHERE number = 4", (json.dumps([17.0]),))
    base.commit()
    base.close()
    again = bc.sweep(oscillator(), MASSES, FINAL, path=tmp_path / "a.sweep", **QUICK)
    assert again[FINAL][4] == 17.0
    others = np.arange(9) != 4
    assert np.array_equal(again.values[others], first.values[others])
    loaded = bc.load_sweep(tmp_path / "a.sweep")
    assert (loaded.status, loaded.mechanism, loaded.measures) == ("finished", "oscillator", (FINAL,))
    assert np.array_equal(loaded.values, again.values)
    assert np.array_equal(loaded.points.axes[0], MASSES["mass"])


def test_an_interrupted_sweep_goes_on(tmp_path):
    limit = [4]

    def impatient(run):
        limit[0] -= 1
        if limit[0] < 0:
            raise KeyboardInterrupt
        return run.joint("track").position[-1, 0]

    first = bc.sweep(oscillator(), MASSES, impatient, path=tmp_path / "a.sweep", **QUICK)
    assert first.status == "interrupted"
    assert len(first.failed) == 5
    assert bc.load_sweep(tmp_path / "a.sweep").status == "interrupted"
    limit[0] = 5  # as many as are left: none is computed twice
    second = bc.sweep(oscillator(), MASSES, impatient, path=tmp_path / "a.sweep", **QUICK)
    assert (second.status, limit[0]) == ("finished", 0)
    assert np.array_equal(second.values, bc.sweep(oscillator(), MASSES, FINAL, **QUICK).values)


def test_failures_are_kept_with_their_reasons(tmp_path):
    lengths = {"length": [0.01, 0.5]}
    first = bc.sweep(pendulum(), lengths, "max body.rod.speed", path=tmp_path / "a.sweep", **QUICK)
    assert first.reasons[0]
    assert bc.load_sweep(tmp_path / "a.sweep").reasons == first.reasons


@pytest.mark.parametrize(
    ("changed", "part"),
    [
        ({"mechanism": oscillator().with_parameters(stiffness=20.0)}, "mechanism"),
        ({"parameters": {"mass": np.linspace(1, 2, 8)}}, "points"),
        ({"measure": "max joint.track.x"}, "measures"),
        ({"duration": 0.2}, "analysis"),
    ],
)
def test_another_sweep_is_refused(tmp_path, changed, part):
    given = {"mechanism": oscillator(), "parameters": MASSES, "measure": FINAL, **QUICK}
    bc.sweep(path=tmp_path / "a.sweep", **given)
    with pytest.raises(bc.MechanismError, match=f"it holds another sweep: other {part}; give another path"):
        bc.sweep(path=tmp_path / "a.sweep", **(given | changed))


def test_wrong_input_leaves_no_sweep_behind(tmp_path):
    with pytest.raises(bc.MechanismError, match="no quantity"):
        bc.sweep(oscillator(), MASSES, "final joint.track.q", path=tmp_path / "a.sweep", **QUICK)
    assert bc.sweep(oscillator(), MASSES, FINAL, path=tmp_path / "a.sweep", **QUICK).status == "finished"


def test_other_files_are_refused(tmp_path):
    (tmp_path / "text.sweep").write_text("no sweep at all, but a text")
    for call in (lambda p: bc.sweep(oscillator(), MASSES, FINAL, path=p, **QUICK), bc.load_sweep):
        with pytest.raises(bc.MechanismError, match="this is not the file of a sweep"):
            call(tmp_path / "text.sweep")
    base = sqlite3.connect(tmp_path / "other.sweep")
    base.execute("CREATE TABLE cats (name TEXT)")
    base.close()
    with pytest.raises(bc.MechanismError, match="not the file of a sweep"):
        bc.load_sweep(tmp_path / "other.sweep")
    with pytest.raises(bc.MechanismError, match="there is no such file"):
        bc.load_sweep(tmp_path / "none.sweep")
    with pytest.raises(bc.MechanismError, match="does not exist"):
        bc.sweep(oscillator(), MASSES, FINAL, path=tmp_path / "none" / "a.sweep", **QUICK)


def test_a_damaged_file_is_refused(tmp_path):
    path = tmp_path / "a.sweep"
    bc.sweep(oscillator(), MASSES, FINAL, path=path, **QUICK)
    content = bytearray(path.read_bytes())
    content[100:3000] = os.urandom(2900)
    path.write_bytes(content)
    with pytest.raises(bc.MechanismError, match="damaged"):
        bc.load_sweep(path)


SLOW = """
import sys, time
sys.path[:0] = {paths!r}
from rigs.studied import oscillator
import bellcrank as bc, numpy as np

def slow(run):
    time.sleep(0.03)
    return run.joint("track").position[-1, 0]

masses = {{"mass": np.linspace(1, 2, 60)}}
bc.sweep(oscillator(), masses, {{"end": slow}}, path={path!r}, duration=0.1, step=0.01, processes=1)
"""


def test_a_killed_process_loses_what_it_had_not_written_and_no_more(tmp_path):
    path = tmp_path / "a.sweep"
    paths = [str(Path(__file__).parents[1])]
    script = tmp_path / "slow.py"
    script.write_text(SLOW.format(paths=paths, path=str(path)))
    with subprocess.Popen([sys.executable, str(script)]) as killed:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and (not path.exists() or _count(path) < 10):
            time.sleep(0.02)
        with pytest.raises(bc.MechanismError, match="another process is computing this sweep"):
            bc.sweep(oscillator(), MASSES, FINAL, path=path, **QUICK)
        killed.send_signal(signal.SIGKILL)
    held = bc.load_sweep(path)
    done = len(held) - len(held.failed)
    assert 10 <= done < 60
    subprocess.run([sys.executable, str(script)], check=True)
    whole = bc.load_sweep(path)
    assert whole.status == "finished"
    expected = bc.sweep(oscillator(), {"mass": np.linspace(1, 2, 60)}, FINAL, **QUICK)
    assert np.array_equal(whole.values, expected.values)


def _count(path):
    base = sqlite3.connect(path)
    try:
        return base.execute("SELECT COUNT(*) FROM point").fetchone()[0]
    except sqlite3.OperationalError:
        return 0
    finally:
        base.close()
