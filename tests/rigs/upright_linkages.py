"""A four-bar and a slider-crank in the xz plane, hinged about y."""

from rigs.linkages import upright_bar

import bellcrank as bc

Y = (0.0, 1.0, 0.0)


def four_bar(kind=None):
    """Crank of 1 m, coupler and rocker of sqrt 5 m, feet 3 m apart; hinges about y: three rows redundant.

    kind: of the joint between coupler and rocker.
    """
    mech = bc.Mechanism("four-bar")
    a, b, c, d = (0, 0, 0), (0, 0, 1), (2, 0, 2), (3, 0, 0)
    (crank, l1), (coupler, l2), (rocker, l3) = (
        upright_bar(mech, name, p, q) for name, p, q in (("crank", a, b), ("coupler", b, c), ("rocker", d, c))
    )
    revolute = bc.Revolute()
    for name, how, one, two in (
        ("A", revolute, mech.ground.marker(a, axis=Y), crank.marker((-l1 / 2, 0, 0), axis=Y)),
        ("B", revolute, crank.marker((l1 / 2, 0, 0), axis=Y), coupler.marker((-l2 / 2, 0, 0), axis=Y)),
        (
            "C",
            kind or revolute,
            coupler.marker((l2 / 2, 0, 0), axis=Y),
            rocker.marker((l3 / 2, 0, 0), axis=Y),
        ),
        ("D", revolute, mech.ground.marker(d, axis=Y), rocker.marker((-l3 / 2, 0, 0), axis=Y)),
    ):
        mech.add_joint(name, how, one, two)
    return mech


def slider_crank(speed):
    """A centric slider crank, crank 0.5 m, rod 2 m, no gravity; crank angle speed * t, 0 stretched out."""
    mech = bc.Mechanism("slider-crank", gravity=(0, 0, 0))
    crank, rod = (
        upright_bar(mech, name, p, q)
        for name, p, q in (("crank", (0, 0, 0), (0.5, 0, 0)), ("rod", (0.5, 0, 0), (2.5, 0, 0)))
    )
    piston = mech.add_body("piston", mass=3.0, inertia=(0.1, 0.1, 0.1), position=(2.5, 0, 0))
    ground, x = mech.ground, (1.0, 0.0, 0.0)
    mech.add_joint("main", bc.Revolute(), ground.marker(axis=Y), crank[0].marker((-0.25, 0, 0), axis=Y))
    mech.add_joint(
        "pin", bc.Revolute(), crank[0].marker((0.25, 0, 0), axis=Y), rod[0].marker((-1, 0, 0), axis=Y)
    )
    mech.add_joint("gudgeon", bc.Spherical(), rod[0].marker((1, 0, 0)), piston.marker())
    mech.add_joint("bore", bc.Prismatic(), ground.marker((2.5, 0, 0), axis=x), piston.marker(axis=x))
    mech.add_drive("motor", joint="main", position=bc.Harmonic(0.0, 0.0, slope=speed))
    return mech
