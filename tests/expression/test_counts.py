"""The counting rule, and how many operations derivatives take on the examples of the theory page."""

import pytest
from tori import torus_frame, torus_link, transform_items

from bellcrank import _core
from bellcrank import expression as ex
from bellcrank.expression import count_operations, derivative, symbol, symbols
from bellcrank.expression.expression import fresh_symbol

x, y, z = symbols("x y z")


@pytest.fixture
def plain():
    """Expressions are built without trigonometric merging."""
    before = _core.expression_rules(False, False)
    yield
    _core.expression_rules(*before)


@pytest.mark.parametrize(
    ("f", "counts"),
    [
        (x, (0, 0, 0, 0, 0)),
        (-x, (0, 0, 0, 0, 0)),
        (x - y, (1, 0, 0, 0, 0)),
        (x + y + z + 2.0, (3, 0, 0, 0, 0)),
        (2.0 * x, (0, 1, 0, 0, 0)),
        (-x * y * z, (0, 2, 0, 0, 0)),
        (x / y, (0, 1, 1, 0, 0)),
        (ex.Vector(x / y, z / y), (0, 2, 1, 0, 0)),
        (ex.sin(x) * ex.cos(x) + ex.tan(x), (1, 1, 0, 3, 0)),
        (ex.exp(ex.sqrt(x)) + abs(x), (1, 0, 0, 0, 3)),
        (ex.Vector(ex.sin(x), ex.sin(x), ex.sin(x) + 1.0), (1, 0, 0, 1, 0)),
        (ex.piecewise(x < y, 1.0, 2.0), (0, 0, 0, 0, 2)),
    ],
)
def test_the_counting_rule(f, counts):
    found = count_operations(f)
    assert (
        found.additions,
        found.multiplications,
        found.divisions,
        found.trigonometric,
        found.other,
    ) == counts
    assert found.total == sum(counts)


def arithmetic(f, given, form):
    found = count_operations(ex.Vector(f), derivative(ex.Vector(f), given, form))
    return found.additions + found.multiplications


def poses():
    q = [fresh_symbol(f"q{i}") for i in range(12)]  # of which nothing is in the graph under other rules
    frame = torus_frame(*q[:2])
    link = torus_link(*q[:4])
    two = link @ torus_link(*q[4:8])
    return {
        "frame": (transform_items(frame), q[:2]),
        "link": (transform_items(link), q[:4]),
        "two links": (transform_items(two), q[:8]),
        "three links": (transform_items(two @ torus_link(*q[8:])), q),
    }


# What a prototype took for the same derivatives, forward and factored, without trigonometric merging.
PROTOTYPE = {"frame": (93, 96), "link": (377, 438), "two links": (1098, 1220), "three links": (2010, 2193)}


@pytest.mark.parametrize("name", PROTOTYPE)
def test_not_above_the_prototype(plain, name):
    f, given = poses()[name]
    assert arithmetic(f, given, "forward") <= PROTOTYPE[name][0]
    assert arithmetic(f, given, "factored") <= PROTOTYPE[name][1]
    assert arithmetic(f, given, "least") <= min(
        arithmetic(f, given, "forward"), arithmetic(f, given, "reverse")
    )


def test_merging_halves_the_derivatives_of_a_link(plain):
    before = arithmetic(*poses()["link"], "least")
    _core.expression_rules(True, False)
    assert arithmetic(*poses()["link"], "least") <= before / 2


def test_sharing_on_two_links_beats_unshared_paths_a_hundred_times(plain):
    paths = ex.count_path_operations(*poses()["two links"])
    _core.expression_rules(True, False)
    assert paths >= 100 * arithmetic(*poses()["two links"], "least")


def funnel(width: int, neck: int = 1):
    """16 symbols, a few sums of them, still fewer numbers, 16 outputs."""
    given = symbols(" ".join(f"x{i}" for i in range(16)))
    middle = []
    for i in range(width):
        total = 0.3 * given[i]
        for j, s in enumerate(given):
            total = total + (0.1 * j + 0.2 * i + 0.5) * ex.sin(s) * given[(j + i + 1) % 16]
        middle.append(ex.sin(total))
    numbers = [ex.exp(sum(middle[i::neck], start=ex.Expression(0.0))) for i in range(neck)]
    outputs = []
    for i in range(16):
        phase = sum(
            ((0.3 + 0.1 * i + j) * number for j, number in enumerate(numbers)), start=ex.Expression(0.2)
        )
        outputs.append(ex.sin(phase) * numbers[i % neck])
    return outputs, given


@pytest.mark.parametrize(("width", "neck"), [(1, 1), (2, 1), (3, 1), (4, 2), (6, 3)])
def test_factoring_and_elimination_win_on_funnels(width, neck):
    f, given = funnel(width, neck)
    least = arithmetic(f, given, "least")
    assert least == min(arithmetic(f, given, "factored"), arithmetic(f, given, "eliminated"))
    assert least <= 0.9 * arithmetic(f, given, "forward")
    assert least <= 0.9 * arithmetic(f, given, "reverse")


def test_path_counts_of_a_ladder():
    """n rungs of two edges each: 2^n paths; those through k products have k factors."""
    f, rungs = x, 20
    for _ in range(rungs):
        f = f * f
    # each rung is two edges with one factor: 2^n paths of n factors
    paths = 2**rungs
    assert ex.count_path_operations([f], [x]) == rungs + (paths - 1) + paths * (rungs - 1)


def test_derivatives_leave_nothing_behind_of_the_forms_that_lost():
    f, given = poses()["two links"]
    least = derivative(ex.Vector(f), given)
    size, _ = _core.expression_graph_size()
    assert derivative(ex.Vector(f), given) == least
    assert _core.expression_graph_size()[0] == size
    assert symbol("later") != given[0]
