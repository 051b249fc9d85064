"""The other commands."""

import json
import re
import subprocess
import sys
from types import ModuleType

import h5py
import numpy as np
import pytest
from rigs.program import FOUR_BAR

import bellcrank as bc
from bellcrank.io import loads


def rows(text):
    """Lines of a table as lists of cells."""
    return [[cell for cell in line.split("  ") if cell.strip()] for line in text.splitlines()]


def facts(text):
    """Names and values of the lines of a table of facts."""
    return {row[0].strip(): row[1].strip() for row in rows(text) if len(row) == 2}


def test_info_counts_freedoms_and_names_what_is_redundant(four_bar, program):
    result = program("info", four_bar)
    assert result.exit_code == 0
    told = facts(result.stdout)
    assert told["bodies"] == "3, together 0.95 kg"
    assert told["joints"] == "4 (4 Revolute)"
    assert told["constraint rows"].startswith("21")
    assert told["mobility by Grübler"] == "-3 = 6 · 3 - 21"
    assert told["mobility by rank"] == "0"
    assert told["redundant rows"] == "3"
    assert told["closed loops"] == "1"
    assert "(z)" in result.stdout
    assert "velocity   pivot 1.theta_z" in result.stdout
    assert not any(line != line.rstrip() for line in result.stdout.splitlines())


def test_info_of_many_bodies_is_cut_unless_all_is_asked_for(program, tmp_path):
    bodies = "\n".join(f"  part {k}: {{mass: 1, inertia: [1, 1, 1]}}" for k in range(40))
    (tmp_path / "many.yaml").write_text(f"bellcrank: 1\nname: many\nbodies:\n{bodies}\n")
    short = program("info", str(tmp_path / "many.yaml")).stdout
    assert "part 29" in short
    assert "part 30" not in short
    assert "and 10 more" in short
    assert "40, 40 not held to the ground" in short
    assert "part 39" in program("info", str(tmp_path / "many.yaml"), "--all").stdout


def test_info_of_a_run(four_bar, program):
    program("run", four_bar, "--out", "run.h5")
    assert "run of 'four-bar': 251 frames" in program("info", "run.h5").stdout


def test_info_of_the_build(program):
    told = facts(program("info", "--build").stdout)
    assert told["bellcrank"] == bc.__version__
    assert told["variant"] == bc.build_info()["variant"]
    assert "lagrange" in told["formulations"]
    assert "rk4" in told["methods"]


def test_info_of_nothing(program):
    result = program("info")
    assert result.exit_code == 2
    assert "give a FILE, or --build" in result.stderr


def test_verify_passes_a_sound_run(four_bar, program):
    result = program("verify", four_bar, "--duration", "0.3")
    assert result.exit_code == 0
    assert "all checks passed" in result.stdout
    assert "FAILED" not in result.stdout


def test_verify_prints_a_certificate_as_json(four_bar, program):
    result = program("verify", four_bar, "--duration", "0.1", "--states", "1", "--json")
    assert result.exit_code == 0
    told = json.loads(result.stdout)
    assert told["passed"]
    assert told["formulations"] == ["lagrange", "recursive", "symbolic", "dca"]


def test_verify_fails_the_run_of_a_mechanism_with_other_masses(four_bar, program, tmp_path):
    other = FOUR_BAR.replace("mass: 0.45", "mass: 0.9")
    bc.simulate(loads(other), 0.3, accelerations=True, path="run.h5")
    result = program("verify", four_bar, "--run", "run.h5")
    assert result.exit_code == 1
    assert "FAILED" in result.stdout
    assert "checks failed: " in result.stdout


def test_verify_takes_a_recorded_run_alone(four_bar, program):
    assert program("run", four_bar, "--out", "run.h5", "--quiet").exit_code == 0
    result = program("verify", "run.h5", "--samples", "3")
    assert result.exit_code == 0, result.output
    assert result.stdout.endswith("all checks passed\n")
    with h5py.File("run.h5", "r+", libver="latest") as file:
        file["multipliers/value"][100, 0] *= -1.0
    result = program("verify", "run.h5")
    assert result.exit_code == 1
    assert "of drive 'motor' is off by" in result.stdout
    assert "at t = 0.2 s" in result.stdout
    for more in (("--run", "run.h5"), ("--states", "3"), ("--method", "rk4")):
        refused = program("verify", "run.h5", *more)
        assert refused.exit_code == 2
        assert f"leave out {more[0]}" in refused.stderr


def test_convert_between_formats_of_mechanisms(four_bar, program):
    assert program("convert", four_bar, "four_bar.json").exit_code == 0
    assert program("convert", "four_bar.json", "again.yaml").exit_code == 0
    first, again = bc.load(four_bar), bc.load("again.yaml")
    assert again.bodies == first.bodies
    assert again.joints == first.joints


def test_convert_runs(four_bar, program):
    program("run", four_bar, "--out", "run.h5")
    assert program("convert", "run.h5", "run.csv").exit_code == 0
    table = np.genfromtxt("run.csv", delimiter=",", names=True, deletechars="", replace_space=" ")
    run = bc.Trajectory.load("run.h5")
    assert np.array_equal(table["body.rocker.x [m]"], run.body("rocker").position[:, 0])
    assert program("convert", "run.h5", "copy.h5").exit_code == 0
    assert np.array_equal(bc.Trajectory.load("copy.h5").time, run.time)


def test_plot_writes_beside_and_where_told(four_bar, program, tmp_path):
    program("run", four_bar, "--out", "run.h5")
    assert "written: run_overview.png" in program("plot", "run.h5").stdout
    result = program(
        "plot", "run.h5", "coupler", "-w", "path", "--point", "0.18,0.1,0", "--plane", "xy", "--out", "a.svg"
    )
    assert result.exit_code == 0
    assert (tmp_path / "run_overview.png").exists()
    assert (tmp_path / "a.svg").exists()
    told = ("-w", "picture", "--times", "0,0.5", "--out", "d.png")
    assert program("plot", "run.h5", *told).exit_code == 0
    refused = program("plot", "run.h5", "-w", "picture", "--times", "0,x")
    assert "--times: it takes numbers separated by commas, got '0,x'" in refused.stderr
    assert program("plot", "run.h5", "-w", "joint", "--degrees", "--out", "b.pdf").exit_code == 0
    assert program("plot", "run.h5", "-w", "reaction", "--components", "--out", "c.png").exit_code == 0


def test_draw_takes_mechanisms_and_runs(four_bar, program, tmp_path):
    assert "written: four_bar.png" in program("draw", four_bar).stdout
    assert program("draw", four_bar, "-o", "a.svg", "--view", "30,20", "--names").exit_code == 0
    program("run", four_bar, "--duration", "0.1", "--out", "run.h5")
    told = ("-o", "b.png", "--times", "0,0.1", "--path", "coupler")
    assert program("draw", "run.h5", *told).exit_code == 0
    assert program("draw", "run.h5", "-o", "c.gif", "--fps", "20", "--view", "front").exit_code == 0
    assert (tmp_path / "c.gif").read_bytes().startswith(b"GIF89a")
    assert all((tmp_path / name).exists() for name in ("four_bar.png", "a.svg", "b.png"))
    for arguments, message in (
        ((four_bar, "--times", "0"), "a mechanism has no times"),
        (("run.h5", "-o", "d.gif", "--instants", "2"), "a film has no instants"),
        ((four_bar, "--view", "1,x"), "--view: it takes numbers separated by commas"),
        ((four_bar, "--view", "fornt"), "no view of this name"),
        (("run.h5", "--path", "couple"), "no body and no marker of this name"),
        ((four_bar, "-o", "e.jpg"), "this kind of picture is not known"),
    ):
        refused = program("draw", *arguments)
        assert refused.exit_code == 2
        assert message in refused.stderr


def test_draw_shows_contacts_of_runs(four_bar, program, tmp_path):
    mech = bc.Mechanism("ball")
    mech.replace(mech.ground, shapes=[bc.Plane(size=1.0)])
    mech.add_body("ball", shapes=[bc.Sphere(radius=0.1, density=500.0)], position=(0, 0, 0.1))
    mech.add_force("floor", bc.Contact(2e4), "ball", "ground")
    bc.simulate(mech, 0.1, output_step=0.01).save(tmp_path / "ball.h5")
    told = ("draw", "ball.h5", "--times", "0.1", "-o")
    assert program(*told, "without.png").exit_code == 0
    assert program(*told, "with.png", "--contacts").exit_code == 0
    assert program(*told, "one.png", "--contact", "floor", "--force-scale", "0.1 kN/m").exit_code == 0
    assert program("draw", "ball.h5", "-o", "ball.gif", "--contacts", "--fps", "20").exit_code == 0
    sizes = {(tmp_path / f"{name}.png").read_bytes() for name in ("without", "with", "one")}
    assert len(sizes) == 3
    for arguments, message in (
        ((four_bar, "--contacts"), "a mechanism that is not simulated has no contact forces"),
        (
            ("ball.h5", "--contact", "flor"),
            "there is no contact of this name, got 'flor'\n    did you mean 'floor'",
        ),
        (("ball.h5", "--contacts", "--force-scale", "2 kg"), "force_scale"),
        (("ball.h5", "--force-scale", "2"), "it is that of contact forces"),
    ):
        refused = program("draw", *arguments)
        assert refused.exit_code == 2
        assert message in refused.stderr


def test_beams_are_listed_and_coloured(program, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    mech = bc.Mechanism("arm")
    section = bc.Section.rectangle(0.02, 0.04, E=70e9, nu=0.33, density=2700)
    mech.add_beam("boom", section, start="ground", end=(2, 0, 0), segments=4, damping=1e-3)
    bc.save(mech, tmp_path / "arm.yaml")
    told = program("info", "arm.yaml").output
    assert re.search(r"Beams \(1\)(.|\n)*boom +Rectangle +2 +4\.32 +4", told)
    assert "boom/e1" not in told
    bc.simulate(mech, 0.02).save(tmp_path / "arm.h5")
    for name, more in (("plain", ()), ("moment", ("--beams", "moment")), ("shear", ("--beams", "shear"))):
        assert program("draw", "arm.h5", "-o", f"{name}.png", "--times", "0.02", *more).exit_code == 0
    assert len({(tmp_path / f"{name}.png").read_bytes() for name in ("plain", "moment", "shear")}) == 3
    for arguments, message in (
        (("arm.h5", "--beams", "momment"), "no quantity of this name"),
        (("arm.yaml", "--beams", "moment"), "of a mechanism that is not simulated no loads are known"),
    ):
        refused = program("draw", *arguments)
        assert refused.exit_code == 2
        assert message in refused.stderr


@pytest.fixture
def benchmark(monkeypatch):
    import pkgutil

    made = ModuleType("benchmarks.gears", "Gears against gears.\n\nMore of it.")
    calls = []
    made.main = lambda arguments: calls.append(arguments) or 7
    monkeypatch.setitem(sys.modules, "benchmarks.gears", made)
    monkeypatch.setattr(pkgutil, "iter_modules", lambda path: [pkgutil.ModuleInfo(None, "gears", False)])
    monkeypatch.setattr(sys, "path", [*sys.path])
    return calls


def test_bench_lists_and_calls(program, benchmark):
    assert "gears        Gears against gears." in program("bench", "--help").stdout
    result = program("bench", "gears", "--sizes", "3", "-v")
    assert benchmark == [["--sizes", "3", "-v"]]
    assert result.exit_code == 7


def test_bench_without_a_name_runs_all(program, benchmark):
    result = program("bench")
    assert result.exit_code == 2
    assert "there is no benchmark of this name, got 'all'" in result.stderr


def test_bench_needs_a_checkout(program, monkeypatch, tmp_path):
    from bellcrank.cli import bench

    monkeypatch.setattr(bench, "__file__", str(tmp_path / "bench.py"))
    monkeypatch.chdir(tmp_path)
    result = program("bench", "tasora")
    assert result.exit_code != 0
    assert "call this in a checkout of its sources, which has them in the folder benchmarks" in result.stderr


def test_every_command_explains_itself(program):
    listed = program("--help").stdout
    for name in ("run", "info", "verify", "convert", "plot"):
        assert name in listed
        help_text = program(name, "--help").stdout
        assert help_text.startswith(f"Usage: bellcrank {name}")
    assert program("--version").stdout == f"bellcrank {bc.__version__}\n"


def test_the_package_runs_as_the_program():
    done = subprocess.run(
        [sys.executable, "-m", "bellcrank", "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout == f"bellcrank {bc.__version__}\n"


def test_starting_the_program_loads_no_library_it_does_not_need():
    """Nor does the help of its commands, but for those that name what studies and benchmarks know."""
    code = (
        "import sys; from bellcrank.cli.main import bellcrank as cli\n"
        "heavy = {'sweep', 'optimize', 'fit', 'bench'}\n"
        "for name in set(cli.list_commands(None)) - heavy: cli.get_command(None, name)\n"
        "print(*sys.modules)"
    )
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert not {"numpy", "h5py", "rich", "matplotlib"} & set(output.split())
