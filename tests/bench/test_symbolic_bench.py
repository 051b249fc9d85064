"""`bellcrank bench symbolic`: its robots, the exchange with other engines' drivers, tables and targets."""

import json
import subprocess
import sys

import click
import numpy as np
import pytest
from rigs.compiled import need_rigs

import bellcrank as bc
from bellcrank.errors import SimulationError
from bellcrank.mechanism.rotation import matrix
from benchmarks import symbolic, symbolic_counts, symbolic_peers
from benchmarks.peers import trees
from benchmarks.symbolic_chains import torus_chain
from benchmarks.symbolic_own import Generated
from benchmarks.symbolic_peers import Files, Peer, check_agreement, prepare
from benchmarks.symbolic_robots import ARMS, TIMED, arm, general, humanoid
from benchmarks.symbolic_times import Race

needs_compiler = pytest.mark.skipif(trees.compiler("c") is None, reason="a C compiler is not installed")


pytestmark = pytest.mark.usefixtures("every_core")


def written(tmp_path, name="general 6R", count=3):
    robot = TIMED[name]()
    return Files.written(robot, robot.states(count), tmp_path)


@pytest.mark.parametrize("name", list(TIMED))
def test_text_tells_the_robot(tmp_path, name):
    files = written(tmp_path, name)
    bodies = trees.read_tree(files.tree)
    for body, joint, carried in zip(bodies, files.robot.joints, files.robot.bodies, strict=True):
        assert (body.free, body.parent, body.mass) == (joint.type == "free", joint.parent, carried.mass)
        np.testing.assert_allclose(body.rotation, matrix(joint.rotation), atol=1e-15)
        np.testing.assert_array_equal(body.position, joint.position)
        np.testing.assert_array_equal(body.com, carried.com)
        np.testing.assert_array_equal(body.inertia, carried.inertia)
    states = trees.read_states(files.numbers, bodies)
    np.testing.assert_array_equal(states.q, files.states.q)
    np.testing.assert_array_equal(states.v, files.states.v)
    np.testing.assert_array_equal(states.effort, files.states.effort)


def test_humanoid_has_thirty_coordinates_and_upright_axes():
    robot = humanoid()
    assert robot.freedoms == 30
    axes = [matrix(body.rotation)[:, 2] for body in robot.mechanism().bodies.values()]
    np.testing.assert_array_equal(np.sort(np.abs(axes), axis=1), np.tile([0.0, 0.0, 1.0], (25, 1)))
    # Engines that number bodies depth first must find them in the order of the text.
    parents = [joint.parent for joint in robot.joints]
    seen: list[int] = []
    for number, parent in enumerate(parents):
        while seen and seen[-1] != parent:
            seen.pop()
        assert seen or number == 0
        seen.append(number)


@pytest.mark.parametrize("name", list(TIMED))
def test_accelerations_are_those_of_lagrange(name):
    """In the coordinates of the other engines: joints' accelerations along z, the trunk's in its own axes."""
    robot = TIMED[name]()
    states = robot.states(2)
    made = Generated(robot.mechanism(states))
    made.set_states(robot, states)
    found = made.accelerations(robot, states)
    for number, row in enumerate(found):
        mech = robot.mechanism(states, number)
        accelerations = bc.prepare(mech, "lagrange").accelerate()
        expected: list[float] = []
        for k, joint in enumerate(robot.joints):
            body, rates = mech.bodies[f"body {k}"], accelerations.body(f"body {k}")
            axes = matrix(body.rotation)
            if joint.type == "free":
                carried = np.cross(body.angular_velocity, body.velocity)
                expected += [*(axes.T @ (rates.linear - carried)), *(axes.T @ rates.angular)]
                continue
            before = np.zeros(3) if joint.parent < 0 else accelerations.body(f"body {joint.parent}").angular
            expected.append(float(axes[:, 2] @ (rates.angular - before)))
        np.testing.assert_allclose(row, expected, rtol=0, atol=1e-9 * np.max(np.abs(expected)))


def test_efforts_are_the_states():
    """Twice the effort, with everything at rest and no gravity, is twice the acceleration."""
    robot = arm("arm", general(3))
    states = robot.states(1)
    states.v[:] = 0.0
    both = []
    for factor in (1.0, 2.0):
        states.effort[:] = factor * np.array([0.3, -0.2, 0.1])
        mech = robot.mechanism(states)
        mech.gravity = (0.0, 0.0, 0.0)
        made = Generated(mech)
        made.program.evaluate(made.inputs[0], made.out)
        both.append(made.out.copy())
    np.testing.assert_allclose(both[1], 2.0 * both[0], rtol=1e-12)
    assert np.max(np.abs(both[0])) > 1e-3


@needs_compiler
def test_driver_evaluates_generated_code(tmp_path):
    files = written(tmp_path)
    source = tmp_path / "sum.c"
    source.write_text(
        "static void generated_accelerations(const double* q, const double* v, const double* e, double* out)"
        " { for (int i = 0; i < 6; ++i) out[i] = q[i] + 10 * v[i] + 100 * e[i]; }\n",
        encoding="utf-8",
    )
    job = trees.Job(files.tree, files.numbers, tmp_path / "build", 3, False)
    flags = [f'-DGENERATED="{source.name}"', '-DNAME="sum"']
    executable, seconds = trees.compiled(job, trees.FOLDER / "generated_trees.c", flags, [source])
    assert seconds > 0.0
    assert trees.compiled(job, trees.FOLDER / "generated_trees.c", flags, [source]) == (executable, seconds)
    peer = Peer("own", "1", {"": executable})
    found = peer.measure(files, 3)["sum"]
    s = files.states
    np.testing.assert_array_equal(found.accelerations, s.q + 10 * s.v + 100 * s.effort)
    assert len(found.nanoseconds) == 3
    assert min(found.nanoseconds) > 0.0


@needs_compiler
def test_failures_of_drivers_are_told(tmp_path):
    files = written(tmp_path)
    source = tmp_path / "wrong.c"
    source.write_text("nonsense", encoding="utf-8")
    job = trees.Job(files.tree, files.numbers, tmp_path / "build", 3, False)
    with pytest.raises(SystemExit, match=r"does not compile: .*error"):
        trees.compiled(job, trees.FOLDER / "generated_trees.c", ['-DGENERATED="wrong.c"'], [source])
    with pytest.raises(SimulationError, match="fake: it failed without a message"):
        Peer("fake", "1", {"": "/bin/false"}).measure(files, 1)


def test_engines_that_are_not_there_are_named(tmp_path):
    files = written(tmp_path)
    note = prepare("mujoco", files, str(tmp_path / "no-python"), tmp_path)
    assert isinstance(note, str)
    assert note.startswith("mujoco: ")


def test_disagreement_is_an_error():
    right = np.array([[1.0, -2.0]])
    assert check_agreement({"a": right, "b": right + 1e-10}) == pytest.approx(5e-11)
    with pytest.raises(SimulationError, match=r"b: its accelerations differ from those of a by 5\.0e-04"):
        check_agreement({"a": right, "b": right + 1e-3})
    with pytest.raises(SimulationError, match="b: "):
        check_agreement({"a": right, "b": np.full((1, 2), np.nan)})


@pytest.mark.oracle
@pytest.mark.parametrize("loop", [False, True])
def test_mujoco_gives_our_accelerations(tmp_path, loop):
    pytest.importorskip("mujoco")
    files = written(tmp_path)
    arguments = [
        "--tree",
        str(files.tree),
        "--states",
        str(files.numbers),
        "--build",
        str(tmp_path / "build"),
    ]
    script = str(symbolic_peers.SCRIPTS / "mujoco_trees.py")
    done = subprocess.run(
        [sys.executable, script, *arguments, "--samples", "2", *(["--loop"] if loop else [])],
        capture_output=True,
        text=True,
        check=True,
    )
    peer = Peer("mujoco", **json.loads(done.stdout.splitlines()[-1]))
    made = Generated(files.robot.mechanism(files.states))
    made.set_states(files.robot, files.states)
    ours = made.accelerations(files.robot, files.states)
    for measured in peer.measure(files, 2).values():
        assert check_agreement({"bellcrank": ours, "mujoco": measured.accelerations}) < 1e-9


def test_the_fastest_algorithm_stands_for_an_engine(tmp_path):
    files = written(tmp_path)
    race = Race(files.robot, [], files, None)
    race.times = {
        ("pinocchio", "aba"): [200.0],
        ("pinocchio", "aba, world convention"): [100.0, 160.0, 90.0],
        ("mujoco", "mj_forward"): [10.0],
        ("mujoco", "kinematics to solve"): [40.0],
        ("bellcrank", "native code"): [20.0],
    }
    assert race.ratio("pinocchio") == pytest.approx(0.2)
    assert race.ratio("mujoco") == pytest.approx(0.5)
    assert race.ratio("casadi") is None


def test_lines_and_parabolas_are_found():
    rows = [
        {
            "coordinates": n,
            "counts": {
                "inverse": {"additions": 75 * n - 108, "multiplications": 86 * n - 112},
                "forward": {"additions": 3 * n * n, "multiplications": 5 * n + 7},
                "inverse_literal": {"additions": 300 * n, "multiplications": 400 * n},
                "forward_literal": {"additions": 30 * n * n, "multiplications": 50 * n * n},
            },
        }
        for n in (2, 4, 6, 8, 12)
    ]
    rows[0]["counts"]["inverse"] = {"additions": 1, "multiplications": 2}  # not fitted
    fit, literal = symbolic_counts.fit_rows("revolute", rows)
    assert (fit["inverse_sums_per_coordinate"], fit["inverse_products_per_coordinate"]) == pytest.approx(
        (75, 86)
    )
    assert fit["inverse_residual"] < 1e-9
    np.testing.assert_allclose(fit["forward_coefficients"], [3.0, 5.0, 7.0], atol=1e-8)
    assert fit["forward_residual"] < 1e-9
    assert literal["inverse_sums_per_coordinate"] == pytest.approx(300)
    np.testing.assert_allclose(literal["forward_coefficients"], [80.0, 0.0, 0.0], atol=1e-7)
    rows[-1]["counts"]["inverse"] = {"additions": 0, "multiplications": 0}
    assert symbolic_counts.fit_rows("revolute", rows)[0]["inverse_residual"] > 100.0


def test_limits_hold_for_sums_and_products():
    assert symbolic_counts.within({"additions": 5, "multiplications": 6}, (5, 6))
    assert not symbolic_counts.within({"additions": 6, "multiplications": 5}, (5, 6))
    assert not symbolic_counts.within({"additions": 4, "multiplications": 7}, (5, 6))
    assert not symbolic_counts.within(None, (5, 6))


@pytest.mark.parametrize("name", list(symbolic_counts.TARGETS))
def test_arms_keep_to_their_operations(name):
    row = symbolic_counts.arm_row(name, ARMS[name]())
    assert row["inverse_met"], row["inverse"]
    assert row["forward_met"], row["forward"]


def test_report_as_json_and_plot(tmp_path, capsys):
    need_rigs()
    image = tmp_path / "figures.png"
    arguments = ["--part", "operations", "--part", "growth", "--arm", "PUMA, full", "--chain", "revolute"]
    assert symbolic.main([*arguments, "--largest", "8", "--plot", str(image), "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    puma, *published = data["results"]["arms"]
    assert puma["geometry"] == "PUMA, full"
    assert [row["inverse"] for row in published] == ["328/365", "509/971", "386/450"]
    literal, recipe = puma["counts"]["inverse_literal"], puma["counts"]["inverse"]
    assert literal["additions"] + literal["multiplications"] > 2 * (
        recipe["additions"] + recipe["multiplications"]
    )
    growth = data["results"]["growth"]
    assert [row["coordinates"] for row in growth] == [2, 4, 6, 8]
    assert growth[2]["forward_published"] == "818/943 .. 1875/2389"
    for row in growth:
        literal, recipe = (row["counts"][f"forward{form}"] for form in ("_literal", ""))
        assert symbolic_counts.total(literal) > symbolic_counts.total(recipe)
    targets = {row["target"]: row["met"] for row in data["results"]["targets"]}
    assert targets["PUMA, full: inverse, operations"]
    assert targets["revolute chain: inverse per joint, exactly linear"]
    assert image.read_bytes().startswith(b"\x89PNG")


def test_figures_need_the_growth(tmp_path):
    with pytest.raises(click.UsageError, match="--part growth"):
        symbolic.main(
            ["--part", "operations", "--arm", "PUMA, full", "--plot", str(tmp_path / "figures.png")]
        )


def test_times_without_peers(capsys):
    assert symbolic.main(["--part", "times", "--robot", "PUMA", "--peer", "none", "--repeats", "1"]) == 0
    printed = capsys.readouterr().out
    assert "native code" in printed
    assert "first evaluation" in printed


def test_torus_chain_touches():
    """Points of contact coincide: the pose of each torus follows from the start of its four coordinates."""
    mech = torus_chain(6)
    one, two = mech.bodies["torus 0"], mech.bodies["torus 1"]
    u1, v1, u2, v2 = (0.2, 2.4, 1.1, 2.7)

    def point(u, v):
        reach = 0.3 + 0.08 * np.cos(v)
        return np.array([reach * np.cos(u), reach * np.sin(u), 0.08 * np.sin(v)])

    first = one.position + matrix(one.rotation) @ point(u1, v1)
    second = two.position + matrix(two.rotation) @ point(u2, v2)
    np.testing.assert_allclose(first, second, atol=1e-12)
