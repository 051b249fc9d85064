"""`bellcrank run`: results on disk and as JSON, values and units, what is reported, and how it ends."""

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress

import numpy as np
import pytest
from rigs.program import FOUR_BAR, process

import bellcrank as bc
from bellcrank.cli.main import Commands, bellcrank
from bellcrank.io import loads

# The rocker cannot make a whole turn.
OVERDRIVEN = FOUR_BAR.replace(
    "motor: {joint: pivot 1, velocity: 6.0}", "motor: {joint: pivot 2, velocity: 1.0}"
)


def test_the_run_is_that_of_the_library(four_bar, program):
    result = program("run", four_bar, "--out", "run.h5")
    assert result.exit_code == 0
    run = bc.Trajectory.load("run.h5")
    library = bc.simulate(loads(FOUR_BAR), 0.5, step=0.002)
    assert np.array_equal(run.time, library.time)
    assert np.array_equal(run.body("rocker").position, library.body("rocker").position)
    assert run.status == "finished"
    assert loads(run.mechanism).bodies.keys() == {"crank", "coupler", "rocker"}


def test_what_it_tells(four_bar, program):
    output = program("run", four_bar, "--out", "run.h5", "--plot", "run.png").stdout
    for text in ("four-bar", "t = 0 to 0.5 s", "lagrange, rk4, 250 steps", "run.h5", "run.png", "redundant"):
        assert text in output


def test_quiet_writes_nothing(four_bar, program):
    result = program("run", four_bar, "--quiet", "--plot", "x.pdf", "--progress")
    assert (result.stdout, result.stderr, result.exit_code) == ("", "", 0)


def test_options_go_before_the_file(four_bar, program):
    program(
        "run", four_bar, "-m", "dopri5", "-d", "0.2", "--tolerance", "1e-6", "--output-step", "0.01",
        "--accelerations", "--no-reactions", "-O", "rank_tolerance=1e-10", "--start", "1.0", "--step", "1e-4",
        "--out", "run.h5",
    )  # fmt: skip
    run = bc.Trajectory.load("run.h5")
    assert run.statistics["method"] == "dopri5"
    assert run.time == pytest.approx(1.0 + 0.01 * np.arange(21))
    assert run.layout.accelerations
    assert run.layout.reactions == ()


def test_a_ledger_is_kept_shown_and_read_again(four_bar, program):
    output = program("run", four_bar, "-d", "0.5", "--ledger", "-o", "run.h5").stdout
    assert "Balance of energy\nkinetic energy " in output
    assert "\nlargest residual, of " in output
    assert program("info", "run.h5").stdout.endswith(output[output.index("Balance of energy") :])
    for text in (
        program("info", "run.h5", "--json").stdout,
        program("run", four_bar, "-d", "0.5", "--ledger", "--json").stdout,
    ):
        balance = json.loads(text)["energy_balance"]
        gained = balance["kinetic"] + balance["weight"] + sum(balance["stored"].values())
        paid = sum(balance["supplied"].values()) - sum(balance["lost"].values())
        assert gained == pytest.approx(paid, abs=1e-6 * max(1.0, abs(paid)))
        assert balance["error"] < 1e-6
    assert "Balance" not in program("run", four_bar, "-d", "0.1").stdout


def test_joints_to_cut_are_named_once_each_or_with_commas(four_bar, program, tmp_path):
    names = ("--option", "cut=pin 1", "-O", "cut=pin 1, pivot 2")
    output = program("run", four_bar, "-f", "recursive", "-d", "0.1", *names[:2]).stdout
    assert "loops cut at  pin 1\n" in output
    refused = program("run", four_bar, "-f", "symbolic", *names)
    assert refused.exit_code == 2
    assert "without joints 'pin 1', 'pivot 2' together no joint would carry" in " ".join(
        refused.stderr.split()
    )
    text = FOUR_BAR.replace(
        "{duration: 0.5,", "{duration: 0.1, formulation: recursive, options: {cut: [pin 2]},"
    )
    (tmp_path / four_bar).write_text(text)
    program("run", four_bar, "--quiet", "--out", "run.h5")
    assert bc.Trajectory.load("run.h5").statistics["cut_joints"] == "pin 2"
    assert "cut_joints: pin 2" in program("info", "run.h5").stdout


def test_a_file_without_a_duration(four_bar, program, tmp_path):
    (tmp_path / four_bar).write_text(FOUR_BAR.replace("duration: 0.5, ", ""))
    result = program("run", four_bar)
    assert result.exit_code == 2
    assert "does not say how long to simulate" in result.stderr
    assert "--duration 10" in result.stderr
    assert program("run", four_bar, "--duration", "0.1").exit_code == 0


def test_a_run_that_breaks_down_keeps_what_was_computed(four_bar, program, tmp_path):
    (tmp_path / four_bar).write_text(OVERDRIVEN)
    result = program("run", four_bar, "-d", "20", "--out", "run.h5", "--plot", "x.png")
    assert result.exit_code == 3
    assert "could no longer be met" in result.stderr
    assert "a drive ('motor') may ask for a position that cannot be reached" in result.stderr
    run = bc.Trajectory.load("run.h5")
    assert run.status == "constraints_lost"
    assert 0 < run.time[-1] < 2.1
    assert "x.png" in result.stdout


def test_ctrl_c_keeps_what_was_computed(four_bar, tmp_path):
    with process("run", four_bar, "--duration", "100000", "--out", "run.h5") as running:
        try:
            deadline = time.monotonic() + 60
            while not (tmp_path / "run.h5").exists() or (tmp_path / "run.h5").stat().st_size < 20_000:
                assert time.monotonic() < deadline
                assert running.poll() is None
                time.sleep(0.05)
            time.sleep(0.5)
            running.send_signal(signal.SIGINT)
            stdout, stderr = running.communicate(timeout=30)
        finally:
            running.kill()
    assert running.returncode == 130
    assert "interrupted at t =" in stderr
    assert "kept" in stderr
    assert "Traceback" not in stderr
    assert "(interrupted)" in stdout
    assert bc.Trajectory.load("run.h5").status == "interrupted"


def test_no_bar_where_there_is_no_terminal(four_bar):
    with process("run", four_bar) as running:
        _, stderr = running.communicate(timeout=60)
    assert stderr == ""


def test_a_bar_on_a_terminal(four_bar):
    pty = pytest.importorskip("pty")
    master, slave = pty.openpty()
    command = [sys.executable, "-c", "from bellcrank.cli import main; main()"]
    command += ["run", four_bar, "--duration", "30", "--step", "0.0005"]
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "100"}
    with subprocess.Popen(command, stdout=slave, stderr=slave, env=environment) as running:
        os.close(slave)
        seen = b""
        with suppress(OSError):  # what a terminal answers whose other side has gone
            while part := os.read(master, 4096):
                seen += part
    os.close(master)
    assert running.returncode == 0
    assert "━".encode() in seen
    assert b"t = " in seen


def test_a_run_is_summed_up_as_json(four_bar, program):
    told = json.loads(program("run", four_bar, "-d", "200 ms", "-s", "2 ms", "-o", "run.h5", "--json").stdout)
    assert (told["mechanism"], told["status"], told["end"]) == ("four-bar", "finished", 0.2)
    assert told["statistics"]["steps"] == 100
    assert told["written"] == ["run.h5"]
    found = json.loads(program("info", "run.h5", "--json").stdout)
    assert found["frames"] == told["frames"]
    assert found["bodies"] == ["crank", "coupler", "rocker"]
    drawn = json.loads(program("plot", "run.h5", "-w", "energy", "-o", "energy.png", "--json").stdout)
    assert drawn["written"] == ["energy.png"]


def test_an_adaptive_run(program, tmp_path, monkeypatch):
    """Its error, what it lost and how many joints were free, in place of energies that it does not record."""
    monkeypatch.chdir(tmp_path)
    bc.save(bc.gallery.chain(20), "chain.yaml", simulation=bc.Simulation(duration=0.1, step=1e-3))
    how = ("-f", "adaptive", "--max-error", "0.1", "--max-joints", "6", "--measure", "rms", "--max-loss", "2")
    result = program("run", "chain.yaml", *how, "-o", "run.h5")
    assert result.exit_code == 0
    run = bc.MoveTrajectory.load("run.h5")
    given = {"max_error": 0.1, "max_joints": 6, "measure": "rms", "max_loss": 2.0}
    assert {name: run.statistics[name] for name in given} == given
    assert "adaptive, rk4, 100 steps" in result.stdout
    assert f"up to {run.statistics['error']:.3g} m/s^2 (rms)" in result.stdout
    assert "J lost by locking joints" in result.stdout
    assert f"{run.free.mean():.4g} of 20 joints on average, at most {run.free.max()}" in result.stdout
    told = json.loads(program("run", "chain.yaml", *how, "--json").stdout)
    assert told["error"] == run.statistics["error"]
    assert told["lost_energy"] == run.lost_energy[-1]
    assert told["free_joints"] == {"mean": run.free.mean(), "most": run.free.max()}
    refused = program("run", "chain.yaml", *how, "--plot", "run.png")
    assert refused.exit_code == 2
    assert "an adaptive run has no overview" in refused.stderr
    assert "bc.MoveTrajectory.load" in program("info", "run.h5").stderr


def test_info_as_json_is_that_of_the_library(four_bar, program):
    found, library = json.loads(program("info", four_bar, "--json").stdout), bc.info(bc.load(four_bar))
    for name in ("freedom", "rows", "loops"):
        assert found[name] == getattr(library, name)
    assert found["redundant"] == list(library.redundant)


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("2 m", "this unit does not fit here"),
        ("long", "must be a number"),
        ("2 parsec", "this unit is not known"),
    ],
)
def test_durations_that_are_none_are_refused(four_bar, program, text, rule):
    result = program("run", four_bar, "--duration", text)
    assert result.exit_code == 2
    assert rule in " ".join(result.stderr.split())


def test_a_letter_means_one_option():
    meanings = {}
    commands = Commands.list_commands(bellcrank, None)
    for name in (name for name in commands if name != "bench"):
        for option in bellcrank.get_command(None, name).params:
            letters = [text for text in option.opts if len(text) == 2 and text.startswith("-")]
            words = [text for text in option.opts if text.startswith("--")]
            for letter in letters:
                meanings.setdefault(letter, set()).add(words[0])
    assert {letter: words for letter, words in meanings.items() if len(words) > 1} == {}
    assert meanings["-o"] == {"--out"}


PENDULUM = """\
bellcrank: 1
parameters:
  length: {value: 0.5, unit: m, low: 0.1, high: 2, doc: of the rod}
  push: 0.2
bodies:
  rod: {mass: 2*length, inertia: [0.01, length^2/6, length^2/6], position: [length/2, 0, 0]}
joints:
  pivot: {type: Revolute, first: {body: ground, axis: [0, 1, 0]}, second: {body: rod, position: [-length/2, 0, 0], axis: [0, 1, 0]}}
forces:
  motor: {type: JointMotor, joint: pivot, effort: push*cos(3*t)}
simulation: {duration: 0.2, step: 0.01}
"""  # noqa: E501


@pytest.fixture
def pendulum(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "pendulum.yaml"
    path.write_text(PENDULUM)
    return str(path)


def test_parameters_are_set(pendulum, program):
    result = program("run", pendulum, "--set", "length = 600 mm", "--set", "push=pi/2", "--out", "run.h5")
    assert result.exit_code == 0
    run = bc.Trajectory.load("run.h5")
    mech = bc.loads(PENDULUM).with_parameters(length=0.6, push=np.pi / 2)
    library = bc.simulate(mech, 0.2, step=0.01)
    assert np.array_equal(run.body("rod").position, library.body("rod").position)
    assert bc.loads(run.mechanism) == mech


def test_info_lists_them(pendulum, program):
    output = program("info", pendulum).stdout
    for text in ("Parameters (2)", "length", "[0.1, 2]", "of the rod", "push"):
        assert text in output


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("lenght=1", "did you mean 'length'?"),
        ("length=3", "value must not be greater than high = 2"),
        ("length", "it is written as NAME=VALUE"),
        ("length=1 parsec", "this unit is not known"),
        ("length=2*x", "the name 'x' is not known"),
    ],
)
def test_faults(pendulum, program, setting, said):
    result = program("run", pendulum, "--set", setting)
    assert result.exit_code != 0
    assert said in " ".join((result.stdout + result.stderr).split())
