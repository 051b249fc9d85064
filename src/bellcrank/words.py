"""Words of other programs, and of habit, with what stands for them here: tables by which slips are answered.

Keys hold several words, separated by blanks.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

SYNONYMS: Final[Mapping[str, str]] = {
    "k K ks kt spring_constant spring_rate spring spring_stiffness stiff rate": "stiffness",
    "c C d b damp damper viscosity dashpot damping_coefficient damping_constant": "damping viscous",
    "l0 L0 x0 free_length natural_length initial_length length0 equilibrium_length": "rest_length",
    "theta0 phi0 free_angle natural_angle": "rest_angle",
    "mu mu_d coulomb_friction friction_coefficient": "friction coulomb coefficient",
    "mu_s static_friction_coefficient": "static_friction stiction static_coefficient",
    "e cor bounce elasticity": "restitution",
    "f0 F0 pretension": "preload",
    "m M masses weight": "mass",
    "I J Ixx moi moment_of_inertia inertia_tensor tensor": "inertia",
    "cg cog CoM com_position center_of_mass centre_of_mass center": "com position",
    "pos p xyz location loc origin place translation offset at point where": "position com_position at",
    "rot quat quaternion q_rot orientation attitude rotation_matrix R euler rpy angles": "rotation",
    "vel v xdot speed linear_velocity velocities v0": "velocity",
    "omega w angular_speed angvel ang_vel spin wdot omega0": "angular_velocity velocity omega",
    "acc a accel accelerations xddot linear_acceleration": "acceleration",
    "alpha angular_acc omega_dot": "angular_acceleration acceleration",
    "g gravitation grav": "gravity",
    "rho dens": "density",
    "colour col rgba rgb colors colours": "color",
    "r rad R radii radius_": "radius radii",
    "h H height len l L extent": "length height thickness",
    "dimensions dims dim extents lengths sides side half_extents xyz_size": "size",
    "shape visual visuals geometry geometries mesh collision": "shapes",
    "t_end tend tEnd t_final tfinal t_max tmax t_stop stop_time end_time end until T time total_time tf":
        "duration",
    "dt DT h timestep time_step step_size stepsize delta_t": "step output_step",
    "t times_ t_eval time_points ts tspan t_span sample_times instants": "times time",
    "steps n_steps frames fps samples num_steps points n_points": "output_step step times",
    "solver integrator scheme algorithm": "method formulation",
    "tol eps precision": "tolerance",
    "min low lo lb minimum lower_limit lower_bound": "lower low",
    "max high hi ub maximum upper_limit upper_bound": "upper high",
    "body1 body_1 body_a bodyA body_i parent first base marker1 marker_a frame_1": "marker_1",
    "body2 body_2 body_b bodyB body_j child second follower marker2 marker_b frame_2": "marker_2",
    "angle theta phi q q0 initial initial_position initial_angle start_angle value x displacement":
        "position angle",
    "qd qdot q_dot rate initial_velocity": "velocity rate",
    "limit lims range bounds stops": "limits",
    "torque tau moment_ couple": "moment effort torque",
    "force_ load f F": "force effort",
    "type joint_type kind_ joint_kind": "kind",
    "joints on joint_name": "joint",
    "id label title names tag": "name",
    "file filename file_name fname out output save_to": "path",
    "z axis_ z_direction axes direction dir": "axis z_axis",
    "params vary variables": "parameters",
    "objective cost measures": "measure",
    "targets_ goal target": "targets",
    "t_ times": "time duration",
    "kinetic_energy ke": "kinetic",
    "potential_energy pe": "potential",
    "freq frequency f_hz": "omega",
    "amp A": "amplitude",
    "n ratio_ i": "ratio",
    "z1 n_teeth": "teeth",
    "reactions reaction_force": "reaction",
}  # fmt: skip
"""Words, and the names of arguments or attributes that they may stand for, the likeliest first."""

_JOINT_FORCE: Final = "mech.add_force(name, bc.{}, joint=...)"
_FRICTION: Final = f"friction is a force on the joint: {_JOINT_FORCE.format('JointFriction(coulomb=...)')}"
_SPRING: Final = (
    f"springs and dampers are forces on the joint: {_JOINT_FORCE.format('TorsionSpring(stiffness, damping)')}"
)
_LIES: Final = 'it lies along its z axis: rotation=bc.rotation("x", "90 deg") lays it along y'
_AXIS: Final = 'the axis is that of its markers: body.marker(point, axis="y"), or mech.join(..., axis="y")'
_LIMITS: Final = "give limits=bc.Limit(lower, upper) to add_joint"
_MOTOR: Final = (
    "a drive prescribes motion; a torque or a force is one of its own: "
    f"{_JOINT_FORCE.format('JointMotor(effort)')}"
)
_ON_GROUND: Final = 'join it to the ground: mech.add_joint(name, bc.Fixed(), "ground", body)'

CALLS: Final[Mapping[str, Mapping[str, str]]] = {
    "JointKind": {
        "friction mu coulomb viscous": _FRICTION,
        "damping stiffness k c d spring": _SPRING,
        "axis direction z_axis": _AXIS,
        "limits limit lower upper range": _LIMITS,
        "position velocity angle speed q0": "give it to add_joint: position=..., velocity=...",
        "*": _AXIS,
    },
    "add_body": {
        "fixed static grounded is_static kinematic anchored": _ON_GROUND,
        "density rho": "shapes have densities: shapes=[bc.Box(size=(1, 1, 1), density=7850.0)]",
        "color colour": "shapes have colours: shapes=[bc.Box(size=(1, 1, 1), color=...)]",
        "size radius length": "shapes have sizes: shapes=[bc.Box(size=(1, 1, 1))]",
        "parent joint": "a body has no parent: join the two by mech.add_joint(name, kind, parent, body)",
        "friction mu restitution": "it is of contacts: mech.add_force(name, bc.Contact(...), body, other)",
        "euler rpy angles euler_angles": "rotation=bc.rotation(rpy=(roll, pitch, yaw))",
        "marker markers": "make them afterwards: body.marker(point, axis=...)",
    },
    "add_joint": {
        "axis at point location anchor": "mech.join(name, kind, bodies, at, axis) takes it; or give markers, "
        'such as body.marker(point, axis="y")',
        "lower upper min max range": "give limits=bc.Limit(lower, upper)",
        "friction mu coulomb viscous": _FRICTION,
        "damping stiffness k c d spring": _SPRING,
        "motor torque effort": _MOTOR,
    },
    "join": {"markers marker_1 marker_2": "mech.add_joint(name, kind, marker_1, marker_2) takes markers"},
    "add_drive": {
        "torque force effort moment tau": _MOTOR,
        "function law motion profile signal f value": "say what it prescribes: position=... or velocity=...",
    },
    "add_marker": {"*": 'make it on its body: mech.add_marker(body.marker((0, 0, 1), name="tip"))'},
    "Harmonic": {"freq frequency f f_hz": "it takes omega, in rad/s: 2*pi times the frequency"},
    "Sphere": {"diameter d D": "it takes the radius"},
    "Cylinder": {"diameter d D": "it takes the radius", "axis direction": _LIES},
    "Capsule": {"diameter d D": "it takes the radius", "axis direction": _LIES},
    "Cone": {"axis direction": _LIES},
    "JointFriction": {
        "mu mu_d friction coefficient friction_coefficient mu_k": "coulomb is a force or moment, N or N m; "
        "a coefficient goes with a load: load=bc.Slide(length, coefficient), bc.Journal(radius, coefficient)",
    },
    "rotation": {
        "degrees deg angle_deg": 'give the angle with its unit: angle="90 deg"',
        "radians": "angle=, in rad",
    },
    "simulate": {
        "dt timestep time_step h": "a fixed step is step=, the time between frames is output_step=",
        "fps frames n_frames samples steps n_steps": "frames are output_step= s apart, or at times=",
        "t": "here it is called 'duration'",
        "gravity g": "it is of the mechanism: mech.gravity = (0, 0, -9.81)",
        "verbose display show_progress tqdm": "here it is called 'progress'",
        "initial initial_conditions y0 x0 q0 qd0 initial_state u0":
            "add_joint(..., position=, velocity=) says how it starts; or state=run.at(t)",
        "parameters params values": "bc.simulate(mech.with_parameters(name=value), duration)",
        "callback callbacks on_step": "controllers= are called at times, events= where something happens",
    },
    "kinematics": {"t_eval": "it takes times="},
}  # fmt: skip
"""By what is called, or a base of it: words that have an answer of their own; "*" is of surplus arguments."""

_RUN_OF: Final = "results are those of a run: run = bc.simulate(mech, duration); "

ATTRIBUTES: Final[Mapping[str, Mapping[str, str]]] = {
    "Mechanism": {
        "simulate run solve integrate step advance forward": "bc.simulate(mech, duration)",
        "info summary describe dof degrees_of_freedom mobility": "bc.info(mech)",
        "save write to_file export dump": "bc.save(mech, path)",
        "plot show render display": "mech.draw(), or mech.view() for a live page",
        "add_spring add_damper add_spring_damper add_torque add_motor add_load add_friction add_contact":
            "it is a force: mech.add_force(name, bc.SpringDamper(...), marker, marker); other kinds are "
            "bc.JointMotor, bc.Wrench, bc.JointFriction, bc.Contact, ...",
        "add_link add_part add_rigid_body add_mass new_body": "mech.add_body(name, mass, inertia)",
        "add_revolute add_hinge add_prismatic add_pin add_weld": "mech.add_joint(name, bc.Revolute(), ...)",
        "add_gear add_belt add_coupling": "mech.add_constraint(name, bc.Gear(...), joint, joint)",
        "set_gravity add_gravity": "mech.gravity = (0, 0, -9.81)",
        "add_ground add_world world base root": "the ground is there: mech.ground",
        "links parts rigid_bodies": "mech.bodies",
        "constraint get_constraint": "mech.constraints[name]",
        "elements children": "mech.bodies, mech.joints, mech.forces, mech.constraints, mech.drives",
        "to_yaml to_json to_urdf to_dict": "bc.save(mech, path)",
        "finalize Finalize compile build initialize": "it is ready: bc.simulate(mech, duration)",
        "add": "mech.add_body, add_joint, add_force, add_constraint, add_drive",
        "add_geometry add_geom add_shape add_visual":
            "bodies have them: mech.add_body(name, shapes=[bc.Box(...)])",
        "add_actuator add_controller": "mech.add_force(name, bc.JointMotor(bc.Input(...)), joint=...), "
        "and bc.simulate(..., controllers=)",
        "mass total_mass": "bc.info(mech).mass",
        "body get_body": "mech.bodies[name]",
        "joint get_joint": "mech.joints[name]",
        "force get_force": "mech.forces[name]",
        "drive get_drive": "mech.drives[name]",
        "assemble": "bc.assemble(mech)",
        "equilibrium find_equilibrium": "bc.find_equilibrium(mech)",
        "statics": "bc.statics(mech)",
        "modes eigenvalues frequencies": "bc.modes(mech)",
        "kinematics": "bc.kinematics(mech, duration)",
        "verify": "bc.verify(mech)",
    },
    "Body": {
        "position_in_world world_position": "it is placed at its position; of a point of it "
        "mech.position_in_world(body.marker(point)), in a run run.marker(...)",
        "add_marker": "mech.add_marker(body.marker(point, name=...))",
        "set_position move translate": "mech.replace(body, position=...)",
        "set_mass set_velocity set_rotation": "mech.replace(body, mass=...)",
        "acceleration force reaction x y z": f"{_RUN_OF}run.body(name).acceleration",
    },
    "Marker": {
        "position_in_world world_position global_position world": "mech.position_in_world(marker); in a run "
        "run.marker(marker).position",
        "velocity acceleration": f"{_RUN_OF}run.marker(marker).velocity",
    },
    "Joint": {
        "torque force moment reaction effort": f"{_RUN_OF}run.joint(name).reaction",
        "angle theta q value": f"{_RUN_OF}run.joint(name).position",
        "body1 body_1 parent": "joint.marker_1.body",
        "body2 body_2 child": "joint.marker_2.body",
    },
    "Trajectory": {
        "positions velocities q x y": "run.body(name).position, run.joint(name).position",
        "show render display": "run.draw(), run.plot(), run.animate(), or run.view() for a page",
        "to_pandas to_dataframe df dataframe": "pandas.DataFrame(run.to_dict())",
        "success ok message": "run.status, run.status.message",
        "reactions torques efforts": "run.joint(name).reaction, run.drive(name).effort, ...",
        "state final_state last": "run.at(run.time[-1])",
        "T t_eval ts tout": "here it is called 'time'",
        "position velocity acceleration": "run.body(name).position, run.joint(name).position, "
        "run.marker(name).position",
        "reaction torque effort": "run.joint(name).reaction, run.drive(name).effort, run.force(name).effort",
        "export write to_file to_hdf to_hdf5 to_mat": "run.save(path)",
        "assembly hints warnings": "run.statistics",
        "step dt": "numpy.diff(run.time)",
    },
    "BodyHistory": {
        "torque force moment reaction effort": "bodies record none: run.joint(name).reaction, "
        "run.drive(name).effort, run.force(name).effort",
        "x": "position[:, 0]",
        "y": "position[:, 1]",
        "z": "position[:, 2]",
        "vx": "velocity[:, 0]",
        "vy": "velocity[:, 1]",
        "vz": "velocity[:, 2]",
        "speed": "numpy.linalg.norm(run.body(name).velocity, axis=1)",
        "angle angles euler rpy": "rotation, quaternions; the angle of a joint is run.joint(name).position",
        "energy kinetic kinetic_energy": "run.energy.kinetic, of the whole mechanism",
        "path trajectory trace": "position, or point(offset)",
    },
    "MarkerHistory": {"x": "position[:, 0]", "y": "position[:, 1]", "z": "position[:, 2]"},
    "JointHistory": {
        "effort power torque tau": "a drive's is run.drive(name).effort, a spring's or motor's "
        "run.force(name).effort; what the joint transmits is its moment and force",
        "angle theta q x value displacement": "here it is called 'position', (T, number of coordinates)",
    },
    "Run": {
        "step run simulate integrate": "run.advance(duration)",
        "body joint marker force drive position velocity": "run.now().body(name); of all that was recorded "
        "run.trajectory.body(name)",
        "results result data history": "here it is called 'trajectory'",
        "set_input set_control ctrl": "run.inputs[name] = value",
        "reset": "bc.start(mech, duration) begins another one",
        "close finish end": "here it is called 'stop'",
    },
    "System": {
        "M mass_matrix": "linear equations are bc.linearize(mech); here there are accelerate(), rows()",
        "step advance simulate": "bc.start(mech, duration).advance(duration)",
        "forward_dynamics fd": "here it is called 'accelerate'",
    },
    "State": {
        "q qd": "position, rotation, velocity, angular_velocity",
        "body bodies joint": "of bodies by number, as in run.bodies; by name run.body(name)",
    },
    "Modes": {
        "eigenvectors vectors shapes mode_shapes": "displacements, or draw(number)",
        "eigenvalues": "here it is called 'values'",
        "damping damping_ratios zeta": "modes.mode(number).damping",
    },
    "LinearModel": {"a b c d": "A, B, C, D", "poles eigs": "here it is called 'eigenvalues'"},
    "EnergyHistory": {"sum E energy": "here it is called 'total'"},
    "EffortHistory": {"torque force moment tau value": "here it is called 'effort'"},
    "ForceHistory": {
        "torque force moment tau value": "here it is called 'effort'",
        "velocity speed": "here it is called 'rate'",
        "length angle": "here it is called 'position'",
    },
    "Statics": {
        "joint reactions": "joints[name]",
        "drive torque efforts": "drives[name].effort",
        "force": "forces[name]",
        "energy potential": "equilibrium.energy",
        "stable stability": "equilibrium.stability",
    },
    "JointReaction": {"torque tau effort": "here it is called 'moment'"},
    "DriveEffort": {"torque force moment tau value": "here it is called 'effort'"},
}  # fmt: skip
"""By the class of an object, or a base of it: words, and where what they mean is found."""

NAMES: Final[Mapping[str, str]] = {
    "hinge pin revolute rotational pivot": "a joint that turns is Revolute",
    "weld fixed rigid lock": "a rigid joint is Fixed",
    "ball spherical socket ballsocket": "a ball joint is Spherical",
    "slider prismatic translational sliding": "a joint that slides is Prismatic",
    "cardan hooke universal": "a Cardan joint is Universal",
    "float floating sixdof free": "a joint that lets everything move is Free",
    "spring linearspring damper springdamper": "a spring or damper is SpringDamper or TorsionSpring",
    "motor actuator torque": "a prescribed motion is RevoluteMotor or add_drive, a torque JointMotor",
    "rod link bar": "a massless rod is Distance; bodies are made by mech.add_body, mech.add_rod",
    "cube cuboid block": "a cuboid is Box",
    "friction": "friction of joints is JointFriction, of contacts a field of Contact",
    "run solve integrate simulator solver": "it is simulate(mech, duration)",
    "model system world scene multibody": "a description is Mechanism, ready to compute it is prepare(mech)",
    "frame": "a frame on a body is body.marker(...)",
    "read open": "it is load(path)",
    "write export dump": "it is save(mech, path)",
    "pulley sheave wheel": "a rope over wheels is Rope, a belt BeltLoop or Belt, a drum Winch",
    "part component rigidbody": "bodies are made by mech.add_body(name, mass, inertia)",
    "point position": "a point of a body is body.marker((x, y, z))",
    "gravity": "mech.gravity = (0, 0, -9.81)",
    "world environment scene3d": "a description is Mechanism",
    "force load": "forces are made by mech.add_force(name, bc.Wrench(force=(0, 0, 1)), body)",
    "contactforce collision": "it is Contact: mech.add_force(name, bc.Contact(...), body, other)",
    "optimizer": "it is optimize(mech, parameters, measure)",
    "trajectoryplot figure": "run.plot()",
    "plot draw show animate": "they are methods: mech.draw(), run.plot(), run.draw(), run.animate()",
    "ik": "it is inverse_kinematics(mech, targets)",
}
"""Names that a package may be expected to publish, without "Joint" and the like, and what stands for them."""

UNITS: Final[Mapping[str, str]] = {
    "meter meters metre metres": "m",
    "millimeter millimeters millimetre millimetres milimeter milimeters": "mm",
    "centimeter centimeters centimetre centimetres": "cm",
    "kilometer kilometers kilometre kilometres": "km",
    "micrometer micrometers micron microns": "um",
    "inches zoll": "in",
    "foot feet": "ft",
    "mil mils thou": "in/1000, so 25.4 um",
    "gram grams gramm": "g",
    "kilogram kilograms kgs kilo kilos": "kg",
    "ton tons tonne tonnes": "t",
    "pound pounds lbs lbm": "lb",
    "second seconds sec secs": "s",
    "millisecond milliseconds msec": "ms",
    "minute minutes mins": "min",
    "hour hours hr hrs": "h",
    "radian radians rads": "rad",
    "degree degrees degs": "deg",
    "revolution revolutions revs turns u/min": "rev",
    "hz hertz": "Hz",
    "newton newtons n": "N",
    "kn kilonewton": "kN",
    "kgf kp": "N: 1 kgf is 9.80665 N",
    "joule joules": "J",
    "watt watts": "W",
    "hp ps horsepower": "W: 1 hp is 745.7 W",
    "pascal pascals pa": "Pa",
    "mpa n/mm2": "MPa",
    "psi ksi": "Pa: 1 psi is 6894.76 Pa",
    "cc ccm ml": "cm^3",
    "l liter liters litre litres": "m^3/1000, so cm^3",
    "c celsius degc °c": "K",
    "amp amps ampere": "A",
    "volt volts": "V",
    "gs": "m/s^2: 1 g is 9.80665 m/s^2",
}
"""Units as people spell them, in small letters, and how they are written here."""

METHODS: Final[Mapping[str, str]] = {
    "ode45 rk45 dopri dop853 rkf45 runge-kutta solve_ivp": "dopri5",
    "euler symplectic_euler implicitfast implicit_euler explicit_euler": "semi_implicit_euler",
    "rk runge_kutta rk3": "rk4",
    "ode15s radau gear gstiff wstiff hht newmark generalized_alpha stiff ida cvode sundials": "bdf",
    "ode113 lsoda abm adams-bashforth": "adams",
    "timestepping time_stepping nsc psor": "moreau",
    "featherstone aba articulated articulated_body newton-euler newton_euler rnea crba": "recursive",
    "minimal reduced joint": "recursive",
    "maximal cartesian augmented dae": "lagrange",
    "kane code codegen sympy": "symbolic",
    "divide_and_conquer divide-and-conquer": "dca",
}
"""Methods and formulations of other programs, and those here that are the nearest."""

PARTS: Final[Mapping[str, str]] = {
    "Mechanism": "its tables have: mech.bodies[{0!r}], mech.joints[{0!r}], mech.forces[{0!r}], ...",
    "Run": "run.now().body({0!r}), run.now().joint({0!r}), ...; of all that was recorded run.trajectory",
    "Statics": "its tables have: rest.joints[{0!r}], rest.drives[{0!r}], rest.forces[{0!r}]",
    "State": "of bodies by number, state.position[k]; by name, run.body({0!r})",
    "BodyHistory": "arrays over time are its attributes, such as position[k], velocity[k]",
    "MarkerHistory": "arrays over time are its attributes, such as position[k], velocity[k]",
    "JointHistory": "arrays over time are its attributes, such as position[k], reaction[k]",
    "EffortHistory": "arrays over time are its attributes, such as effort[k]",
    "ForceHistory": "arrays over time are its attributes, such as effort[k]",
    "EnergyHistory": "arrays over time are its attributes, such as total[k]",
    "LinearModel": "matrices are attributes: A, B, C, D",
    "Trajectory()": "at a time run.at(t) is its state; by name run.body(name), run.joint(name)",
    "EnergyHistory()": "arrays over time are its attributes: kinetic, potential, total",
    "Statics()": "its tables are rest.joints, rest.drives, rest.forces",
}
"""By the class of an object, or a base of it: what to write in place of brackets, or of a call ("()")."""

CHANGED: Final[Mapping[str, str]] = {
    **{
        kind: f"go on with what replaces it: mech.replace(mech.{table}[{{name!r}}], {{field}}={{value}})"
        for kind, table in {
            "Body": "bodies", "Joint": "joints", "Constraint": "constraints", "Force": "forces",
            "Drive": "drives", "PathDrive": "drives", "Sensor": "sensors", "Change": "changes",
        }.items()
    },
    "Ground": "mech.replace(mech.ground, {field}={value})",
    "Marker": "make another one: body.marker(...)",
    "Shape": "make another one, and mech.replace(body, shapes=[...])",
    **dict.fromkeys(
        ("JointKind", "ForceKind", "ConstraintKind", "SensorKind", "ChangeKind"),
        "make another one, and mech.replace(element, kind=...)",
    ),
}  # fmt: skip
"""By the class of an object that does not change, or a base of it: how it is changed."""

_OF_RUNS: Final = "store layout origin"

INNER: Final[Mapping[str, str]] = {
    "object": "texts",
    "Trajectory": f"{_OF_RUNS} active body_poses contents extent parts span state_source within",
    "MoveTrajectory": f"{_OF_RUNS} sections",
    **dict.fromkeys(
        (
            "BodyHistory", "JointHistory", "MarkerHistory", "ForceHistory", "EffortHistory", "EnergyHistory",
            "ViolationHistory", "InputHistory", "SensorHistory", "ContactHistory", "FrictionHistory",
            "ConstraintHistory", "SectionHistory",
        ),
        f"{_OF_RUNS} number numbers columns of",
    ),
    "Run": "model plan observed followed part",
    "State": "arrays source",
    "Statics": "holds",
    "SweepResult": "held measure_number",
    "System": "core judge options held displaced followed closing_rows retract stats loses_digits cut_joints",
    "LinearModel": "chart decisive derived part scale",
    "JointKind": "custom massless_rod own params rows shorthand only_locks coordinate",
    "Joint": "lowered resolved only_locks",
    "Drive": "lowered",
    "ForceKind": "lowered check_ends held_at pattern ends_text",
    "ConstraintKind": "lowered check_ends held_at pattern ends_text",
    "Mechanism": "size",
    "Shape": "volume_beyond mass_beyond",
}  # fmt: skip
"""By the class of an object, or a base of it: attributes that only bellcrank itself uses."""
