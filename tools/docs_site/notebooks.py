"""Pages as notebooks: their text, and their code as cells.

The site offers them without results. `python -m docs_site.notebooks FOLDER [PAGE ...]` executes pages and
writes them as notebooks and as HTML, to see what a user sees. It needs the extra `notebooks`.
"""

from __future__ import annotations

import ast
import json
import re
import sys
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from docs_site.pages import FENCE, ROOT

FOLDERS: Final = ("docs/guide", "docs/cookbook")
_PICTURE: Final = re.compile(r"!\[(?P<label>[^\]]*)\]\((?P<target>[^)\s]+)\)")
_LINK: Final = re.compile(r"(?<![!`])\[(?P<label>[^\]]*)\]\((?!\w+:)[^)\s]+\)")
_MAGICS: Final = {"yaml": "%%writefile {0}", "pdb": "%%writefile {0}", "c": "%%writefile {0}", "sh": "%%bash"}


def pages() -> list[Path]:
    """The pages with Python that can be notebooks."""
    found = [page for folder in FOLDERS for page in sorted((ROOT / folder).glob("*.md"))]
    return [page for page in found if "\n```python" in page.read_text(encoding="utf-8")]


def notebook(page: Path) -> dict[str, Any]:
    """A page as a notebook, format 4.5, without results."""
    text = page.read_text(encoding="utf-8")
    drawn = {name for info, body in _pieces(text) if info[:1] == ("python",) for name in _shown_by(body)}
    cells: list[dict[str, Any]] = []
    for info, body in _pieces(text):
        cell = _code(info, body) if info else _prose(body, drawn, page)
        if cell is not None:
            cells.append({"id": f"cell-{len(cells)}", "metadata": {}, **cell})
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}


def written(page: Path) -> str:
    """The notebook of a page as the text of its file."""
    return json.dumps(notebook(page), indent=1, ensure_ascii=False) + "\n"


def _pieces(text: str) -> Iterator[tuple[tuple[str, ...], str]]:
    """The text between code blocks, with no words, and the blocks with the words after their fences."""
    prose: list[str] = []
    block: list[str] = []
    fence, info = "", tuple[str, ...]()
    for line in text.splitlines():
        opened = FENCE.match(line)
        if fence and line.strip() == fence:
            yield info, "\n".join(block)
            fence, block = "", []
        elif fence:
            block.append(line)
        elif opened:
            yield (), "\n".join(prose)
            fence, info, prose = opened["fence"], tuple(opened["info"].split()), []
        else:
            prose.append(line)
    yield (), "\n".join(prose)


def _code(info: tuple[str, ...], body: str) -> dict[str, Any] | None:
    """A cell with code; nothing for printed output, which the cell before it makes anew."""
    kind, *rest = info
    if rest == ["output"]:
        return None
    if kind == "sh" and body.startswith("make "):  # in a checkout, not where a notebook lies
        return {"cell_type": "markdown", "source": f"```sh\n{body}\n```"}
    if kind in _MAGICS:
        body = f"{_MAGICS[kind].format(*rest)}\n{body}"
    elif kind != "python":
        return {"cell_type": "markdown", "source": f"```{kind}\n{body}\n```"}
    tags = {"metadata": {"tags": ["raises-exception"]}} if "error" in rest else {}
    return {"cell_type": "code", "source": body, "execution_count": None, "outputs": [], **tags}


def _shown_by(code: str) -> list[str]:
    """The pictures that a cell shows: figures of pyplot, and the figure that is its result."""
    *_, last = ast.parse(code).body
    result = ast.unparse(last) if isinstance(last, ast.Expr) else ""
    saved = [line for line in code.splitlines() if ".savefig(" in line]
    return re.findall(r"[\w-]+\.png", "\n".join([result, *saved]))


def _prose(body: str, drawn: set[str], page: Path) -> dict[str, Any] | None:
    """A cell with text: pictures that cells show are left out, others are in the cell."""
    held: dict[str, dict[str, str]] = {}

    def shown(picture: re.Match[str]) -> str:
        path = page.parent / picture["target"]
        if path.name in drawn or path.suffix != ".png":
            return ""
        held[path.name] = {"image/png": b64encode(path.read_bytes()).decode("ascii")}
        return f"![{picture['label']}](attachment:{path.name})"

    source = _LINK.sub(lambda link: link["label"], _PICTURE.sub(shown, body)).strip()
    if not source:
        return None
    return {"cell_type": "markdown", "source": source, **({"attachments": held} if held else {})}


def executed(page: Path, folder: Path) -> Any:
    """The notebook of a page with its results, as nbformat has it. folder: where its files are written."""
    from nbclient import NotebookClient
    from nbformat import reads

    cells = reads(written(page), as_version=4)
    NotebookClient(cells, timeout=600, resources={"metadata": {"path": str(folder)}}).execute()
    return cells


def main(arguments: list[str]) -> int:
    """Execute pages, by default all, and write each into a folder as notebook and as HTML."""
    from nbconvert import HTMLExporter
    from nbformat import write

    folder, *names = arguments
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    status = 0
    for page in [page for page in pages() if not names or page.stem in names]:
        try:
            with TemporaryDirectory() as place:
                cells = executed(page, Path(place))
        except Exception as error:  # noqa: BLE001  (of any cell: the next page goes on)
            print(f"{page.stem}: {error}")
            status = 1
            continue
        write(cells, target / f"{page.stem}.ipynb")
        (target / f"{page.stem}.html").write_text(
            HTMLExporter().from_notebook_node(cells)[0], encoding="utf-8"
        )
        print(f"{page.stem}: {len(cells.cells)} cells")
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
