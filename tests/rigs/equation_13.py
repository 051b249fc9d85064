"""Equation 13 of B. Guenter, S.-H. Lee, Symbolic Lagrangian Multibody Dynamics (equation_13.cpp)."""

from rigs.compiled import need_rigs

from bellcrank import _core


def equation_13(system, form="efforts"):
    """Efforts for gravity and motion alone, or "accelerations": a program with the system's inputs."""
    need_rigs()
    return _core.CompiledProgram(_core.Equation13(system.model.core).program(form))
