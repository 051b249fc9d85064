"""Inputs and settings of a live engine, changed by whoever asks for it."""

from __future__ import annotations

from collections.abc import Mapping

from bellcrank.viewer.engine import LiveEngine
from bellcrank.viewer.settings import Settings


def steer(engine: LiveEngine, values: Mapping[str, float]) -> None:
    """Give inputs other values; unknown ones are ignored."""
    values = {name: value for name, value in values.items() if engine.values.get(name, value) != value}
    if not values:
        return
    engine.from_shown().inputs.update(values)
    engine.values.update(values)
    if engine.status != "playing":
        engine.note_again()


def switch(engine: LiveEngine, settings: Settings) -> None:
    """Continue with other settings."""
    if engine.open:
        engine.settings = settings
    else:
        what = f"formulation {settings.formulation!r}, method {settings.method!r}"
        engine.change(what, settings=settings)
