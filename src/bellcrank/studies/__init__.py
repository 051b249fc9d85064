"""Studies: many runs of one mechanism with other parameters, and what is computed from them."""
