"""Random mechanisms whose equations of motion are differentiated."""

import numpy as np
from rigs.directions import CORES, EASY, FUNCTIONS, GEOMETRY, ROWS, Direction, core_at, moving
from rigs.followed import FollowedCase
from rigs.random_mechanisms import random_mechanism

import bellcrank as bc
from bellcrank.formulations.preparing import prepare
from bellcrank.linear.sampling import without_stops

TRANSPOSED = 1e-12
EVEN = 1e-7  # least by largest mass, below which digits are lost
MET = 1e-9  # errors of rows at a state
DIFFERENCES, MOST_WORSE = 1e-8, 10.0
LONG, SHORT = (1e-1, 1e-2, 1e-4), (1e-3, 1e-4, 1e-6)  # of differences; functions are fast in their numbers
QUANTITIES = 1e-10
ALIKE = 1e-9  # of formulations


def wrong(seed, formulation="lagrange"):
    """What is wrong with the derivatives of a case; nothing if nothing is.

    Raises MechanismError for mechanisms that their drives do not let move, Unsupported for those without
    derivatives, and where differences are too rough to tell.
    """
    rng = np.random.default_rng([seed, 45])
    system = prepare(random_mechanism(seed), "lagrange")
    model = without_stops(system.model)
    state = moving(model, system.state())
    here = core_at(model, state, formulation)
    here.accelerate()
    if max(here.violation()) > MET:
        raise bc.MechanismError(bc.errors.Fault("mechanism", "it cannot go on as it is driven"))
    # Solutions lose digits with light bodies between heavy ones, and with rows that nearly depend on others.
    masses = np.array(model.arrays["body_mass"])
    worse = max(1.0, EVEN * masses.max() / masses.min()) / max(here.statistics()["smallest_pivot"], 1e-3)
    arrays = EASY if here.dropped_rows() else (*EASY, *GEOMETRY)
    faults, unknown = [], False
    kinds = {"states and time": (), "numbers": arrays}
    if not here.dropped_rows():
        kinds |= {"rows": ROWS, "functions": FUNCTIONS}
    opened = core_at(model, state, formulation, True)
    for what, numbers in kinds.items():
        direction = Direction(opened if numbers else here, model, rng, 0.0 if numbers else 0.7, numbers)
        size = max(1.0, np.abs([direction.dx, direction.du]).max())
        found = {"rows are off by": direction.left / (1e-9 * size)}
        steps = SHORT if numbers is FUNCTIONS else LONG
        off = direction.beside_differences(state, DIFFERENCES * min(worse, MOST_WORSE), steps)
        unknown |= off is None
        found["off differences by"] = off or 0.0
        if formulation != "lagrange" and not unknown:  # on a kink rounding decides the side
            found["lagrange is off by"] = direction.beside_lagrange(state) / (ALIKE * worse)
        found["without multipliers they are off by"] = direction.alone_off() / (TRANSPOSED * worse)
        found["gradients are off by"] = direction.transposed_off(rng) / (TRANSPOSED * worse)
        faults += [
            f"{what}: {is_off} {off:.1e} of what is allowed" for is_off, off in found.items() if not off < 1.0
        ]
    if not faults:
        off = quantities_off(prepare(model, formulation), model.state_of(here))
        if not off < QUANTITIES * worse:
            faults.append(f"quantities: gradients are off by {off:.1e}")
    if unknown and not faults:
        raise bc.Unsupported("its differences are too rough to compare with")
    return "; ".join(faults)


def wrong_in_any(seed):
    """The same of all formulations that can take the mechanism; `lagrange` always can."""
    found = {formulation: wrong(seed, formulation) for formulation in CORES if formulation != "symbolic"}
    try:
        found["symbolic"] = wrong(seed, "symbolic")
    except bc.Unsupported as refused:
        if "formula for" not in str(refused) and "loops of joints" not in str(refused):
            raise
    return "; ".join(f"{formulation}: {what}" for formulation, what in found.items() if what)


ALLOWED = 1e-6  # of a run's derivatives, of the largest
TRANSPOSED_RUN = 1e-10
FAR = 1e-2  # rad, m


CLOSER = 3.0  # times what shorter steps change of derivatives: what these may be off


def _is_of_one_side(case, changes, size):
    """Whether changes are those to one side, with others to the other."""
    sides = [np.abs(case.one_sided(step) - changes).max() / size for step in (1e-4, -1e-4)]
    return min(sides) < ALLOWED < 0.1 * max(sides)


def struck_mechanism(seed, duration=0.2):
    """A random mechanism with a limit that the joint coordinate which goes farthest meets on the way.

    Raises Unsupported where none goes far.
    """
    mech = random_mechanism(seed)
    free = FollowedCase(mech, duration, frames=11, arrays=())
    column = {number: place for place, number in enumerate(free.run.what.coordinates)}
    values = free.run.recorded()
    ways = [
        (abs(values[-1, column[number]] - values[0, column[number]]), joint.name, name, column[number])
        for joint in free.model.joints
        for number, name in zip(joint.coordinates, joint.coordinate_names, strict=True)
        if number in column
    ]
    far, joint, name, place = max(ways, default=(0.0, "", "", 0))
    if far < FAR or len(values) < 11:
        raise bc.Unsupported("no coordinate goes far")
    at, side = values[4, place], "upper" if values[-1, place] > values[0, place] else "lower"
    mech.replace(mech.joints[joint], limits={name: bc.Limit(**{side: at}, restitution=0.6)})
    return mech


def wrong_run(seed, formulation="lagrange", duration=0.2, make=random_mechanism):
    """What is wrong with the derivatives of a run of a case; nothing if nothing is.

    Raises as `wrong` does, and Unsupported for runs whose derivatives are refused.
    """
    case = FollowedCase(make(seed), duration, frames=3, formulation=formulation)
    if case.run.outcome["status"] != "finished":
        raise bc.Unsupported(f"a run that ended as {case.run.outcome['status']!r} has no derivatives")
    if not case.direction.left < 1e-9:
        raise bc.Unsupported("its direction does not close")
    changes = case.changes()
    kinds = {kind for kind, *_ in case.tangent.remarks()}
    if kinds:
        raise bc.Unsupported(f"remarked on: {', '.join(sorted(kinds))}")
    faults, (near, far) = [], (case.differences(step) for step in (3e-5, 1e-4))
    size = max(1.0, np.abs(near).max())
    unsure = np.abs(near - far).max()
    if unsure > 0.3 * ALLOWED * size:
        raise bc.Unsupported("its differences are too rough to compare with")
    off = np.abs(changes - near).max() / size
    if not off < ALLOWED:
        if _is_of_one_side(case, changes, size):
            raise bc.Unsupported("it starts on a kink")
        # Steps do not shrink to kinks of forces on the way, where derivatives are as good as steps are short.
        settings = {"frames": 3, "tolerance": 1e-11, "formulation": formulation}
        shorter = FollowedCase(make(seed), duration, **settings)
        if not off < ALLOWED + CLOSER * np.abs(shorter.changes() - changes).max() / size:
            faults.append(f"off differences by {off:.1e}")
    off = case.transposed_off(changes)
    if not off < TRANSPOSED_RUN:
        faults.append(f"gradients are off by {off:.1e}")
    return "; ".join(faults)


SHARE = 0.95  # of estimated errors within a factor of two


def error_ratios(seed, formulation="lagrange", tolerance=1e-5, duration=0.3):
    """Estimated errors of numbers that a coarse run of a case records, by what they are.

    Raises as `wrong_run` does.
    """
    rng = np.random.default_rng([seed, 7])
    method = str(rng.choice(["dopri5", "adams", "bdf", "rk4"]))
    settings = {"method": method, "tolerance": tolerance, "step": 0.01, "formulation": formulation}
    case = FollowedCase(random_mechanism(seed), duration, frames=3, arrays=(), **settings)
    size, found = max(1.0, np.abs(case.run.recorded()).max()), []
    if case.run.recorded().shape[0] < 3:
        raise bc.Unsupported("it ends on the way")
    for number in rng.integers(len(case.run.watched), size=3):
        estimated, true = case.error(2, int(number))
        if case.tangent.remarks():
            raise bc.Unsupported("remarked on")
        if 1e-9 * size < abs(true) < 0.1 * size:
            found.append(estimated / true)
    return found


def quantities_off(system, state):
    """How far derivatives that `System.derivatives` finds backwards are off those forwards.

    In parts of the largest in the same unit. Of what redundant rows leave open there are none.
    """
    model = system.model
    of = ["acceleration", "reaction", *(f"body.{model.bodies[-1]}.{part}" for part in ("az", "alphay", "wz"))]
    known = [one for one, there in (("effort", model.drives or model.constraints),) if there]
    if not any(joint.coordinates for joint in model.joints):
        of.remove("acceleration")
    if not model.reactions:
        of.remove("reaction")
    forward, backward = (
        system.derivatives(state, of=[*of, *known], by=["states", "time"], mode=mode)
        for mode in ("forward", "backward")
    )
    sizes = {}
    for name, row in zip(forward.outputs, np.abs(np.nan_to_num(forward.array)), strict=True):
        unit = forward.units[name]
        sizes[unit] = max(sizes.get(unit, 1e-2), row.max(initial=0.0))
    size = np.array([sizes[forward.units[name]] for name in forward.outputs])[:, None]
    return float(np.nanmax(np.abs(forward.array - backward.array) / size, initial=0.0))
