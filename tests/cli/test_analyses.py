"""Analyses, studies and exports on the command line: the same results as the library's."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import bellcrank as bc
from bellcrank.cli.main import bellcrank


@pytest.fixture
def pendulum(tmp_path, monkeypatch):
    """A file of a pendulum, in the folder where the programs run."""
    monkeypatch.chdir(tmp_path)
    mech = bc.Mechanism("pendulum")
    length = mech.add_parameter("l", 0.7, "m")
    bob = mech.add_body("bob", mass=2.0, inertia=(0.02, 0.02, 0.02), position=(0, 0, -length))
    mech.add_joint("pivot", bc.Revolute(), mech.ground.marker(axis="y"), bob.marker((0, 0, length), axis="y"))
    mech.add_marker(bob.marker(name="tip"))
    bc.save(mech, "pendulum.yaml")
    return "pendulum.yaml"


def test_modes(pendulum, program):
    told = json.loads(program("modes", pendulum, "--json").stdout)
    assert told["modes"][0]["frequency"] == pytest.approx(0.589819, rel=1e-5)
    shorter = json.loads(program("modes", pendulum, "--set", "l=0.35", "--json").stdout)
    assert shorter["modes"][0]["frequency"] > told["modes"][0]["frequency"]
    assert "0.589819 Hz" in program("modes", pendulum, "--formulation", "dca").stdout


def test_modes_are_drawn(pendulum, program, tmp_path):
    pytest.importorskip("matplotlib")
    assert program("modes", pendulum, "--draw", "modes.png").exit_code == 0
    assert (tmp_path / "modes.png").stat().st_size > 1000


def test_linearize(pendulum, program):
    arguments = ("--input", "pivot", "--output", "joint.pivot.Fz", "--output", "body.bob.vx")
    told = json.loads(program("linearize", pendulum, *arguments, "--json").stdout)
    assert told["states"] == ["pivot.theta_z", "pivot.theta_z.rate"]
    assert told["C"][1] == pytest.approx([0.0, -0.7], abs=1e-12)
    assert told["B"][1] == pytest.approx([1.0])
    refused = program("linearize", pendulum, "--input", "pivott")
    assert refused.exit_code == 2
    assert "did you mean 'pivot'" in refused.stderr


def test_statics_with_friction(pendulum, program):
    mech = bc.load(pendulum)
    mech.add_force("rub", bc.JointFriction(load=bc.Journal(0.02, 0.1)), "pivot")
    bc.save(mech, "rubbing.yaml")
    told = json.loads(program("statics", "rubbing.yaml", "--json").stdout)
    assert told["holds"]
    assert told["margin"] is None
    assert told["friction"]["rub"]["limit"] == pytest.approx(2.0 * 9.81 * 0.02 * np.sin(np.arctan(0.1)))
    assert (
        "friction holds it (none is needed), and would under any load"
        in program("statics", "rubbing.yaml").stdout
    )
    left_out = json.loads(program("statics", "rubbing.yaml", "--no-friction", "--json").stdout)
    assert left_out["friction"] == {}
    assert left_out["notes"] == ["friction that holds is left out: 'rub'"]


def test_gradient(pendulum, program):
    arguments = (
        "--of",
        "pivot.theta_z.acceleration",
        "--of",
        "joint.pivot.Fz",
        "--by",
        "states",
        "--by",
        "l",
    )
    told = json.loads(program("gradient", pendulum, *arguments, "--json").stdout)
    assert told["inputs"] == ["pivot.theta_z", "pivot.theta_z.rate", "l"]
    inertia = 0.02 + 2.0 * 0.7**2
    assert told["array"][0] == pytest.approx([-2.0 * 9.81 * 0.7 / inertia, 0.0, 0.0], abs=1e-11)
    assert told["value"][1] == pytest.approx(2.0 * 9.81)
    assert "2 outputs by 3 inputs" in program("gradient", pendulum, *arguments).stdout
    refused = program("gradient", pendulum, "--of", "pivot.thete_z", "--by", "ll")
    assert refused.exit_code == 2
    assert "did you mean 'joint.pivot.theta_z'" in refused.stderr
    assert "by 'll': there is no state" in refused.stderr


def test_gradient_of_a_run(pendulum, program):
    measure = "final joint.pivot.theta_z"
    arguments = (
        "gradient",
        pendulum,
        "--of",
        measure,
        "--by",
        "l",
        "--by",
        "pivot.theta_z.rate",
        "-d",
        "0.01",
    )
    told = json.loads(program(*arguments, "--json").stdout)
    assert told["mode"] == "backward"
    found = told["measures"][measure]
    assert found["gradient"]["pivot.theta_z.rate"] == pytest.approx(0.01, rel=1e-3)
    assert 0.0 <= found["gradient_error"]["l"] < 1e-6
    assert measure in program(*arguments).stdout
    refused = program("gradient", pendulum, "--of", "pivot.theta_z", "--by", "l", "--tolerance", "1e-6")
    assert refused.exit_code == 2
    assert "--tolerance: of a run, which needs --duration" in refused.stderr


def test_statics(pendulum, program):
    told = json.loads(program("statics", pendulum, "--json").stdout)
    assert told["stability"] == "stable"
    assert told["joints"]["pivot"]["force"][2] == pytest.approx(2.0 * 9.81)
    assert "at rest: stable" in program("statics", pendulum).stdout


def test_inverse(pendulum, program):
    path = "bob.tip=-l*sin(0.3*t^2); 0; -l*cos(0.3*t^2)".replace("l*", "0.7*")
    told = json.loads(program("inverse", pendulum, "-d", "1", "-s", "0.5", "--along", path, "--json").stdout)
    # The angle is 0.3 t^2: inertia times 0.6, and weight.
    assert told["drives"]["pivot"]["effort"][0] == pytest.approx(0.6)
    assert "N m" in program("inverse", pendulum, "-d", "1", "-s", "0.5", "--along", path).stdout
    wrong = program("inverse", pendulum, "-d", "1", "--along", "bob.tip=1;2")
    assert wrong.exit_code == 2
    assert "MARKER=X;Y;Z" in wrong.stderr
    alone = program("inverse", pendulum, "-d", "1", "--keep", "motor")
    assert alone.exit_code == 2
    open_one = program("inverse", pendulum, "-d", "1")
    assert "degree of freedom open" in open_one.stderr


ROD = """\
bellcrank: 1
name: rod
parameters:
  length: {value: 0.5, unit: m, low: 0.01, high: 2}
  push: 0.2
bodies:
  rod: {mass: 2*length, inertia: [0.0001, length^2/6, length^2/6], position: [length/2, 0, 0]}
joints:
  pivot: {type: Revolute, first: {body: ground, axis: [0, 1, 0]}, second: {body: rod, position: [-length/2, 0, 0], axis: [0, 1, 0]}}
forces:
  motor: {type: JointMotor, joint: pivot, effort: push*cos(3*t)}
simulation: {duration: 0.2, step: 0.01}
"""  # noqa: E501
MEASURE = "max body.rod.speed"


@pytest.fixture
def rod(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rod.yaml").write_text(ROD)
    (tmp_path / "points.csv").write_text("length,push\n0.2,0\n0.3,0.1\n")
    return "rod.yaml"


def sweep(length, **more):
    given = {"duration": 0.2, "step": 0.01, "processes": 1}
    return bc.sweep(bc.loads(ROD), {"length": length, **more}, MEASURE, **given)


def test_a_sweep_as_table_and_json(rod, program):
    expected = sweep(np.linspace(0.1, 0.5, 5), push=[0.0, 0.5])
    sets = ("--set", "length=100 mm:0.5:5", "--set", "push=0,0.5")
    arguments = ("sweep", rod, *sets, "--measure", MEASURE, "-j", "1")
    done = program(*arguments, "--json", "-o", "out.csv", "--plot", "out.png")
    assert done.exit_code == 0
    told = json.loads(done.stdout)
    assert [point[MEASURE] for point in told["points"]] == expected[MEASURE].tolist()
    assert told["units"] == {"length": "m", "push": "", MEASURE: "m/s"}
    assert told["written"] == ["out.csv", "out.png"]
    with open("out.csv") as file:  # noqa: PTH123
        rows = list(csv.DictReader(file))
    assert [float(row[MEASURE]) for row in rows] == expected[MEASURE].tolist()
    assert "10 points, 0 failed" in program(*arguments).stdout


def test_failures_are_rows(rod, program):
    done = program("sweep", rod, "--set", "length=0.01,0.5", "--measure", MEASURE, "-j", "1", "--json")
    assert done.exit_code == 0
    told = json.loads(done.stdout)
    assert told["failed"] == 1
    assert "inertia" in told["points"][0]["reason"]
    assert told["points"][0][MEASURE] is None


def test_points_of_a_table_and_samples(rod, program):
    done = program("sweep", rod, "--points", "points.csv", "--measure", MEASURE, "-j", "1", "--json")
    assert [point["length"] for point in json.loads(done.stdout)["points"]] == [0.2, 0.3]
    samples = ("--set", "length=0.2:0.3", "--arrange", "latin", "--count", "6")
    done = program("sweep", rod, *samples, "--measure", MEASURE, "-j", "1", "--json")
    lengths = [point["length"] for point in json.loads(done.stdout)["points"]]
    assert len(set(lengths)) == 6
    assert 0.2 <= min(lengths) <= max(lengths) <= 0.3


def test_a_sweep_goes_on_and_another_is_refused(rod, program):
    common = ("sweep", rod, "--measure", MEASURE, "-j", "1", "--keep", "rod.sweep", "--runs", "runs")
    assert program(*common, "--set", "length=0.2,0.3").exit_code == 0
    assert "2 points, 0 failed, finished" in program(*common, "--set", "length=0.2,0.3").stdout
    assert len(bc.Trajectory.load("runs/000001.h5")) > 1
    done = program(*common, "--set", "length=0.2,0.4")
    assert done.exit_code == 2
    assert "it holds another sweep: other points" in done.stderr


def test_optimize(rod, program):
    goal = ("--measure", "final joint.pivot.theta_z", "--maximize", "--keep", "max body.rod.speed=:1.2")
    files = ("--save", "best.yaml", "--plot", "best.png")
    start = ("--free", "length=0.1:1", "--guess", "length=0.4")
    done = program("optimize", rod, *start, *goal, "-j", "1", "--json", *files)
    assert done.exit_code == 0
    told = json.loads(done.stdout)
    assert told["search"] == "SLSQP"
    assert told["written"] == ["best.yaml", "best.png"]
    assert bc.load("best.yaml").parameters["length"].value == told["values"]["length"]
    assert told["constraints"]["max body.rod.speed"] <= 1.2 * (1 + 1e-5)


def test_fit(rod, program):
    true = bc.loads(ROD).with_parameters(length=0.6, push=0.4)
    bc.simulate(true, 0.4, step=0.01).to_csv("data.csv")
    arguments = ("fit", rod, "data.csv", "--free", "length=0.1:1", "--free", "push=:5",
                 "--use", "joint.pivot.theta_z [rad]", "-j", "1")  # fmt: skip
    done = program(*arguments, "--json", "--save", "fitted.yaml", "--plot", "fit.png")
    assert done.exit_code == 0
    told = json.loads(done.stdout)
    assert told["values"]["length"] == pytest.approx(0.6, rel=1e-5)
    assert told["values"]["push"] == pytest.approx(0.4, rel=1e-4)
    assert told["deviations"]["length"] < 1e-4
    assert bc.load("fitted.yaml").parameters["push"].value == told["values"]["push"]
    text = program(*arguments, "--noise", "joint.pivot.theta_z [rad]=0.01").stdout
    assert "±" in text
    assert "chi squared" in text


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("sweep", "--set", "lenght=0.1:0.2:3", "--measure", MEASURE), "did you mean 'length'?"),
        (("sweep", "--set", "length=0.1:0.2", "--measure", MEASURE), "values are LOW:HIGH:COUNT or A,B,C"),
        (("sweep", "--set", "length=0.1:0.2:three", "--measure", MEASURE), "values are LOW:HIGH:COUNT"),
        (("sweep", "--set", "length=0.1,0.2", "--measure", "top energy.total"), "a text is a reduction"),
        (("sweep", "--set", "length=0.1", "--measure", MEASURE, "-o", "table.xls"), "is a .csv or a .nc"),
        (("sweep", "--set", "length=0.1", "--measure", MEASURE, "-a", "statics"), "analysis must be one of"),
        (("sweep", "--set", "length=0.1,0.2", "--measure", MEASURE, "--plot", "a.bmp"), "kind of picture"),
        (("sweep", "--points", "rod.yaml", "--measure", MEASURE), "it cannot be read as a table"),
        (("optimize", "--free", "length=0.1", "--measure", MEASURE), "bounds are LOW:HIGH"),
        (("optimize", "--free", "push", "--measure", MEASURE), "needs two bounds"),
        (("optimize", "--free", "length", "--measure", MEASURE, "--keep", "5"), "MEASURE=LOW:HIGH"),
        (("optimize", "--free", "length", "--measure", MEASURE, "--guess", "5"), "NAME=VALUE"),
        (("optimize", "--free", "length", "--measure", MEASURE, "--search", "luck"), "search must be one of"),
        (("fit", "points.csv", "--free", "length"), "it has no column 'time [s]'"),
    ],
)
def test_wrong_input(rod, program, arguments, said):
    command, *rest = arguments
    done = program(command, rod, *rest, "-j", "1")
    assert done.exit_code == 2
    assert said in " ".join(done.stderr.split())


PENDULUM = """\
bellcrank: 1
name: pendulum
gravity: [0, -9.81, 0]
bodies:
  rod: {mass: 3, inertia: [0.001, 1, 1], com: [0, -1, 0]}
joints:
  theta: {type: Revolute, first: ground, second: rod, limits: {theta_z: {lower: -1, upper: 1}}}
"""


def call(*arguments):
    return CliRunner().invoke(bellcrank, ["export", *arguments])


def written_pendulum():
    Path("pendulum.yaml").write_text(PENDULUM, encoding="utf-8")
    return "pendulum.yaml"


def test_text_without_a_file(four_bar):
    shown = call(written_pendulum())
    assert shown.exit_code == 0
    assert "M[1,1] = 4\n" in shown.output
    assert "b[1] = -29.43*sin(theta)" in shown.output
    assert "Not contained:" in shown.output


def test_c_with_a_frame(four_bar):
    found = json.loads(call(four_bar, "out.c", "--frame", "coupler", "--json").stdout)
    assert found["written"] == ["out.c", "out.h"]
    assert "out_coupler_jacobian" in found["functions"]
    assert "out_forward_dynamics" not in found["functions"]
    assert (
        "void out_bias(double t, const double *q, const double *u, double *b);" in Path("out.h").read_text()
    )


def test_what_is_left_out_is_noted(four_bar):
    shown = call(written_pendulum(), "pendulum.c", "--name", "swing")
    assert shown.exit_code == 0
    assert "not contained: limits" in shown.stderr
    assert "'theta'" in shown.stderr
    assert shown.stdout == "written: pendulum.c, pendulum.h\n"


def test_latex(four_bar):
    assert call(written_pendulum(), "pendulum.tex").exit_code == 0
    assert r"\sin \theta" in Path("pendulum.tex").read_text()


def test_other_suffixes_are_refused(four_bar):
    shown = call(four_bar, "out.py")
    assert shown.exit_code == 2
    assert "a .c, .tex or .txt file, not 'out.py'" in shown.output + shown.stderr
