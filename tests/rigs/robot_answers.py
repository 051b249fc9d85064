"""What another program says about the bodies of a model: masses, states, accelerations, and their inputs."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

import bellcrank as bc

SPREAD = 0.6  # of random coordinates, rad or m


@dataclass
class Answer:
    """Of one body: mass, com and inertia about it in the body's frame; pose, twist and acceleration there."""

    mass: float
    com: np.ndarray
    inertia: np.ndarray
    position: np.ndarray
    rotation: tuple
    velocity: np.ndarray
    spin: np.ndarray
    acceleration: np.ndarray
    angular: np.ndarray


@dataclass
class Answers(dict):
    """Answers by the names of bodies.

    inputs: of the mechanism, at which they are given. start: position and rotation by body as the file has
    them, where it does not contradict itself. lost: bodies with a mass that no body of the mechanism has.
    """

    inputs: dict = field(default_factory=dict)
    start: dict = field(default_factory=dict)
    lost: list = field(default_factory=list)


def inputs_of(mech):
    """The names of a mechanism's inputs."""
    known = all(body.mass_known for body in mech.bodies.values())
    return {*bc.prepare(mech, "recursive").inputs} if mech.bodies and known else set()


def listed(mech, rule):
    """The names of elements that are listed as left out by a rule."""
    return [[*fault.element.split("'"), ""][1] for fault in mech.left_out if rule in fault.rule]
