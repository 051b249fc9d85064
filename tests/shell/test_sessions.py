"""Sessions under hostile use: refused scripts, scripts without end, files that are there already."""

import io
import json
import os
import subprocess
import sys
import threading

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.shell import drivers, interpreter
from bellcrank.shell.interpreter import Shell
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
