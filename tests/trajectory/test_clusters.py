"""Bodies that move as one in adaptive runs, and their colours in pictures."""

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.trajectory.clusters import colors, heads


def test_heads_are_those_of_a_walk_to_the_ground():
    rng = np.random.default_rng(0)
    for n in (0, 1, 2, 7, 60):
        carriers = np.array([int(rng.integers(-1, k)) for k in range(n)], dtype=int)
        order = rng.permutation(n)
        mixed = np.full(n, -1)
        for k in range(n):
            mixed[order[k]] = order[carriers[k]] if carriers[k] >= 0 else -1
        moves = rng.random(n) < 0.3
        expected = []
        for body in range(n):
            at = body
            while at >= 0 and not moves[at]:
                at = mixed[at]
            expected.append(at)
        assert heads(mixed, moves).tolist() == expected


def test_colours_tell_clusters_apart():
    found = colors(np.array([-1, 0, 0, 3, -1, 5]))
    assert len({tuple(one) for one in found.tolist()}) == 4
    assert (found[0] == found[4]).all()
    assert (found >= 0.0).all()
    assert (found <= 1.0).all()


@pytest.fixture(scope="module")
def run():
    """A chain of which few joints are free."""
    mech = bc.gallery.chain(12, angle=-0.5)
    return bc.simulate(mech, 0.5, formulation="adaptive", max_joints=3, max_error=0.0, step=5e-3)


def test_bodies_of_a_cluster_keep_their_places_in_it(run):
    """Between two frames, turns within a cluster are alike, those across a free joint are not."""
    frame = len(run) - 1
    numbers = run.clusters(run.time[frame])
    position, rotation = run.poses(run.bodies)
    turned = 2.0 * np.arctan2(rotation[..., 3], rotation[..., 0])  # about z
    change = turned[frame] - turned[frame - 1]
    assert 1 < len(set(numbers.tolist())) <= 4
    for one in range(12):
        for two in range(one):
            is_one = numbers[one] == numbers[two]
            assert (abs(change[one] - change[two]) < 1e-12) == is_one
    assert (np.abs(np.diff(position[-2:, numbers < 0], axis=0)) < 1e-12).all()


def test_at_the_start_nothing_has_moved(run):
    assert set(run.clusters(0.0).tolist()) == {-1}


def test_floating_bodies_are_of_no_cluster_of_the_ground():
    crowd = bc.gallery.crowd(2)
    run = bc.simulate(crowd, 0.05, formulation="adaptive", step=5e-3, max_error=0.5)
    assert set(run.clusters(0.0).tolist()) == {0, 19}


def test_pictures_show_clusters(run):
    """Bodies of one colour are neighbours; a run in which all joints may move has none."""
    plain, clustered = (
        np.asarray(draw_to_pixels(run, clusters=clusters)).reshape(-1, 3) for clusters in (False, True)
    )
    assert (plain != clustered).any()
    with pytest.raises(bc.Unsupported, match=r"in it all joints may move"):
        bc.simulate(bc.gallery.chain(2), 0.1).draw(clusters=True)


def draw_to_pixels(run, **options):
    figure = run.draw(times=[0.5], joints=False, size=(2, 1.5), dpi=40, **options)
    figure.canvas.draw()
    return np.asarray(figure.canvas.buffer_rgba())[..., :3]


def test_films_show_clusters(run, tmp_path):
    run.animate(tmp_path / "chain.gif", clusters=True, fps=4, width=120)
    run.animate(tmp_path / "plain.gif", fps=4, width=120)
    assert (tmp_path / "chain.gif").read_bytes() != (tmp_path / "plain.gif").read_bytes()
