"""Beams at rest: published problems by shooting and by closed forms, in every formulation."""

import numpy as np
import pytest
from rigs.cosserat import clamped_in_space
from scipy.optimize import brentq, newton

import bellcrank as bc

PRINCETON = bc.Section.rectangle(12.377e-3, 3.2024e-3, E=71.7e9, nu=0.31, density=2800.0)
REACH = 0.508
LOADS = np.array([
    (0.0, load * np.sin(angle), load * np.cos(angle))
    for load in (4.448, 8.896, 13.345) for angle in np.radians(np.arange(0, 91, 15))
])  # fmt: skip


def princeton(load, segments=8):
    mech = bc.Mechanism("princeton", gravity=(0, 0, 0))
    beam = mech.add_beam("beam", PRINCETON, start="ground", end=(REACH, 0, 0), segments=segments)
    mech.add_force("load", bc.Wrench(force=load), beam.marker(REACH))
    return mech


def test_all_princeton_cases_by_shooting():
    """Three loads at seven angles (E. H. Dowell, J. J. Traybar, 1975); O. A. Bauchau et al., Multibody Syst.
    Dyn. 37, 2016, section 2. Places to 2e-6 m, axes at the tip to 2e-5.
    """
    tips, turns = clamped_in_space(PRINCETON.flexibility, REACH, LOADS)
    for load, tip, turn in zip(LOADS, tips, turns, strict=True):
        rest = bc.statics(princeton(load)).state
        assert rest.position[-1] == pytest.approx(tip, abs=2e-6)
        w, x, y, z = rest.rotation[-1]
        ahead = (1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y))
        across = (2 * (x * y - w * z), 1 - 2 * (x * x + z * z), 2 * (y * z + w * x))
        assert ahead == pytest.approx(turn[:, 0], abs=2e-5)
        assert across == pytest.approx(turn[:, 1], abs=2e-5)


@pytest.mark.parametrize("formulation", ["lagrange", "recursive", "symbolic", "dca"])
def test_every_formulation_rests_there(formulation):
    """At the rest nothing accelerates, by what the same load does to the beam as described."""
    mech = princeton(LOADS[-4], segments=3)
    released = bc.prepare(mech, formulation).accelerate()
    rest = bc.statics(mech)
    left = bc.prepare(mech, formulation).accelerate(rest.state)
    masses = np.array([body.mass for body in mech.bodies.values()])[:, None]
    assert np.abs(masses * released.linear).max() > 1.0
    assert np.abs(masses * left.linear).max() < 1e-6


def lateral(segments, part):
    """A cantilever that is loaded across its strong side by a part of the load at which it gives way."""
    EI, GJ = 2.0, 0.7
    mech = bc.Mechanism("lateral", gravity=(0, 0, 0))
    section = bc.Section.general(EA=1e8, GA=1e8, GJ=GJ, EI=(1e5, EI), mass_per_length=1.0)
    beam = mech.add_beam("beam", section, start="ground", end=(1.5, 0, 0), segments=segments)
    load = part * 4.012599 * np.sqrt(EI * GJ) / 1.5**2
    mech.add_force("load", bc.Wrench(force=(0, 0, -load)), beam.marker(1.5))
    return mech


@pytest.mark.parametrize(("part", "stability"), [(0.999, "stable"), (1.001, "unstable")])
def test_prandtls_load(part, stability):
    """4.013 (EI GJ)^(1/2)/L^2, of a strong side that does not bend (L. Prandtl, Kipperscheinungen, 1899)."""
    mech = lateral(8, part)
    assert bc.find_equilibrium(mech, leave_unstable=False).stability == stability


@pytest.mark.parametrize(("part", "stability"), [(0.999, "stable"), (1.001, "unstable")])
def test_eulers_load(part, stability):
    mech = bc.Mechanism("strut", gravity=(0, 0, 0))
    section = bc.Section.general(EA=1e7, GA=1e7, GJ=1.0, EI=1.0, mass_per_length=1.0)
    beam = mech.add_beam("beam", section, start="ground", end=(1, 0, 0), segments=8)
    mech.add_force("load", bc.Wrench(force=(-part * np.pi**2 / 4, 0, 0)), beam.marker(1.0))
    assert bc.find_equilibrium(mech, leave_unstable=False).stability == stability


def test_an_elastic_catenary():
    """A rope as a beam of small EI between two pins: sag and pull by H. M. Irvine, Cable Structures, 1981."""
    EA, weight, span, n = 200.0, 0.5 * 9.81, 0.9, 32
    upright = 0.5 * weight

    def width(pull):
        return pull / EA + 2.0 * pull / weight * np.arcsinh(upright / pull)

    pull = brentq(lambda one: width(one) - span, 1e-3, 1e3, xtol=1e-13)
    sag = upright**2 / (2.0 * weight * EA) + pull / weight * (np.sqrt(1.0 + (upright / pull) ** 2) - 1.0)
    mech = bc.Mechanism("rope")
    section = bc.Section.general(EA=EA, GA=EA, GJ=1e-6, EI=1e-6, mass_per_length=0.5)
    mech.add_beam("rope", section, start=(0, 0, 0), end=(1, 0, 0), segments=n)
    turn = np.arccos(span)
    for k in range(n + 1):  # along two straight lines
        s, side = k / n, 1.0 if 2 * k <= n else -1.0
        low = -min(s, 1.0 - s) * np.sin(turn)
        axes = (np.cos(turn / 2), 0.0, side * np.sin(turn / 2), 0.0)
        mech.replace(mech.bodies[f"rope/{k}"], position=(span * s, 0.0, low), rotation=axes)
    for k, x in ((0, 0.0), (n, span)):
        mech.add_joint(f"pin {k}", bc.Spherical(), mech.ground.marker((x, 0, 0)), mech.bodies[f"rope/{k}"])
    rest = bc.statics(mech)
    assert rest.state.position[n // 2][2] == pytest.approx(-sag, rel=1e-5)
    assert rest.joints["pin 0"].force == pytest.approx((-pull, 0, upright), abs=1e-5 * pull)


def test_a_chain_of_links():
    """Twenty rigid links between two pins, each along the mean of the forces at its ends."""
    links, weight, span = 20, 0.1, 14.0
    down = 0.5 * weight * (2.0 * np.arange(1, links + 1) - links - 1)

    def beyond(pull):
        return np.sum(1.0 / np.hypot(1.0, down / pull)) - span

    pull = newton(beyond, 1.0, tol=1e-14)
    angle = np.arctan2(down, pull)
    mech = bc.Mechanism("chain", gravity=(0, 0, -1.0))
    last, place = mech.ground.marker(axis="y"), np.zeros(3)
    tilt = np.arccos(span / links)
    for k in range(links):
        way = np.array((np.cos(tilt), 0.0, np.sin(tilt) * (-1.0 if 2 * k < links else 1.0)))
        body = mech.add_body(
            f"link {k}", weight, (1e-3, weight / 12, weight / 12), position=place + 0.5 * way,
            rotation=bc.rotation("y", float(np.arctan2(-way[2], way[0]))),
        )  # fmt: skip
        mech.add_joint(f"pin {k}", bc.Revolute(), last, body.marker((-0.5, 0, 0), axis="y"))
        last, place = body.marker((0.5, 0, 0), axis="y"), place + way
    mech.add_joint("last", bc.Revolute(), mech.ground.marker((span, 0, 0), axis="y"), last)
    rest = bc.statics(mech)
    heights = np.cumsum(np.sin(angle)) - 0.5 * np.sin(angle)
    assert rest.state.position[:, 2] == pytest.approx(heights, abs=1e-9)


def strip(moment, E=200e9):
    """A strip of 1 mm that a moment bends to an arc."""
    mech = bc.Mechanism("strip", gravity=(0, 0, 0))
    sheet = bc.Section.rectangle(0.01, 1e-3, E=E, nu=0.3, density=7850)
    beam = mech.add_beam("strip", sheet, start="ground", end=(0.05, 0, 0), segments=16)
    mech.add_force("bend", bc.Wrench(moment=(0, moment * sheet.EI[0], 0)), beam.marker(0.05))
    return mech


def test_metal_that_is_strained_beyond_what_it_bears():
    """The curvature is the moment, 1/m, and the strain half of the thickness times it."""

    def notes(*given):
        return [note for note in bc.statics(strip(*given)).equilibrium.notes if "strained" in note]

    assert notes(120.0)[0].startswith("beam 'strip': its material is strained by 6 % at ")
    assert "metals have yielded" in notes(120.0)[0]
    assert notes(90.0) == []
    assert notes(120.0, 2e9) == []  # a plastic may bear it


def test_runs_say_what_metal_does_not_bear():
    for moment, strained in ((120.0, True), (20.0, False)):
        mech = bc.statics(strip(moment)).at
        run = bc.simulate(mech, 1e-4, output_step=5e-5)
        assert ("its material is strained by" in run.statistics.get("hints", "")) == strained
