"""Markers in results: where they are and how they move, also where parameters place them."""

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.mechanism.parameters import present
from bellcrank.mechanism.rotation import multiply, rotate
from bellcrank.shell.interpreter import Shell


def crane(value=0.5, tilt=0.3):
    """A rod about y that a drive turns, with a marker whose place is a parameter."""
    mech = bc.Mechanism("crane")
    reach = mech.add_parameter("L", value, unit="m", low=0.1)
    rod = mech.add_body("rod", mass=1.0, inertia=(0.01, 0.02, 0.03))
    mech.add_joint("h", bc.Revolute(), mech.ground.marker(axis="y"), rod.marker(axis="y"))
    mech.add_drive("motor", "h", position="0.4*t + t**2")
    tip = rod.marker((reach, 0.0, 0.2), rotation=bc.rotation("x", tilt), name="tip")
    mech.add_marker(tip)
    mech.add_marker(mech.ground.marker((1.0, 2.0, 3.0), name="post"))
    return mech, tip


@pytest.fixture(scope="module")
def run():
    return bc.simulate(crane()[0], 1.0, output_step=0.001, accelerations=True)


def test_position_velocity_and_acceleration(run):
    """Against the closed form of a turn about y."""
    tip, t = run.marker("rod.tip"), run.time
    angle, rate, second = 0.4 * t + t**2, 0.4 + 2.0 * t, 2.0
    c, s, none = np.cos(angle), np.sin(angle), np.zeros_like(t)
    place = np.stack([0.5 * c + 0.2 * s, none, -0.5 * s + 0.2 * c], axis=1)
    across = np.stack([place[:, 2], none, -place[:, 0]], axis=1)  # y × place
    assert tip.position == pytest.approx(place, abs=1e-9)
    assert tip.velocity == pytest.approx(rate[:, None] * across, abs=1e-8)
    assert tip.acceleration == pytest.approx(second * across - rate[:, None] ** 2 * place, abs=1e-7)
    assert tip.angular_velocity == pytest.approx(np.stack([none, rate, none], axis=1), abs=1e-8)
    assert tip.angular_acceleration[:, 1] == pytest.approx(2.0, abs=1e-7)
    assert tip.rotation[0] == pytest.approx(crane()[1].rotation, abs=1e-9)
    assert not tip.position.flags.writeable


def test_the_ways_to_name_one(run):
    mech, tip = crane()
    named = run.marker("rod.tip")
    assert run.marker(tip).position == pytest.approx(named.position, abs=0)
    assert run.marker("rod").position == pytest.approx(run.body("rod").position, abs=0)
    assert run.marker(mech.bodies["rod"]).velocity == pytest.approx(run.body("rod").velocity, abs=0)
    post = run.marker("ground.post")
    assert (post.position == (1.0, 2.0, 3.0)).all()
    assert not np.concatenate([post.velocity, post.acceleration, post.angular_velocity]).any()
    assert run.markers == ("rod.tip",)
    assert repr(named) == f"<marker 'rod.tip', {len(run)} frames>"
    with pytest.raises(bc.MechanismError, match=r"marker 'rod\.tap': .*did you mean 'rod\.tip'"):
        run.marker("rod.tap")
    with pytest.raises(bc.MechanismError, match="no body of this name, got 'arm'"):
        run.marker(bc.Marker("arm"))
    with pytest.raises(bc.MechanismError, match="acceleration was not recorded"):
        bc.simulate(mech, 0.1).marker("rod.tip").acceleration  # noqa: B018


def test_in_tables_measures_and_sweeps(run, tmp_path):
    table, tip = run.to_dict(), run.marker("rod.tip")
    names = [name for name in table if name.startswith("marker.")]
    assert names == [f"marker.rod.tip.{part}" for part in
                     ("x [m]", "y [m]", "z [m]", "vx [m/s]", "vy [m/s]", "vz [m/s]",
                      "ax [m/s^2]", "ay [m/s^2]", "az [m/s^2]")]  # fmt: skip
    assert (table["marker.rod.tip.vz [m/s]"] == tip.velocity[:, 2]).all()
    run.to_csv(tmp_path / "run.csv")
    assert "marker.rod.tip.x [m]" in (tmp_path / "run.csv").read_text(encoding="utf-8")
    found = bc.sweep(
        crane()[0], {"L": [0.5, 0.8]}, measure=["max marker.rod.tip.z", "final marker.rod.tip.speed"],
        duration=0.5, progress=False,
    )  # fmt: skip
    expected = [
        np.max(-reach * np.sin(run.time[:501] * 0.4 + run.time[:501] ** 2)
               + 0.2 * np.cos(run.time[:501] * 0.4 + run.time[:501] ** 2))
        for reach in (0.5, 0.8)
    ]  # fmt: skip
    assert found["max marker.rod.tip.z"] == pytest.approx(expected, abs=1e-6)
    assert found["final marker.rod.tip.speed"] == pytest.approx(
        [1.4 * np.hypot(reach, 0.2) for reach in (0.5, 0.8)], abs=1e-6
    )


def test_from_a_file_with_handles_of_before(run, tmp_path):
    run.save(tmp_path / "run.h5")
    again = bc.Trajectory.load(tmp_path / "run.h5")
    tip = crane()[1]
    assert again.marker("rod.tip").position == pytest.approx(run.marker("rod.tip").position, abs=0)
    assert again.marker(tip).position == pytest.approx(run.marker("rod.tip").position, abs=0)
    part = run[10:20]
    assert part.marker("rod.tip").position == pytest.approx(run.marker("rod.tip").position[10:20], abs=0)


def test_parameters_have_the_values_of_the_run():
    mech, tip = crane()
    other = bc.simulate(mech.with_parameters(L=0.9), 0.1)
    for given in ("rod.tip", tip):
        assert other.marker(given).position[0] == pytest.approx((0.9, 0.0, 0.2))
    assert other.body("rod").point(tip.position)[0] == pytest.approx((0.9, 0.0, 0.2))
    assert other.body("rod").point(["100 mm", 0, 0])[0] == pytest.approx((0.1, 0.0, 0.0))
    with pytest.raises(bc.MechanismError, match="body 'rod': the point: it depends on 'q'"):
        other.body("rod").point((bc.symbol("q"), 0, 0))
    with pytest.raises(bc.MechanismError, match="body 'rod': the point must hold 3 numbers"):
        other.body("rod").point((1, 2))


@pytest.mark.parametrize("given", ["handle", "name"])
def test_every_use_of_a_parametric_marker(given, run, tmp_path):
    mech, tip = crane()
    marker = tip if given == "handle" else "rod.tip"
    pytest.importorskip("matplotlib")
    run.draw(tmp_path / "x.png", paths=[marker])
    run.draw(tmp_path / "y.png", paths=marker)
    found = bc.inverse_kinematics(mech, {marker: (0.2, 0.0, -0.5)})
    assert found.reached
    assert bc.inverse_kinematics(mech, {("rod", tip.position): (0.2, 0.0, -0.5)}).reached
    reach = mech.parameters["L"].symbol
    assert bc.inverse_kinematics(mech, {marker: (0.2 * reach / 0.5, 0.0, -0.5)}).reached
    run.plot("path", "rod.tip", path=tmp_path / "p.png")
    run.plot("path", "rod", point=tip.position, path=tmp_path / "q.png")
    run.plot("marker", "rod.tip", path=tmp_path / "r.png")
    assert run.section("rod", (0, 0, 0), tip.position, mass="lump").end == pytest.approx((0.5, 0.0, 0.2))


def test_paths_trace_markers(run):
    from bellcrank.trajectory.pictures import traces_of

    assert (traces_of(run, ["rod.tip"])["rod.tip"] == run.marker("rod.tip").position).all()
    with pytest.raises(bc.MechanismError, match=r"paths: the ground does not move, got 'ground\.post'"):
        traces_of(run, "ground.post")


def test_plots_name_markers_and_bodies(run):
    pytest.importorskip("matplotlib")
    with pytest.raises(bc.MechanismError, match=r"body or marker 'rod\.tap'.*did you mean 'rod\.tip'"):
        run.plot("path", "rod.tap")
    with pytest.raises(bc.MechanismError, match=r"a marker is a point itself, got 'rod\.tip'"):
        run.plot("path", "rod.tip", point=(0, 0, 0))
    panels = run.plot("marker").axes
    assert [axes.get_ylabel() for axes in panels] == ["Position (mm)", "Velocity (m/s)"]


def test_position_in_world():
    mech = crane()[0]
    reach = mech.parameters["L"].symbol
    mech.replace(mech.bodies["rod"], position=(1.0, 0.0, 0.0), rotation=bc.rotation("z", "90 deg"))
    found = mech.position_in_world("rod.tip")
    assert found[1] == reach  # a formula of parameters where it depends on them
    assert present(found) == pytest.approx((1.0, 0.5, 0.2))
    plain = mech.bodies["rod"].marker((0.25, 0.0, 0.0))
    assert mech.position_in_world(plain) == pytest.approx((1.0, 0.25, 0.0))
    assert mech.position_in_world(mech.ground) == (0.0, 0.0, 0.0)
    run = bc.simulate(crane()[0], 0.5)
    at = run.at(0.5)
    assert crane()[0].position_in_world("rod.tip", at) == pytest.approx(run.marker("rod.tip").position[-1])
    with pytest.raises(bc.MechanismError, match=r"there is no marker of this name, got 'rod\.top'"):
        mech.position_in_world("rod.top")
    mech.add_body("other", 1.0, (1, 1, 1))
    with pytest.raises(bc.MechanismError, match="the state is of another mechanism"):
        mech.position_in_world("rod.tip", at)


def test_the_shell_prints_markers():
    shell = Shell()
    shell.session.edit(lambda m: m.place(crane()[0], "a"))
    reply = shell.execute("pm a/rod.tip")
    assert reply.text == "a/rod.tip\n    -t  0.5 0 0.2   -vl 0 0 0"
    assert reply.data["markers"]["a/rod.tip"]["position"] == pytest.approx((0.5, 0.0, 0.2))
    assert "a/rod.tip" in shell.execute("pm").text
    assert not shell.execute("pm a/rod.tap").ok


def test_columns_are_chosen(run, tmp_path):
    mech, tip = crane()
    whole = run.to_dict()
    chosen = {
        "rod.tip.x": ["marker.rod.tip.x [m]"],
        "marker.rod.tip.v?": [f"marker.rod.tip.v{axis} [m/s]" for axis in "xyz"],
        "*.theta_z": [name for name in whole if name.startswith("joint.h.theta_z")],
        "motor": ["drive.motor.effort [N m]"],
        "energy": ["energy.kinetic [J]", "energy.potential [J]"],
    }
    for pattern, names in chosen.items():
        assert list(run.to_dict(pattern)) == ["time [s]", *names]
        assert all((run.to_dict(pattern)[name] == whole[name]).all() for name in names)
    assert set(run.to_dict("rod")) == {n for n in whole if n.startswith(("body.rod.", "marker.rod."))} | {
        "time [s]"
    }
    elements = run.to_dict([mech.bodies["rod"], tip, mech.joints["h"]])
    assert set(elements) == {
        n for n in whole if n.startswith(("time", "body.rod.", "marker.rod.tip.", "joint.h."))
    }
    run.to_csv(tmp_path / "run.csv", columns=["rod.tip.x", "motor"])
    lines = (tmp_path / "run.csv").read_text().splitlines()
    assert lines[0] == "time [s],marker.rod.tip.x [m],drive.motor.effort [N m]"
    assert len(lines) == 1 + len(run)
    with pytest.raises(
        bc.MechanismError, match=r"2 faults[^$]*columns 'rdo': .*did you mean 'rod'.*\n.*'x\*'"
    ):
        run.to_dict(["rdo", "x*", "motor"])
    with pytest.raises(
        bc.MechanismError, match="a column is chosen by a name, a pattern or an element, got 3"
    ):
        run.to_dict(3)


def test_datasets_hold_them(run):
    pytest.importorskip("xarray")
    data, tip = run.to_xarray(), run.marker("rod.tip")
    for name in (
        "position",
        "rotation",
        "velocity",
        "angular_velocity",
        "acceleration",
        "angular_acceleration",
    ):
        assert (data[f"marker_{name}"].sel(marker="rod.tip") == getattr(tip, name)).all(), name
    assert data.marker_velocity.attrs["units"] == "m/s"


@pytest.mark.parametrize("word", ["rod.tip", "T"])
def test_events_measure_them(word):
    """Where the closed form of the motion says: tip.x = 0.5 c + 0.2 s, tip.vz = -rate (0.5 c + 0.2 s)."""
    mech, _ = crane()
    names = {} if word == "rod.tip" else {"T": "rod.tip"}
    events = [
        bc.Event("across", f"{word}.x - 0.3", names=names),
        bc.Event("fast", f"{word}.vz + 0.9", names=names),
        bc.Event("post", "ground.post.y - t - 1.5"),
    ]
    run = bc.simulate(mech, 1.5, events=events)
    found = {event.name: event.time for event in run.events}
    assert found["post"] == pytest.approx(0.5, abs=1e-9)
    for name, rest in (("across", 0.3), ("fast", -0.9)):
        t = found[name]
        angle, rate = 0.4 * t + t**2, 0.4 + 2.0 * t
        x = 0.5 * np.cos(angle) + 0.2 * np.sin(angle)
        assert (x if name == "across" else -rate * x) == pytest.approx(rest, abs=1e-7)


def test_quasistatic_runs_have_them():
    mech = bc.Mechanism("arm")
    rod = mech.add_body("rod", 1.0, (0.01, 0.02, 0.03))
    mech.add_joint("h", bc.Revolute(), mech.ground.marker(axis="y"), rod.marker((-0.5, 0, 0), axis="y"))
    mech.add_marker(rod.marker((0.2, 0.1, 0.0), rotation=bc.rotation("x", 0.3), name="tip"))
    mech.add_marker(mech.ground.marker((1.0, 2.0, 3.0), name="post"))
    run = bc.simulate(mech, 0.05, mode="quasistatic", step=1e-3)
    position, rotation = run.marker("rod.tip")
    of_body = run.body_poses("rod")
    for frame in (0, len(run) - 1):
        turn = of_body[1][frame]
        place = of_body[0][frame] + np.array(rotate(tuple(turn), (0.2, 0.1, 0.0)))
        assert position[frame] == pytest.approx(place, abs=1e-12)
        assert rotation[frame] == pytest.approx(multiply(tuple(turn), bc.rotation("x", 0.3)), abs=1e-12)
    assert run.markers == ("rod.tip",)
    assert (run.marker("ground.post")[0] == (1.0, 2.0, 3.0)).all()
    with pytest.raises(bc.MechanismError, match=r"did you mean 'rod\.tip'"):
        run.marker("rod.tap")
