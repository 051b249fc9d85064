"""Motors that are sized: what a drive of a run asks of a motor behind a gear, against its catalogue curve."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bellcrank.compile.state import Floats
from bellcrank.errors import Fault, MechanismError
from bellcrank.mechanism.checking import Check, nearest
from bellcrank.mechanism.fields import Description, array, described, quantity
from bellcrank.mechanism.given import FloatField, FloatsField
from bellcrank.scene.figure import check_matplotlib, check_picture, new_figure, write_figure
from bellcrank.slips import answered
from bellcrank.trajectory.histories import EffortHistory, ForceHistory
from bellcrank.trajectory.panels import COLOURS, GREY, MILLIMETRE, SETTINGS, WIDTH
from bellcrank.trajectory.trajectory import Trajectory

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_HEIGHT: Final = 85 * MILLIMETRE


@described
class MotorCurve(Description):
    """A motor of a catalogue.

    speed: points of its curves, rad/s, from 0 upwards; beyond the last one it cannot turn.
    continuous, peak: the torques that it can exert at these speeds for any time, and for a short one, N m;
        between them they change linearly.
    rotor_inertia: kg m^2. name: as the catalogue calls it.

    >>> points = {"speed": [0, 300, 400], "continuous": [1.0, 0.8, 0.0], "peak": [3.0, 3.0, 0.0]}
    >>> motor = bc.MotorCurve(**points, rotor_inertia=1e-4, name="M1")
    >>> print(motor.continuous_at(150.0), motor.peak_at(350.0))    # N m, between the points
    0.9 1.5
    """

    speed: FloatsField = array("rad/s", None)
    continuous: FloatsField = array("N m", None)
    peak: FloatsField = array("N m", None)
    rotor_inertia: FloatField = quantity("kg m^2", "not negative", default=0.0)
    name: str = "motor"

    def _element(self) -> str:
        return f"motor curve {self.name!r}"

    def _judge(self, check: Check) -> None:
        speed, continuous, peak = map(np.asarray, (self.speed, self.continuous, self.peak))
        if not len(speed) == len(continuous) == len(peak) >= 2:
            lengths = (len(speed), len(continuous), len(peak))
            check.fault("speed, continuous and peak must have as many points, two or more", lengths)
            return
        if speed[0] != 0.0 or np.any(np.diff(speed) <= 0.0):
            check.fault("speed must begin at 0 and increase", self.speed)
        if np.any(continuous < 0.0):
            check.fault("continuous must not be negative", self.continuous)
        if np.any(peak < continuous):
            check.fault("peak must not be less than continuous", self.peak)

    def continuous_at(self, speed: Any) -> Any:
        """The continuous torque at speeds of either sign, N m; 0 where it cannot turn.

        >>> motor = bc.MotorCurve(speed=[0, 300, 400], continuous=[1.0, 0.8, 0.0], peak=[3.0, 3.0, 0.0])
        >>> print(motor.continuous_at([-150.0, 150.0, 500.0]))    # N m
        [0.9 0.9 0. ]
        """
        return np.interp(np.abs(speed), self.speed, self.continuous, right=0.0)

    def peak_at(self, speed: Any) -> Any:
        """The peak torque at speeds of either sign, N m; 0 where it cannot turn.

        >>> motor = bc.MotorCurve(speed=[0, 300, 400], continuous=[1.0, 0.8, 0.0], peak=[3.0, 3.0, 0.0])
        >>> print(motor.peak_at([0.0, 350.0, 500.0]))    # N m
        [3.  1.5 0. ]
        """
        return np.interp(np.abs(speed), self.speed, self.peak, right=0.0)


@dataclass(frozen=True, eq=False)
class MotorSizing:
    """What a drive asks of a motor, over one cycle.

    drive: its name. motor: its curve. ratio: turns of the motor for each of the joint, rad/m on a travel.
    time: s, (T,). speed, torque: of the motor, rad/s and N m, (T,); the torque accelerates the rotor, too.

    >>> motor = bc.MotorCurve(speed=[0, 300], continuous=[0.1, 0.1], peak=[0.3, 0.3])
    >>> run = bc.inverse_dynamics(slider_crank, 2 * np.pi / 10)
    >>> sizing = bc.size_motor(run, "motor", motor, ratio=20)
    >>> print(f"{sizing.peak_torque:.4f} N m at up to {sizing.peak_speed:.0f} rad/s; it fits: {sizing.fits}")
    0.0692 N m at up to 200 rad/s; it fits: True
    """

    drive: str
    motor: MotorCurve
    ratio: float
    time: Floats
    speed: Floats
    torque: Floats

    @property
    def power(self) -> Floats:
        """Of the shaft, W, (T,); negative where the load drives the motor."""
        return self.torque * self.speed

    @property
    def peak_torque(self) -> float:
        """N m."""
        return float(np.abs(self.torque).max())

    @property
    def rms_torque(self) -> float:
        """The root mean square over the cycle, N m, by which the motor warms."""
        return float(np.sqrt(self._mean(self.torque, self.torque)))

    @property
    def peak_speed(self) -> float:
        """rad/s."""
        return float(np.abs(self.speed).max())

    @property
    def mean_speed(self) -> float:
        """The mean magnitude, rad/s."""
        ends = np.abs(self.speed)
        return float(np.sum(np.diff(self.time) * 0.5 * (ends[1:] + ends[:-1])) / self._period)

    @property
    def peak_power(self) -> float:
        """W."""
        return float(np.abs(self.power).max())

    @property
    def mean_power(self) -> float:
        """Energy per cycle over its time, W."""
        return self.energy / self._period

    @property
    def energy(self) -> float:
        """What the motor supplies in one cycle, J."""
        return self._work(np.maximum(self.power, 0.0))

    @property
    def returned(self) -> float:
        """What the load drives back into it in one cycle, J."""
        return self._work(np.maximum(-self.power, 0.0))

    @property
    def continuous_margin(self) -> float:
        """Continuous torque at the mean speed over the root mean square; from 1 on it stays cool enough."""
        return _ratio(float(self.motor.continuous_at(self.mean_speed)), self.rms_torque)

    @property
    def peak_margin(self) -> float:
        """The least ratio of the peak torque at the speed of an instant to the torque at it."""
        most = np.maximum(np.abs(self.torque), np.finfo(float).tiny)
        return float((self.motor.peak_at(self.speed) / most).min())

    @property
    def fits(self) -> bool:
        """Whether both margins are at least 1; beyond its greatest speed a motor has none."""
        turns = self.peak_speed <= self.motor.speed[-1]
        return turns and min(self.continuous_margin, self.peak_margin) >= 1.0

    def __str__(self) -> str:
        parts = (
            f"{self.rms_torque:.4g} N m rms (margin {self.continuous_margin:.3g})",
            f"{self.peak_torque:.4g} N m peak (margin {self.peak_margin:.3g})",
            f"{self.mean_speed:.4g} rad/s mean, {self.peak_speed:.4g} peak of {self.motor.speed[-1]:.4g}",
            f"{self.mean_power:.4g} W mean, {self.peak_power:.4g} peak",
            f"{self.energy:.4g} J a cycle, {self.returned:.4g} back",
        )
        return f"{self.motor.name} {'fits' if self.fits else 'does not fit'}: {'; '.join(parts)}"

    def plot(self, path: str | Path | None = None) -> Figure:
        """Draw torque over speed with both limits and the point of the continuous load (extra `plot`).

        path: file to write the picture into (PNG, PDF or SVG). Raises Unsupported without matplotlib.

        >>> motor = bc.MotorCurve(speed=[0, 300], continuous=[0.1, 0.1], peak=[0.3, 0.3])
        >>> run = bc.inverse_dynamics(slider_crank, 2 * np.pi / 10)
        >>> figure = bc.size_motor(run, "motor", motor, ratio=20).plot("motor.png")
        >>> figure.axes[0].get_xlabel(), figure.axes[0].get_ylabel()
        ('Speed (rad/s)', 'Torque (N·m)')
        """
        if path is not None:
            check_picture(path)
        check_matplotlib()
        import matplotlib as mpl

        with mpl.rc_context(SETTINGS):
            figure: Figure = new_figure((WIDTH, _HEIGHT), path is None)
            axes = figure.add_subplot()
            curve = np.array([self.motor.speed, self.motor.continuous, self.motor.peak])
            axes.fill_between(curve[0], curve[2], color=COLOURS[4], alpha=0.18, linewidth=0.0)
            axes.fill_between(curve[0], curve[1], color=COLOURS[2], alpha=0.25, linewidth=0.0)
            axes.plot(curve[0], curve[2], color=COLOURS[4], label="peak")
            axes.plot(curve[0], curve[1], color=COLOURS[2], label="continuous")
            driving, size = self.power >= 0.0, np.abs([self.speed, self.torque])
            for which, color, name in ((driving, COLOURS[0], "drives"), (~driving, COLOURS[1], "is driven")):
                axes.plot(*size[:, which], ".", color=color, markersize=2.5, label=name)
            load: Any = {
                "color": GREY,
                "markersize": 7.0,
                "markeredgewidth": 1.8,
                "label": "root mean square",
            }
            axes.plot(self.mean_speed, self.rms_torque, "x", **load)
            axes.set(xlabel="Speed (rad/s)", ylabel="Torque (N·m)", title=f"{self.drive}: {self.motor.name}")
            axes.set_xlim(left=0.0)
            axes.set_ylim(bottom=0.0)
            axes.legend(ncols=3)
            if path is not None:
                write_figure(figure, path)
        return figure

    @property
    def _period(self) -> float:
        return float(self.time[-1] - self.time[0])

    def _mean(self, one: Floats, two: Floats) -> float:
        """The mean of a product of two values that change linearly between frames."""
        a, b, c, d = one[:-1], one[1:], two[:-1], two[1:]
        parts = (2.0 * a * c + a * d + b * c + 2.0 * b * d) / 6.0
        return float(np.sum(np.diff(self.time) * parts) / self._period)

    def _work(self, power: Floats) -> float:
        return float(np.sum(np.diff(self.time) * 0.5 * (power[1:] + power[:-1])))


def _ratio(available: float, needed: float) -> float:
    return available / needed if needed > 0.0 else float("inf")


@answered
def size_motor(
    run: Trajectory,
    drive: str,
    motor: MotorCurve,
    *,
    ratio: float = 1.0,
    efficiency: float = 1.0,
    gear_inertia: float = 0.0,
    cycle: tuple[float, float] | None = None,
) -> MotorSizing:
    """Compare what a drive, or a force on a joint, exerts in a run with the curve of a motor behind a gear.

    run: with accelerations (`simulate(..., accelerations=True)`), as `inverse_dynamics` records them.
    drive: name of a drive, or of a force, on one coordinate. ratio: turns of the motor for each turn of the
        joint, rad/m on a travel (2 pi over the lead of a screw); not zero.
    efficiency: of the gear, by which the load on the motor grows where it drives and shrinks where the load
        drives it. gear_inertia: of gear and coupling about the motor's shaft, kg m^2. What accelerates it and
        the rotor is added, except for forces with a rotor of their own, which contain it.
    cycle: begin and end, s, of the part of the run that repeats; by default all of it.

    Raises MechanismError for what the run does not contain.

    >>> motor = bc.MotorCurve(speed=[0, 300], continuous=[0.1, 0.1], peak=[0.3, 0.3])
    >>> run = bc.inverse_dynamics(slider_crank, 2 * np.pi / 10)
    >>> sizing = bc.size_motor(run, "motor", motor, ratio=20)
    >>> print(f"{sizing.peak_torque * 20:.4f} N m, {abs(run.drive('motor').effort).max():.4f} N m")
    1.3841 N m, 1.3841 N m
    """
    with Check(f"motor for {drive!r}") as check:
        check.instance("the motor", motor, MotorCurve, "use bc.MotorCurve(...)")
        check.instance("the run", run, Trajectory)
        n = check.not_zero("ratio", ratio, "")
        good = check.positive("efficiency", efficiency, "")
        inertia = check.not_negative("gear_inertia", gear_inertia, "kg m^2")
        if good > 1.0:
            check.fault("efficiency must not be above 1", efficiency)
    effort, place = _exerted(run, drive)
    if "coordinate_accelerations" not in run.layout.shapes:
        rule, advice = "its acceleration was not recorded", "simulate with accelerations=True"
        raise MechanismError(Fault(f"drive {drive!r}", rule, None, advice))
    rate, acceleration = (run.store.read(s, place) for s in ("rates", "coordinate_accelerations"))
    frames = _within(run, cycle)
    effort, rate, acceleration = effort[frames], rate[frames], acceleration[frames]
    load = effort / n * np.where(effort * rate >= 0.0, 1.0 / good, good)
    turning = 0.0 if run.layout.multiplier_numbers(drive, "motor") else motor.rotor_inertia + inertia
    torque = load + turning * n * acceleration
    return MotorSizing(drive, motor, n, run.time[frames], n * rate, torque)


def _exerted(run: Trajectory, name: str) -> tuple[Floats, int]:
    """The effort (T,) of a drive or force on one coordinate of a joint, and the place of the coordinate."""
    found: EffortHistory | ForceHistory
    element = f"drive {name!r}"
    if run.layout.multiplier_numbers(name, "drive"):
        found = run.drive(name)
        places = {column.coordinate for column in found.columns}
    elif name in run.forces:
        found = run.force(name)
        places = {column.coordinate for column in found.columns}
        element = f"force {name!r}"
    else:
        advice = nearest(name, [*run.drives, *run.forces])
        raise MechanismError(Fault(element, "the run has no drive and no force of this name", None, advice))
    place = next(iter(places), None)
    if len(places) != 1 or place is None or place >= len(run.layout.coordinates):
        rule, advice = "it does not act on one coordinate of a joint", "size a motor by a drive of a joint"
        raise MechanismError(Fault(element, rule, found.coordinates, advice))
    return np.reshape(found.effort, (len(run.time), -1)).sum(axis=1), place


def _within(run: Trajectory, cycle: Any) -> np.ndarray:
    """Which frames belong to the cycle; two or more."""
    if cycle is None:
        frames = np.ones(len(run.time), dtype=bool)
    else:
        with Check("cycle") as check:
            begin, end = check.array("cycle", cycle, (2,), "s").tolist()
        frames = (run.time >= begin) & (run.time <= end)
    if np.count_nonzero(frames) < 2:
        advice = f"the run lasts from {run.time[0]:.6g} to {run.time[-1]:.6g} s" if len(run.time) else ""
        raise MechanismError(Fault("cycle", "it must contain two frames or more", cycle, advice))
    return frames
