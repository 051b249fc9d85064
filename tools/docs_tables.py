"""Write the tables of kinds into the documentation; `--check` only says whether they are up to date.

The marks in a page are  <!-- table: NAME -->  and  <!-- end of table -->,  each on a line of its own; NAME is
"joints", "constraints", "forces", "coordinates", "commands", "gallery" or one of `bellcrank.io.tables`.
"""

from __future__ import annotations

import inspect
import re
import sys
from pathlib import Path
from typing import Final

import bellcrank as bc
from bellcrank.io.tables import FORMAT_TABLES
from bellcrank.mechanism.tables import constraint_table, coordinate_table, force_table, joint_table
from bellcrank.shell.reference import command_table

ROOT: Final = Path(__file__).resolve().parent.parent


def gallery() -> str:
    """Every mechanism of the gallery by group: its picture and its docstring."""
    functions = bc.gallery.catalogue()
    parts = []
    for group, names in bc.gallery.groups().items():
        parts.append(f"## {group}\n")
        for name in names:
            text = inspect.getdoc(functions[name]) or ""
            parts.append(f"### {name}\n\n![{name}](img/gallery/{name}.png)\n\n{text}\n")
    return "\n".join(parts)


TABLES: Final = {
    "joints": joint_table,
    "constraints": constraint_table,
    "forces": force_table,
    "coordinates": coordinate_table,
    "commands": command_table,
    "gallery": gallery,
    **FORMAT_TABLES,
}
MARKED: Final = re.compile(
    r"(?P<head>^<!-- table: (?P<name>\w+) -->\n).*?(?P<tail>^<!-- end of table -->$)", re.M | re.S
)


def filled(text: str) -> str:
    """The text of a page with its tables as they are now. Raises KeyError for a table that does not exist."""
    return MARKED.sub(lambda mark: f"{mark['head']}\n{TABLES[mark['name']]()}\n{mark['tail']}", text)


def main() -> int:
    """Write or check all pages; 1 if a page was not up to date under --check."""
    stale = []
    for page in sorted((ROOT / "docs").rglob("*.md")):
        text = page.read_text(encoding="utf-8")
        wanted = filled(text)
        if wanted != text:
            stale.append(page.relative_to(ROOT))
            if "--check" not in sys.argv:
                page.write_text(wanted, encoding="utf-8")
    for name in stale:
        print(f"{name}: its tables {'are not up to date' if '--check' in sys.argv else 'were written'}")
    return 1 if stale and "--check" in sys.argv else 0


if __name__ == "__main__":
    sys.exit(main())
