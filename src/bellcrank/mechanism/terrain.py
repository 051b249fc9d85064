"""Terrain: ground given by heights over a grid, and grids for slopes, steps, bumps, roads and images."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import ceil, tan
from os import PathLike
from typing import Any, Final, Literal

import numpy as np

from bellcrank.errors import Fault, MechanismError
from bellcrank.expression.compiled import compile_function
from bellcrank.expression.expression import as_expression, symbol
from bellcrank.expression.reading import read
from bellcrank.mechanism import roads
from bellcrank.mechanism.arguments import required_path
from bellcrank.mechanism.checking import Check
from bellcrank.mechanism.fields import checked, described
from bellcrank.mechanism.given import HeightsField, PairField
from bellcrank.mechanism.height_texts import MOST, checked_heights, unpacked
from bellcrank.mechanism.mass import MassProperties
from bellcrank.mechanism.pictures import brightness
from bellcrank.mechanism.shape import Shape

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
        """A slope along x: level for x < 0 and beyond the length, m, each for as long; angle: rad."""
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
        """
        with Check("Terrain.road") as check:
            check.choice("roughness_class", roughness_class, roads.CLASSES)
            length, width = check.positive("length", length, "m"), check.positive("width", width, "m")
            spacing, seed = check.positive("spacing", spacing, "m"), check.integer("seed", seed, 0)
            _count(check, length / spacing + 1.0, 2)
            check.faults.raise_any()
            count = max(ceil(length / spacing - _END), 1)
            if len(roads.frequencies(count, spacing)) == 0:
                advice = "take a longer road or a smaller spacing"
                check.fault(
                    "no wave of the standard fits the length and the spacing", (length, spacing), advice
                )
        row = roads.profile(roughness_class, count, spacing, seed)
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
        raise MechanismError(Fault(element, rule, np.shape(found))) from error


def _of_text(text: str, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """An expression in x and y at many places."""
    symbols = {name: symbol(name) for name in "xy"}
    formula = as_expression(read(text, symbols, "Terrain.from_function"))
    function = compile_function(formula, list(symbols.values()), native=False)
    return np.asarray(function(np.column_stack([x.ravel(), y.ravel()]))).reshape(x.shape)
