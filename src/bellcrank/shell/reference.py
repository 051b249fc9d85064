"""The commands as Markdown, for the page of the guide."""

from __future__ import annotations

from bellcrank.shell.commands import COMMANDS
from bellcrank.shell.language import Command


def command_table() -> str:
    """All commands by group: usage, meaning, options, an example."""
    parts: list[str] = []
    group = ""
    for command in COMMANDS.values():
        if command.group != group:
            group = command.group
            parts.append(f"### {group}\n\n")
        parts.append(_entry(command))
    return "".join(parts)


def _entry(command: Command) -> str:
    head = " ".join([command.name, *(argument.usage for argument in command.arguments)])
    head += f" [{command.fields}]" if command.fields else ""
    lines = [f"`{head}`  ", command.meaning]
    if command.options:
        lines += ["", *(f"- `{option.usage}` {option.meaning}" for option in command.options), ""]
    else:
        lines[-1] += "  "
    return "\n".join([*lines, f"Example: `{command.example}`"]) + "\n\n"
