"""A four-bar in a file, and the program in a process of its own."""

import subprocess
import sys

FOUR_BAR = """\
bellcrank: 1
name: four-bar
gravity: [0, -9.81, 0]
bodies:
  crank: {mass: 0.15, inertia: [0.00001, 0.0002, 0.0002], com: [0.06, 0, 0]}
  coupler: {mass: 0.45, inertia: [0.00001, 0.005, 0.005], com: [0.18, 0, 0], position: [0.12, 0, 0]}
  rocker: {mass: 0.35, inertia: [0.00001, 0.0023, 0.0023], com: [0.14, 0, 0], position: [0.4, 0, 0],
           rotation: [0.6, 0, 0, 0.8]}
joints:
  pivot 1: {type: Revolute, first: ground, second: crank}
  pin 1: {type: Revolute, first: {body: crank, position: [0.12, 0, 0]}, second: coupler}
  pin 2: {type: Revolute, first: {body: coupler, position: [0.36, 0, 0]},
          second: {body: rocker, position: [0.28, 0, 0]}}
  pivot 2: {type: Revolute, first: {body: ground, position: [0.4, 0, 0]}, second: rocker}
drives:
  motor: {joint: pivot 1, velocity: 6.0}
simulation: {duration: 0.5, step: 0.002}
"""


def process(*arguments, **options):
    """The program in a process of its own."""
    command = [sys.executable, "-c", "from bellcrank.cli import main; main()", *arguments]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, **options)
