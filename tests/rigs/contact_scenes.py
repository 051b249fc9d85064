"""Scenes in which bodies touch."""

import json
from pathlib import Path

import numpy as np

import bellcrank as bc
from bellcrank.trajectory.store import MemoryStore

DATA = Path(__file__).parents[1] / "reference" / "data"
G = 9.81


def reference(name):
    """Trusted values of a problem."""
    return json.loads((DATA / f"{name}.json").read_text())


def floor(mech, name, contact, *bodies):
    """A plane z = 0 on the ground that touches bodies."""
    mech.replace(mech.ground, shapes=[bc.Plane()])
    mech.add_force(name, contact, *bodies, "ground")


def ball(position, velocity=(0.0, 0.0, 0.0), spin=(0.0, 0.0, 0.0), *, mass=0.17, radius=0.028575, gravity=G):
    """A mechanism of one ball."""
    mech = bc.Mechanism("ball", gravity=(0.0, 0.0, -gravity))
    mech.add_body(
        "ball",
        mass=mass,
        inertia=[0.4 * mass * radius**2] * 3,
        shapes=[bc.Sphere(radius=radius)],
        position=position,
        velocity=velocity,
        angular_velocity=spin,
    )
    return mech


def block(angle, contact, *, velocity=0.0, mass=1.0, height=0.1):
    """A block on an incline, x down the slope, at its depth of rest."""
    slope = np.radians(angle)
    mech = bc.Mechanism("block", gravity=(G * np.sin(slope), 0.0, -G * np.cos(slope)))
    depth = mass * G * np.cos(slope) / (4 * contact.stiffness)  # four corners
    mech.add_body(
        "block",
        mass=mass,
        shapes=[bc.Box(size=(0.4, 0.3, height), density=1.0)],
        position=(0.0, 0.0, 0.5 * height - depth),
        velocity=(velocity, 0.0, 0.0),
    )
    floor(mech, "floor", contact, "block")
    return mech


def forged(run, part, factor):
    """The checks that a run fails where a field of its points, or an axis of it, is off by a factor."""
    wrong = np.array(run.store.contacts)
    field, *axis = part
    wrong[field][(..., *axis)] *= factor
    sections = {name: run.store.read(name) for name in run.layout.shapes}
    copy = bc.Trajectory(
        run.layout, MemoryStore(sections, wrong), mechanism=run.origin, statistics=dict(run.statistics)
    )
    return {found.name for found in bc.verify(copy).checks if not found.passed}


def stepped(mech, duration, step, **options):
    """A run by impulses that passes the judge."""
    run = bc.simulate(mech, duration, method="moreau", step=step, **{"output_step": step} | options)
    assert bc.verify(run)
    return run
