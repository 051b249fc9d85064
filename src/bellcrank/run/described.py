"""The model that a run starts from."""

from __future__ import annotations

from bellcrank.compile.compile import compile_mechanism
from bellcrank.compile.model import Model
from bellcrank.mechanism.collisions import refuse_left_out
from bellcrank.mechanism.mechanism import Mechanism


def described(mechanism: Mechanism | Model, start: float, left_out: str) -> Model:
    """The model in its initial configuration at a time, s.

    Raises MechanismError for a mechanism without what moves or weighs in its file, unless that is allowed.
    """
    if isinstance(mechanism, Mechanism):
        refuse_left_out(mechanism, left_out)
    model = mechanism if isinstance(mechanism, Model) else compile_mechanism(mechanism, start)
    if model.initial.time != start:
        model = model.starting(model.initial.at_time(start), model.given)
    return model
