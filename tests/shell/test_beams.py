"""Commands on beams: one is added, printed, changed, renamed, taken out; what is wrong is said."""

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.shell.interpreter import candidates

BOOM = 'Tube end=[2, 0, 0] segments=4 diameter="60 mm" wall="3 mm" E="210 GPa" nu=0.3 density=7850'


def test_a_beam_is_added_and_printed(shell, run):
    run("gravity 0 0 -9.81", f"beam boom start=ground damping=1e-3 {BOOM}")
    beam = shell.session.mechanism.beams["boom"]
    assert beam.section == bc.Section.tube(0.06, 0.003, E=210e9, nu=0.3, density=7850)
    assert (beam.segments, beam.damping) == (4, 1e-3)
    assert list(shell.session.mechanism.joints) == ["boom/start"]
    run("sstepsize 0.01", "step 2")
    told = run("pbeam boom")
    found, state = told.data["beams"]["boom"], shell.session.state()
    shown = shell.session.trajectory().beam("boom")
    assert found["station"] == [0.0, 0.5, 1.0, 1.5, 2.0]
    assert found["mass"] == pytest.approx(2.0 * beam.section.mass_per_length)
    assert found["moment"] == pytest.approx(shown.moment()[-1], rel=1e-6, abs=1e-6)
    assert found["von_mises"] == pytest.approx(shown.von_mises()[-1], rel=1e-6, abs=1.0)
    assert found["deflection"][-1] == pytest.approx(state.position[-1] - (2.0, 0, 0), abs=1e-9)
    assert told.text.startswith("boom, 2 m, 8.43423 kg\n    0 ")
    assert len(told.text.splitlines()) == 6


def test_its_values_are_edited(shell, run):
    run(
        f"beam boom start=ground {BOOM}",
        "edit [beams, boom, segments] 6",
        'edit [beams, boom, damping] "1 ms"',
    )
    run("edit [beams, boom, section, wall] 0.004", "edit [beams, boom, end] [2, 0, 1]")
    beam = shell.session.mechanism.beams["boom"]
    assert (beam.segments, beam.damping, beam.section.wall, beam.end) == (6, 1e-3, 0.004, (2, 0, 1))
    assert len(shell.session.mechanism.bodies) == 7
    run("rename beams boom jib")
    assert shell.session.mechanism.joints["boom/start"].marker_2.body == "jib/0"
    refused = shell.execute("remove jib")
    assert not refused.ok
    assert "others refer to it: joint 'boom/start'" in refused.text
    run("remove jib -all")
    assert not shell.session.mechanism.bodies
    run("undo")
    assert list(shell.session.mechanism.beams) == ["jib"]


def test_contacts_name_beams_and_stay_with_them(shell, run):
    run("body floor mass=1 inertia=[1, 1, 1] shapes=[{type: Box, size: [4, 4, 0.1]}]")
    run(f"beam boom start=[0, 0, 1] {BOOM.replace('[2, 0, 0]', '[2, 0, 1]')}")
    run("force touch Contact boom floor stiffness=1e6", "edit [beams, boom, segments] 3")
    ends = shell.session.mechanism.forces["touch"].ends
    assert [end.body for end in ends] == ["boom/0", "boom/1", "boom/2", "boom/3", "floor"]


def test_sections_without_sizes(shell, run):
    run("beam rope General start=ground end=[0, 0, -2] EA=1e4 GA=[1e4, 1e4] GJ=1 EI=[1, 1] mass_per_length=1")
    told = run("pbeam")
    assert "von_mises" not in told.data["beams"]["rope"]
    assert "stress" not in told.text
    assert np.shape(told.data["beams"]["rope"]["force"]) == (9, 3)
    assert "beams            1 (rope 2 kg)" in run("info").text


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (
            "beam boom Tub start=ground end=[1, 0, 0]",
            "no section of this kind, got 'Tub'; did you mean 'Tube'?",
        ),
        ("beam boom Circle start=ground end=[1, 0, 0]", "diameter"),
        (f"beam boom start=ground strength=2 {BOOM}", "strength"),
        (f"beam boom start=grund {BOOM}", "grund"),
        ("pbeam boom", "there is no beam of this name"),
    ],
)
def test_what_is_refused(shell, line, told):
    reply = shell.execute(line)
    assert not reply.ok
    assert told in reply.text
    assert not shell.session.mechanism.beams


def test_help_and_words(shell, run):
    run(f"beam boom start=ground {BOOM}")
    assert "Add an elastic beam" in run("help beam").text
    assert "Tube       A round tube" in run("kinds beam").text
    assert candidates(shell.session, "beam jib Tu") == ["Tube"]
    assert candidates(shell.session, "beam jib Tube wa") == ["wall="]
    assert candidates(shell.session, "beam jib Tube sta") == ["start=", "start_joint=", "stations="]
    assert candidates(shell.session, "pbeam b") == ["boom"]
    assert "boom" in candidates(shell.session, "remove b")
