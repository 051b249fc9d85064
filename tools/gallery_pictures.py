"""Draw the mechanisms of the gallery into docs/img/gallery: all, or those that are named as arguments."""

from __future__ import annotations

import sys
from io import BytesIO
from pathlib import Path
from typing import Any, Final

import matplotlib as mpl
from PIL import Image

import bellcrank as bc

FOLDER: Final = Path(__file__).resolve().parent.parent / "docs" / "img" / "gallery"
SIZE: Final = (3.4, 2.7)  # inches
DPI: Final = 140
COLOURS: Final = 200  # of the palette, which keeps the files small
POSTURE: Final = bc.gallery.Posture(flexion=0.6, abduction=0.5, elbow=1.0, wrist=0.2)
SHOWN: Final[dict[str, dict[str, Any]]] = {
    "prosthetic_shoulder": {"posture": POSTURE},
    "prosthetic_arm": {"posture": POSTURE},
    "chain": {"angle": -0.5},
    "compass_walker": {"steps": 4},
    "random_tree": {"types": ("revolute", "universal", "spherical")},
}
"""Arguments of mechanisms that are not drawn as they are by default."""
LARGEST: Final = 30_000  # bytes of a picture


def small(figure: Any, path: Path) -> None:
    """The picture with few colours, as a small file."""
    whole = BytesIO()
    figure.savefig(whole, dpi=DPI, metadata={"Software": None})
    with Image.open(whole) as picture:
        picture.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE).save(path, optimize=True)


def main() -> int:
    """Write the pictures; 1 if one is larger than what a page should carry."""
    mpl.use("Agg")
    FOLDER.mkdir(parents=True, exist_ok=True)
    status = 0
    for name, make in bc.gallery.catalogue().items():
        if sys.argv[1:] and name not in sys.argv[1:]:
            continue
        path = FOLDER / f"{name}.png"
        figure = make(**SHOWN.get(name, {})).draw(path, size=SIZE, dpi=DPI)
        small(figure, path)
        size = path.stat().st_size
        print(f"{path.name}: {size / 1e3:.1f} kB")
        status |= size > LARGEST
    return status


if __name__ == "__main__":
    sys.exit(main())
