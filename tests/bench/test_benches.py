"""Every benchmark runs with a tiny configuration, and its JSON holds what it promises."""

import json
import math

import numpy as np
import pytest

from bellcrank import _core, gallery
from bellcrank.compile.compile import compile_mechanism
from bellcrank.errors import MechanismError
from bellcrank.formulations.preparing import prepare
from bellcrank.mechanism.rotation import rotate
from bellcrank.run.plan import METHODS
from benchmarks import choose, choose_mechanisms, dense, loop_search, loops, scaling, tasora, timing
from benchmarks.loop_runs import GENERATORS, LoopProblem, Setting, judge
from benchmarks.peers.loop_problems import PROBLEMS
from benchmarks.timing import Spread

ENVIRONMENT = {
    "date",
    "cpu",
    "cores",
    "pinned_to_core",
    "load",
    "system",
    "compiler",
    "flags",
    "core",
    "versions",
}


pytestmark = pytest.mark.usefixtures("every_core")


def output(main, arguments, capsys):
    assert main(arguments) == 0
    text = capsys.readouterr().out

    def refuse(name):
        raise AssertionError(f"{name} is not JSON")

    data = json.loads(text, parse_constant=refuse)
    assert data["environment"].keys() == ENVIRONMENT
    assert {"bellcrank", "python", "numpy"} <= data["environment"]["versions"].keys()
    assert data["notes"]
    return data


def assert_spread(spread):
    assert 0 < spread["smallest"] <= spread["median"] <= spread["largest"] < math.inf


def test_tasora_shows_published_beside_measured(capsys):
    arguments = ["--steps", "30", "--repeats", "2", "--mechanism", "shoulder", "--mechanism", "man with bike"]
    data = output(tasora.main, [*arguments, "--json"], capsys)
    assert data["bench"] == "tasora"
    shoulder, man = data["results"]["table_2"]
    assert shoulder["published_us"] == pytest.approx(6000.0)
    for key in ("semi_implicit_us", "rk4_us"):
        assert shoulder[key]["smallest"] <= shoulder[key]["median"] <= shoulder[key]["largest"]
    assert_spread(shoulder["acceleration_us"])
    assert (man["published_variables"], man["published_us"]) == (200, pytest.approx(18_000.0))
    assert (man["coordinates"], man["constraints"]) == (102, 92)
    assert man["semi_implicit_us"]["median"] < 0.1 * man["published_us"]


def test_tasora_shows_naive_solutions_beside(capsys):
    """Both dense solutions, and how often a step holds three of them; so far from 1 that no load turns it."""
    names = ("complete arm", "ring of 40, hinges")
    chosen = [word for name in names for word in ("--mechanism", name)]
    data = output(tasora.main, ["--steps", "200", "--repeats", "3", *chosen, "--json"], capsys)
    arm, ring = data["results"]["naive"]
    assert (arm["unknowns"], ring["unknowns"]) == (104, 442)  # a ring in the plane has three redundant rows
    for row in (arm, ring):
        assert_spread(row["gauss_us"])
        assert_spread(row["lapack_us"])
        step = row["semi_implicit_us"]["median"]
        assert row["step_by_gauss"] == pytest.approx(3 * row["gauss_us"]["median"] / step)
    assert arm["step_by_gauss"] > 3.0
    assert ring["step_by_gauss"] > 20.0
    assert ring["step_by_lapack"] > 5.0


WITHOUT_FORCES = [entry for entry in tasora.ENTRIES if not entry.make().forces]


@pytest.mark.parametrize("entry", WITHOUT_FORCES, ids=lambda e: e.name)
def test_the_naive_solution_is_the_same(entry):
    """What is timed solves the same equations: accelerations are those that `lagrange` finds."""
    model = compile_mechanism(entry.make())
    equations = dense.dense_equations(model)
    system = prepare(model, "lagrange")
    system.project()
    found = system.accelerate()
    for solve in (_core.eliminate_dense, np.linalg.solve):
        linear = solve(equations.matrix, equations.right)[: 6 * model.core.bodies].reshape(-1, 6)[:, :3]
        turns = system.state().rotation
        arms = np.array([rotate(tuple(q), tuple(c)) for q, c in zip(turns, model.com, strict=True)])
        spins = system.state().angular_velocity
        centres = found.linear + np.cross(found.angular, arms) + np.cross(spins, np.cross(spins, arms))
        np.testing.assert_allclose(linear, centres, atol=1e-8 * max(1.0, np.abs(centres).max()))


def test_dense_elimination():
    rng = np.random.default_rng(5)
    for size in (1, 2, 7, 40):
        matrix, right = rng.normal(size=(size, size)), rng.normal(size=size)
        matrix[0, 0] = 0.0 if size > 1 else 1.0  # rows must be exchanged
        np.testing.assert_allclose(
            _core.eliminate_dense(matrix, right), np.linalg.solve(matrix, right), rtol=1e-9
        )
    with pytest.raises(ValueError, match="singular"):
        _core.eliminate_dense(np.zeros((2, 2)), np.ones(2))
    with pytest.raises(ValueError, match="n, n"):
        _core.eliminate_dense(np.eye(3), np.ones(2))


@pytest.mark.parametrize(
    ("name", "variables", "coordinates", "constraints"),
    [
        (e.name, e.published.variables, e.published.coordinates, e.published.constraints)
        for e in tasora.ENTRIES[:4]
    ],
)
def test_systems_are_as_large_as_published(name, variables, coordinates, constraints, capsys):
    arguments = ["--steps", "2", "--repeats", "1", "--mechanism", name, "--json"]
    (row,) = output(tasora.main, arguments, capsys)["results"]["table_2"]
    assert (row["variables"], row["coordinates"], row["constraints"]) == (variables, coordinates, constraints)


def test_steps_shorter_than_a_tick_of_the_clock_last_a_tick(monkeypatch):
    monkeypatch.setattr(timing.time, "thread_time", lambda: 1.0)
    model = compile_mechanism(gallery.n_four_bar(1))
    assert timing.step_time(model, "rk4", 1e-3, 2, 3).smallest > 0.0


def test_scaling_reports_every_family_and_size(capsys):
    arguments = ["--bodies", "12", "--bodies", "24", "--steps", "20", "--repeats", "2", "--json"]
    data = output(scaling.main, arguments, capsys)
    rows = data["results"]["times"]
    assert [(row["family"], row["bodies"]) for row in rows] == [
        (family, bodies) for family in ("chain", "ring", "ladder") for bodies in (12, 24)
    ]
    for row in rows:
        assert_spread(row["acceleration_us"])
        assert row["acceleration_us_per_body"] == pytest.approx(
            row["acceleration_us"]["median"] / row["bodies"]
        )
    for fit in data["results"]["fits"]:
        assert 0 < fit["acceleration_exponent"] < 4


def test_exponent_of_a_power_law():
    sizes = [20, 100, 5000]
    assert scaling.exponent(sizes, [3.0 * n**1.25 for n in sizes]) == pytest.approx(1.25)
    assert scaling.exponent([20], [1.0]) is None


def test_scaling_draws_its_times(tmp_path, capsys):
    pytest.importorskip("matplotlib")
    image = tmp_path / "scaling.png"
    assert scaling.main(["--bodies", "6", "--steps", "5", "--repeats", "1", "--plot", str(image)]) == 0
    assert image.read_bytes().startswith(b"\x89PNG")
    assert "exponent" in capsys.readouterr().out


def test_loops_without_peers(capsys):
    arguments = ["--problem", "four_bar:1", "--duration", "0.2", "--peer", "none", "--repeats", "2", "--json"]
    data = output(loops.main, arguments, capsys)
    rows = data["results"]["settings"]
    assert {row["family"] for row in rows} == set(loop_search.RANGES)
    assert all(row["engine"] == "bellcrank" and row["problem"] == "four_bar 1" for row in rows)
    (rk4,) = [row for row in rows if row["family"] == "rk4"]
    assert rk4["within"] is True
    assert rk4["energy_error"] <= 1e-3
    assert rk4["gap"] <= 1e-7
    assert_spread(rk4["milliseconds"])
    assert rk4["us_per_step_at_1ms"] > 0
    (ratio,) = data["results"]["ratios"]
    assert ratio["own_method"] in METHODS
    assert ratio["user_ratio"] is None


def test_missing_peers_are_named(tmp_path, capsys):
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\necho 'No module named mujoco' >&2\nexit 1\n", encoding="utf-8")
    python.chmod(0o755)
    arguments = ["--problem", "four_bar:1", "--duration", "0.1", "--peer", "mujoco", "--repeats", "1"]
    data = output(loops.main, [*arguments, "--peer-python", str(python), "--json"], capsys)
    assert any("mujoco: No module named mujoco" in note for note in data["notes"])


@pytest.mark.parametrize("text", ["chain:3", "four_bar", "ring:many"])
def test_unknown_problems_are_refused(text):
    with pytest.raises(MechanismError, match="give four_bar:N or ring:N"):
        loops.parse_problem(text)


def row(engine, family, level, milliseconds, within=True):
    spread = Spread(milliseconds, milliseconds, milliseconds)
    return {"engine": engine, "family": family, "level": level, "within": within, "milliseconds": spread}


def test_ratios_count_solutions_within_bounds_only():
    rows = [
        row("bellcrank", "rk4", "user", 4.0),
        row("bellcrank", "dopri5", "user", 1.0, within=False),
        row("mujoco", "RK4, rows as compiled", "user", 20.0),
        row("mujoco", "RK4, hardened rows", "expert", 6.0),
        row("pinocchio", "rk4", "user", 2.0, within=False),
    ]
    found = loops.ratios_of(loops.fastest(rows))
    assert (found["own_method"], found["user_ratio"], found["expert_ratio"]) == ("rk4", 5.0, 1.5)
    assert found["expert_peer"] == "mujoco, RK4, hardened rows"


@pytest.mark.parametrize(("name", "n"), [("four_bar", 1), ("four_bar", 3), ("ring", 6)])
def test_problems_are_the_peers(name, n):
    """The generator's rods are those that the peers simulate, in the same order and state."""
    problem, reference = GENERATORS[name](n), PROBLEMS[name](n)
    starts = reference.starts(reference.angle)
    for k, body in enumerate(problem.bodies.values()):
        middle = starts[k] + 0.5 * _axis(reference.angle[k])
        assert body.position[:2] == pytest.approx(tuple(middle), abs=1e-12)
        assert body.angular_velocity[2] == pytest.approx(reference.rate[k])


def _axis(angle):
    import numpy as np

    return np.array([math.cos(angle), math.sin(angle)])


def test_judge_tells_good_from_coarse():
    problem = LoopProblem("four_bar", 2, 0.5)
    assert judge(problem, Setting("rk4", 5e-3)).within
    coarse = judge(problem, Setting("semi_implicit_euler", 5e-3))
    assert not coarse.within
    assert coarse.energy_error > 1e-3
    assert coarse.gap < 1e-7


def test_search_finds_a_coarse_step_within_bounds():
    problem = LoopProblem("four_bar", 1, 0.3)
    found = loop_search.search(problem, "rk4")
    assert found.setting is not None
    assert 1e-3 < found.setting.value <= 0.3
    assert judge(problem, found.setting).within


def test_settings_are_stored_and_replaced(tmp_path):
    path = tmp_path / "settings.json"
    first, second = LoopProblem("four_bar", 1, 10.0), LoopProblem("ring", 20, 1.0)
    found = loop_search.Found(Setting("rk4", 0.01, {"refinements": 0}), 1.0)
    loop_search.store([loop_search.entry(first, "rk4", found)], path)
    loop_search.store([loop_search.entry(second, "rk4", loop_search.Found())], path)
    loop_search.store([loop_search.entry(first, "rk4", loop_search.Found(Setting("rk4", 0.02), 1.0))], path)
    values = [(entry["problem"], entry["value"]) for entry in loop_search.stored(path)]
    assert values == [("four_bar", 0.02), ("ring", None)]


def test_stored_settings_cover_the_peers_problems():
    known = {(entry["problem"], entry["n"]) for entry in loop_search.stored()}
    assert {(problem.name, problem.n) for problem in loops.PeerSettings.stored().problems()} <= known


def test_a_report_as_markdown(capsys):
    assert tasora.main(["--steps", "2", "--repeats", "1", "--mechanism", "man with bike", "--markdown"]) == 0
    lines = capsys.readouterr().out.splitlines()
    table = [line for line in lines if line.startswith("|")]
    assert lines[0] == "## tasora"
    assert [len(line.split(" | ")) for line in table][:6] == [10] * 6  # two tables; others where peers are
    assert table[0].startswith("| mechanism | variables 2000 |")
    assert table[2].startswith("| man with bike | 200 | 194 |")
    assert any(line.startswith("- The paper does not give the data of the man") for line in lines)


def test_a_system_that_is_run_again_does_the_same():
    model = compile_mechanism(gallery.n_four_bar(1))
    times = np.array([0.0, 0.5, 1.0])
    first, second = timing.timed_runs(model, "adams", times, 2, tolerance=1e-8)
    assert first.outcome.steps == second.outcome.steps
    assert np.array_equal(first.frames, second.frames)


def test_choose_times_auto_beside_the_pairs():
    report = choose.run(1, ("double pendulum",)).to_dict()
    rows = report["results"]["choose"]
    assert [row["tolerance"] for row in rows] == list(choose.TOLERANCES)
    for row in rows:
        assert row["chosen"] == "recursive-adams"
        assert len(row["pairs"]) == 12
        taken = [value for value in row["pairs"].values() if not isinstance(value, str)]
        assert row["best_ms"] == pytest.approx(1e3 * min(taken))
        assert row["ratio"] == pytest.approx(row["auto_ms"] / row["best_ms"])


def test_choose_has_forty_mechanisms_that_can_be_built():
    listed = choose_mechanisms.choices()
    assert len({choice.name for choice in listed}) == len(listed) >= 40
    for choice in listed:
        assert len(choice.make().bodies) > 0
