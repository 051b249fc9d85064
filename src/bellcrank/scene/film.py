"""Films: a sequence of pictures as an MP4 (PyAV, extra `video`) or a GIF (Pillow, extra `plot`)."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bellcrank.errors import Fault, MechanismError, Unsupported
from bellcrank.whole_files import whole_file, write_whole

Pixels: TypeAlias = NDArray[np.uint8]

SUFFIXES: Final = (".mp4", ".gif")
_QUALITY: Final = "20"  # constant rate factor of x264 at which lines stay clean
_PRESET: Final = "veryfast"  # of x264: files a tenth larger than by "medium", in a third of the time
_COLORS: Final = 128


@dataclass(frozen=True, repr=False)
class Film:
    """A film, which notebooks play. kind: ".mp4" or ".gif". data: the content of such a file."""

    kind: str
    data: bytes

    def __repr__(self) -> str:
        return f"<film, {self.kind[1:]}, {len(self.data) / 1e6:.2g} MB>"

    def save(self, path: str | Path) -> None:
        """Write it into a file. Raises MechanismError for another suffix than its kind."""
        if Path(path).suffix.lower() != self.kind:
            raise MechanismError(
                Fault(f"file '{path}'", f"the film is a {self.kind}", None, "end its name so")
            )
        write_whole(path, self.data)

    def _repr_html_(self) -> str:
        data = b64encode(self.data).decode("ascii")
        if self.kind == ".gif":
            return f'<img alt="film of a run" src="data:image/gif;base64,{data}"/>'
        source = f"data:video/mp4;base64,{data}"
        return f'<video controls loop autoplay muted style="max-width:100%" src="{source}"></video>'


def kind_for_notebooks() -> str:
    """The kind of film that can be made here: MP4 if PyAV is installed, else GIF."""
    return ".mp4" if find_spec("av") is not None else ".gif"


def check_film(path: str | Path) -> None:
    """Raise MechanismError for another suffix, Unsupported if the package that writes it is missing."""
    suffix = Path(path).suffix.lower()
    if suffix not in SUFFIXES:
        advice = f"end its name in one of {', '.join(SUFFIXES)}"
        raise MechanismError(Fault(f"file '{path}'", "this kind of film is not known", None, advice))
    module, name, extra = ("av", "PyAV", "video") if suffix == ".mp4" else ("PIL", "Pillow", "plot")
    try:
        import_module(module)
    except ModuleNotFoundError as error:
        raise Unsupported(
            f"{suffix[1:].upper()} films need {name}: pip install 'bellcrank[{extra}]'"
        ) from error


def write_film(
    path: str | Path, pictures: Iterable[Pixels], fps: float, colors: Sequence[Sequence[float]] = ()
) -> None:
    """Write opaque pictures (h, w, 4) of one even size; the path appears once the film is complete.

    fps: pictures per second. colors: red, green, blue, 0 to 1, which a GIF keeps even if few pixels or few
        pictures have them.
    """
    with whole_file(path) as draft:
        if Path(path).suffix.lower() == ".mp4":
            _write_mp4(draft, pictures, fps)
        else:
            _write_gif(draft, pictures, fps, colors)


def _write_mp4(path: Path, pictures: Iterable[Pixels], fps: float) -> None:
    """Write H.264 in the colours that all players show, with the index in front to allow streaming."""
    import av

    rate = Fraction(fps).limit_denominator(1001)
    with av.open(str(path), "w", format="mp4", options={"movflags": "+faststart"}) as container:
        stream: Any = None
        for picture in pictures:
            if stream is None:
                stream = container.add_stream(
                    "libx264", rate=rate, options={"crf": _QUALITY, "preset": _PRESET}
                )
                stream.height, stream.width = picture.shape[:2]
                stream.pix_fmt = "yuv420p"
            frame = av.VideoFrame.from_ndarray(picture, format="rgba")
            container.mux(stream.encode(frame))
        if stream is not None:
            container.mux(stream.encode(None))


def _write_gif(path: Path, pictures: Iterable[Pixels], fps: float, kept: Sequence[Sequence[float]]) -> None:
    """Write a GIF that loops; its palette is that of some pictures spread over the film."""
    from PIL import Image

    images = [Image.fromarray(picture).convert("RGB") for picture in pictures]
    if not images:
        return
    some = images[:: max(1, len(images) // 6)][:8]
    strip = Image.new("RGB", (some[0].width, some[0].height * len(some)))
    for number, image in enumerate(some):
        strip.paste(image, (0, number * image.height))
    palette = strip.quantize(_COLORS, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
    colors = np.reshape(palette.getpalette(), (-1, 3))
    colors[colors.min(axis=1) > 248] = 255  # or the background would be tinted like the lightest shadows
    kept = [[round(255.0 * part) for part in color] for color in kept]
    palette.putpalette([*colors.ravel().tolist(), *(part for color in kept for part in color)])
    flat = [image.quantize(palette=palette, dither=Image.Dither.NONE) for image in images]
    shown: dict[str, Any] = {"duration": 1000.0 / fps, "loop": 0, "optimize": False}
    flat[0].save(path, format="GIF", save_all=True, append_images=flat[1:], **shown)
