"""A molecule that was not chosen by its results: a random coil of a protein's backbone with side chains."""

from __future__ import annotations

from math import pi

import numpy as np

from bellcrank.gallery.peptide import NAMES, peptide_residues
from bellcrank.io.protein import backbone
from benchmarks.adaptive_linkages import HingeTree, no_loads, relative_poses

FORCE = 100.0
"""kJ/(mol nm), 166 pN: the size of each component of a force."""


def protein(joints: int = 50_000, seed: int = 0) -> HingeTree:
    """A floating chain with the given number of torsions, in nm, u and ps.

    Residues and torsions are random and unbiased, and nothing else was to be chosen: lengths, masses and
    inertias are those of atoms.
    """
    rng = np.random.default_rng(seed)
    residues = joints * 6 // 11 + joints // 50 + 8  # the phi of one residue in six is in a ring
    letters = "".join(rng.choice(list(NAMES), residues))
    phi, psi = rng.uniform(-pi, pi, (2, residues)).tolist()
    mech = backbone("protein", [peptide_residues(letters, phi, psi)], shapes=False)
    bodies = list(mech.bodies.values())[: joints + 1]
    numbers = {body.name: number for number, body in enumerate(bodies)}
    carriers = {joint.marker_2.body: joint.marker_1.body for joint in mech.joints.values()}
    parent = np.array([numbers[carriers[b.name]] if b.name in carriers else -1 for b in bodies])
    place, turn = (np.array([getattr(b, name) for b in bodies]) for name in ("position", "rotation"))
    position, rotation = relative_poses(parent, place, turn)
    mass, com, inertia = (np.array([getattr(b, name) for b in bodies]) for name in ("mass", "com", "inertia"))
    return HingeTree("protein", parent, position, rotation, mass, com, inertia, no_loads(), floats=True)


def anywhere(linkage: HingeTree, count: int, seed: int = 0) -> HingeTree:
    """The linkage with forces on randomly selected bodies."""
    rng = np.random.default_rng(seed)
    bodies = rng.permutation(len(linkage.mass))[:count]
    return linkage.loaded(bodies, FORCE * rng.normal(size=(count, 3)))
