"""What results with friction that holds leave open, in words."""

from __future__ import annotations

from bellcrank.compile.model import Model
from bellcrank.formulations.preparing import prepare

_FREE = "free what is redundant there, or take formulation='lagrange' with planar=True for a planar motion"


def friction_notes(model: Model) -> tuple[str, ...]:
    """Whose friction depends on how redundant rows share a load, and whose a drive bears, at the start."""
    if not model.friction_rows:
        return ()
    names = {law: force.name for force in model.forces for law in force.laws if law in model.friction_rows}
    return (*_shared(model, names), *_driven(model, names))


def _shared(model: Model, names: dict[int, str]) -> list[str]:
    if not model.arrays.get("friction_loads"):
        return []
    alike: dict[tuple[str, ...], list[str]] = {}
    for law, rows in prepare(model, "lagrange").core.shared_friction():
        owners = dict.fromkeys(model.block_owner[model.row_block[row]] for row in rows)
        alike.setdefault(tuple(owners), []).append(names[law])
    return [
        f"friction of {_listed(frictions)} depends on how {', '.join(owners)} share their load, which "
        f"nothing determines: of all shares that of least norm is taken; {_FREE}"
        for owners, frictions in alike.items()
    ]


def _driven(model: Model, names: dict[int, str]) -> list[str]:
    along = model.arrays["law_coordinate"]
    found = []
    for drive in model.drives:
        rows = [row for block in drive.blocks for row in model.rows_of(block)]
        led = {c for row in rows for c, _ in model.terms(row)}
        borne = [name for law, name in names.items() if int(along[law]) in led]
        if borne:
            found.append(
                f"friction of {_listed(borne)} is borne by drive {drive.name!r}, which moves its coordinate: "
                "where that stands still, how they share is open"
            )
    return found


def _listed(names: list[str]) -> str:
    return ", ".join(map(repr, names))
