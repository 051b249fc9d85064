"""Pages of the gallery and of the examples: picture, what it shows, what is in it, code."""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

import bellcrank as bc
from docs_site.docstrings import markdown
from docs_site.pages import ROOT, toctree

_INTRODUCTION: Final = """# Gallery

Mechanisms that are ready to use: each is a function of `bellcrank.gallery` that can be called without
arguments. Their pages show what is in them, how to run them, and how they are built. All pictures are made by
`mech.draw`.
"""
_EXAMPLES: Final = """# Examples

Programs that go further than the guide, from the folder `examples` of a checkout. The tests run them.
"""
_CARD: Final = """`````{{grid-item-card}} {title}
:link: {name}
:link-type: doc
:img-top: ../img/gallery/{name}.png
:img-alt: {title}

{about}
`````
"""
_PAGE: Final = """# {title}

![{title}](../img/gallery/{name}.png)

{about}

## Run it

```python
import bellcrank as bc

mech = bc.gallery.{name}()
print(bc.info(mech))

run = bc.simulate(mech, duration=1.0)
run.plot(path="{name}.png")
```

```{{code-block}} text
:class: output

{info}
```

## How it is built

```{{code-block}} python
:caption: {path}

{function}```

`````{{dropdown}} The whole file, with the functions that it uses
```python
{module}```
`````
"""


def gallery_index() -> str:
    """The page with all pictures, by group."""
    parts = [_INTRODUCTION]
    functions = bc.gallery.catalogue()
    for group, names in bc.gallery.groups().items():
        parts.append(f"## {group}\n\n``````{{grid}} 2 2 3 3\n:gutter: 3\n")
        for name in names:
            about = markdown(first_sentence(functions[name]), set(), {})
            parts.append(_CARD.format(name=name, title=readable(name), about=about))
        parts.append("``````\n")
    listed = [name for group in bc.gallery.groups().values() for name in group]
    return "\n".join([*parts, toctree(listed)])


def gallery_page(name: str, make: Callable[..., bc.Mechanism]) -> str:
    """The page of a mechanism: its picture, its docstring, what `bc.info` says of it, its source."""
    text = inspect.getdoc(make) or ""
    module = sys.modules[make.__module__]
    path = Path(str(module.__file__)).relative_to(ROOT / "src")
    return _PAGE.format(
        name=name,
        title=readable(name),
        about=markdown(text, set(inspect.signature(make).parameters), {}),
        info=bc.info(make()),
        path=path,
        function=inspect.getsource(make),
        module=inspect.getsource(module),
    )


def examples_page() -> str:
    """The programs of the folder examples: what each shows, and its text."""
    parts = [_EXAMPLES]
    for path in sorted((ROOT / "examples").glob("[0-9]*.py")):
        text = path.read_text(encoding="utf-8")
        about = ast.get_docstring(ast.parse(text)) or ""
        number, _, name = path.stem.partition("_")
        parts.append(f"## {int(number)}. {readable(name)}\n\n{markdown(about, set(), {})}\n")
        parts.append(f"`````{{dropdown}} {path.name}\n```python\n{text}```\n`````\n")
    return "\n".join(parts)


def readable(name: str) -> str:
    """A name as a heading."""
    text = name.replace("_", " ").replace("rr arm", "RR arm").replace("puma560", "Puma 560")
    return text[0].upper() + text[1:]


def first_sentence(make: Callable[..., bc.Mechanism]) -> str:
    """The first sentence of a docstring."""
    return (inspect.getdoc(make) or "").partition("\n\n")[0].replace("\n", " ")
