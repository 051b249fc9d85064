"""Formulations of the equations of motion: options, limitations, and calls into the core."""
