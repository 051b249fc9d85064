"""Live sessions of bodies that touch."""

import numpy as np
from rigs.live import box_on_a_table, do, engine, wall


def test_a_box_is_pushed_along_a_table_and_stops():
    live = engine(box_on_a_table())
    do(live, "play")
    wall(live, 0.5)
    rest = live.state.position[0].copy()
    assert abs(rest[2] - 0.1) < 2e-4
    do(live, "grab", body="box", point=(0.0, 0.0, 0.0), target=(0.3, 0.0, 0.1))
    wall(live, 2.0)
    assert abs(live.state.position[0, 0] - 0.3) < 0.02
    do(live, "release", body="box")
    wall(live, 1.0)
    stopped = live.state.position[0].copy()
    wall(live, 1.0)
    assert np.allclose(live.state.position[0], stopped, atol=1e-6)
    run = live.trajectory()
    assert run.contacts == ()
    forces = run.force("table")
    assert abs(forces.effort[-1, forces.coordinates.index("box.force_z")] - 4.0 * 9.81) < 1e-3


def test_it_is_rewound_and_goes_on():
    live = engine(box_on_a_table())
    do(live, "play")
    wall(live, 1.0)
    do(live, "rewind", time=0.5)
    do(live, "play")
    wall(live, 0.5)
    assert abs(live.state.position[0, 2] - 0.1) < 2e-4
