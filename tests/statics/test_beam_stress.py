"""Stress at fibres of sections against closed forms, the membrane of torsion and balances of parts."""

import numpy as np
import pytest
from scipy.sparse import diags, identity, kron
from scipy.sparse.linalg import spsolve

import bellcrank as bc

STEEL = {"E": 210e9, "nu": 0.3, "density": 7850}
RECTANGLES = [(0.02, 0.02), (0.02, 0.04), (0.04, 0.02), (0.01, 0.06)]
SECTIONS = [
    bc.Section.circle(0.02, **STEEL),
    bc.Section.tube(0.04, 0.003, **STEEL),
    bc.Section.rectangle(0.02, 0.05, **STEEL),
    bc.Section.i_beam(0.1, 0.2, 0.0085, 0.0056, **STEEL),
]
N, QY, QZ, MX, MY, MZ = range(6)


def of(section, **loads):
    """The largest equivalent stress by some loads."""
    names = ("N", "Qy", "Qz", "Mx", "My", "Mz")
    return section.fibres.equivalent(np.array([loads.get(name, 0.0) for name in names]))


@pytest.mark.parametrize("section", SECTIONS, ids=lambda one: type(one).__name__)
def test_without_shear_it_is_the_largest_normal_stress(section):
    rng = np.random.default_rng(1)
    for N, My, Mz in rng.normal(size=(20, 3)) * (5e3, 50.0, 50.0):
        assert of(section, N=N, My=My, Mz=Mz) == pytest.approx(section.largest_stress(N, My, Mz), rel=1e-12)


def test_round_sections():
    """Shear at the middle of a bar is 4/3 Q/A, of a thin tube 2 Q/A; torsion is 16 T/(pi d^3)."""
    bar, thin = bc.Section.circle(0.02, **STEEL), bc.Section.tube(0.1, 0.0002, **STEEL)
    area = bar.EA / bar.E
    assert of(bar, Qz=100.0) == pytest.approx(3**0.5 * 4.0 / 3.0 * 100.0 / area)
    assert of(bar, Qy=60.0, Qz=80.0) == pytest.approx(of(bar, Qz=100.0), rel=1e-3)
    assert of(thin, Qy=100.0) == pytest.approx(3**0.5 * 2.0 * 100.0 / (thin.EA / thin.E), rel=1e-4)
    assert of(bar, Mx=5.0) == pytest.approx(3**0.5 * 16.0 * 5.0 / (np.pi * 0.02**3))
    assert of(bar, N=500.0, Mx=5.0) == pytest.approx(np.hypot(500.0 / area, of(bar, Mx=5.0)))


@pytest.mark.parametrize("section", SECTIONS[:3], ids=lambda one: type(one).__name__)
def test_no_shear_stress_acts_across_a_surface(section):
    fibres = section.fibres
    y, z, far = fibres.y, fibres.z, (np.abs(fibres.y).max(), np.abs(fibres.z).max())
    size = np.abs(fibres.stress[:, 1:]).max(axis=(0, 1))
    if type(section).__name__ != "Rectangle":
        outside = np.hypot(y, z) > 0.5 * far[0]
        across = np.einsum("fi,fil->fl", np.stack([y, z], 1), fibres.stress[:, 1:]) / far[0]
        assert np.all(np.abs(across[outside]).max(axis=0) <= 1e-12 * size)
        return
    for axis, place in enumerate((y, z)):
        on = np.abs(place) > (1.0 - 1e-9) * far[axis]
        assert np.all(np.abs(fibres.stress[on, 1 + axis]).max(axis=0) <= 1e-12 * size)


@pytest.mark.parametrize(("width", "height"), RECTANGLES)
def test_torsion_of_rectangles_is_the_slope_of_a_membrane(width, height):
    """Saint-Venant's membrane by differences, all around and with its signs."""
    section, count = bc.Section.rectangle(width, height, **STEEL), (160, 160)
    steps = [size / n for size, n in zip((width, height), count, strict=True)]
    second = [
        diags([1.0, -2.0, 1.0], [-1, 0, 1], (n - 1, n - 1)) / h**2 for n, h in zip(count, steps, strict=True)
    ]
    eye = [identity(n - 1) for n in count]
    inner = spsolve((kron(second[0], eye[1]) + kron(eye[0], second[1])).tocsc(), np.full(159 * 159, -2.0))
    phi = np.zeros((161, 161))
    phi[1:-1, 1:-1] = inner.reshape(159, 159)
    along_y, along_z = np.gradient(phi, *steps, edge_order=2)
    moment = 2.0 * phi.sum() * steps[0] * steps[1]
    assert section.GJ / section.shear_modulus == pytest.approx(moment, rel=1e-3)
    fibres = section.fibres
    at = (
        np.rint((fibres.y / width + 0.5) * 160).astype(int),
        np.rint((fibres.z / height + 0.5) * 160).astype(int),
    )
    largest = np.abs(fibres.stress[:, 1:, MX]).max()
    assert fibres.stress[:, 1, MX] == pytest.approx(along_z[at] / moment, abs=6e-3 * largest)
    assert fibres.stress[:, 2, MX] == pytest.approx(-along_y[at] / moment, abs=6e-3 * largest)


def test_torsion_by_the_tables():
    """Timoshenko and Goodier, article 109: T = k (short)^2 long times the largest stress."""
    for ratio, k in ((1.0, 0.208), (1.5, 0.231), (2.0, 0.246), (4.0, 0.282), (10.0, 0.312)):
        for size in ((0.01, 0.01 * ratio), (0.01 * ratio, 0.01)):
            stress = of(bc.Section.rectangle(*size, **STEEL), Mx=1.0) / 3**0.5
            assert 1.0 / (stress * 0.01**3 * ratio) == pytest.approx(k, abs=6e-4)


@pytest.mark.parametrize("which", [QY, QZ])
def test_shear_in_an_i_balances_what_is_cut_off(which):
    """In flanges and web shear stress grows by the growth of bending, and adds up to the force."""
    b, h, tf, tw = 0.1, 0.2, 0.0085, 0.0056
    section = bc.Section.i_beam(b, h, tf, tw, **STEEL)
    fibres = section.fibres
    # along the beam M_y grows by Q_z and M_z by -Q_y for each m
    growth = fibres.stress[:, 0, MY] if which == QZ else -fibres.stress[:, 0, MZ]
    top = np.flatnonzero(np.isclose(fibres.z, h / 2) & (fibres.y > 0.4 * tw))
    top = top[np.argsort(-fibres.y[top])]
    for one in top:
        mid = growth[one] * (h - tf) / h if which == QZ else 0.5 * (growth[one] + growth[top[0]])
        assert fibres.stress[one, 1, which] == pytest.approx(mid * (b / 2 - fibres.y[one]), rel=1e-9)
    web = np.flatnonzero(np.isclose(fibres.y, tw / 2) & (np.abs(fibres.z) < h / 2 - tf + 1e-9))
    web = web[fibres.stress[web, 2, QZ] != 0.0]
    order = web[np.argsort(fibres.z[web])]
    z, shear = fibres.z[order], fibres.stress[order, 2, QZ]
    carried = (z[1] - z[0]) * (shear @ np.array([1, 4, 2, 4, 1])) / 3.0 * tw  # by Simpson, exact
    assert carried == pytest.approx(0.96, abs=0.02)  # the rest are the flanges
    assert shear.max() == pytest.approx(
        (b * h**2 - (b - tw) * (h - 2 * tf) ** 2) / (8 * tw * section.EI[0] / 210e9)
    )


def test_a_cantilever_is_pulled_on_top():
    mech = bc.Mechanism("boom")
    section = bc.Section.rectangle(0.02, 0.03, **STEEL)
    boom = mech.add_beam("boom", section, start="ground", end=(2, 0, 0), segments=4)
    beam = bc.statics(mech).beam("boom")
    loads = np.concatenate([beam.force(0.0), beam.moment(0.0)], axis=1)[0]
    normal, fibres = section.fibres.normal(loads), section.fibres
    assert normal[np.argmax(fibres.z)] == pytest.approx(beam.stress(0.0)[0])
    assert normal[np.argmin(fibres.z)] == pytest.approx(-beam.stress(0.0)[0])
    assert beam.von_mises([0.0, 1.0])[0, 0] == pytest.approx(beam.stress(0.0)[0])
    assert beam.von_mises(0.5).shape == (1,)
    assert boom.segments == 4


def test_the_worst_of_a_run():
    """A shaft-like bar under a load that swings from side to side: stress is a multiple of the moment."""
    mech = bc.Mechanism("boom", gravity=(0, 0, 0))
    section = bc.Section.rectangle(0.02, 0.03, **STEEL)
    boom = mech.add_beam("boom", section, start="ground", end=(1, 0, 0), segments=4, damping=1e-3)
    mech.add_force("push", bc.Wrench(force=("100*sin(20*t)", "30*cos(7*t)", 0)), boom.marker(1.0))
    mech.add_force("turn", bc.Wrench(moment=("40*t", 0, 0)), boom.marker(1.0))
    beam = bc.simulate(mech, 0.4, output_step=2e-3).beam("boom")
    found = beam.worst()
    where = np.unique(np.append(np.linspace(0.0, 1.0, 17), 0.25 * np.arange(5)))
    every = beam.von_mises(where)
    assert found.value == pytest.approx(every.max(), rel=1e-6)
    frame, place = np.unravel_index(np.argmax(every), every.shape)
    assert (found.time, found.station) == pytest.approx((beam.time[frame], where[place]))
    normal = section.fibres.normal(np.concatenate([beam.force(found.at), beam.moment(found.at)], axis=1))
    swing = np.ptp(normal, axis=0)
    assert found.amplitude == pytest.approx(swing.max() / 2)
    fibre = np.argmax((section.fibres.y == found.fibre[0]) & (section.fibres.z == found.fibre[1]))
    assert swing[fibre] == pytest.approx(swing.max())
    assert found.mean == pytest.approx((normal[:, fibre].max() + normal[:, fibre].min()) / 2)
    assert beam.worst(0.5).station == beam.worst(0.5).at == 0.5
    assert beam.worst(0.5).value == pytest.approx(beam.von_mises(0.5).max())


def test_sections_without_sizes_have_no_fibres():
    mech = bc.Mechanism("boom")
    section = bc.Section.general(EA=1e5, GA=1e5, GJ=1.0, EI=1.0, mass_per_length=1.0)
    mech.add_beam("boom", section, start="ground", end=(1, 0, 0))
    beam = bc.statics(mech).beam("boom")
    for ask in (beam.von_mises, beam.worst):
        with pytest.raises(bc.Unsupported, match="fibres of section General are not known: give a section"):
            ask()
