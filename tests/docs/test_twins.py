"""The table of the guide with what a file says and what Python says: both give the same mechanism."""

import re
from pathlib import Path

import pytest

import bellcrank as bc
from bellcrank.io.simulation import Simulation

PAGE = Path(__file__).parents[2] / "docs" / "guide" / "07-files-and-command-line.md"
TABLE = PAGE.read_text(encoding="utf-8").partition("<!-- twins -->")[2].partition("<!-- end of twins -->")[0]
TWINS = re.findall(r"^\| `(.+)` \| `(.+)` \|$", TABLE, re.M)
BASE = """bellcrank: 1
bodies:
  crank: {mass: 1, inertia: [1, 1, 1]}
  rod: {mass: 1, inertia: [1, 1, 1], position: [1, 0, 0]}
joints:
  pin: {type: Revolute, first: crank, second: rod}
"""
SECTIONS = (
    "gravity",
    "parameters",
    "bodies",
    "markers",
    "joints",
    "constraints",
    "forces",
    "drives",
    "mechanisms",
)


def merged(said):
    """The text of the file in which a row stands in its section."""
    section, _, entry = said.partition(": ")
    if f"\n{section}:\n" in BASE:
        return BASE.replace(f"{section}:\n", f"{section}:\n  {entry[1:-1]}\n")
    return f"{BASE}{said}\n"


@pytest.mark.parametrize(("said", "twin"), TWINS)
def test_files_and_python_agree(said, twin):
    mech = bc.loads(BASE)
    exec(twin, {"bc": bc, "mech": mech})
    loaded, made = bc.loads(merged(said)), mech
    if "bodies: {disc" in said:  # which stands first in its section there
        assert loaded.bodies["disc"] == made.bodies["disc"]
        assert dict(loaded.bodies) == dict(made.bodies)
    elif said.startswith("joints"):
        assert dict(loaded.joints) == dict(made.joints)
        assert dict(loaded.drives) == dict(made.drives)
    else:
        assert loaded == made


def test_the_table_has_every_section():
    assert {said.partition(":")[0] for said, _ in TWINS} == set(SECTIONS)


def test_runs_take_the_times_of_the_simulation_section():
    mech = bc.Mechanism("falling")
    mech.add_body("ball", "1 kg", (1, 1, 1))
    times = {"duration": "200 ms", "start": "1 s", "step": "10 ms", "output_step": "0.1 s"}
    run = bc.simulate(mech, **times)
    assert run.time == pytest.approx([1.0, 1.1, 1.2])
    assert Simulation(**times).arguments() == {
        "duration": 0.2,
        "start": 1.0,
        "step": 0.01,
        "output_step": 0.1,
    }
