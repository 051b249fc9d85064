"""The interface that the module of a formulation must provide."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    from bellcrank import _core
    from bellcrank.compile.model import Model
    from bellcrank.formulations.system import System


@runtime_checkable
class Formulation(Protocol):
    """The module of a formulation."""

    @property
    def NAME(self) -> str:  # noqa: N802
        """The name of the formulation for users."""

    @property
    def OPTIONS(self) -> type[DataclassInstance]:  # noqa: N802
        """The dataclass of its options, each field an `option`."""

    @property
    def CUSTOM(self) -> str | tuple[str, ...]:  # noqa: N802
        """The kinds given by formulas that it accepts, or ALL."""

    @property
    def SYSTEM(self) -> type[System]:  # noqa: N802
        """The class that `prepare` returns: System, or a subclass with more methods."""

    def refusals(self, model: Model, /) -> list[str]:
        """The reasons why it cannot take a model; empty if it can."""

    def reduced(self, model: Model, options: Any, /) -> Model:
        """The model that is solved for these options; `whole` if it is the given one."""

    def create(self, model: Model, options: Any, /) -> _core.SystemAt:
        """The core's system of a model that it accepts."""


def whole(model: Model, _options: Any) -> Model:
    """The model itself, for formulations that leave nothing out."""
    return model


def checked_module(module: ModuleType) -> Formulation:
    """The module as a formulation. Raises TypeError, naming the missing member, if one is missing."""
    if isinstance(module, Formulation):
        return module
    missing = [name for name in vars(Formulation) if name[0] != "_" and name not in vars(module)]
    raise TypeError(f"module {module.__name__} is no formulation, it lacks {', '.join(missing)}")
