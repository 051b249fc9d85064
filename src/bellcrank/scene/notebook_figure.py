"""Figures in notebooks: one that is the result of a cell is shown, and shown once."""

from __future__ import annotations

from io import BytesIO
from typing import Any

from matplotlib.figure import Figure


class NotebookFigure(Figure):
    """A figure that pyplot, if it has it, closes once it has been displayed."""

    def _ipython_display_(self) -> None:
        from importlib import import_module

        from matplotlib import pyplot as plt

        out: Any = BytesIO()
        self.savefig(out, format="png", bbox_inches="tight")
        plt.close(self)
        import_module("IPython.display").display({"image/png": out.getvalue()}, raw=True)
