"""What a user sees when something is wrong, streams that are closed or full among it; never a traceback."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from rigs.program import FOUR_BAR, process

from bellcrank.cli.output import report
from bellcrank.errors import AssemblyError, Fault, Location, MechanismError, Unsupported

FAULTY = """\
bellcrank: 1
name: bad
bodies:
  crank: {mass: -1.0, inertia: [0.001, 0.0075, 0.0075]}
joints:
  pivot: {type: Revolut, first: ground, second: crank}
  pin: {type: Revolute, first: crank, second: copler}
"""


def test_every_fault_has_its_place_in_front_and_advice_below(program, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bad.yaml").write_text(FAULTY)
    for command in ("run", "info", "verify"):
        result = program(command, "bad.yaml")
        assert result.exit_code == 2
        assert result.stdout == ""
        assert result.stderr.splitlines() == [
            "bad.yaml:4:17: error: body 'crank': mass must be greater than zero, got -1.0",
            "    give it in kg",
            "bad.yaml:6:17: error: joint 'pivot': there is no joint of this type, got 'Revolut'",
            "    did you mean 'Revolute' or 'RevoluteX' or 'RevoluteMotor'?",
            "bad.yaml:7:47: error: joint 'pin': there is no marker of this name, got 'copler'",
            "    there are 'crank'"
            if "there are 'crank'" in result.stderr
            else result.stderr.splitlines()[5],
            "3 faults",
        ]


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["run", "none.yaml"], 2, "File 'none.yaml' does not exist"),
        (["runn", "four_bar.yaml"], 2, "there is no command 'runn'; did you mean 'run'?"),
        (["run", "four_bar.yaml", "-m", "rk5"], 2, "there is no method 'rk5'; did you mean 'rk4'?"),
        (["run", "four_bar.yaml", "-f", "lagrang"], 2, "lagrang"),
        (["run", "four_bar.yaml", "-d", "-1"], 2, "duration must be greater than zero, got -1.0"),
        (["run", "four_bar.yaml", "-d", "nan"], 2, "duration must be finite, got nan"),
        (["run", "four_bar.yaml", "-s", "1e9"], 2, "step must not be longer than the duration"),
        (
            ["run", "four_bar.yaml", "-m", "rk4", "--tolerance", "1e-6"],
            2,
            "a fixed step, so tolerance has no meaning",
        ),
        (["run", "four_bar.yaml", "-O", "foo=1"], 2, "it has no argument or option 'foo'"),
        (["run", "four_bar.yaml", "-O", "foo"], 2, "it is written as NAME=VALUE, got 'foo'"),
        (
            ["run", "four_bar.yaml", "--out", "four_bar.yaml"],
            2,
            "runs are recorded into HDF5 files, got '.yaml'",
        ),
        (["run", "four_bar.yaml", "--out", "text.h5"], 2, "so it is not overwritten"),
        (["run", "four_bar.yaml", "--out", "none/run.h5"], 2, "the folder 'none' does not exist"),
        (["run", "four_bar.yaml", "--plot", "run.gif"], 2, "end its name in one of .pdf, .png, .svg"),
        (["run", "four_bar.yaml", "--plot", "none/run.png"], 2, "the folder 'none' does not exist"),
        (["run", "torn.yaml"], 2, "pin 2"),
        (["info", "torn.yaml"], 2, "pin 2"),
        (["info", "text.txt"], 2, "a mechanism file ends in .yaml, .yml, .json"),
        (["info", "text.h5"], 2, "this is not an HDF5 file"),
        (["verify", "four_bar.yaml", "--run", "text.h5"], 2, "this is not an HDF5 file"),
        (["convert", "four_bar.yaml", "x.step"], 2, "a mechanism file ends in"),
        (["convert", "four_bar.yaml", "none/x.yaml"], 2, "No such file or directory"),
        (["plot", "text.h5"], 2, "this is not an HDF5 file"),
        (["bench", "no such one"], 2, "there is no benchmark of this name, got 'no such one'"),
    ],
)
def test_wrong_input_is_answered_in_words(four_bar, program, tmp_path, arguments, status, message):
    (tmp_path / "text.txt").write_text("text")
    (tmp_path / "text.h5").write_text("text")
    torn = FOUR_BAR.replace("position: [0.36, 0, 0]", "position: [2.0, 0, 0]")
    (tmp_path / "torn.yaml").write_text(torn)
    result = program(*arguments)  # raises what is not answered
    assert message in " ".join(result.stderr.split())
    assert result.exit_code == status
    assert (tmp_path / four_bar).read_text() == FOUR_BAR


def test_the_process_answers_in_words(four_bar):
    with process("run", four_bar, "--method", "rk5") as running:
        output = running.communicate(timeout=60)
    assert output == ("", "error: there is no method 'rk5'; did you mean 'rk4'?\n")
    assert running.returncode == 2


def test_one_fault_without_a_place(capsys):
    report(MechanismError(Fault("body 'a'", "mass must be greater than zero", -1.0, "give it in kg")))
    assert capsys.readouterr().err == (
        "error: body 'a': mass must be greater than zero, got -1.0\n    give it in kg\n"
    )


def test_very_many_faults_are_cut(capsys):
    place = Location("m.yaml", 3, "bodies.a", 5)
    report(MechanismError([Fault(f"body {k}", "is wrong", location=place) for k in range(80)]))
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "m.yaml:3:5: error: body 0: is wrong"
    assert lines[-1] == "80 faults, the first 50 are shown"
    assert len(lines) == 51


def test_errors_of_assembly_list_what_is_left(capsys):
    report(AssemblyError("it does not close", [("joint 'pin'", 0.012345)]))
    assert capsys.readouterr().err == "error: it does not close\n    joint 'pin': 0.0123 left\n"


def test_other_errors_are_one_line(capsys):
    report(Unsupported("there is no method 'rk5'"))
    assert capsys.readouterr().err == "error: there is no method 'rk5'\n"


DEMO = str(Path(__file__).parents[2] / "examples" / "demo.yaml")
PROGRAM = [sys.executable, "-c", "from bellcrank.cli import main; main()"]
SCRIPT = "ib a\nsb a -vl 1 0 0\nstep 5\npb\nhelp\n"
COMMANDS = {
    "--help": [],
    "info": [DEMO],
    "info --build": [],
    "run": [DEMO, "--duration", "0.1"],
    "shell": [],
    "shell --protocol json": [],
}


def started(command, **streams):
    words = [*PROGRAM, *command.split(), *COMMANDS[command]]
    return subprocess.run(words, input=SCRIPT, text=True, check=False, timeout=120, **streams)


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_a_full_disk(command, tmp_path):
    with Path("/dev/full").open("w") as full:
        done = started(command, stdout=full, stderr=subprocess.PIPE, cwd=tmp_path)
        assert done.returncode == 2
        assert "No space left on device" in done.stderr
        assert len(done.stderr.splitlines()) == 1, done.stderr
        done = started(command, stdout=full, stderr=full, cwd=tmp_path)
        assert done.returncode == 2


@pytest.mark.parametrize("command", COMMANDS)
def test_a_pipe_that_nobody_reads(command, tmp_path):
    reading, writing = os.pipe()
    os.close(reading)
    done = started(command, stdout=writing, stderr=subprocess.PIPE, cwd=tmp_path)
    os.close(writing)
    assert done.returncode == (1 if command == "--help" else 141)  # help is click's own
    assert done.stderr == ""


@pytest.mark.parametrize(
    ("command", "closed"),
    [
        *((command, "<&- >&- 2>&-") for command in COMMANDS),
        *((command, one) for command in ("run", "shell") for one in ("<&-", ">&-", "2>&-")),
    ],
)
def test_closed_streams(command, closed, tmp_path):
    words = " ".join(f"'{word}'" for word in [*PROGRAM, *command.split(), *COMMANDS[command]])
    done = subprocess.run(
        ["sh", "-c", f"{words} {closed}"], input=SCRIPT, text=True, check=False, timeout=120,
        capture_output=True, cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr


def test_characters_that_the_terminal_has_not(tmp_path):
    done = subprocess.run(
        [*PROGRAM, "shell"], input="echo π\n".encode(), capture_output=True, check=False, cwd=tmp_path,
        env=os.environ | {"PYTHONIOENCODING": "ascii"},
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, b"\\u03c0\n")
    words = [*PROGRAM, "shell", "--protocol", "json"]
    done = subprocess.run(
        words, input="echo π\n".encode(), capture_output=True, check=False,
        cwd=tmp_path, env=os.environ | {"PYTHONIOENCODING": "ascii"},
    )  # fmt: skip
    assert "π" in done.stdout.decode("utf-8")
