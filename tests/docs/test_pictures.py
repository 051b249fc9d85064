"""The picture at the head of the README is the one that the snippet beside it makes."""

import contextlib
import io
import re
from pathlib import Path

import matplotlib as mpl
import numpy as np
from PIL import Image

ROOT = Path(__file__).parents[2]


def test_the_headline_picture_is_made_by_the_snippet(tmp_path, monkeypatch):
    mpl.use("Agg")
    text = (ROOT / "README.md").read_text()
    (shown,) = re.findall(r"!\[[^]]*\]\((docs/img/[\w-]+\.png)\)", text)
    code = re.search(r"```python\n(.*?)```", text, re.DOTALL).group(1)
    monkeypatch.chdir(tmp_path)
    with contextlib.redirect_stdout(io.StringIO()):
        exec(code, {"__name__": "__main__"})
    made = tmp_path / Path(shown).name
    with Image.open(made) as one, Image.open(ROOT / shown) as two:
        assert one.size == two.size
        difference = np.abs(np.asarray(one.convert("RGB"), float) - np.asarray(two.convert("RGB"), float))
    assert difference.mean() < 0.5, "draw it anew: run the README's snippet in docs/img"
