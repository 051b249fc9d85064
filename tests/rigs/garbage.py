"""Values that no front end of a live session should send."""


def garbage(source):
    """One of them, drawn from a `random.Random`."""
    pool = [
        None, True, -1, 0, 1e308, float("nan"), float("inf"), "", "x" * 1000, "ground", "link 1", b"\0", [],
        {}, [1, 2, 3], [None] * 3, ["a", "b", "c"], (1e30, 0, 0), {"a": 1}, object(),
        "../../etc/passwd", 2**70,
    ]  # fmt: skip
    return source.choice(pool)
