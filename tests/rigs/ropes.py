"""Wheels about y, weights on guides, and belts, for tests of ropes."""

import bellcrank as bc

FORMULATIONS = ("lagrange", "recursive", "dca", "symbolic")
G = 9.81
EXACT = {"method": "dopri5", "rtol": 1e-12, "atol": 1e-12}


def run(mech, duration, formulation="lagrange", **options):
    return bc.simulate(mech, duration, formulation=formulation, **EXACT, **options)


def wheel(mech, name, at, mass=1.0, inertia=0.05):
    body = mech.add_body(name, mass, (inertia,) * 3, position=at)
    mech.add_joint(f"axle {name}", bc.Revolute(), mech.ground.marker(at, z_axis="y"), body.marker(z_axis="y"))
    return body.marker(z_axis="y")


def weight(mech, name, at, mass, velocity=(0, 0, 0)):
    body = mech.add_body(name, mass, (0.1, 0.1, 0.1), position=at, velocity=velocity)
    mech.add_joint(f"guide {name}", bc.Prismatic(), mech.ground.marker(at), body)
    return body


BELT = {"radii": (0.1, 0.25, -0.08), "places": ((0, 0, 0), (1, 0, 0), (0.5, 0, -0.23))}


def belt(kind, radii, places, tensioner=False):
    """Wheels about y, the last of which may slide down and up."""
    mech = bc.Mechanism("belt")
    ends = [wheel(mech, f"w{k}", at, inertia=0.01 * (k + 1)) for k, at in enumerate(places)]
    if tensioner:
        mech.remove(mech.joints[f"axle w{len(places) - 1}"])
        arm = mech.add_body("arm", 0.5, (0.01,) * 3, position=places[-1])
        mech.add_joint("slide", bc.Prismatic(), mech.ground.marker(places[-1]), arm)
        mech.add_joint(f"axle w{len(places) - 1}", bc.Revolute(), arm.marker(z_axis="y"), ends[-1])
        mech.add_force("spring", bc.SpringDamper(500.0, 2.0, 0.3), mech.ground.marker((0.5, 0, -1)), arm)
    mech.add_force("motor", bc.JointMotor(0.5), "axle w0")
    add = mech.add_constraint if issubclass(type(kind(radii)), bc.BeltLoop) else mech.add_force
    add("belt", kind(radii), *ends)
    return mech
