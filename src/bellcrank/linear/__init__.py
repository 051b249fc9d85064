"""Small motions about a state: linearized equations and their modes."""
