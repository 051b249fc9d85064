"""What notebooks show: a picture that opens, the facts, and what is wrong."""

import re
from base64 import b64decode
from html import unescape

import matplotlib as mpl

import bellcrank as bc

mpl.use("Agg")


def picture_in(html):
    (data,) = re.findall(r'src="data:image/png;base64,([^"]+)"', html)
    return b64decode(data)


def test_a_mechanism():
    html = bc.gallery.four_bar()._repr_html_()
    assert picture_in(html).startswith(b"\x89PNG")
    assert "4 (4 Revolute)" in html
    assert "bellcrank-faults" not in html


def test_a_broken_mechanism_says_all_that_is_wrong():
    mech = bc.Mechanism("broken <b>")
    body = mech.add_body("bar", 1.0, (1, 1, 1), position=(0, 0, 2))
    mech.add_joint("near", bc.Distance(length=1.0), mech.ground, body)
    mech.add_joint("far", bc.Distance(length=5.0), mech.ground.marker((0, 0, 1)), body.marker())
    html = unescape(mech._repr_html_())
    assert "bellcrank-faults" in html
    assert "far" in html
    picture_in(html)
    assert "broken &lt;b&gt;" in mech._repr_html_()


def test_references_to_what_is_not_there_are_named_and_the_rest_is_drawn():
    mech = bc.gallery.four_bar()
    mech.add_joint("lost", bc.Revolute(), bc.Marker("nobody"), bc.Marker("coupler"))
    html = unescape(mech._repr_html_())
    assert "nobody" in html
    picture_in(html)


def test_an_empty_mechanism():
    assert "empty" in bc.Mechanism("empty")._repr_html_()


def test_a_run_and_how_it_ended():
    run = bc.simulate(bc.gallery.four_bar(), 0.05)
    html = run._repr_html_()
    picture_in(html)
    assert "finished" in html
    assert "frames" in html
    assert "bellcrank-faults" not in html
    stopped = bc.Trajectory(run.layout, run.store, "stopped", {}, run.origin)
    assert "bellcrank-faults" in stopped._repr_html_()
    told = bc.Trajectory(run.layout, run.store)
    assert "<img" not in told._repr_html_()


def test_a_system_and_what_it_left_out():
    system = bc.prepare(bc.gallery.four_bar(), "lagrange")
    system.accelerate()
    html = unescape(system._repr_html_())
    picture_in(html)
    assert "lagrange" in html
    assert str(system.stats.dropped[0]) in html


def test_what_assembly_did():
    mech = bc.Mechanism("apart")
    body = mech.add_body("bar", 1.0, (1, 1, 1), position=(0.3, 0, 0))
    mech.add_joint("pin", bc.Revolute(), mech.ground, body)
    html = bc.assemble(mech)._repr_html_()
    assert "moved 0.3 m" in html
    assert "assembled by" in html
