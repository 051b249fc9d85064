"""What commands say of a mistake, and that it changes nothing."""

import pytest

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
