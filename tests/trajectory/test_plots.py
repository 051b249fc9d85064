"""Figures: what they show, in which units, and that nothing is hidden or cut off."""

import logging

import numpy as np
import pytest
from matplotlib import pyplot as plt
from numpy.testing import assert_allclose
from rigs.known_run import LAYOUT, frames, slide, swing

import bellcrank as bc
from bellcrank import gallery
from bellcrank.errors import MechanismError
from bellcrank.trajectory.figures import KINDS
from bellcrank.trajectory.layout import CoordinateColumn, FrameLayout, MultiplierColumn
from bellcrank.trajectory.panels import COLOURS, Series, TimePanel, envelope, prefixed, shortened, thinned
from bellcrank.trajectory.recorder import Recorder

OF_ALL = [kind for kind in KINDS if kind != "section"]  # which is of one body of a run with its mechanism


@pytest.fixture(autouse=True)
def headless(monkeypatch):
    plt.switch_backend("agg")
    yield
    plt.close("all")


def settled(figure):
    figure.draw_without_rendering()
    return figure


@pytest.mark.parametrize("suffix", ["png", "pdf", "svg"])
def test_the_suffix_of_a_path_chooses_the_format(run, tmp_path, suffix):
    run.plot("violation", path=tmp_path / f"figure.{suffix}")
    begin = (tmp_path / f"figure.{suffix}").read_bytes()[:60]
    assert {"png": b"PNG", "pdf": b"%PDF", "svg": b"<?xml"}[suffix] in begin


@pytest.mark.parametrize("what", ["overview", *OF_ALL])
def test_every_kind_fits_its_page_with_labels_and_without_complaints(run, tmp_path, what, caplog):
    """Legends lie off the data."""
    figure = settled(run.plot(what, path=tmp_path / "figure.png"))
    assert (tmp_path / "figure.png").stat().st_size > 5000
    page = figure.bbox.padded(1)
    assert figure.axes
    for axes in figure.axes:
        seen = axes.get_tightbbox()
        assert page.x0 <= seen.x0
        assert page.y0 <= seen.y0
        assert seen.x1 <= page.x1
        assert seen.y1 <= page.y1
        assert axes.get_ylabel()
        assert axes.get_xlabel() or axes not in figure.axes[-1:]
        if axes.get_legend():
            assert not axes.get_legend().get_window_extent().overlaps(axes.get_window_extent())
    assert not [record for record in caplog.records if record.levelno >= logging.WARNING]


def test_section_loads_over_a_rod(tmp_path):
    mech = gallery.slider_crank(0.3, 0.9)
    mech.add_drive("motor", "pivot", position="pi/4 + 20*t")
    run = bc.simulate(mech, 0.3, output_step=0.01)
    figure = settled(run.plot("section", "rod", path=tmp_path / "figure.png"))
    section = run.section("rod", cuts=201)
    titles = [axes.get_title("left").split(":")[1].strip() for axes in figure.axes]
    assert titles == ["axial force", "shear force", "bending moment"]
    frame = int(np.argmax(section.size("bending").max(axis=1)))
    drawn = figure.axes[2].get_lines()[0]
    np.testing.assert_allclose(drawn.get_ydata(), section.bending[frame, :, 1])
    np.testing.assert_allclose(drawn.get_xdata(), 1e3 * section.distance)
    with pytest.raises(MechanismError, match="it takes the name of one body"):
        run.plot("section")


def test_lines_carry_the_numbers_of_the_run(run):
    travel, speed, angle, rate = _by_title(run.plot("joint"))
    (line,) = travel.get_lines()[:1]
    assert_allclose(line.get_ydata(), 1000 * slide(run.time)[0])
    assert travel.get_ylabel() == "Travel (mm)"
    assert speed.get_ylabel() == "Velocity (m/s)"
    assert angle.get_ylabel() == "Angle (rad)"
    assert rate.get_ylabel() == "Angular velocity (rad/s)"
    degrees = run.plot("joint", "pivot", degrees=True)
    assert_allclose(degrees.axes[0].get_lines()[0].get_ydata(), np.degrees(swing(run.time)[0]))
    assert degrees.axes[1].get_ylabel() == "Angular velocity (°/s)"


def _by_title(figure):
    order = ["travel", "velocity", "angle", "angular velocity"]
    return sorted(figure.axes, key=lambda axes: order.index(axes.get_title("left").split("oint ")[-1]))


def test_one_joint_shows_components_many_show_magnitudes(run):
    one = run.plot("reaction", "weld")
    assert [line.get_label() for line in one.axes[0].get_lines()[:4]] == ["x", "y", "z", "magnitude"]
    assert_allclose(one.axes[0].get_lines()[0].get_ydata(), 9 + 10 * run.time)
    many = run.plot("reaction")
    lines = {line.get_label(): line.get_ydata() for line in many.axes[0].get_lines()}
    assert_allclose(lines["slide"], np.linalg.norm(run.joint("slide").force, axis=1))


def test_paths_are_to_scale_in_the_plane_of_motion(run):
    figure = settled(run.plot("path", "arm", point=(0.25, 0.0, 0.0)))
    (axes,) = figure.axes
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("x (m)", "y (m)")
    box = axes.get_window_extent()
    assert np.ptp(axes.get_xlim()) / box.width == pytest.approx(
        np.ptp(axes.get_ylim()) / box.height, rel=0.02
    )
    line = axes.get_lines()[0]
    assert np.all((line.get_xdata() > axes.get_xlim()[0]) & (line.get_xdata() < axes.get_xlim()[1]))
    assert np.all((line.get_ydata() > axes.get_ylim()[0]) & (line.get_ydata() < axes.get_ylim()[1]))


def test_rounding_errors_are_not_blown_up(record):
    run = record(np.linspace(0.0, 1.0, 50))
    change = run.plot("energy").axes[1]
    assert change.get_ylim() == (-1.0, 1.0)
    assert "rounding" in change.texts[0].get_text()


def test_a_constant_is_drawn_flat(run):
    spin = run.plot("body", "flywheel").axes[2]
    low, high = spin.get_ylim()
    assert low < 0.0
    assert high > 40.0
    level = run.plot("body", "arm").axes[0]
    assert level.get_ylim()[1] > 1.01


def test_violation_is_logarithmic_over_whole_decades(run):
    (axes,) = run.plot("violation").axes
    assert axes.get_yscale() == "log"
    assert axes.get_ylim() == (1e-12, 1e-9)


def crowd(count, frames_=300):
    bodies = tuple(f"actuator {k} lower tube" for k in range(count))
    columns = tuple(CoordinateColumn(f"leg {k} slide", "z", "m") for k in range(count))
    efforts = tuple(MultiplierColumn(f"leg {k} actuator", "drive", "N", 1.0, k) for k in range(count))
    layout = FrameLayout("hexapod", bodies, columns, efforts, tuple(f"leg {k} slide" for k in range(count)))
    rows = np.random.default_rng(1).normal(size=(frames_, 1 + layout.width))
    rows[:, 0] = np.linspace(0, 1, frames_)
    recorder = Recorder(layout)
    recorder.on_block(rows)
    return recorder.finish({})


def test_of_many_the_largest_are_shown_and_the_title_says_so(tmp_path):
    run = crowd(24)
    figure = run.plot("reaction", path=tmp_path / "x.png")
    assert figure.axes[0].get_title("left") == "Reaction forces (6 of 24)"
    assert len(figure.axes[0].get_legend().get_texts()) == 6
    assert len(run.plot(path=tmp_path / "x.png").axes) <= 9


def test_what_does_not_move_is_left_out_unless_it_is_named(record):
    layout = FrameLayout("still", (), tuple(CoordinateColumn("pin", name, "m") for name in "xyz"))
    rows = np.zeros((20, 1 + layout.width))
    rows[:, 0] = rows[:, layout.columns["coordinates"].start + 1] = np.linspace(0.0, 1.0, 20)
    recorder = Recorder(layout)
    recorder.on_block(rows)
    run = recorder.finish({})
    assert run.plot("joint").axes[0].get_title("left") == "Joint travel (1 of 3)"
    assert run.plot("joint").axes[0].get_lines()[0].get_label() == "pin: y"
    assert len(run.plot("joint", "pin").axes[0].get_legend().get_texts()) == 3


def test_a_line_over_another_is_dashed(run):
    times = run.time
    lines = [Series("a", np.sin(times)), Series("b", np.cos(times)), Series("c", np.sin(times) + 1e-3)]
    figure = plt.figure()
    axes = figure.subplots()
    TimePanel("Two that agree", "Force", "N", times, lines).draw(axes, (6.0, 3.0))
    assert [line.get_linestyle() for line in axes.get_lines()[:3]] == ["-", "-", "--"]


def test_frames_that_are_not_numbers_do_not_spoil_a_figure(tmp_path):
    t = np.linspace(0.0, 1.0, 40)
    rows = frames(t)
    rows[-1, 1:] = np.nan
    rows[-2, 5:9] = np.inf
    recorder = Recorder(LAYOUT)
    recorder.on_block(rows)
    run = recorder.finish({"status": "not_finite"})
    for what in ("overview", *OF_ALL):
        run.plot(what, path=tmp_path / "x.png")
    assert "not finite at t = 1 s" in [text.get_text() for text in run.plot().texts][1]


def test_a_single_frame_can_be_plotted(record, tmp_path):
    for what in ("overview", *OF_ALL):
        record(np.array([0.3])).plot(what, path=tmp_path / f"{what}.png")
        assert (tmp_path / f"{what}.png").stat().st_size > 1000


def test_figures_on_screen_are_known_to_pyplot(run, tmp_path):
    run.plot("energy", path=tmp_path / "x.png")
    assert plt.get_fignums() == []
    assert run.plot("energy").number in plt.get_fignums()


def test_the_style_of_others_is_left_alone(run):
    before = dict(plt.rcParams)
    run.plot()
    assert dict(plt.rcParams) == before


def test_thinning_keeps_every_peak():
    rng = np.random.default_rng(2)
    values = rng.normal(size=1_000_000)
    values[123_456] = 40.0
    time = np.linspace(0, 1, len(values))
    fewer_times, fewer = thinned(time, values)
    assert len(fewer) < 10_000
    assert (fewer.max(), fewer.min()) == (40.0, values.min())
    assert np.all(np.diff(fewer_times) > 0)
    assert envelope(time, values)[1].max() == 40.0
    assert len(thinned(time[:100], values[:100])[0]) == 100


@pytest.mark.parametrize(
    ("unit", "peak", "expected"),
    [
        ("N", 12.0, (1.0, "N")),
        ("N", 2500.0, (1.0, "N")),
        ("N", 25000.0, (1e3, "kN")),
        ("N m", 3e7, (1e6, "MN·m")),
        ("J", 5e-8, (1e-9, "nJ")),
        ("m", 0.45, (1e-3, "mm")),
        ("m", 20000.0, (1.0, "m")),
        ("rad", 0.5, (1.0, "rad")),
        ("rad/s", 50000.0, (1.0, "rad/s")),
        ("s", 0.02, (1e-3, "ms")),
        ("J", 0.0, (1.0, "J")),
        ("J", np.inf, (1.0, "J")),
        ("W", 1e-30, (1e-15, "fW")),
        ("", 1e-9, (1.0, "")),
    ],
)
def test_prefixes(unit, peak, expected):
    assert prefixed(unit, peak) == expected


def test_long_names_stay_apart():
    names = [f"actuator {k} lower tube" for k in range(3)]
    assert shortened(names, 40) == names
    assert shortened(names, 12) == ["actuator 0…", "actuator 1…", "actuator 2…"]
    assert shortened(["a very long beginning 1", "a very long beginning 2"], 6) == ["…1", "…2"]
    assert shortened(["abcdefgh", "abcdxyzh", "abcdefgxyzh"], 4) == ["abcdefgh", "abcdxyzh", "abcdefgxyzh"]


def test_colours_can_be_told_apart_by_colour_blind_eyes():
    """Seen without red or without green (Viénot 1999), every two colours still differ clearly."""
    linear = np.array([[int(c[k : k + 2], 16) / 255 for k in (1, 3, 5)] for c in COLOURS]) ** 2.2
    protan = np.array([[0.112, 0.888, 0], [0.112, 0.888, 0], [0.004, -0.004, 1]])
    deutan = np.array([[0.292, 0.708, 0], [0.292, 0.708, 0], [-0.022, 0.022, 1]])
    for matrix in (protan, deutan):
        seen = np.clip(linear @ matrix.T, 0, 1) ** (1 / 2.2)
        distances = np.linalg.norm(seen[:, None] - seen[None], axis=2)
        assert distances[~np.eye(len(seen), dtype=bool)].min() > 0.08


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (("enrgy",), {}, r"no plot of this kind, got 'enrgy'; did you mean 'energy'\?"),
        (("joint", "pivto"), {}, r"joint 'pivto': the run has no joint of this name; did you mean 'pivot'\?"),
        (("joint", "weld"), {}, r"joint 'weld': it has no free coordinates to plot"),
        (("reaction", "pivot"), {}, r"joint 'pivot': its reaction was not recorded"),
        (("energy", "arm"), {}, r"takes no names, got 'arm'"),
        (("overview", "arm"), {}, r"takes no names, got 'arm'"),
        (("path", "arm"), {"plane": "xw"}, r"plane must be 'xy', 'xz' or 'yz', got 'xw'"),
        (("path", "arm"), {"point": (1, 2)}, r"point must hold 3 numbers, got \(1, 2\)"),
        (("path", "arm"), {"plan": "xy"}, r"no option of this name, got 'plan'; it takes plane, point"),
        (("energy",), {"path": "x.jpeg2"}, r"file 'x.jpeg2': this kind of picture is not known"),
        (("energy",), {"path": "/no/such/folder/x.png"}, r"cannot be written: .*No such file"),
    ],
)
def test_messages(run, arguments, options, message):
    with pytest.raises(MechanismError, match=message):
        run.plot(*arguments, **options)


def test_a_picture_is_drawn_by_run_draw(tmp_path):
    mech = bc.Mechanism("stone", gravity=(0, 0, -10))
    mech.add_body("stone", shapes=[bc.Box(size=(0.2, 0.4, 0.6), density=100.0)])
    run = bc.simulate(mech, 0.1)
    figure = run.plot("picture", times=0.05, path=tmp_path / "one.png")
    assert (tmp_path / "one.png").stat().st_size > 1000
    assert [text.get_text() for text in figure.axes[0].texts][-1] == "t = 0.05 s"
    with pytest.raises(MechanismError, match="it takes times, instants"):
        run.plot("picture", degrees=True)
    with pytest.raises(MechanismError, match="takes no names"):
        run.plot("picture", "stone")


def test_a_run_without_its_mechanism_has_no_picture(run):
    with pytest.raises(MechanismError, match="does not contain its mechanism"):
        run.draw()
