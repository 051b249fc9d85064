"""From the description to flat arrays, and to a configuration that satisfies the constraints."""
