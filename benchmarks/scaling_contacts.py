"""Cost of a step against the number of bodies lying apart on a plane, by both kinds of contact."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, sqrt
from typing import Final

import bellcrank as bc
from bellcrank.assembly.compile import compile_mechanism
from benchmarks.environment import environment
from benchmarks.report import Column, Report, Row, Table
from benchmarks.scaling import exponent
from benchmarks.timing import step_time

STEP: Final = 1e-4
SIZES: Final = (100, 1000, 10_000)
METHODS: Final = ("rk4", "moreau")
SHAPES: Final[dict[str, bc.Shape]] = {
    "spheres": bc.Sphere(radius=0.1, density=1000.0),
    "boxes": bc.Box(size=(0.2, 0.2, 0.2), density=1000.0),
}
_COLUMNS: Final = (
    Column("shapes", "shapes"),
    Column("method", "method"),
    Column("bodies", "bodies"),
    Column("step_us", "step, us"),
    Column("step_us_per_body", "us per body"),
)
_FITS: Final = (Column("shapes", "shapes"), Column("method", "method"), Column("exponent", "exponent", 4))


def scattered(count: int, shape: bc.Shape) -> bc.Mechanism:
    """Bodies of one shape in rows on a plane, 0.2 m apart, pressed in by 0.01 mm."""
    mech = bc.Mechanism(f"{count} on a plane")
    mech.replace(mech.ground, shapes=[bc.Plane()])
    row = ceil(sqrt(count))
    for k in range(count):
        place = (0.4 * (k % row), 0.4 * (k // row), 0.1 - 1e-5)
        mech.add_body(f"body {k}", shapes=[shape], position=place)
    mech.add_force("touch", bc.Contact(1e6, restitution=0.3, friction=0.5), *mech.bodies, "ground")
    return mech


def run(sizes: Sequence[int] = SIZES, repeats: int = 5) -> Report:
    """Time steps with compliant contact and with impulses in `lagrange`, and fit exponents."""
    facts = environment()
    rows: list[Row] = []
    for name, shape in SHAPES.items():
        for size in sizes:
            model = compile_mechanism(scattered(size, shape))
            steps = max(5, 50_000 // size)
            for method in METHODS:
                step = step_time(model, method, STEP, steps, repeats)
                each = {"step_us": step, "step_us_per_body": step.median / size}
                rows.append({"shapes": name, "method": method, "bodies": size, **each})
    fits: list[Row] = []
    for name in SHAPES:
        for method in METHODS:
            mine = [row for row in rows if row["shapes"] == name and row["method"] == method]
            fit = exponent(sizes, [row["step_us"].median for row in mine])
            fits.append({"shapes": name, "method": method, "exponent": fit})
    notes = (f"Steps of {STEP:g} s; medians of {repeats} (least .. largest).",)
    tables = [
        Table("contacts", "Bodies apart on a plane", _COLUMNS, rows),
        Table("fits", "time ~ bodies ^ exponent", _FITS, fits),
    ]
    return Report("scaling", facts, {"step": STEP, "repeats": repeats, "sizes": list(sizes)}, tables, notes)
