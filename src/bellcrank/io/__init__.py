"""Mechanism files in YAML and JSON."""

from bellcrank.io.files import MechanismFile, dumps, load, loads, read, save
from bellcrank.io.schema import schema
from bellcrank.io.simulation import Simulation

__all__ = ["MechanismFile", "Simulation", "dumps", "load", "loads", "read", "save", "schema"]
