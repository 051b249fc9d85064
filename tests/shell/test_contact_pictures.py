"""Contacts in the command language: what was run keeps their points, and pictures show them."""

import numpy as np
import pytest

import bellcrank as bc

pytest.importorskip("matplotlib")


@pytest.fixture
def box(tmp_path, run, monkeypatch):
    mech = bc.Mechanism("box on a table")
    mech.replace(mech.ground, shapes=[bc.Plane(size=1.0)])
    mech.add_body("box", position=(0, 0, 0.1), shapes=[bc.Box(size=(0.2, 0.2, 0.2), density=500.0)])
    mech.add_force("table", bc.Contact(1e5, friction=0.4), "box", "ground")
    monkeypatch.chdir(tmp_path)
    bc.save(mech, "box.yaml")
    run("load box.yaml", "sstepsize 0.01")


def test_several_commands_make_one_run_with_all_points(box, run):
    run("step 3", "step 2", "save run.h5")
    saved = bc.Trajectory.load("run.h5")
    assert len(saved) == 6
    contact = saved.contact("table")
    assert contact.count.tolist() == [0, 4, 4, 4, 4, 4]
    together = np.add.reduceat(contact.points().normal_force, np.arange(0, 20, 4))
    forces = saved.force("table")
    np.testing.assert_allclose(
        together, forces.effort[1:, forces.coordinates.index("box.force_z")], rtol=1e-9
    )


def test_pictures_show_contacts(box, run, shell, tmp_path, monkeypatch):
    drawn = []
    monkeypatch.setattr("bellcrank.trajectory.showing._draw", lambda *given: drawn.append(given))
    run("step 3", "draw picture now.png -contacts -scale 200")
    run("draw corpus step.png 2 -contacts -scale '2 kN/m'", "step 2")
    assert [(given[1], given[4][1:]) for given in drawn] == [
        ("now.png", (True, 200.0)),
        ("step_00004.png", (True, 2000.0)),
    ]
    assert [given[2] for given in drawn] == pytest.approx([0.03, 0.04])
    monkeypatch.undo()
    monkeypatch.chdir(tmp_path)
    run("draw picture real.png -contacts")
    assert (tmp_path / "real.png").stat().st_size > 1000


@pytest.mark.parametrize(
    ("lines", "text"),
    [
        (("draw picture a.png -contacts",), "nothing has been run yet"),
        (("step 1", "draw null -contacts"), "-contacts belongs to pictures"),
        (("step 1", "draw picture a.png -scale 3"), "-scale is that of -contacts"),
        (("step 1", "draw picture a.png -contacts -scale -3"), "force_scale must be greater than zero"),
        (
            ("step 1", "sb box -t 0 0 1", "draw picture a.png -contacts"),
            "moved since the last step|nothing has",
        ),
    ],
)
def test_what_cannot_be_shown_is_refused(box, shell, lines, text):
    *before, last = lines
    for line in before:
        assert shell.execute(line).ok
    reply = shell.execute(last)
    assert not reply.ok
    assert any(part in reply.text for part in text.split("|"))
