"""The table of all commands."""

from __future__ import annotations

from typing import Final

from bellcrank.shell import assembly, bodies, clock, elements, files, forces, general, links
from bellcrank.shell.language import Command

COMMANDS: Final[dict[str, Command]] = {
    command.name: command
    for module in (elements, clock, assembly, files, general, bodies, links, forces)
    for command in module.COMMANDS
}
"""Every command by name, in the order of the help: plain words before those of the Virtual Erector Set."""
