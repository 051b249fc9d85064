"""`bellcrank bench`: the benchmarks of a checkout, which compare with other engines and are not installed.

Each is a module of `benchmarks/` with a function `main(arguments)`.
"""

from __future__ import annotations

import pkgutil
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Final

import click

from bellcrank.errors import Fault, MechanismError, Unsupported
from bellcrank.mechanism.checking import nearest

_DEFAULT: Final = "all"


@click.command("bench", context_settings={"ignore_unknown_options": True, "help_option_names": []})
@click.argument("name", default=_DEFAULT, required=False)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def bench_command(name: str, arguments: tuple[str, ...]) -> None:
    """Run the benchmark NAME with its own arguments, by default all of them; --help lists them."""
    found = _benchmarks()
    if name in ("-h", "--help"):
        click.echo("Usage: bellcrank bench [NAME] [ARGUMENTS]...\n")
        for known, module in found.items():
            click.echo(f"  {known:12} {_meaning(module)}")
        return
    if name not in found:
        rule = "there is no benchmark of this name"
        raise MechanismError(Fault("bench", rule, name, nearest(name, found)))
    chosen = found[name]
    if isinstance(chosen, ImportError):
        raise Unsupported(f"the benchmark {name!r} cannot be loaded here: {chosen}")
    sys.exit(chosen.main(list(arguments)) or 0)


def _benchmarks() -> dict[str, ModuleType | ImportError]:
    """The modules with a `main`, by name; the error where one cannot be loaded."""
    checkout = _checkout()
    if str(checkout) not in sys.path:
        sys.path.insert(0, str(checkout))
    found: dict[str, ModuleType | ImportError] = {}
    for entry in pkgutil.iter_modules([str(checkout / "benchmarks")]):
        try:
            module = import_module(f"benchmarks.{entry.name}")
        except ImportError as error:
            found[entry.name] = error
            continue
        if hasattr(module, "main"):
            found[entry.name] = module
    return found


def _checkout() -> Path:
    """The checkout from which this package is installed, or else the one containing the working folder."""
    here = Path.cwd()
    for folder in (*Path(__file__).parents, here, *here.parents):
        if (folder / "src" / "bellcrank").is_dir() and (folder / "benchmarks" / "peers").is_dir():
            return folder
    raise Unsupported(
        "bench: benchmarks are not installed with bellcrank; call this in a checkout of its sources, "
        f"which has them in the folder benchmarks, and not in {here}"
    )


def _meaning(module: ModuleType | ImportError) -> str:
    """The first line of a benchmark's description."""
    if isinstance(module, ImportError):
        return f"cannot be loaded here: {module}"
    return (module.__doc__ or "").strip().partition("\n")[0]
