"""The command `bellcrank`."""

from bellcrank.cli.main import main

__all__ = ["main"]
