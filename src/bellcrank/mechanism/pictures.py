"""Pictures as arrays of brightness. Kind and size are judged by the head of a file, before it is decoded."""

from __future__ import annotations

import os
from io import BytesIO
from typing import Any, Final

import numpy as np

from bellcrank.errors import Fault, MechanismError
from bellcrank.named_files import content_of

KINDS: Final = ("PNG", "JPEG", "TIFF", "BMP")
"""The kinds of pictures that are read, by their contents."""
LARGEST: Final = 100_000_000
"""How many bytes a picture may have."""
_MODES: Final = ("1", "L", "LA", "P", "PA", "RGB", "RGBA", "RGBX", "CMYK", "YCbCr", "La", "RGBa")
_DEEP: Final = ("I;16", "I;16L", "I;16B", "I;16N")
_SCANS: Final = 100  # of a JPEG picture, each of which costs as much as a picture that has only one
_SCAN: Final = b"\xff\xda"
_PACKINGS: Final = ("raw", "tiff_lzw", "tiff_adobe_deflate", "tiff_deflate", "packbits")


def brightness(path: str | os.PathLike[str], element: str, most: int) -> np.ndarray:
    """Brightness (rows, columns) from 0 to 1 of a picture, its upper row first: the mean of its colours.

    most: samples that it may have. Raises MechanismError about the element for files that are no pictures of
    these kinds, are too large or damaged, or have more than 16 bits a colour; and without the package Pillow.
    """
    try:
        from PIL import Image
    except ImportError as error:
        rule, advice = "reading a picture needs the package Pillow", "pip install 'bellcrank[plot]'"
        raise MechanismError(Fault(element, rule, advice=advice)) from error
    try:
        content = content_of(path, element, LARGEST)
        with Image.open(BytesIO(content), formats=KINDS) as image:
            _judge(image, content, element, most)
            return _grey(image)
    except MechanismError:
        raise
    except Image.UnidentifiedImageError as error:
        rule = f"the file is no picture of the kinds {', '.join(KINDS)}"
        raise MechanismError(Fault(element, rule, str(path), "save it as PNG")) from error
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        raise MechanismError(_too_large(element, most, str(path))) from error
    except Exception as error:
        raise MechanismError(Fault(element, f"the file cannot be read ({error})", str(path))) from error


def _judge(image: Any, content: bytes, element: str, most: int) -> None:
    """Raise MechanismError for a picture that must not be decoded."""
    width, height = image.size
    packing = image.info.get("compression", "raw") if image.format == "TIFF" else "raw"
    if width * height > most:
        raise MechanismError(_too_large(element, most, f"{width} x {height}"))
    if image.mode not in (*_MODES, *_DEEP) and not (image.mode == "I" and image.format == "PNG"):
        rule, advice = "a picture may have 8 or 16 bits a colour", "save it as PNG"
        raise MechanismError(Fault(element, rule, f"pixels of kind {image.mode!r}", advice))
    if packing not in _PACKINGS:
        raise MechanismError(Fault(element, "this compression is not read", packing, "save it as PNG"))
    if image.format == "JPEG" and content.count(_SCAN) > _SCANS:
        rule = f"a picture may have {_SCANS} scans"
        raise MechanismError(Fault(element, rule, content.count(_SCAN), "save it as PNG"))


def _too_large(element: str, most: int, value: str) -> Fault:
    return Fault(element, f"a picture may have {most} samples", value, "scale it down")


def _grey(image: Any) -> np.ndarray:
    if image.mode == "I" or image.mode in _DEEP:
        return np.asarray(image, dtype=np.float64) / 65535.0
    if image.mode in ("1", "L"):
        return np.asarray(image.convert("L"), dtype=np.float64) / 255.0
    colours = np.asarray(image.convert("RGB"))
    return np.asarray(colours.mean(axis=-1, dtype=np.float64) / 255.0)
