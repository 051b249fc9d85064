"""What type checkers know as arguments are those that there are."""

import inspect
from dataclasses import fields

import bellcrank as bc
from bellcrank.formulations.contract import FormulationOptions
from bellcrank.formulations.preparing import FORMULATIONS, formulation_module
from bellcrank.run.simulate import AdaptiveArguments, DynamicArguments, QuasistaticArguments

TAKEN = {name for name in inspect.signature(bc.simulate).parameters if name not in ("mechanism", "duration")}


def test_options_of_formulations():
    known = {item.name for name in FORMULATIONS for item in fields(formulation_module(name).OPTIONS)}
    assert set(FormulationOptions.__annotations__) == known


def test_arguments_of_simulate():
    dynamic = set(DynamicArguments.__annotations__) - set(FormulationOptions.__annotations__)
    quasistatic = set(QuasistaticArguments.__annotations__)
    adaptive = set(AdaptiveArguments.__annotations__)
    assert dynamic | quasistatic | adaptive == TAKEN - {"options", "mode", "rule"}
    assert quasistatic - dynamic == {"max_error", "measure"}
    assert adaptive - dynamic == {"max_error", "measure", "max_loss", "max_joints", "max_error_of"}
