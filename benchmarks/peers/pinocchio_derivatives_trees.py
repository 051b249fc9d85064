"""Pinocchio on trees of bodies: `aba` beside its derivatives, in a C++ driver on the headers of its wheel."""

# run as scripts, so siblings import by plain name; a checker that sees a package cannot find them
# mypy: disable-error-code="import-not-found,no-any-return"

from __future__ import annotations

from typing import Any

import pinocchio as pin
from pinocchio_trees import executables
from trees import Job, main


def prepare(job: Job) -> dict[str, Any]:
    """See trees.main."""
    if not job.compiles:
        raise SystemExit("there is no compiler")
    return {"version": pin.__version__, "executables": executables(job, "pinocchio_derivatives.cpp")}


if __name__ == "__main__":
    main(prepare, __doc__)
