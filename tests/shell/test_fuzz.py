"""Random command lines never leave the shell, never meet an error that nobody thought of, and a refused one
changes nothing."""

import random

import numpy as np
import pytest

from bellcrank.mechanism import CONSTRAINT_KINDS, FORCE_KINDS, JOINT_KINDS
from bellcrank.shell.commands import COMMANDS
from bellcrank.shell.interpreter import Shell

NAMES = ("a", "b", "c", "ground", "a.f", "f", "g", "nobody", "", "é", "a b", "x/y", "/", "π")
NUMBERS = ("0", "1", "-1", ".5", "2*pi", "1/3", "1e-3", "'30 deg'", "'1 mm'", "p", "p+1")
STRANGE = (
    "1/0",
    "nan",
    "inf",
    "1e400",
    "--",
    "2**",
    "'3 apples'",
    "[1,2]",
    "{a: 1}",
    "",
    "true",
    "q",
    "t",
    "🙂",
    "1e200",
)
WORDS = (
    "Revolute",
    "Spherical",
    "Fixed",
    "Cable",
    "SpringDamper",
    "Wrench",
    "lagrange",
    "symbolic",
    "auto",
    "dopri5",
    "adams",
    "rk4",
    "overview",
    "body",
    "energy",
    "free",
    "nail",
    "move_to_point",
    "bolio",
    "null",
    "joint",
    "gravity",
    "motor",
    "damping",
    "support",
    "brake",
    "all",
    "ib",
)
FIELDS = (
    "stiffness=20",
    "rest_length=1",
    "damping=2",
    "length=30",
    "position=[0,0,1]",
    "mass=2",
    "mass=-1",
    "inertia=[1,1,1]",
    "stiffness=20",
    "rest_length=p",
    "length=3",
    "x=",
    "position=",
    "axis=[0,1,0]",
    "axis=[0,1",
    "velocity='sin(t)'",
    "output_step=0.01",
    "step=0.001",
    "unit=m",
    "position='0.1*t'",
    "accelerations=true",
    "limits={lower: 0}",
    "=",
    "a==b",
)
BRACKETS = ("{body: a, position: [0,0,1]}", "{body: b}", "[1, 2", "{", "'open", "]", ")", "{a: {b: {c: 1}}}")
SLOW = {
    "step": ("1", "2", "0", "x"),
    "run": ("0.02", "-1", "0", "x"),
    "sstepsize": ("0.01", "0", "-1", "1e-3", "x"),
}
SKIPPED = {"plot", "draw", "source"}  # they write pictures for a long time, or read what the others wrote
QUIET = [name for name in COMMANDS if name not in SKIPPED]
WEIGHTS = [0.15 if name in ("new", "load", "undo", "remove") else 1.0 for name in QUIET]
KINDS = {"joint": JOINT_KINDS, "constraint": CONSTRAINT_KINDS, "force": FORCE_KINDS}


def known(rng, command, argument, mechanism):
    """A word that fits an argument: the name of something there is, or a new name; None for other kinds."""
    bodies, joints = list(mechanism.bodies), list(mechanism.joints)
    forces = [name.rpartition(".")[2] for name in mechanism.forces]
    if argument.name == "kind":
        return rng.choice([*KINDS[command.name], "Revolute", "Spherical", "SpringDamper", "RubberString"])
    if argument.kind == "name":
        return rng.choice("abcdefghij") + rng.choice(("", "1", "2"))
    there = {
        "body": bodies,
        "carrier": [*bodies, "ground"],
        "joint": joints,
        "force": forces,
        "end": [*bodies, "ground", *joints],
        "element": [*bodies, *joints, *mechanism.forces],
    }
    return rng.choice(there[argument.kind]) if there.get(argument.kind) else None


TEMPLATES = (
    "body {new} mass=1 inertia=[1,1,1] position=[3,0,0]",
    "marker {body}.m position=[0,0,p]",
    "force {new} SpringDamper {body} {end} stiffness=20 rest_length=1",
    "force {new} BodyDamping {body} damping=p",
    "force {new} Wrench {body} force=['sin(t)', 0, 0]",
    "constraint {new} Cable {body} {end} length=90 slack=true",
    "joint {new} Spherical {body} {{body: {end}, position: [1, 0, 0]}}",
    "joint {new} Prismatic {body} {end} limits={{lower: -1, upper: 1}}",
    "drive {new} {joint} velocity='0.1*cos(t)'",
    "drive {new} marker={body} path={{curve: ['t', 0, 0]}}",
    "sb {body} -f {force}",
)


def template(rng, mechanism):
    """A line that works where its names fit."""
    some = list(mechanism.bodies) or ["a"]
    forces = [name.rpartition(".")[2] for name in mechanism.forces] or ["f"]
    joint = rng.choice(list(mechanism.joints) or ["b"])
    names = {"body": rng.choice(some), "end": rng.choice([*some, "ground"]), "force": rng.choice(forces)}
    return rng.choice(TEMPLATES).format(new=rng.choice("klmnopqrs"), joint=joint, **names)


def fitting(rng, name, mechanism):
    """The arguments of sl and sf, which belong together."""
    if name == "sl" and mechanism.joints:
        joint = rng.choice(list(mechanism.joints.values()))
        return [joint.marker_1.body, joint.marker_2.body]
    if name == "sf" and (held := [force for force in mechanism.forces if "." in force]):
        return rng.choice(held).split(".", 1)
    return []


def value(rng, command, argument, mechanism):
    """A word for an argument: fitting more often than not."""
    luck = rng.random()
    if luck < 0.02:
        return rng.choice((*STRANGE, *BRACKETS))
    if luck < 0.85 and (word := known(rng, command, argument, mechanism)) is not None:
        return word
    if argument.choices and luck < 0.97:
        return rng.choice(argument.choices)
    if argument.kind == "number" or argument.kind == "count":
        return rng.choice(NUMBERS)
    if argument.kind == "file":
        return rng.choice(("m.yaml", "m.json", "r.h5", "r.csv", "none/x.yaml", "m.txt"))
    return rng.choice(NAMES if luck < 0.7 else (*WORDS, *BRACKETS))


def line(rng, mechanism):
    """A line that is nearly a command."""
    if rng.random() < 0.04:
        return "".join(rng.choices("abc -;'\"{}[]()=.0123456789\t\\#$%é", k=rng.randrange(30)))
    if rng.random() < 0.15:
        return template(rng, mechanism)
    (name,) = rng.choices(QUIET, WEIGHTS)
    command = COMMANDS[name]
    words = [name]
    if rng.random() < 0.8 and (pair := fitting(rng, name, mechanism)):
        words += pair
    for argument in command.arguments if len(words) == 1 else ():
        if argument.optional and rng.random() < 0.4:
            break
        count = rng.randrange(3) if argument.repeated else argument.count
        slow = SLOW.get(name)
        words += [
            rng.choice(slow) if slow else value(rng, command, argument, mechanism) for _ in range(count)
        ]
    for option in command.options:
        if rng.random() < 0.15:
            words.append(option.word)
            words += [value(rng, command, a, mechanism) for a in option.arguments for _ in range(a.count)]
    if command.fields and rng.random() < 0.7:
        words += rng.choices(FIELDS, k=rng.randrange(4))
    if rng.random() < 0.05:
        rng.shuffle(words)
    if rng.random() < 0.05:
        words.pop(rng.randrange(len(words)))
    return " ".join(words)


def picture(session):
    """What must not change where a command is refused, by value."""
    now = session.now
    live = None if now.live is None else [np.copy(part) for part in now.live.arrays[1:]]
    return (
        now.mechanism.copy(),
        now.start,
        now.time,
        live,
        now.settings,
        now.drawing,
        now.off,
        len(now.history),
    )


def same(one, two):
    lives = (one[3], two[3])
    if (lives[0] is None) != (lives[1] is None):
        return False
    if lives[0] is not None and not all(np.array_equal(a, b) for a, b in zip(*lives, strict=True)):
        return False
    return one[:3] == two[:3] and one[4:] == two[4:]


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of numbers such as 1e200
def test_random_lines(seed, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = random.Random(seed)
    shell = Shell()
    for start in ("parameter p 0.5", "ib a", "sb a -if damping f", "il a b", "ir g a b"):
        assert shell.execute(start).ok
    done = refused = 0
    for number in range(400):
        text = line(rng, shell.session.mechanism)
        before, steps = shell.session.now, shell.session.steps_back
        kept = picture(shell.session) if number % 7 == 0 else None
        reply = shell.execute(text)
        assert reply.data.get("type") != "internal", f"{text!r}: {reply.text}"
        if reply.ok:
            done += 1
        else:
            refused += 1
            assert reply.text, text
            assert shell.session.now is before, text
            assert shell.session.steps_back == steps, text
            assert kept is None or same(picture(shell.session), kept), text
        assert reply.leave == (reply.ok and text.split()[:1] in (["quit"], ["exit"])), text
        if number % 100 == 99:
            assert shell.execute("pb").ok
            assert shell.execute("pf").ok
    assert done > 50
    assert refused > 50


def test_every_step_back_leads_where_one_came_from(shell, tmp_path, monkeypatch):
    """Undo after undo restores what was there, by value, down to the empty mechanism."""
    monkeypatch.chdir(tmp_path)
    rng = random.Random(99)
    kept = [picture(shell.session)]
    for _ in range(400):
        reply = shell.execute(line(rng, shell.session.mechanism))
        if reply.ok and shell.session.steps_back == len(kept):
            kept.append(picture(shell.session))
        elif shell.session.steps_back < len(kept) - 1:  # an undo among the random lines
            kept.pop()
    assert len(kept) > 30
    while len(kept) > 1:
        kept.pop()
        assert shell.execute("undo").ok
        assert same(picture(shell.session), kept[-1])
    assert not shell.execute("undo").ok
