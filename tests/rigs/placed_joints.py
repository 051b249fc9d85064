"""Mechanisms whose joints say where they start, and where they do."""

import bellcrank as bc

Y = {"axis": (0, 1, 0)}


INERTIA = (0.01, 0.1, 0.1)


def arm(first=None, second=None, **placed):
    """Two links along x from the origin, hinged about y; each gets the keywords of its joint."""
    mech = bc.Mechanism("arm", gravity=(0, 0, -9.81))
    a = mech.add_body("a", 1.0, INERTIA, com=(0.5, 0, 0))
    b = mech.add_body("b", 2.0, INERTIA, com=(0.5, 0, 0), position=(1, 0, 0), **placed)
    mech.add_joint("h1", bc.Revolute(), mech.ground.marker(**Y), a.marker(**Y), **(first or {}))
    mech.add_joint("h2", bc.Revolute(), a.marker((1, 0, 0), **Y), b.marker(**Y), **(second or {}))
    return mech


def four_bar(crank=None, rocker=None):
    mech = bc.Mechanism("four-bar", gravity=(0, -9.81, 0))

    def bar(name, length, **pose):
        steel = bc.Box(size=(length, 0.02, 0.008), position=(length / 2, 0, 0), density=7850.0)
        return mech.add_body(name, shapes=[steel], **pose)

    one, two = bar("crank", 0.12), bar("coupler", 0.36, position=(0.12, 0, 0))
    three = bar("rocker", 0.28, position=(0.40, 0, 0), rotation=(0.6, 0, 0, 0.8))
    mech.add_joint("pivot 1", bc.Revolute(), mech.ground, one, **(crank or {}))
    mech.add_joint("pin 1", bc.Revolute(), one.marker((0.12, 0, 0)), two)
    mech.add_joint("pin 2", bc.Revolute(), two.marker((0.36, 0, 0)), three.marker((0.28, 0, 0)))
    mech.add_joint("pivot 2", bc.Revolute(), mech.ground.marker((0.40, 0, 0)), three, **(rocker or {}))
    return mech


def starts(mech, *names):
    """Positions and velocities of joints in the first frame."""
    run = bc.simulate(mech, 1e-3)
    return [(run.joint(n).position[0].tolist(), run.joint(n).velocity[0].tolist()) for n in names]
