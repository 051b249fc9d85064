"""Light on the stage, and the sky behind it."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from bellcrank.assembly.state import Floats
from bellcrank.scene.scene import Scene
from bellcrank.scene.view import view_of

_SKY: Final = {False: ((252, 253, 254), (229, 234, 240)), True: ((38, 42, 48), (22, 24, 28))}


def light(page: Any, scene: Scene, size: float) -> None:
    """Add light from the sky and from two lamps, one of which casts shadows on the floor.

    page: of viser, on which a scene is shown. size: of the mechanism on the page.
    """
    view, up = view_of(scene), np.asarray(scene.up)
    page.configure_environment_map(None)
    page.configure_default_lights(enabled=False)
    page.add_light_hemisphere("/light/sky", ground_color=(190, 186, 180), intensity=0.85, wxyz=from_z_to(up))
    lamps = {
        "key": (1.6 * up + 0.9 * view.toward - 0.6 * view.right, 1.35),
        "fill": (0.3 * up + 1.0 * view.toward + 0.9 * view.right, 0.4),
    }
    for name, (way, strength) in lamps.items():
        place = 4.0 * size * way / np.linalg.norm(way)
        page.add_light_directional(
            f"/light/{name}",
            intensity=strength,
            cast_shadow=name == "key",
            position=tuple(place.tolist()),
        )


def sky(dark: bool) -> Any:
    """The background colours, from top to bottom."""
    above, below = np.array(_SKY[dark])
    rows = above + np.linspace(0.0, 1.0, 64)[:, None, None] * (below - above)
    return np.broadcast_to(rows, (64, 4, 3)).astype(np.uint8)


def from_z_to(way: Floats) -> Floats:
    """The quaternion (w, x, y, z) that turns z into a unit vector."""
    x, y, z = way
    if z < -1.0 + 1e-9:
        return np.array([0.0, 1.0, 0.0, 0.0])
    q = np.array([1.0 + z, -y, x, 0.0])
    turn: Floats = q / np.linalg.norm(q)
    return turn
