"""Runs: a model assembled, prepared for a formulation, taken through time, steered and recorded."""
