"""The file of a sweep: it goes on where it ended, after kills too, and is not taken for another's."""

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
from rigs.studied import oscillator, pendulum

import bellcrank as bc

QUICK = {"duration": 0.1, "step": 0.01, "processes": 1}
MASSES = {"mass": np.linspace(1, 2, 9)}
FINAL = "final joint.track.x"


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
