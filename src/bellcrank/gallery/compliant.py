"""Compliant mechanisms, which move because leaf springs bend: a pivot, a four-bar, a snap, a gripper."""

from __future__ import annotations

from dataclasses import replace
from math import hypot, pi

import numpy as np

import bellcrank as bc
from bellcrank.gallery.demands import Demands
from bellcrank.gallery.rods import add_pin, add_rod

_METAL: tuple[float, float, float] = (0.55, 0.60, 0.66)
_GROUND: tuple[float, float, float] = (0.68, 0.68, 0.65)


def cross_spring_pivot(
    length: float = 0.06,
    thickness: float = 0.0003,
    *,
    width: float = 0.012,
    angle: float = pi / 2,
    crossing: float = 0.5,
    apart: float = 0.016,
    segments: int = 8,
    damping: float = 1e-4,
    youngs_modulus: float = 200e9,
    gravity: float = 0.0,
) -> bc.Mechanism:
    """Cross-spring pivot: a plate that two crossed leaf springs hold turns on the ground without friction.

    One soft degree of freedom, the turn of the plate about z; all others are stiff, and those of the leaves'
    nodes beside them. The stiffness is 8 E I/length (1 - 3 x + 3 x^2) with x = crossing, and does not depend
    on the load along x where x = 0.127 (W. H. Wittrick, Aeronaut. Quart. 2, 1951).

    length, thickness, width: of a leaf, m. angle: between the leaves, rad. crossing: from the ground, by the
    length. apart: of the leaves along z, m; 0 has them pass through one another. segments, damping: of a
    leaf, as of `Beam`. youngs_modulus: Pa, with Poisson's ratio 0.3 and the density of steel.
    gravity: along -y, m/s^2.

    Plane xy, the crossing at the origin, the ground at -x. Body "plate", beams "pivot 1" and "pivot 2".
    Raises ValueError for bad arguments, all of them at once.
    """
    demands = Demands("cross_spring_pivot")
    demands.positive(length=length, thickness=thickness, width=width, youngs_modulus=youngs_modulus)
    demands.not_negative(apart=apart, damping=damping, gravity=gravity)
    demands.within("angle", angle, 0.0, pi, "between the leaves")
    demands.within("crossing", crossing, 0.0, 1.0, "a part of the length")
    demands.that(thickness < width, "thickness must be less than width", thickness)
    demands.whole("segments", segments, least=2)
    demands.check()
    mech = bc.Mechanism("cross-spring pivot", gravity=(0.0, -gravity, 0.0))
    ahead, aside = length * np.cos(0.5 * angle), length * np.sin(0.5 * angle)
    thick = 0.1 * length

    def frame(x: float, part: float, color: tuple[float, float, float]) -> list[bc.Box]:
        """The clamps of both leaves, y = -+part aside, and a spine between them."""
        span, middle = abs(part) * aside + 0.15 * aside, max(apart - width, 0.3 * width)
        rows = [bc.Box((thick, 2.0 * span, middle), density=2700.0, color=color, position=(x, 0.0, 0.0))]
        for side in (1.0, -1.0):
            place = (x, side * part * aside, 0.5 * side * apart)
            rows.append(bc.Box((thick, 0.3 * aside, width), density=2700.0, color=color, position=place))
        return rows

    beyond = (1.0 - crossing) * ahead + 0.5 * thick
    plate = mech.add_body("plate", shapes=frame(0.0, 1.0 - crossing, _METAL), position=(beyond, 0.0, 0.0))
    mech.replace(mech.ground, shapes=frame(-crossing * ahead - 0.5 * thick, -crossing, _GROUND))
    sheet = bc.Section.rectangle(width, thickness, E=youngs_modulus, nu=0.3, density=7850.0)
    kind = bc.CrossSpring(
        sheet, length, angle=angle, crossing=crossing, apart=apart, segments=segments, damping=damping
    )
    mech.add_flexure("pivot", kind, ["ground", plate], at=(0.0, 0.0, 0.0), axis="z", along="x")
    return mech


def flexure_four_bar(
    crank: float = 0.03,
    length: float = 0.1,
    base: float = 0.15,
    *,
    thickness: float = 0.0005,
    width: float = 0.01,
    segments: int = 8,
    damping: float = 1e-4,
    youngs_modulus: float = 200e9,
    density: float = 0.2,
    gravity: float = 0.0,
) -> bc.Mechanism:
    """Compliant four-bar: crank and coupler are rigid, the rocker is a leaf spring clamped to the ground.

    One degree of freedom of the crank, beside those of the leaf's nodes. The leaf is nearly a pseudo-rigid
    rocker: a bar of 0.8517 times its length, held at its foot by a torsion spring of 0.8517 * 2.65 E I/length
    (L. L. Howell, Compliant Mechanisms, 2001, section 5.2: fixed-pinned segment), which gives its tip to a
    few parts in a thousand and the moment of the crank to 4 %.

    crank, length, base: of the crank, the leaf and the distance of their feet along x, m. thickness, width:
    of the leaf, m. segments, damping: of the leaf. youngs_modulus: Pa. density: of crank and coupler, kg/m.
    gravity: along -y, m/s^2.

    Plane xy; the crank turns about (0, length) and points up at the start, where the leaf is straight from
    (base, 0) to (base, length). Bodies "crank", "coupler"; beam "leaf"; revolute joints "crank pivot",
    "crank pin", "leaf/end" about z, all zero at the start. Raises ValueError for bad arguments, all at once.
    """
    demands = Demands("flexure_four_bar")
    demands.positive(
        crank=crank, length=length, base=base, thickness=thickness, width=width,
        youngs_modulus=youngs_modulus, density=density,
    )  # fmt: skip
    demands.not_negative(damping=damping, gravity=gravity)
    demands.that(2.0 * crank < length, "crank must be less than half of length", crank)
    demands.that(thickness < width, "thickness must be less than width", thickness)
    demands.whole("segments", segments, least=2)
    demands.check()
    mech = bc.Mechanism("flexure four-bar", gravity=(0.0, -gravity, 0.0))
    foot, pin, tip = (0.0, length, 0.0), (0.0, length + crank, 0.0), (base, length, 0.0)
    thick = 0.04 * base
    bars = [
        add_rod(mech, name, start, end, mass=density * span, thickness=thick)
        for name, start, end, span in (
            ("crank", foot, pin, crank), ("coupler", pin, tip, hypot(base, crank)),
        )
    ]  # fmt: skip
    add_pin(mech, "crank pivot", mech.ground, bars[0], foot)
    add_pin(mech, "crank pin", bars[0], bars[1], pin)
    sheet = bc.Section.rectangle(width, thickness, E=youngs_modulus, nu=0.3, density=7850.0)
    start, end = mech.ground.marker((base, 0.0, 0.0)), bars[1].world_marker(tip)
    mech.add_beam("leaf", sheet, start, (end, bc.Revolute()), segments=segments, damping=damping, up="x")
    block = (0.2 * base, 0.2 * base, 2.0 * width)
    stand = bc.Box(size=block, position=(base, -0.1 * base, 0.0))
    mech.replace(mech.ground, shapes=[stand])
    return mech


def bistable_snap(
    span: float = 0.1,
    rise: float = 0.003,
    thickness: float = 0.0005,
    *,
    width: float = 0.01,
    apart: float = 0.012,
    segments: int = 16,
    damping: float = 1e-4,
    youngs_modulus: float = 2.8e9,
    density: float = 1400.0,
    period: float = 1.0,
) -> bc.Mechanism:
    """Bistable snap: two shallow cosine beams, clamped at both ends and to a shuttle in their middles.

    The shuttle is pushed down by a drive, which leaves no degree of freedom but those of the nodes; it rests
    without a force where it was made and, snapped through, near twice the rise below. With d of the push by
    the rise the force of a shallow, slender beam by E I rise/span^3 falls as 8 pi^4 - 6 pi^4 d, to a few
    parts in a hundred, from a peak of about 740 to a trough of -370, and is zero at d = 4/3 (J. Qiu,
    J. H. Lang, A. H. Slocum, A curved-beam bistable mechanism, J. Microelectromech. Syst. 13, 2004). The pair
    keeps the shuttle from turning, without which a single beam snaps early.

    span, rise, thickness, width: of a beam, m; its axis is rise/2 (1 - cos(2 pi x/span)). apart: of the two
    beams along y, m. segments, damping: of a beam. youngs_modulus: Pa, with Poisson's ratio 0.35.
    density: kg/m^3. period: of the push, down by 2.1 times the rise and back, s.

    Plane xy, no gravity. Body "shuttle"; beams "lower", "upper", with nodes in their middles; joint "push",
    of which the drive "push" moves y: its effort is the force. `bc.statics(mech, time)`, time by time, each
    from the rest before, gives the curve. Raises ValueError for bad arguments, all at once.
    """
    demands = Demands("bistable_snap")
    demands.positive(
        span=span, rise=rise, thickness=thickness, width=width, apart=apart,
        youngs_modulus=youngs_modulus, density=density, period=period,
    )  # fmt: skip
    demands.not_negative(damping=damping)
    demands.that(rise < 0.1 * span, "rise must be less than a tenth of span: the beams are shallow", rise)
    demands.that(rise > 2.31 * thickness, "rise must be 2.31 thicknesses at least: it snaps", rise)
    demands.whole("segments", segments, least=8)
    demands.check()
    mech = bc.Mechanism("bistable snap", gravity=(0.0, 0.0, 0.0))
    middle, high = 0.5 * span, 1.5 * apart + rise
    shuttle = mech.add_body(
        "shuttle",
        shapes=[bc.Box(size=(0.06 * span, high, width), density=density, position=(0.0, 0.2 * apart, 0.0))],
        position=(middle, rise + 0.5 * apart, 0.0),
    )
    section = bc.Section.rectangle(width, thickness, E=youngs_modulus, nu=0.35, density=density)
    x = np.linspace(0.0, span, 65)
    axis = 0.5 * rise * (1.0 - np.cos(2.0 * pi * x / span))
    for name, y in (("lower", 0.0), ("upper", apart)):
        way = [(float(a), float(b) + y, 0.0) for a, b in zip(x, axis, strict=True)]
        walls = mech.ground.marker(way[0]), mech.ground.marker(way[-1])
        half = 0.5 * bc.Beam("axis", section, way[0], way[-1], points=way[1:-1]).length
        beam = mech.add_beam(
            name,
            section,
            *walls,
            points=way[1:-1],
            stations=(half,),
            segments=segments,
            damping=damping,
            up="y",
        )
        mech.join(f"{name} middle", bc.Fixed(), [shuttle, beam.marker(half).body], at=(middle, rise + y, 0.0))
    sides = ((-0.04 * span, 0.5 * apart), (1.04 * span, 0.5 * apart))
    blocks = [
        bc.Box(size=(0.08 * span, 2.0 * apart, 1.5 * width), position=(place, height, 0.0))
        for place, height in sides
    ]
    mech.replace(mech.ground, shapes=blocks)
    top = shuttle.position
    mech.add_joint("push", bc.Free(), mech.ground.marker(top), shuttle.marker())
    turned = 2.0 * pi / period * bc.expression.t
    mech.add_drive("push", "push.y", position=1.05 * rise * (bc.expression.cos(turned) - 1.0))
    return mech


def gripper(
    arm: float = 0.01,
    reach: float = 0.05,
    *,
    leaf: float = 0.02,
    thickness: float = 0.0002,
    width: float = 0.01,
    opening: float = 0.012,
    segments: int = 8,
    damping: float = 1e-4,
    youngs_modulus: float = 200e9,
) -> bc.Mechanism:
    """Compliant gripper: a plunger between two jaws on cross-spring pivots, to which leaf springs link it.

    One soft degree of freedom, the push of the plunger along x, which opens the jaws; all others are stiff,
    and those of the leaves' nodes beside them. As a rigid mechanism each tip moves aside by reach/arm times
    the push, and with the springs of its flexures the plunger has the stiffness
    2 (2 E I/leaf + 4 E I/leaf)/arm^2 (pseudo-rigid bodies: L. L. Howell, Compliant Mechanisms, 2001).

    arm: of a jaw from its pivot to its link, across x, m. reach: from its pivot to its tip, along x, m.
    leaf, thickness, width: of each leaf spring, m. opening: between the tips, m. segments, damping: of a
    leaf. youngs_modulus: Pa.

    Plane xy, symmetric about x, no gravity. Bodies "plunger", "upper", "lower"; the jaws' markers "tip" are
    where they grip. Beams "upper pivot 1", "upper pivot 2", "upper link", and those of the lower jaw.
    Raises ValueError for bad arguments, all at once.
    """
    demands = Demands("gripper")
    demands.positive(arm=arm, reach=reach, leaf=leaf, thickness=thickness, width=width, opening=opening)
    demands.positive(youngs_modulus=youngs_modulus)
    demands.not_negative(damping=damping)
    demands.that(thickness < width, "thickness must be less than width", thickness)
    demands.that(arm < reach, "arm must be less than reach", arm)
    demands.that(arm > 0.5 * leaf - 1e-12, "arm must be half of leaf at least", arm)
    demands.whole("segments", segments, least=2)
    demands.check()
    mech = bc.Mechanism("gripper", gravity=(0.0, 0.0, 0.0))
    sheet = bc.Section.rectangle(width, thickness, E=youngs_modulus, nu=0.3, density=7850.0)
    across = leaf / 2.0**0.5  # from clamp to clamp of a cross-spring, along both x and y
    link = 0.5 * opening + 0.3 * arm  # of the links beside the middle
    solid = bc.Box(size=(0.6 * leaf, 2.4 * link, width), density=2700.0, color=_METAL)
    plunger = mech.add_body("plunger", shapes=[solid], position=(-1.3 * leaf, 0.0, 0.0))
    grounded = []
    for name, side in (("upper", 1.0), ("lower", -1.0)):
        pivot = (0.0, side * (link + arm), 0.0)
        finger = _block((0.0, reach), (0.5 * opening, link + 0.15 * arm), pivot, side, width)
        root = _block((-0.5 * across, 0.5 * across), (link + 0.1 * arm, link + arm - 0.5 * across), pivot,
                      side, 2.5 * width)  # fmt: skip
        jaw = mech.add_body(name, shapes=[finger, root], position=pivot)
        mech.add_marker(jaw.marker((reach, side * (0.5 * opening) - pivot[1], 0.0), name="tip"))
        pivots = bc.CrossSpring(sheet, leaf, segments=segments, damping=damping, apart=1.3 * width)
        mech.add_flexure(f"{name} pivot", pivots, ["ground", jaw], pivot, axis="z", along=(0.0, -side, 0.0))
        links = bc.LeafSpring(sheet, leaf, segments=segments, damping=damping)
        at = (-0.5 * leaf, side * link, 0.0)
        mech.add_flexure(f"{name} link", links, [plunger, jaw], at, axis="z", along="x")
        foot = link + arm + 0.5 * across
        block = _block((-0.7 * across, 0.7 * across), (foot, foot + 0.2 * leaf), (0.0, 0.0, 0.0), side,
                       2.5 * width)  # fmt: skip
        grounded.append(replace(block, color=_GROUND))
    mech.replace(mech.ground, shapes=grounded)
    return mech


def _block(
    x: tuple[float, float],
    y: tuple[float, float],
    origin: tuple[float, float, float],
    side: float,
    deep: float,
) -> bc.Box:
    """A block of aluminium between places of the world, y to be mirrored by `side`, on a body's frame."""
    size = (x[1] - x[0], y[1] - y[0], deep)
    middle = (0.5 * (x[0] + x[1]) - origin[0], side * 0.5 * (y[0] + y[1]) - origin[1], 0.0)
    return bc.Box(size=size, density=2700.0, position=middle, color=_METAL)
