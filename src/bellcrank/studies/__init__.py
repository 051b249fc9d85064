"""Studies: many runs of one mechanism with different parameters, and what is computed from them."""
