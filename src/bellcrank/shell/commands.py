"""The table of all commands."""

from __future__ import annotations

from typing import Final

from bellcrank.shell import assembly, bodies, clock, elements, files, forces, general, links
from bellcrank.shell.language import Command

COMMANDS: Final[dict[str, Command]] = {
    command.name: command
    for module in (bodies, links, forces, clock, elements, files, assembly, general)
    for command in module.COMMANDS
}
"""Every command by name, in the order of the help."""
