"""Andrews' squeezer: seven bodies, three loops, a motor and a spring, and all of it within milliseconds."""

import figures
import numpy as np

import bellcrank as bc

out = figures.output_folder()
ANGLES = ("beta", "Theta", "gamma", "Phi", "delta", "Omega", "epsilon")
# The angles after 0.03 s: E. Hairer, G. Wanner, Solving Ordinary Differential Equations II, section VII.7.
PUBLISHED = {
    "beta": 15.81077119629904, "Theta": -15.75637105984298, "gamma": 0.04082224013073101,
    "Phi": -0.5347301163226948, "delta": 0.5244099658805304, "Omega": 0.5347301163226948,
    "epsilon": 1.048080741042263,
}  # fmt: skip

mech = bc.gallery.andrews_squeezer()
print(bc.info(mech))
run = bc.simulate(mech, duration=0.03, method="dopri5", tolerance=1e-11, output_step=5e-5)
starts = dict(zip(ANGLES, bc.gallery.ANDREWS.angles, strict=True))
history = {}
for name in ANGLES:
    measured = run.joint(name).position[:, 0]
    history[name] = measured + (starts[name] - measured[0])  # a joint's angle begins within half a turn
worst = max(abs(history[name][-1] - PUBLISHED[name]) for name in ANGLES)
print(f"beta after 0.03 s: {history['beta'][-1]:.11f} rad, published {PUBLISHED['beta']:.11f}")
print(f"largest difference of the seven angles: {worst:.1e} rad")

# The torque's work and the spring's energy become kinetic energy.
work = bc.gallery.ANDREWS.torque * (history["beta"] - history["beta"][0])
print(f"energy balance: {np.max(np.abs(run.energy.drift - work)):.1e} J of {run.energy.kinetic.max():.3f} J")

fig, (left, right) = figures.subplots(1, 2, size=(9.0, 4.0), width_ratios=(1.2, 1.0))
milliseconds = 1e3 * run.time
for name, symbol in zip(ANGLES[2:], ("γ", "Φ", "δ", "Ω", "ε"), strict=True):
    left.plot(milliseconds, history[name], label=symbol)
left.set(
    xlabel="time (ms)", ylabel="angle (rad)", title="Five of the seven angles", xlim=(0, 30), ylim=(-0.8, 1.6)
)
left.legend(ncols=5, loc="upper center")
right.plot(milliseconds, history["beta"] / (2 * np.pi), label="crank β")
right.plot(milliseconds, -history["Theta"] / (2 * np.pi), "--", label="−Θ")
right.set(xlabel="time (ms)", ylabel="turns", title="The crank", xlim=(0, 30))
right.legend()
figures.save(fig, out / "05_andrews_squeezer.png")
