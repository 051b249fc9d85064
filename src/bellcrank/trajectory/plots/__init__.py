"""Figures of a run, ready for a report. They need matplotlib (extra `plot`)."""

from __future__ import annotations

from bellcrank.trajectory.plots.figure import plot

__all__ = ["plot"]
