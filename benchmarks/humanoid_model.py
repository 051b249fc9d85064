"""Humanoid of 31 degrees of freedom in MJCF: 25 hinges with armatures, capsules, spheres and flat feet."""

from __future__ import annotations

from typing import Final

_FLOOR: Final = '<geom type="plane" size="9 9 1" contype="0" conaffinity="1" friction="0.7"/>'


def text(step: float) -> str:
    """The model, upright just above a floor; its bodies touch the floor but not each other. step: s."""
    limbs = "".join(_leg(name, y) for name, y in (("left", 0.1), ("right", -0.1)))
    torso = (
        '<body name="torso" pos="0 0 0.12">'
        + _hinges("waist", "0 0 1", "0 1 0", "1 0 0")
        + _capsule(0.1, "0 -0.06 0.2 0 0.06 0.2")
        + _capsule(0.09, "0 -0.05 0.05 0 0.05 0.05")
        + '<body name="head" pos="0 0 0.42">'
        + _hinges("neck", "0 1 0", "0 0 1")
        + _geom("sphere", "0.1", pos="0 0 0.1")
        + "</body>"
        + _arm("left", 1)
        + _arm("right", -1)
        + "</body>"
    )
    hips = _capsule(0.09, "0 -0.07 0 0 0.07 0")
    pelvis = f'<body name="pelvis" pos="0 0 1"><freejoint/>{hips}{limbs}{torso}</body>'
    option = f'<option timestep="{step!r}" cone="elliptic"/>'
    return f"<mujoco>{option}<worldbody>{_FLOOR}{pelvis}</worldbody></mujoco>"


def _leg(name: str, y: float) -> str:
    return (
        f'<body name="{name} thigh" pos="0 {y} -0.12">'
        + _hinges(f"{name} hip", "1 0 0", "0 0 1", "0 1 0")
        + _capsule(0.06, "0 0 0 0 0 -0.34")
        + f'<body name="{name} shank" pos="0 0 -0.42">'
        + _hinges(f"{name} knee", "0 1 0")
        + _capsule(0.05, "0 0 0 0 0 -0.3")
        + f'<body name="{name} foot" pos="0 0 -0.4">'
        + _hinges(f"{name} ankle", "0 1 0", "1 0 0")
        + _geom("box", "0.12 0.045 0.025", pos="0.05 0 -0.03")
        + "</body></body></body>"
    )


def _arm(name: str, side: int) -> str:
    out = 0.02 * side
    return (
        f'<body name="{name} arm" pos="0 {0.2 * side} 0.3">'
        + _hinges(f"{name} shoulder", "0 1 0", "1 0 0", "0 0 1")
        + _capsule(0.04, f"0 0 0 0 {out} -0.25")
        + f'<body name="{name} forearm" pos="0 {out} -0.29">'
        + _hinges(f"{name} elbow", "0 1 0")
        + _capsule(0.035, "0 0 0 0 0 -0.22")
        + _geom("sphere", "0.045", pos="0 0 -0.27")
        + "</body></body>"
    )


def _hinges(name: str, *axes: str) -> str:
    return "".join(
        f'<joint name="{name} {k + 1}" type="hinge" axis="{axis}" damping="0.2" armature="0.01"/>'
        for k, axis in enumerate(axes)
    )


def _capsule(radius: float, ends: str) -> str:
    return _geom("capsule", repr(radius), fromto=ends)


def _geom(kind: str, size: str, **place: str) -> str:
    where = " ".join(f'{name}="{value}"' for name, value in place.items())
    friction = 'density="1000" contype="1" conaffinity="0" friction="0.7"'
    return f'<geom type="{kind}" size="{size}" {where} {friction}/>'
