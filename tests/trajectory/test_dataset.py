"""A run as an xarray.Dataset and as a NetCDF file: axes by name, units, and the numbers of the run."""

import pytest
from numpy.testing import assert_array_equal
from rigs.damaged_results import crank

import bellcrank as bc
from bellcrank.trajectory.saving import _VARIABLES

xarray = pytest.importorskip("xarray")


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("runs") / "run.h5"
    mech = crank()
    mech.add_force("spring", bc.SpringDamper(20.0, 0.1, 0.5), mech.ground, mech.bodies["slider"])
    mech.add_force("push", bc.Wrench(force=(0, 0, 1), moment=(0, 0.1, 0)), mech.bodies["other"])
    at = bc.Event("a radian", "axle - 1.0")
    options = {"method": "dopri5", "output_step": 0.02, "accelerations": True}
    bc.simulate(mech, 0.5, events=at, path=path, **options)
    return path


def test_everything_recorded_is_there_by_name(path):
    run = bc.Trajectory.load(path)
    data = run.to_xarray()
    assert set(data.sizes) == {
        "time", "body", "axis", "quaternion", "coordinate", "angle", "along", "multiplier", "joint",
        "component", "part", "force_component", "force", "event",
    }  # fmt: skip
    expected = {
        name for section, (name, _) in _VARIABLES.items() if all(run.layout.shapes.get(section, (0,)))
    }
    assert set(data.data_vars) == {*expected, "event_time"}
    assert_array_equal(data.time, run.time)
    assert_array_equal(data.position.sel(body="wheel"), run.body("wheel").position)
    assert_array_equal(data.rotation.sel(body="other", quaternion="w"), run.body("other").rotation[:, 0])
    assert_array_equal(data.joint_velocity.sel(coordinate="guide.z"), run.joint("guide").velocity[:, 0])
    assert_array_equal(data.reaction.sel(joint="axle", component="Fy"), run.joint("axle").force[:, 1])
    assert_array_equal(data.reaction_unique.sel(joint="axle", part="moment"), run.joint("axle").moment_unique)
    assert_array_equal(data.effort.sel(multiplier="motor.theta_z"), run.drive("motor").effort)
    sides = data.effort.sel(multiplier=["guide.z lower", "guide.z upper"]).sum("multiplier")
    assert_array_equal(sides, run.limit("guide").effort)
    pushed = data.force_effort.sel(force_component=["push.moment_y", "push.force_z"])
    assert_array_equal(pushed, run.force("push").effort)
    assert_array_equal(data.force_energy.sel(force="spring"), run.force("spring").energy)
    assert_array_equal(data.event_time, [event.time for event in run.events])
    assert str(data.position.units) == "m"
    assert dict(zip(data.coordinate.values, data.coordinate_unit.values, strict=True))["guide.z"] == "m"
    assert data.attrs["mechanism"] == "crank"
    assert data.attrs["method"] == "dopri5"
    assert bc.loads(data.attrs["description"]).bodies == run.origin.mechanism.bodies


def test_a_netcdf_file_opens_with_its_axes(path, tmp_path, program):
    pytest.importorskip("h5netcdf")
    copy = tmp_path / "run.nc"
    assert program("convert", str(path), str(copy)).exit_code == 0
    with xarray.open_dataset(copy, engine="h5netcdf") as data:
        xarray.testing.assert_identical(data.load(), bc.Trajectory.load(path).to_xarray())
    refused = program("convert", str(path), str(tmp_path / "none" / "run.nc"))
    assert refused.exit_code == 2
    assert "cannot be written" in refused.stderr
    assert not list(tmp_path.glob("*.part"))


def test_of_names_that_are_alike_the_later_are_numbered():
    mech = bc.Mechanism("alike")
    body = mech.add_body("body", 1.0, (1, 1, 1))
    mech.add_force("rubber", bc.Bushing(stiffness=(10, 20, 30)), mech.ground, body)
    data = bc.simulate(mech, 0.1, output_step=0.05).to_xarray()
    assert data.force.values.tolist() == ["rubber", "rubber 2", "rubber 3"]
    assert "multiplier" not in data.sizes
    assert "effort" not in data


def test_without_xarray_it_says_what_to_install(path, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "xarray", None)
    with pytest.raises(bc.Unsupported, match=r"pip install 'bellcrank\[xarray\]'"):
        bc.Trajectory.load(path).to_xarray()
