"""Terrain: ground given by heights over a grid, and grids for slopes, steps, bumps, roads and pictures."""

from __future__ import annotations

import base64
import binascii
import os
import re
import zlib
from collections.abc import Callable, Sequence
from functools import lru_cache
from io import BytesIO
from math import ceil, tan
from os import PathLike
from typing import Any, Final, Literal

import numpy as np

from bellcrank.errors import Fault, MechanismError
from bellcrank.expression.compiled import compile_function
from bellcrank.expression.expression import as_expression, symbol
from bellcrank.expression.reading import read
from bellcrank.mechanism.checking import Check, extents, range_of, required_path
from bellcrank.mechanism.fields import as_tuple, checked, described
from bellcrank.mechanism.given import HeightsField, PairField
from bellcrank.mechanism.mass import MassProperties
from bellcrank.mechanism.shape import Shape
from bellcrank.named_files import content_of

CLASSES: Final = "ABCDEFGH"
REFERENCE: Final = 0.1
"""The spatial frequency n0 at which classes are compared, cycles/m."""
LOWEST, HIGHEST = 0.011, 2.83
"""Spatial frequencies between which roads are classified, cycles/m."""


def density_of(roughness_class: str, n: np.ndarray) -> np.ndarray:
    """One-sided spectral density of displacement, m^3, at spatial frequencies n, cycles/m.

    The geometric mean of the class, with waviness 2: Gd(n) = Gd(n0) (n / n0)^-2 and Gd(n0) = 16e-6 m^3 in
    class A, four times as much in each next one. Source: ISO 8608:2016, tables A.1 and C.1.
    """
    at_reference = 16e-6 * 4.0 ** CLASSES.index(roughness_class)
    return np.asarray(at_reference * (n / REFERENCE) ** -2.0)


def frequencies(count: int, spacing: float) -> np.ndarray:
    """Multiples of 1 / (count spacing) that the standard classifies, below half the sampling rate."""
    every = np.arange(1, (count + 1) // 2) / (count * spacing)
    return every[(every >= LOWEST) & (every <= HIGHEST)]


def profile(roughness_class: str, count: int, spacing: float, seed: int) -> np.ndarray:
    """Heights (count,), m, at a spacing, m: waves of the class's power with phases drawn from a seed.

    Each wave of frequency n has the amplitude sqrt(2 Gd(n) dn), dn = 1 / (count spacing); the profile
    repeats itself after its end. Source: Shinozuka & Jan, J. Sound Vib. 25 (1972) 111-128, section 2.
    """
    n = frequencies(count, spacing)
    step = 1.0 / (count * spacing)
    phases = np.random.default_rng(seed).uniform(0.0, 2.0 * np.pi, len(n))
    waves = np.zeros(count // 2 + 1, dtype=complex)
    places = np.rint(n / step).astype(int)
    waves[places] = 0.5 * count * np.sqrt(2.0 * density_of(roughness_class, n) * step) * np.exp(1j * phases)
    return np.asarray(np.fft.irfft(waves, count))


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
        raise MechanismError.of(element, rule, advice=advice) from error
    try:
        content = content_of(path, element, LARGEST)
        with Image.open(BytesIO(content), formats=KINDS) as image:
            _judge(image, content, element, most)
            return _grey(image)
    except MechanismError:
        raise
    except Image.UnidentifiedImageError as error:
        rule = f"the file is no picture of the kinds {', '.join(KINDS)}"
        raise MechanismError.of(element, rule, str(path), "save it as PNG") from error
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        raise MechanismError(_too_large(element, most, str(path))) from error
    except Exception as error:
        raise MechanismError.of(element, f"the file cannot be read ({error})", str(path)) from error


def _judge(image: Any, content: bytes, element: str, most: int) -> None:
    """Raise MechanismError for a picture that must not be decoded."""
    width, height = image.size
    packing = image.info.get("compression", "raw") if image.format == "TIFF" else "raw"
    if width * height > most:
        raise MechanismError(_too_large(element, most, f"{width} x {height}"))
    if image.mode not in (*_MODES, *_DEEP) and not (image.mode == "I" and image.format == "PNG"):
        rule, advice = "a picture may have 8 or 16 bits a colour", "save it as PNG"
        raise MechanismError.of(element, rule, f"pixels of kind {image.mode!r}", advice)
    if packing not in _PACKINGS:
        raise MechanismError.of(element, "this compression is not read", packing, "save it as PNG")
    if image.format == "JPEG" and content.count(_SCAN) > _SCANS:
        rule = f"a picture may have {_SCANS} scans"
        raise MechanismError.of(element, rule, content.count(_SCAN), "save it as PNG")


def _too_large(element: str, most: int, value: str) -> Fault:
    return Fault(element, f"a picture may have {most} samples", value, "scale it down")


def _grey(image: Any) -> np.ndarray:
    if image.mode == "I" or image.mode in _DEEP:
        return np.asarray(image, dtype=np.float64) / 65535.0
    if image.mode in ("1", "L"):
        return np.asarray(image.convert("L"), dtype=np.float64) / 255.0
    colours = np.asarray(image.convert("RGB"))
    return np.asarray(colours.mean(axis=-1, dtype=np.float64) / 255.0)


MOST: Final = 4_000_000
"""Samples that a terrain may have."""
_FEW: Final = 256  # samples that files show as numbers
_HEAD: Final = re.compile(r"(\d{1,7}) x (\d{1,7}): ")


class _Unreadable(ValueError):
    """A text that holds no heights."""


def checked_heights(check: Check, name: str, value: Any) -> Any:
    """The stored form of heights (rows, columns); their faults are noted."""
    stand_in = ((0.0, 0.0), (0.0, 0.0))
    if isinstance(value, str):
        try:
            rows = unpacked(value)
        except _Unreadable as error:
            shown = value if len(value) < 60 else f"{value[:60]}..."
            check.fault(f"{name} must be numbers, or a packed text: {error}", shown, "save the file anew")
            return stand_in
    else:
        shape = extents(value)
        if len(shape) == 2 and not _counts(check, name, *shape):
            return stand_in
        if len(shape) == 2 and _holes(check, name, np.asarray(value)):
            return stand_in
        noted = len(check.faults)
        rows = check.array(name, value, (None, None), "m")
        if len(check.faults) > noted:
            return stand_in
    if not _counts(check, name, *rows.shape):
        return stand_in
    if _holes(check, name, rows):
        return stand_in
    if np.max(np.abs(rows)) > range_of("m").most:
        check.fault(f"{name} must lie within {range_of('m').most:g} m", float(np.max(np.abs(rows))))
        return stand_in
    return as_tuple(rows) if rows.size <= _FEW else packed(rows)


def _counts(check: Check, name: str, rows: int, columns: int) -> bool:
    if rows < 2 or columns < 2:
        check.fault(f"{name} must have at least 2 rows and 2 columns", (rows, columns))
    elif rows * columns > MOST:
        rule = f"{name} must have at most {MOST} samples"
        check.fault(rule, f"{rows} x {columns}", "take a larger spacing, or several terrains")
    else:
        return True
    return False


def _holes(check: Check, name: str, rows: np.ndarray) -> bool:
    """Whether heights are missing, which is noted with the place of the first one."""
    if rows.dtype.kind != "f" or np.all(np.isfinite(rows)):
        return False
    missing = np.argwhere(~np.isfinite(rows))
    j, i = missing[0].tolist()
    count = f"{len(missing)} heights, the first" if len(missing) > 1 else "the height"
    check.fault(f"{name} must be finite", float(rows[j, i]), f"{count} in row {j}, column {i}, from 0 on")
    return True


def packed(rows: np.ndarray) -> str:
    """Heights (rows, columns) as a text."""
    size = np.ascontiguousarray(rows, dtype="<f8")
    planes = np.ascontiguousarray(size.view(np.uint8).reshape(-1, 8).T)  # alike bytes together
    text = base64.b64encode(zlib.compress(planes.tobytes(), 9)).decode()
    return f"{rows.shape[0]} x {rows.shape[1]}: {text}"


@lru_cache(maxsize=8)
def unpacked(text: str) -> np.ndarray:
    """Heights (rows, columns) from a text, not to be written to. Raises ValueError for any other text."""
    head = _HEAD.match(text)
    if head is None:
        raise _Unreadable('it must start as "rows x columns: "')
    shape = int(head[1]), int(head[2])
    size = 8 * shape[0] * shape[1]
    if size > 8 * MOST:
        raise _Unreadable(f"there must be at most {MOST} samples")
    try:
        unpacker = zlib.decompressobj()
        data = unpacker.decompress(base64.b64decode(text[head.end() :], validate=True), size + 1)
    except (binascii.Error, ValueError, zlib.error) as error:
        raise _Unreadable("it is damaged") from error
    if len(data) != size or not unpacker.eof:
        raise _Unreadable(f"it does not hold {shape[0]} x {shape[1]} numbers")
    planes = np.frombuffer(data, dtype=np.uint8).reshape(8, -1)
    rows = np.ascontiguousarray(planes.T).view("<f8").reshape(shape).astype(float)
    rows.flags.writeable = False
    return rows


RoadClass = Literal["A", "B", "C", "D", "E", "F", "G", "H"]
_END: Final = 1e-9  # part of a spacing by which the last sample may miss the end


def _pair(check: Check, name: str, value: Any) -> tuple[float, float]:
    x, y = check.array(name, value, (2,), "m").tolist()
    return (x, y)


def _spacing(check: Check, name: str, value: Any) -> tuple[float, float]:
    single = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    noted = len(check.faults)
    found = _pair(check, name, (value, value) if single else value)
    if len(check.faults) == noted:
        check.positive(name, min(found), "m")
    return found


@described
class Terrain(Shape):
    """All that lies below heights over a grid of its x and y axes, z up: ground, a road, stairs.

    heights: (ny, nx), m, row by row along y; a row runs along x. 2 x 2 samples at least, 4e6 at most.
    spacing: between samples along x and y, m; one number for both. origin: x and y of the first sample, m.

    Each cell is two triangles, split from its corner of least x and y to that of greatest x and y. Beyond the
    edges nothing supports bodies. It has no bottom, and so it cannot have a density. Files store more than
    256 heights as a packed text.

    >>> step = bc.Terrain([[0, 0, 0.1, 0.1], [0, 0, 0.1, 0.1]], spacing=(0.5, 1.0))
    >>> step.x.tolist()    # m
    [0.0, 0.5, 1.0, 1.5]
    >>> ground = cube.replace(cube.ground, shapes=[step])
    >>> ground.shapes[0].samples.shape
    (2, 4)
    """

    heights: HeightsField = checked(checked_heights, "m")
    spacing: PairField = checked(_spacing, "m", parametric=True)
    origin: PairField = checked(_pair, "m", default=(0.0, 0.0), parametric=True)

    def _judge(self, check: Check) -> None:
        if self.density is not None:
            check.fault("a terrain has no bottom, and so no mass", self.density, "leave the density out")

    def volume_properties(self) -> MassProperties:
        """Refused: a terrain has no bottom."""
        raise ValueError("a terrain has no mass")

    def __repr__(self) -> str:
        ny, nx = self.samples.shape
        return f"Terrain({ny} x {nx} heights, spacing={self.spacing}, origin={self.origin})"

    @property
    def samples(self) -> np.ndarray:
        """The heights as an array (ny, nx), m, not to be written to."""
        stored: Any = self.heights
        if isinstance(stored, str):
            return unpacked(stored)
        rows = np.array(stored)
        rows.flags.writeable = False
        return rows

    @property
    def x(self) -> np.ndarray:
        """The x positions of the columns, (nx,), m."""
        return np.asarray(self.origin[0] + self.spacing[0] * np.arange(self.samples.shape[1]))

    @property
    def y(self) -> np.ndarray:
        """The y positions of the rows, (ny,), m."""
        return np.asarray(self.origin[1] + self.spacing[1] * np.arange(self.samples.shape[0]))

    @classmethod
    def from_function(
        cls,
        function: Callable[[np.ndarray, np.ndarray], Any] | str,
        size: Sequence[float],
        spacing: float,
        **others: Any,
    ) -> Terrain:
        """Heights from a function of x and y, centred about the origin.

        function: takes arrays x and y (ny, nx), m, and returns heights, m; or an expression in x and y as
            text. size: lengths along x and y, m, which are rounded up to whole spacings. others: fields of
            the shape.

        >>> hill = bc.Terrain.from_function("0.2 * x**2", size=(2.0, 1.0), spacing=0.5)
        >>> hill.samples[0].tolist()    # m, at x = -1, -0.5, 0, 0.5, 1
        [0.2, 0.05, 0.0, 0.05, 0.2]
        """
        x, y = _grid("Terrain.from_function", size, spacing)
        across, along = np.meshgrid(x, y)
        found = _of_text(function, across, along) if isinstance(function, str) else function(across, along)
        return cls._made(_broadcast("Terrain.from_function", found, across.shape), x, y, spacing, others)

    @classmethod
    def from_image(
        cls, path: str | PathLike[str], size: Sequence[float], height: float, **others: Any
    ) -> Terrain:
        """Heights from the brightness of a picture: black is 0, white is `height`, m.

        size: lengths along x and y, m, centred about the origin; the picture's upper edge lies at the largest
        y. PNG, JPEG, TIFF or BMP, of 100 MB and 4e6 samples at most, 8 or 16 bits a colour. Needs Pillow
        (extra `plot`). Raises MechanismError without it and for files of other kinds, too large or damaged.

        >>> from PIL import Image
        >>> Image.fromarray(np.array([[0, 255], [0, 255]], dtype=np.uint8)).save("slope.png")
        >>> bc.Terrain.from_image("slope.png", size=(1.0, 1.0), height=0.3).samples[0].tolist()
        [0.0, 0.3]
        """
        with Check("Terrain.from_image") as check:
            lengths = _sizes(check, size)
            height = check.number("height", height, "m")
        grey = brightness(required_path("Terrain.from_image", path), "Terrain.from_image", MOST)
        spacing = (lengths[0] / max(grey.shape[1] - 1, 1), lengths[1] / max(grey.shape[0] - 1, 1))
        fields = {"origin": (-0.5 * lengths[0], -0.5 * lengths[1]), **others}
        return cls(heights=height * grey[::-1], spacing=spacing, **fields)

    @classmethod
    def ramp(cls, angle: float, length: float, width: float, **others: Any) -> Terrain:
        """A slope along x: level for x < 0 and beyond the length, m, each for as long; angle: rad.

        >>> ramp = bc.Terrain.ramp(bc.quantity("30 deg"), length=2.0, width=1.0)
        >>> print(f"{np.ptp(ramp.samples):.6f} m, by hand {2 * np.tan(np.pi / 6):.6f} m")
        1.154701 m, by hand 1.154701 m
        """
        with Check("Terrain.ramp") as check:
            angle = check.number("angle", angle, "rad")
            length = check.positive("length", length, "m")
            width = check.positive("width", width, "m")
            if abs(angle) > 1.5:
                check.fault("angle must lie between -1.5 and 1.5 rad", angle)
        row = np.array([0.0, 0.0, 1.0, 1.0]) * length * tan(angle)
        return cls._swept(row, length, -length, width, others)

    @classmethod
    def steps(
        cls, count: int, rise: float, run: float, width: float, *, samples: int = 20, **others: Any
    ) -> Terrain:
        """Stairs along x, the first at x = 0; level before it for as long as a step.

        rise, run: height and depth of each step, m; a negative rise goes down. samples: per run; a step rises
        over one of them, since height fields have no vertical faces.

        >>> stairs = bc.Terrain.steps(count=5, rise=0.17, run=0.29, width=1.0)
        >>> print(f"{stairs.samples.max():.2f} m")    # five rises
        0.85 m
        """
        with Check("Terrain.steps") as check:
            count = check.integer("count", count, 1)
            rise = check.number("rise", rise, "m")
            run, width = check.positive("run", run, "m"), check.positive("width", width, "m")
            samples = check.integer("samples", samples, 2)
            _count(check, (count + 1) * samples + 1, 2)
        level = np.clip((np.arange((count + 1) * samples + 1) - 1) // samples, 0, count)
        return cls._swept(rise * level, run / samples, -run, width, others)

    @classmethod
    def bumps(
        cls,
        height: float,
        wavelength: float,
        size: Sequence[float],
        spacing: float,
        *,
        across: float | None = None,
        **others: Any,
    ) -> Terrain:
        """Cosine bumps: z = height (1 - cos(2 pi x / wavelength)) / 2, centred about the origin.

        across: a wavelength along y, m, for egg-box bumps; None for bumps that are even along y.

        >>> road = bc.Terrain.bumps(0.05, wavelength=1.0, size=(2.0, 1.0), spacing=0.25)
        >>> road.samples[0].round(4).tolist()    # m, from x = -1 on
        [0.0, 0.025, 0.05, 0.025, 0.0, 0.025, 0.05, 0.025, 0.0]
        """
        with Check("Terrain.bumps") as check:
            height = check.number("height", height, "m")
            wavelength = check.positive("wavelength", wavelength, "m")
            if across is not None:
                across = check.positive("across", across, "m")
        x, y = _grid("Terrain.bumps", size, spacing)
        row = 0.5 * height * (1.0 - np.cos(2.0 * np.pi * x / wavelength))
        column = np.ones_like(y) if across is None else 0.5 * (1.0 - np.cos(2.0 * np.pi * y / across))
        return cls._made(np.outer(column, row), x, y, spacing, others)

    @classmethod
    def road(
        cls,
        roughness_class: RoadClass,
        length: float,
        width: float,
        spacing: float = 0.05,
        *,
        seed: int = 0,
        **others: Any,
    ) -> Terrain:
        """A rough road along x from 0 on, of a class from "A" (very good) to "H" by ISO 8608.

        It is even along y: both tracks of a vehicle run over the same profile, which repeats itself after the
        length. Waves are those from 0.011 to 2.83 cycles/m that fit the length and the spacing (roads
        shorter than 91 m lack the longest ones). seed: of the phases; the same seed gives the same road.

        >>> smooth, rough = (bc.Terrain.road(name, length=100.0, width=2.0) for name in "AC")
        >>> print(f"{rough.samples.std() / smooth.samples.std():.2f}")    # two classes: 4 times the amplitude
        4.00
        """
        with Check("Terrain.road") as check:
            check.choice("roughness_class", roughness_class, CLASSES)
            length, width = check.positive("length", length, "m"), check.positive("width", width, "m")
            spacing, seed = check.positive("spacing", spacing, "m"), check.integer("seed", seed, 0)
            _count(check, length / spacing + 1.0, 2)
            check.faults.raise_any()
            count = max(ceil(length / spacing - _END), 1)
            if len(frequencies(count, spacing)) == 0:
                advice = "take a longer road or a smaller spacing"
                check.fault(
                    "no wave of the standard fits the length and the spacing", (length, spacing), advice
                )
        row = profile(roughness_class, count, spacing, seed)
        return cls._swept(np.append(row, row[0]), spacing, 0.0, width, others)

    @classmethod
    def _swept(
        cls, row: np.ndarray, spacing: float, start: float, width: float, others: dict[str, Any]
    ) -> Terrain:
        """The same heights all along y."""
        fields = {"origin": (start, -0.5 * width), **others}
        return cls(heights=np.stack([row, row]), spacing=(spacing, width), **fields)

    @classmethod
    def _made(
        cls, heights: np.ndarray, x: np.ndarray, y: np.ndarray, spacing: float, others: dict[str, Any]
    ) -> Terrain:
        fields = {"origin": (float(x[0]), float(y[0])), **others}
        return cls(heights=heights, spacing=(spacing, spacing), **fields)


def _sizes(check: Check, size: Any) -> tuple[float, float]:
    noted = len(check.faults)
    found = _pair(check, "size", size)
    if len(check.faults) == noted and min(found) <= 0.0:
        check.fault("size must be greater than zero", found, "give lengths along x and y in m")
    return found


def _count(check: Check, columns: float, rows: float) -> None:
    """Note more samples than a terrain may have, before they are made."""
    if columns * rows > MOST:
        advice = "take a larger spacing, or several terrains"
        check.fault(f"there must be at most {MOST} samples", f"{columns * rows:.4g}", advice)


def _grid(element: str, size: Any, spacing: Any) -> tuple[np.ndarray, np.ndarray]:
    """Places of samples along x and y, centred."""
    with Check(element) as check:
        lengths, step = _sizes(check, size), check.positive("spacing", spacing, "m")
        check.faults.raise_any()
        _count(check, lengths[0] / step + 1.0, lengths[1] / step + 1.0)
    counts = [max(ceil(length / step - _END), 1) for length in lengths]
    x, y = (step * (np.arange(count + 1) - 0.5 * count) for count in counts)
    return x, y


def _broadcast(element: str, found: Any, shape: tuple[int, ...]) -> np.ndarray:
    try:
        return np.broadcast_to(np.asarray(found, dtype=float), shape)
    except (TypeError, ValueError) as error:
        rule = f"the function must return heights of the shape {shape} of x and y"
        raise MechanismError.of(element, rule, np.shape(found)) from error


def _of_text(text: str, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """An expression in x and y at many places."""
    symbols = {name: symbol(name) for name in "xy"}
    formula = as_expression(read(text, symbols, "Terrain.from_function"))
    function = compile_function(formula, list(symbols.values()), native=False)
    return np.asarray(function(np.column_stack([x.ravel(), y.ravel()]))).reshape(x.shape)
