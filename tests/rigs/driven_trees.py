"""Random moving trees of which some joints move as functions of time say."""

import numpy as np
from rigs.moving_trees import moving_tree

import bellcrank as bc
from bellcrank.compile.compile import compile_mechanism


def driven_tree(seed, *, share=0.4, **given):
    """A tree of `moving_tree` with drives of some joints, its state, and the names of the driven joints.

    Each drive is at its time where the joint is, and as fast.
    """
    mech, state = moving_tree(seed, **given)
    rng, model = np.random.default_rng([seed, 23]), compile_mechanism(mech)
    values, rates = (np.asarray(one) for one in model.coordinate_motion(state)[:2])
    names = []
    for joint in list(mech.joints.values()):
        record = model.joint(joint.name)
        for name, number in zip(record.coordinate_names, record.coordinates, strict=True):
            follows = joint.kind.name == "Screw" and name == "z"
            if joint.kind.name == "Free" or name.startswith("rot") or follows or rng.random() > share:
                continue
            about = np.polynomial.Polynomial([values[number], rates[number], *rng.normal(size=2)])
            whole = about(np.polynomial.Polynomial([-state.time, 1.0])).coef
            motion = bc.Polynomial(tuple(float(one) for one in whole))
            mech.add_drive(f"{joint.name} {name}", joint.name, name, position=motion)
            names.append(joint.name)
    return mech, state, list(dict.fromkeys(names))
