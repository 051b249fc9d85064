"""Runs: a model is assembled, prepared for a formulation, integrated over time, controlled and recorded."""
