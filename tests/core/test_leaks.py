"""Nothing of the core outlives the interpreter: it says so at the end of a process, on the error stream."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

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
mechanism.itself = [mechanism, system, lambda: system]
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
