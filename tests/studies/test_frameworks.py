"""`bellcrank.jax`, `bellcrank.casadi`, `bellcrank.torch`: the same derivatives, composed by each of them."""

import doctest
from importlib import import_module
from importlib.util import find_spec

import numpy as np
import pytest
from rigs.studied import crank_rocker, oscillator

import bellcrank as bc
from bellcrank.errors import MechanismError, Unsupported

BY = ["coupler", "mass", "A.theta_z"]
AT = np.array([1.05, 1.5, 0.5])


def runs(of=("final joint.D.theta_z", "rms joint.A.theta_z.rate")):
    return bc.RunFunction(crank_rocker(), of, by=BY, duration=0.3, method="dopri5", tolerance=1e-10)


def loss(found, x):
    """A sum of squares of what a function gives and takes, in the arithmetic of x."""
    return ((found - 0.3) ** 2).sum() + 0.1 * (x**2).sum()


def slopes_of_loss(function, x):
    found = np.atleast_1d(function(x))
    return 2.0 * (found - 0.3) @ np.atleast_2d(function.jacobian(x)) + 0.2 * x


@pytest.fixture
def jax():
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    yield jax
    jax.config.update("jax_enable_x64", False)


@pytest.fixture
def jaxed(jax):
    return import_module("bellcrank.jax").wrap


@pytest.mark.parametrize("kind", ["run", "state", "one number"])
def test_jax_differentiates_through_a_loss(jax, jaxed, kind):
    function = {
        "run": runs,
        "state": lambda: bc.StateFunction(
            crank_rocker(), ["joint.D.theta_z.acceleration", "body.rod.ax"], by=BY
        ),
        "one number": lambda: runs("final joint.D.theta_z"),
    }[kind]()
    wrapped, x = jaxed(function), jax.numpy.array(AT)
    assert wrapped(x).shape == function.shape
    assert wrapped(x).dtype == np.float64
    np.testing.assert_array_equal(wrapped(x), function(AT))
    of_x = lambda x: loss(wrapped(x), x)  # noqa: E731
    expected = slopes_of_loss(function, AT)
    np.testing.assert_allclose(jax.grad(of_x)(x), expected, rtol=1e-12)
    np.testing.assert_allclose(jax.jit(jax.grad(of_x))(x), expected, rtol=1e-12)
    np.testing.assert_allclose(jax.jacfwd(wrapped)(x), function.jacobian(AT), rtol=1e-14)
    np.testing.assert_allclose(jax.jacrev(wrapped)(x), function.jacobian(AT), rtol=1e-14)
    step = 1e-4 * np.eye(len(AT))
    beside = [(of_x(x + h) - of_x(x - h)) / 2e-4 for h in step]
    np.testing.assert_allclose(beside, expected, rtol=1e-5, atol=1e-5 * np.abs(expected).max())


def test_jax_goes_through_points_one_by_one(jax, jaxed):
    function = runs()
    wrapped, points = jaxed(function), jax.numpy.stack([AT, 1.1 * AT, 0.9 * AT])
    np.testing.assert_array_equal(jax.vmap(wrapped)(points), [function(x) for x in points])
    slopes = jax.jit(jax.vmap(jax.jacrev(wrapped)))(points)
    np.testing.assert_allclose(slopes, [function.jacobian(x) for x in points], rtol=1e-14)


def test_jax_refuses(jax, jaxed):
    wrapped = jaxed(runs("final joint.D.theta_z"))
    with pytest.raises(MechanismError, match=r"it must be of float64, got 'float32'; jax\.config"):
        wrapped(jax.numpy.array(AT, dtype="float32"))
    with pytest.raises(MechanismError, match=r"x: it must hold 3 numbers: coupler, mass, A\.theta_z"):
        wrapped(jax.numpy.ones(2))
    with pytest.raises(Unsupported, match="second derivatives of <RunFunction of 1 by 3: coupler"):
        jax.hessian(wrapped)(jax.numpy.array(AT))
    with pytest.raises(Exception, match="mechanism 'crank and rocker' cannot be assembled"):
        wrapped(jax.numpy.array([30.0, 1.0, 0.5]))


@pytest.fixture
def casadi():
    return pytest.importorskip("casadi")


@pytest.fixture
def casadied(casadi):
    return import_module("bellcrank.casadi").wrap


def test_casadi_differentiates_through_a_loss(casadi, casadied):
    for function in (runs(), runs("final joint.D.theta_z"), bc.StateFunction(crank_rocker(), by=BY)):
        wrapped, x = casadied(function), casadi.MX.sym("x", len(BY))
        assert wrapped.size1_out(0) == len(function.of)
        np.testing.assert_array_equal(np.array(wrapped(AT))[:, 0], np.atleast_1d(function(AT)))
        of_x = casadi.sumsqr(wrapped(x) - 0.3) + 0.1 * casadi.sumsqr(x)
        found = casadi.Function("slopes", [x], [casadi.gradient(of_x, x)])(AT)
        np.testing.assert_allclose(np.array(found)[:, 0], slopes_of_loss(function, AT), rtol=1e-12)
        jacobian = casadi.Function("jacobian", [x], [casadi.jacobian(wrapped(x), x)])(AT)
        np.testing.assert_allclose(np.array(jacobian), np.atleast_2d(function.jacobian(AT)), rtol=1e-14)


QUIET = {"print_time": 0, "error_on_fail": True}
OPTIMIZERS = {
    "ipopt": {"ipopt": {"hessian_approximation": "limited-memory", "print_level": 0, "sb": "yes"}},
    "sqpmethod": {
        "hessian_approximation": "limited-memory", "print_header": False, "print_iteration": False,
        "print_status": False, "qpsol": "qrqp", "tol_du": 1e-9,
        "qpsol_options": {"print_iter": False, "print_header": False},
    },
}  # fmt: skip


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_casadi_designs(casadi, casadied, optimizer):
    """The least change of spring and mass, by squares, with which the cart is at x = -0.5 m after 1 s."""
    run = bc.RunFunction(
        oscillator(), "final joint.track.x", by=["stiffness", "mass"], duration=1.0, tolerance=1e-10
    )
    wrapped, x = casadied(run), casadi.MX.sym("x", 2)
    problem = {"x": x, "f": (x[0] / 10 - 1) ** 2 + (x[1] - 1) ** 2, "g": wrapped(x)}
    solver = casadi.nlpsol("solver", optimizer, problem, OPTIMIZERS[optimizer] | QUIET)
    found = solver(x0=[6.0, 1.0], lbx=run.bounds[:, 0], ubx=run.bounds[:, 1], lbg=-0.5, ubg=-0.5)
    stiffness, mass = np.array(found["x"])[:, 0]
    ratio = (2 * np.pi / 3) ** 2  # of stiffness to mass, for cos(sqrt(ratio)) = -0.5
    best = (ratio / 10 + 1) / (ratio**2 / 100 + 1)
    assert mass == pytest.approx(best, rel=1e-5)
    assert stiffness == pytest.approx(ratio * best, rel=1e-5)


def test_casadi_refuses(casadi, casadied):
    wrapped, x = casadied(runs("final joint.D.theta_z")), casadi.MX.sym("x", 3)
    with pytest.raises(RuntimeError, match=r"second derivatives of <RunFunction.*limited-memory"):
        casadi.hessian(wrapped(x), x)
    with pytest.raises(RuntimeError, match="cannot be assembled"):
        wrapped([30.0, 1.0, 0.5])


@pytest.fixture
def torch():
    if find_spec("torch") is None:
        pytest.skip("this system has no torch, which is too large for any extra of the tests")
    return import_module("torch")


def test_torch_differentiates_through_a_loss(torch):
    wrap = import_module("bellcrank.torch").wrap
    for function in (runs(), runs("final joint.D.theta_z")):
        wrapped = wrap(function)
        x = torch.tensor(AT, requires_grad=True)
        assert wrapped(x).shape == function.shape
        loss(wrapped(x), x).backward()
        np.testing.assert_allclose(x.grad.numpy(), slopes_of_loss(function, AT), rtol=1e-12)
        assert torch.autograd.gradcheck(wrapped, (x,), eps=1e-5, atol=1e-5)
        with pytest.raises(Unsupported, match="second derivatives of <RunFunction"):
            torch.autograd.functional.hessian(lambda x, of=wrapped: loss(of(x), x), x)
        with pytest.raises(MechanismError, match=r"it must be of float64, got 'torch\.float32'"):
            wrapped(x.float())
        with pytest.raises(MechanismError, match=r"x: it must hold 3 numbers: coupler, mass, A\.theta_z"):
            wrapped(torch.ones(2, dtype=torch.float64))


@pytest.mark.parametrize(
    ("name", "extra"), [("jax", "frameworks"), ("casadi", "frameworks"), ("torch", "torch")]
)
def test_what_is_missing_is_named_with_its_extra(monkeypatch, name, extra):
    wrap = import_module(f"bellcrank.{name}").wrap
    monkeypatch.setitem(__import__("sys").modules, name, None)
    with pytest.raises(
        Unsupported, match=rf"bellcrank\.{name} needs {name}: pip install 'bellcrank\[{extra}\]'"
    ):
        wrap(bc.RunFunction(oscillator(), "final joint.track.x", by="stiffness", duration=0.1))
    with pytest.raises(MechanismError, match=r"give a bc\.RunFunction or a bc\.StateFunction"):
        wrap(np.sin)


@pytest.mark.parametrize("name", ["jax", "casadi"])
def test_the_examples_of_their_descriptions_run(request, name):
    request.getfixturevalue(name)
    module = import_module(f"bellcrank.{name}")
    (example,) = doctest.DocTestFinder(recurse=False).find(module.wrap, "wrap", globs={})
    failed, tried = doctest.DocTestRunner().run(example)
    assert (failed, tried) == (0, len(example.examples))
