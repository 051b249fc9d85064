"""Formulations of the equations of motion: options, what they can take, and calls into the core."""
