"""Random command lines: valid, nearly valid, and mutated."""

from bellcrank.mechanism import CHANGE_KINDS, CONSTRAINT_KINDS, FORCE_KINDS, JOINT_KINDS, SENSOR_KINDS
from bellcrank.shell.interpreter import COMMANDS

NAMES = ("a", "b", "c", "ground", "a.f", "f", "g", "nobody", "", "é", "a b", "x/y", "/", "π")
NUMBERS = ("0", "1", "-1", ".5", "2*pi", "1/3", "1e-3", "'30 deg'", "'1 mm'", "p", "p+1")
STRANGE = (
    *("1/0", "nan", "inf", "1e400", "--", "2**", "'3 apples'", "[1,2]", "{a: 1}", "", "true", "q", "t", "🙂"),
    *(
        "1e200",
        "-1e-300",
        "9**9**9",
        "9" * 400,
        "(" * 90 + "1" + ")" * 90,
        "sin(" * 40 + "p" + ")" * 40,
        "0x10",
    ),
    *(
        "1e308*10",
        "p/0",
        "sqrt(-1)",
        "log(0)",
        "*",
        "~",
        "\\",
        "a=1",
        "-m",
        "--help",
        "\u2028",
        "\x00",
        "\x1b[2J",
    ),
)
WORDS = (
    *(
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
    ),
    *(
        "adams",
        "rk4",
        "bdf",
        "overview",
        "body",
        "energy",
        "free",
        "nail",
        "move_to_point",
        "bolio",
        "null",
        "joint",
    ),
    *("gravity", "motor", "damping", "support", "brake", "all", "ib"),
)
FIELDS = (
    *(
        "stiffness=20",
        "rest_length=1",
        "damping=2",
        "length=30",
        "position=[0,0,1]",
        "mass=2",
        "mass=-1",
        "x=",
    ),
    *(
        "inertia=[1,1,1]",
        "rest_length=p",
        "length=3",
        "position=",
        "axis=[0,1,0]",
        "axis=[0,1",
        "velocity='sin(t)'",
    ),
    *(
        "output_step=0.01",
        "output_step=1e-12",
        "step=0.001",
        "step=1e-15",
        "max_step=0.1",
        "max_order=3",
        "unit=m",
    ),
    *(
        "position='0.1*t'",
        "accelerations=true",
        "limits={lower: 0}",
        "=",
        "a==b",
        "assemble=constraint_forces",
    ),
    *("method=constraint_forces", "time_constant=0.05", "time_constant=1e-300", "cut=b", "low=0", "high=-1"),
)
BRACKETS = ("{body: a, position: [0,0,1]}", "{body: b}", "[1, 2", "{", "'open", "]", ")", "{a: {b: {c: 1}}}")
SLOW = {
    "step": ("1", "2", "0", "x"),
    "run": ("0.02", "-1", "0", "x"),
    "sstepsize": ("0.01", "0", "-1", "1e-3", "x"),
}
"""Arguments that would otherwise ask for long work."""
OUTSIDE = (
    "../outside/m.yaml",
    "link/m.json",
    "../outside/r.h5",
    "../outside/old.png",
    "link/../r.csv",
    "/dev/null/x.yaml",
)
FILES = (
    "m.yaml",
    "m.json",
    "r.h5",
    "r.csv",
    "none/x.yaml",
    "m.txt",
    "old.yaml",
    "a\x00.yaml",
    "." * 300 + ".yaml",
    *OUTSIDE,
)
PICTURES = ("now.png", "now.svg", "old.png", "now.txt", *OUTSIDE)
SCRIPTS = {
    "good.bell": "ib {0}1\nsb {0}1 -m 2\nstep 1\n; done\n",
    "bad.bell": "ib {0}2\nundo\nundo\nib {0}3\nsb {0}3 -vl 1 0 0\nstep 1\nsb nobody -m 2\n",
    "undone.bell": "parameter s{0} 1\nundo\nundo\nredo\nredo\n",
    "endless.bell": "ib {0}4\nsource endless.bell\n",
    "outer.bell": "source good.bell\nsource bad.bell\n",
    "leaves.bell": "ib {0}5\nquit\nib {0}5\n",
    "binary.bell": "ib \udcff\n",
}
"""Scripts to run, by the names of their files; {0} stands for a name."""
KINDS = {
    "joint": JOINT_KINDS, "constraint": CONSTRAINT_KINDS, "force": FORCE_KINDS, "sensor": SENSOR_KINDS,
    "change": CHANGE_KINDS,
}  # fmt: skip
WEIGHTS = [
    {"new": 0.1, "load": 0.3, "remove": 0.3, "plot": 0.05, "draw": 0.1, "quit": 0.2, "exit": 0.2}.get(
        name, 1.0
    )
    for name in COMMANDS
]
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
    "sb {body} -if gravity {new}",
)
PRELUDE = ("parameter p 0.5", "ib a", "sb a -if damping f", "il a b", "ir g a b", "sstepsize 0.01")


def line(rng, mechanism):
    """A line that is a command, nearly one, or none."""
    luck = rng.random()
    if luck < 0.03:
        return "".join(rng.choices("abc -;'\"{}[]()=.0123456789\t\\#$%é\x00", k=rng.randrange(30)))
    if luck < 0.06:
        return f"source {rng.choice([*SCRIPTS, 'nowhere.bell', '.', '/dev/zero'])}"
    if luck < 0.16:
        return rng.choice(("undo", "redo"))
    text = template(rng, mechanism) if luck < 0.31 else command(rng, mechanism)
    return mutated(rng, text) if rng.random() < 0.1 else text


def mutated(rng, text):
    """The line with a character or a word changed, but for commands that might then take long."""
    if text.split()[:1] and text.split()[0] in SLOW:
        return text
    at, kind = rng.randrange(len(text) + 1), rng.randrange(5)
    if kind == 0:
        return text[:at] + text[at + 1 :]
    if kind == 1:
        return text[:at] + rng.choice("\"'{}[]();= \t\x00\x7fé🙂\u202e-0") + text[at:]
    words = text.split(" ")
    place = rng.randrange(len(words))
    if kind == 2:
        words[place] = rng.choice((*STRANGE, *BRACKETS))
    elif kind == 3:
        words[place:place] = [rng.choice(words)] * rng.choice((1, 2, 50))
    else:
        words[place] = words[place] * rng.choice((2, 3000))
    return " ".join(words)


def template(rng, mechanism):
    """A line that works where its names fit."""
    some = list(mechanism.bodies) or ["a"]
    forces = [name.rpartition(".")[2] for name in mechanism.forces] or ["f"]
    joint = rng.choice(list(mechanism.joints) or ["b"])
    names = {"body": rng.choice(some), "end": rng.choice([*some, "ground"]), "force": rng.choice(forces)}
    return rng.choice(TEMPLATES).format(new=rng.choice("klmnopqrs"), joint=joint, **names)


def command(rng, mechanism):
    """A command with its arguments, options and fields, most of which fit."""
    (name,) = rng.choices(list(COMMANDS), WEIGHTS)
    about = COMMANDS[name]
    words = [name]
    if rng.random() < 0.8 and (pair := _fitting(rng, name, mechanism)):
        words += pair
    for argument in about.arguments if len(words) == 1 else ():
        if argument.optional and rng.random() < 0.4:
            break
        count = rng.randrange(3) if argument.repeated else argument.count
        slow = SLOW.get(name)
        words += [rng.choice(slow) if slow else _value(rng, about, argument, mechanism) for _ in range(count)]
    for option in about.options:
        if rng.random() < 0.15:
            words.append(option.word)
            words += [_value(rng, about, a, mechanism) for a in option.arguments for _ in range(a.count)]
    if about.fields and rng.random() < 0.7:
        words += rng.choices(FIELDS, k=rng.randrange(4))
    if rng.random() < 0.05:
        rng.shuffle(words)
    if rng.random() < 0.05:
        words.pop(rng.randrange(len(words)))
    return " ".join(words)


def _fitting(rng, name, mechanism):
    """The arguments of sl and sf, which belong together."""
    if name == "sl" and mechanism.joints:
        joint = rng.choice(list(mechanism.joints.values()))
        return [joint.marker_1.body, joint.marker_2.body]
    if name == "sf" and (held := [force for force in mechanism.forces if "." in force]):
        return rng.choice(held).split(".", 1)
    return []


def _value(rng, about, argument, mechanism):
    """A word for an argument: fitting more often than not."""
    luck = rng.random()
    if luck < 0.02:
        return rng.choice((*STRANGE, *BRACKETS))
    if luck < 0.85 and (word := _known(rng, about, argument, mechanism)) is not None:
        return word
    if argument.choices and luck < 0.97:
        return rng.choice(argument.choices)
    if argument.kind in ("number", "count"):
        return rng.choice(NUMBERS)
    if argument.kind == "file":
        return rng.choice(PICTURES if about.name in ("plot", "draw") else FILES)
    return rng.choice(NAMES if luck < 0.7 else (*WORDS, *BRACKETS))


def _known(rng, about, argument, mechanism):
    """A word that fits an argument: the name of something there is, or a new name; None for other kinds."""
    bodies, joints = list(mechanism.bodies), list(mechanism.joints)
    forces = [name.rpartition(".")[2] for name in mechanism.forces]
    if argument.name == "kind" and about.name in KINDS:
        return rng.choice([*KINDS[about.name], "Revolute", "Spherical", "SpringDamper", "RubberString"])
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
