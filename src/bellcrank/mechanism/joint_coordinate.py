"""References to coordinates of joints."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class JointCoordinate:
    """A reference to a coordinate of a joint: the joint's name, and the coordinate's name or number.

    coordinate: None means the joint's only free coordinate.
    """

    joint: str
    coordinate: str | int | None = None

    def __str__(self) -> str:
        return self.joint if self.coordinate is None else f"{self.joint}.{self.coordinate}"
