"""Friction that holds in fixed steps: exact while it sticks, late by a step where it changes."""


