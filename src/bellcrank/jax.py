"""Functions of JAX of `bc.RunFunction` and `bc.StateFunction`, with their exact derivatives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from bellcrank.errors import Fault, MechanismError, Unsupported
from bellcrank.extras import needed
from bellcrank.studies.differentiable import DifferentiableFunction, checked_function


def wrap(function: DifferentiableFunction) -> Callable[[Any], Any]:
    """A function of JAX: an array (by,) of float64 in, one of `function.shape` out.

    jax.grad, jax.jacfwd, jax.jvp, jax.vjp, jax.jit and jax.vmap take it; vmap evaluates point by point. It is
    computed on the host. JAX needs `jax.config.update("jax_enable_x64", True)`.

    Raises Unsupported without jax, and for second derivatives; MechanismError for what is no such function,
    and for arrays of another shape or of another type than float64. What an evaluation raises arrives as an
    error of JAX, with its text.

    >>> import bellcrank as bc
    >>> import bellcrank.jax, jax
    >>> jax.config.update("jax_enable_x64", True)
    >>> mech = bc.Mechanism("cart", gravity=(0.0, 0.0, 0.0))
    >>> mass = mech.add_parameter("mass", 2.0, "kg")
    >>> cart = mech.add_body("cart", mass=mass, inertia=(1.0, 1.0, 1.0))
    >>> track = mech.add_joint("track", bc.PrismaticX(), mech.ground, cart)
    >>> motor = mech.add_force("motor", bc.JointMotor(3.0), joint="track")
    >>> f = bellcrank.jax.wrap(bc.StateFunction(mech, "joint.track.x.acceleration", by="mass"))
    >>> round(float(jax.grad(f)(jax.numpy.array([2.0]))[0]), 9)
    -0.75
    """
    checked_function(function)
    jax = needed("jax", "bellcrank.jax", "frameworks")
    count, shape = len(function.by), function.shape
    value = jax.ShapeDtypeStruct(shape, np.float64)
    slopes = jax.ShapeDtypeStruct((*shape, count), np.float64)

    def on_host(of: Callable[[Any], Any], result: Any) -> Any:
        """A function of JAX that calls one of NumPy."""

        def computed(x: Any) -> Any:
            return np.asarray(of(np.asarray(x)))

        return jax.custom_jvp(lambda x: jax.pure_callback(computed, result, x, vmap_method="sequential"))

    def first(at: Any, along: Any) -> Any:
        return wrapped(*at), jacobian(*at) @ along[0]

    def second(*_: Any) -> Any:
        raise Unsupported(f"second derivatives of {function!r} are not implemented")

    wrapped, jacobian = on_host(function, value), on_host(function.jacobian, slopes)
    wrapped.defjvp(first)
    jacobian.defjvp(second)

    def checked(x: Any) -> Any:
        x = jax.numpy.asarray(x)
        if x.dtype != np.float64:
            advice = 'jax.config.update("jax_enable_x64", True), before arrays are made'
            raise MechanismError(Fault("x", "it must be of float64", str(x.dtype), advice))
        if x.shape != (count,):
            rule = f"it must hold {count} numbers: {', '.join(function.by)}"
            raise MechanismError(Fault("x", rule, f"an array of shape {x.shape}"))
        return wrapped(x)

    return checked
