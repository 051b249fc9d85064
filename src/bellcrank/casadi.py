"""Functions of CasADi of `bc.RunFunction` and `bc.StateFunction`, with their exact derivatives."""

from __future__ import annotations

from typing import Any

import numpy as np

from bellcrank.errors import Unsupported
from bellcrank.extras import needed
from bellcrank.studies.differentiable import DifferentiableFunction, checked_function


def wrap(function: DifferentiableFunction, name: str = "bellcrank") -> Any:
    """A casadi.Function: a column (by, 1) in, a column (of, 1) out. Keep it as long as what is made of it.

    Its Jacobian is exact, so that optimizers of CasADi take it; ipopt needs
    `{"ipopt.hessian_approximation": "limited-memory"}`, as there are no second derivatives. name: of it.

    Raises Unsupported without casadi; MechanismError for what is no such function. What an evaluation raises
    arrives as an error of CasADi, with its text.

    >>> import bellcrank as bc
    >>> import bellcrank.casadi
    >>> mech = bc.Mechanism("cart", gravity=(0.0, 0.0, 0.0))
    >>> mass = mech.add_parameter("mass", 2.0, "kg")
    >>> cart = mech.add_body("cart", mass=mass, inertia=(1.0, 1.0, 1.0))
    >>> track = mech.add_joint("track", bc.PrismaticX(), mech.ground, cart)
    >>> motor = mech.add_force("motor", bc.JointMotor(3.0), joint="track")
    >>> f = bellcrank.casadi.wrap(bc.StateFunction(mech, "joint.track.x.acceleration", by="mass"))
    >>> round(float(f.jacobian()(2.0, 0.0)), 9)
    -0.75
    """
    checked_function(function)
    casadi = needed("casadi", "bellcrank.casadi", "frameworks")
    count, results, dense = len(function.by), len(function.of), casadi.Sparsity.dense

    column, values = dense(count, 1), dense(results, 1)

    class Called(casadi.Callback):  # type: ignore[name-defined,misc]
        """What is computed of x, the first input; slopes makes its derivatives, which need x and values."""

        def __init__(
            self, name: str, of: Any, inputs: list[Any], output: Any, slopes: Any, options: Any
        ) -> None:
            casadi.Callback.__init__(self)
            self.of, self.taken, self.given, self.slopes = of, inputs, output, slopes
            self.construct(name, options)

        def get_n_in(self) -> int:
            return len(self.taken)

        def get_n_out(self) -> int:
            return 1

        def get_sparsity_in(self, number: int) -> Any:
            return self.taken[number]

        def get_sparsity_out(self, _: int) -> Any:
            return self.given

        def eval(self, arguments: list[Any]) -> list[Any]:
            found = self.of(np.array(arguments[0])[:, 0])
            return [casadi.DM(np.reshape(found, self.given.shape))]

        def has_jacobian(self) -> bool:
            return True

        def get_jacobian(self, name: str, *others: Any) -> Any:
            self.kept = self.slopes(name, others[-1])
            return self.kept

    def first(name: str, options: Any) -> Called:
        return Called(name, function.jacobian, [column, values], dense(results, count), second, options)

    def second(*_: Any) -> Any:
        raise Unsupported(
            f"second derivatives of {function!r} are not implemented: for ipopt, take "
            "{'ipopt.hessian_approximation': 'limited-memory'}"
        )

    return Called(name, function, [column], values, first, {})
