"""Nothing of the core outlives the interpreter: it says so at the end of a process, on the error stream."""

import subprocess
import sys

PROGRAM = """
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
"""


def test_a_process_ends_without_complaints():
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    assert done.stderr == ""
