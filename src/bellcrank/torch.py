"""Functions of PyTorch of `bc.RunFunction` and `bc.StateFunction`, with their exact derivatives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bellcrank.errors import Fault, MechanismError, Unsupported
from bellcrank.extras import needed
from bellcrank.studies.differentiable import DifferentiableFunction, checked_function


def wrap(function: DifferentiableFunction) -> Callable[[Any], Any]:
    """A function of PyTorch: a tensor (by,) of float64 in, one of `function.shape` out.

    `backward` and torch.autograd take it, torch.func does not. It is computed on the CPU; the result is where
    x is.

    Raises Unsupported without torch, and for second derivatives; MechanismError for what is no such function,
    and for tensors of another shape or of another type than float64; what an evaluation raises.
    """
    checked_function(function)
    torch = needed("torch", "bellcrank.torch", "torch")
    count = len(function.by)

    def tensor(values: Any, like: Any) -> Any:
        return torch.as_tensor(values, dtype=torch.float64, device=like.device)

    class Value(torch.autograd.Function):  # type: ignore[name-defined,misc]
        """The values."""

        @staticmethod
        def forward(context: Any, x: Any) -> Any:
            context.save_for_backward(x)
            return tensor(function(_host(x)), x)

        @staticmethod
        def backward(context: Any, weights: Any) -> Any:
            return Gradient.apply(*context.saved_tensors, weights)

    class Gradient(torch.autograd.Function):  # type: ignore[name-defined,misc]
        """The gradient of a sum of the values with weights."""

        @staticmethod
        def forward(_: Any, x: Any, weights: Any) -> Any:
            slopes = tensor(function.jacobian(_host(x)), x)
            return weights @ slopes if function.shape else weights * slopes

        @staticmethod
        def backward(*_: Any) -> Any:
            raise Unsupported(f"second derivatives of {function!r} are not implemented")

    def checked(x: Any) -> Any:
        if x.dtype != torch.float64:
            advice = "torch.tensor(..., dtype=torch.float64)"
            raise MechanismError(Fault("x", "it must be of float64", str(x.dtype), advice))
        if tuple(x.shape) != (count,):
            rule = f"it must hold {count} numbers: {', '.join(function.by)}"
            raise MechanismError(Fault("x", rule, f"a tensor of shape {tuple(x.shape)}"))
        return Value.apply(x)

    return checked


def _host(x: Any) -> Any:
    return x.detach().cpu().numpy()
