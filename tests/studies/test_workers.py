"""Who computes a sweep changes nothing: not how many there are, and not whether some of them are killed."""

import os
import signal
import threading
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from rigs.studied import oscillator

import bellcrank as bc

pytest.importorskip("loky")

COUNT = 60
MASSES = {"mass": np.linspace(1, 2, COUNT)}
QUICK = {"duration": 0.1, "step": 0.01}
FINAL = "final joint.track.x"

# A worker that is killed while others are at work makes loky say that it died.
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning", "ignore::ResourceWarning")


@pytest.fixture(scope="module", autouse=True)
def importable():
    """Workers, which are new processes, import this module and the rigs as well."""
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join([str(Path(__file__).parents[1]), *filter(None, [before])])
    yield
    if before is None:
        del os.environ["PYTHONPATH"]
    else:
        os.environ["PYTHONPATH"] = before


@pytest.fixture(scope="module")
def expected():
    return bc.sweep(oscillator(), MASSES, FINAL, processes=1, **QUICK).values


def waiting(seconds=0.02):
    """A measure that takes its time, so that there is a middle of the sweep."""

    def final(run):
        import time

        time.sleep(seconds)
        return run.joint("track").position[-1, 0]

    return {FINAL: final}


@pytest.mark.parametrize("processes", [2, 3])
def test_the_number_of_processes_changes_no_bit(expected, processes):
    found = bc.sweep(oscillator(), MASSES, FINAL, processes=processes, **QUICK)
    assert np.array_equal(found.values, expected)


def test_executors_of_the_standard_library(expected):
    with ThreadPoolExecutor(2) as threads:
        assert np.array_equal(
            bc.sweep(oscillator(), MASSES, FINAL, executor=threads, **QUICK).values, expected
        )


def killed_once(kill, at=0.3):
    """A function for `progress` that kills a worker once a part of the sweep is done."""
    done = []

    def shown(fraction):
        if fraction > at and not done:
            done.append(kill())

    return shown, done


def test_killing_a_process_loses_nothing(expected):
    from loky import get_reusable_executor

    def kill():
        victim = next(iter(get_reusable_executor(max_workers=2)._processes))
        os.kill(victim, signal.SIGKILL)
        return victim

    shown, done = killed_once(kill)
    found = bc.sweep(oscillator(), MASSES, waiting(), processes=2, progress=shown, **QUICK)
    assert len(done) == 1
    assert found.status == "finished"
    assert len(found.failed) == 0
    assert np.array_equal(found.values, expected)


def test_a_point_that_kills_its_process_alone_fails(expected):
    def deadly(run):
        import os
        import signal

        if abs(run.joint("track").position[-1, 0] - poison) < 1e-12:
            os.kill(os.getpid(), signal.SIGKILL)
        return run.joint("track").position[-1, 0]

    poison = float(expected[41, 0])
    found = bc.sweep(oscillator(), MASSES, deadly, processes=2, **QUICK)
    assert found.failed.tolist() == [41]
    assert "its process died" in found.reasons[41]
    others = np.arange(COUNT) != 41
    assert np.array_equal(found.values[others], expected[others])


def test_an_executor_that_cannot_go_on_says_so_and_the_file_keeps_the_rest(expected, tmp_path):
    with ProcessPoolExecutor(1) as pool:

        def kill():
            os.kill(next(iter(pool._processes)), signal.SIGKILL)
            return True

        shown, done = killed_once(kill)
        with pytest.raises(bc.MechanismError, match="takes no more work"):
            bc.sweep(oscillator(), MASSES, FINAL, executor=pool, progress=shown, path=tmp_path / "a", **QUICK)
    assert done
    held = bc.load_sweep(tmp_path / "a")
    assert 0 < len(held.failed) < COUNT
    again = bc.sweep(oscillator(), MASSES, FINAL, path=tmp_path / "a", processes=1, **QUICK)
    assert np.array_equal(again.values, expected)


def test_what_is_wrong_everywhere_comes_from_workers_too():
    with pytest.raises(bc.MechanismError, match="no quantity of this name"):
        bc.sweep(oscillator(), MASSES, "final joint.track.z", processes=2, **QUICK)


def test_what_cannot_be_sent_is_refused():
    lock = threading.Lock()
    with pytest.raises(bc.MechanismError, match="it cannot be sent to other processes"):
        bc.sweep(oscillator(), MASSES, lambda run: len(run) + bool(lock), processes=2, **QUICK)


@pytest.fixture(scope="module")
def client(importable):
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as found,
    ):
        yield found


def test_a_dask_cluster_gives_the_same(client, expected):
    assert np.array_equal(bc.sweep(oscillator(), MASSES, FINAL, executor=client, **QUICK).values, expected)
    address = client.scheduler.address
    assert np.array_equal(bc.sweep(oscillator(), MASSES, FINAL, executor=address, **QUICK).values, expected)


def test_killing_a_dask_worker_loses_nothing(client, expected):
    def kill():
        victim = next(iter(client.run(os.getpid).values()))
        os.kill(victim, signal.SIGKILL)
        return victim

    shown, done = killed_once(kill)
    found = bc.sweep(oscillator(), MASSES, waiting(), executor=client, progress=shown, **QUICK)
    assert len(done) == 1
    assert len(found.failed) == 0
    assert np.array_equal(found.values, expected)


def test_missing_libraries_are_named(monkeypatch):
    from bellcrank import extras

    def missing(name):
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)

    monkeypatch.setattr(extras, "import_module", missing)
    with pytest.raises(bc.Unsupported, match=r"needs loky: pip install 'bellcrank\[studies\]'"):
        bc.sweep(oscillator(), MASSES, FINAL, processes=2, **QUICK)
    with pytest.raises(bc.Unsupported, match=r"needs distributed: pip install 'bellcrank\[cluster\]'"):
        bc.sweep(oscillator(), MASSES, FINAL, executor="tcp://nowhere:1", **QUICK)
    with pytest.raises(bc.Unsupported, match=r"needs pandas: pip install 'bellcrank\[studies\]'"):
        bc.sweep(oscillator(), MASSES, FINAL, processes=1, **QUICK).table()
    with pytest.raises(bc.Unsupported, match=r"needs scipy: pip install 'bellcrank\[studies\]'"):
        bc.optimize(oscillator(), {"mass": (1, 2)}, FINAL, **QUICK)
