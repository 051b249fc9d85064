"""Access by name, interpolation, parts, layout, tables: by the closed form of the recorded motion."""

import csv
import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose
from rigs.known_run import SPIN, frames, slide, swing

import bellcrank as bc
from bellcrank.errors import MechanismError
from bellcrank.trajectory.layout import CoordinateColumn, FrameLayout, MultiplierColumn
from bellcrank.trajectory.recorder import Recorder


def test_shapes_and_values_by_name(run):
    t = run.time
    assert len(run) == 201
    assert_allclose(run.body("flywheel").position[:, 0], slide(t)[0])
    assert run.body("arm").rotation.shape == (201, 4)
    assert_allclose(run.body("arm").angular_velocity[:, 2], swing(t)[1])
    assert_allclose(run.body("arm").angular_acceleration[:, 2], swing(t)[2])
    assert run.joint("slide").coordinates == ("x", "theta_z")
    assert_allclose(run.joint("slide").position, np.stack([slide(t)[0], SPIN * t], axis=1))
    assert_allclose(run.joint("pivot").velocity, swing(t)[1][:, None])
    assert_allclose(run.joint("slide").reaction, np.arange(6) + 10 * t[:, None])
    assert_allclose(run.joint("weld").force, np.arange(9, 12) + 10 * t[:, None])
    assert run.joint("weld").position.shape == (201, 0)
    assert_allclose(run.energy.total, 50.0)
    assert_allclose(run.energy.drift, 0.0, atol=1e-12)
    assert_allclose(run.violation.velocity, 1e-10 * (1 + t))


def test_efforts_are_along_the_coordinate(run):
    angle, rate, acceleration = swing(run.time)
    assert run.drives == ("motor",)
    assert run.drive("motor").unit == "N m"
    assert_allclose(run.drive("motor").effort, 0.1 * acceleration)
    assert_allclose(run.drive("motor").power, 0.1 * acceleration * rate)
    assert_allclose(run.limit("pivot").effort, angle)  # lower stop up, upper stop down


def test_efforts_along_several_coordinates_stay_apart():
    """A drive along a path has a force along each axis; limits on two coordinates do not add up."""
    columns = (
        MultiplierColumn("tool", "drive", "N", 1.0, None, "x"),
        MultiplierColumn("tool", "drive", "N", 1.0, None, "y"),
        MultiplierColumn("shaft", "limit", "N", 1.0, None, "z"),
        MultiplierColumn("shaft", "limit", "N", -1.0, None, "z"),
        MultiplierColumn("shaft", "limit", "N m", 1.0, None, "theta_z"),
        MultiplierColumn("tool", "motor", "N m", 1.0, None, "theta_z"),
    )
    layout = FrameLayout("efforts", (), multipliers=columns)
    rows = np.zeros((3, 1 + layout.width))
    rows[:, layout.columns["multipliers"]] = [1, 2, 3, 10, 5, 6]
    recorder = Recorder(layout)
    recorder.on_block(rows)
    run = recorder.finish({})
    assert run.drive("tool").coordinates == ("x", "y")
    assert run.drive("tool").effort[0].tolist() == [1, 2]
    assert run.limit("shaft").effort[0].tolist() == [3 - 10, 5]
    assert run.limit("shaft").units == ("N", "N m")
    assert run.to_dict()["drive.tool.effort.y [N]"].tolist() == [2, 2, 2]
    with pytest.raises(MechanismError, match="rate of its coordinate was not recorded"):
        run.drive("tool").power  # noqa: B018


def test_points_of_a_body_move_on_their_circle(run):
    angle, rate, acceleration = swing(run.time)
    direction = np.stack([np.cos(angle), np.sin(angle), 0 * angle], axis=1)
    across = np.stack([-np.sin(angle), np.cos(angle), 0 * angle], axis=1)
    arm = run.body("arm")
    assert_allclose(arm.com_position, [0, 1, 0] + 0.25 * direction, atol=1e-14)
    assert_allclose(arm.com_velocity, 0.25 * rate[:, None] * across, atol=1e-13)
    expected = 0.25 * (acceleration[:, None] * across - rate[:, None] ** 2 * direction)
    assert_allclose(arm.com_acceleration, expected, atol=1e-12)
    assert_allclose(arm.point((0.0, 0.5, 0.0)), [0, 1, 0] + 0.5 * across, atol=1e-14)


@pytest.mark.parametrize("section", ["position", "rotation", "velocity", "angular_velocity"])
def test_arrays_are_read_only(run, section):
    with pytest.raises(ValueError, match="read-only"):
        getattr(run.body("arm"), section)[0, 0] = 1.0


def test_the_state_at_a_frame_is_that_frame(run):
    state = run.at(run.time[17])
    assert_allclose(state.position[0], run.body("flywheel").position[17], atol=1e-15)
    assert_allclose(state.rotation[1], run.body("arm").rotation[17], atol=1e-15)
    assert_allclose(state.angular_velocity[1], run.body("arm").angular_velocity[17], atol=1e-12)


def test_steady_spin_is_exact_however_coarse_the_frames(record):
    coarse = record(np.linspace(0.0, 2.0, 11))  # 8 rad of spin between two frames
    state = coarse.at(0.777)
    angle = SPIN * 0.777
    assert_allclose(state.rotation[0], [np.cos(angle / 2), 0, 0, np.sin(angle / 2)], atol=1e-13)
    assert_allclose(state.angular_velocity[0], [0, 0, SPIN], atol=1e-12)


def test_interpolation_converges_at_fourth_order(record):
    """Halving the spacing of the frames divides the error of a cubic Hermite polynomial by 16."""
    times = np.linspace(0.31, 1.69, 57)
    errors = []
    for count in (41, 81, 161):
        states = [record(np.linspace(0.0, 2.0, count)).at(t) for t in times]
        angle = swing(times)[0]
        x = max(abs(s.position[0, 0] - slide(t)[0]) for s, t in zip(states, times, strict=True))
        e3 = max(abs(s.rotation[1, 3] - np.sin(a / 2)) for s, a in zip(states, angle, strict=True))
        errors.append((x, e3))
    ratios = np.array(errors[:-1]) / np.array(errors[1:])
    assert np.all(ratios > 12.0)
    assert np.all(np.array(errors[-1]) < 1e-6)


def test_angular_velocity_is_the_rate_of_the_interpolated_rotation():
    """For a motion in space: the quaternion's numerical rate is omega times the quaternion over two."""
    layout = FrameLayout("tumble", ("body",))
    rng = np.random.default_rng(5)
    rotation = rng.normal(size=(2, 4))
    rotation /= np.linalg.norm(rotation, axis=1, keepdims=True)
    rows = np.zeros((2, 1 + layout.width))
    rows[1, 0] = 0.1
    rows[:, layout.columns["rotation"]] = rotation
    rows[:, layout.columns["angular_velocity"]] = rng.normal(size=(2, 3)) * 20.0
    recorder = Recorder(layout)
    recorder.on_block(rows)
    run = recorder.finish({})
    for t in (0.013, 0.05, 0.092):
        h = 1e-6
        q = run.at(t).rotation[0]
        rate = (run.at(t + h).rotation[0] - run.at(t - h).rotation[0]) / (2 * h)
        w, x, y, z = q
        conjugate_product = np.array(
            [[-x, w, -z, y], [-y, z, w, -x], [-z, -y, x, w]]
        )  # 2 * this @ rate = omega
        assert_allclose(2 * conjugate_product @ rate, run.at(t).angular_velocity[0], rtol=1e-6, atol=1e-6)
    for frame in (0, 1):
        state = run.at(run.time[frame])
        assert_allclose(abs(state.rotation[0] @ rotation[frame]), 1.0, atol=1e-14)
        assert_allclose(state.angular_velocity[0], run.body("body").angular_velocity[frame], atol=1e-10)


def test_resample_by_step_and_by_times(run):
    finer = run.resample(step=0.004)
    assert len(finer) == 501
    assert_allclose(finer.time[-1], 2.0)
    assert_allclose(finer.joint("pivot").position[:, 0], swing(finer.time)[0], atol=1e-7)
    assert_allclose(finer.joint("pivot").velocity[:, 0], swing(finer.time)[1], atol=1e-4)
    assert_allclose(np.linalg.norm(finer.body("arm").rotation, axis=1), 1.0, atol=1e-14)
    assert finer.status == "finished"
    chosen = run.resample([0.1, 0.25, 1.999])
    assert_allclose(chosen.time, [0.1, 0.25, 1.999])
    assert_allclose(chosen.joint("weld").force[:, 2], 11 + 10 * chosen.time)


def test_a_single_frame_can_be_asked_for_its_state(record):
    run = record(np.array([0.5]))
    assert_allclose(run.at(0.5).position[0, 0], slide(np.array(0.5))[0])
    assert_allclose(run.at(0.5).angular_velocity[0], [0, 0, SPIN])


def test_empty_run():
    run = Recorder(FrameLayout("nothing", ())).finish({"status": "not_finite"})
    assert len(run) == 0
    assert run.time.shape == (0,)
    assert "no frames" in run.summary()
    with pytest.raises(MechanismError, match="holds no frames"):
        run.at(0.0)


def test_many_blocks_of_uneven_size_are_kept_in_order(record):
    t = np.linspace(0.0, 10.0, 5000)
    for block in (1, 63, 64, 65, 4096, 9999):
        assert np.array_equal(record(t, block=block).time, t)


def test_status_reads_as_text(run):
    assert run.status == "finished"
    assert run.status.message == "all well"
    assert run.statistics["steps"] == 1234
    copy = pickle.loads(pickle.dumps(run.status))
    assert (copy, copy.message) == ("finished", "all well")


def test_summary_and_repr(run):
    assert repr(run) == "<Trajectory of 'slide and arm': 201 frames, t = 0 to 2 s, finished>"
    assert "2 bodies, 3 joints, 1 drive" in run.summary()
    assert "steps: 1234" in run.summary()
    assert repr(run.joint("weld")) == "<joint 'weld' (fixed), 201 frames>"


def test_columns_for_tables(run, tmp_path):
    table = run.to_dict()
    assert {len(column) for column in table.values()} == {201}
    assert_allclose(table["joint.pivot.theta_z [rad]"], swing(run.time)[0])
    assert_allclose(table["body.flywheel.vx [m/s]"], slide(run.time)[1])
    run.to_csv(tmp_path / "run.csv")
    with (tmp_path / "run.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    assert rows[0] == list(table)
    assert np.array_equal(np.array(rows[1:], dtype=float), np.column_stack(list(table.values())))


def test_frames_are_those_the_layout_promises(run):
    recorded = np.concatenate([run.store.read(name).reshape(201, -1) for name in run.layout.shapes], axis=1)
    assert np.array_equal(recorded, frames(run.time))


def pendulum(length=0.5):
    mech = bc.Mechanism("pendulum")
    bob = mech.add_body("bob", 1.0, (0.1, 0.1, 0.1), position=(length, 0, 0))
    mech.add_joint(
        "pin", bc.Revolute(), mech.ground.marker(axis=(0, 1, 0)), bob.marker((-length, 0, 0), axis=(0, 1, 0))
    )
    mech.add_force("spring", bc.TorsionSpring(5.0), "pin")
    return mech


@pytest.fixture(scope="module")
def simulated():
    return bc.simulate(pendulum(), 0.2, output_step=0.01)


def test_parts_hold_the_frames_of_the_run(simulated):
    part = simulated[3:11:2]
    assert len(part) == 4
    for name in simulated.layout.shapes:
        np.testing.assert_array_equal(part.store.read(name), simulated.store.read(name)[3:11:2])
    np.testing.assert_array_equal(simulated.between(0.05, 0.1).time, simulated.time[5:11])
    assert len(simulated.between(5.0, 6.0)) == 0
    np.testing.assert_array_equal(
        part.force("spring").wrench("bob"), simulated.force("spring").wrench("bob")[3:11:2]
    )
    with pytest.raises(bc.MechanismError, match="slice of frames"):
        simulated[3]
    with pytest.raises(bc.MechanismError, match="forwards"):
        simulated[::-1]


def test_a_run_goes_through_pickle_with_its_mechanism(simulated):
    again = pickle.loads(pickle.dumps(simulated[2:5]))
    assert again.mechanism == simulated.mechanism
    np.testing.assert_array_equal(
        again.force("spring").wrench("bob"), simulated.force("spring").wrench("bob")[2:5]
    )


def test_runs_that_follow_each_other_are_one(simulated):
    after = bc.simulate(pendulum(), 0.1, state=simulated.at(0.2), output_step=0.01)
    whole = bc.concatenate([simulated[:8], simulated[8:], after])
    assert len(whole) == len(simulated) + len(after) - 1
    np.testing.assert_array_equal(whole.time, np.concatenate([simulated.time, after.time[1:]]))
    effort = whole.force("spring").effort
    np.testing.assert_array_equal(effort[len(simulated) :], after.force("spring").effort[1:])
    assert np.all(np.diff(whole.time) > 0.0)


def test_runs_that_do_not_fit_are_refused(simulated):
    bare = bc.simulate(pendulum(), 0.1, start=0.3, reactions=False)
    with pytest.raises(bc.MechanismError, match="other things than the one before"):
        bc.concatenate([simulated, bare])
    with pytest.raises(bc.MechanismError, match=r"begins before t = 0\.2 s"):
        bc.concatenate([simulated, simulated])
    with pytest.raises(bc.MechanismError, match="no run"):
        bc.concatenate([])
    with pytest.raises(bc.MechanismError, match="run 2"):
        bc.concatenate([simulated, 3])


def layout(accelerations: bool) -> FrameLayout:
    columns = (
        CoordinateColumn("a", "x", "m"),
        CoordinateColumn("b", "x", "m"),
        CoordinateColumn("b", "y", "m"),
    )
    efforts = (MultiplierColumn("drive", "drive", "N"),)
    return FrameLayout("m", ("one", "two", "three"), columns, efforts, ("a", "c"), accelerations)


@pytest.mark.parametrize("accelerations", [False, True])
def test_width_counts_what_the_core_observes(accelerations):
    """observation_size of the core: 13 per body, 2 per coordinate, 2 per row, 8 per reaction, 4, 6 per body.

    Accelerations of the coordinates, 3 here, are added to it.
    """
    assert layout(accelerations).width == 13 * 3 + 2 * 3 + 2 * 1 + 8 * 2 + 4 + (
        18 + 3 if accelerations else 0
    )


def test_sections_follow_each_other_without_gaps():
    columns = list(layout(True).columns.values())
    assert columns[0] == slice(0, 1)
    assert [c.stop for c in columns[:-1]] == [c.start for c in columns[1:]]
    assert columns[-1].stop == 1 + layout(True).width


def test_sections_hold_their_columns():
    plain = layout(False)
    row = np.arange(1 + plain.width)
    assert row[plain.columns["velocity"]].tolist() == list(range(1 + 21, 1 + 30))
    assert row[plain.columns["kinetic"]].tolist() == [plain.width - 3]
    assert "acceleration" not in plain.columns


def test_places_by_name():
    plain = layout(False)
    assert plain.joint_coordinates == {"a": slice(0, 1), "b": slice(1, 3)}
    assert plain.joints == ("a", "c", "b")
    assert plain.body_number["two"] == 1
    assert plain.reaction_number["c"] == 1
    assert plain.multiplier_numbers("drive", "limit", "drive") == (0,)
    assert plain.multiplier_numbers("drive", "limit") == ()
