# ruff: noqa: SIM300  (EA, GJ and the like are no constants)
"""Sections of beams: areas, second moments, torsion constants, shear factors, stress, what they refuse."""

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.mechanism.parameters import value_as_made

STEEL = {"E": 210e9, "nu": 0.3, "density": 7850.0}
KINDS = {
    "tube": bc.Section.tube(0.04, 0.002, **STEEL),
    "circle": bc.Section.circle(0.03, **STEEL),
    "rectangle": bc.Section.rectangle(0.02, 0.05, **STEEL),
    "flat": bc.Section.rectangle(0.05, 0.02, **STEEL),
    "i": bc.Section.i_beam(0.1, 0.2, 0.0085, 0.0056, **STEEL),
}


def inside(name, y, z):
    """Whether points are within a section."""
    if name in ("tube", "circle"):
        r = np.hypot(y, z)
        return (r <= 0.02) & (r >= 0.018) if name == "tube" else r <= 0.015
    if name == "i":
        flange = (np.abs(y) <= 0.05) & (np.abs(z) <= 0.1) & (np.abs(z) >= 0.0915)
        return flange | ((np.abs(y) <= 0.0028) & (np.abs(z) <= 0.0915))
    width, height = (0.02, 0.05) if name == "rectangle" else (0.05, 0.02)
    return (np.abs(y) <= width / 2) & (np.abs(z) <= height / 2)


@pytest.mark.parametrize("name", KINDS)
def test_areas_and_second_moments_are_those_of_the_region(name):
    section, cells = KINDS[name], 2400
    reach = 0.51 * section.largest_size
    line = (np.arange(cells) + 0.5) / cells * 2.0 * reach - reach
    y, z = np.meshgrid(line, line, indexing="ij")
    here, cell = inside(name, y, z), (2.0 * reach / cells) ** 2
    area, about_y, about_z = cell * here.sum(), cell * (z**2)[here].sum(), cell * (y**2)[here].sum()
    assert section.EA == pytest.approx(210e9 * area, rel=3e-3)
    assert section.EI == pytest.approx((210e9 * about_y, 210e9 * about_z), rel=8e-3)
    assert section.mass_per_length == pytest.approx(7850.0 * area, rel=3e-3)
    assert section.rotary == pytest.approx(
        tuple(7850.0 * np.array([about_y + about_z, about_y, about_z])), rel=8e-3
    )


@pytest.mark.parametrize(
    ("ratio", "factor"),  # Timoshenko and Goodier, Theory of Elasticity, section 109
    [(1.0, 0.1406), (1.5, 0.196), (2.0, 0.229), (3.0, 0.263), (5.0, 0.291), (10.0, 0.312)],
)
@pytest.mark.parametrize("lying", [False, True])
def test_the_torsion_of_a_rectangle_is_saint_venants(ratio, factor, lying):
    sides = (ratio, 1.0) if lying else (1.0, ratio)
    bar = bc.Section.rectangle(*sides, E=2.0, nu=0.0, density=1.0)
    assert bar.GJ == pytest.approx(factor * ratio, rel=2e-3)


def test_the_torsion_of_a_square_to_all_digits():
    """0.140577014955... (Saint-Venant; sum of 10,000 terms in extended precision)."""
    n = np.arange(1, 20001, 2, dtype=np.longdouble)
    exact = (1 - 192 / np.pi**5 * np.sum(np.tanh(n * np.pi / 2) / n**5)) / 3
    assert bc.Section.rectangle(1.0, 1.0, E=2.0, nu=0.0, density=1.0).GJ == pytest.approx(
        float(exact), rel=1e-12
    )


@pytest.mark.parametrize(
    ("section", "factor"),  # Cowper, table 1
    [
        (bc.Section.circle(0.03, E=1.0, nu=0.3, density=1.0), 6 * 1.3 / (7 + 6 * 0.3)),
        (bc.Section.tube(1.0, 1e-7, E=1.0, nu=0.3, density=1.0), 2 * 1.3 / (4 + 3 * 0.3)),
        (bc.Section.tube(1.0, 0.5 - 1e-7, E=1.0, nu=0.3, density=1.0), 6 * 1.3 / (7 + 6 * 0.3)),
        (bc.Section.rectangle(0.02, 0.05, E=1.0, nu=0.3, density=1.0), 13 / 15.3),
    ],
)
def test_shear_factors(section, factor):
    shear = section.EA / 2.6
    assert np.divide(section.GA, shear) == pytest.approx([factor, factor], rel=1e-5)


def test_the_shear_factor_of_an_i_becomes_that_of_its_web():
    slim = bc.Section.i_beam(0.0101, 0.2, 1e-7, 0.01, E=1.0, nu=0.3, density=1.0)
    assert slim.GA[1] / (slim.EA / 2.6) == pytest.approx(13 / 15.3, rel=1e-4)
    area = 2 * 0.1 * 0.0085 + 0.0056 * 0.183
    web = KINDS["i"].GA[1] / (210e9 / 2.6)
    assert web == pytest.approx(
        0.0056 * 0.1915, rel=0.06
    )  # usual: web thickness times distance of the flanges
    assert KINDS["i"].GA[0] == pytest.approx(210e9 / 2.6 * 13 / 15.3 * 2 * 0.1 * 0.0085)
    assert KINDS["i"].EA == pytest.approx(210e9 * area)


def test_the_torsion_of_an_i_is_that_of_its_plates_where_they_are_thin():
    thin = bc.Section.i_beam(1.0, 1.0, 1e-3, 1e-3, E=2.0, nu=0.0, density=1.0)
    assert thin.GJ == pytest.approx(3e-9 / 3, rel=2e-3)


def test_the_shear_modulus_may_be_given_instead():
    one = bc.Section.circle(0.03, E=210e9, nu=0.25, density=7850.0)
    two = bc.Section.circle(0.03, E="210 GPa", G="84 GPa", density="7.85 g/cm^3")
    assert two.GJ == pytest.approx(one.GJ)
    assert two.GA == pytest.approx(one.GA)
    assert two.mass_per_length == pytest.approx(one.mass_per_length)


def test_stress():
    bar = KINDS["rectangle"]
    assert bar.largest_stress(100.0, -30.0, 20.0) == pytest.approx(
        100 / 1e-3 + 30 * 6 / (0.02 * 0.05**2) + 20 * 6 / (0.05 * 0.02**2)
    )
    rod = KINDS["circle"]
    turned = [rod.largest_stress(0.0, *moment) for moment in ((50.0, 0.0), (30.0, 40.0), (0.0, -50.0))]
    assert turned == pytest.approx([32 * 50 / (np.pi * 0.03**3)] * 3)
    with pytest.raises(bc.Unsupported, match="give a section with sizes"):
        bc.Section.general(EA=1, GA=1, GJ=1, EI=1, mass_per_length=1).largest_stress(1.0, 0.0, 0.0)


def test_sections_by_numbers():
    one = bc.Section.general(EA=10.0, GA=4.0, GJ=3.0, EI=(2.0, 5.0), mass_per_length=7.0)
    assert one.GA == (4.0, 4.0)
    assert one.rotary == pytest.approx((4.9, 1.4, 3.5))
    two = bc.Section.general(
        EA=1e4, GA=(1e4, 2e4), GJ=500, EI=500, mass_per_length=1.0, inertia_per_length=(20.0, 10.0, 10.0)
    )
    assert two.rotary == (20.0, 10.0, 10.0)
    assert two.flexibility == pytest.approx((1e-4, 1e-4, 5e-5, 2e-3, 2e-3, 2e-3))


def test_sizes_by_parameters():
    mech = bc.Mechanism("m")
    d = mech.add_parameter("d", 0.05, "m")
    for name, made in {
        "tube": lambda d: bc.Section.tube(d, 0.1 * d, **STEEL),
        "rectangle": lambda d: bc.Section.rectangle(0.02, d, **STEEL),
        "i": lambda d: bc.Section.i_beam(0.5 * d, d, 0.1 * d, 0.002, **STEEL),
    }.items():
        of_parameters, of_numbers = made(d), made(0.05)
        for what in ("EA", "GA", "GJ", "EI", "mass_per_length", "rotary"):
            found = [
                value if isinstance(value, float) else value_as_made(value)
                for value in np.ravel(getattr(of_parameters, what)).tolist()
            ]
            assert found == pytest.approx(np.ravel(getattr(of_numbers, what)).tolist(), rel=1e-12), (
                name,
                what,
            )


@pytest.mark.parametrize(
    ("make", "messages"),
    [
        (lambda: bc.Section.tube(0.04, 0.02, **STEEL), ["wall must be less than half the diameter"]),
        (lambda: bc.Section.tube(0.04, 0.002, E=210e9, nu=0.3), ["the density is missing"]),
        (
            lambda: bc.Section.circle(0.04, E=210e9),
            ["one of nu, Poisson's ratio, and G", "the density is missing"],
        ),
        (
            lambda: bc.Section.circle(0.04, E=210e9, nu=0.3, G=80e9, density=1.0),
            ["one of nu, Poisson's ratio"],
        ),
        (
            lambda: bc.Section.circle(0.04, E=210e9, G=1e9, density=1.0),
            ["nu must lie between", "Section.general"],
        ),
        (lambda: bc.Section.circle(-0.04, E=0.0, nu=0.3, density=1.0), ["diameter must be", "E must be"]),
        (
            lambda: bc.Section.i_beam(0.1, 0.2, 0.1, 0.1, **STEEL),
            ["flange must be less", "web must be thinner"],
        ),
        (
            lambda: bc.Section.general(EA=0, GA=1, GJ=1, EI=(1, 0), mass_per_length=1),
            ["EA must be", "EI must be"],
        ),
    ],
)
def test_what_is_refused(make, messages):
    with pytest.raises(bc.MechanismError) as caught:
        make()
    assert len(caught.value.faults) == len(messages) or "Section.general" in messages
    for message in messages:
        assert message in str(caught.value)
