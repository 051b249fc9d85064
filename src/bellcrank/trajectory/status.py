"""How a run ended."""

from __future__ import annotations


class Status(str):
    """How a run ended: "finished", "interrupted", "running" (from a file without an end), or why it failed.

    message: a sentence for the user; empty if there is none.
    """

    __slots__ = ("message",)
    message: str

    def __new__(cls, state: str, message: str = "") -> Status:
        """A status with its message."""
        status = super().__new__(cls, state)
        status.message = message
        return status
