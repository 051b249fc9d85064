"""`python -m docs_site [FOLDER]`: build the site, by default into build/site; warnings are errors."""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path
from typing import Final

from sphinx.cmd.build import main as sphinx

import bellcrank as bc
from docs_site import notebooks, ready, reference, showcase
from docs_site.pages import GENERATED, ROOT, converted, places, staged, toctree
from docs_site.plots import with_plots

SITE: Final = Path(__file__).with_name("site")
_EXAMPLE: Final = re.compile(r"^## An example\n.*?(?=^## )", re.M | re.S)


def stage(folder: Path) -> None:
    """Write the sources of all pages into a folder."""
    known, offered = places(), notebooks.pages()

    def write(place: str, text: str) -> None:
        (folder / place).parent.mkdir(parents=True, exist_ok=True)
        (folder / place).write_text(text, encoding="utf-8")

    for path, place in known.items():
        if path not in GENERATED:
            text = staged(path, known)
            if ROOT / path in offered:
                notebook = f"{Path(path).stem}.ipynb"
                write(f"{Path(place).parent}/{notebook}", notebooks.written(ROOT / path))
                text = text.replace("\n", f"\n\n{{download}}`As a notebook <{notebook}>`\n", 1)
            write(place, with_plots(text, folder / "plots", "plots") if place == "benchmarks.md" else text)
    groups = reference.collected()
    links = reference.links_to(groups)
    for group in groups.values():
        write(f"reference/{group.place}.md", reference.page(group, links))
    for name, make in bc.gallery.catalogue().items():
        write(f"gallery/{name}.md", showcase.gallery_page(name, make))
    write("gallery/index.md", showcase.gallery_index())
    write("examples.md", showcase.examples_page())
    write("decisions/index.md", _decisions(known))
    write("index.md", _landing(known))
    write("reference/index.md", _reference_index(groups))
    shutil.copytree(ROOT / "docs" / "img", folder / "img", dirs_exist_ok=True)


def _landing(known: dict[str, str]) -> str:
    """The first page, with the example of the README."""
    example = _EXAMPLE.search((ROOT / "README.md").read_text(encoding="utf-8"))
    assert example is not None
    text = (SITE / "index.md").read_text(encoding="utf-8")
    shown = converted(example[0], "README.md", "index.md", known)
    return text.replace("<!-- the example of the README -->", shown)


def _decisions(known: dict[str, str]) -> str:
    pages = [path for path in known if path.startswith("docs/decisions/")]
    about = "Choices that had alternatives: what was taken, what was rejected, and what was measured."
    return f"# Decisions\n\n{about}\n\n" + toctree([Path(path).stem for path in pages], hidden=False)


def _reference_index(groups: dict[str, reference.Group]) -> str:
    lines = ["# Reference\n", "The public names of `import bellcrank as bc`, from docstrings and types.\n"]
    lines += [f"- [{group.title}]({group.place}.md): {group.about}" for group in groups.values()]
    lines += [f"\n{ready.INTRODUCTION}\n\n```python\n{ready.shown()}```\n"]
    lines += ["\nFormats of files: [mechanisms](file-format.md), [runs](run-files.md).\n"]
    return "\n".join([*lines, toctree([*groups, "file-format", "run-files"])])


def main(arguments: list[str]) -> int:
    """Build the site; the exit status of Sphinx."""
    target = Path(arguments[0]) if arguments else ROOT / "build" / "site"
    sources = target.with_name(target.name + "-sources")
    for folder in (sources, target):
        shutil.rmtree(folder, ignore_errors=True)
    stage(sources)
    options = ["--quiet", "--fail-on-warning", "--keep-going", "--conf-dir", str(SITE), "--builder", "html"]
    status: int = sphinx([*options, str(sources), str(target)])
    if status == 0:
        print(f"written: {target / 'index.html'}")
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
