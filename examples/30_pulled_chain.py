"""A chain of thirty links, pulled up at its end: quasi-statics at three precisions, and exactly."""

import figures
import numpy as np

import bellcrank as bc

out = figures.output_folder()

# A bicycle chain along x, on the ground at its first pin. SI units.
LINKS, PITCH, MASS = 30, 0.0127, 2.7e-3
mech = bc.Mechanism("bicycle chain", gravity=(0.0, 0.0, 0.0))
carrier, pin = mech.ground, (0.0, 1.0, 0.0)
for k in range(LINKS):
    link = mech.add_body(
        f"link {k}",
        mass=MASS,
        position=(PITCH * k, 0.0, 0.0),
        com=(PITCH / 2.0, 0.0, 0.0),
        inertia=(1e-8, 6e-8, 6e-8),
    )
    before = (PITCH if k else 0.0, 0.0, 0.0)
    mech.add_joint(f"pin {k}", bc.Revolute(), carrier.marker(before, axis=pin), link.marker(axis=pin))
    carrier = link
mech.add_force("pull", bc.Wrench(force=(0.0, 0.0, 0.05)), carrier.marker((PITCH, 0.0, 0.0)))

# Each run computes and moves only the pins that matter for its bound; a bound of 0 takes them all.
names, runs = list(mech.bodies), {}
for bound in (0.5, 0.1, 0.01, 0.0):
    runs[bound] = bc.simulate(
        mech, 12.0, mode="quasistatic", step=2e-3, output_step=0.6, max_error=bound, measure="relative_joint"
    )
exact = runs[0.0].poses(names)[0]
way = np.linalg.norm(exact[-1, -1] - exact[0, -1])
print(f"the last link went {way:.4f} m")

figure, (shapes, errors) = figures.subplots(1, 2, size=(8.0, 3.4))
for (bound, run), color in zip(runs.items(), figures.COLOURS, strict=False):
    places = run.poses(names)[0]
    off = np.linalg.norm(places - exact, axis=2).max(axis=1) / way
    last = run.moved(len(run) - 1)
    print(f"bound {bound:g}: {len(last)} of {LINKS} pins in the last frame, off by {off[-1]:.1e} of the way")
    label = f"bound {bound:g}" if bound else "exact"
    shapes.plot(places[-1, :, 0], places[-1, :, 2], color=color, label=label)
    active = [names.index(f"link {joint.split()[1]}") for joint in last]
    if bound == 0.5:
        shapes.plot(places[-1, active, 0], places[-1, active, 2], "o", color=color, label="pins that moved")
    if bound:
        errors.semilogy(run.time[1:], off[1:], color=color, label=label)
shapes.set(xlabel="x, m", ylabel="z, m")
errors.set(xlabel="t, s", ylabel="largest displacement error / way")
shapes.legend()
errors.legend()
figures.save(figure, out / "pulled_chain.png")
