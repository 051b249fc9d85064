"""A flyball governor with stiff couplers: time constants of 0.1 ms beside a motion of seconds."""

import figures
import numpy as np

import bellcrank as bc

out = figures.output_folder()
mech = bc.gallery.flyball_governor()
run = bc.simulate(mech, duration=10.0, step=2e-4, output_step=0.01)
height = run.joint("slide").position[:, 0]
shaft = run.joint("bearing").velocity[:, 0]
angle = np.degrees(run.joint("hinge 1").position[:, 0])

print(f"height of the slider after 10 s: {height[-1]:.10f} m, reference 0.6196229171")
error = abs(height[-1] - 0.6196229170613664)
print(f"error: {error:.1e} m")
sides = np.max(np.abs(run.joint("hinge 1").position - run.joint("hinge 2").position))
print(f"the two rods differ by {sides:.1e} rad")
print(f"lost in the couplers: {-run.energy.drift[-1]:.3e} J of {run.energy.kinetic[0]:.1f} J")

# No moment acts about the shaft: the angular momentum about it stays, and the balls' position sets the speed.
momentum = np.zeros(len(run))
for name, body in mech.bodies.items():
    history = run.body(name)
    rotation = history.rotation
    w, axis = rotation[:, :1], rotation[:, 1:]
    local = history.angular_velocity - 2 * w * np.cross(axis, history.angular_velocity)
    local += 2 * np.cross(axis, np.cross(axis, history.angular_velocity))  # world to body axes
    spin = local @ np.array(body.inertia)
    spin = spin + 2 * w * np.cross(axis, spin) + 2 * np.cross(axis, np.cross(axis, spin))
    momentum += spin[:, 2] + body.mass * np.cross(history.com_position, history.com_velocity)[:, 2]
print(f"angular momentum {momentum[0]:.6f} kg m^2/s, changes by {np.ptp(momentum):.1e}")

fig, axes = figures.subplots(3, 1, size=(7.0, 5.6), sharex=True)
axes[0].plot(run.time, height)
axes[0].set(ylabel="slider (m)", title="Flyball governor, let go at 30° with one turn a second")
axes[1].plot(run.time, shaft / (2 * np.pi), color=figures.ORANGE)
axes[1].set(ylabel="shaft (1/s)")
axes[2].plot(run.time, angle, color=figures.GREEN)
axes[2].set(ylabel="rods below\nhorizontal (°)", xlabel="time (s)", xlim=(0, 10))
figures.save(fig, out / "07_flyball_governor.png")
