"""`bellcrank export`: equations as C, LaTeX and text."""

import json
from pathlib import Path

from click.testing import CliRunner

from bellcrank.cli.main import bellcrank

PENDULUM = """\
bellcrank: 1
name: pendulum
gravity: [0, -9.81, 0]
bodies:
  rod: {mass: 3, inertia: [0.001, 1, 1], com: [0, -1, 0]}
joints:
  theta: {type: Revolute, first: ground, second: rod, limits: {theta_z: {lower: -1, upper: 1}}}
"""


def call(*arguments):
    return CliRunner().invoke(bellcrank, ["export", *arguments])


def pendulum():
    Path("pendulum.yaml").write_text(PENDULUM, encoding="utf-8")
    return "pendulum.yaml"


def test_text_without_a_file(four_bar):
    shown = call(pendulum())
    assert shown.exit_code == 0
    assert "M[1,1] = 4\n" in shown.output
    assert "b[1] = -29.43*sin(theta)" in shown.output
    assert "Not contained:" in shown.output


def test_c_with_a_frame(four_bar):
    found = json.loads(call(four_bar, "out.c", "--frame", "coupler", "--json").stdout)
    assert found["written"] == ["out.c", "out.h"]
    assert "out_coupler_jacobian" in found["functions"]
    assert "out_forward_dynamics" not in found["functions"]
    assert (
        "void out_bias(double t, const double *q, const double *u, double *b);" in Path("out.h").read_text()
    )


def test_what_is_left_out_is_noted(four_bar):
    shown = call(pendulum(), "pendulum.c", "--name", "swing")
    assert shown.exit_code == 0
    assert "not contained: limits" in shown.stderr
    assert "'theta'" in shown.stderr
    assert shown.stdout == "written: pendulum.c, pendulum.h\n"


def test_latex(four_bar):
    assert call(pendulum(), "pendulum.tex").exit_code == 0
    assert r"\sin \theta" in Path("pendulum.tex").read_text()


def test_other_suffixes_are_refused(four_bar):
    shown = call(four_bar, "out.py")
    assert shown.exit_code == 2
    assert "a .c, .tex or .txt file, not 'out.py'" in shown.output + shown.stderr
