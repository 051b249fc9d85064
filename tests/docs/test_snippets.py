"""Everything in the documentation that looks like code is run; what it prints and draws is compared.

The blocks of a page run in order, in one namespace and one temporary folder. By the words after the fence:

    python               is executed
    python error         must raise one of the package's errors, which is then its output
    yaml NAME            is written to the file NAME; a mechanism in it must load
    yaml NAME error      the same for a mechanism that must not load
    pdb NAME             the same for a protein
    c NAME               is written to the file NAME
    sh                   is run by bash with the package's command on the path; of `make TARGET` only what it
                         would do is asked for, in the checkout
    cpp                  is compiled against cpp/, without linking
    text output          is compared with what the block before it printed; `...` stands for anything
    text                 is not looked at (formulae, diagrams, trees of files)
"""

import contextlib
import doctest
import io
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from PIL import Image

import bellcrank as bc
from bellcrank.errors import BellcrankError
from bellcrank.solids.meshes import signals_kept

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / name for name in ("README.md", "ARCHITECTURE.md", "CONVENTIONS.md", "CONTRIBUTING.md")]
PAGES += sorted((ROOT / "docs").rglob("*.md"))
PICTURED = [ROOT / "README.md"]
PICTURED += [
    ROOT / "docs" / "guide" / f"{name}.md"
    for name in (
        "06-inverse-dynamics",
        "12-pictures-and-films",
        "18-ten-mechanisms",
        "20-sweeps",
        "21-optimization",
        "22-fitting",
        "23-linearization",
        "25-statics",
        "26-a-hand-on-a-path",
        "27-contact",
        "29-sensitivities",
        "30-identification",
        "32-section-loads",
        "33-sensors",
        "34-actuators",
        "35-a-hoist",
        "37-cam-with-spring",
        "36-parts-that-break",
        "38-a-designers-tasks",
        "39-a-cantilever",
        "42-flexures",
        "41-a-bracket",
    )
]
NEEDED = {
    ROOT / "docs" / "guide" / "31-other-optimizers.md": ("jax", "casadi"),
    ROOT / "docs" / "guide" / "41-a-bracket.md": ("scipy", "skfem", "meshio", "gmsh"),
}
PARTLY_PICTURED = [  # others are drawn by examples
    ROOT / "docs" / "guide" / f"{name}.md" for name in ("24-modes", "28-tyres-and-a-rider", "prosthetic-arm")
]
assert {*PICTURED, *PARTLY_PICTURED, *NEEDED} <= set(PAGES)
FENCE = re.compile(r"^(?P<fence>`{3,})(?P<info>.*)$")
EIGEN = Path(sysconfig.get_path("purelib")) / "cmeel.prefix/include/eigen3"
OUTPUT = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@dataclass(frozen=True)
class Block:
    """A fenced block. line: of its first line of text, from 1."""

    info: tuple[str, ...]
    text: str
    line: int


def blocks(page):
    """The fenced blocks of a page."""
    found, opened = [], None
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), start=1):
        fence = FENCE.match(line)
        if opened is None and fence:
            opened = (fence["fence"], tuple(fence["info"].split()), number + 1, [])
        elif opened and line.strip() == opened[0]:
            found.append(Block(opened[1], "\n".join(opened[3]) + "\n", opened[2]))
            opened = None
        elif opened:
            opened[3].append(line)
    assert opened is None, f"{page}: a block is not closed"
    return found


class Session:
    """Runs the blocks of one page and remembers what the last one printed."""

    def __init__(self, page, folder):
        self.page = page
        self.folder = folder
        self.names = {"__name__": "__main__"}
        self.printed = ""

    def run(self, block):
        kind = block.info[0] if block.info else ""
        handler = getattr(self, f"run_{kind}", None)
        assert handler is not None, (
            f"{self.at(block)}: what is a block of {' '.join(block.info) or 'nothing'}?"
        )
        handler(block)

    def at(self, block):
        return f"{self.page.relative_to(ROOT)}:{block.line}"

    def run_python(self, block):
        code = compile("\n" * (block.line - 1) + block.text, str(self.page), "exec")
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            if block.info[1:] == ("error",):
                with pytest.raises(BellcrankError) as raised:
                    exec(code, self.names)
                out.write(f"{raised.type.__name__}: {raised.value}\n")
            else:
                assert not block.info[1:], self.at(block)
                exec(code, self.names)
        self.printed = out.getvalue()

    def run_yaml(self, block):
        assert len(block.info) >= 2, f"{self.at(block)}: name the file after the word yaml"
        path = self.folder / block.info[1]
        path.write_text(block.text, encoding="utf-8")
        if block.info[2:] == ("error",):
            with pytest.raises(BellcrankError) as raised:
                bc.load(path.name)
            self.printed = f"{raised.type.__name__}: {raised.value}\n"
        else:
            assert not block.info[2:], self.at(block)
            bc.load(path)

    run_pdb = run_yaml

    def run_c(self, block):
        _, name = block.info
        (self.folder / name).write_text(block.text, encoding="utf-8")

    def run_sh(self, block):
        lines = [line for line in block.text.splitlines() if line.strip()]
        if all(line.startswith("make") for line in lines):
            for line in lines:
                done = subprocess.run(
                    ["make", "-n", *line.split("#")[0].split()[1:]],
                    cwd=ROOT, capture_output=True, text=True, check=False,
                )  # fmt: skip
                assert done.returncode == 0, f"{self.at(block)}: {line}\n{done.stderr}"
            return
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", block.text],
            cwd=self.folder, env=os.environ | {"PATH": path, "COLUMNS": "110"},
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, f"{self.at(block)}\n{done.stdout}{done.stderr}"
        self.printed = done.stdout

    def run_cpp(self, block):
        compiler = shutil.which("c++") or shutil.which("g++")
        if compiler is None:
            pytest.skip("a C++ compiler is not installed")
        done = subprocess.run(
            [compiler, "-std=c++20", "-Wall", "-Werror", "-fsyntax-only", f"-I{ROOT / 'cpp'}", f"-I{EIGEN}",
             "-xc++", "-"],
            input=block.text, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, f"{self.at(block)}\n{done.stderr}"

    def run_text(self, block):
        if block.info[1:] != ("output",):
            assert not block.info[1:], self.at(block)
            return
        if not doctest.OutputChecker().check_output(block.text, self.printed, OUTPUT):
            pytest.fail(f"{self.at(block)}: the page shows\n{block.text}\nbut printed is\n{self.printed}")


@pytest.mark.usefixtures("own_joint_kinds")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_snippets(page, tmp_path, monkeypatch):
    for name in NEEDED.get(page, ()):
        pytest.importorskip(name)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    mpl.use("Agg")
    session = Session(page, tmp_path)
    with signals_kept():  # a page that uses gmsh itself
        for block in blocks(page):
            session.run(block)
    plt.close("all")
    if page in PICTURED + PARTLY_PICTURED:
        check_pictures(page, tmp_path)


def check_pictures(page, folder):
    """The pictures on a page are those that its snippets have drawn, all or, partly pictured, some."""
    shown = re.findall(r"!\[[^]]*\]\(([\w./-]+\.png)\)", page.read_text(encoding="utf-8"))
    if page in PARTLY_PICTURED:
        shown = [path for path in shown if (folder / Path(path).name).exists()]
    assert shown
    for path in map(Path, shown):
        with Image.open(folder / path.name) as one, Image.open(page.parent / path) as two:
            assert one.size == two.size
            made, kept = (np.asarray(image.convert("RGB"), float) for image in (one, two))
        assert np.abs(made - kept).mean() < 0.5, f"draw {path.name} anew: run the snippets of the page"


def test_what_must_fail_fails(tmp_path, monkeypatch):
    """The runner itself: wrong output, an error that does not come, unknown blocks."""
    monkeypatch.chdir(tmp_path)
    session = Session(PAGES[0], tmp_path)
    session.run(Block(("python",), "print(1.5)\n", 1))
    session.run(Block(("text", "output"), "1...\n", 1))
    with pytest.raises(pytest.fail.Exception):
        session.run(Block(("text", "output"), "2.5\n", 1))
    with pytest.raises(pytest.fail.Exception):
        session.run(Block(("python", "error"), "x = 1\n", 1))
    for wrong in (Block((), "x", 1), Block(("yaml",), "a: 1", 1), Block(("sh",), "false\n", 1)):
        with pytest.raises(AssertionError):
            session.run(wrong)
    with pytest.raises(AssertionError):
        session.run(Block(("sh",), "make no-such-target\n", 1))
