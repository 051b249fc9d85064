"""Print what pyproject.toml requires, one a line: for the build, the package and the extras named."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path


def main(extras: list[str]) -> None:
    """Print the requirements.

    Args:
        extras: names under ``[project.optional-dependencies]``.
    """
    root = Path(__file__).resolve().parent.parent
    config = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    project = config["project"]
    lists = [config["build-system"]["requires"], project["dependencies"]]
    lists += [project["optional-dependencies"][extra] for extra in extras]
    print("\n".join(dict.fromkeys(requirement for group in lists for requirement in group)))


if __name__ == "__main__":
    main(sys.argv[1:])
