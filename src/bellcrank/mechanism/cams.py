"""Cams and their followers: a motion law as a row, and what the cam, its contact and its stress are by it."""

from __future__ import annotations

from collections.abc import Collection
from math import acos, asin, inf, pi, sqrt
from typing import Any, ClassVar, Final

import numpy as np

from bellcrank.errors import MechanismError
from bellcrank.mechanism.attachment import Attachment, ConstraintKind, Coupled, End, coordinates
from bellcrank.mechanism.cam_geometry import CamGeometry, CamProfile
from bellcrank.mechanism.checking import Check
from bellcrank.mechanism.coordinate import Coordinate, coordinate_kind
from bellcrank.mechanism.fields import checked, choice, described, flag, fraction, function, quantity
from bellcrank.mechanism.functions.cam_motion import Waves, waves_of
from bellcrank.mechanism.functions.function import FunctionField
from bellcrank.mechanism.functions.piecewise import smoothness
from bellcrank.mechanism.given import FloatField, OptionalFloatField, PairField
from bellcrank.mechanism.hertz import line_pressure, plane_modulus
from bellcrank.mechanism.marker import Marker
from bellcrank.mechanism.parameters import present
from bellcrank.mechanism.rotation_arrays import Floats, conjugate, product, rotate
from bellcrank.mechanism.rows import Block, Lowered, Row, Term

_POINTS: Final = 2000  # at which a law is looked at, about


def _of_both(check: Check, field: str, value: Any) -> tuple[float, float]:
    """A number for cam and follower alike, or one for each."""
    one, two = check.array(field, (value, value) if np.ndim(value) == 0 else value, (2,)).tolist()
    return one, two


def _moduli(check: Check, field: str, value: Any) -> tuple[float, float]:
    found = _of_both(check, field, value)
    if min(found) <= 0.0:
        check.fault(f"{field} must be greater than zero", value)
    return found


def _ratios(check: Check, field: str, value: Any) -> tuple[float, float]:
    found = _of_both(check, field, value)
    if not (min(found) > -1.0 and max(found) <= 0.5):
        check.fault(f"{field} must lie between -1 and 0.5", value)
    return found


@described
class CamFollower(ConstraintKind):
    """A cam that moves its follower by a law, and by pushing only, unless the follower runs in a groove.

    law: lift of the follower over the angle of the cam, m; rad if it swings: a CamMotion, or another function
        over one turn, 2 pi, that ends as it begins: a spline, a table, a B-spline without weights; or a
        Harmonic.
    base_radius: of the cam where the lift is 0, m.
    follower: "roller", "knife" (an edge or a tip) or "flat" (a face). roller_radius: m.
    offset: of the line of travel from the shaft, m; of a swinging face from its pivot.
    distance, arm: of a follower that swings: from the shaft to its pivot, and from there to the roller, m.
    grooved: whether the follower is held on both sides; else it lifts off where nothing presses it on.
    restitution: ratio of speeds after and before an impact on the cam, 0 to 1.
    width: of the contact across the cam, m; modulus, poisson: of cam and follower, Pa and 1. With these a run
        has the contact pressure.

    Ends: markers on the cam and on the follower, z along the shaft; that of the follower is in the middle of
    the roller, at the edge, or on the face, with y along the travel. The cam turns positively about z, seen
    in a frame in which the follower travels along y, at x = offset, or swings about a pivot at x = distance;
    its angle is 0 where its axes are those of the frame. The contact loads both bodies where they touch. Or
    two joints: the angle of the cam, and the travel or swing, which then is the lift; they only couple two
    numbers.

    The effort is the force along the travel, N, or the torque about the pivot, N m.

    >>> law = bc.CamMotion([0, np.pi, 2 * np.pi], [0.0, 0.01, 0.0])
    >>> cam = block.add_body("cam", 1.0, (1, 1, 1))
    >>> turn = block.add_joint("turn", bc.RevoluteMotor(velocity=np.pi), "ground", cam)
    >>> kind = bc.CamFollower(law, base_radius=0.03, roller_radius=0.01)
    >>> lift = block.add_constraint("lift", kind, "turn", "guide")
    >>> run = bc.simulate(block, 1.0)
    >>> print(run.joint("guide").position[-1].round(6), run.constraint("lift").effort[0].round(2))    # m, N
    [0.01] 19.62
    """

    law: FunctionField = function("m or rad", followed=False)
    base_radius: FloatField = quantity("m", "positive", followed=False)
    follower: str = choice(("roller", "knife", "flat"), default="roller")
    roller_radius: OptionalFloatField = quantity("m", "positive", default=None, followed=False)
    offset: FloatField = quantity("m", default=0.0, followed=False)
    distance: OptionalFloatField = quantity("m", "positive", default=None, followed=False)
    arm: OptionalFloatField = quantity("m", "positive", default=None, followed=False)
    grooved: bool = flag(default=False)
    restitution: FloatField = fraction(default=0.0)
    width: OptionalFloatField = quantity("m", "positive", default=None)
    modulus: PairField = checked(_moduli, "Pa", default=(2.06e11, 2.06e11), parametric=True)
    poisson: PairField = checked(_ratios, "1", default=(0.3, 0.3), parametric=True)
    pattern: ClassVar[str] = "MM|JJ"
    ends_text: ClassVar[str] = "two markers (cam, follower) or two joints (angle of the cam, lift)"
    meaning: ClassVar[str] = "A cam and a follower with a motion law, which lifts off or runs in a groove."

    def _judge(self, check: Check) -> None:
        if len(check.faults) > 0:
            return
        rolls = self.follower == "roller"
        if rolls != (self.roller_radius is not None):
            check.fault(
                f"roller_radius {'is missing' if rolls else 'belongs to a roller'}", self.roller_radius
            )
        arms = self.distance is not None and self.follower != "flat"
        if arms != (self.arm is not None):
            advice = "what swings on a roller or an edge has a distance and an arm, on a face a distance"
            check.fault(f"the arm {'is missing' if arms else 'has no use here'}", self.arm, advice)
        if self.offset != 0.0 and (arms or (self.follower == "flat" and self.distance is None)):
            check.fault("there is no offset here", self.offset, "it is given by the place of the marker")
        if len(check.faults) == 0 and self._rest is None:
            check.fault("the follower does not reach the base circle", self.base_radius, "check its sizes")
        law = waves_of(present(self.law))
        if law is None:
            advice = "use a CamMotion, a periodic CubicSpline or Table over 2 pi, or a Harmonic"
            check.fault("law must be a function of one turn of the cam", str(present(self.law)), advice)
        elif smoothness(law.pieces, law.evaluate, "periodic") < 1:
            check.fault("law must have a continuous slope", None, "the follower would have to jump")
        elif len(check.faults) == 0:
            self._judge_shape(check, self._profile_at(law, *_everywhere(law)))

    def _judge_shape(self, check: Check, cam: CamProfile) -> None:
        """Note where no cam can do it."""
        bad, seen = ~np.isfinite(cam.outline).all(axis=1), self._geometry.rest + cam.lift
        if self.distance is None or self.arm is not None:
            beyond = (seen <= 0.0) | (seen >= (inf if self.arm is None else pi))
            if np.any(beyond):
                rule = (
                    "the follower reaches the shaft"
                    if self.arm is None
                    else "the arm is in line with the shaft"
                )
                check.fault(
                    rule, f"at an angle of {cam.angle[int(np.argmax(beyond))]:.4g} rad", "check its lifts"
                )
                return
        if self.follower == "flat":
            bad |= ~(cam.radius > 0.0) | (self.distance is not None and cam.slope <= -1.0)
        else:
            assert cam.pitch_radius is not None
            bad |= (cam.pitch_radius > 0.0) & (cam.radius <= 0.0)
            if self.grooved:
                bad |= (cam.pitch_radius < 0.0) & (-cam.pitch_radius <= (self.roller_radius or 0.0))
        if np.any(bad):
            worst = int(np.argmin(np.where(bad, cam.radius, inf)))
            rule = f"the cam is undercut at an angle of {cam.angle[worst]:.4g} rad: no outline moves it so"
            advice = "enlarge base_radius, take a smaller roller, or spread the rise over a larger angle"
            check.fault(rule, f"radius of curvature {cam.radius[worst]:.4g} m", advice)

    @property
    def unilateral(self) -> bool:
        """Whether the follower may lift off."""
        return not self.grooved

    def effort_unit(self, _units: Collection[str]) -> str:
        """N along the travel, or N m about the pivot."""
        return "N" if self.distance is None else "N m"

    def check_ends(self, check: Check, ends: tuple[Attachment, ...]) -> None:
        """Check that a face that swings is given by joints: its contact is not where its marker is."""
        if isinstance(ends[0], Marker) and self.follower == "flat" and self.distance is not None:
            check.fault(
                "a flat face that swings takes two joints", None, "name the joints of cam and follower"
            )

    def lowered(self, ends: tuple[End, ...]) -> Lowered:
        """One row, unilateral unless the cam is grooved."""
        bounce = 0.0 if self.grooved else self.restitution
        return Lowered((Block("constraint", self.rows(ends), self.unilateral, restitution=bounce),))

    def rows(self, ends: tuple[End, ...]) -> tuple[Row, ...]:
        """The row  follower - law(angle) = 0, or >= 0."""
        law, (cam, follower) = self._waves.flat(), ends
        if not isinstance(cam, Marker) or not isinstance(follower, Marker):
            angle, lift = coordinates(ends)
            kind, unit = coordinate_kind(lift.kind), "m" if self.distance is None else "rad"
            if angle.kind != "theta_z":
                advice = "take a joint that turns about z, such as Revolute"
                raise MechanismError.of(
                    self.name, "the cam must turn about z of its joint", angle.kind, advice
                )
            if kind is not None and kind.unit != unit:
                rule = (
                    f"the follower {'travels' if unit == 'm' else 'swings'}: its coordinate must be in {unit}"
                )
                raise MechanismError.of(self.name, rule, lift.kind)
            of_law = Coordinate("cam_lift", angle.marker_1, angle.marker_2, law)
            return (Row((Term(1.0, lift), Term(-1.0, of_law))),)
        if self.follower == "flat":
            height, of_law = Coordinate("y", follower, cam), Coordinate("cam_lift", follower, cam, law)
            return (Row((Term(-1.0, height), Term(-1.0, of_law)), self._geometry.rest),)
        if self.distance is None or self.arm is None:
            along = Coordinate("cam_slide", cam, follower, (self.offset, *law))
        else:
            along = Coordinate("cam_swing", cam, follower, (self.distance, self.arm, *law))
        return (Row((Term(1.0, along),), self._geometry.rest),)

    @property
    def _waves(self) -> Waves:
        found = waves_of(self.law)
        assert found is not None  # as it was checked
        return found

    @property
    def _rest(self) -> float | None:
        """The height or the angle of the follower where its lift is 0; None where it cannot be there."""
        reach = self.base_radius + (self.roller_radius or 0.0)
        if self.distance is None:
            if self.follower == "flat":
                return self.base_radius
            return sqrt(reach**2 - self.offset**2) if abs(self.offset) < reach else None
        if self.arm is None:
            sine = (self.base_radius + self.offset) / self.distance
            return asin(sine) if abs(sine) < 1.0 else None
        cosine = (self.distance**2 + self.arm**2 - reach**2) / (2.0 * self.distance * self.arm)
        return acos(cosine) if abs(cosine) < 1.0 else None

    @property
    def _geometry(self) -> CamGeometry:
        rest, roller = self._rest, None if self.follower == "flat" else self.roller_radius or 0.0
        assert rest is not None
        return CamGeometry(roller, rest, self.offset, self.arm, self.distance)

    def _profile_at(self, law: Waves, angle: Floats, piece: Any) -> CamProfile:
        lift, slope, curve = (law.evaluate(angle, order, piece) for order in range(3))
        return self._geometry.profile(angle, lift, slope, curve)

    def profile(self, angle: Any = None) -> CamProfile:
        """The geometry of the cam at angles (n,), rad; by default all around, with both sides of every jump.

        The outline is exact: the envelope of the follower in the cam's axes.
        """
        if angle is None:
            return self._profile_at(self._waves, *_everywhere(self._waves))
        at = np.atleast_1d(np.asarray(angle, dtype=float))
        lift, slope, curve = (self._waves.derivative(at, order) for order in range(3))
        return self._geometry.profile(at, lift, slope, curve)

    def lift_off_speed(self, mass: float, stiffness: float, preload: float) -> float:
        """The lowest steady speed of the cam at which its follower lifts off, rad/s; infinite: there is none.

        mass: of follower and spring, kg, or moment of inertia about the pivot, kg m^2. stiffness: N/m or N
            m/rad.
        preload: what presses it on the base circle, weight included, N or N m. All else is rigid.

        It is the least root of (preload + stiffness lift)/(-mass lift'') over the angles at which lift'' < 0.
        """
        with Check(self.name) as check:
            inertia = check.positive("mass", mass)
            rate, load = check.not_negative("stiffness", stiffness), check.not_negative("preload", preload)

        def square(x: Any, piece: Any) -> Any:
            lift, curve = self._waves.evaluate(x, 0, piece), self._waves.evaluate(x, 2, piece)
            with np.errstate(divide="ignore"):
                return np.where(curve < 0.0, (load + rate * lift) / (-inertia * curve), inf)

        angle, piece = _everywhere(self._waves)
        found = square(angle, piece)
        best = int(np.argmin(found))
        breaks, own = self._waves.pieces.breaks, piece[best : best + 1]
        apart = (breaks[own + 1] - breaks[own]) / (_per_piece(self._waves) - 1)
        low, high = (
            np.maximum(angle[best] - apart, breaks[own]),
            np.minimum(angle[best] + apart, breaks[own + 1]),
        )
        for _ in range(60):  # ternary sections around the least of them
            one, two = low + (high - low) / 3.0, high - (high - low) / 3.0
            falls = square(one, own) > square(two, own)
            low, high = np.where(falls, one, low), np.where(falls, high, two)
        return float(np.sqrt(max(min(found[best], square(low, own)[0]), 0.0)))

    def quantities(self, motion: Coupled) -> dict[str, tuple[str, Any]]:
        """Angle of the cam, gap, pressure angle, forces of the contact and across, pressure by Hertz."""
        angle, value = self._seen(motion)
        cam = self.profile(angle)
        force = motion.effort / (cam.lever * np.cos(cam.pressure_angle))
        found = {
            "cam_angle": ("rad", angle),
            "gap": ("m" if self.distance is None else "rad", value - cam.lift),
            "pressure_angle": ("rad", cam.pressure_angle),
            "contact_force": ("N", force),
            "side_force": ("N", force * np.sin(cam.pressure_angle)),
        }
        if self.width is not None and self.follower != "knife":
            modulus, curvature = plane_modulus(self.modulus, self.poisson), 1.0 / cam.radius
            beyond = np.full_like(curvature, np.nan)  # on a groove's other flank, which a face has not
            if self.roller_radius is not None and cam.pitch_radius is not None:
                curvature = curvature + 1.0 / self.roller_radius
                beyond = 1.0 / self.roller_radius - 1.0 / (cam.pitch_radius + self.roller_radius)
            curvature = np.where(force < 0.0, beyond, curvature)
            found["contact_pressure"] = ("Pa", line_pressure(np.abs(force) / self.width, curvature, modulus))
        return found

    def _seen(self, motion: Coupled) -> tuple[Floats, Floats]:
        """The angle of the cam and the lift of the follower (T,): of joints, or as the bodies stand."""
        cam, follower = motion.ends
        if not isinstance(cam, tuple) or not isinstance(follower, tuple):
            return np.asarray(cam), np.asarray(follower)
        geometry, away = self._geometry, rotate(conjugate(cam[1]), follower[0] - cam[0])
        if geometry.roller is None:
            relative = product(conjugate(follower[1]), cam[1])
            turned = 2.0 * np.arctan2(relative[:, 3], relative[:, 0])
            height = rotate(conjugate(follower[1]), follower[0] - cam[0])[:, 1]
            return np.unwrap(turned), height - geometry.rest
        square, azimuth = away[:, 0] ** 2 + away[:, 1] ** 2, np.arctan2(away[:, 1], away[:, 0])
        if geometry.distance is None or geometry.arm is None:
            value = np.sqrt(np.maximum(square - geometry.offset**2, 0.0))
            direction = np.arctan2(value, geometry.offset)
        else:
            a, arm = geometry.distance, geometry.arm
            value = np.arccos(np.clip((a**2 + arm**2 - square) / (2.0 * a * arm), -1.0, 1.0))
            direction = np.arctan2(arm * np.sin(value), a - arm * np.cos(value))
        return np.unwrap(direction - azimuth), value - geometry.rest


def _per_piece(law: Waves) -> int:
    return max(9, _POINTS // len(law.pieces.coefficients))


def _everywhere(law: Waves) -> tuple[Floats, Any]:
    """Angles around one turn, close together, with both sides of every break, and the pieces they are of."""
    breaks, each = law.pieces.breaks, _per_piece(law)
    piece = np.repeat(np.arange(len(law.pieces.coefficients)), each)
    share = np.tile(np.linspace(0.0, 1.0, each), len(law.pieces.coefficients))
    return breaks[piece] + share * (breaks[piece + 1] - breaks[piece]), piece
