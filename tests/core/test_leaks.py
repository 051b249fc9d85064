"""Nothing of the core grows with what is done again and again, nor outlives the interpreter."""

import os
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest
from rigs.growth import WORKS, heap_can_be_read, usage

PROGRAMS = {
    "an error that is kept": """
import bellcrank as bc
import bellcrank.expression.derivatives

mech = bc.Mechanism("m")
body = mech.add_body("a", 1.0, (1, 1, 1))
mech.add_joint("j", bc.Revolute(), mech.ground, body)
mech.add_drive("d", "j", position=bc.Harmonic(amplitude=1.0, omega=2.0))
run = bc.simulate(mech, 0.01)
try:
    bc.loads("bellcrank: 1\\nbodies: {a: {mass: heavy}}", "yaml")
except bc.MechanismError as error:
    kept = error
""",
    "formulas, programs and native code": """
from rigs.growth import *

for work in WORKS.values():
    work(1)
mechanism = bc.loads(FILE, "yaml")
system = bc.prepare(mechanism, "symbolic")
mechanism.__dict__["itself"] = [mechanism, system, lambda: system]
""",
    "an end in the middle": """
import threading
from rigs.growth import *

system = bc.prepare(bc.loads(FILE, "yaml"), "lagrange")
threading.Thread(target=bc.simulate, args=(bar()[0], 0.2)).start()
raise SystemExit(0)
""",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_process_ends_without_complaints(name):
    path = [os.environ.get("PYTHONPATH", ""), str(Path(__file__).parents[1])]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, path))}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAMS[name]], capture_output=True, text=True, check=True, env=environment
    )
    assert done.stderr == ""


TIMES, BLOCKS, BYTES = 8, 10, 1000


@pytest.mark.skipif(not heap_can_be_read(), reason="this system has no C library that counts memory in use")
@pytest.mark.parametrize("name", WORKS)
def test_work_leaves_nothing(name):
    """In the best of four rounds: tables of the interpreter grow now and then, what is kept always does."""
    marks = []
    for round_ in range(5):
        for k in range(TIMES):
            WORKS[name](TIMES * round_ + k)
        marks.append(usage())
    grown = [after - before for before, after in pairwise(marks)]
    assert min(g.nodes for g in grown) <= 0
    assert min(g.blocks for g in grown) < BLOCKS * TIMES
    assert min(g.heap for g in grown) < BYTES * TIMES
