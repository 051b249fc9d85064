"""The drawable scene of a mechanism, independent of the renderer, and pictures and films made of it."""

from __future__ import annotations

from bellcrank.scene.gltf import Motion, write_gltf
from bellcrank.scene.making import of
from bellcrank.scene.mesh import TriangleMesh
from bellcrank.scene.scene import Glyph, Link, Piece, Placed, Scene
from bellcrank.scene.sweeps import Sweep
from bellcrank.scene.view import View, view_of

__all__ = [
    "Glyph",
    "Link",
    "Motion",
    "Piece",
    "Placed",
    "Scene",
    "Sweep",
    "TriangleMesh",
    "View",
    "of",
    "view_of",
    "write_gltf",
]
