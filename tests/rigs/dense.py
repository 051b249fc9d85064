"""The module of the formulation in dense_lagrange.cpp."""

from dataclasses import dataclass

from rigs.compiled import need_rigs

from bellcrank import _core
from bellcrank.formulations.contract import ALL, whole
from bellcrank.formulations.system import System

NAME = "dense"
CUSTOM = ALL
SYSTEM = System
reduced = whole


@dataclass(frozen=True)
class OPTIONS:
    """There are none."""


def refusals(model):
    """Why it cannot take a model: stops and conditions of velocities would hold as equations of positions."""
    stops = ["it takes no stops"] * bool(model.arrays["block_unilateral"].any())
    return stops + ["it takes no conditions of velocities"] * bool(model.core.velocity_rows)


def create(model, _options):
    """The core's system of a model."""
    need_rigs()
    return _core.DenseLagrange(model.core)
