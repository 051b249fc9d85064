"""Electric motors on joint coordinates by their data sheets: DC motors, servos, steppers.

Currents follow voltages at once: elements have no states of their own, and the time constant L/R of a
winding, a few tenths of a millisecond, is short against the motion of a machine.
"""

from __future__ import annotations

from typing import Any, ClassVar, Final

import numpy as np

from bellcrank.expression import minimum
from bellcrank.mechanism.attachment import End, ForceKind, Motion, pairwise
from bellcrank.mechanism.checking import Check
from bellcrank.mechanism.fields import described, function, quantity, whole
from bellcrank.mechanism.friction import labelled, rubbing
from bellcrank.mechanism.functions.function import FunctionField
from bellcrank.mechanism.given import FloatField, OptionalFloatField
from bellcrank.mechanism.motors import rotor
from bellcrank.mechanism.parameters import is_expression
from bellcrank.mechanism.rows import Law, Lowered

UNLIMITED: Final = 1e25  # an effort or speed that nothing reaches


def _together(check: Check, owner: Any, *names: str) -> None:
    """Note a fault unless all of these fields, or none, are given."""
    missing = [name for name in names if getattr(owner, name) is None]
    if missing and len(missing) < len(names):
        check.fault(f"{' and '.join(names)} belong together", None, f"give {' and '.join(missing)} as well")


@described
class DCMotor(ForceKind):
    """A DC motor with permanent magnets, or a brushless one behind its controller, on a joint coordinate.

    voltage: at the terminals, a function of time, V. resistance: of the winding, ohm.
    torque_constant: N m/A; the constant of the back EMF is the same number in V s/rad.
    ratio: turns of the motor for each turn of the joint (rad/m on a travel), not zero; it may be negative.
    rotor_inertia: kg m^2. viscous, coulomb: friction at the motor's shaft, N m s/rad and N m; the latter is
        the torque constant times the no-load current. regularisation_velocity: of the joint, as of
        JointFriction.
    current_limit: of the controller, A; None for none.
    thermal_resistance, thermal_time: from winding to surroundings, K/W, and its time constant, s: both, or
        neither.
    inductance: must be 0 H, as currents follow voltages at once here.

    With i = (U - k n rate)/R the torque on the joint is n k i less friction.

    >>> motor = bc.DCMotor(voltage=12.0, resistance=2.0, torque_constant=0.05, ratio=20)
    >>> drive = shafts.add_force("motor", motor, "output")
    >>> run = bc.simulate(shafts, 20.0)
    >>> print(run.joint("output").velocity[-1].round(2))    # rad/s: no load, U / (k n)
    [12.]
    """

    voltage: FunctionField = function("V")
    resistance: FloatField = quantity("ohm", "positive")
    torque_constant: FloatField = quantity("N m/A", "positive")
    ratio: FloatField = quantity("1 or rad/m", "not zero", default=1.0)
    rotor_inertia: FloatField = quantity("kg m^2", "not negative", default=0.0)
    viscous: FloatField = quantity("N m s/rad", "not negative", default=0.0)
    coulomb: FloatField = quantity("N m", "not negative", default=0.0)
    regularisation_velocity: OptionalFloatField = quantity("rad/s or m/s", "positive", default=None)
    current_limit: OptionalFloatField = quantity("A", "positive", default=None)
    thermal_resistance: OptionalFloatField = quantity("K/W", "positive", default=None)
    thermal_time: OptionalFloatField = quantity("s", "positive", default=None)
    inductance: FloatField = quantity("H", "not negative", default=0.0)
    pattern: ClassVar[str] = "J"
    ends_text: ClassVar[str] = "one joint"
    meaning: ClassVar[str] = "A DC motor at a voltage, with back EMF, gear, rotor, friction and losses."

    def _judge(self, check: Check) -> None:
        _together(check, self, "thermal_resistance", "thermal_time")
        if self.inductance != 0.0:
            rule = "inductance is not supported: currents follow voltages at once"
            check.fault(rule, self.inductance, "leave it out; motions slower than L/R do not depend on it")

    def lowered(self, ends: tuple[End, ...]) -> Lowered:
        """A motor law, or a servo law with a limit of the current; friction; the rotor."""
        along, n, k = pairwise("", ends), self.ratio, self.torque_constant
        at_rest, slope = self.voltage.scaled(n * k / self.resistance), (n * k) ** 2 / self.resistance
        if self.current_limit is None:
            law = Law.of(self, "motor", along, at_rest, torque_slope=slope)
        else:
            peak = abs(n) * k * self.current_limit
            limits: dict[str, Any] = {"peak": peak, "stall": UNLIMITED, "no_load": UNLIMITED}
            law = Law.of(self, "servo", along, at_rest, stiffness=0.0, damping=slope, **limits)
        friction = rubbing(self, along, n**2 * self.viscous, abs(n) * self.coulomb)
        return labelled({"winding": law}, friction, rotor(along, n**2 * self.rotor_inertia))

    def quantities(self, motion: Motion) -> dict[str, tuple[str, Any]]:
        """Speed and torque of the motor, current, voltage, electrical power, losses, rise of temperature."""
        n, k = self.ratio, self.torque_constant
        (driving, friction), rate = motion.effort.T, motion.rate[:, 0]
        current, speed = driving / (n * k), n * rate
        voltage, heat = self.resistance * current + k * speed, self.resistance * current**2
        found = {
            "speed": ("rad/s", speed),
            "torque": ("N m", (driving + friction) / n),
            "current": ("A", current),
            "voltage": ("V", voltage),
            "power": ("W", voltage * current),
            "losses": ("W", heat - friction * rate),
        }
        if self.thermal_resistance is not None and self.thermal_time is not None:
            rise = warming(motion.time, heat, self.thermal_resistance, self.thermal_time)
            found["temperature_rise"] = ("K", rise)
        return found


@described
class Servo(ForceKind):
    """A position servo on a joint coordinate, within the limits of its torque, current and speed.

    target: rad or m over time. stiffness, damping: of the controller, so that the demanded effort is
        stiffness (target - position) - damping rate.
    torque: the largest effort, N m or N. speed: at which none is left, rad/s or m/s; None for no limit.
    stall: effort at rest of the line that falls to zero at this speed; None for `torque`.
    torque_constant: of the joint's effort, N m/A or N/A. current: the largest, A. resistance: ohm. With them
        current and losses are results; None otherwise.
    inertia: of the rotor along the coordinate, kg m^2 or kg.

    >>> servo = bc.Servo(target=1.0, stiffness=50.0, damping=10.0, torque=20.0)
    >>> motor = shafts.add_force("servo", servo, "output")
    >>> print(bc.simulate(shafts, 5.0).joint("output").position[-1].round(4))    # rad
    [1.]
    """

    target: FunctionField = function("rad or m")
    stiffness: FloatField = quantity("N/m or N m/rad", "positive")
    torque: FloatField = quantity("N or N m", "positive")
    damping: FloatField = quantity("N s/m or N m s/rad", "not negative", default=0.0)
    speed: OptionalFloatField = quantity("rad/s or m/s", "positive", default=None)
    stall: OptionalFloatField = quantity("N or N m", "positive", default=None)
    torque_constant: OptionalFloatField = quantity("N/A or N m/A", "positive", default=None)
    current: OptionalFloatField = quantity("A", "positive", default=None)
    resistance: OptionalFloatField = quantity("ohm", "positive", default=None)
    inertia: FloatField = quantity("kg or kg m^2", "not negative", default=0.0)
    pattern: ClassVar[str] = "J"
    ends_text: ClassVar[str] = "one joint"
    meaning: ClassVar[str] = "A position servo with limits of torque, current and speed."

    def _judge(self, check: Check) -> None:
        if self.torque_constant is None:
            for name in ("current", "resistance"):
                if getattr(self, name) is not None:
                    check.fault(f"{name} needs a torque_constant", getattr(self, name))
        if self.speed is None and self.stall is not None:
            check.fault("stall belongs to a speed", self.stall, "give the speed at which no torque is left")
        elif len(check.faults) == 0 and self.stall is not None and self.stall < self.torque:
            check.fault("stall must not be less than torque", (self.stall, self.torque))

    def lowered(self, ends: tuple[End, ...]) -> Lowered:
        """A servo law and the rotor."""
        along = pairwise("", ends)
        peak: Any = self.torque
        if self.current is not None and self.torque_constant is not None:
            held = self.torque_constant * self.current
            peak = minimum(peak, held) if is_expression(held) or is_expression(peak) else min(peak, held)
        law = Law.of(
            self,
            "servo",
            along,
            self.target.scaled(self.stiffness),
            peak=peak,
            stall=UNLIMITED if self.speed is None else self.torque if self.stall is None else self.stall,
            no_load=UNLIMITED if self.speed is None else self.speed,
        )
        return Lowered(rotor(along, self.inertia), (law,))

    def quantities(self, motion: Motion) -> dict[str, tuple[str, Any]]:
        """Power, and current and losses where their constants are given."""
        effort, found = motion.effort[:, 0], {}
        if self.torque_constant is not None:
            current = effort / self.torque_constant
            found["current"] = ("A", current)
            if self.resistance is not None:
                found["losses"] = ("W", self.resistance * current**2)
        return {"power": ("W", effort * motion.rate[:, 0]), **found}


@described
class StepperMotor(ForceKind):
    """A two-phase stepper motor with microsteps on a joint coordinate, which may fall out of step.

    target: the commanded position of the joint, rad (m on a travel), a function of time.
    holding_torque: of the motor, N m. steps: full steps in a turn. ratio, rotor_inertia, viscous: as for
        DCMotor.
    current: amplitude in a phase at rest, A. resistance, inductance: of a phase, ohm and H; they make the
        torque fall with the speed of the motor, as 1/sqrt(1 + (w/wc)^2) with wc = 4 R/(steps L). None for a
        torque that does not fall, and no losses.

    >>> stepper = bc.StepperMotor(target=bc.Ramp(0.0, 1.0), holding_torque=2.0, ratio=10, viscous=0.01)
    >>> motor = shafts.add_force("stepper", stepper, "output")
    >>> run = bc.simulate(shafts, 5.0)
    >>> print(run.joint("output").position[-1].round(3))    # rad
    [1.]
    """

    target: FunctionField = function("rad or m")
    holding_torque: FloatField = quantity("N m", "positive")
    steps: int = whole(4, default=200)
    ratio: FloatField = quantity("1 or rad/m", "not zero", default=1.0)
    rotor_inertia: FloatField = quantity("kg m^2", "not negative", default=0.0)
    viscous: FloatField = quantity("N m s/rad", "not negative", default=0.0)
    current: OptionalFloatField = quantity("A", "positive", default=None)
    resistance: OptionalFloatField = quantity("ohm", "positive", default=None)
    inductance: OptionalFloatField = quantity("H", "positive", default=None)
    pattern: ClassVar[str] = "J"
    ends_text: ClassVar[str] = "one joint"
    meaning: ClassVar[str] = "A stepper motor that pulls to a commanded angle and may lose steps."

    def _judge(self, check: Check) -> None:
        _together(check, self, "resistance", "inductance")
        if self.current is not None and self.resistance is None:
            check.fault("current needs a resistance", self.current, "losses follow from both")

    @property
    def corner(self) -> Any:
        """The speed of the motor at which its torque has fallen to 1/sqrt(2), rad/s."""
        if self.resistance is None or self.inductance is None:
            return UNLIMITED
        return 4.0 / self.steps * self.resistance / self.inductance

    def lowered(self, ends: tuple[End, ...]) -> Lowered:
        """A stepper law and the rotor."""
        along, n = pairwise("", ends), abs(self.ratio)
        law = Law.of(
            self,
            "stepper",
            along,
            self.target,
            hold=n * self.holding_torque,
            poles=n * (self.steps / 4.0),
            corner=self.corner / n,
            damping=n**2 * self.viscous,
        )
        return Lowered(rotor(along, self.ratio**2 * self.rotor_inertia), (law,))

    def quantities(self, motion: Motion) -> dict[str, tuple[str, Any]]:
        """Speed, torque and power of the motor, and losses in both phases."""
        speed, torque = self.ratio * motion.rate[:, 0], motion.effort[:, 0] / self.ratio
        found = {"speed": ("rad/s", speed), "torque": ("N m", torque), "power": ("W", torque * speed)}
        if self.current is not None and self.resistance is not None:
            current = self.current / np.sqrt(1.0 + (speed / self.corner) ** 2)
            found |= {"current": ("A", current), "losses": ("W", self.resistance * current**2)}
        return found


def warming(time: Any, heat: Any, resistance: float, time_constant: float) -> Any:
    """Rise of temperature (T,), K, by heat (T,), W, that changes linearly between times (T,), s.

    From none at the first time. Over a step z tau the rise decays by exp(-z) and gains what the heat of both
    ends leaves; the steps are composed pairwise, in log2(T) passes.
    """
    z = np.diff(time) / time_constant
    decay = np.exp(-z)
    mean = np.divide(-np.expm1(-z), z, out=np.ones_like(z), where=z > 0.0)
    gain = resistance * (heat[:-1] * (mean - decay) + heat[1:] * (1.0 - mean))
    step = 1
    while step < len(z):
        gain = np.concatenate([gain[:step], gain[step:] + decay[step:] * gain[:-step]])
        decay = np.concatenate([decay[:step], decay[step:] * decay[:-step]])
        step *= 2
    return np.concatenate([[0.0], gain])
