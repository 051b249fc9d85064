"""Pictures on pages are those that the snippets beside them make."""

import contextlib
import io
import re
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from PIL import Image

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    "page",
    [
        "README.md",
        "docs/guide/12-pictures-and-films.md",
        "docs/guide/18-ten-mechanisms.md",
        "docs/guide/20-sweeps.md",
        "docs/guide/21-optimization.md",
        "docs/guide/22-fitting.md",
        "docs/guide/27-contact.md",
    ],
)
def test_the_pictures_are_made_by_the_snippets_beside_them(page, tmp_path, monkeypatch):
    mpl.use("Agg")
    text = (ROOT / page).read_text()
    shown = [(ROOT / page).parent / path for path in re.findall(r"!\[[^]]*\]\(([\w./-]+\.png)\)", text)]
    assert shown
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "__main__"}
    with contextlib.redirect_stdout(io.StringIO()):
        for code in re.findall(r"```python\n(.*?)```", text, re.DOTALL):
            exec(code, names)
    plt.close("all")
    for path in shown:
        with Image.open(tmp_path / path.name) as one, Image.open(path) as two:
            assert one.size == two.size
            made, kept = (np.asarray(image.convert("RGB"), float) for image in (one, two))
        assert np.abs(made - kept).mean() < 0.5, f"draw {path.name} anew: run the snippets of the page"
