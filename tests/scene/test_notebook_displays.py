"""What notebooks show of results: a table, a picture where there is one; figures once; films that play."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.progress import ProgressBar

mpl = pytest.importorskip("matplotlib")


def pendulum():
    mech = bc.Mechanism("pendulum")
    length = mech.add_parameter("L", 0.5, unit="m", low=0.1)
    rod = mech.add_body("rod", mass=1.0, inertia=(0.02, 0.02, 0.001), com=(0, 0, -length))
    mech.add_joint("pivot", bc.Revolute(), mech.ground.marker(axis="y"), rod.marker(axis="y"), position=0.3)
    mech.add_force("spring", bc.TorsionSpring(1.0, 0.1), joint="pivot")
    return mech


def results():
    mech = pendulum()
    run = bc.simulate(mech, 0.5, ledger=True, method="dopri5")
    times = np.linspace(0.0, 0.5, 21)
    data = {"joint.pivot.theta_z": (times, run.resample(times).joint("pivot").position[:, 0])}
    quick = {"duration": 0.2, "progress": False}
    return {
        "info": bc.info(mech),
        "verify": bc.verify(mech, states=1, duration=0.05),
        "statics": bc.statics(mech),
        "modes": bc.modes(bc.statics(mech).at),
        "linearize": bc.linearize(bc.statics(mech).at),
        "equilibrium": bc.find_equilibrium(pendulum()),
        "balance": run.energy_balance(),
        "sweep": bc.sweep(mech, {"L": [0.4, 0.5, 0.6]}, "final joint.pivot.theta_z", **quick),
        "optimize": bc.optimize(mech, {"L": (0.3, 0.6)}, "max joint.pivot.theta_z.rate", budget=6, **quick),
        "fit": bc.fit(mech, {"L": (0.3, 0.7)}, data, progress=False),
    }


@pytest.fixture(scope="module")
def found():
    return results()


NAMES = (
    "info",
    "verify",
    "statics",
    "modes",
    "linearize",
    "equilibrium",
    "balance",
    "sweep",
    "optimize",
    "fit",
)


@pytest.mark.parametrize("name", NAMES)
def test_results_show_a_table_and_a_short_repr(name, found):
    result = found[name]
    html, text = result._repr_html_(), repr(result)
    assert html.startswith('<div class="bellcrank"><b>')
    assert html.count("<table") == html.count("</table>") >= 1
    assert html.count("<tr") >= 1
    assert "\n" not in text
    assert len(text) < 160
    assert text.startswith(f"<{type(result).__name__} ")
    pictured = name in ("statics", "modes", "sweep", "optimize", "fit")
    assert ("data:image/png;base64," in html) == pictured
    assert str(result).splitlines()[0].strip()[:20].strip().replace("'", "&#x27;") in html


def test_long_tables_are_folded(found):
    html = found["verify"]._repr_html_()
    assert "<details><summary>" in html
    assert len(repr(found["verify"])) < 160


def test_a_picture_that_fails_is_left_out(found, monkeypatch):
    monkeypatch.setattr(type(found["modes"]), "draw", lambda *_, **__: 1 / 0)
    assert "data:image" not in found["modes"]._repr_html_()


def test_a_figure_is_shown_once(monkeypatch):
    from matplotlib import pyplot as plt

    shown = []
    stand_in = SimpleNamespace(display=lambda data, raw: shown.append((data, raw)))
    monkeypatch.setitem(
        sys.modules,
        "IPython",
        SimpleNamespace(display=stand_in, get_ipython=lambda: None, version_info=(8, 24)),
    )
    monkeypatch.setitem(sys.modules, "IPython.display", stand_in)
    monkeypatch.setattr(mpl, "get_backend", lambda: "module://matplotlib_inline.backend_inline")
    plt.close("all")
    figure = bc.simulate(pendulum(), 0.1).plot("joint")
    assert plt.get_fignums()  # after the cell it would be drawn ...
    figure._ipython_display_()
    assert not plt.get_fignums()  # ... but not once it has been shown
    ((data, raw),) = shown
    assert raw is True
    assert data["image/png"].startswith(b"\x89PNG")


def test_films_play(tmp_path):
    run = bc.simulate(pendulum(), 0.1)
    film = run.animate(fps=10, width=64)
    html = film._repr_html_()
    assert html.startswith(("<video controls", '<img alt="film'))
    film.save(tmp_path / f"film{film.kind}")
    assert (tmp_path / f"film{film.kind}").read_bytes() == film.data
    with pytest.raises(bc.MechanismError, match=r"the film is a \.(mp4|gif)"):
        film.save(tmp_path / "film.txt")
    assert run.animate(tmp_path / "film.gif", fps=10, width=64) is None


def test_results_are_never_dumped(found):
    mech = pendulum()
    run = bc.simulate(mech, 0.1)
    system = bc.prepare(mech, "lagrange")
    shown = [
        run.at(0.05),
        system.accelerate(),
        bc.scene.of(mech),
        bc.scene.of(mech).placed(),
        bc.scene.of(mech).pieces[0].mesh,
        bc.vibration(run.time, np.sin(run.time)),
        system.derivatives(of="acceleration", by="L"),
        bc.gradient(mech, "final joint.pivot.theta_z", by="L", duration=0.1),
    ]
    for result in shown:
        assert repr(result).startswith(f"<{type(result).__name__} ".replace("Placed ", "Placed,"))
        assert len(repr(result)) < 160
    assert repr(run.energy) == f"<energy, {len(run.time)} frames>"
    assert repr(run.violation) == f"<violation of constraints, {len(run.time)} frames>"
    assert "<table" in shown[-1]._repr_html_()
    assert "<table" in shown[-2]._repr_html_()


def test_a_picture_of_statics_in_a_file_is_not_on_the_screen(tmp_path):
    from matplotlib import pyplot as plt

    plt.close("all")
    bc.statics(pendulum()).draw(tmp_path / "rest.png")
    assert not plt.get_fignums()


def test_progress_is_one_line_in_notebooks_without_widgets(monkeypatch, capsys):
    monkeypatch.setattr("rich.console._is_jupyter", lambda: True)
    monkeypatch.setattr("bellcrank.progress.find_spec", lambda _: None)
    with ProgressBar(True, "film", 2.0, counted=True) as bar:
        for done in (0.0, 0.001, 1.0):
            bar.show(done, "a picture")
    assert capsys.readouterr().err == "\r  0 %\r 50 %\r     \r"


def test_errors_in_notebooks_show_the_lines_of_the_user():
    with pytest.raises(bc.MechanismError) as raised:
        bc.simulate(pendulum(), -1.0)
    lines = raised.value._render_traceback_()
    assert len(lines) == 3
    assert "bc.simulate(pendulum(), -1.0)" in lines[1]
    assert str(raised.value) in lines[2]
