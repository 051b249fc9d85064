"""Solids that spin: cut into parts they stiffen as rotating beams do; one alone does not, and says so."""

import numpy as np
import pytest
from numpy.polynomial import Polynomial
from rigs import solids

import bellcrank as bc

pytest.importorskip("scipy.linalg", reason="needs extra `solids`")
YOUNG, _, DENSITY = solids.STEEL
LENGTH, AREA, SECOND = 1.0, np.pi * 1e-4, np.pi * 1e-8 / 4
FIRST = 1.8751040687**2 * np.sqrt(YOUNG * SECOND / (DENSITY * AREA * LENGTH**4))


def rotating(spin, count=10):
    """Frequencies of bending out of the plane, rad/s, of a uniform cantilever of length 1 from the axis on.

    Galerkin's method with x^(k + 2) for  EI w'''' - (N w')' = omega^2 m w,  N = m spin^2 (1 - x^2)/2.
    """
    shapes = [Polynomial.basis(k + 2) for k in range(count)]
    mass, stiff = np.zeros((2, count, count))
    load = Polynomial([0.5, 0.0, -0.5]) * spin**2 * DENSITY * AREA
    for i, one in enumerate(shapes):
        for j, two in enumerate(shapes):
            mass[i, j] = (one * two).integ()(1.0) * DENSITY * AREA
            bent = (one.deriv(2) * two.deriv(2)).integ()(1.0) * YOUNG * SECOND
            stiff[i, j] = bent + (load * one.deriv() * two.deriv()).integ()(1.0)
    lower = np.linalg.inv(np.linalg.cholesky(mass))
    return np.sqrt(np.linalg.eigvalsh(lower @ stiff @ lower.T))


def test_the_closed_form():
    """Against A. D. Wright, C. E. Smith, R. W. Thresher, J. L. C. Wang, J. Appl. Mech. 49, 1982, table 1."""
    unit = np.sqrt(YOUNG * SECOND / (DENSITY * AREA))
    for spin, known in ((0.0, 3.5160), (2.0, 4.1373), (6.0, 7.3604), (12.0, 13.1702)):
        assert rotating(spin * unit)[0] / unit == pytest.approx(known, abs=1e-4)


def blade(parts, spin, modes=2):
    """A bar on a hub with a vertical axis, cut into parts."""
    mech = bc.Mechanism("blade", gravity=(0, 0, 0))
    hub = mech.add_body("hub", 1.0, (1, 1, 1), angular_velocity=(0, 0, spin))
    mech.add_joint("axle", bc.Revolute(), "ground", hub)
    mech.add_drive("spin", "axle", velocity=spin)
    K, M, nodes = solids.beam(40 // parts, length=LENGTH / parts)
    solid = bc.reduce(K, M, nodes, {"a": [0], "b": [40 // parts]}, modes=modes)
    last = hub.marker()
    for k in range(parts):
        at = LENGTH * k / parts
        ends = mech.add_flexible(
            f"part {k + 1}",
            solid,
            position=(at, 0, 0),
            velocity=(0, spin * at, 0),
            angular_velocity=(0, 0, spin),
            damping=5e-4,
        ).interfaces
        mech.add_joint(f"cut {k + 1}", bc.Fixed(), last, ends["a"])
        last = ends["b"]
    return mech


def bending(mech):
    """Frequencies of motion along the axis in the steady state, rad/s."""
    run = bc.simulate(mech, 0.1, method="esdirk", tolerance=1e-4, output_step=0.1, reactions=False)
    found = bc.linearize(mech, state=run.at(0.1), steady=False).modes()
    return np.sort([abs(mode.eigenvalue) for mode in found if mode.kind == "oscillating"])


def nearest(found, wanted):
    return found[np.argmin(np.abs(found - wanted))]


def test_parts_stiffen():
    """At twice the first frequency at rest the first two modes rise by 1.37 and 0.29 of themselves."""
    spin = 2.0 * FIRST
    exact = rotating(spin)
    assert exact[1] / rotating(0.0)[1] > 1.28
    found = bending(blade(2, spin, modes=0))
    for number in (0, 1):
        assert nearest(found, exact[number]) == pytest.approx(exact[number], rel=1.5e-2)


def test_one_solid_is_refused_where_it_would_stiffen():
    """The free bar's lowest frequency is 22.37/3.516 of the first one held; a third of it is 2.12."""
    mech = blade(1, FIRST)
    assert "flexible solid 'part 1': it spins with" in "; ".join(bc.info(mech).hints)
    assert not any("spins" in hint for hint in bc.info(blade(1, 0.5 * FIRST)).hints)
    run = bc.simulate(mech, 1e-3, method="bdf")
    assert "frequencies of its modes are too low by about" in run.statistics["hints"]
    with pytest.raises(
        bc.SimulationError, match=r"more than a third of its lowest frequency.*cut it into several"
    ):
        bc.simulate(blade(1, 2.5 * FIRST), 1e-3, method="bdf")
    bc.simulate(blade(2, 2.5 * FIRST), 1e-3, method="bdf")


def test_the_hint_is_about_right():
    """The second mode of one solid stays where it is at rest: the part that it lacks is that of the hint."""
    spin = 0.7 * FIRST
    exact, at_rest = rotating(spin)[1], rotating(0.0)[1]
    (hint,) = [hint for hint in bc.info(blade(1, spin)).hints if "spins" in hint]
    told = float(hint.split("by about ")[1].split(" %")[0])
    assert told == pytest.approx(100.0 * (1.0 - at_rest / exact), rel=0.25)
