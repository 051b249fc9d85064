"""Mechanism files in YAML and JSON."""

from bellcrank.io.fields import Simulation
from bellcrank.io.files import MechanismFile, dumps, load, loads, read, save
from bellcrank.io.schema import schema

__all__ = ["MechanismFile", "Simulation", "dumps", "load", "loads", "read", "save", "schema"]
