"""The mechanisms of `bellcrank bench choose`: name, construction, and simulated seconds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import bellcrank as bc
from bellcrank import gallery


@dataclass(frozen=True)
class Choice:
    """A mechanism for which "auto" chooses. duration: of the run, s."""

    name: str
    make: Callable[[], bc.Mechanism]
    duration: float = 10.0


def choices() -> Sequence[Choice]:
    """At least forty: trees, loops, robots; stiff, redundant, with stops or formulas; 1 to 1000 bodies."""
    return (*_trees(), *_loops(), *_robots(), *_special())


def _trees() -> list[Choice]:
    def bent(n: int, kind: str = "revolute") -> Callable[[], bc.Mechanism]:
        return lambda: gallery.chain(n, kind=kind, angle=0.3)

    def random(n: int, topology: str, floating: bool = False) -> Callable[[], bc.Mechanism]:
        return lambda: gallery.random_tree(n, topology, seed=n, floating=floating)

    return [
        Choice("pendulum", gallery.simple_pendulum),
        Choice("double pendulum", gallery.double_pendulum),
        Choice("chain of 3", bent(3)),
        Choice("chain of 10", bent(10)),
        Choice("chain of 100", bent(100), 0.5),
        Choice("chain of 1000", bent(1000), 0.05),
        Choice("ball chain of 10", bent(10, "ball")),
        Choice("ball chain of 100", bent(100, "ball"), 0.5),
        Choice("heavy top", gallery.heavy_top, 2.0),
        Choice("free body", gallery.free_body),
        Choice("random tree of 5", random(5, "branch"), 2.0),
        Choice("random tree of 20", random(20, "branch"), 1.0),
        Choice("floating tree of 10", random(10, "branch", True), 1.0),
        Choice("random chain of 10", random(10, "chain"), 1.0),
        Choice("random tree of 100", random(100, "branch"), 0.2),
    ]


def _loops() -> list[Choice]:
    def bars(n: int) -> Callable[[], bc.Mechanism]:
        return lambda: gallery.n_four_bar(n)

    return [
        Choice("four-bar", gallery.four_bar),
        Choice("slider-crank", gallery.slider_crank),
        Choice("spring slider-crank", gallery.spring_slider_crank),
        Choice("1 four-bar", bars(1)),
        Choice("3 four-bars", bars(3)),
        Choice("10 four-bars", bars(10), 3.0),
        Choice("40 four-bars", bars(40), 1.0),
        Choice("Andrews' squeezer", gallery.andrews_squeezer, 0.05),
        Choice("Bricard", gallery.bricard_linkage),
        Choice("ladder of 3", lambda: gallery.ladder(3)),
        Choice("ladder of 20", lambda: gallery.ladder(20), 1.0),
        Choice("ring of 8", lambda: gallery.ring(8)),
        Choice("ring of 40", lambda: gallery.ring(40), 1.0),
        Choice("ring of 200", lambda: gallery.ring(200), 0.2),
        Choice("free ring of 6", gallery.free_ring),
        Choice("free ring of 30", lambda: gallery.free_ring(30), 1.0),
    ]


def _robots() -> list[Choice]:
    return [
        Choice("two-link arm, led", gallery.rr_arm),
        Choice("Puma 560, driven", gallery.puma560),
        Choice("Puma 560, falling", lambda: gallery.puma560(motors=False, friction=False, driven=False), 2.0),
        Choice("Puma 560, rotors", lambda: gallery.puma560(driven=False), 2.0),
        Choice("Stewart platform", gallery.stewart_platform, 1.0),
        Choice("prosthetic shoulder", gallery.prosthetic_shoulder, 1.0),
        Choice("prosthetic arm", gallery.prosthetic_arm, 1.0),
        Choice("humanoid", _humanoid, 1.0),
    ]


def _special() -> list[Choice]:
    return [
        Choice("flyball governor", gallery.flyball_governor),
        Choice("damped whip", lambda: _whip(1e3, 10.0)),
        Choice("stiff whip", lambda: _whip(1e6, 1e3)),
        Choice("engine mount", lambda: _mount(2e5, 2e3)),
        Choice("stiff mount", lambda: _mount(1e8, 1e6)),
        Choice("pendulum between stops", _between_stops, 5.0),
        Choice("thrown weight on a cable", _thrown, 3.0),
        Choice("roller coaster", _roller_coaster),
        Choice("driven four-bar", _driven),
        Choice("rubbing chain", _rubbing),
        Choice("rotor on a slow base", _rotor),
    ]


def _humanoid() -> bc.Mechanism:
    from benchmarks.symbolic_robots import humanoid

    return humanoid().mechanism()


def _whip(stiffness: float, damping: float, links: int = 5) -> bc.Mechanism:
    """A chain whose joints, except the first, are damped torsion springs (N m/rad, N m s/rad)."""
    mech = gallery.chain(links, length=0.2, angle=0.3)
    for name in list(mech.joints)[1:]:
        mech.add_force(f"spring of {name}", bc.TorsionSpring(stiffness, damping), joint=name)
    return mech


def _mount(stiffness: float, damping: float) -> bc.Mechanism:
    """A block on a bushing (N/m, N s/m; rotations alike with N m), which carries a pendulum."""
    mech = bc.Mechanism("engine mount")
    block = mech.add_body("block", shapes=[bc.Box(size=(0.4, 0.3, 0.2), density=2000.0)])
    bushing = bc.Bushing((stiffness,) * 3, (stiffness,) * 3, (damping,) * 3, (damping,) * 3)
    mech.add_force("mount", bushing, mech.ground.marker(), block.marker())
    arm = mech.add_body("arm", mass=1.0, inertia=(0.01, 0.01, 0.01), position=(0.5, 0.0, 0.0))
    y_axis = (0.0, 1.0, 0.0)
    mech.add_joint("hinge", bc.Revolute(), block.marker(axis=y_axis), arm.marker((-0.5, 0, 0), axis=y_axis))
    return mech


def _between_stops() -> bc.Mechanism:
    mech = bc.Mechanism("pendulum between stops")
    bar = mech.add_body(
        "bar", mass=1.0, inertia=(1 / 12, 1 / 12, 1e-4), com=(0, 0, -0.5), angular_velocity=(0, 4, 0)
    )
    y_axis = (0.0, 1.0, 0.0)
    stops = bc.Limit(lower=-0.45, upper=0.7, restitution=0.7)
    mech.add_joint(
        "hinge", bc.Revolute(), mech.ground.marker(axis=y_axis), bar.marker(axis=y_axis), limits=stops
    )
    return mech


def _thrown() -> bc.Mechanism:
    mech = bc.Mechanism("thrown weight")
    weight = mech.add_body(
        "weight", mass=1.0, inertia=(1e-3,) * 3, position=(-0.6, 0.0, -0.5), velocity=(1.6, 0.0, 4.0)
    )
    mech.add_constraint("cable", bc.Cable(length=1.0, slack=True), mech.ground.marker(), weight.marker())
    return mech


def _roller_coaster() -> bc.Mechanism:
    u = bc.symbol("u")
    track = (2.2 * (u**3 - 3 * u), 1.2 * bc.expression.tanh(u), 4.6 * (0.13 * u**4 - u**2))
    mech = bc.Mechanism("roller coaster")
    car = mech.add_body("car", shapes=[bc.Box(size=(1.8, 1.0, 1.1), density=300.0)])
    path = bc.PathJoint(u, track, up=(0.0, -1.0, 0.0))
    mech.add_joint("track", path, mech.ground, car.marker((0.0, -0.7, 0.0)), position=-2.85)
    return mech


def _driven() -> bc.Mechanism:
    """A four-bar whose crank is brought to its speed by a motor with damping."""
    mech = gallery.four_bar()
    crank = next(iter(mech.joints))
    mech.add_force("motor", bc.TorsionSpring(0.0, damping=40.0), joint=crank)
    mech.add_force("torque", bc.JointMotor(240.0), joint=crank)
    return mech


def _rubbing() -> bc.Mechanism:
    mech = gallery.chain(5, angle=0.3)
    for name in list(mech.joints):
        mech.add_force(f"friction of {name}", bc.JointFriction(0.5, 0.1), joint=name)
    return mech


def _rotor() -> bc.Mechanism:
    mech = bc.Mechanism("rotor on a slow base", gravity=(0.0, 0.0, 0.0))
    base = mech.add_body("base", mass=100.0, inertia=(20.0, 25.0, 30.0), angular_velocity=(0.1, 0.2, 0.3))
    rotor = mech.add_body("rotor", mass=2.0, inertia=(0.01, 0.01, 0.02), angular_velocity=(0.1, 0.2, 100.3))
    mech.add_joint("shaft", bc.Revolute(), base.marker(), rotor.marker())
    return mech
