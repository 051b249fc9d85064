"""Scripts and sessions, under hostile use too: they end as they should, and mistakes change nothing."""

import io
import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.shell import drivers, interpreter
from bellcrank.shell.interpreter import COMMANDS, Shell
from bellcrank.shell.places import Places


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A shell that writes in one folder only."""
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    return Shell(Places(tmp_path / "work"))


def bodies(shell):
    return list(shell.session.mechanism.bodies)


@pytest.mark.parametrize("count", [0, 1, 198, 199, 200, 201, 250])
def test_undo_never_lands_inside_a_refused_script(shell, run, tmp_path, count):
    script = tmp_path / "bad.bell"
    script.write_text("ib x\nib y\nib z\nundo\nib nobody\nsb noone -m 2\n")
    run(*(f"ib b{number}" for number in range(count)))
    everything = shell.session.everything
    assert not shell.execute(f"source {script}").ok
    assert all(one is other for one, other in zip(shell.session.everything, everything, strict=True))
    for left in reversed(range(max(count - 200, 0), count)):
        run("undo")
        assert bodies(shell) == [f"b{number}" for number in range(left)]
    assert not shell.execute("undo").ok


def test_redo_leads_forth_again_until_something_is_changed(shell, run):
    run("ib a", "sb a -vl 1 0 0", "step 3")
    there = shell.session.now
    run("undo", "undo", "redo", "redo")
    assert shell.session.now is there
    assert "nothing was taken back" in shell.execute("redo").text
    run("undo")
    assert not shell.execute("ib a").ok  # what is refused changes nothing, here neither
    run("redo", "undo", "ib c")
    assert not shell.execute("redo").ok


def test_a_refused_script_takes_no_step_forth_either(shell, run, tmp_path):
    (tmp_path / "bad.bell").write_text("undo\nib c\nib c\n")
    run("ib a", "ib b", "undo")
    assert not shell.execute(f"source {tmp_path / 'bad.bell'}").ok
    run("redo")
    assert bodies(shell) == ["a", "b"]


def test_what_a_refused_script_has_closed_is_forgotten(shell, run, tmp_path):
    """Rest lengths taken as at the start are those of the start, whatever a refused script closed there."""
    run("ib a", "ib b", "sb b -t 1 0 0")
    run("joint j Spherical {body: a, position: [0.5, 0, 0]} {body: b, position: [-0.5, 0, 0]}", "step 1")
    model = shell.session.model()
    (tmp_path / "bad.bell").write_text("reset\nrun 4 assemble=constraint_forces\nib a\n")
    assert not shell.execute(f"source {tmp_path / 'bad.bell'}").ok
    assert shell.session.model() is model


def test_a_run_that_broke_down_leaves_the_next_where_it_began(shell, run):
    """Also the integrator's system, which runs that follow each other share."""
    lines = ("ib rod", "force push Wrench rod force=['1/(0.5-t)', 0, 0]", "sstepsize 0.1", "step 2", "step 1")
    run(*lines)
    assert not shell.execute("step 10").ok
    run("step 1")
    other = Shell()
    for line in (*lines, "step 1"):
        assert other.execute(line).ok
    np.testing.assert_allclose(shell.session.state().velocity, other.session.state().velocity, rtol=1e-5)
    np.testing.assert_allclose(shell.session.state().position, other.session.state().position, rtol=1e-5)


def test_scripts_that_multiply_have_an_end(shell, tmp_path, monkeypatch):
    monkeypatch.setattr(interpreter, "_COMMANDS", 500)
    for number in range(19):
        line = f"source {tmp_path / f'{number + 1}.bell'}\n"
        (tmp_path / f"{number}.bell").write_text(2 * line)
    (tmp_path / "19.bell").write_text("rtime\n")
    reply = shell.execute(f"source {tmp_path / '0.bell'}")
    assert not reply.ok
    assert "at most 500 commands" in reply.text
    (tmp_path / "one.bell").write_text(f"source {tmp_path / 'two.bell'}\n")
    (tmp_path / "two.bell").write_text(f"source {tmp_path / 'one.bell'}\n")
    assert (
        "'one.bell' runs 'two.bell' runs 'one.bell'" in shell.execute(f"source {tmp_path / 'one.bell'}").text
    )


def test_scripts_without_end_are_not_read(shell, tmp_path, monkeypatch):
    assert "not a file" in shell.execute("source /dev/zero").text
    os.mkfifo(tmp_path / "pipe")
    assert "not a file" in shell.execute(f"source {tmp_path / 'pipe'}").text
    assert "not a file" in shell.execute(f"source {tmp_path}").text
    monkeypatch.setattr(interpreter, "_SCRIPT_BYTES", 100)
    (tmp_path / "long.bell").write_text("; nothing\n" * 20)
    assert "a script has at most" in shell.execute(f"source {tmp_path / 'long.bell'}").text


OUTSIDE = ("../m.yaml", "link/m.yaml", "link/../m.json", "{outside}/m.yaml", "dangling.yaml")


@pytest.mark.parametrize("name", OUTSIDE)
def test_no_file_is_written_outside_the_folder(here, tmp_path, name):
    pytest.importorskip("matplotlib")
    (tmp_path / "outside").mkdir()
    (tmp_path / "work" / "link").symlink_to(tmp_path / "outside")
    (tmp_path / "work" / "dangling.yaml").symlink_to(tmp_path / "outside" / "new.yaml")
    name = name.format(outside=tmp_path / "outside")
    picture = name.replace(".yaml", ".png").replace(".json", ".png")
    (tmp_path / "work" / "dangling.png").symlink_to(tmp_path / "outside" / "new.png")
    lines = (f"save {name} -over", f"plot overview -o {picture} -over", f"draw picture {picture} -over")
    for line in ("ib a", "step 1"):
        assert here.execute(line).ok
    for line in lines:
        reply = here.execute(line)
        assert not reply.ok
        assert "outside the folder" in reply.text
    if not name.startswith("dangling"):  # a numbered picture has another name
        assert "outside the folder" in here.execute(f"draw corpus {picture} 1 -over").text
    assert sorted(path.name for path in tmp_path.rglob("*")) == [
        "dangling.png", "dangling.yaml", "link", "outside", "work"
    ]  # fmt: skip


def test_steps_draw_nothing_outside_the_folder(here, tmp_path):
    pytest.importorskip("matplotlib")
    for line in ("ib a", "draw corpus frame.png 2", "step 1"):
        assert here.execute(line).ok
    (tmp_path / "work" / "frame_00002.png").symlink_to(tmp_path / "taken.png")
    before = here.session.now
    assert "outside the folder" in here.execute("step 1").text
    assert here.session.now is before
    assert not (tmp_path / "taken.png").exists()


def test_nothing_is_written_over_unasked(here, tmp_path):
    pytest.importorskip("matplotlib")
    for name in ("m.yaml", "r.h5", "r.csv", "p.png", "plot.png", "frame_00001.png"):
        (tmp_path / "work" / name).write_text("precious")
    for line in ("ib a", "step 1"):
        assert here.execute(line).ok
    writing = ("save m.yaml", "save r.csv", "plot body a -o p.png", "plot", "draw picture p.png")
    for line in (*writing, "save r.h5", "draw corpus frame.png 1"):
        reply = here.execute(line)
        assert not reply.ok
        assert "it exists already" in reply.text
        assert "-over" in reply.text
    assert all(path.read_text() == "precious" for path in (tmp_path / "work").iterdir())
    for line in writing:
        assert here.execute(f"{line} -over").ok
        assert here.execute(line).ok  # what the session wrote itself is its own
    for line in ("reset", "draw corpus frame.png 1 -over", "step 2", "reset", "step 2"):
        assert here.execute(line).ok
    assert (tmp_path / "work" / "frame_00002.png").stat().st_size > 500


def program(*arguments):
    return [sys.executable, "-c", "from bellcrank.cli import main; main()", *arguments]


@pytest.mark.parametrize("protocol", ["text", "json"])
def test_with_a_protocol_files_stay_in_the_folder_without_leave(tmp_path, protocol):
    (tmp_path / "work").mkdir()
    (tmp_path / "script.bell").write_text("ib a\nsave ../m.yaml\n")
    for leave, status in (((), 2), (("--any-folder",), 0)):
        words = ("shell", "--protocol", protocol, *leave, "../script.bell")
        done = subprocess.run(program(*words), cwd=tmp_path / "work", capture_output=True, check=False)
        assert done.returncode == status
        assert (tmp_path / "m.yaml").exists() == (not status)
    (tmp_path / "m.yaml").unlink()
    assert (
        subprocess.run(program("shell", "../script.bell"), cwd=tmp_path / "work", check=False).returncode == 0
    )


def answers(sent, capsys):
    status = drivers.pipe(io.BytesIO(sent), Places(), as_json=True)
    return status, [json.loads(line) for line in capsys.readouterr().out.split("\n") if line]


@pytest.mark.parametrize("byte", [b"\xff", b"\xc3", b"\xed\xa0\x80", b"\x80"])
def test_bytes_that_are_no_utf_8_are_refused_and_the_session_goes_on(byte, capsys):
    status, told = answers(b"ib rod\necho " + byte + b"\nib bob\n" + byte, capsys)
    assert status == 2
    assert [answer["ok"] for answer in told] == [True, False, True, False]
    assert told[1]["command"] is None
    assert f"it is not UTF-8: byte 0x{byte[0]:02x} in column 6" in told[1]["text"]


def test_lines_without_end_are_refused_as_they_come(capsys):
    status, told = answers(b"echo " + b"x" * 3_000_000 + b"\necho on\n" + b"y" * 400_000, capsys)
    assert status == 2
    assert [answer["ok"] for answer in told] == [False, True, False]
    assert "at most 100000 characters" in told[0]["text"]


def test_a_second_thread_is_refused(shell, run):
    run("ib a")
    begun, go_on = threading.Event(), threading.Event()

    def wait(path, *_):
        begun.set()
        assert go_on.wait(30)
        raise bc.Unsupported("only waiting")

    shell.session.source = wait
    worker = threading.Thread(target=shell.execute, args=("source anything",))
    worker.start()
    assert begun.wait(30)
    reply = shell.execute("ib b")
    go_on.set()
    worker.join()
    assert not reply.ok
    assert "one command at a time" in reply.text
    run("ib b")


SCRIPT = Path(__file__).parent / "every_command.bell"


def bellcrank(*arguments, cwd, text=None):
    program = [sys.executable, "-W", "error", "-c", "from bellcrank.cli import main; main()", *arguments]
    return subprocess.run(program, capture_output=True, text=True, cwd=cwd, input=text, check=False)


def test_the_script_has_every_command():
    """But for `quit`, which is `exit`."""
    used = {line.split()[0] for line in SCRIPT.read_text().splitlines() if line and line[0] != ";"}
    assert used | {"quit"} == set(COMMANDS)


def test_the_script_uses_every_option_of_every_command():
    lines = [line.split() for line in SCRIPT.read_text().splitlines()]
    for command in COMMANDS.values():
        words = {word for line in lines if line and line[0] == command.name for word in line}
        for option in command.options:
            assert option.word in words, f"{command.name} {option.word}"


def test_every_command_runs_unattended(tmp_path):
    pytest.importorskip("matplotlib")
    (tmp_path / "more.bell").write_text("ib extra\nsb extra -t 9 0 0 ; far away\n")
    done = bellcrank("shell", str(SCRIPT), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    for name in ("now.png", "rod.png", "history.h5", "history.csv", "everything.yaml"):
        assert (tmp_path / name).stat().st_size > 500
    assert sorted(path.name for path in tmp_path.glob("frame_*.png")) == ["frame_00006.png"]
    assert "pose rod " in done.stdout
    assert "half done" in done.stdout


def test_every_reply_is_one_json_object(tmp_path):
    pytest.importorskip("matplotlib")
    (tmp_path / "more.bell").write_text("ib extra\n")
    text = SCRIPT.read_text()
    done = bellcrank("shell", "--protocol", "json", cwd=tmp_path, text=text)
    assert done.returncode == 0, done.stdout
    replies = [json.loads(line) for line in done.stdout.splitlines()]
    commands = [line for line in text.splitlines() if line]
    assert [reply["command"] for reply in replies] == commands
    assert all(reply["ok"] for reply in replies)
    told = {reply["command"]: reply["result"] for reply in replies}
    assert told["rstepsize"] == {"stepsize": pytest.approx(1 / 60)}
    assert told["pb rod"]["bodies"]["rod"]["mass"] == 1.5
    assert told["step 3"]["time"] == pytest.approx(0.05)
    assert told["rlsode"]["calls"] > 0


def test_a_script_stops_at_its_first_fault_and_says_where(tmp_path):
    (tmp_path / "bad.bell").write_text("ib rod\nsb rood -m 2\nib bob\necho after\n")
    done = bellcrank("shell", "bad.bell", cwd=tmp_path)
    assert done.returncode == 2
    assert "bad.bell:2: sb: there is no body of this name, got 'rood'; did you mean 'rod'?" in done.stderr
    assert "after" not in done.stdout
    done = bellcrank("shell", "bad.bell", "--keep-going", cwd=tmp_path)
    assert done.returncode == 2
    assert "after" in done.stdout


def test_a_pipe_goes_on_after_a_fault(tmp_path):
    done = bellcrank("shell", cwd=tmp_path, text="ib rod\nnonsense\necho after\n")
    assert done.returncode == 2
    assert "<stdin>:2: shell: there is no command of this name, got 'nonsense'" in done.stderr
    assert "after" in done.stdout


def test_each_reply_comes_before_the_next_command(tmp_path):
    """So that another program can decide by what it reads."""
    program = [sys.executable, "-c", "from bellcrank.cli import main; main()", "shell", "--protocol", "json"]
    with subprocess.Popen(
        program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1, cwd=tmp_path
    ) as shell:
        assert shell.stdin is not None
        assert shell.stdout is not None
        for line, ok in (("ib rod", True), ("ib rod", False), ("rtime", True)):
            print(line, file=shell.stdin, flush=True)
            assert json.loads(shell.stdout.readline())["ok"] is ok
        print("quit", file=shell.stdin, flush=True)
        assert json.loads(shell.stdout.readline())["ok"]
        assert shell.wait(10) == 2  # one was refused


REFUSED = {
    "force f Bushing rod ground stiffness=20": "stiffness",
    "ib": "ib: <localname> is missing: a new name",
    "ib rod": "this name is taken",
    "sb rood -m 1": "there is no body of this name, got 'rood'; did you mean 'rod'?",
    "sb rod -t 1 2": "-t takes %F %F %F; something is missing",
    "sb rod -t 1 2 -m 3": "-t takes %F %F %F; something is missing",
    "sb rod -m -1": "mass must be greater than zero, got -1.0",
    "sb rod -m 1/0": "division by zero",
    "sb rod -m '3 s'": "this unit does not fit here",
    "sb rod -m nan": "finite",
    "sb rod -E 0 0 0 0": "a quaternion must not be zero",
    "sb rod -if gravty g": "one of gravity, motor, damping, support, brake is expected",
    "sb rod -f nothing": "it has no force of this name",
    "sb rod -mass 3": "this word has no place here, got '-mass'",
    "sf rod air -g 3": "a damping has no -g; damping takes -d",
    "sl ground rod -q 1": "no joint leads from 'ground' to 'rod'; make the link: il ground <name>",
    "step 1.5": "a whole number, at least 1, is needed here",
    "step": "%d is missing",
    "sstepsize 0": "greater than zero",
    "sacc -r 0": "the accuracy must be greater than zero",
    "formulation lagrnge": "did you mean 'lagrange'?",
    "method rk5": "did you mean 'rk4'",
    "draw bolio x": "bolio takes nothing",
    "draw picture now.txt": "now.txt",
    "plot": "nothing has been run yet",
    "view": "there is no command of this name",
    "assemble method=magic": "method must be one of root_finding, constraint_forces",
    "assemble time_constant=-1": "time_constant must be greater than zero",
    "assemble metod=x": "it takes method, time_constant, got 'metod'",
    "run 1 assemble=magic": "assemble must be True, False, 'projection' or 'constraint_forces'",
    "load nowhere.yaml": "nowhere.yaml",
    "save m.doc": "a mechanism file ends in",
    "joint j Revolut rod ground": "did you mean 'Revolute'",
    "force f SpringDamper rod ground stiffnes=3": "stiffnes",
    "remove nobody": "there is no element of this name",
    "parameter t 3": "this name has a meaning in expressions",
    "hlp": "did you mean 'help'?",
    "help stpe": "did you mean 'step'",
    'sb "rod': "the quote in column 4 is not closed",
    "ir s rod rod -l -k 3": "-l takes %F; something is missing",
}


@pytest.mark.parametrize("line", REFUSED)
def test_errors_say_what_was_expected(shell, run, line):
    run("ib rod", "sb rod -if damping air")
    before = shell.session.now
    reply = shell.execute(line)
    assert not reply.ok
    assert REFUSED[line] in reply.text
    assert shell.session.now is before
    assert reply.data["type"] != "internal"


def swinging(shell):
    """A chain of rods in a shell."""
    shell.session.set(mechanism=bc.gallery.chain(30))


def test_adaptive_runs_go_on_from_each_other(shell, run):
    """Runs in parts, against one of the interface; with no error, against `recursive`."""
    swinging(shell)
    run("formulation adaptive max_error=0", "method rk4 step=1e-3", "run 0.1 output_step=0.05", "run 0.1")
    found = shell.session.now.live
    exact = bc.simulate(bc.gallery.chain(30), 0.2, formulation="recursive", method="rk4", step=1e-3).at(0.2)
    np.testing.assert_allclose(found.position, exact.position, rtol=0, atol=1e-8)
    np.testing.assert_allclose(found.velocity, exact.velocity, rtol=0, atol=1e-7)
    whole = shell.session.trajectory()
    assert whole.time.round(9).tolist() == [0.0, 0.05, 0.1, 0.2]
    assert np.isfinite(whole.store.read("velocity")).all()


def test_limits_of_adaptive_runs_are_options_of_the_formulation(shell, run, tmp_path):
    swinging(shell)
    run("formulation adaptive max_error=0.3 max_joints=4", "method rk4 step=1e-3", "run 0.2")
    statistics = shell.session.now.history[-1].statistics
    assert (statistics["max_error"], statistics["max_joints"]) == (0.3, 4)
    kept = tmp_path / "chain.yaml"
    run(f"save {kept}")
    assert "max_joints: 4" in kept.read_text()
    run("formulation auto", f"load {kept}")
    assert shell.session.now.settings.options == {"max_error": 0.3, "max_joints": 4}
    assert shell.session.now.settings.formulation == "adaptive"
    for line in ("formulation adaptive max_error=-1", "formulation adaptive measure=mean",
                 "formulation adaptive max_eror=1", "formulation lagrange max_error=0.1"):  # fmt: skip
        assert not shell.execute(line).ok


def test_the_unit_of_a_joints_value_is_that_of_its_coordinate(shell, run):
    run("il ground slide", "sl ground slide -s 0 0 0 0 0 1")
    reply = shell.execute('sl ground slide -q "30 deg"')
    assert not reply.ok
    assert "does not fit here, got '30 deg'; give it in m" in reply.text
    assert shell.execute('sl ground slide -q "30 mm"').ok


def test_a_broken_run_leaves_the_state(shell, run):
    run("ib rod", "force push Wrench rod force=['1/(0.5-t)', 0, 0]", "sstepsize 0.1", "step 2")
    before = shell.session.now
    reply = shell.execute("step 10")
    assert not reply.ok
    assert reply.data["type"] == "SimulationError"
    assert reply.data["time"] < 0.6
    assert shell.session.now is before
