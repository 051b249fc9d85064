"""The work accounts of a run: forces, and drives and constraints that move bodies as functions of time."""

from __future__ import annotations

from typing import Final

import numpy as np

from bellcrank.compile.model import ElementRecord, Model

MOVES: Final = "states set"
"""The account of what is brought in where a run is set to another state."""

IMPACTS: Final = "impacts"
"""The account of what impacts on stops do; negative, for they take."""


def force_account(name: str) -> str:
    """The name of a force's account."""
    return f"force {name!r}"


def accounts(model: Model) -> tuple[tuple[str, ...], list[tuple[str, int, int]]]:
    """Names of the accounts in the order of their columns, and what the core adds to each column.

    Forces come first, then drives and constraints whose equations contain the time, "states set" and
    "impacts".
    """
    columns: dict[str, int] = {}
    listed: list[tuple[str, int, int]] = []
    numbers = _numbers(model)
    for force in model.forces:
        column = columns.setdefault(force_account(force.name), len(columns))
        listed += [(of, number, column) for of, number in _parts(force, numbers)]
    for block in _moving_blocks(model):
        column = columns.setdefault(model.block_owner[block], len(columns))
        listed.append(("block", block, column))
    return (*columns, MOVES, IMPACTS), listed


def _numbers(model: Model) -> dict[str, tuple[str, int]]:
    """The core's numbers of forces given by formulas and of contacts, by name."""
    written = [r.name for r in model.custom if r.category == "force" and r.lowered.custom is not None]
    found = {name: ("formula", number) for number, name in enumerate(written)}
    return found | {record.name: ("contact", number) for number, record in enumerate(model.contacts)}


def _parts(force: ElementRecord, numbers: dict[str, tuple[str, int]]) -> list[tuple[str, int]]:
    found = [("law", law) for law in force.laws] + [("wrench", wrench) for wrench in force.wrenches]
    return found + ([numbers[force.name]] if force.name in numbers else [])


def _moving_blocks(model: Model) -> list[int]:
    """Blocks with a function of time, or with a formula that may contain the time."""
    arrays = model.arrays
    moving = np.zeros(len(model.block_owner), dtype=bool)
    moving[model.row_block[np.asarray(arrays["row_function"]) >= 0]] = True
    moving |= np.asarray(arrays.get("block_formula", np.full(len(moving), -1))) >= 0
    return np.flatnonzero(moving & (np.asarray(arrays["block_unilateral"]) == 0)).tolist()
