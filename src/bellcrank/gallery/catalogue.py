"""What the gallery holds, in groups."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import bellcrank as bc

_GROUPS: Final = {
    "Plane linkages": (
        "four_bar", "slider_crank", "spring_slider_crank", "n_four_bar", "andrews_squeezer", "ladder", "ring",
    ),
    "Linkages in space": ("bricard_linkage", "flyball_governor", "free_ring"),
    "Robots": (
        "stewart_platform", "rr_arm", "puma560", "prosthetic_shoulder", "prosthetic_arm", "random_tree",
    ),
    "Parts that touch": (
        "geneva_drive", "cam_and_follower", "ratchet_winch", "spur_gears", "arch", "rimless_wheel",
        "compass_walker",
    ),
    "Compliant mechanisms": ("cross_spring_pivot", "flexure_four_bar", "bistable_snap", "gripper"),
    "Vehicles": ("benchmark_bicycle", "man_on_bicycle"),
    "Crowds": ("crowd", "chain_mail"),
    "Molecules": ("peptide",),
    "Pendulums and tops": ("simple_pendulum", "double_pendulum", "chain", "heavy_top", "free_body"),
}  # fmt: skip


def groups() -> dict[str, tuple[str, ...]]:
    """The names of the gallery's mechanisms by group, each name that of a function of `bellcrank.gallery`."""
    return dict(_GROUPS)


def catalogue() -> dict[str, Callable[..., bc.Mechanism]]:
    """The gallery's mechanisms: functions by name, in alphabetical order.

    Each can be called without arguments and returns a new, closed mechanism at its start; its docstring says
    what the mechanism is, its parameters with units, its degrees of freedom and the source.
    """
    names = sorted(name for group in _GROUPS.values() for name in group)
    return {name: getattr(bc.gallery, name) for name in names}
