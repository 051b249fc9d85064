"""Inputs in the shell: made, followed by a motor, set between runs."""

import numpy as np

MAKE = (
    "body cart mass=2 inertia=[1,1,1]",
    "joint track PrismaticX ground cart",
    "input push 4 unit=N",
    "force motor JointMotor track effort=push",
    "method rk4",
)


def test_an_input_is_set_between_runs(shell, run):
    run(*MAKE)
    assert run("input push").text == "4 N"
    run("run 1")
    run("input push -8")
    run("run 1")
    run("step 3")
    motion = shell.session.trajectory()
    cart = motion.body("cart")
    at = motion.time.searchsorted(2.0)
    np.testing.assert_allclose(cart.velocity[at, 0], 2.0 - 4.0, rtol=0, atol=1e-9)
    np.testing.assert_allclose(cart.position[at, 0], 1.0 + 2.0 - 2.0, rtol=0, atol=1e-9)
    pushes = motion.input("push").value
    np.testing.assert_array_equal(pushes[motion.time <= 1.0], 4.0)
    np.testing.assert_array_equal(pushes[motion.time > 1.0], -8.0)
    run("undo")
    run("undo")
    run("undo")
    assert run("input push").data == {"input": "push", "value": 4.0}


def test_what_is_wrong_with_an_input_is_told(shell):
    for line in MAKE:
        assert shell.execute(line).ok
    for line, rule in (
        ("input pull", "there is none of this name; there are 'push'"),
        ("input push 3 unit=kN", "it is there already"),
        ("input sin 3", "meaning in expressions"),
        ("input pull 3 low=2", "it takes unit"),
        ("body load mass=push inertia=[1,1,1]", "must not depend on the input 'push'"),
    ):
        reply = shell.execute(line)
        assert not reply.ok
        assert rule in reply.text, reply.text
