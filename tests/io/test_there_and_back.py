"""Every mechanism comes back from each format with equal accelerations, or the difference is listed."""

from __future__ import annotations

import numpy as np
import pytest
from rigs.random_mechanisms import random_mechanism
from rigs.there_and_back import EXAMPLES, FORMATS, difference, of_example, of_mujoco, there_and_back
from rigs.writable import writable

from bellcrank import gallery

SCRIPTS = sorted(path.stem for path in EXAMPLES.glob("[0-9]*.py"))
NEAR = 1e-7  # relative; contacts of curved surfaces are found to less than rounding


@pytest.mark.parametrize("suffix", FORMATS)
@pytest.mark.parametrize("name", gallery.catalogue())
def test_the_gallery(name, suffix, tmp_path):
    found = there_and_back(gallery.catalogue()[name](), suffix, tmp_path)
    assert found is None or difference(*found[:2]) < NEAR


@pytest.mark.parametrize("name", SCRIPTS)
def test_examples(name, monkeypatch, tmp_path):
    made = of_example(name, monkeypatch)
    assert made
    for k, mech in enumerate(made):
        for suffix in FORMATS:
            folder = tmp_path / f"{k}"
            folder.mkdir(exist_ok=True)
            found = there_and_back(mech, suffix, folder)
            assert found is None or difference(*found[:2]) < NEAR, (mech, suffix)


@pytest.mark.parametrize("seed", range(8))
def test_random_mechanisms(seed, tmp_path):
    for suffix in FORMATS:
        found = there_and_back(random_mechanism(seed), suffix, tmp_path)
        assert found is None or difference(*found[:2], seed) < NEAR


@pytest.mark.parametrize("suffix", ["urdf", "xml"])
@pytest.mark.parametrize("seed", range(16))
def test_random_mechanisms_of_what_formats_have(seed, suffix, tmp_path):
    """Nothing of them is refused."""
    found = there_and_back(writable(seed, suffix == "xml"), suffix, tmp_path)
    assert found is not None
    assert difference(*found[:2], seed) < NEAR


@pytest.mark.oracle
@pytest.mark.parametrize("name", [*gallery.catalogue(), *map(str, range(16))])
def test_mujoco_has_the_same_accelerations_at_the_start(name, tmp_path):
    """With inputs at their values; MuJoCo refuses only what is listed."""
    pytest.importorskip("mujoco")
    mech = writable(int(name)) if name.isdigit() else gallery.catalogue()[name]()
    found = there_and_back(mech, "xml", tmp_path)
    if found is None:
        return
    accelerations = of_mujoco(tmp_path / "mech.xml", mech)
    if accelerations is None:
        assert any("MuJoCo takes no mass" in fault.rule for fault in found[2])
        return
    ours, theirs = accelerations
    assert np.abs(ours - theirs).max(initial=0.0) < NEAR * max(1.0, np.abs(ours).max(initial=0.0))
