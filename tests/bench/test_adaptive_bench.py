"""`bellcrank bench adaptive` on small linkages, and the linkages themselves."""

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.compile.compile import compile_mechanism
from benchmarks import adaptive
from benchmarks.adaptive_figures import plot
from benchmarks.adaptive_linkages import bicycle_chain, millipede, molecule, random_forces
from benchmarks.adaptive_protein import anywhere, protein

LINKAGES = (bicycle_chain(), millipede(6, spine=18), random_forces(molecule(60), 3), anywhere(protein(60), 3))


pytestmark = pytest.mark.usefixtures("every_core")


@pytest.mark.parametrize("linkage", LINKAGES, ids=lambda linkage: linkage.name)
def test_the_core_s_model_is_that_of_the_mechanism(linkage):
    """The same accelerations, by the recursion, of what has names and of what has none."""
    model = compile_mechanism(linkage.mechanism())
    expected = bc.prepare(model, "recursive").accelerate()
    start = adaptive.Start.of(linkage)
    np.testing.assert_allclose(model.initial.position, start.poses[0], atol=1e-12)
    system = adaptive._core.Adaptive(start.core)
    still = np.zeros((len(linkage.mass), 3))
    system.set_state(0.0, *start.poses, still, still)
    linear, angular, _ = system.accelerate()
    largest = np.abs(np.hstack([expected.linear, expected.angular])).max()
    np.testing.assert_allclose(linear, expected.linear, rtol=0, atol=1e-9 * largest)
    np.testing.assert_allclose(angular, expected.angular, rtol=0, atol=1e-9 * largest)


def test_linkages_are_those_of_the_paper():
    assert len(bicycle_chain().mass) == 30
    walker = millipede()
    assert len(walker.mass) == 13_000
    assert np.count_nonzero(walker.parent < 0) == 1
    assert walker.floats
    np.testing.assert_array_equal(molecule(500, seed=3).parent, molecule(500, seed=3).parent)


def test_the_protein_is_a_backbone_as_files_give_it():
    """Every torsion is there; hinges of psi lie at C, 0.1525 nm from those of phi at C-alpha before them."""
    chain = protein(300, seed=2)
    assert len(chain.mass) == 301
    assert chain.floats
    assert np.flatnonzero(chain.parent < 0).tolist() == [0]
    np.testing.assert_array_equal(chain.parent[1:], np.arange(300))
    at_c = np.isclose(np.linalg.norm(chain.position[1:], axis=1), 0.1525)
    assert 120 < np.count_nonzero(at_c) < 150
    assert 13.0 < chain.mass.min() < chain.mass.max() < 100.0


def test_a_small_report_and_its_figures(tmp_path):
    settings = {
        "joints": 400,
        "legs": 8,
        "forces": (1, 10),
        "steps": 5,
        "millipede_steps": 5,
        "chain_steps": 50,
        "repeats": 1,
    }
    report = adaptive.run(**settings, python="none")
    results = report.to_dict()["results"]
    assert {"table1", "table1_exact", "protein", "figure5", "figure1", "targets"}
    assert {"dynamics", "dynamics_error", "dynamics_distance", "dynamics_energy"} <= set(results)
    assert all(row["joints"] <= 400 and row["us"] > 0.0 for row in results["table1"])
    assert results["figure1"][-1]["error"] == 0.0
    assert [row["free"] for row in results["dynamics"]] == [10]
    for row in results["dynamics_error"]:
        assert row["locked"] == pytest.approx(row["told"], abs=1e-6)
        assert row["locked"] < row["truncated"] + 1e-6
    assert results["dynamics_distance"][-1]["off"] < 0.1 * results["dynamics_distance"][0]["off"]
    for row in results["dynamics_energy"]:
        assert abs(row["unexplained"]) < 1e-3 * (1.0 + row["kinetic"])
    plot(report, tmp_path)
    assert len(list(tmp_path.glob("*.png"))) == 6


def test_atoms_may_be_alike():
    one, other = molecule(50, even=True), molecule(50)
    np.testing.assert_array_equal(one.position, other.position)
    assert np.ptp(one.mass) == 0.0 < np.ptp(other.mass)
