"""Examples of the joint and motor kinds that are described by one line and have no docstring of their own."""

from __future__ import annotations

from typing import Final

EXAMPLES: Final = {
    "Universal": """
>>> shaft = cube.add_joint("shaft", bc.Universal(), "ground", "cube", velocity=(3.0, 0.0))
>>> run = bc.simulate(cube, 1.0)
>>> print(run.joint("shaft").position[-1].round(6), bc.info(cube).freedom)    # rad
[3. 0.] 2
""",
    "PlungingUniversal": """
>>> shaft = cube.add_joint("shaft", bc.PlungingUniversal(), "ground", "cube", velocity={"z": 0.5})
>>> print(bc.simulate(cube, 1.0).body("cube").position[-1].round(6), bc.info(cube).freedom)    # m
[0.  0.  0.5] 3
""",
    "Perpendicular": """
>>> arm = cube.bodies["cube"].marker(axis="x")
>>> square = cube.add_joint("square", bc.Perpendicular(), "ground", arm)
>>> spun = cube.replace(cube.bodies["cube"], angular_velocity=(0.4, 0.3, 1.0))
>>> turn = bc.simulate(cube, 0.001).body("cube").angular_velocity[0]
>>> print(turn.round(6), bc.info(cube).freedom)    # rad/s: the turn about y would tilt the arm
[0.4 0.  1. ] 5
""",
    "CrossedAxes": """
>>> arm = cube.bodies["cube"].marker(axis="x")
>>> cross = cube.add_joint("cross", bc.CrossedAxes(), "ground", arm)
>>> spun = cube.replace(cube.bodies["cube"], angular_velocity=(0.4, 0.3, 1.0))
>>> turn = bc.simulate(cube, 0.001).body("cube").angular_velocity[0]
>>> print(turn.round(6), bc.info(cube).freedom)    # rad/s: the turn about y would tilt the arm
[0.4 0.  1. ] 2
""",
    "LineOnPlane": """
>>> edge = cube.add_joint("edge", bc.LineOnPlane(), "ground", cube.bodies["cube"].marker(axis="x"))
>>> pushed = cube.replace(cube.bodies["cube"], velocity=(1.0, 2.0, 0.0))
>>> print(bc.simulate(cube, 1.0).joint("edge").position[-1, :2].round(6), bc.info(cube).freedom)    # m
[1. 2.] 4
""",
    "Free": """
>>> pose = cube.add_joint("pose", bc.Free(), "ground", "cube", velocity={"x": 1.0, "rot_z": 0.5})
>>> print(bc.simulate(cube, 1.0).joint("pose").position[-1].round(6))    # m, rad
[1.  0.  0.  0.  0.  0.5]
""",
    "NoTwist": """
>>> joint = cube.add_joint("joint", bc.NoTwist(), "ground", "cube", velocity={"z": 1.0, "rot_x": 0.5})
>>> print(bc.simulate(cube, 1.0).joint("joint").position[-1].round(6), bc.info(cube).freedom)    # m, rad
[0.  0.  1.  0.5 0. ] 5
""",
    "NoTwistX": """
>>> joint = cube.add_joint("joint", bc.NoTwistX(), "ground", "cube", velocity={"x": 1.0, "rot_y": 0.5})
>>> print(bc.simulate(cube, 1.0).joint("joint").position[-1].round(6), bc.info(cube).freedom)    # m, rad
[1.  0.  0.  0.5 0. ] 5
""",
    "ParallelAxes": """
>>> axes = cube.add_joint("axes", bc.ParallelAxes(), "ground", "cube", velocity={"y": 1.0, "theta_z": 7.0})
>>> print(bc.simulate(cube, 1.0).joint("axes").position[-1].round(6))    # m, rad: whole turns count
[0. 1. 0. 7.]
""",
    "ParallelAxesX": """
>>> axes = cube.add_joint("axes", bc.ParallelAxesX(), "ground", "cube", velocity={"y": 1.0, "theta_x": 7.0})
>>> print(bc.simulate(cube, 1.0).joint("axes").position[-1].round(6))    # m, rad: whole turns count
[0. 1. 0. 7.]
""",
    "Orientation": """
>>> held = cube.add_joint("held", bc.Orientation(), "ground", "cube", velocity=(1.0, 2.0, 3.0))
>>> cube.add_force("twist", bc.Wrench(moment=(5.0, 0, 0)), "cube").name
'twist'
>>> print(bc.simulate(cube, 1.0).joint("held").moment[-1].round(6))    # N m: against the twist
[-5.  0.  0.]
""",
    "PointOnPlane": """
>>> table = cube.add_joint("table", bc.PointOnPlane(), "ground", "cube")
>>> cube.gravity = (0, 0, -9.81)
>>> print(bc.simulate(cube, 1.0).joint("table").force[-1].round(6), bc.info(cube).freedom)    # N
[0.    0.   58.86] 5
""",
    "KeyedPointOnPlane": """
>>> key = cube.add_joint("key", bc.KeyedPointOnPlane(), "ground", "cube", velocity={"x": 1.0, "rot_x": 0.5})
>>> print(bc.simulate(cube, 1.0).joint("key").position[-1].round(6), bc.info(cube).freedom)    # m, rad
[1.  0.  0.5 0. ] 4
""",
    "GuidedPointOnPlane": """
>>> speeds = {"y": 1.0, "rot_z": 0.5}
>>> guide = cube.add_joint("guide", bc.GuidedPointOnPlane(), "ground", "cube", velocity=speeds)
>>> print(bc.simulate(cube, 1.0).joint("guide").position[-1].round(6), bc.info(cube).freedom)    # m, rad
[0.  1.  0.  0.5] 4
""",
    "Planar": """
>>> table = cube.add_joint("table", bc.Planar(), "ground", "cube", velocity=(1.0, 2.0, 7.0))
>>> print(bc.simulate(cube, 1.0).joint("table").position[-1].round(6))    # m, rad
[1. 2. 7.]
""",
    "PlanarHinge": """
>>> hinge = cube.add_joint("hinge", bc.PlanarHinge(), "ground", "cube", velocity=(1.0, 2.0, 7.0))
>>> print(bc.simulate(cube, 1.0).joint("hinge").position[-1].round(6))    # m, rad
[1. 2. 7.]
""",
    "Oldham": """
>>> disc = cube.add_joint("disc", bc.Oldham(), "ground", "cube", velocity=(1.0, 2.0))
>>> print(bc.simulate(cube, 1.0).joint("disc").position[-1].round(6), bc.info(cube).freedom)    # m
[1. 2.] 2
""",
    "PointOnPlaneX": """
>>> wall = cube.add_joint("wall", bc.PointOnPlaneX(), "ground", "cube")
>>> cube.gravity = (9.81, 0, 0)
>>> print(bc.simulate(cube, 1.0).joint("wall").force[-1].round(6), bc.info(cube).freedom)    # N
[-58.86   0.     0.  ] 5
""",
    "KeyedPointOnPlaneX": """
>>> key = cube.add_joint("key", bc.KeyedPointOnPlaneX(), "ground", "cube", velocity={"y": 1.0, "rot_y": 0.5})
>>> print(bc.simulate(cube, 1.0).joint("key").position[-1].round(6), bc.info(cube).freedom)    # m, rad
[1.  0.  0.5 0. ] 4
""",
    "GuidedPointOnPlaneX": """
>>> speeds = {"z": 1.0, "rot_x": 0.5}
>>> guide = cube.add_joint("guide", bc.GuidedPointOnPlaneX(), "ground", "cube", velocity=speeds)
>>> print(bc.simulate(cube, 1.0).joint("guide").position[-1].round(6), bc.info(cube).freedom)    # m, rad
[0.  1.  0.5 0. ] 4
""",
    "PlanarX": """
>>> wall = cube.add_joint("wall", bc.PlanarX(), "ground", "cube", velocity=(1.0, 2.0, 7.0))
>>> print(bc.simulate(cube, 1.0).joint("wall").position[-1].round(6))    # m, rad
[1. 2. 7.]
""",
    "PlanarHingeX": """
>>> hinge = cube.add_joint("hinge", bc.PlanarHingeX(), "ground", "cube", velocity=(1.0, 2.0, 7.0))
>>> print(bc.simulate(cube, 1.0).joint("hinge").position[-1].round(6))    # m, rad
[1. 2. 7.]
""",
    "OldhamX": """
>>> disc = cube.add_joint("disc", bc.OldhamX(), "ground", "cube", velocity=(1.0, 2.0))
>>> print(bc.simulate(cube, 1.0).body("cube").position[-1].round(6), bc.info(cube).freedom)    # m
[0. 1. 2.] 2
""",
    "PointOnLine": """
>>> tube = cube.add_joint("tube", bc.PointOnLine(), "ground", "cube", velocity={"z": 2.0})
>>> cube.gravity = (9.81, 0, 0)
>>> print(bc.simulate(cube, 1.0).joint("tube").force[-1].round(6))    # N: the tube carries the ball
[-58.86   0.     0.  ]
""",
    "PlungingConstantVelocity": """
>>> joint = cube.add_joint("tripod", bc.PlungingConstantVelocity(), "ground", "cube", velocity=(0.5, 0.4, 0))
>>> print(bc.simulate(cube, 1.0).joint("tripod").position[-1].round(6))    # m, rad
[0.5 0.4 0. ]
""",
    "GuidedPointOnLine": """
>>> guide = cube.add_joint("guide", bc.GuidedPointOnLine(), "ground", "cube", velocity=(0.5, 0.0, 0.4))
>>> print(bc.simulate(cube, 1.0).joint("guide").position[-1].round(6))    # m, rad
[0.5 0.  0.4]
""",
    "Cylindrical": """
>>> tube = cube.add_joint("tube", bc.Cylindrical(), "ground", "cube", velocity={"z": 0.5, "theta_z": 7.0})
>>> print(bc.simulate(cube, 1.0).joint("tube").position[-1].round(6))    # m, rad
[0.5 7. ]
""",
    "RevolutePrismatic": """
>>> slot = cube.add_joint("slot", bc.RevolutePrismatic(), "ground", "cube", velocity=(0.5, 7.0))
>>> print(bc.simulate(cube, 1.0).joint("slot").position[-1].round(6))    # m, rad
[0.5 7. ]
""",
    "Prismatic": """
>>> slide = cube.add_joint("slide", bc.Prismatic(), "ground", "cube")
>>> push = cube.add_force("push", bc.JointMotor(12.0), "slide")
>>> print(bc.simulate(cube, 1.0).joint("slide").position[-1].round(6))    # m: 1/2 (12 N / 6 kg) t^2
[1.]
""",
    "SphericalSlot": """
>>> slot = cube.add_joint("slot", bc.SphericalSlot(), "ground", "cube", velocity={"x": 0.5, "rot_y": 0.4})
>>> print(bc.simulate(cube, 1.0).joint("slot").position[-1].round(6))    # m, rad
[0.5 0.  0.4 0. ]
""",
    "PlungingConstantVelocityX": """
>>> joint = cube.add_joint("tripod", bc.PlungingConstantVelocityX(), "ground", "cube", velocity=(0.5, 0.4, 0))
>>> print(bc.simulate(cube, 1.0).joint("tripod").position[-1].round(6))    # m, rad
[0.5 0.4 0. ]
""",
    "GuidedPointOnLineX": """
>>> guide = cube.add_joint("guide", bc.GuidedPointOnLineX(), "ground", "cube", velocity=(0.5, 0.0, 0.4))
>>> print(bc.simulate(cube, 1.0).joint("guide").position[-1].round(6))    # m, rad
[0.5 0.  0.4]
""",
    "CylindricalX": """
>>> tube = cube.add_joint("tube", bc.CylindricalX(), "ground", "cube", velocity={"x": 0.5, "theta_x": 7.0})
>>> print(bc.simulate(cube, 1.0).joint("tube").position[-1].round(6))    # m, rad
[0.5 7. ]
""",
    "PinInSlot": """
>>> pin = cube.add_joint("pin", bc.PinInSlot(), "ground", "cube", velocity={"x": 0.5, "theta_z": 7.0})
>>> print(bc.simulate(cube, 1.0).joint("pin").position[-1].round(6))    # m, rad
[0.5 7. ]
""",
    "PrismaticX": """
>>> slide = cube.add_joint("slide", bc.PrismaticX(), "ground", "cube")
>>> push = cube.add_force("push", bc.JointMotor(12.0), "slide")
>>> print(bc.simulate(cube, 1.0).body("cube").position[-1].round(6))    # m: 1/2 (12 N / 6 kg) t^2
[1. 0. 0.]
""",
    "Spherical": """
>>> ball = cube.add_joint("ball", bc.Spherical(), "ground", cube.bodies["cube"].marker((0.5, 0, 0)))
>>> cube.gravity = (0, 0, -9.81)
>>> print(bc.statics(cube).state.position[0].round(6), bc.info(cube).freedom)    # m: it hangs
[0.   0.  -0.5] 3
""",
    "ConstantVelocity": """
>>> joint = cube.add_joint("joint", bc.ConstantVelocity(), "ground", "cube", velocity={"rot_x": 0.5})
>>> print(bc.simulate(cube, 1.0).joint("joint").position[-1].round(6), bc.info(cube).freedom)    # rad
[0.5 0. ] 2
""",
    "ConstantVelocityX": """
>>> joint = cube.add_joint("joint", bc.ConstantVelocityX(), "ground", "cube", velocity={"rot_y": 0.5})
>>> print(bc.simulate(cube, 1.0).joint("joint").position[-1].round(6), bc.info(cube).freedom)    # rad
[0.5 0. ] 2
""",
    "Revolute": """
>>> hinge = cube.add_joint("hinge", bc.Revolute(), "ground", "cube")
>>> push = cube.add_force("push", bc.JointMotor(2.0), "hinge")
>>> print(bc.simulate(cube, 1.0).joint("hinge").position[-1].round(6))    # rad: 1/2 (2 N m / 1 kg m^2) t^2
[1.]
""",
    "RevoluteX": """
>>> hinge = cube.add_joint("hinge", bc.RevoluteX(), "ground", "cube")
>>> push = cube.add_force("push", bc.JointMotor(2.0), "hinge")
>>> print(bc.simulate(cube, 1.0).body("cube").angular_velocity[-1].round(6))    # rad/s, about x
[2. 0. 0.]
""",
    "Fixed": """
>>> weld = cube.add_joint("weld", bc.Fixed(), "ground", cube.bodies["cube"].marker((-0.5, 0, 0)))
>>> cube.gravity = (0, 0, -9.81)
>>> root = bc.statics(cube).joints["weld"]
>>> print(root.force.round(6), root.moment.round(6))    # N, N m about the wall: its weight at 0.5 m
[0.    0.   58.86] [  0.   -29.43   0.  ]
""",
    "PlanarSlider": """
>>> slide = cube.add_joint("slide", bc.PlanarSlider(), "ground", "cube", velocity={"x": 0.5})
>>> print(bc.simulate(cube, 1.0).joint("slide").position[-1].round(6), bc.info(cube).freedom)    # m, rad
[0.5 0.  0.  0. ] 4
""",
    "PlanarSlot": """
>>> slot = cube.add_joint("slot", bc.PlanarSlot(), "ground", "cube", velocity={"x": 0.5, "rot_z": 0.4})
>>> print(bc.simulate(cube, 1.0).joint("slot").position[-1].round(6), bc.info(cube).freedom)    # m, rad
[0.5 0.  0.  0.  0.4] 5
""",
    "BendMotor": """
>>> joint = cube.add_joint("bend", bc.BendMotor(position=("0.2*t", 0.0)), "ground", "cube")
>>> print(bc.simulate(cube, 2.0).joint("bend").position[-1].round(6))    # m along z, rad
[0.  0.4 0. ]
""",
    "CylindricalMotor": """
>>> feed = cube.add_joint("feed", bc.CylindricalMotor(velocity=(0.1, 2.0)), "ground", "cube")
>>> run = bc.simulate(cube, 1.0)
>>> print(run.joint("feed").position[-1].round(6), run.drives)    # m, rad
[0.1 2. ] ('feed.z', 'feed.theta_z')
""",
    "ImposedMotion": """
>>> shake = bc.ImposedMotion(position=(bc.Harmonic(0.1, 5.0), 0.0, 0.0, 0.0, 0.0, 0.0))
>>> table = cube.add_joint("table", shake, "ground", "cube")
>>> run = bc.simulate(cube, 2.0)
>>> print(f"{abs(run.drive('table.x').effort).max():.3f} N, by hand {6 * 0.1 * 5.0**2:.3f} N")
15.000 N, by hand 15.000 N
""",
    "LengthActuator": """
>>> leg = cube.add_joint("leg", bc.LengthActuator(velocity=0.5), cube.ground.marker((0, 0, 1)), "cube")
>>> run = bc.simulate(cube, 1.0)
>>> print(np.linalg.norm(run.body("cube").position[-1] - (0, 0, 1)).round(6))    # m: 0.5 m longer
1.5
""",
    "LinearMotor": """
>>> lift = cube.add_joint("lift", bc.LinearMotor(position=bc.Ramp(0.0, 0.5)), "ground", "cube")
>>> cube.gravity = (0, 0, -9.81)
>>> run = bc.simulate(cube, 2.0)
>>> print(f"{run.joint('lift').position[-1, 0]:.6f} m, {run.drive('lift').effort[-1]:.6f} N")
0.500000 m, 58.860000 N
""",
    "LinearMotorX": """
>>> slide = cube.add_joint("slide", bc.LinearMotorX(position="0.5*t**2"), "ground", "cube")
>>> print(bc.simulate(cube, 1.0).drive("slide").effort[-1].round(6))    # N: 6 kg at 1 m/s^2
6.0
""",
    "MovingLine": """
>>> path = bc.MovingLine(position=("cos(t) - 1", "sin(t)"))
>>> line = cube.add_joint("line", path, "ground", "cube")
>>> run = bc.simulate(cube, 1.0)
>>> print(np.hypot(run.drive("line.x").effort, run.drive("line.y").effort)[-1].round(6))    # N: m r w^2
6.0
""",
    "MovingPlane": """
>>> table = cube.add_joint("table", bc.MovingPlane(velocity=0.5), "ground", "cube")
>>> cube.gravity = (0, 0, -9.81)
>>> run = bc.simulate(cube, 1.0)
>>> print(run.body("cube").position[-1].round(6), run.drive("table").effort[-1].round(6))    # m, N
[0.  0.  0.5] 58.86
""",
    "PinInSlotMotor": """
>>> pin = cube.add_joint("pin", bc.PinInSlotMotor(velocity=0.5), "ground", "cube")
>>> print(bc.simulate(cube, 1.0).joint("pin").position[-1].round(6), bc.info(cube).freedom)    # m, rad
[0.5 0. ] 1
""",
    "PlanarMotor": """
>>> table = cube.add_joint("table", bc.PlanarMotor(position=("t", "t**2", "3*t")), "ground", "cube")
>>> run = bc.simulate(cube, 1.0)
>>> print(run.joint("table").position[-1].round(6), run.drive("table.y").effort[-1].round(6))    # m, rad; N
[1. 1. 3.] 12.0
""",
    "PointMotor": """
>>> hand = cube.add_joint("hand", bc.PointMotor(position=(0.0, 0.0, "t**2")), "ground", "cube")
>>> print(bc.simulate(cube, 1.0).drive("hand.z").effort[-1].round(6))    # N: 6 kg at 2 m/s^2
12.0
""",
    "PushedCylindrical": """
>>> pushed = bc.PushedCylindrical(velocity=0.5)
>>> tube = cube.add_joint("tube", pushed, "ground", "cube", velocity={"theta_z": 2.0})
>>> print(bc.simulate(cube, 1.0).joint("tube").position[-1].round(6))    # m, rad: the turn coasts
[0.5 2. ]
""",
    "RevoluteMotor": """
>>> spindle = cube.add_joint("spindle", bc.RevoluteMotor(position="t**2"), "ground", "cube")
>>> run = bc.simulate(cube, 1.0)
>>> print(run.drive("spindle").effort[-1].round(6))    # N m: 1 kg m^2 at 2 rad/s^2
2.0
""",
    "RevoluteMotorX": """
>>> spindle = cube.add_joint("spindle", bc.RevoluteMotorX(velocity=3.0), "ground", "cube")
>>> print(bc.simulate(cube, 1.0).body("cube").angular_velocity[-1].round(6))    # rad/s
[3. 0. 0.]
""",
    "SlotMotor": """
>>> slot = cube.add_joint("slot", bc.SlotMotor(velocity=(0.5, 7.0)), "ground", "cube")
>>> print(bc.simulate(cube, 1.0).joint("slot").position[-1].round(6))    # m, rad
[0.5 7. ]
""",
    "SphericalMotor": """
>>> head = cube.add_joint("head", bc.SphericalMotor(position=(0.0, 0.0, "t**2")), "ground", "cube")
>>> print(bc.simulate(cube, 1.0).drive("head.rot_z").effort[-1].round(6))    # N m: 1 kg m^2 at 2 rad/s^2
2.0
""",
    "TableMotor": """
>>> table = cube.add_joint("table", bc.TableMotor(position=("t", "t**2")), "ground", "cube")
>>> print(bc.simulate(cube, 1.0).drive("table.y").effort[-1].round(6))    # N: 6 kg at 2 m/s^2
12.0
""",
    "TranslationMotor": """
>>> gantry = cube.add_joint("gantry", bc.TranslationMotor(velocity=(1.0, 2.0, 3.0)), "ground", "cube")
>>> print(bc.simulate(cube, 1.0).body("cube").position[-1].round(6), bc.info(cube).freedom)    # m
[1. 2. 3.] 0
""",
    "TurnedCylindrical": """
>>> tube = cube.add_joint("tube", bc.TurnedCylindrical(velocity=7.0), "ground", "cube", velocity={"z": 0.5})
>>> print(bc.simulate(cube, 1.0).joint("tube").position[-1].round(6))    # m, rad: the slide coasts
[0.5 7. ]
""",
    "TurnMotor": """
>>> gimbal = cube.add_joint("gimbal", bc.TurnMotor(position=(0.0, 0.0, "0.5*t")), "ground", "cube")
>>> pushed = cube.replace(cube.bodies["cube"], velocity=(1.0, 0, 0))
>>> run = bc.simulate(cube, 1.0)
>>> print(run.body("cube").position[-1].round(6), run.body("cube").angular_velocity[-1].round(6))
[1. 0. 0.] [0.  0.  0.5]
""",
    "UniversalMotor": """
>>> gimbal = cube.add_joint("gimbal", bc.UniversalMotor(position=("0.5*t", 0.2)), "ground", "cube")
>>> print(bc.simulate(cube, 1.0).joint("gimbal").position[-1].round(6), bc.info(cube).freedom)    # rad
[0.5 0.2] 0
""",
}
