"""Mechanisms by parameters: benchmark problems of the literature and families of any size.

All functions return a new `Mechanism`, which may be changed further. Benchmarks, examples and tests share
them; each docstring gives the source, the names of bodies and joints, and the units.
"""

from bellcrank.bench.generators.andrews import ANDREWS, AndrewsData, andrews
from bellcrank.bench.generators.arms import DhLink, dh_arm, lead, rr_arm
from bellcrank.bench.generators.flyball import flyball
from bellcrank.bench.generators.four_bars import n_four_bar
from bellcrank.bench.generators.pendulums import Link, link_chain, point_pendulum
from bellcrank.bench.generators.puma import PUMA_560, puma560
from bellcrank.bench.generators.random_trees import TOPOLOGIES, random_tree
from bellcrank.bench.generators.rings import chain, free_ring, ladder, polyline, ring
from bellcrank.bench.generators.slider_cranks import slider_crank, spring_slider_crank
from bellcrank.bench.generators.spatial_loops import bricard
from bellcrank.bench.generators.tops import free_body, heavy_top
from bellcrank.bench.generators.trees import FREEDOMS, POSITIONS, TreeBody, TreeJoint, tree

__all__ = [
    "ANDREWS",
    "FREEDOMS",
    "POSITIONS",
    "PUMA_560",
    "TOPOLOGIES",
    "AndrewsData",
    "DhLink",
    "Link",
    "TreeBody",
    "TreeJoint",
    "andrews",
    "bricard",
    "chain",
    "dh_arm",
    "flyball",
    "free_body",
    "free_ring",
    "heavy_top",
    "ladder",
    "lead",
    "link_chain",
    "n_four_bar",
    "point_pendulum",
    "polyline",
    "puma560",
    "random_tree",
    "ring",
    "rr_arm",
    "slider_crank",
    "spring_slider_crank",
    "tree",
]
