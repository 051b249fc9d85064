"""Files that earlier versions wrote are read as far as they go, or refused with what to do."""

import h5py
import numpy as np
import pytest
from rigs.damaged_results import crank, of_version_1, of_version_2

import bellcrank as bc

LATER = ("multipliers/unique", "reactions/unique", "coordinates/turning", "angles")


@pytest.fixture(scope="module")
def new(tmp_path_factory):
    path = tmp_path_factory.mktemp("runs") / "new.h5"
    mech = crank()
    mech.add_force("spring", bc.SpringDamper(20.0, 0.1, 0.5), mech.ground, mech.bodies["slider"])
    bc.simulate(mech, 0.2, method="dopri5", output_step=0.005, accelerations=True, path=path)
    return path


def first(path, source):
    """As the first version wrote it in its first days: no turns of angles, nothing of what is unique."""
    of_version_2(path, source)
    of_version_1(path, path.rename(path.with_name("second.h5")))
    with h5py.File(path, "r+", libver="latest") as file:
        for name in LATER:
            if name in file:
                del file[name]
        del file.attrs["uniqueness"]


@pytest.fixture(params=["second", "first"])
def old(request, new, tmp_path):
    path = tmp_path / "old.h5"
    (of_version_2 if request.param == "second" else first)(path, new)
    return path


def test_what_they_hold_is_read(old, new, tmp_path):
    one, two = bc.Trajectory.load(old), bc.Trajectory.load(new)
    assert (one.bodies, one.joints, one.statistics) == (two.bodies, two.joints, two.statistics)
    for section in [name for name, shape in one.layout.shapes.items() if all(shape)]:
        assert np.array_equal(one.store.read(section), two.store.read(section)), section
    assert one.forces == ()
    assert one.limit("guide").effort.shape == one.time.shape
    one.to_csv(tmp_path / "old.csv")
    one.plot(path=tmp_path / "old.png")
    one.plot("picture", path=tmp_path / "picture.png")
    assert one.resample(step=0.01).at(0.1).position.shape == (3, 3)
    one.save(tmp_path / "saved.h5")
    again = bc.Trajectory.load(tmp_path / "saved.h5")
    assert again.layout == one.layout
    assert h5py.File(tmp_path / "saved.h5").attrs["version"] == 3


def test_they_are_judged_as_far_as_they_go(old):
    """Forces that were not recorded are those of the description."""
    run = bc.Trajectory.load(old)
    verdict = bc.verify(run)
    assert verdict.passed, str(verdict)
    assert verdict["balance"].value is not None
    assert verdict["forces"].value is None


def test_what_was_not_recorded_is_refused_with_what_to_do(new, tmp_path):
    first(tmp_path / "old.h5", new)
    run = bc.Trajectory.load(tmp_path / "old.h5")
    with pytest.raises(bc.MechanismError, match="simulate again; earlier versions did not record it"):
        _ = run.joint("axle").force_unique
    with pytest.raises(bc.MechanismError, match="the run has no force of this name; it records none"):
        run.force("spring")


@pytest.mark.parametrize(
    ("lost", "text"),
    [
        ("multipliers/name", "an early bellcrank wrote it, without the coordinates that efforts act along"),
        (
            "coordinates/acceleration",
            "an early bellcrank wrote it, without accelerations of joint coordinates",
        ),
    ],
)
def test_files_of_the_first_days_are_refused_with_what_to_do(new, tmp_path, lost, text):
    path = tmp_path / "old.h5"
    first(path, new)
    with h5py.File(path, "r+", libver="latest") as file:
        del file[lost]
    with pytest.raises(bc.MechanismError, match=text) as caught:
        bc.Trajectory.load(path)
    assert str(caught.value).endswith("simulate the mechanism that 'description' holds again")
