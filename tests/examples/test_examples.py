"""Every example and the demonstration run without a warning, and print what is known."""

from __future__ import annotations

import re
import runpy
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from rigs import known_examples
from rigs.known_examples import Printed

import bellcrank as bc
from bellcrank.gallery.prosthetic_tasks import TAKE_A_BOOK, demonstration
from bellcrank.io import read

EXAMPLES = Path(__file__).parents[2] / "examples"
SCRIPTS = sorted(path.stem for path in EXAMPLES.glob("[0-9]*.py"))

CHECKS: dict[str, Callable[[Printed], None]] = {
    "01_pendulum": known_examples.pendulum,
    "02_four_bar": known_examples.four_bar,
    "03_slider_crank_singular": known_examples.slider_crank_singular,
    "04_n_four_bar": known_examples.n_four_bar,
    "05_andrews_squeezer": known_examples.andrews_squeezer,
    "06_bricard": known_examples.bricard,
    "07_flyball_governor": known_examples.flyball_governor,
    "08_closed_chains": known_examples.closed_chains,
    "09_prosthetic_shoulder": known_examples.prosthetic_shoulder,
    "10_prosthetic_arm": known_examples.prosthetic_arm,
    "11_stops_and_impacts": known_examples.stops_and_impacts,
    "12_arm_placed_twice": known_examples.arm_placed_twice,
    "13_beads_on_a_wire": known_examples.beads_on_a_wire,
    "14_roller_coaster": known_examples.roller_coaster,
    "15_chain_of_tori": known_examples.chain_of_tori,
    "16_rolling_wheels": known_examples.rolling_wheels,
    "17_tong_and_fish": known_examples.tong_and_fish,
    "18_ellipsoid_on_ellipsoid": known_examples.ellipsoid_on_ellipsoid,
    "19_knee": known_examples.knee,
    "20_tensegrity": known_examples.tensegrity,
    "21_police_car": known_examples.police_car,
    "22_cans_behind_a_car": known_examples.cans_behind_a_car,
    "23_three_bars_rooted_four_ways": known_examples.three_bars,
    "24_nailed_linkages": known_examples.nailed_linkages,
    "25_reaching_for_a_tool": known_examples.reaching_for_a_tool,
    "26_snapping_together": known_examples.snapping_together,
    "27_benchmark_bicycle": known_examples.benchmark_bicycle,
    "28_pole_on_a_cart": known_examples.pole_on_a_cart,
    "29_coupled_loops": known_examples.coupled_loops,
    "30_pulled_chain": known_examples.pulled_chain,
    "31_millipede_meets_a_force": known_examples.millipede_meets_a_force,
    "32_protein_unfolding": known_examples.protein_unfolding,
    "33_newtons_cradle": known_examples.newtons_cradle,
    "34_ball_over_bumps": known_examples.ball_over_bumps,
    "35_wrecking_ball": known_examples.wrecking_ball,
    "36_man_on_a_bicycle": known_examples.man_on_a_bicycle,
    "37_tyres_and_seat": known_examples.tyres_and_seat,
    "38_four_contacts_by_hand": known_examples.four_contacts,
    "39_arch_of_voussoirs": known_examples.arch,
    "40_geneva_wheel": known_examples.geneva_wheel,
    "41_cam_and_follower": known_examples.cam_and_follower,
    "42_gear_teeth": known_examples.gear_teeth,
    "43_ratchet_winch": known_examples.ratchet_winch,
    "44_passive_walkers": known_examples.passive_walkers,
    "45_cans_that_bounce": known_examples.cans_that_bounce,
}


def test_every_example_is_checked() -> None:
    assert list(CHECKS) == SCRIPTS


@pytest.fixture
def printed_by(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Callable[..., Printed]:
    """A function that runs a script: what it prints, which warns of nothing and draws what it names."""
    matplotlib = pytest.importorskip("matplotlib")
    monkeypatch.syspath_prepend(EXAMPLES)

    def run(name: str, *options: str) -> Printed:
        monkeypatch.setattr(sys, "argv", [f"{name}.py", "--out", str(tmp_path), *options])
        monkeypatch.delitem(sys.modules, "figures", raising=False)  # which sets matplotlib
        with matplotlib.rc_context():
            runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")
        printed = capfd.readouterr()
        assert printed.err == ""
        figures = re.findall(r"^figure: (\S+)$", printed.out, flags=re.MULTILINE)
        assert figures
        for figure in figures:
            assert (tmp_path / figure).stat().st_size > 20_000
        return Printed(printed.out)

    return run


@pytest.mark.parametrize("name", SCRIPTS)
def test_example(name: str, printed_by: Callable[..., Printed]) -> None:
    CHECKS[name](printed_by(name))


@pytest.mark.parametrize("name", ["01_pendulum", "02_four_bar"])
def test_an_example_runs_by_itself(name: str, tmp_path: Path) -> None:
    """As it is started at a terminal, from another folder."""
    pytest.importorskip("matplotlib")
    command = [sys.executable, "-W", "error", str(EXAMPLES / f"{name}.py"), "--out", "."]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    CHECKS[name](Printed(done.stdout))


CHOOSING = [name for name in SCRIPTS if "formulations.chosen" in (EXAMPLES / f"{name}.py").read_text()]


@pytest.mark.parametrize("name", CHOOSING)
def test_example_by_recursive(name: str, printed_by: Callable[..., Printed]) -> None:
    """What is known of the thesis's experiments is known of them by its own formulation."""
    CHECKS[name](printed_by(name, "--formulation", "recursive"))


def test_examples_are_short() -> None:
    lengths = {path.name: len(path.read_text().splitlines()) for path in EXAMPLES.glob("*.py")}
    assert max(lengths.values()) < 170, lengths


def test_the_file_is_the_generated_mechanism() -> None:
    content = read(EXAMPLES / "demo.yaml")
    expected = demonstration()
    for (
        name,
        drive,
    ) in content.mechanism.drives.items():  # by inverse kinematics, whose last digits compilers choose
        spline, made = drive.position, expected.drives[name].position
        np.testing.assert_allclose(spline.y, made.y, rtol=0, atol=1e-10)
        expected.replace(expected.drives[name], position=replace(made, y=spline.y))
    assert content.mechanism == expected, "run examples/make_demo.py"
    assert content.simulation.duration == TAKE_A_BOOK.end


def test_the_command_needs_no_file(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    program = [sys.executable, "-W", "error", "-m", "bellcrank", "demo", "--folder", "looked"]
    done = subprocess.run(program, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    for fact in ("9 (54 coordinates)", "50, 0 redundant", "4, driven: 4", "view looked/demo.yaml"):
        assert fact in done.stdout
    assert (tmp_path / "looked" / "demo-sheet.png").stat().st_size > 50_000
    run = bc.Trajectory.load(tmp_path / "looked" / "demo.h5")
    assert bc.loads(run.mechanism) == read(tmp_path / "looked" / "demo.yaml").mechanism
    assert run.time[-1] == TAKE_A_BOOK.end


def test_without_matplotlib_there_are_no_pictures(tmp_path: Path) -> None:
    code = "import sys; sys.modules['matplotlib'] = None; from bellcrank.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code, "demo"], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert "pip install 'bellcrank[plot]'" in done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["demo.h5", "demo.yaml"]
