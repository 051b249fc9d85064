"""The names that examples in docstrings may use: `bc`, `np`, mechanisms and matrices, made afresh for each.

The reference shows the functions below, so that a reader can run the examples; the tests run all of them.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any, Final

import numpy as np

import bellcrank as bc

INTRODUCTION: Final = """## The examples

Every function, class and method has an example, which the tests run. `bc` is bellcrank and `np` is NumPy.
Mechanisms that an example uses without making them, such as `pendulum`, are made afresh for it by these
functions: `pendulum = pendulum()`. What follows `>>>` is typed; the lines after it are what Python prints."""


def pendulum() -> bc.Mechanism:
    """A uniform rod of 1 kg that is released from the horizontal; its length of 1 m is a parameter."""
    mech = bc.Mechanism("pendulum", gravity=(0, -9.81, 0))
    length = mech.add_parameter("length", 1.0, "m", low=0.1, high=10.0)
    inertia = (1e-4, length**2 / 12, length**2 / 12)
    rod = mech.add_body("rod", 1.0, inertia, com=(length / 2, 0, 0))
    mech.add_joint("hinge", bc.Revolute(), mech.ground, rod)
    mech.add_marker(rod.marker((length, 0, 0), name="tip"))
    return mech


def four_bar() -> bc.Mechanism:
    """Three steel bars in a loop, whose crank is driven at one turn per second."""
    mech = bc.Mechanism("four-bar", gravity=(0, -9.81, 0))

    def bar(name: str, length: float, **pose: Any) -> bc.Body:
        steel = bc.Box(size=(length, 0.02, 0.008), position=(length / 2, 0, 0), density=7850.0)
        return mech.add_body(name, shapes=[steel], **pose)

    crank = bar("crank", 0.12)
    coupler = bar("coupler", 0.36, position=(0.12, 0, 0))
    rocker = bar("rocker", 0.28, position=(0.40, 0, 0), rotation=(0.6, 0, 0, 0.8))
    mech.add_joint("motor", bc.RevoluteMotor(velocity=2 * np.pi), mech.ground, crank)
    mech.add_joint("pin 1", bc.Revolute(), crank.marker((0.12, 0, 0)), coupler)
    mech.add_joint("pin 2", bc.Revolute(), coupler.marker((0.36, 0, 0)), rocker.marker((0.28, 0, 0)))
    mech.add_joint("pivot", bc.Revolute(), mech.ground.marker((0.40, 0, 0)), rocker)
    return mech


def slider_crank() -> bc.Mechanism:
    """A crank of 0.1 m at 10 rad/s, a massless rod of 0.3 m, and a piston of 2 kg on a guide along x."""
    mech = bc.Mechanism("slider-crank", gravity=(0, 0, 0))
    crank = mech.add_body("crank", mass=1.0, inertia=(0.01, 0.01, 0.01))
    piston = mech.add_body("piston", mass=2.0, inertia=(0.01, 0.01, 0.01), position=(0.4, 0, 0))
    mech.add_joint("bearing", bc.Revolute(), "ground", crank)
    mech.add_joint("rod", bc.ParallelLink(0.3), crank.marker((0.1, 0, 0)), piston)
    mech.add_joint("guide", bc.Prismatic(), mech.ground.marker(axis="x"), piston.marker(axis="x"))
    mech.add_drive("motor", "bearing", velocity=10.0)
    return mech


def arm() -> bc.Mechanism:
    """Two rods of 1 m and 1 kg, stretched out along x, each held by a motor at its joint."""
    mech = bc.Mechanism("arm", gravity=(0, -9.81, 0))
    inertia = (1e-4, 1 / 12, 1 / 12)
    upper = mech.add_body("upper arm", 1.0, inertia, com=(0.5, 0, 0))
    fore = mech.add_body("forearm", 1.0, inertia, com=(0.5, 0, 0), position=(1, 0, 0))
    mech.add_joint("shoulder", bc.RevoluteMotor(position=0.0), mech.ground, upper)
    mech.add_joint("elbow", bc.RevoluteMotor(position=0.0), upper.marker((1, 0, 0)), fore)
    mech.add_marker(fore.marker((1, 0, 0), name="hand"))
    return mech


def shafts() -> bc.Mechanism:
    """Two parallel shafts, 0.3 m apart, each of 1 kg m^2; the input turns at 6 rad/s."""
    mech = bc.Mechanism("shafts", gravity=(0, 0, 0))
    for name, place, speed in (("input", 0.0, 6.0), ("output", 0.3, None)):
        shaft = mech.add_body(f"{name} shaft", mass=10.0, inertia=(1, 1, 1), position=(place, 0, 0))
        mech.add_joint(name, bc.Revolute(), mech.ground.marker((place, 0, 0)), shaft, velocity=speed)
    return mech


def block() -> bc.Mechanism:
    """A block of 2 kg at rest on a vertical guide; nothing carries its weight."""
    mech = bc.Mechanism("block", gravity=(0, 0, -9.81))
    mass = mech.add_body("block", 2.0, shapes=[bc.Box((0.1, 0.1, 0.1), density=2000.0)])
    mech.add_joint("guide", bc.Prismatic(), "ground", mass)
    return mech


def cube() -> bc.Mechanism:
    """A cube of 6 kg that floats without weight; its moment of inertia is 1 kg m^2 about any axis."""
    mech = bc.Mechanism("cube", gravity=(0, 0, 0))
    mech.add_body("cube", shapes=[bc.Box((1, 1, 1), density=6.0)])
    return mech


def bar_matrices() -> tuple[Any, Any, Any]:
    """Stiffness, mass and nodes of a round steel bar of 1 m by 20 mm, in ten elements of a beam, along x."""
    size, section, second = 0.1, np.pi * 0.01**2, np.pi * 0.01**4 / 4
    bent = np.array([[12, 6, -12, 6], [6, 4, -6, 2], [-12, -6, 12, -6], [6, 2, -6, 4]])
    moved = np.array([[156, 22, 54, -13], [22, 4, 13, -3], [54, 13, 156, -22], [-13, -3, -22, 4]])
    K, M = np.zeros((66, 66)), np.zeros((66, 66))
    for at in range(0, 60, 6):
        line, turn = [at, at + 6], [at + 3, at + 9]
        for along, stiff, heavy in (
            (line, 2.1e11 * section, 7850 * section),
            (turn, 1.6e11 * second, 15700 * second),
        ):
            K[np.ix_(along, along)] += stiff / size * np.array([[1, -1], [-1, 1]])
            M[np.ix_(along, along)] += heavy * size / 6 * np.array([[2, 1], [1, 2]])
        for across, sign in (((1, 5), 1), ((2, 4), -1)):
            scale = np.array([1, sign * size] * 2)
            place = np.array([at + across[0], at + across[1], at + 6 + across[0], at + 6 + across[1]])
            K[np.ix_(place, place)] += 2.1e11 * second / size**3 * bent * np.outer(scale, scale)
            M[np.ix_(place, place)] += 7850 * section * size / 420 * moved * np.outer(scale, scale)
    return K, M, np.linspace((0, 0, 0), (1, 0, 0), 11)


def pulled_bar() -> tuple[Any, Any]:
    """A mechanism with a flexible steel bar of 0.2 m by 20 mm square, held and pulled by 400 N; the solid."""
    x, y, z = np.meshgrid(np.linspace(0, 0.2, 9), [-0.01, 0.01], [-0.01, 0.01], indexing="ij")
    corners = [(0, 1, 3, 7), (0, 3, 2, 7), (0, 2, 6, 7), (0, 6, 4, 7), (0, 4, 5, 7), (0, 5, 1, 7)]
    cells = np.array([[4 * brick + corner for corner in cell] for brick in range(8) for cell in corners])
    mesh = np.stack([x.ravel(), y.ravel(), z.ravel()], axis=1), cells
    ends = {"left": bc.OnPlane((0, 0, 0), "x"), "right": bc.OnPlane((0.2, 0, 0), "x")}
    bar = bc.flexible(mesh, ("210 GPa", 0.3, 7850), ends, modes=2, stresses="surface")
    mech = bc.Mechanism("pulled bar", gravity=(0, 0, 0))
    solid = mech.add_flexible("bar", bar, damping_ratio=0.05)
    mech.add_joint("wall", bc.Fixed(), "ground", solid.interfaces["left"])
    mech.add_force("pull", bc.Wrench(force=(400.0, 0, 0)), solid.interfaces["right"])
    return mech, bar


READY: Final[dict[str, Callable[[], Any]]] = {
    make.__name__: make
    for make in (pendulum, four_bar, slider_crank, arm, shafts, block, cube, bar_matrices, pulled_bar)
}


def names_for(example: str) -> dict[str, Any]:
    """The names for an example: both packages, and the mechanisms whose names occur in it."""
    found = {name: make() for name, make in READY.items() if re.search(rf"\b{name}\b", example)}
    return {"__name__": "__main__", "bc": bc, "np": np, **found}


def shown() -> str:
    """The functions that make the mechanisms, as a program."""
    imports = "import bellcrank as bc\nimport numpy as np\n"
    return "\n\n".join([imports, *(_plain(inspect.getsource(make)) for make in READY.values())])


def _plain(source: str) -> str:
    """A function without the types that a reader does not need."""
    return re.sub(r"(?<=[\w)])( -> bc\.\w+|: (?:str|float|Any)(?=[,)]))", "", source)
