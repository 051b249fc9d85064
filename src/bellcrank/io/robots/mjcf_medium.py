"""The medium of an MJCF model: drag on every body as on the box that has its mass and inertia.

The force on a body, in its principal axes at its centre of mass, is that of MuJoCo's inertia model: with the
edges b of the box, its mean edge d, density ρ, viscosity β, velocity v relative to the wind and angular
velocity ω,

    F_i = −½ ρ b_j b_k |v_i| v_i − 3 π d β v_i,    M_i = −(ρ/64) b_i (b_j⁴ + b_k⁴) |ω_i| ω_i − π d³ β ω_i.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import atan2, cos, pi, sin
from typing import Any, Final

import numpy as np

from bellcrank.io.robots.builder import Builder
from bellcrank.io.robots.mjcf_document import Document
from bellcrank.io.robots.skeleton import GROUND, Link, Pose, Skeleton
from bellcrank.io.robots.xml_tree import Element
from bellcrank.mechanism.checking import Quat
from bellcrank.mechanism.formulas import CustomForce, EndPose
from bellcrank.mechanism.mass import MassProperties
from bellcrank.mechanism.rotation import IDENTITY, from_matrix, matrix

_SMALL: Final = 1e-15  # as MuJoCo bounds moments of the box
_SWEEPS: Final = 60
_ZERO: Final = 1e-12


class Medium:
    """The medium of a document, and the masses of the file's bodies that it acts on.

    frames: the axes in which the file gives the inertia of a link, where they are not the link's own.
    """

    def __init__(self, document: Document, skeleton: Skeleton, frames: Mapping[Link, Quat]) -> None:
        self.frames = frames
        self.source = document.source
        self.density, self.viscosity, self.wind = 0.0, 0.0, (0.0, 0.0, 0.0)
        for at in document.all("option"):
            self.density = document.number(at, at.attributes, "density", self.density)
            self.viscosity = document.number(at, at.attributes, "viscosity", self.viscosity)
            self.wind = document.vector(at, at.attributes, "wind", self.wind)
        acts = (self.density > 0.0 or self.viscosity > 0.0) and "passive" not in document.disabled
        links = [link for link in skeleton.links.values() if acts and link.name != GROUND]
        self.bodies = [(link, part) for link in links for part in link.masses if part.mass > 0.0]

    def add(self, builder: Builder) -> None:
        """Add the drag on every moving body."""
        for link, mass in self.bodies:
            group, at = builder.group(link.name), link.at
            if group is None or group.is_ground or at is None:
                continue
            shaped = [one for one in _geoms(at) if dict.get(one.given, "fluidshape") == "ellipsoid"]
            if shaped:
                rule = "forces of the medium on ellipsoids are not taken"
                self.source.leave(shaped[0], f"body {link.name!r}", rule, moves=True)
            else:
                self._drag(builder, at, link, mass)

    def _drag(self, builder: Builder, at: Element, link: Link, mass: MassProperties) -> None:
        moments, axes = _principal(mass.inertia, matrix(self.frames.get(link, IDENTITY)))
        box = np.sqrt(6.0 * np.maximum(moments.sum() - 2.0 * moments, _SMALL) / mass.mass)
        x, y, z = mass.com.tolist()
        marker = builder.on(link.name, Pose((x, y, z), from_matrix(axes)))
        mean, density = float(box.mean()), self.density
        others = [(1, 2), (2, 0), (0, 1)]
        areas = [0.5 * density * box[j] * box[k] for j, k in others]
        spins = [density / 64.0 * box[i] * (box[j] ** 4 + box[k] ** 4) for i, (j, k) in enumerate(others)]
        linear, angular = 3.0 * pi * mean * self.viscosity, pi * mean**3 * self.viscosity

        def drag() -> CustomForce:
            body = EndPose("body")
            force = _along(body, body.velocity - self.wind, areas, linear)
            return CustomForce(
                (body,), force=force, moment=_along(body, body.angular_velocity, spins, angular)
            )

        builder.force(at, f"{link.name} medium", drag, marker)


def _geoms(at: Element) -> list[Element]:
    """The geoms of a body."""
    found = list(at.all("geom"))
    for frame in at.all("frame"):
        found += _geoms(frame)
    return found


def _principal(inertia: np.ndarray, axes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Moments and axes of an inertia, by Jacobi's rotations from given axes.

    Where moments are equal, their axes are not determined, and the drag depends on them: MuJoCo keeps those
    of the file.
    """
    for _ in range(_SWEEPS):
        turned = axes.T @ inertia @ axes
        off = np.abs(np.triu(turned, 1))
        i, j = np.unravel_index(int(off.argmax()), (3, 3))
        if off[i, j] <= _ZERO * np.abs(turned).max():
            break
        angle = 0.5 * atan2(2.0 * turned[i, j], turned[i, i] - turned[j, j])
        turn = np.eye(3)
        turn[i, i] = turn[j, j] = cos(angle)
        turn[j, i], turn[i, j] = sin(angle), -sin(angle)
        axes = axes @ turn
    return np.diag(axes.T @ inertia @ axes), axes


def _along(body: EndPose, rate: Any, quadratic: list[float], linear: float) -> Any:
    """The sum over the marker's axes of −(quadratic |rate| + linear) rate."""
    parts = []
    for axis, factor in zip((body.x_axis, body.y_axis, body.z_axis), quadratic, strict=True):
        component = axis.dot(rate)
        parts.append(axis * (-(float(factor) * abs(component) + linear) * component))
    return parts[0] + parts[1] + parts[2]
