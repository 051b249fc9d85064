"""The replies of commands: text for people, data for programs, and errors as both."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bellcrank.errors import AssemblyError, MechanismError, SimulationError


@dataclass(frozen=True)
class Reply:
    """The reply of a command: text for people (may be empty), data for programs. ok: it was carried out."""

    text: str = ""
    data: Mapping[str, Any] = field(default_factory=dict)
    ok: bool = True
    leave: bool = False

    def as_json(self, line: str | None) -> str:
        """One JSON object on one line; numbers that are not finite become null."""
        kind = "result" if self.ok else "error"
        told = {"ok": self.ok, "command": line, kind: dict(self.data), "text": self.text}
        return json.dumps(_plain(told), ensure_ascii=False, allow_nan=False)


def failure(error: Exception) -> Reply:
    """The reply for a refused command."""
    data: dict[str, Any] = {"type": type(error).__name__, "message": str(error)}
    if isinstance(error, MechanismError):
        data["faults"] = [
            {"element": f.element, "rule": f.rule, "value": _shown(f.value), "advice": f.advice}
            for f in error.faults
        ]
    elif isinstance(error, AssemblyError):
        data["violations"] = [{"element": name, "violation": left} for name, left in error.violations]
    elif isinstance(error, SimulationError):
        data |= {"time": error.time, "body": error.body, "row": error.row}
    return Reply(str(error), data, ok=False)


def _shown(value: object) -> Any:
    return value if value is None or isinstance(value, (bool, int, float, str)) else repr(value)


def _plain(value: Any) -> Any:
    """The value converted to the types of JSON."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, (bool, int, str)) or value is None:
        return str(value) if isinstance(value, str) else value
    if isinstance(value, (float, np.floating)):
        return float(value) if np.isfinite(value) else None
    return str(value)
