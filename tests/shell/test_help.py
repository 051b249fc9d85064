"""The help, its examples, and what completes a line."""

import pytest

from bellcrank.shell.commands import COMMANDS
from bellcrank.shell.completion import candidates


def test_help_has_an_example_for_every_command(shell):
    for name, command in COMMANDS.items():
        reply = shell.execute(f"help {name}")
        assert reply.ok
        assert command.usage.split()[0] in reply.text
        assert "Example:" in reply.text
        assert command.example.split()[0] == name
    listed = shell.execute("?").text
    assert all(f"    {command.usage}" in listed for command in COMMANDS.values())


def test_the_examples_of_the_help_work(shell, run, tmp_path, monkeypatch):
    """In the mechanism of the thesis's script with a pendulum beside it, as the page of the guide says."""
    pytest.importorskip("matplotlib")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "more.bell").write_text("ib extra\n")
    for line in EXAMPLE_MECHANISM:
        run(line)
    start = shell.session.now
    for name, command in COMMANDS.items():
        if name in ("quit", "exit", "load", "undo", "redo"):
            continue
        shell.session.now = start
        assert shell.execute("run 0.1").ok
        reply = shell.execute(command.example)
        assert reply.ok, f"{command.example}: {reply.text}"
    run("undo", "redo")
    run("load tensegrity.yaml")  # which the example of save has written


EXAMPLE_MECHANISM = [
    *(f"ib stick{k}" for k in range(2)),
    "sb stick0 -if damping damping -t 8 0 0",
    "ir stringM1 stick0 stick1 -l 4",
    "ib rod",
    "il rod bob",
    "joint swing Revolute {body: ground, position: [20, 0, 0]} {body: stick1, position: [0, 0, 1]}",
]


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("st", {"step", "stime"}),
        ("sb ", {"rod", "bob", "-m", "-t"}),
        ("sb r", {"rod"}),
        ("sb rod -if d", {"damping"}),
        ("sb rod -t 1 ", set()),
        ("sb rod -t 1 2 3 -i", {"-in", "-if"}),
        ("sf rod a", {"air"}),
        ("joint j Rev", {"Revolute", "RevoluteX"}),
        ("joint j Screw rod bob pi", {"pitch="}),
        ("force f RubberString rod bob re", {"rest_length=", "restitution="}),
        ("method d", {"dopri5"}),
        ("help rl", {"rlsode"}),
        ("nonsense x", set()),
        ('sb "ro', set()),
    ],
)
def test_completion(shell, run, line, wanted):
    run("ib rod", "ib bob", "sb rod -if damping air")
    found = set(candidates(shell.session, line))
    assert wanted <= found
    if not wanted:
        assert not found
