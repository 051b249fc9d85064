"""A00 slider-crank through singular poses, and the slider-crank of the SUNDIALS examples."""

from bellcrank.gallery import slider_crank, spring_slider_crank


def test_slider_crank_through_singular_poses(
    load, follow, check, column, formulation, through_singular_poses
):
    """Crank and rod are equal: twice a turn the slider passes the crank's pivot, where two branches meet."""
    problem = load("A00_slider_crank_singular")
    rows, p = problem["rows"], problem["params"]
    mechanism = slider_crank(
        p["crank"]["L"],
        p["rod"]["L"],
        crank_mass=p["crank"]["m"],
        rod_mass=p["rod"]["m"],
        slider_mass=p["slider"]["m"],
        angle=rows[0]["theta"],
        rate=rows[0]["omega"],
    )
    run, frames = follow(mechanism, column(rows, "t"), 0.25, **through_singular_poses)
    crank, slider = run.joint("pivot"), run.joint("slide")
    # `dca` judges no row, so rounding is large in a step that ends close to such a pose, and a multistep
    # method carries it on: 2e-9, 2e-8 and 7e-8 with three builds of the core.
    by_chance = (formulation, through_singular_poses["method"]) == ("dca", "adams")
    limit = 2e-7 if by_chance else 1e-8
    check("angle", crank.position[frames, 0] + rows[0]["theta"], column(rows, "theta"), limit)
    check("rate", crank.velocity[frames, 0], column(rows, "omega"), limit)
    check("slider x", slider.position[frames, 0], column(rows, "slider_x"), limit)
    check("slider v", slider.velocity[frames, 0], column(rows, "slider_v"), limit)


def test_sundials_slider_crank(load, follow, check, column):
    problem = load("sundials_slider_crank")
    rows, p = problem["rows"], problem["params"]
    mechanism = spring_slider_crank(
        p["a"],
        crank_inertia=p["J1"],
        rod_inertia=p["J2"],
        rod_mass=p["m2"],
        stiffness=p["k"],
        damping=p["c"],
        rest_length=p["l0"],
        force=p["F"],
    )
    run, frames = follow(mechanism, column(rows, "t"), 0.25, method="dopri5", tolerance=1e-12)
    crank, slide = run.joint("pivot"), run.joint("slide")
    check("q", crank.position[frames, 0], column(rows, "q"), 1e-9)
    check("qd", crank.velocity[frames, 0], column(rows, "qd"), 1e-9)
    check("x", slide.position[frames, 0], column(rows, "x"), 1e-9)
    check("p", slide.position[frames, 1], column(rows, "p"), 1e-9)
