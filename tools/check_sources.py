"""Check what no other tool does: that C++ includes go by layer.

An ``#include "../…"`` would pass by the include paths that keep the layers of cpp/ apart, and is an error.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
UPWARD_INCLUDE = re.compile(r'^\s*#\s*include\s*"[^"]*\.\./')


def main() -> int:
    """Print the includes that leave their folder by a relative path; return 1 if there are any."""
    errors = [
        f'{path.relative_to(ROOT)}:{number}: write the include as "folder/header.hpp"'
        for folder in ("cpp", "bindings")
        for path in sorted((ROOT / folder).rglob("*.[ch]*"))
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if UPWARD_INCLUDE.match(line)
    ]
    for error in errors:
        print(f"error: {error}", file=sys.stderr)
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
